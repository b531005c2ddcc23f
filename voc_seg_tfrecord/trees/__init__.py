"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `tree.VocTree`. `layout` has the names of folders and files, `listing` the files in a
folder, `labels` where masks come from, `pair` one id's files. May import: up to `examples`.
"""
