"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `voc_tree.VocTree`. `listing` has the files in a folder, `pairs` one id's files and where
masks come from, `drawn_labels` masks that are drawn from a tool's shapes, `items` the pairs of a
split, `texts` the lists and class files, and `paths` what files are called in messages.
"""
