"""A folder in the Pascal VOC layout, as it lies on disk. Knows no config.

Enter at `tree.VocTree`. `layout` has the names of folders, `pair` one id's files, `ratios`
shares ids out to splits by a hash, `stratified` by class: it fills an `assignment` and improves it
by `exchanges`; `apportion` gives whole numbers. May import: up to `examples`.
"""
