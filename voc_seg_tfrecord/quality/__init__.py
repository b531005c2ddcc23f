"""Labels that may be wrong, found without a model, in a folder or in built data.

`evidence.examine` measures one example, and `rules.find_all` compares the examples of a set and
returns each `finding.Finding`. For the measurements, `regions` finds the connected regions of a
mask, `fit` measures how well its borders lie on the edges of its image, and `appearance` what its
regions look like. For the comparison, `misfits` finds masks that do not fit their images,
`mislabeled_regions` regions that look like another class, and `near_duplicates` images that show
the same picture.
"""
