"""Records that other code wrote: hand-written TFRecords, as tutorials make them.

Enter at `scan.scan_records`, which finds and reads record files; `layouts` knows what tutorials write,
and `scan` makes a source's items. May import: up to `configs`.
"""
