"""Proposes patterns by which several masks of an image are merged: one for each class or object.

| image | masks | patterns |
| --- | --- | --- |
| `a.jpg` | `a_cat.png`, `a_dog.png` | `cat={id}_cat.png,dog={id}_dog.png` |
| `a.jpg` | `a_square_0.png`, `a_square_1.png` | `square={id}_square_*.png` |
| `a/images/a.png` | `a/masks/6f1e.png`, `a/masks/93bc.png` | `object={id}/masks/*.png` |
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.class_masks import ANY_TEXT
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.role_words import MASK_WORDS
from voc_seg_tfrecord.folder.files.affixes import affix_around
from voc_seg_tfrecord.folder.files.merge_proposals import (
    MAX_CLASSES,
    KindOfMasks,
    propose_named_kinds,
)
from voc_seg_tfrecord.folder.files.paths import common_folder, stem
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.tree.listing import Listing

OBJECT = "object"
"""The class of masks whose names have no word for one."""

_NUMBER = re.compile(r"(?<![^\W_])([^\W\d_]*)\d+(?![^\W_])")
"""A number, and the word that it stands behind, as in `obj1`."""

_WORD_WITH_NUMBER = re.compile(r"[^\W_]*\d[^\W_]*")
"""A number, or what has numbers among its letters, such as a digest."""

_WORD = re.compile(r"[^\W\d_]+")


@dataclasses.dataclass(frozen=True)
class _MaskOfImage:
    """A mask, and its place in the folder of masks.

    Attributes:
      path: its path below the given folder.
      pattern: its path below the folder of masks, with `{id}` in place of the image's id.
    """

    path: str
    pattern: str

    @property
    def class_name(self) -> str:
        """The words of its name that may be a class; empty if there are none."""
        name = stem(self.pattern).replace(ID, " ")
        words = _WORD.findall(_replace_numbers(name, " "))
        return "_".join(word for word in words if word.casefold() not in MASK_WORDS)

    @property
    def has_number(self) -> bool:
        """Whether its name has a number, which may be that of an object."""
        return _WORD_WITH_NUMBER.search(stem(self.pattern).replace(ID, " ")) is not None

    @property
    def object_pattern(self) -> str:
        """The pattern with `*` in place of numbers, and of words with numbers among letters."""
        folder, name = posixpath.split(self.pattern)
        name_stem, ending = posixpath.splitext(name)
        texts = [_replace_numbers(text, ANY_TEXT) for text in name_stem.split(ID)]
        return posixpath.join(folder, ID.join(texts) + ending)


def _replace_numbers(text: str, replacement: str) -> str:
    """Replaces numbers, and then words that have digits among their letters.

    The word before a number is kept. It would not be if such words were replaced first.

    Examples with `*`: `obj*_cat` for `obj1_cat`, and `*` for `6f1e`.
    """
    without_numbers = _NUMBER.sub(rf"\1{replacement}", text)
    return _WORD_WITH_NUMBER.sub(replacement, without_numbers)


@dataclasses.dataclass(frozen=True)
class _ImageFolders:
    """Where images lie, and how they are named.

    Attributes:
      folder: the folder of all images; empty for the given one.
      image_name: the pattern of their names, if each lies in a folder of its own; or else empty.
      id_by_path: the id of each image.
    """

    folder: str
    image_name: str
    id_by_path: Mapping[str, str]


def propose_for_images(
    listing: Listing, masks_by_image: Mapping[str, Sequence[str]]
) -> list[Alternative]:
    """Returns the alternatives that merge the masks of each image.

    Args:
      listing: all that lies in the folder.
      masks_by_image: the paths of masks by that of their image.

    Returns:
      Nothing if names have nothing in common, or the masks cannot be merged.
    """
    images = _find_image_folders([*masks_by_image])
    mask_folder = _find_mask_folder(images, masks_by_image)
    masks: list[_MaskOfImage] = []
    for image, paths in masks_by_image.items():
        for path in paths:
            pattern = _find_pattern(path, mask_folder, images.id_by_path[image])
            if not pattern:
                return []
            masks.append(_MaskOfImage(path, pattern))
    masks_by_class = _group_by_class(masks, len(masks_by_image))
    options = {"images": images.folder or ".", "masks": mask_folder or "."}
    if images.image_name:
        options["image_name"] = images.image_name
    kinds: dict[str, KindOfMasks] = {}
    for name, masks_of_class in masks_by_class.items():
        pattern = _common_pattern(masks_of_class)
        if not pattern:
            return []
        paths = [mask.path for mask in masks_of_class]
        kinds[name] = KindOfMasks({**options, "mask_name": pattern}, paths)
    return propose_named_kinds(listing, kinds)


def _find_image_folders(paths: Sequence[str]) -> _ImageFolders:
    """Returns where images lie: in one folder, or each in a folder of its own."""
    folder = common_folder([posixpath.dirname(path) for path in paths])
    names = {path: posixpath.relpath(path, folder or ".") for path in paths}
    patterns = {_pattern_of_own_folder(name) for name in names.values()}
    if len(paths) > 1 and len(patterns) == 1 and "" not in patterns:
        id_by_path = {path: name.partition("/")[0] for path, name in names.items()}
        return _ImageFolders(folder, patterns.pop(), id_by_path)
    return _ImageFolders(
        folder, "", {path: posixpath.splitext(name)[0] for path, name in names.items()}
    )


def _pattern_of_own_folder(name: str) -> str:
    """Returns the pattern of an image whose first folder is its id; empty if it lies in none.

    Examples: `{id}/images/{id}.png` and `{id}/photo.jpg`.
    """
    image_id, slash, rest = name.partition("/")
    if not slash:
        return ""
    folder, file = posixpath.split(rest)
    file_stem, ending = posixpath.splitext(file)
    text = ID if file_stem == image_id else file_stem
    return posixpath.join(ID, folder, text + ending)


def _find_mask_folder(images: _ImageFolders, masks_by_image: Mapping[str, Iterable[str]]) -> str:
    """Returns the folder of all masks, above the folders that are called as images."""
    if images.image_name:
        return images.folder
    folders: list[str] = []
    for image, paths in masks_by_image.items():
        image_id = images.id_by_path[image]
        for path in paths:
            folder = posixpath.dirname(path)
            above, _, _ = f"/{folder}/".partition(f"/{image_id}/")
            folders.append(above.strip("/"))
    return common_folder(folders)


def _find_pattern(path: str, mask_folder: str, image_id: str) -> str:
    """Returns the path of a mask below a folder with `{id}` for its image; empty if it has none."""
    name = posixpath.relpath(path, mask_folder or ".")
    if name.startswith(f"{image_id}/"):
        return ID + name.removeprefix(image_id)
    folder_of_id, id_in_folder = posixpath.split(image_id)
    folder, file = posixpath.split(name)
    if folder != folder_of_id:
        return ""
    file_stem, ending = posixpath.splitext(file)
    affix = affix_around(file_stem, id_in_folder, may_touch_words=False)
    if affix is None:
        return ""
    before, after = affix
    return f"{before}{ID}{after}{ending}"


def _group_by_class(
    masks: Sequence[_MaskOfImage], image_count: int
) -> dict[str, list[_MaskOfImage]]:
    """Returns masks by the class that their names say; all are objects if some say none."""
    masks_by_class: dict[str, list[_MaskOfImage]] = collections.defaultdict(list)
    for mask in masks:
        masks_by_class[mask.class_name].append(mask)
    are_hashes = len(masks_by_class) > max(MAX_CLASSES, image_count)
    if "" in masks_by_class or are_hashes:
        return {OBJECT: list(masks)}
    return dict(masks_by_class)


def _common_pattern(masks: Sequence[_MaskOfImage]) -> str:
    """Returns the pattern that all masks of a class have; empty if they have several.

    A name with a number may be one of several. If such names differ in more than numbers, anything
    may stand where they differ:

    | masks of the image `a` | pattern |
    | --- | --- |
    | `a_cat.png` | `{id}_cat.png` |
    | `a_cat_1.png`, `a_cat_2.png` | `{id}_cat_*.png` |
    | `a/masks/6f1e.png`, `a/masks/cat.png` | `{id}/masks/*.png` |
    | `a_6f1e.png`, `a_cat_1.png` | `{id}_*.png` |
    | others, or in several folders | none |
    """
    patterns = {mask.pattern for mask in masks}
    if len(patterns) == 1 and not any(mask.has_number for mask in masks):
        return patterns.pop()
    patterns = {mask.object_pattern for mask in masks}
    if len(patterns) == 1:
        (pattern,) = patterns
        return pattern if ANY_TEXT in pattern else ""
    folders = {posixpath.dirname(pattern) for pattern in patterns}
    endings = {posixpath.splitext(pattern)[1] for pattern in patterns}
    if len(folders) != 1 or len(endings) != 1:
        return ""
    names = [posixpath.basename(pattern) for pattern in patterns]
    if not any(ID in name for name in names):
        return posixpath.join(folders.pop(), ANY_TEXT + endings.pop())
    if all(name.startswith(f"{ID}_") for name in names):
        return posixpath.join(folders.pop(), f"{ID}_{ANY_TEXT}{endings.pop()}")
    return ""
