"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `tree.VocTree`. `layout` has the names of folders, `listing` and `names` the files in them,
`place` where each part of an example lies, `pair` one id's files, `pairs` those of a split.
`known` says which names lists may have for images. `ratios` shares ids out to splits by a hash,
`stratified` by class: it fills an `assignment` and improves it by `exchanges`; `apportion` gives
whole numbers. May import: up to `examples`.
"""
