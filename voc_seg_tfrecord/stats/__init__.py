"""Statistics of built data, and the published tables that they are compared with.

Enter at `compute`. `counts` counts, `published` compares. May import: everything but
`commands`. As users import this room by name, it gives out the names of `counts`.
"""

from voc_seg_tfrecord.stats.counts import Stats, compute, count_objects, total

__all__ = ["Stats", "compute", "count_objects", "total"]
