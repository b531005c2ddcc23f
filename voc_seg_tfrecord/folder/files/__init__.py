"""The first step: which files of a folder are images, and which are their labels.

Enter at `discovery.find_tree`. In the order in which files go through it:

- `given_layout`: what the user gave of the folder's layout.
- `file_sets`: the files of each folder, sorted by their names, without a look at them.
- `pairings`: which of these sets may pair.
- `candidates`: those whose folders have the same relative position are one candidate.
- `choice`: which candidates are taken, by the tables of `rules` (with what names tell of roles
  and `looks` of pixels), without `copies`, and what is asked about what is taken.
- `layouts`: the layout of the tree, kept to the folders that the user named. `file_questions` asks
  where several candidates are left.
- `class_masks`: the masks of single classes, if the user named these.
- `image_channels`, `object_masks`, `ignore_masks`, `no_masks`: what else a folder may hold, and
  what to do then.
- `polygon_sets`: the shapes of labeling tools. `annotation_files` reads the files, and chooses the
  tool; `annotated_images` finds the image of each annotation.
- `label_rules`: what is asked about masks, also if they differ from the polygons beside them.

Names are read by `folder_names` (words that tell what files are), `align` (which names hold which
ids, and what they have around them), `kinds_of_names` (the words that tell kinds of files apart)
and `paths`. May import: `looks`, `decide` and `question`, and no other step.
"""
