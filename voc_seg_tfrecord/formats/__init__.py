"""The bytes of one file: what it is, whether it is complete, what it holds.

Images: enter at `images.open_image`, and at `bands.read` where more than 8-bit RGB is kept.
`pillow` is the only door to Pillow. `png` and `jpeg` read headers, `tiff` too; `png_stream` checks
the pixels of a PNG, `png_values` reads them from masks and `png_strips` from large images.
`value_counts` counts values. `narrow` refuses images of which 8-bit RGB would lose something.
Masks: `mask_samples` reads what a file stores, `index_masks` turns it into class indices by the
mask rule, and `mask_survey` looks at the masks of a set. Texts: `list_files` reads what lists
images (`split_tables` and `split_documents` read tables, JSON and YAML, and `table_divisions` says
how columns divide rows), `pair_tables` reads stated pairs, `annotations` VOC's XML. `frames` reads
and writes TFRecords, `array_files` arrays of NumPy and MATLAB, `archives` unpacks. May import: up
to `core`.
"""
