"""The features of a built dataset that are pictures, and what pads them."""

from voc_seg_tfrecord.labels import VOID

IMAGE = "image"
MASK = "segmentation_mask"
INSTANCES = "instance_mask"
FILENAME = "image/filename"
HEIGHT, WIDTH = "image/height", "image/width"

FILL = {IMAGE: 0, MASK: VOID, INSTANCES: VOID}
"""Every picture feature, and the value that padding has in it."""

CHANNELS = {IMAGE: 3, MASK: 1, INSTANCES: 1}

OF_THE_WHOLE = ("labels", "objects")
"""Features that are true of a whole picture only, not of a part or a flipped one."""
