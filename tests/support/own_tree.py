"""A user's own tree of the images a, b and c, of which c has no mask."""

from collections.abc import Callable
import pathlib

import numpy as np
from support import exports
from support.encoding import decoded

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.index_masks import read_mask


def config(**fields) -> VocSegConfig:
    """Returns the config of a user's own tree."""
    return VocSegConfig(name="mine", **fields)


def read_as(config: VocSegConfig, plan: FolderPlan) -> np.ndarray:
    """Returns what a build makes of the mask `SegmentationClass/a.png`, uint8 `[H, W]`."""
    path = plan.tree.root / "SegmentationClass" / "a.png"
    return decoded(read_mask(File.read(path), config.example_spec(plan.mask_rule).rule).png)


def write_own_tree(root: pathlib.Path) -> Callable[[], VocTree]:
    """Writes the tree, without lists; returns what opens it with all that a test has added."""
    for image_id in "ab":
        exports.put_pair(root, image_id, exports.truth("a"))
    exports.put_image(root, "JPEGImages/c.jpg")
    return lambda: FolderReader(root).find_tree(config())
