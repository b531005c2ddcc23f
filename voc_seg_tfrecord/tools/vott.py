"""VoTT: its export as Pascal VOC has boxes alone."""

from voc_seg_tfrecord.tools.tool import Tool

VOTT = Tool(name="VoTT", writes_boxes_as_voc=True)
