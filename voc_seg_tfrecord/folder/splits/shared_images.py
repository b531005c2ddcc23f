"""Finds the images that several exports have, because several annotators drew them.

Two images are one if their files have the same bytes, whatever they are called. They are one, too,
if they have the same id below their export and show the same picture: a tool may have saved it
again. The same id alone says nothing, because each export may number its images from 1.

Both signs count together: if anna's and ben's files are equal, and cleo's is that picture saved
again, all three are one image.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import hashlib
import math
from typing import Any

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.exports import Export
from voc_seg_tfrecord.folder.files.pixels import MIN_IMAGE_BYTES, length
from voc_seg_tfrecord.folder.splits.alike import (
    MAX_DIFFERENCE_OF_COPIES,
    Thumbnail,
    difference_upright,
    read_thumbnail,
)
from voc_seg_tfrecord.folder.splits.folders import first_folder
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import images, pillow

_MAX_IMAGES_OF_ANY_NAME = 50_000
"""Labeled images at most, of which those of different names are compared, too."""

_MAX_ANNOTATORS = 8
"""Exports at most of which pictures are compared; more folders are scenes rather than exports."""

_PROBED_NAMES = 64
"""Names that several exports have, of which the pictures are compared first.

If none is the same picture, each export has names of its own, and the other names are not compared.
"""

_GRAYS_SIDE_PX = 64

_MAX_GRAY_DIFFERENCE = 32
"""Largest difference of the 64 x 64 grays of a picture that was saved again.

Measured on 116 photos: JPEGs of quality 95 to 40 differ by 1 to 4 levels in the median, by 12 in 99
of 100, and by 41 at most.
"""


@dataclasses.dataclass(frozen=True)
class SharedImage:
    """An image that several exports have.

    Attributes:
      id_by_export: its id in each of them, by the name of the export.
      has_other_masks: whether its masks, or shapes, differ.
    """

    id_by_export: Mapping[str, str]
    has_other_masks: bool

    @property
    def ids(self) -> list[str]:
        """Its ids, in the order of the exports' names."""
        return [*self.id_by_export.values()]


def find_shared_images(tree: VocTree, exports: Sequence[Export]) -> list[SharedImage]:
    """Finds the labeled images that several exports have, sorted by their first id.

    An image that an export itself has several times is none of them, nor is one of a single color,
    such as a blank tile.
    """
    if len(exports) < 2:
        return []
    groups = _group_same_files(tree)
    if len(exports) <= _MAX_ANNOTATORS:
        groups = _join_groups([*groups, *_group_same_pictures(tree, groups)])
    return [_as_shared_image(tree, sorted(group)) for group in sorted(map(sorted, groups))]


def _as_shared_image(tree: VocTree, ids: Sequence[str]) -> SharedImage:
    labels = [_read_label(tree, image_id) for image_id in ids]
    return SharedImage(
        id_by_export={first_folder(image_id): image_id for image_id in ids},
        has_other_masks=any(label != labels[0] for label in labels),
    )


def _read_label(tree: VocTree, image_id: str) -> Any:
    """Returns what an id's mask is made from: shapes without their positions, or bytes."""
    labels = tree.labels
    if isinstance(labels, DrawnLabels):
        return [shape._replace(position="") for shape in labels.shapes[image_id].shapes]
    try:
        return File.read(labels.folder / labels.names[image_id], MaskError).data
    except VocSegError:
        return None


def _group_same_files(tree: VocTree) -> list[list[str]]:
    """Returns groups of ids whose images have the same bytes, one of each export."""
    candidates: Sequence[str] = tree.labeled_ids
    if len(candidates) > _MAX_IMAGES_OF_ANY_NAME:
        candidates = [image_id for group in _group_by_name(tree) for image_id in group]
    ids_by_length: dict[int, list[str]] = {}
    for image_id, size in ordered_map(lambda one: length(tree.image_file(one)), candidates):
        if size > MIN_IMAGE_BYTES:
            ids_by_length.setdefault(size, []).append(image_id)
    groups: list[list[str]] = []
    for ids in ids_by_length.values():
        if _are_of_several_exports(ids):
            groups += _group_by_digest(tree, ids)
    return groups


def _group_by_digest(tree: VocTree, ids: Iterable[str]) -> list[list[str]]:
    """Returns groups of ids whose images have the same bytes, if no export has one twice."""
    ids_by_digest: dict[bytes, list[str]] = {}
    for image_id in ids:
        try:
            data = File.read(tree.image_file(image_id), ImageError).data
        except VocSegError:
            continue
        ids_by_digest.setdefault(hashlib.sha256(data).digest(), []).append(image_id)
    groups = [group for group in ids_by_digest.values() if _are_one_of_each_export(group)]
    return [group for group in groups if not _is_blank(read_thumbnail(tree.image_file(group[0])))]


def _is_blank(thumbnail: Thumbnail | None) -> bool:
    """Says whether an image has one color, as the first slices of scans do: no one's photo."""
    return thumbnail is not None and not thumbnail.any()


