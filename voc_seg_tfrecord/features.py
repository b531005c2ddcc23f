"""The features of a built dataset by name; which are images and masks, and what pads them.

Every other module takes the names from here.
"""

from voc_seg_tfrecord.labels import VOID

IMAGE = "image"
FILENAME = "image/filename"
HEIGHT, WIDTH = "image/height", "image/width"
MASK = "segmentation_mask"
INSTANCES = "instance_mask"
LABELS = "labels"
OBJECTS = "objects"
MASK_SOURCE = "mask_source"
TILE_IMAGE_ID = "tile/image_id"
TILE_Y, TILE_X = "tile/y", "tile/x"
TILE_IMAGE_HEIGHT, TILE_IMAGE_WIDTH = "tile/image_height", "tile/image_width"
TILE = (TILE_IMAGE_ID, TILE_Y, TILE_X, TILE_IMAGE_HEIGHT, TILE_IMAGE_WIDTH)
"""Where a tile lies in its image; the other features are then those of the tile."""
LABEL = "label"
"""Class of the whole image, in place of a mask, where the task is classification."""

SEGMENTATION = (IMAGE, MASK, FILENAME, HEIGHT, WIDTH)
"""What is read by default: features of every segmentation dataset of this package, except
`labels`, whose length differs from example to example."""

IMAGE_AND_SIZE = (IMAGE, FILENAME, HEIGHT, WIDTH)
"""The features of images alone, without masks or labels."""

MASKS = (MASK, INSTANCES)

FILL = {IMAGE: 0, **dict.fromkeys(MASKS, VOID)}
"""Every feature that is an image or a mask, and the value that padding has in it."""

CHANNELS = {IMAGE: 3, **dict.fromkeys(MASKS, 1)}

OF_THE_LABELS = (*MASKS, LABELS, OBJECTS, MASK_SOURCE)
"""Features that tell what is in an image."""

OF_THE_WHOLE = (LABELS, OBJECTS)
"""Features that are true of a complete image only, not of a part or a flipped one."""
