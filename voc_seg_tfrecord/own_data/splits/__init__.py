"""The second step: which image is in which split.

Enter at `divide.split_ids`. `readings` finds the texts that name images, by `image_names`, and
`folders` those called as splits. `choice` chooses by its rules. `by_ratio` divides where the user
gave ratios, and `missing_masks` decides about images without a mask. May import: `question` and
`files`.
"""
