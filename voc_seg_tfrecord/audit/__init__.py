"""Reads built data and says what it finds.

`verify` compares records with their source (`record`, `source_records`) or with the pinned facts
(`fingerprint`); `leaks` finds what datasets share, `look_alikes` images that look alike. May
import: up to `sources`.
"""
