"""The second step: which image is in which split.

Enter at `divide.split_ids`. `evidence` has what it is decided from: `find_lists` finds the texts
that name images, `list_text` says what one of them is good for, `image_names` finds the image that
a name means, `split_lists` has which lists belong together, and `folders` has the folders that are
called as splits. `candidates` lists what they say, `rules` which candidate loses to which, and
`choose` takes one or asks; `given` reads what the user gave. `by_ratio` divides where the user gave
ratios, by a hash or `stratified`, unless the ids (`group_proposals`) or images that are `alike`
(`groups_by_looks`) say that some belong together. `missing_masks` decides about images without a
mask, and `official` says if the lists are those of a release. May import: `decide`, `question` and
`files`.
"""
