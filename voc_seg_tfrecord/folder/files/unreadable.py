"""Folders that hold something else than images with masks of classes, and what to do then.

What tools write in place of masks is explained in their modules; see `Tool.explain_no_masks`.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError, command, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.core.layout import ID, IMAGES, LISTS, MASK_FOLDERS, MASK_SUFFIXES, MASKS
from voc_seg_tfrecord.core.storage import open_file
from voc_seg_tfrecord.folder.files.folder_names import role, role_of, split_word
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import array_files
from voc_seg_tfrecord.tools.nnunet import is_split_word
from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS, TOOLS
from voc_seg_tfrecord.tools.tool import ChannelFiles, Explanation, FolderContent

NO_MASKS = "no masks"
"""The kind of the error about a folder without masks."""

OBJECT_MASKS = "a mask for each object"
"""The kind of the error about masks of which each shows one object."""

_MAX_SHOWN_NAMES = 8
_BYTES_READ_OF_JSON = 1 << 20


# A folder without pairs of images and masks.


def no_masks(listing: Listing, folders: Collection[str]) -> LayoutError:
    """Returns the error about a folder without masks, which says what it holds instead.

    Its `folders` are those that are called as folders of masks are.
    """
    names = sorted(listing.below())
    below = {posixpath.join(folder, n) for folder in folders for n in listing.below(folder)}
    content = FolderContent(
        names=names,
        masks=sorted(name for name in below if name.lower().endswith(MASK_SUFFIXES)),
        read=lambda name: File.read(listing.root / name, MaskError),
    )
    explanation = _explain(content) or _explain_without_reason(listing)
    return LayoutError(
        listing.root,
        found=explanation.found,
        expected=explanation.expected,
        remedy=explanation.remedy,
        kind=NO_MASKS,
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
        found=f"NumPy arrays as images, and {len(content.masks)} masks: {len(arrays)} arrays, such "
        f"as {arrays[0]}",
        expected="which of their bands are wanted, or an image file for each mask",
        remedy=f"say {command(bands='all', dtype=_stored_dtype(content, arrays[0]))}",
    )


def _stored_dtype(content: FolderContent, name: str) -> str:
    """Returns the dtype of bands that holds the values of an array."""
    try:
        dtype = str(array_files.read_dtype(content.read(name)))
    except VocSegError:
        dtype = ""
    return dtype if dtype in ("uint8", "uint16") else "float32"


def _is_array_of_image(name: str) -> bool:
    return name.lower().endswith(".npy") and role_of(posixpath.dirname(name)) in ("images", "")


def _explain_other_names(content: FolderContent) -> Explanation | None:
    """Explains images and masks whose names do not pair."""
    images = _images_of(content)
    if not content.masks or not images:
        return None
    return Explanation(
        found=f"{len(images)} images, such as {images[0]}, and {len(content.masks)} masks, such as "
        f"{content.masks[0]}, but no mask fits an image by its name",
        expected="masks that are called as their images are, apart from the ending",
        remedy="rename the masks, or say how images and masks are called, such as "
        + command(image_name=f"image_{ID}", mask_name=f"gt_{ID}.png"),
    )


def _explain_masks_alone(content: FolderContent) -> Explanation | None:
    """Explains masks without any image."""
    if not content.masks:
        return None
    masks = f"{counted(len(content.masks), 'mask')}, such as {content.masks[0]}"
    advice = ", ".join(tool.images_advice for tool in TOOLS if tool.images_advice)
    return Explanation(
        found=f"no image, but {masks}",
        expected="an image for each mask",
        remedy=f"export again with the images ({advice}), or copy them there",
    )


def _images_of(content: FolderContent) -> list[str]:
    """Returns the files that may be images and lie in no folder of masks."""
    masks = {*content.masks}
    images = []
    for name in content.names:
        is_image = name.lower().endswith(IMAGE_SUFFIXES)
        if is_image and name not in masks and role_of(posixpath.dirname(name)) in ("images", ""):
            images.append(name)
    return images


def _explain_jpegs(content: FolderContent) -> Explanation | None:
    """Explains JPEGs in a folder that is called masks."""
    by_folder = collections.defaultdict(list)
    for name in content.names:
        by_folder[posixpath.dirname(name)].append(posixpath.basename(name))
    for folder, files in by_folder.items():
        jpegs = [name for name in files if name.lower().endswith(IMAGE_SUFFIXES)]
        if not jpegs or role(posixpath.basename(folder)) != "masks":
            continue
        found = f"no masks, but {jpegs[0]} lies under {folder}"
        if len(jpegs) > 1:
            found += f", the first of {len(jpegs)} files"
        return Explanation(
            found=found,
            expected=f"masks: files that end with {', '.join(MASK_SUFFIXES)}",
            remedy="save masks without loss as PNG, of class indices; a JPEG changes the values of "
            "pixels. Export again, or name the folder of masks with --masks",
        )
    return None


def _explain_boxes_of_voc(content: FolderContent) -> Explanation | None:
    """Explains a folder of Pascal VOC's XML files, which have boxes alone."""
    if not any("Annotations" in name.split("/")[:-1] for name in content.names):
        return None
    *tools, last = (tool.name for tool in TOOLS if tool.writes_boxes_as_voc)
    return Explanation(
        found="boxes only: there is a folder Annotations, but there are no masks",
        expected=f"masks in one of {', '.join(MASK_FOLDERS)}",
        remedy=f"export segmentation masks; {', '.join(tools)} and {last} write only boxes under "
        "the name Pascal VOC",
    )


