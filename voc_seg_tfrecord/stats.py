"""Statistics of built data: `compute`, `count_objects`, `total` and their result `Stats`."""

from voc_seg_tfrecord.audit.counting import compute, count_objects
from voc_seg_tfrecord.audit.statistics import Stats, total

__all__ = ["Stats", "compute", "count_objects", "total"]
