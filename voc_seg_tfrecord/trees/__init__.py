"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `tree.VocTree`. `layout` has the names of folders, `pair` one id's files, `ratios`
shares ids out to splits. May import: up to `examples`.
"""
