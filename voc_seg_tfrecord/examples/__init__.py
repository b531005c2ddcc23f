"""One example: from its files to a dictionary of features, and on to its record.

Enter at `make.make_example`. `raw` is what a source gives, `beam` does the same as `make` under
Apache Beam, `serializer` makes the records, `tiles` cuts images into tiles. May import: up to
`masks`.
"""
