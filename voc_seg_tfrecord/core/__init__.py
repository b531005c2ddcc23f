"""The words and types that all rooms share.

`errors` and `names` come first. `config` is what a build is made from, `class_table` and
`mask_rule` say what masks mean, and `example` says what a dataset holds. `releases` and `lists`
are the facts of VOC's releases; their tables lie in `facts/`. `storage`, `file` and `staging` read
and write files, `threads`, `processes` and `signals` run work. May import: nothing of other rooms.
"""
