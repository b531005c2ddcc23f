"""Reads built data and says what it finds.

`verify` compares records with their source (`record`, `source_records`) or with the pinned facts
(`fingerprint`); `leaks` finds what datasets share. May import: up to `sources`.
"""
