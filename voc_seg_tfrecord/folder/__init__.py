"""A user's own folder: what is in it, and what is decided about it.

Enter at `plan.open_folder`, which takes these steps once. `files` lists the folder and finds images
and labels, `splits` which image is in which split, `stated_pairs` the pairs that texts state (read
by `pair_tables`), `classes` and `class_names` the class file and its names, and `meaning` what
masks mean. `tree` has the files that were found, by id. `leftover_rules` asks about what is left
out.

Where a step cannot choose, `question` asks, and `alternatives` plans each answer first; `reader`
keeps what was read for all these plans. `unused_files` lists the files that a build does not use,
`companions` is a table of what these may be, `notes` says what the user should know, and
`class_table` writes the table that a user fills in.

The steps ask what files hold: `mask_survey` notes the values and colors of a set of masks,
`value_looks` says whether they number objects, `soft_masks` makes black and white of soft edges,
and `picture_signs` tells whether two images show the same.

May import: up to `tools`.
"""
