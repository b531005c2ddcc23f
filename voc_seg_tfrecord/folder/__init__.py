"""A user's own folder: what is in it, what is decided about it, and what is wrong with it.

Enter at `plan.plan_folder`, which takes these steps once. `files` lists the folder and finds images
and labels, `splits` which image is in which split, `stated_pairs` the pairs that texts state,
`classes` and `class_names` the class file and its names, and `meaning` what masks mean.
`second_masks` refuses images with several masks. Where a step cannot choose, `question` asks, and
`alternatives` plans each answer first. `account` names what no step used. `check` reads all files
and reports what is wrong, and `class_table` writes the table that a user fills in. May import: up
to `imports`.
"""
