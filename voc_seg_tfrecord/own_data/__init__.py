"""A user's own folder: what is in it, what is decided about it, and what is wrong with it.

Enter at `plan.make_plan`. `discovery` finds the layout, or `no_masks` says what is there instead.
`class_file` finds the names of classes, `numbering` their values, `splits` and `split_folders` make
the splits, and `missing_masks` decides what becomes of images without one. `check` reads all files
and reports what is wrong. May import: up to `imports`.
"""
