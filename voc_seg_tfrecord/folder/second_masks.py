"""Images with several masks: of two people, of one object each, or an old one and a new one.

None of them is taken silently. If names pair each image with one mask, and a file that is left over
is another mask of an image, the build stops. `which_masks` asks where names pair nothing.
"""

import collections
from collections.abc import Collection, Sequence
import dataclasses
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.affixes import parts_at_token_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.tree.soft_labels import SoftLabels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.soft_masks import apply_threshold

SEVERAL_MASKS = "several masks for one image"
"""The kind of the errors about them."""

ONE_MASK = "one mask for each image"
"""What errors about several masks expect."""

MERGE_MASKS = (
    "If each mask shows one object, one class, or other regions, merge them into one mask for each "
    "image. If one replaces the other, take the other out of the folder"
)
"""What to do about several masks of an image."""

_MAX_READ_FILES = 16
"""Files that are read of those with one pattern of names in one folder."""

_NUMBER = re.compile(r"\d+")


@dataclasses.dataclass(frozen=True)
class SecondMask:
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

    Args:
      tree: the set.
      used: the ids in splits.
      left_over: the paths of the files that a build does not use, below the given folder.

    Raises:
      LayoutError: if one is.
    """
    mask_endings = tuple(tree.set_files.mask_endings)
    masks = [path for path in left_over if path.lower().endswith(mask_endings)]
    if not masks:
        return
    second_masks = _find_second_masks(tree, used, masks)
    first = _first_with_pixels_of_mask(tree, _sample_each_pattern(second_masks))
    if first is None:
        return
    others = ""
    other_count = len({mask.image_id for mask in second_masks}) - 1
    if other_count:
        others = f", and several for {counted(other_count, 'other image')} by their names"
    mask = tree.paths.mask(first.image_id)
    name = posixpath.basename(mask)
    options = command(**_options_of_pattern(tree, mask))
    raise LayoutError(
        tree.given,
        found=f"2 masks for the image {tree.paths.image(first.image_id)}: {mask} and "
        f"{first.path}{others}",
        expected=ONE_MASK,
        remedy=f"{MERGE_MASKS}. To read only masks with names like {name}, add {options}",
        kind=SEVERAL_MASKS,
    )


def _options_of_pattern(tree: VocTree, mask: str) -> dict[str, str]:
    """Returns the options with the patterns of the names that are paired.

    Args:
      tree: the set.
      mask: the path of one of its masks; its ending is in the pattern if there is no other one.
    """
    options = tree.layout.options(tree.root_below_given)
    if "mask_name" not in options:
        options["mask_name"] = ID + posixpath.splitext(mask)[1]
    return {name: options[name] for name in ("image_name", "mask_name") if name in options}


def _find_second_masks(
    tree: VocTree, used: Collection[str], left_over: Sequence[str]
) -> list[SecondMask]:
    """Returns the files whose names are those of images with more behind or before them."""
    names = _NamesInUse(tree, used)
    second_masks: list[SecondMask] = []
    for path in left_over:
        folder = posixpath.dirname(path)
        name = stem(path)
        if role_of_name(name) == "drawn":
            continue
        for name_of_image, rest in parts_at_token_ends(name):
            image_id = names.find_image(folder, name_of_image)
            if image_id is not None and not names.is_between_names(rest):
                second_masks.append(SecondMask(image_id, path, _rest_pattern(rest)))
                break
    return second_masks


def _sample_each_pattern(masks: Sequence[SecondMask]) -> list[SecondMask]:
    """Returns the first files of each pattern of names in each folder.

    Files of one pattern, such as `x_vis.png`, are of one kind: all of them are masks, or none is.
    """
    counts: collections.Counter[tuple[str, str]] = collections.Counter()
    sample = []
    for mask in masks:
        group = (posixpath.dirname(mask.path), mask.pattern)
        counts[group] += 1
        if counts[group] <= _MAX_READ_FILES:
            sample.append(mask)
    return sample


def _first_with_pixels_of_mask(tree: VocTree, masks: Sequence[SecondMask]) -> SecondMask | None:
    """Returns the first of some files whose pixels say that it is another mask of its image."""
    for mask in masks:
        if _is_mask_of(tree, mask):
            return mask
    return None


class _NamesInUse:
    """The names of images in use, without their folders and endings.

    Args:
      tree: the set.
      used: the ids in splits.
    """

    def __init__(self, tree: VocTree, used: Collection[str]):
        self._id_by_folder_and_stem: dict[tuple[str, str], str] = {}
        self._names: set[str] = set()
        for image_id in tree.images:
            if image_id not in used or image_id not in tree.masks:
                continue
            name_of_id = posixpath.basename(image_id)
            self._names.add(name_of_id)
            image = tree.paths.image(image_id)
            mask = tree.paths.mask(image_id)
            for path in (image, mask):
                folder = posixpath.dirname(path)
                for name in (name_of_id, stem(image), stem(mask)):
                    self._id_by_folder_and_stem[folder, name] = image_id

    def find_image(self, folder: str, name: str) -> str | None:
        """Returns the image of a name whose image or mask lies in a folder."""
        return self._id_by_folder_and_stem.get((folder, name))

    def is_between_names(self, rest: str) -> bool:
        """Says whether the names of two images in use differ by a rest.

        Example: with `a` and `a_2` in use, `b_2.png` is the mask of an image `b_2` that is not
        there, and no second mask of `b`.
        """
        return _rest_pattern(rest) in self._patterns_between_names

    @functools.cached_property
    def _patterns_between_names(self) -> set[str]:
        """What images in use have around the name of another one, whatever the numbers are."""
        patterns: set[str] = set()
        for name in self._names:
            for shorter_name, rest in parts_at_token_ends(name):
                if shorter_name in self._names:
                    patterns.add(_rest_pattern(rest))
        return patterns


def _rest_pattern(rest: str) -> str:
    """Returns what is around an id, whatever its numbers are."""
    return _NUMBER.sub("0", rest)


def _is_mask_of(tree: VocTree, mask: SecondMask) -> bool:
    """Says whether a file may be a mask of an image by its pixels, and is no copy of its mask."""
    looks = Looks(tree.given)
    if not looks.sizes_agree(tree.paths.image(mask.image_id), mask.path):
        return False
    is_mask = looks.looks_like_mask(mask.path) or _is_soft_mask(tree, tree.given / mask.path)
    return is_mask and not looks.are_same(tree.paths.mask(mask.image_id), mask.path)


def _is_soft_mask(tree: VocTree, path: epath.Path) -> bool:
    """Says whether the masks of a set are soft, and a file is a soft mask too."""
    if not isinstance(tree.labels, SoftLabels):
        return False
    try:
        apply_threshold(File.read(path, MaskError), tree.labels.threshold)
    except MaskError:
        return False
    return True
