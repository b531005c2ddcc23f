"""The pages of a dataset, of a folder before it is built, of a score and of leaks; and sheets.

`dataset_page`, `tree_page`, `score_page` and `leak_page` write the pages, and `templating` fills
their templates. What all show is in `sections` (cards, and a section for each kind of finding),
`class_table`, `thumbnails` and `overlay`. For the first page, `gather` reads the records once,
`selection` chooses what is shown, and `dataset_findings` makes its sections. For the second,
`cards` makes one card for each example to decide about, `folder_examples` reads what a build would
store of it, and `lenient_decoding` decodes what may be damaged. For the last, `leak_pairs` sorts
what was found.
`preview` chooses and reads the examples of a contact sheet, each a `sheet_example`, and `figure`
draws it. `label_errors` finds labels that may be wrong.
Only `commands` imports from here. As users import this room by name, it gives out `write`.
"""

from voc_seg_tfrecord.report.dataset_page import write

__all__ = ["write"]
