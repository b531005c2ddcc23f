"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `voc_tree.VocTree`, which has the images and masks by id, reads lists and class files, and
makes the pairs of a split. `listing` has the files in a folder, `endings` cuts their names,
`set_files` lists those that are images and masks, and `names` finds a file by its id. `pairs` has
one id's files, and the errors about them. `labels` has the masks that are files of pixels, and
`made_labels` those that are made when they are read: `drawn_labels` draws a tool's shapes, and
`merged_labels` lists files of single classes, which `binary_masks` merges.
"""
