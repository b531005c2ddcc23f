"""Reads built data and says what it finds.

Enter at `dataset.open_built` and `records.scan`. `verify` compares with the source or the
pinned facts (`verify_record`, `source_records`, `fingerprint`), `leaks` finds what is shared,
`reading` says what TFDS does not say of its ways to read. May import: up to `sources`.
"""
