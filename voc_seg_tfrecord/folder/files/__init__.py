"""The first step: which files of a folder are images, and which are their labels.

Enter at `discovery.find_tree`. `file_sets` sorts files by their names, and `pairings` says which of
these sets may pair. `candidates` makes one candidate of all folders that lie to each other alike,
and `choice` chooses by the tables of `rules`, with what `evidence` sees, and with `copies` and
`companions`. `layouts` makes the layout of the tree. `polygon_sets` finds the shapes of labelling
tools, and `sheet_images` their images. `unreadable` says what else a folder may hold. May import:
`decide` and `question`, and no other step.
"""
