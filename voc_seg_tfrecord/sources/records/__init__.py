"""Records that other code wrote: hand-written TFRecords, as tutorials make them.

Enter at `scan.scan_records`, which finds and reads record files and makes a source's items.
`layouts` knows what tutorials write. May import: up to `folder`.
"""
