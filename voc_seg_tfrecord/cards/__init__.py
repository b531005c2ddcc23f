"""The dataset card and the Croissant file, which say to others what files hold.

Enter at `publish`, which writes both of a `summary`, with the digests of `files`. `card` is made of
`front_matter` and `markdown`, `croissant` of `record_sets`. It reads built data through `audit`
and counts with `stats`.
"""
