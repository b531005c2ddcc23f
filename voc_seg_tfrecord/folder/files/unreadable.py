"""Folders that hold something else than images with masks of classes, and what to do then."""

from collections.abc import Collection, Iterable, Mapping, Sequence
import posixpath
import re

from voc_seg_tfrecord.base.errors import LayoutError, MaskError, command
from voc_seg_tfrecord.base.storage import open_file
from voc_seg_tfrecord.folder.files.folder_names import SHORT, role, role_of, split_word
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.trees.layout import ID, IMAGES, LISTS, MASK_FOLDERS, MASK_SUFFIXES, MASKS
from voc_seg_tfrecord.trees.listing import Listing
from voc_seg_tfrecord.trees.tree import VocTree

_LABEL_NAMES = "label_names.txt"  # of labelme_json_to_dataset
_READ = 1 << 20  # bytes of a JSON file that are looked at

_NAMES = 8  # files and folders that a message lists

_KNOWN_LAYOUTS = f"""\
one of these layouts:
    {IMAGES}, {MASKS} and {LISTS} (Pascal VOC, CVAT)
    {IMAGES} and SegmentationClassPNG, SegmentationClassAug or SegmentationClassRaw
    images and masks (or img, label, gt, annotations ...), with files of the same names
    the same in train, val and test, or train, val and test in each of both
    NAME.jpg and NAME.png, or NAME_mask.png, in one folder
    images and the polygons of labelme, COCO, YOLO or CVAT"""

_YOLO_BOX = re.compile(rb"(?m)\s*\d+(?:[ \t]+[01]?\.\d+(?:e-\d+)?){4}\s*$")

NO_MASKS = "no masks"
"""The kind of the error about a folder without masks."""


def no_masks(listing: Listing, folders: Collection[str]) -> LayoutError:
    """Returns the error about a folder without masks, which says what it holds instead.

    Its `folders` are those that are called as folders of masks are.
    """
    root = listing.root
    there = sorted({*listing.children(), *listing.folders[""]})
    found = "no masks" + (f" among {', '.join(there[:_NAMES])}" if there else " in an empty folder")
    expected = _KNOWN_LAYOUTS
    remedy = (
        "export in the Pascal VOC segmentation format, or name the folders with --images and "
        "--masks"
    )
    names = list(listing.below())
    texts = sorted(name for name in names if name.lower().endswith(".txt"))
    below = (posixpath.join(folder, name) for folder in folders for name in listing.below(folder))
    masks = sorted(name for name in below if name.lower().endswith(MASK_SUFFIXES))
    if brush := sorted(n for n in names if re.search(r"task-\d+-annotation-\d+.*\.png$", n)):
        found = (
            f"the brush export of Label Studio, which has one 0/255 PNG per label: {len(brush)} "
            f"files, the first is {brush[0]}"
        )
    elif volumes := sorted(n for n in names if n.lower().endswith((".nii", ".nii.gz"))):
        found = f"volumes of NIfTI, which are not read: {len(volumes)} files, such as {volumes[0]}"
        expected = "images of two dimensions and masks of class indices, such as PNG"
        remedy = (
            "save each slice as a PNG, of the image with 8 bits and of the labels with their "
            "values, such as with nibabel and Pillow"
        )
    elif arrays := masks and sorted(n for n in names if _is_array_of_image(n)):
        found = (
            f"NumPy arrays as images, and {len(masks)} masks: {len(arrays)} arrays, such as "
            f"{arrays[0]}"
        )
        expected = "which of their bands are wanted, or an image file for each mask"
        remedy = f"say {command(bands='all', dtype='uint16')}, or float32 for floats"
    elif masks:
        found = f"no image, but {len(masks)} masks, such as {masks[0]}"
        expected = "an image for each mask"
        remedy = "export again with the images (in CVAT, tick 'Save images'), or copy them there"
    elif jpegs := _jpegs_called_masks(listing):
        found = f"no masks, but {jpegs}"
        expected = f"masks: files that end with {', '.join(MASK_SUFFIXES)}"
        remedy = (
            "save masks without loss as PNG, of class indices; a JPEG changes the values of "
            "pixels. Export again, or name the folder of masks with --masks"
        )
    elif any(_YOLO_BOX.match(File.read(root / name, MaskError).data) for name in texts[:_NAMES]):
        found = f"YOLO's text files of boxes and no masks: {len(texts)} files, such as {texts[0]}"
        expected = "a mask PNG for each image"
        remedy = "annotate masks or polygons; masks cannot be made of boxes"
    elif any(posixpath.basename(folder) == "Annotations" for folder in listing.folders):
        found = "boxes only: there is a folder Annotations, but there are no masks"
        expected = f"masks in one of {', '.join(MASK_FOLDERS)}"
        remedy = (
            "export segmentation masks; VoTT, makesense and Label Studio write only boxes under "
            "the name Pascal VOC"
        )
    return LayoutError(root, found=found, expected=expected, remedy=remedy, kind=NO_MASKS)


def _is_array_of_image(name: str) -> bool:
    return name.lower().endswith(".npy") and role_of(posixpath.dirname(name)) in ("images", "")


def channels_of(
    listing: Listing, images: Iterable[str], masks: Collection[str]
) -> tuple[str, list[str]] | None:
    """Looks for nnU-Net's images of several channels, of which each is a file.

    Args:
      listing: all that lies in the folder.
      images: folders that may have images.
      masks: folders that may have masks, without those of which the images were found.

    Returns:
      The folder, and the first file of each channel; None if there are no such images.
    """
    for folder in images:
        if role_of(folder) != "images" or split_word(folder)[0].lower() not in SHORT:
            continue
        inside = (listing.folders[f] for f in masks if role_of(f) == "masks")
        ids = {posixpath.splitext(name)[0] for names in inside for name in names}
        of_channel: dict[str, list[str]] = {}
        for name in listing.folders[folder]:
            match = re.fullmatch(r"(.+)_(\d{4})\.\w+", name)
            if match and match[1] in ids:
                of_channel.setdefault(match[2], []).append(name)
        if len(of_channel) > 1:
            return folder, [min(of_channel[number]) for number in sorted(of_channel)]
    return None


