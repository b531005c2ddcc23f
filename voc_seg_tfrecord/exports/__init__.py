"""Built data for others: layouts that other code reads, and the dataset card.

Enter at `export.export`, which has a row per layout. `writers` and `parquet` write them, `columns`
says what a table of examples holds. `card` describes data. May import: up to `audit`.
"""
