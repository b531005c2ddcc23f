"""The words and types that all rooms share.

`errors` and `names` come first. `shell` writes the commands in errors, `requirements` says what has
to be installed, and `spelling` which names are the same. `config` is what a build is made from,
`class_table` and `mask_rule` say what masks mean, `class_masks` reads options that name masks of
classes, and `example` and `tiling` say what a dataset holds. `releases` and `named_lists` are the
facts of VOC's releases; their tables lie in `facts/`. `class_counts` counts images and pixels.
`storage` and `file` read files; `staging` writes them. `threads`, `processes` and `signals` run
work. `display` shows objects in one line, and as a table.

May import: nothing of other rooms.
"""
