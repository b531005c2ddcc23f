"""Records and trees that other code wrote or will read.

Enter at `items.scan_records` for hand-written TFRecords and `export.export` for the way out.
`files` reads record files, `layouts` knows what tutorials write. May import: up to `configs`.
"""
