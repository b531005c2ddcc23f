"""Explains a folder without masks: what it holds instead, and what to do then.

What tools write in place of masks is explained in their modules; see `Tool.explain_no_masks`.
"""

import collections
from collections.abc import Callable, Collection, Iterable
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import (
    ID,
    IMAGES,
    LISTS,
    MASK_ENDINGS,
    MASK_FOLDERS,
    MASKS,
    PHOTO_ENDINGS,
)
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.folder_names import role_of_name, role_of_path
from voc_seg_tfrecord.folder.files.object_masks import find_several_masks
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.looks import is_photo
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.formats import numpy_files
from voc_seg_tfrecord.formats.soft_masks import propose_threshold
from voc_seg_tfrecord.tools.registry import NAMES_OF_SHAPE_TOOLS, TOOLS
from voc_seg_tfrecord.tools.shapes import ADVICE_ON_BOXES, BOXES_ALONE
from voc_seg_tfrecord.tools.tool import Explanation, FolderContent

ADVICE_ON_SOFT_MASKS = (
    "If they are black and white masks of one class, read all pixels from a gray on as white: say"
)
"""What an option behind it reads."""

_NO_MASKS = "no masks"
"""The kind of the error about a folder without masks."""

_MAX_READ_TEXTS = 8
"""How many texts are searched for boxes."""

_MAX_SHOWN_NAMES = 8
_MAX_READ_PHOTOS = 8


def no_masks_error(listing: Listing, mask_folders: Collection[str]) -> LayoutError:
    """Returns the error about a folder without masks, which tells what it holds instead.

    Args:
      listing: all that lies in the folder.
      mask_folders: the folders that are called as folders of masks are.
    """
    masks: set[str] = set()
    for folder in mask_folders:
        for name in listing.below(folder):
            if name.lower().endswith(MASK_ENDINGS):
                masks.add(posixpath.join(folder, name))
    content = FolderContent(
        names=sorted(listing.below()),
        masks=sorted(masks),
        read=lambda name: File.read(listing.root / name, MaskError),
    )
    explanation = _explain(content) or _explain_without_reason(listing)
    return LayoutError(
        listing.root,
        found=explanation.found,
        expected=explanation.expected,
        remedy=explanation.remedy,
        kind=_NO_MASKS,
    )


def find_photos_as_masks(listing: Listing, masks: Collection[str]) -> LayoutError | None:
    """Returns the error that some masks are all photos, as drawings on copies of the images are.

    Args:
      listing: all that lies in the folder.
      masks: paths of a few masks below its root.
    """
    if not masks or not all(is_photo(listing.root / path) for path in masks):
        return None
    first = min(masks)
    folder = posixpath.dirname(first) or "."
    return LayoutError(
        listing.root,
        found=f"no masks: pictures in {folder}, such as {first}, with thousands of colors, as "
        "photos have",
        expected="masks with one color or value for each class",
        remedy="export the labels as PNG with class indices; or name the folder of masks with "
        "--masks",
        kind=_NO_MASKS,
    )


def _explain(content: FolderContent) -> Explanation | None:
    """Returns the first explanation that fits: those of tools, and then those of any folder."""
    of_tools = [tool.explain_no_masks for tool in TOOLS if tool.explain_no_masks]
    for explain in (*of_tools, *_EXPLANATIONS):
        explanation = explain(content)
        if explanation:
            return explanation
    return None


def _explain_arrays(content: FolderContent) -> Explanation | None:
    """Explains NumPy arrays beside masks, which are images only if bands are wanted."""
    arrays = [name for name in content.names if _is_array_of_image(name)]
    if not content.masks or not arrays:
        return None
    return Explanation(
        found=f"{counted(len(content.masks), 'mask')}, and NumPy arrays as images: "
        f"{counted(len(arrays), 'array')}, such as {arrays[0]}",
        expected="the bands to read, or an image file for each mask",
        remedy="to read all bands, add "
        f"{command(bands='all', dtype=_stored_dtype(content, arrays[0]))}",
    )


def _stored_dtype(content: FolderContent, name: str) -> str:
    """Returns the dtype of bands that holds the values of an array."""
    try:
        dtype = str(numpy_files.read_dtype(content.read(name)))
    except VocSegError:
        dtype = ""
    return dtype if dtype in ("uint8", "uint16") else "float32"


def _is_array_of_image(name: str) -> bool:
    return name.lower().endswith(".npy") and role_of_path(posixpath.dirname(name)) in ("images", "")


def _explain_other_names(content: FolderContent) -> Explanation | None:
    """Explains images and masks whose names do not pair."""
    images = _images_of(content)
    if not content.masks or not images:
        return None
    return Explanation(
        found=f"{counted(len(images), 'image')}, such as {images[0]}, and "
        f"{counted(len(content.masks), 'mask')}, such as {content.masks[0]}, but no mask has the "
        "name of an image",
        expected="masks with the names of their images, except for the ending",
        remedy="rename the masks, or give the patterns of the names, such as "
        + command(image_name=f"image_{ID}", mask_name=f"gt_{ID}.png"),
    )


def _explain_masks_of_objects(content: FolderContent) -> Explanation | None:
    """Explains images of which each has several masks in a folder of its own."""
    error = find_several_masks("", content.names)
    if error is None:
        return None
    return Explanation(found=error.found, expected=error.expected, remedy=error.remedy)


