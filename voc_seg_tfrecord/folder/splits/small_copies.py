"""Finds images that are smaller copies of labeled ones, such as thumbnails, by names and looks.

A copy has the name of its image, perhaps with more before or behind it: `thumbs/a.jpg`,
`a_small.jpg` and `tn_a.png` of `a.jpg`. Its picture is the same, and it has no more pixels. A copy
of the same size, saved in another format, has the same name alone: frames of a film that are named
alike have the same size too.
"""

from collections.abc import Collection
import dataclasses
import math
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.align import parts_at_ends
from voc_seg_tfrecord.folder.splits.alike import (
    MAX_DIFFERENCE_OF_COPIES,
    difference,
    read_thumbnail,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pillow

_MAX_COMPARED_IMAGES = 400
_MAX_ORIGINALS_OF_NAME = 4


@dataclasses.dataclass(frozen=True)
class _Twin:
    """An image without a mask, and a labeled one whose name it has.

    Attributes:
      image_id: the image without a mask.
      original_id: the labeled image.
      has_same_name: whether nothing stands before or behind the name.
    """

    image_id: str
    original_id: str
    has_same_name: bool


def find_small_copies(tree: VocTree, unmasked_ids: Collection[str]) -> dict[str, str]:
    """Returns, by images without a mask, the labeled image whose picture they show.

    If more than 400 images have the names of labeled ones, 200 to 400 of them are compared.

    Args:
      tree: the set.
      unmasked_ids: the ids of the images without a mask.
    """
    twins = _list_twins(tree, unmasked_ids)
    every_nth = math.ceil(len(twins) / _MAX_COMPARED_IMAGES) or 1
    copies: dict[str, str] = {}
    for twin, is_copy in ordered_map(lambda twin: _is_copy(tree, twin), twins[::every_nth]):
        if is_copy:
            copies.setdefault(twin.image_id, twin.original_id)
    return copies


def _list_twins(tree: VocTree, unmasked_ids: Collection[str]) -> list[_Twin]:
    """Returns the images without a mask that have the names of labeled ones."""
    labeled_by_name: dict[str, list[str]] = {}
    for image_id in tree.labeled_ids:
        labeled_by_name.setdefault(posixpath.basename(image_id), []).append(image_id)
    twins: list[_Twin] = []
    for image_id in sorted(unmasked_ids):
        name = posixpath.basename(image_id)
        names_in_it = [name, *(part for part, _ in parts_at_ends(name))]
        for name_in_it in names_in_it:
            for original_id in labeled_by_name.get(name_in_it, ())[:_MAX_ORIGINALS_OF_NAME]:
                twins.append(_Twin(image_id, original_id, name_in_it == name))
    return twins


def _is_copy(tree: VocTree, twin: _Twin) -> bool:
    """Says whether an image shows the picture of another one, and is smaller or has its name."""
    image = tree.image_file(twin.image_id)
    original = tree.image_file(twin.original_id)
    sides, original_sides = _read_sides(image), _read_sides(original)
    if sides is None or original_sides is None:
        return False
    short_side, long_side = sides
    original_short_side, original_long_side = original_sides
    if short_side > original_short_side or long_side > original_long_side:
        return False
    if sides == original_sides and not twin.has_same_name:
        return False
    thumbnail, original_thumbnail = read_thumbnail(image), read_thumbnail(original)
    if thumbnail is None or original_thumbnail is None:
        return False
    return difference(thumbnail, original_thumbnail) < MAX_DIFFERENCE_OF_COPIES


def _read_sides(path: epath.Path) -> tuple[int, int] | None:
    """Returns the shorter and the longer side of an image, in pixels; None if it is damaged."""
    try:
        height, width = pillow.read_size(File.read(path, ImageError), ImageError)
    except VocSegError:
        return None
    return min(height, width), max(height, width)
