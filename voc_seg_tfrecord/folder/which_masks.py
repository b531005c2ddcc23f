"""Asks which masks are meant where images have several, so that names pair nothing."""

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, counted
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.folder.files.affixes import is_within_token, parts_at_token_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.files.infixes import find_infix
from voc_seg_tfrecord.folder.files.object_proposals import propose_for_images
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.files.pixels import looks_like_mask
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.second_masks import MERGE_MASKS, ONE_MASK, SEVERAL_MASKS
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MAX_MASKS = 8
"""Masks of one image whose names are tried as patterns at most."""


@dataclasses.dataclass(frozen=True)
class _ImageWithMasks:
    """An image that has several masks by their names, or by their folder.

    Attributes:
      image: the path of the image, below the given folder.
      masks: the paths of the masks.
    """

    image: str
    masks: Sequence[str]


def ask_which_masks(listing: Listing, find: Callable[[str], VocTree]) -> LayoutError | None:
    """Returns the question which masks are meant, if images of a folder have several.

    Args:
      listing: a folder in which no images and masks were found.
      find: returns the tree of masks with a pattern of names; it raises if there is none.

    Returns:
      The question, or the error that says which image has several; None if no image has.
    """
    images = list(_find_images_with_masks(listing))
    for image_with_masks in images:
        if all(looks_like_mask(listing.root / mask) for mask in image_with_masks.masks):
            return _question(listing, image_with_masks, images, find)
    return None


def _question(
    listing: Listing,
    image_with_masks: _ImageWithMasks,
    images: Sequence[_ImageWithMasks],
    find: Callable[[str], VocTree],
) -> LayoutError:
    """Returns the question which masks are meant, or an error if no option can say it."""
    first, second, *_ = image_with_masks.masks
    merged = propose_for_images(listing, {one.image: one.masks for one in images})
    alternatives = [*merged, *_list_patterns(image_with_masks, find)]
    if merged or len(alternatives) > 1:
        return QuestionError(
            listing.root,
            alternatives,
            task=f"read images that have several masks, such as {first} and {second} "
            f"for {image_with_masks.image}",
            expected=ONE_MASK,
            kind=SEVERAL_MASKS,
        )
    return LayoutError(
        listing.root,
        found=f"{counted(len(image_with_masks.masks), 'mask')} for the image "
        f"{image_with_masks.image}, such as {first} and {second}",
        expected=ONE_MASK,
        remedy=MERGE_MASKS,
        kind=SEVERAL_MASKS,
    )


def _list_patterns(
    image_with_masks: _ImageWithMasks, find: Callable[[str], VocTree]
) -> list[Alternative]:
    """Returns the patterns of masks' names that give pairs."""
    image_stem = stem(image_with_masks.image)
    patterns: list[str] = []
    for mask in image_with_masks.masks[:_MAX_MASKS]:
        patterns += _patterns_of(posixpath.basename(mask), image_stem)
    alternatives: list[Alternative] = []
    for pattern in dict.fromkeys(patterns):
        try:
            tree = find(pattern)
        except VocSegError:
            continue
        if any(image_id in tree.masks for image_id in tree.images):
            alternatives.append(Alternative("", {"mask_name": pattern}))
    return alternatives


def _patterns_of(mask_name: str, image_stem: str) -> list[str]:
    """Returns the patterns of a mask's name, with the name of its image as the id.

    | mask | image | patterns |
    | --- | --- | --- |
    | `a_1.png` | `a` | `{id}_1.png` |
    | `person1_1.png` | `1` | `person1_{id}.png` |
    | `1_1.png` | `1` | `{id}_1.png` and `1_{id}.png` |
    | `gt_a_1.png` | `a` | `gt_{id}_1.png` |
    | `um_road_1.png` | `um_1` | `{a}_road_{b}.png` |
    | `b.png` | `a` | none |
    """
    mask_stem, ending = posixpath.splitext(mask_name)
    affixes = _list_affixes(mask_stem, image_stem)
    # The mask was found by an image's name at one end of its own, so that comes before the middle.
    affixes_with_id_at_end = [affix for affix in affixes if not affix.before or not affix.behind]
    patterns = [
        f"{affix.before}{ID}{affix.behind}{ending}" for affix in affixes_with_id_at_end or affixes
    ]
    if patterns:
        return patterns
    match = find_infix(mask_name, {image_stem})
    return [match.pattern] if match else []


@dataclasses.dataclass(frozen=True)
class _Affixes:
    """What the name of a mask has before and behind the name of its image."""

    before: str
    behind: str