_EXPLANATIONS: tuple[Callable[[FolderContent], Explanation | None], ...] = (
    _explain_arrays,
    _explain_other_names,
    _explain_masks_alone,
    _explain_jpegs,
    _explain_boxes_of_voc,
)


def _explain_without_reason(listing: Listing) -> Explanation:
    """Lists what lies in a folder about which nothing else is known."""
    there = sorted({*listing.children(), *listing.folders[""]})
    found = "no masks in an empty folder"
    if there:
        found = f"no masks among {', '.join(there[:_MAX_SHOWN_NAMES])}"
    *tools, last = (tool.name for tool in SHAPE_TOOLS)
    return Explanation(
        found=found,
        expected=f"""\
one of these layouts:
    {IMAGES}, {MASKS} and {LISTS} (Pascal VOC)
    {IMAGES} and SegmentationClassPNG, SegmentationClassAug or SegmentationClassRaw
    images and masks (or img, label, gt, annotations ...), with files of the same names
    the same in train, val and test, or train, val and test in each of both
    NAME.jpg and NAME.png, or NAME_mask.png, in one folder
    images and the polygons of {", ".join(tools)} or {last}""",
        remedy="export in the Pascal VOC segmentation format, or name the folders with --images "
        "and --masks",
    )


# Masks of which each shows one object.


def of_objects(where: object, masks: Sequence[str], image: str) -> LayoutError:
    """Returns the error about several masks of an image, such as one for each object."""
    return LayoutError(
        where,
        found=f"several masks for one image, such as {' and '.join(masks[:2])} for {image}",
        expected="one mask for each image, in which each pixel is a class",
        remedy="if each shows an object, draw the objects of each image into one mask, with the "
        "value of their class and 0 for background, or export so from your tool. If each is the "
        "work of one person, choose one with --mask_name, such as '{id}_1.png'",
        kind=OBJECT_MASKS,
    )


def check_objects(listing: Listing, top: str, folder: str, images: Mapping[str, str]) -> None:
    """Checks that a folder of masks is not that of one image, beside those of other images.

    The images' paths below their folder, `top`, are given by their names without the ending.

    Raises:
      LayoutError: if it is.
    """
    above, name = posixpath.split(folder)
    name_of_top = posixpath.basename(top)
    if name not in images or name == name_of_top:  # frames may be called as films
        return
    beside = {posixpath.basename(f) for f in listing.folders if posixpath.dirname(f) == above}
    of_images = (beside & images.keys()) - {name_of_top}
    if 2 * len(of_images) > max(2, len(images)):
        masks = [posixpath.join(folder, mask) for mask in sorted(listing.folders[folder])]
        raise of_objects(listing.root, masks, images[name])


# Images of which each channel is a file.


