"""Finds the images that several exports have, because several annotators drew them.

Two images are one if their files have the same bytes, whatever they are called. They are one, too,
if they have the same id below their export and show the same picture: a tool may have saved it
again. The same id alone says nothing, because each export may number its images from 1.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import hashlib
import math
from typing import Any

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
from voc_seg_tfrecord.formats import pillow

_MAX_IMAGES_OF_ANY_NAME = 50_000
"""Labeled images at most, of which those of different names are compared, too."""

_MAX_ANNOTATORS = 8
"""Exports at most of which pictures are compared; more folders are scenes rather than exports."""

_PROBED_NAMES = 64
"""Names that several exports have, of which the pictures are compared first.

If none is the same picture, each export has names of its own, and the other names are not compared.
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
        grouped_ids = {image_id for group in groups for image_id in group}
        groups += _group_same_pictures(tree, grouped_ids)
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


def _group_same_pictures(tree: VocTree, grouped_ids: Collection[str]) -> list[list[str]]:
    """Returns groups of ids that are the same below their exports and show the same picture.

    Args:
      tree: the set.
      grouped_ids: the ids whose images are known to be shared.
    """
    groups: list[list[str]] = []
    for group in _group_by_name(tree):
        ids = [image_id for image_id in group if image_id not in grouped_ids]
        if len(ids) > 1:
            groups.append(ids)
    every_nth = math.ceil(len(groups) / _PROBED_NAMES) or 1
    probed = _keep_same_pictures(tree, groups[::every_nth])
    if every_nth == 1 or not probed:
        return probed
    return _keep_same_pictures(tree, groups)


def _keep_same_pictures(tree: VocTree, groups: Sequence[Sequence[str]]) -> list[list[str]]:
    """Returns of each group the ids whose picture is that of the first one."""
    kept: list[list[str]] = []
    for _, same in ordered_map(lambda group: _keep_same_as_first(tree, group), groups):
        if len(same) > 1:
            kept.append(same)
    return kept


def _keep_same_as_first(tree: VocTree, ids: Sequence[str]) -> list[str]:
    first, *others = ids
    return [first, *(other for other in others if _is_same_picture(tree, first, other))]


def _is_same_picture(tree: VocTree, image_id: str, other_id: str) -> bool:
    """Says whether two images have the same size and look the same."""
    paths = [tree.image_file(image_id), tree.image_file(other_id)]
    try:
        sizes = [pillow.read_size(File.read(path, ImageError), ImageError) for path in paths]
    except VocSegError:
        return False
    if sizes[0] != sizes[1]:
        return False
    thumbnail, other_thumbnail = map(read_thumbnail, paths)
    if thumbnail is None or other_thumbnail is None or _is_blank(thumbnail):
        return False
    return difference_upright(thumbnail, other_thumbnail) < MAX_DIFFERENCE_OF_COPIES


def _group_by_name(tree: VocTree) -> list[list[str]]:
    """Returns the groups of ids that are the same below their exports."""
    ids_by_name: dict[str, list[str]] = {}
    for image_id in tree.labeled_ids:
        ids_by_name.setdefault(image_id.partition("/")[2], []).append(image_id)
    return [ids for ids in ids_by_name.values() if len(ids) > 1]


def _are_of_several_exports(ids: Iterable[str]) -> bool:
    return len({first_folder(image_id) for image_id in ids}) > 1


def _are_one_of_each_export(ids: Sequence[str]) -> bool:
    """Says whether several ids are of different exports."""
    return len(ids) > 1 and len({first_folder(image_id) for image_id in ids}) == len(ids)