def pattern_of_channel(first: str) -> str:
    """Returns the pattern of the images' names by the first file of a channel."""
    stem, ending = posixpath.splitext(first)
    return f"{ID}{stem[-5:]}{ending}"


def several_channels(where: object, files: Sequence[str]) -> LayoutError:
    """Returns the error about images of several channels, with the options that read them."""
    pattern = pattern_of_channel(files[0])
    return LayoutError(
        where,
        found=f"nnU-Net's images with {len(files)} channels, a file for each, such as {files[0]} "
        f"and {files[1]}",
        expected="a file for each image, which is read as RGB of 8 bits, or which bands are wanted",
        remedy=f"take all channels with {command(bands='all', dtype='uint16')}, or choose one with "
        + command(image_name=pattern),
    )


def of_objects(where: object, masks: Sequence[str], image: str) -> LayoutError:
    """Returns the error about several masks of an image, such as one for each object."""
    return LayoutError(
        where,
        found=f"several masks for one image, such as {' and '.join(masks[:2])} for {image}",
        expected="one mask for each image, in which each pixel is a class",
        remedy="if each shows an object, draw the objects of each image into one mask, with the "
        "value of their class and 0 for background, or export so from your tool. If each is the "
        "work of one person, choose one with --mask_name, such as '{id}_1.png'",
        kind="a mask for each object",
    )


def check_objects(listing: Listing, top: str, folder: str, images: Mapping[str, str]) -> None:
    """Checks that a folder of masks is not that of one image, beside those of other images.

    The images' paths below their folder, `top`, are given by their names without the ending.

    Raises:
      LayoutError: if it is.
    """
    above, name = posixpath.split(folder)
    if name not in images or name == posixpath.basename(top):  # frames may be called as films
        return
    beside = {posixpath.basename(f) for f in listing.folders if posixpath.dirname(f) == above}
    if 2 * len(beside & images.keys() - {posixpath.basename(top)}) > max(2, len(images)):
        masks = [posixpath.join(folder, mask) for mask in sorted(listing.folders[folder])]
        raise of_objects(listing.root, masks, images[name])


def _jpegs_called_masks(listing: Listing) -> str:
    """Says what lies in folders that are called masks in place of masks; empty if nothing does."""
    for folder, files in listing.folders.items():
        names = [name for name in files if name.lower().endswith(IMAGE_SUFFIXES)]
        if names and role(posixpath.basename(folder)) == "masks":
            count = f", the first of {len(names)} files" if len(names) > 1 else ""
            return f"{names[0]} lies under {folder}{count}"
    return ""


def check_no_panoptic(listing: Listing, folders: Iterable[str]) -> None:
    """Checks that no masks are those of COCO's panoptic format, whose pixels number segments.

    Raises:
      LayoutError: if a JSON file beside the folder of masks says what its segments are.
    """
    for of_masks in folders:
        folder, name = posixpath.split(f"{of_masks}.json")
        if name not in listing.folders.get(folder, ()):
            continue
        path = listing.root / folder / name
        with open_file(path) as file:
            if b'"segments_info"' not in file.read(_READ):
                continue
        raise LayoutError(
            path,
            found="COCO's panoptic format: the pixels of its PNGs are numbers of segments, and not "
            "classes",
            expected="masks whose values or colours are the classes",
            remedy="make masks of classes with panopticapi: "
            + command(
                "python",
                "converters/panoptic2semantic_segmentation.py",
                input_json_file=path,
                segmentations_folder=listing.root / of_masks,
                semantic_seg_folder=listing.root / folder / "masks",
                categories_json_file=path,
            ),
        )


def check_two_files(tree: VocTree) -> None:
    """Checks that no file is the image and the mask of one id, as if both folders are the same."""
    masks = tree.masks if tree.layout.images == tree.layout.masks else {}
    if masks and (name := next((n for i, n in tree.images.items() if masks.get(i) == n), "")):
        raise LayoutError(
            tree.root / tree.layout.masks / name,
            found="one file that would be an image and its own mask",
            expected="images and masks in files of their own",
            remedy="check the folders that --images and --masks name",
            kind="names of masks",
        )


def check_one_numbering(tree: VocTree) -> None:
    """Checks that masks in folders of their own, with names of labels beside them, mean the same.

    Raises:
      LayoutError: if labelme numbered the labels of each image anew.
    """
    if "/" not in tree.layout.mask_name:
        return
    top = posixpath.join(tree.place, tree.layout.masks)
    folders = {posixpath.normpath(posixpath.join(top, n, "..")) for n in tree.masks.values()}
    texts: dict[bytes, str] = {}
    for folder in sorted(folders):
        if tree.listing and _LABEL_NAMES in tree.listing.folders.get(folder, ()):
            path = tree.given / folder / _LABEL_NAMES
            texts.setdefault(tree.read_text(path).data, str(path))
    if len(texts) > 1:
        first, second, *_ = texts.values()
        raise LayoutError(
            second,
            found=f"other names than in {first}: labelme_json_to_dataset numbers the labels of "
            "each image anew",
            expected="masks in which a value is the same class everywhere",
            remedy="give the folder of labelme's JSON files in place of this one: they are read",
        )
