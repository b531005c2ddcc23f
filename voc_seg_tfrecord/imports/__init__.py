"""Records that other code wrote: hand-written TFRecords, as tutorials make them.

Enter at `scan.scan_records`. `files` finds and reads record files, `layouts` knows what tutorials
write, `items` makes a source's items of a scan. May import: up to `configs`.
"""
