"""The pages of a built dataset, of a tree before it is built, and of a score.

Enter at `write`. `gather` reads the records once and chooses examples, `charts` draws, and
`thumbnails` makes small images and fills the templates. `dataset_page`, `tree_page` and
`score_page` are the three pages.
Only `commands` imports from here. As users import this room by name, it gives out `write`.
"""

from voc_seg_tfrecord.report.dataset_page import write

__all__ = ["write"]
