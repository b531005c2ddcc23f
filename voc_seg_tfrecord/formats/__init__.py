"""One file's bytes: what it is, whether it is complete, what it holds.

Enter at `images.open_image` for images, `png.read_header` and `jpeg.read_header` for headers,
`class_files.read_all` for class names, `id_lists.parse_ids` for lists, `list_files.ListReader`
for texts of splits (`split_tables` and `split_documents` read tables, JSON and YAML),
`pair_tables.read_tables` for texts that state pairs,
`annotations.read_objects` for XML, `frames.read` for TFRecords. `file` is a file with its kind and
limits. `pillow` is the only door to Pillow, `array_files` reads arrays of NumPy and MATLAB. A PNG
is read in steps: `png` its header and chunks, `png_pixels` its pixels. `class_parsers` reads the
text of class files. May import: up to `base`.
"""
