"""The second step: which image is in which split.

Enter at `divide.split_ids`. `evidence` has what it is decided from. For texts, `find_lists` finds
those that name images (`list_text` is one of them), `list_verdicts` says what one is good for,
`list_names` which split the names around a list say, `list_divisions` which lists belong together,
and `image_names` which image a name means. For folders, `folders` has those that are called as
splits are. `find_candidates` lists what all of them say, `join_candidates` joins what belongs
together, `rules` says which candidate loses to which, and `choose` takes one or asks; `given` reads
what the user gave. `by_ratio` divides where the user gave
ratios, by a hash or `stratified`, unless the ids (`group_proposals`) or images that are `alike`
(`groups_by_looks`) say that some belong together. `missing_masks` decides about images without a
mask, and `official` says if the lists are those of a release. May import: `decide`, `question` and
`files`.
"""
