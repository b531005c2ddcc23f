"""The first step: which files of a folder are images, and which are their labels.

Enter at `discovery.find_tree`. `file_sets` sorts files by their names, `readings` says which of
these sets may pair, and `choice` chooses by its rules, with what `companions` and `pixels` see.
`layouts` makes the layout of the tree. `polygon_sets` finds the shapes of labelling tools, and
`sheet_images` their images. `unreadable` says what else a folder may hold. May import: `question`,
and no other step.
"""
