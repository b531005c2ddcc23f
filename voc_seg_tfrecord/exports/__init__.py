"""Built data for others: layouts that other code reads, the dataset card and the Croissant file.

Enter at `export.export`. `records`, `trees` and `parquet` write its layouts, `columns` says what a
table of examples holds. `publish` writes `card` and `croissant` beside data. May import:
up to `audit`.
"""
