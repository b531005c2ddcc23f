"""What people do instead of this package; each in a file of its own, with `build(root, out)`.

`undescribed` is not one of them: two are built on it.
"""
