"""From the records of a built dataset to batches, on `tf.data`.

Small functions that compose. Each of those on examples takes and gives a dictionary with
the feature names of the dataset:

- `image` uint8 `[H, W, 3]`, `segmentation_mask` and `instance_mask` uint8 `[H, W, 1]` always
  move together. The image is resized bilinearly, masks take the nearest pixel. Padding is 0
  in images and 255, void, in masks. An image or mask that is not decoded yet (a string, as
  `tfds.decode.SkipDecoding` leaves it) is decoded on the way, and only the part that is
  needed.
- `image/height` and `image/width` are always those of the image in the record, whatever
  was done to it since.
- `labels` and `objects` describe the complete image, so functions that change what is seen
  leave them out.
- all other features are returned unchanged.

All randomness comes from one seed per example (see `example_seed`), so that neither threads
nor restarts change it. `training_batches`, `evaluation_batches` and
`labeled_unlabeled_batches` combine the usual steps. Where they take a split, they take the
name of a list that papers use as well, or image ids. `stitch` puts predictions of tiles together.

Importing this loads TensorFlow.
"""

from voc_seg_tfrecord.core import requirements

requirements.require("tensorflow", "voc_seg_tfrecord.pipeline", "use voc_seg_tfrecord.arrays")

# isort: split
from voc_seg_tfrecord.pipeline.batches import (
    evaluation_batches,
    labeled_unlabeled_batches,
    padded_batch,
    training_batches,
)
from voc_seg_tfrecord.pipeline.crops import random_scale, random_scaled_crop
from voc_seg_tfrecord.pipeline.seeds import example_seed
from voc_seg_tfrecord.pipeline.streams import read
from voc_seg_tfrecord.pipeline.transforms import (
    augment,
    center_crop_or_pad,
    one_hot,
    random_crop_or_pad,
    random_flip,
    resize,
    sample_weights,
)
from voc_seg_tfrecord.pipeline.window import decode
from voc_seg_tfrecord.reading.stitching import stitch, tiles_of

__all__ = [
    "augment",
    "center_crop_or_pad",
    "decode",
    "evaluation_batches",
    "example_seed",
    "labeled_unlabeled_batches",
    "one_hot",
    "padded_batch",
    "random_crop_or_pad",
    "random_flip",
    "random_scale",
    "random_scaled_crop",
    "read",
    "resize",
    "sample_weights",
    "stitch",
    "tiles_of",
    "training_batches",
]
