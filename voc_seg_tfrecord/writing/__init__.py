"""From items to shards: examples, tiles, records, and the engines that write them.

Enter at `examples.make_example` for one example and at `shards.write` for a dataset. `serializer`
makes the records, `tiles` cuts images into tiles. `pieces` is what one call does, here
or on Apache Beam, and `shards` plans the calls. May import: up to `sources`.
"""
