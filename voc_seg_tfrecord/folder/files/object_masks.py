"""Refuses several masks of an image that lie in a folder for each image.

Each of them shows one object, or is one person's work.

`folder.second_masks` finds several masks of an image by the names of files.
"""

import collections
from collections.abc import Collection, Iterable, Mapping, Sequence
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import ID, MASK_ENDINGS, PHOTO_ENDINGS, SOFT_MASK_ENDINGS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.affixes import affix_around
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.tree.listing import Listing

OBJECT_MASKS = "a mask for each object"
"""The kind of the error about masks of which each shows one object."""

_FOLDERS_OF_ONE_IMAGE = ("images", "image", "img")
"""Folders beside that of the masks in which the only image of a folder may lie."""


def several_masks_error(where: object, masks: Sequence[str], image: str) -> LayoutError:
    """Returns the error about several masks of an image, such as one for each object.

    Args:
      where: the folder.
      masks: the paths of the masks, or their names.
      image: the path of the image, or its name.
    """
    options = _options_naming(masks[0], image)
    objects = "draw the objects of each image into one mask, or export such masks from your tool"
    person = "keep those of one person"
    if options:
        folder, slash, name = options["mask_name"].rpartition("/")
        begin = name.partition(ID)[0] + ID + "_" if ID in name else ""
        pattern = f"{folder}{slash}{begin}*{posixpath.splitext(name)[1]}"
        objects = f"merge them with {command(**{**options, 'mask_name': f'object={pattern}'})}"
        person = f"choose a person with {command(**options)}"
    return LayoutError(
        where,
        found=f"several masks for one image, such as {' and '.join(masks[:2])} for {image}",
        expected="one mask for each image, in which each pixel is a class",
        remedy=f"if each mask shows an object, {objects}. If each mask is the work of one person, "
        f"{person}",
        kind=OBJECT_MASKS,
    )


def _options_naming(mask: str, image: str) -> dict[str, str]:
    """Returns the options that read only masks that are named as one is.

    Examples: `{id}_1.png` for `a_1.png` and the image `a.jpg`, and `{id}/1.png` in `masks` for
    `masks/a/1.png` and the image `images/a.jpg`. They are empty if the names have nothing alike.
    """
    folder, name = posixpath.split(mask)
    image_stem = stem(image)
    if posixpath.basename(folder) == image_stem:
        return {
            "images": posixpath.dirname(image) or ".",
            "masks": posixpath.dirname(folder) or ".",
            "mask_name": f"{ID}/{name}",
        }
    top, _, image_below = f"/{image}".partition(f"/{image_stem}/")
    mask_below = f"/{mask}".removeprefix(f"{top}/{image_stem}/")
    if image_below and mask_below != f"/{mask}":
        folder_of_all = top.strip("/") or "."
        return {
            "images": folder_of_all,
            "masks": folder_of_all,
            "image_name": f"{ID}/{image_below.replace(image_stem, ID)}",
            "mask_name": f"{ID}/{mask_below}",
        }
    affix = affix_around(stem(name), image_stem, may_touch_words=True)
    if affix is None:
        return {}
    before, after = affix
    return {"mask_name": f"{before}{ID}{after}{posixpath.splitext(name)[1]}"}


def find_masks_of_images(paths: Iterable[str]) -> dict[str, list[str]]:
    """Returns the masks of images that mostly have several, in a folder for each image alone.

    Examples, each with `1.png` and `2.png`: `images/cat1.jpg` and the folder `masks/cat1`;
    `cat1/photo.jpg` and `cat1/masks`; `cat1/photo.jpg` beside `mask_1.png` and `mask_2.png`.

    Args:
      paths: all files, below the given folder.

    Returns:
      Paths of masks by that of their image, of which some have one. Empty if most images have no
      such masks, or none has several.
    """
    paths = sorted(paths)
    paths_by_folder: dict[str, list[str]] = collections.defaultdict(list)
    for path in paths:
        paths_by_folder[posixpath.dirname(path)].append(path)
    images_by_stem: dict[str, list[str]] = collections.defaultdict(list)
    for path in _with_ending(paths, IMAGE_ENDINGS):
        images_by_stem[stem(path)].append(path)
    masks_by_image: dict[str, list[str]] = {}
    for folder, files in paths_by_folder.items():
        image = _image_of_folder(folder, paths_by_folder, images_by_stem)
        masks = [path for path in _with_ending(files, MASK_ENDINGS) if path != image]
        if image and masks:
            masks_by_image.setdefault(image, []).extend(masks)
    has_one_with_several = any(len(masks) > 1 for masks in masks_by_image.values())
    if len(masks_by_image) < 2 or not has_one_with_several:
        return {}
    all_masks: set[str] = set()
    for masks in masks_by_image.values():
        all_masks.update(masks)
    images = [path for path in _with_ending(paths, IMAGE_ENDINGS) if path not in all_masks]
    are_most = 2 * len(masks_by_image) > len(images)
    return masks_by_image if are_most else {}


