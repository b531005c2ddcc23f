"""One example: from its files to a dictionary of features, to its record, and to shards.

Enter at `make.make_example` for one example and at `shards.write` for a dataset. `serializer`
makes the records, `tiles` cuts images into tiles. `pieces` is what one call does, `shards` plans
the calls, and `beam` lets Apache Beam do them. May import: up to `masks`.
"""
