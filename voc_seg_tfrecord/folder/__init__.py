"""A user's own folder: what is in it, what is decided about it, and what is wrong with it.

Enter at `plan.make_plan`, which takes four steps. `files` lists the folder and finds images and
labels, `splits` which image is in which split, `classes` the class file, and `meaning` what masks
mean. `stated_pairs` takes the pairs that texts state, and `second_masks` refuses a second mask of
an image. Where a step cannot choose, `question` asks, and `alternatives` plans each answer first.
`account` names what no step used. `check` reads all files and reports what is wrong, and
`class_table` writes the table that a user fills in. May import: up to `imports`.
"""