def _image_of_folder(
    folder: str, paths_by_folder: Mapping[str, list[str]], images_by_stem: Mapping[str, list[str]]
) -> str:
    """Returns the image whose masks a folder holds, by their names; empty if there is none."""
    name = posixpath.basename(folder)
    return (
        _image_named_as_folder(folder, images_by_stem.get(name, ()))
        or _image_beside_folder(folder, paths_by_folder)
        or _photo_among_masks(folder, paths_by_folder[folder])
    )


def _image_named_as_folder(folder: str, images_of_name: Iterable[str]) -> str:
    """Returns `images/cat1.jpg` for `masks/cat1`, if no other image elsewhere has this name."""
    elsewhere = [path for path in images_of_name if posixpath.dirname(path) != folder]
    return elsewhere[0] if len(elsewhere) == 1 else ""


def _image_beside_folder(folder: str, paths_by_folder: Mapping[str, list[str]]) -> str:
    """Returns `cat1/photo.jpg` or `cat1/images/photo.jpg` for `cat1/masks`, if it is alone."""
    above, name = posixpath.split(folder)
    if role_of_name(name, is_folder=True) != "masks":
        return ""
    beside = _with_ending(paths_by_folder.get(above, ()), IMAGE_ENDINGS)
    for name_of_images in _FOLDERS_OF_ONE_IMAGE:
        own_folder = posixpath.join(above, name_of_images)
        beside += _with_ending(paths_by_folder.get(own_folder, ()), IMAGE_ENDINGS)
    return beside[0] if len(beside) == 1 else ""


def _photo_among_masks(folder: str, files: Sequence[str]) -> str:
    """Returns `cat1/photo.jpg` for `cat1`, where `mask_1.png` and `mask_2.png` lie beside it."""
    if role_of_name(posixpath.basename(folder), is_folder=True) == "masks":
        return ""
    masks = [path for path in files if role_of_name(stem(path)) == "masks"]
    photos = [path for path in _with_ending(files, PHOTO_ENDINGS) if path not in masks]
    return photos[0] if len(photos) == 1 and len(masks) > 1 else ""


def _with_ending(paths: Iterable[str], endings: tuple[str, ...]) -> list[str]:
    return [path for path in paths if path.lower().endswith(endings)]


def check_no_masks_of_objects(listing: Listing) -> None:
    """Checks that most images do not have several masks; see `find_masks_of_images`.

    Raises:
      LayoutError: if they have.
    """
    masks_by_image = find_masks_of_images(listing.below())
    if masks_by_image:
        image, masks = max(masks_by_image.items(), key=lambda item: len(item[1]))
        raise several_masks_error(listing.root, masks, image)


def check_masks_of_many_images(
    listing: Listing, image_folder: str, mask_folder: str, images: Mapping[str, str]
) -> None:
    """Checks that a folder of masks is not that of one image, beside those of other images.

    Example: `masks/cat1` with `a.png` and `b.png` beside `masks/cat2`, and `images/cat1.jpg`.

    Args:
      listing: all that lies in the folder.
      image_folder: the folder of the images.
      mask_folder: the folder of the masks.
      images: the names of the images by their names without the ending.

    Raises:
      LayoutError: if it is the folder of one image.
    """
    if not _is_one_of_folders_of_images(listing, image_folder, mask_folder, images):
        return
    name_of_image = images[posixpath.basename(mask_folder)]
    names = _with_ending(sorted(listing.files_by_folder[mask_folder]), SOFT_MASK_ENDINGS)
    masks = [posixpath.join(mask_folder, name) for name in names]
    if len(masks) > 1:
        image = posixpath.join(image_folder, name_of_image)
        raise several_masks_error(listing.root, masks, image)
    raise LayoutError(
        listing.root,
        found=f"a folder for the mask of each image, such as {masks[0]} for {name_of_image}",
        expected="the masks of all images in one folder, each with the name of its image",
        remedy="name the masks as their images are named, and move them into one folder",
    )


def _is_one_of_folders_of_images(
    listing: Listing, image_folder: str, mask_folder: str, images: Collection[str]
) -> bool:
    """Says whether most images have a folder of their name, of which a folder of masks is one.

    A film's frames may lie in a folder of the film's name, so the name of the images' own folder
    does not count.
    """
    if posixpath.basename(mask_folder) not in images:
        return False
    folder_above = posixpath.dirname(mask_folder)
    names_of_siblings: set[str] = set()
    for folder in listing.files_by_folder:
        if posixpath.dirname(folder) == folder_above:
            names_of_siblings.add(posixpath.basename(folder))
    named_as_images = names_of_siblings.intersection(images) - {posixpath.basename(image_folder)}
    are_most = len(named_as_images) > 1 and 2 * len(named_as_images) > len(images)
    return are_most and posixpath.basename(mask_folder) in named_as_images
