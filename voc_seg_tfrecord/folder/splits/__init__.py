"""The second step: which image is in which split.

Enter at `divide.split_ids`. Images are divided by the first of these that applies:

1. Ratios that the user gave: `by_ratio` divides by a hash, or `stratified` by class. It asks before
   if images belong together, by their ids (`groups_by_ids`) or their looks (`groups_by_looks`,
   `alike`).
2. Lists or folders that the user gave for each split: `given`.
3. Texts and folders: `find_candidates` finds the candidates, `join_candidates` joins those that
   belong together, `rules` is the table by which candidates lose, and `choose` takes one or asks.

`evidence` is what candidates are found in:

- Texts: `find_lists` finds those that name images, each a `list_text`; `list_verdicts` decides what
  a text is good for, and `wrong_names` finds names that are not quite those of images. `list_names`
  finds the split of a list by the names around it, `list_divisions` which lists belong together,
  and `image_names` which image a name means.
- Images: `repeated_images` finds those that lie in several folders, and asks if their labels
  differ.
- Folders: `folders` finds those that are called as splits, and `folder_checks` refuses those that
  would put images into a wrong split.

Then `missing_masks` decides about images without a mask: `mask_checks` refuses files that may be
their masks (`possible_masks` finds these), and `copies_without_mask` images that are copies
(`small_copies` finds smaller ones). `missing_class_masks` decides about images that lack the mask
of one class. May import: `decide`, `question` and `files`.
"""
