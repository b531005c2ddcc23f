"""The second step: which image is in which split.

Enter at `divide.split_ids`. `evidence` has what it is decided from: `find_lists` finds the texts
that name images, by `image_names`, `split_lists` has which of them belong together, and
`folders` has the folders that are called as splits. `candidates` lists what
they say, `rules` which candidate loses to which, and `choose` takes one or asks; `given` reads what
the user gave. `by_ratio` divides where the user gave ratios, unless `groups_by_looks`, by images
that are `alike`, or the ids themselves say that some belong together. `missing_masks` decides about
images without a mask. May import: `decide`, `question` and `files`.
"""
