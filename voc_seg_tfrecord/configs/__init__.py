"""The config that a build is made from.

Enter at `VocSegConfig`. `config` has the fields and what follows from them, `checks` says of
what type each is and which go together, `description` what TFDS is told of the dataset. May import:
up to `splitting`. As users know this room by name, it gives out the configs.
"""

from voc_seg_tfrecord.configs.checks import SAMPLE, SAMPLE_TREE, MissingImage, MissingMask, SplitBy
from voc_seg_tfrecord.configs.config import BUILDER_CONFIGS, VocSegConfig

__all__ = [
    "BUILDER_CONFIGS",
    "SAMPLE",
    "SAMPLE_TREE",
    "MissingImage",
    "MissingMask",
    "SplitBy",
    "VocSegConfig",
]
