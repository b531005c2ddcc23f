"""The report page of a built dataset, and of a tree before it is built.

Enter at `write`. `gather` reads the records once, `choose` says which examples are shown,
`thumbnails` makes small images of them, `charts` draws, `svg` lets charts take the page's colours,
and `page` fills the templates. `dataset_page` and `tree_page` are the two pages. Only `commands`
imports from here. As users import this room by name, it gives out `write`.
"""

from voc_seg_tfrecord.report.dataset_page import write

__all__ = ["write"]
