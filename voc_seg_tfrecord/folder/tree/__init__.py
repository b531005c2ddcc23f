"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `voc_tree.VocTree`. `listing` has the files in a folder, `endings` cuts their names,
`set_files` those that are images and masks, and `names` finds a file by its id. `pairs` has one
id's files, `part_errors` the errors about them, and `items` the pairs of a split. `labels` has the
masks that are files of pixels, and `made_labels` those that are made when they are read:
`drawn_labels` draws a tool's shapes, and `merged_labels` merges files of single classes. `texts`
reads lists and class files, `completeness` names missing folders and lists, and `paths` has what
files are called in messages.
"""
