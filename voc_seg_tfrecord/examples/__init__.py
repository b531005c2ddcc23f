"""One example: from its files to a dictionary of features, and on to its record.

Enter at `make.make_example`. `raw` is what a source gives, `source` what a build is made from,
`beam` the same under Apache Beam, `serializer` the records. `grid` says which tiles an
image has, `cut` makes them. May import: up to `masks`.
"""
