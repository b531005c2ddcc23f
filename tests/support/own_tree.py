"""A user's own tree of the images a, b and c, of which c has no mask."""

from collections.abc import Callable
import pathlib

from etils import epath
from support import exports

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.own_data.plan import open_tree
from voc_seg_tfrecord.trees.tree import VocTree


def config(**fields) -> VocSegConfig:
    """Returns the config of a user's own tree."""
    return VocSegConfig(name="mine", **fields)


def write_own_tree(root: pathlib.Path) -> Callable[[], VocTree]:
    """Writes the tree, without lists; returns what opens it with all that a test has added."""
    mask = exports.write_png(exports.truth("a"), color=0)
    for image_id in "abc":
        exports.put_image(root, f"JPEGImages/{image_id}.jpg")
    for image_id in "ab":
        exports.put(root, f"SegmentationClass/{image_id}.png", mask)
    return lambda: open_tree(epath.Path(root), config())
