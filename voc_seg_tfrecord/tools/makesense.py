"""makesense: its export as Pascal VOC has boxes alone."""

from voc_seg_tfrecord.tools.tool import Tool

MAKESENSE = Tool(name="makesense", writes_boxes_as_voc=True)
