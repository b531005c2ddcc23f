"""What people do instead of this package. Each file has one way, as `build(root, out)`.

`undescribed` is not one of them: two are built on it.
"""
