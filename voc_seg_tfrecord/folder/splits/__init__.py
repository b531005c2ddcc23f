"""The second step: which image is in which split.

Enter at `divide.split_ids`. A folder whose texts, folders and names can say no split is train, in
one line. Other images are divided by the first of these that applies:

1. Ratios that the user gave: `by_ratio` divides by a hash, or `stratified` by class. It asks before
   if images belong together, by their ids (`groups_by_ids`) or their looks (`groups_by_looks`,
   `alike`). `grouping` applies the user's rule for what belongs together.
2. Lists or folders that the user gave for each split: `given`.
3. Texts and folders: `find_candidates` finds the candidates, and `candidates` joins those that
   belong together. `rules` is the table of what makes candidates lose, what is asked and what is
   noted.

`evidence` is what candidates are found in:

- Texts: `find_lists` finds those that name images, each a `list_text`. `list_files` reads the lists
  in one, `list_tables` those of rows, which `table_divisions` divides. `list_verdicts` decides what
  a text is good for, `split_lists` which split a list makes and which lists belong together, and
  `by_name` in the room above which image a name means.
- Images: `copied_images` finds those that lie in several folders, and asks if their labels differ.
- Folders: `folders` finds those that are called as splits, and `folder_checks` has the rules that
  ask about those that would put images into a wrong split.

Then `missing_masks` decides about images without a mask, or without that of one class. It refuses
files that may be their masks (`possible_masks` finds these), and copies of labeled images
(`copied_images`). May import: `decide`, `question` and `files`.
"""