def _list_affixes(mask_stem: str, image_stem: str) -> list[_Affixes]:
    """Returns what is around the name of an image, for each position where it cuts no token."""
    affixes: list[_Affixes] = []
    start = mask_stem.find(image_stem)
    while start >= 0:
        end = start + len(image_stem)
        before, behind = mask_stem[:start], mask_stem[end:]
        cuts_token_before = before != "" and is_within_token(before[-1], image_stem[0])
        cuts_token_behind = behind != "" and is_within_token(image_stem[-1], behind[0])
        if not cuts_token_before and not cuts_token_behind:
            affixes.append(_Affixes(before, behind))
        start = mask_stem.find(image_stem, start + 1)
    return affixes


def _find_images_with_masks(listing: Listing) -> Iterator[_ImageWithMasks]:
    """Yields images that have several masks by their names, or by their folders.

    | folder | folder of masks | the masks of an image are |
    | --- | --- | --- |
    | `a.jpg`, `b.jpg` | `a_1.png`, `a_2.png` | those with its name and a word more |
    | `photo.jpg` alone | `1.png`, `2.png`, in another folder | all, if no name fits |
    """
    pictures_by_folder = _list_pictures(listing)
    for folder, pictures in pictures_by_folder.items():
        images = [name for name in pictures if name.lower().endswith(IMAGE_ENDINGS)]
        for mask_folder in _folders_of_masks(folder, pictures_by_folder):
            masks = pictures_by_folder[mask_folder]
            masks_by_image = _masks_by_image(images, masks, are_in_one_folder=mask_folder == folder)
            for image, masks_of_image in masks_by_image.items():
                if len(masks_of_image) > 1:
                    yield _join_paths(folder, image, mask_folder, masks_of_image)
            are_masks_of_one_image = len(images) == 1 and mask_folder != folder
            if are_masks_of_one_image and not masks_by_image and len(masks) > 1:
                yield _join_paths(folder, images[0], mask_folder, masks)


def _list_pictures(listing: Listing) -> dict[str, list[str]]:
    """Returns the names of the pictures in each folder that is not called as drawings are."""
    pictures_by_folder: dict[str, list[str]] = {}
    for folder, files in listing.files_by_folder.items():
        pictures = [name for name in files if ending_of(name) in IMAGE_OR_MASK_ENDINGS]
        if pictures and role_of_path(folder) != "drawn":
            pictures_by_folder[folder] = pictures
    return pictures_by_folder


def _join_paths(folder: str, image: str, mask_folder: str, masks: Sequence[str]) -> _ImageWithMasks:
    """Returns an image and its masks by their paths."""
    paths = [posixpath.join(mask_folder, name) for name in masks]
    return _ImageWithMasks(posixpath.join(folder, image), paths)


def _folders_of_masks(folder: str, pictures_by_folder: Mapping[str, Sequence[str]]) -> list[str]:
    """Returns the folder itself, and those beside it that are called as masks are."""
    folders = [folder]
    for other in pictures_by_folder:
        is_beside = posixpath.dirname(other) == posixpath.dirname(folder) and other != folder
        if is_beside and role_of_name(posixpath.basename(other)) == "masks":
            folders.append(other)
    return folders


def _masks_by_image(
    images: Sequence[str], masks: Sequence[str], *, are_in_one_folder: bool
) -> dict[str, list[str]]:
    """Returns the masks whose names are those of images with a word more, by their images.

    Args:
      images: the names of the images.
      masks: the names of files that may be their masks.
      are_in_one_folder: whether both lie in the same folder, so that a file is no mask of itself.
    """
    image_by_stem = {stem(name): name for name in images}
    masks_by_image: dict[str, list[str]] = collections.defaultdict(list)
    for mask in masks:
        if ending_of(mask) not in MASK_ENDINGS or role_of_name(stem(mask)) == "drawn":
            continue
        image = _find_image(mask, image_by_stem, are_in_one_folder=are_in_one_folder)
        if image is not None:
            masks_by_image[image].append(mask)
    return masks_by_image


def _find_image(
    mask: str, image_by_stem: Mapping[str, str], *, are_in_one_folder: bool
) -> str | None:
    """Returns the image whose name a mask has, with a word more; None if there is none."""
    for name_of_image, _ in parts_at_token_ends(stem(mask)):
        if name_of_image not in image_by_stem:
            continue
        image = image_by_stem[name_of_image]
        is_the_mask_itself = are_in_one_folder and image == mask
        if not is_the_mask_itself:
            return image
    match = find_infix(mask, image_by_stem.keys())
    return image_by_stem[match.image_stem] if match else None
