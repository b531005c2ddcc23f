"""Records and trees that other code wrote or will read.

Enter at `scan.scan_records` for hand-written TFRecords, `shards.read` for built datasets and
`export.export` for the way out: `plain_records`, `voc_tree`, `coco` and `parquet` write its
layouts, `columns` and `cells` say what a table of examples holds. `items` makes a source's items of
a scan, `files` reads record files by their `framing`, `layouts` knows what tutorials write,
`values` reads a record by its layout, `names` says which names can be files. `copies` copies a
dataset as it is. May import: up to `configs`.
"""