def _explain_images_elsewhere(content: FolderContent) -> Explanation | None:
    """Explains masks, and photos that lie only in folders that are not called images.

    A PNG there may be a drawn mask, or one of objects, so only other formats count.
    """
    photos = [name for name in content.names if name.lower().endswith(PHOTO_ENDINGS)]
    if not content.masks or not photos:
        return None
    folder = posixpath.dirname(photos[0]) or "."
    return Explanation(
        found=f"{counted(len(content.masks), 'mask')}, such as {content.masks[0]}, and "
        f"{counted(len(photos), 'other picture')}, such as {photos[0]}, but none in a folder "
        "named images or similar",
        expected="an image for each mask",
        remedy=f"if these pictures are the images, add {command(images=folder)}; otherwise, copy "
        "the images into the folder",
    )


def _explain_masks_alone(content: FolderContent) -> Explanation | None:
    """Explains masks without any image."""
    if not content.masks:
        return None
    masks = f"{counted(len(content.masks), 'mask')}, such as {content.masks[0]}"
    return Explanation(
        found=f"no images, but {masks}",
        expected="an image for each mask",
        remedy="export again with the images (in CVAT, tick 'Save images'), or copy the images "
        "into the folder",
    )


def _images_of(content: FolderContent) -> list[str]:
    """Returns the files that may be images and lie in no folder of masks."""
    masks = {*content.masks}
    images = []
    for name in content.names:
        is_image = name.lower().endswith(IMAGE_ENDINGS) and name not in masks
        if is_image and role_of_path(posixpath.dirname(name)) in ("images", ""):
            images.append(name)
    return images


def _explain_jpegs(content: FolderContent) -> Explanation | None:
    """Explains JPEGs, or other photos, that are called masks, or lie in a folder that is."""
    by_folder = collections.defaultdict(list)
    for name in content.names:
        by_folder[posixpath.dirname(name)].append(posixpath.basename(name))
    for folder, files in by_folder.items():
        photos = [name for name in files if name.lower().endswith(PHOTO_ENDINGS)]
        if role_of_path(folder) != "masks":
            photos = [name for name in photos if role_of_name(stem(name)) == "masks"]
        if not photos:
            continue
        found = f"no masks, but {photos[0]} lies under {folder or '.'}"
        if len(photos) > 1:
            found += f", the first of {len(photos)} files"
        paths = [posixpath.join(folder, name) for name in photos[:_MAX_READ_PHOTOS]]
        return Explanation(
            found=found,
            expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
            remedy="export the masks again as PNG with class indices, because JPEG changes the "
            "values of pixels; or name the folder of masks with --masks"
            + _advise_threshold(content, paths),
        )
    return None


def _advise_threshold(content: FolderContent, photos: Iterable[str]) -> str:
    """Returns how to read photos that are black and white masks; empty if they are none."""
    try:
        option = propose_threshold([content.read(path) for path in photos])
    except VocSegError:  # one cannot be read
        return ""
    return f". {ADVICE_ON_SOFT_MASKS} {option}" if option else ""


def _explain_boxes_of_voc(content: FolderContent) -> Explanation | None:
    """Explains a folder of Pascal VOC's XML files, which have boxes alone."""
    texts = [name for name in content.names if name.lower().endswith(".xml")]
    in_folder_of_voc = any("Annotations" in name.split("/")[:-1] for name in content.names)
    have_boxes = any(b"<bndbox>" in content.read(name).data for name in texts[:_MAX_READ_TEXTS])
    if not in_folder_of_voc and not have_boxes:
        return None
    return Explanation(
        found=f"{BOXES_ALONE}: {counted(len(texts), 'text')} of Pascal VOC, and no masks",
        expected=f"masks in one of {', '.join(MASK_FOLDERS)}",
        remedy=f"{ADVICE_ON_BOXES}; VoTT, makesense and Label Studio write only boxes under the "
        "name Pascal VOC",
    )


_EXPLANATIONS: tuple[Callable[[FolderContent], Explanation | None], ...] = (
    _explain_arrays,
    _explain_masks_of_objects,
    _explain_other_names,
    _explain_images_elsewhere,
    _explain_masks_alone,
    _explain_jpegs,
    _explain_boxes_of_voc,
)
"""The most certain explanation first. Those behind `_explain_masks_alone` see no masks."""


def _explain_without_reason(listing: Listing) -> Explanation:
    """Lists what lies in a folder about which nothing else is known."""
    names = sorted({*listing.children(), *listing.files_by_folder[""]})
    listed = ", ".join(names[:_MAX_SHOWN_NAMES])
    found = "no masks in an empty folder"
    if any(role_of_path(folder) == "masks" for folder in listing.files_by_folder):
        found = f"no pair of image and mask among {listed}"
    elif names:
        found = f"no masks among {listed}"
    return Explanation(
        found=found,
        expected=f"""\
one of these layouts:
    {IMAGES}, {MASKS} and {LISTS} (Pascal VOC)
    {IMAGES} and SegmentationClassPNG, SegmentationClassAug or SegmentationClassRaw
    images and masks (or img, label, gt, annotations ...), with files of the same names
    the same in train, val and test, or train, val and test in each of both
    NAME.jpg and NAME.png, or NAME_mask.png, in one folder
    images and the polygons of {NAMES_OF_SHAPE_TOOLS}""",
        remedy="export in the Pascal VOC segmentation format, or name the folders with --images "
        "and --masks",
    )