def _group_same_pictures(tree: VocTree, same_files: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns groups of ids that are the same below their exports and show the same picture.

    Args:
      tree: the set.
      same_files: groups of ids whose files are the same. One id of each is compared.
    """
    first_id_by_id = {image_id: group[0] for group in same_files for image_id in group}
    groups_by_name: list[list[str]] = []
    for ids in _group_by_name(tree):
        id_by_file: dict[str, str] = {}
        for image_id in ids:
            id_by_file.setdefault(first_id_by_id.get(image_id, image_id), image_id)
        if len(id_by_file) > 1:
            groups_by_name.append([*id_by_file.values()])
    every_nth = math.ceil(len(groups_by_name) / _PROBED_NAMES) or 1
    probe = groups_by_name[::every_nth]
    same_pictures = _compare_pictures(tree, probe)
    if not same_pictures:
        return []
    del groups_by_name[::every_nth]
    return same_pictures + _compare_pictures(tree, groups_by_name)


def _compare_pictures(tree: VocTree, groups: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns the ids of each group that show the same picture, if they are several."""
    same_pictures: list[list[str]] = []
    for _, clusters in ordered_map(lambda ids: _cluster_same_pictures(tree, ids), groups):
        same_pictures += [ids for ids in clusters if len(ids) > 1]
    return same_pictures


@dataclasses.dataclass(frozen=True)
class _ComparedImage:
    """An image file that is compared.

    Attributes:
      path: the file.
      size: its height and width.
    """

    path: epath.Path
    size: tuple[int, int]

    @functools.cached_property
    def thumbnail(self) -> Thumbnail | None:
        """Its thumbnail; None if it cannot be read."""
        return read_thumbnail(self.path)

    @functools.cached_property
    def grays(self) -> np.ndarray | None:
        """Its brightness, int64 `[64, 64]` from 0 to 255; None if it cannot be read."""
        try:
            file = File.read(self.path, ImageError)
            with images.large_in_turn(file):
                still = images.decode(file, side=4 * _GRAYS_SIDE_PX)
                return still.gray(_GRAYS_SIDE_PX, _GRAYS_SIDE_PX).astype(np.int64)
        except VocSegError:
            return None


def _cluster_same_pictures(tree: VocTree, ids: Iterable[str]) -> list[list[str]]:
    """Returns clusters of ids; each id is in the first one whose first id shows its picture."""
    ids_by_picture: dict[_ComparedImage, list[str]] = {}
    for image_id in ids:
        picture = _read_picture(tree, image_id)
        if picture is None:
            continue
        same_pictures = (first for first in ids_by_picture if _is_same_picture(first, picture))
        ids_by_picture.setdefault(next(same_pictures, picture), []).append(image_id)
    return [*ids_by_picture.values()]


def _read_picture(tree: VocTree, image_id: str) -> _ComparedImage | None:
    """Returns the picture of an id; None if it cannot be read."""
    path = tree.image_file(image_id)
    try:
        return _ComparedImage(path, pillow.read_size(File.read(path, ImageError), ImageError))
    except VocSegError:
        return None


def _is_same_picture(picture: _ComparedImage, other: _ComparedImage) -> bool:
    """Says whether two images have the same size and look the same everywhere.

    Two frames of a camera that stands still look alike, but not where something moved.
    """
    if picture.size != other.size:
        return False
    if picture.thumbnail is None or other.thumbnail is None or _is_blank(picture.thumbnail):
        return False
    if difference_upright(picture.thumbnail, other.thumbnail) >= MAX_DIFFERENCE_OF_COPIES:
        return False
    if picture.grays is None or other.grays is None:
        return False
    return int(np.abs(picture.grays - other.grays).max()) <= _MAX_GRAY_DIFFERENCE


def _join_groups(groups: Iterable[Sequence[str]]) -> list[list[str]]:
    """Returns groups, each id in one: groups that share an id are joined.

    An id of an export that a group already has stays out of it. Example: `anna/1 ben/7` and
    `anna/1 ben/1 cleo/1` become `anna/1 ben/7 cleo/1`.
    """
    group_by_id: dict[str, list[str]] = {}
    for ids in groups:
        joined: list[str] = []
        for image_id in ids:
            group = group_by_id.get(image_id, [image_id])
            if not joined or _are_one_of_each_export([*joined, *group]):
                joined = [*joined, *group]
        group_by_id.update(dict.fromkeys(joined, joined))
    return [ids for first_id, ids in group_by_id.items() if first_id == ids[0] and len(ids) > 1]


def _group_by_name(tree: VocTree) -> list[list[str]]:
    """Returns the groups of ids that are the same below their exports."""
    ids_by_name: dict[str, list[str]] = {}
    for image_id in tree.labeled_ids:
        ids_by_name.setdefault(_name_below_export(image_id), []).append(image_id)
    return [ids for ids in ids_by_name.values() if len(ids) > 1]


def _name_below_export(image_id: str) -> str:
    """Returns an id without its export, which `first_folder` returns."""
    return image_id.partition("/")[2]


def _are_of_several_exports(ids: Iterable[str]) -> bool:
    return len({first_folder(image_id) for image_id in ids}) > 1


def _are_one_of_each_export(ids: Sequence[str]) -> bool:
    """Says whether several ids are of different exports."""
    return len(ids) > 1 and len({first_folder(image_id) for image_id in ids}) == len(ids)
