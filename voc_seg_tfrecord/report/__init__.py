"""A built dataset shown to people: contact sheets, the report page, the card and Croissant file.

Enter at `write` for the page. `gather` reads the records once, `choose` says which examples are
shown, `thumbnails` makes small images of them, `contents`, `drawn`, `charts` and `heat` make tables
and charts, `svg` lets charts take the page's colours, and `page` fills the templates. `overlay`,
`pick` and `sheet` make contact sheets, `preview` says what is on one, `figure` gives it to
notebooks. `publish` writes `card` and `croissant` of a `summary`, with `front_matter`, `markdown`,
`files` and `record_sets`. It reads built data through `audit` and counts with `stats`; only
`commands` imports from here. As users import this room by name, it gives out `write`.
"""

from voc_seg_tfrecord.report.dataset_page import write

__all__ = ["write"]
