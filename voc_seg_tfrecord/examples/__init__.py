"""One example: from its files to a dictionary of features, to its record, and to shards.

Enter at `make.make_example` for one example and at `shards.write` for a dataset. `serializer`
makes the records, `tiles` cuts images into tiles. `pieces` is what one call does, here
or on Apache Beam, and `shards` plans the calls. May import: up to `masks`.
"""
