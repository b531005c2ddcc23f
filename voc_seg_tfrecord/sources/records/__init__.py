"""Records that other code wrote: hand-written TFRecords, as tutorials make them.

Enter at `scan.scan_records`, which reads all records once, and `scan.make_items`. `files` finds and
unpacks the files, and says their splits, `layouts` finds out which feature holds what, `features`
reads the values of a record, and `luminances` repairs masks whose palette was lost.

May import: up to `folder`.
"""
