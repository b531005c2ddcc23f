"""Writes built data for others: in layouts that other code reads, and as a dataset card.

Enter at `export.export`, which has a row per layout. `writers` and `parquet` write the layouts,
`columns` describes the columns of a table of examples, and `card` describes a dataset. May import:
up to `audit`.
"""
