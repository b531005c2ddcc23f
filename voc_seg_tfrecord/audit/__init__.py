"""Reads built data and folders, and reports what it finds.

`verify` checks every record (`record`), and compares it with its source (`source_records`) or with
the pinned facts (`fingerprint`). `check` finds what would stop a build of a folder. `counting` and
`statistics` count classes. `leaks` finds what datasets share, `diff` what changed between them, and
`versions` what a new version changes. May import: up to `quality`.
"""
