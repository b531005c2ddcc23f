"""The pages of a built dataset, of a folder before it is built, and of a score; and contact sheets.

`dataset_page`, `tree_page` and `score_page` write the three pages, and `templating` fills their
templates. For the first, `gather` reads the records once, `selection` chooses what is shown, and
`notices`, `charts` and `heat_maps` make its sections. For the second, `cards` makes one card for
each example to decide about, and `lenient_decoding` decodes what may be damaged. All three draw
with `thumbnails` and `overlay`.
`preview` chooses and reads the examples of a contact sheet, each a `sheet_example`, and `figure`
draws it. `label_errors` finds labels that may be wrong.
Only `commands` imports from here. As users import this room by name, it gives out `write`.
"""

from voc_seg_tfrecord.report.dataset_page import write

__all__ = ["write"]
