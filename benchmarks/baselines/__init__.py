"""What people do instead of this package; each in a file of its own, `build(root, out)`."""
