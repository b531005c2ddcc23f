"""Pascal-VOC-layout segmentation data in TensorFlow Datasets.

Importing the package registers the dataset, so that `tfds.load('voc_seg_tfrecord')` and
`tfds build voc_seg_tfrecord --imports voc_seg_tfrecord` find it. TensorFlow itself is not
imported.
"""

from voc_seg_tfrecord.build_from.memory import from_arrays
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.labels import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder

__all__ = [
    "VOC_CLASSES",
    "VOID",
    "Builder",
    "VocSegConfig",
    "VocSegError",
    "builder_from_tree",
    "from_arrays",
    "voc_palette",
]
