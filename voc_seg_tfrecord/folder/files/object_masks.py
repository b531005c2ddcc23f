"""Refuses masks in a folder for each image: each mask shows one object, or is one person's work.

`second_masks` finds several masks of an image by the names of files.
"""

from collections.abc import Mapping, Sequence
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder.tree.listing import Listing

OBJECT_MASKS = "a mask for each object"
"""The kind of the error about masks of which each shows one object."""


def several_masks_error(where: object, masks: Sequence[str], image: str) -> LayoutError:
    """Returns the error about several masks of an image, such as one for each object."""
    return LayoutError(
        where,
        found=f"several masks for one image, such as {' and '.join(masks[:2])} for {image}",
        expected="one mask for each image, in which each pixel is a class",
        remedy="if each mask shows an object, draw the objects of each image into one mask, with "
        "the value of their class and 0 for background, or export such masks from your tool. If "
        "each mask is the work of one person, choose one with --mask_name, such as '{id}_1.png'",
        kind=OBJECT_MASKS,
    )


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
    parent, name = posixpath.split(mask_folder)
    name_of_image_folder = posixpath.basename(image_folder)
    if name not in images or name == name_of_image_folder:  # frames may be called as their film
        return
    sibling_names: set[str] = set()
    for folder in listing.folders:
        if posixpath.dirname(folder) == parent:
            sibling_names.add(posixpath.basename(folder))
    names_of_images = (sibling_names & images.keys()) - {name_of_image_folder}
    if len(names_of_images) > 1 and 2 * len(names_of_images) > len(images):
        masks = [posixpath.join(mask_folder, mask) for mask in sorted(listing.folders[mask_folder])]
        raise several_masks_error(listing.root, masks, images[name])
