"""Images with several masks: of two people, of one object each, or an old one and a new one.

None of them is taken silently. If names pair each image with one mask, and a file that is left over
is another mask of an image, the build stops.
"""

import collections
from collections.abc import Collection, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.align import parts_at_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.tree.soft_labels import SoftLabels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.soft_masks import apply_threshold

_MAX_READ_FILES = 16
"""Files that are read of those with one pattern of names in one folder."""

_NUMBER = re.compile(r"\d+")


@dataclasses.dataclass(frozen=True)
class _SecondMask:
    """A file that is another mask of an image.

    Attributes:
      image_id: the image.
      path: the file, below the given folder.
      pattern: what its name has around that of the image, whatever its numbers are.
    """

    image_id: str
    path: str
    pattern: str


def check_no_second_masks(tree: VocTree, used: Collection[str], left_over: Sequence[str]) -> None:
    """Checks that no file that is left over is another mask of an image in use.

    Files of one pattern of names in one folder, such as `x_vis.png`, are of one kind: all of them
    are masks, or none is. So only the first ones are read.

    Args:
      tree: the set.
      used: the ids in splits.
      left_over: the paths of the files that a build does not use, below the given folder.

    Raises:
      LayoutError: if one is.
    """
    masks = [path for path in left_over if path.lower().endswith(tree.mask_endings)]
    if not masks:
        return
    second_masks = _find_second_masks(tree, used, masks)
    looks = Looks(tree.given)
    read_counts: collections.Counter[tuple[str, str]] = collections.Counter()
    for second_mask in second_masks:
        kind = (posixpath.dirname(second_mask.path), second_mask.pattern)
        read_counts[kind] += 1
        if read_counts[kind] > _MAX_READ_FILES or not _is_mask_of(tree, looks, second_mask):
            continue
        others = ""
        other_count = len({other.image_id for other in second_masks}) - 1
        if other_count:
            others = f", and several for {counted(other_count, 'other image')} by their names"
        mask = tree.masks[second_mask.image_id]
        layout = tree.layout.options(tree.root_below_given)
        layout.setdefault("mask_name", ID + posixpath.splitext(mask)[1])
        options = {name: layout[name] for name in ("image_name", "mask_name") if name in layout}
        raise LayoutError(
            tree.given,
            found=f"2 masks for the image {tree.images[second_mask.image_id]}: {mask} and "
            f"{second_mask.path}{others}",
            expected="one mask for each image",
            remedy="If each mask shows one object, one class, or other regions, merge them into "
            "one mask for each image. If one replaces the other, take the other out of the "
            f"folder. To read only masks with names like {posixpath.basename(mask)}, add "
            f"{command(**options)}",
            kind="several masks for one image",
        )


def _find_second_masks(
    tree: VocTree, used: Collection[str], left_over: Sequence[str]
) -> list[_SecondMask]:
    """Returns the files whose names are those of images with more behind or before them.

    They lie where the image or its mask lies. If `a` and `a_2` are both in use, `b_2.png` is the
    mask of an image `b_2` that is not there, and no second mask of `b`.
    """
    names_in_use: set[str] = set()
    id_by_folder_and_stem: dict[tuple[str, str], str] = {}
    for image_id in tree.images:
        if image_id not in used or image_id not in tree.masks:
            continue
        name_of_id = posixpath.basename(image_id)
        names_in_use.add(name_of_id)
        paths = (tree.images[image_id], tree.masks[image_id])
        for folder in map(posixpath.dirname, paths):
            for name in (name_of_id, *map(stem, paths)):
                id_by_folder_and_stem[folder, name] = image_id
    candidates: dict[str, list[_SecondMask]] = {}
    for path in left_over:
        folder, name = posixpath.dirname(path), stem(path)
        if role_of_name(name) == "drawn":
            continue
        for part, rest in parts_at_ends(name):
            id_of_part = id_by_folder_and_stem.get((folder, part))
            if id_of_part is not None:
                candidate = _SecondMask(id_of_part, path, _NUMBER.sub("0", rest))
                candidates.setdefault(path, []).append(candidate)
    patterns_of_ids = _list_patterns_between(names_in_use) if candidates else set()
    second_masks: list[_SecondMask] = []
    for candidates_of_path in candidates.values():
        remaining = [each for each in candidates_of_path if each.pattern not in patterns_of_ids]
        second_masks += remaining[:1]
    return second_masks


def _list_patterns_between(names: Collection[str]) -> set[str]:
    """Returns what names have around other ones, whatever the numbers are."""
    patterns: set[str] = set()
    for name in names:
        for part, rest in parts_at_ends(name):
            if part in names:
                patterns.add(_NUMBER.sub("0", rest))
    return patterns


def _is_mask_of(tree: VocTree, looks: Looks, mask: _SecondMask) -> bool:
    """Says whether a file may be a mask of an image by its pixels, and is no copy of its mask."""
    if not looks.sizes_agree(tree.images[mask.image_id], mask.path):
        return False
    if not looks.looks_like_mask(mask.path):
        if not isinstance(tree.labels, SoftLabels):
            return False
        try:
            file = File.read(tree.given / mask.path, MaskError)
            apply_threshold(file, tree.labels.threshold)
        except MaskError:
            return False
    return not looks.are_same(tree.masks[mask.image_id], mask.path)
