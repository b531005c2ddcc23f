"""From items to shards: examples, tiles, records, and the engines that write them.

Enter at `examples.make_example` for one example and at `shards.write` for a dataset. `annotations`
reads VOC's XML, `tiles` cuts examples, `serializer` makes records, and `copies` finds images that
are in two splits. `shards` plans the tasks of a build in TFDS's order, `tasks` does one, and
`engines` say where. May import: up to `sources`.
"""
