"""The second step: which image is in which split.

Enter at `divide.split_ids`. `readings` finds the texts that name images, by `image_names`, and
`folders` those called as splits. These are `ways`, and `choice` chooses by its rules. `by_ratio`
divides where the user gave ratios, unless images that are `alike` would be torn apart.
`missing_masks` decides about images without a mask. May import: `question` and `files`.
"""