def channels_of(
    listing: Listing, images: Iterable[str], masks: Collection[str]
) -> tuple[str, list[str]] | None:
    """Looks for images of several channels, of which each is a file.

    Args:
      listing: all that lies in the folder.
      images: folders that may have images.
      masks: folders that may have masks, without those of which the images were found.

    Returns:
      The folder, and the first file of each channel; None if there are no such images.
    """
    ids = set[str]()
    for folder in masks:
        if role_of(folder) == "masks":
            ids.update(posixpath.splitext(name)[0] for name in listing.folders[folder])
    for folder in images:
        if role_of(folder) != "images" or not is_split_word(split_word(folder)[0]):
            continue
        files_of_channel: dict[str, list[str]] = collections.defaultdict(list)
        for name in listing.folders[folder]:
            match = _match_channel(name)
            if match and match["id"] in ids:
                files_of_channel[match["channel"]].append(name)
        if len(files_of_channel) > 1:
            return folder, [min(files) for _, files in sorted(files_of_channel.items())]
    return None


def _channel_files() -> ChannelFiles:
    (channels,) = (tool.channels for tool in TOOLS if tool.channels)
    return channels


def _match_channel(name: str) -> re.Match[str] | None:
    return re.fullmatch(_channel_files().pattern, name)


def pattern_of_channel(first: str) -> str:
    """Returns the pattern of the images' names by the first file of a channel."""
    match = _match_channel(first)
    assert match
    return f"{ID}{first[match.end('id') :]}"


def several_channels(where: object, files: Sequence[str]) -> LayoutError:
    """Returns the error about images of several channels, with the options that read them."""
    all_channels = command(bands="all", dtype="uint16")
    one_channel = command(image_name=pattern_of_channel(files[0]))
    return LayoutError(
        where,
        found=f"{_channel_files().found} with {len(files)} channels, a file for each, such as "
        f"{files[0]} and {files[1]}",
        expected="a file for each image, which is read as RGB of 8 bits, or which bands are wanted",
        remedy=f"take all channels with {all_channels}, or choose one with {one_channel}",
    )


# Masks whose pixels are something else than classes.


def check_no_panoptic(listing: Listing, folders: Iterable[str]) -> None:
    """Checks that a file beside a folder of masks does not say that its pixels are no classes.

    Raises:
      LayoutError: if one does.
    """
    for masks in folders:
        above, name = posixpath.split(masks)
        for tool in TOOLS:
            refused = tool.refused_masks
            if not refused:
                continue
            file_name = refused.file.format(folder=name)
            path = listing.root / above / file_name
            if file_name not in listing.folders.get(above, ()):
                continue
            with open_file(path) as file:
                if refused.word not in file.read(_BYTES_READ_OF_JSON):
                    continue
            raise LayoutError(
                path,
                found=refused.found,
                expected=refused.expected,
                remedy=refused.advice(path, listing.root / masks),
            )


def check_one_numbering(tree: VocTree) -> None:
    """Checks that masks in folders of their own, with names of classes beside them, mean the same.

    Raises:
      LayoutError: if a tool numbered the classes of each mask anew.
    """
    if "/" not in tree.layout.mask_name or not tree.listing:
        return
    top = posixpath.join(tree.place, tree.layout.masks)
    folders = {posixpath.normpath(posixpath.join(top, n, "..")) for n in tree.masks.values()}
    for tool in TOOLS:
        if not tool.names_per_mask:
            continue
        first_with_text: dict[bytes, str] = {}
        for folder in sorted(folders):
            if tool.names_per_mask.name in tree.listing.folders.get(folder, ()):
                path = tree.given / folder / tool.names_per_mask.name
                first_with_text.setdefault(tree.read_text(path).data, str(path))
        if len(first_with_text) > 1:
            first, second, *_ = first_with_text.values()
            raise LayoutError(
                second,
                found=f"other names than in {first}: {tool.names_per_mask.found}",
                expected="masks in which a value is the same class everywhere",
                remedy=tool.names_per_mask.advice,
            )


def check_two_files(tree: VocTree) -> None:
    """Checks that no file is the image and the mask of one id, as if both folders are the same."""
    if tree.layout.images != tree.layout.masks:
        return
    for image_id, name in tree.images.items():
        if tree.masks.get(image_id) == name:
            raise LayoutError(
                tree.root / tree.layout.masks / name,
                found="one file that would be an image and its own mask",
                expected="images and masks in files of their own",
                remedy="check the folders that --images and --masks name",
                kind="names of masks",
            )
