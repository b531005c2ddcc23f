"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `tree.VocTree`. `layout` has the names of folders and files, `listing` the files in a
folder, `place` says where each part of an example lies, `pairs` has one id's files and those of a
split. May import: up to `examples`.
"""
