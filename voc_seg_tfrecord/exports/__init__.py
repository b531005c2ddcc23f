"""Built data for others: layouts that other code reads, the dataset card and the Croissant file.

Enter at `export.export`. `layouts` has a row per layout, `records`, `trees` and `parquet` write
them, `columns` says what a table of examples holds. `card` and `croissant` describe data. May
import: up to `audit`.
"""
