"""Statistics of built data, and the published tables that they are compared with.

Enter at `compute`. `counts` counts, `figures` derives shares, weights and sizes and compares them
with published tables. May import: up to `built`. As users import this room by name, it gives out
`Stats`, `compute`, `count_objects` and `total`.
"""

from voc_seg_tfrecord.stats.counts import compute, count_objects
from voc_seg_tfrecord.stats.figures import Stats, total

__all__ = ["Stats", "compute", "count_objects", "total"]
