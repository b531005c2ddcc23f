"""A user's own folder: what is in it, what is decided about it, and what is wrong with it.

Enter at `plan.make_plan`. A folder is listed once: `file_sets` and `readings` find which files may
be images with masks, `choice` chooses, and `layouts` and `discovery` make its tree. `class_file`
finds the names of classes. `list_readings` finds the texts that name images, `ways` chooses the way
in which they and folders divide the images, and `splits` makes the splits of it, or `by_ratio`.
`missing_masks` decides what becomes of images without a mask, `classes` what masks mean, and
`account` names what is not used. Where a step cannot choose, `question` asks. `check` reads all
files and reports what is wrong. May import: up to `imports`.
"""
