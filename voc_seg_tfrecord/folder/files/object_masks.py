"""Refuses several masks of an image that lie in a folder for each image.

Each of them shows one object, or is one person's work.

`folder.leftover_rules` finds several masks of an image by the names of files.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import itertools
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import ID, MASK_ENDINGS, PHOTO_ENDINGS, SOFT_MASK_ENDINGS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.align import align
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.tree.listing import Listing

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
        prefix = ""
        if ID in name:
            prefix = name.partition(ID)[0] + ID + "_"
        pattern = f"{folder}{slash}{prefix}*{posixpath.splitext(name)[1]}"
        objects = f"merge them with {command(**{**options, 'mask_name': f'object={pattern}'})}"
        person = f"choose a person with {command(**options)}"
    return LayoutError(
        where,
        found=f"several masks for one image, such as {' and '.join(masks[:2])} for {image}",
        expected="one mask for each image, in which each pixel is a class",
        remedy=f"if each mask shows an object, {objects}. If each mask is the work of one person, "
        f"{person}",
        kind="a mask for each object",
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
    # For `data/a/image/a.jpg` and `data/a/masks/1.png`: `/data`, `image/a.jpg` and `masks/1.png`.
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
    for before, after in align([stem(name)], {image_stem}):
        return {"mask_name": f"{before}{ID}{after}{posixpath.splitext(name)[1]}"}
    return {}


def find_several_masks(root: object, paths: Iterable[str]) -> LayoutError | None:
    """Returns the error about images that mostly have several masks; None if they have not.

    The masks of an image lie in a folder of their own. Examples, each with `1.png` and `2.png`:
    `images/cat1.jpg` and the folder `masks/cat1`; `cat1/photo.jpg` and `cat1/masks`;
    `cat1/photo.jpg` beside `mask_1.png` and `mask_2.png`.

    Args:
      root: the given folder.
      paths: all files below it.
    """
    pictures_by_folder: dict[str, list[str]] = collections.defaultdict(list)
    images_by_stem: dict[str, list[str]] = collections.defaultdict(list)
    for path in sorted(paths):
        if path.lower().endswith(SOFT_MASK_ENDINGS):
            pictures_by_folder[posixpath.dirname(path)].append(path)
        if path.lower().endswith(IMAGE_ENDINGS):
            images_by_stem[stem(path)].append(path)
    masks_by_image: dict[str, list[str]] = {}
    all_masks: set[str] = set()
    for folder, pictures in pictures_by_folder.items():
        image = _image_of_folder(folder, pictures_by_folder, images_by_stem)
        masks = [path for path in pictures if path.lower().endswith(MASK_ENDINGS) and path != image]
        if image and masks:
            masks_by_image.setdefault(image, []).extend(masks)
            all_masks.update(masks)
    images = set(itertools.chain.from_iterable(images_by_stem.values())) - all_masks
    are_most = 2 * len(masks_by_image) > len(images)
    if len(masks_by_image) < 2 or not are_most:
        return None
    image_shown = max(masks_by_image, key=lambda image: len(masks_by_image[image]))
    masks_shown = masks_by_image[image_shown]
    if len(masks_shown) < 2:
        return None
    return several_masks_error(root, masks_shown, image_shown)


def _image_of_folder(
    folder: str,
    pictures_by_folder: Mapping[str, Sequence[str]],
    images_by_stem: Mapping[str, Sequence[str]],
) -> str:
    """Returns the image whose masks a folder holds, by their names; empty if it is not clear.

    - `images/cat1.jpg` for `masks/cat1`, if no other image elsewhere has this name.
    - `cat1/photo.jpg` or `cat1/images/photo.jpg` for `cat1/masks`, if it is alone.
    - `cat1/photo.jpg` for `cat1`, if `mask_1.png` and `mask_2.png` lie beside it.
    """
    above, name = posixpath.split(folder)
    namesakes = images_by_stem.get(name, ())
    images_elsewhere = [path for path in namesakes if posixpath.dirname(path) != folder]
    if len(images_elsewhere) == 1:
        return images_elsewhere[0]
    images: list[str] = []
    if role_of_name(name, is_folder=True) == "masks":
        for path_beside in ("", *_FOLDERS_OF_ONE_IMAGE):
            pictures = pictures_by_folder.get(posixpath.join(above, path_beside).rstrip("/"), ())
            images += [path for path in pictures if path.lower().endswith(IMAGE_ENDINGS)]
    else:
        masks: list[str] = []
        for path in pictures_by_folder[folder]:
            if role_of_name(stem(path)) == "masks":
                masks.append(path)
            elif path.lower().endswith(PHOTO_ENDINGS):
                images.append(path)
        if len(masks) < 2:
            return ""
    return images[0] if len(images) == 1 else ""


def check_masks_of_many_images(
    listing: Listing, image_folder: str, mask_folder: str, images: Mapping[str, str]
) -> None:
    """Checks that a folder of masks is not that of one image, beside those of most other images.

    Example: `masks/cat1` with `a.png` and `b.png` beside `masks/cat2`, and `images/cat1.jpg`. A
    film's frames may lie in a folder of the film's name, so the name of the images' own folder does
    not count.

    Args:
      listing: all that lies in the folder.
      image_folder: the folder of the images.
      mask_folder: the folder of the masks.
      images: the names of the images by their names without the ending.

    Raises:
      LayoutError: if it is the folder of one image.
    """
    folder_above, name = posixpath.split(mask_folder)
    folders = map(posixpath.split, listing.files_by_folder)
    siblings = {sibling for above, sibling in folders if above == folder_above}
    named_as_images = siblings.intersection(images) - {posixpath.basename(image_folder)}
    are_most = len(named_as_images) > 1 and 2 * len(named_as_images) > len(images)
    if name not in named_as_images or not are_most:
        return
    masks = [
        posixpath.join(mask_folder, each)
        for each in sorted(listing.files_by_folder[mask_folder])
        if each.lower().endswith(SOFT_MASK_ENDINGS)
    ]
    if len(masks) > 1:
        image = posixpath.join(image_folder, images[name])
        raise several_masks_error(listing.root, masks, image)
    raise LayoutError(
        listing.root,
        found=f"a folder for the mask of each image, such as {masks[0]} for {images[name]}",
        expected="the masks of all images in one folder, each with the name of its image",
        remedy="name the masks as their images are named, and move them into one folder",
    )
