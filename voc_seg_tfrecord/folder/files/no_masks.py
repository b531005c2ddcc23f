"""Explains a folder without masks: what it holds instead, and what to do then.

What tools write in place of masks is explained in their modules; see `Tool.explain_no_masks`.
"""

from collections.abc import Collection, Sequence
import dataclasses
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
from voc_seg_tfrecord.folder.files.paths import paths_below_any, stem
from voc_seg_tfrecord.folder.looks import is_photo
from voc_seg_tfrecord.folder.soft_masks import propose_threshold
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.formats import numpy_files
from voc_seg_tfrecord.tools.registry import NAMES_OF_SHAPE_TOOLS, TOOLS
from voc_seg_tfrecord.tools.shapes import ADVICE_ON_BOXES, BOXES_ALONE
from voc_seg_tfrecord.tools.tool import Explanation, FolderContent

ADVICE_ON_SOFT_MASKS = (
    "If they are black and white masks of one class, read all pixels from a gray on as white: say"
)
"""What an option behind it reads."""


@dataclasses.dataclass(frozen=True)
class _UnreadFormat:
    """Files of a format that is not read, and how people get masks out of them.

    Attributes:
      endings: the endings of their names.
      name: what they are, in words.
      remedy: what to do.
    """

    endings: tuple[str, ...]
    name: str
    remedy: str


_UNREAD_FORMATS = (
    _UnreadFormat(
        (".dcm", ".dicom"),
        "slices of DICOM",
        "save each slice with pydicom and NumPy: of the image a .npy file with all its bits, and "
        "of the labels a PNG with their values; then build with --bands all and --dtype uint16, or "
        "float32 if values are negative",
    ),
    _UnreadFormat(
        (".parquet", ".arrow"),
        "tables of Parquet",
        "load them with datasets.load_dataset, an export of this package too, and give the images "
        "and masks as arrays to voc_seg_tfrecord.from_arrays",
    ),
    _UnreadFormat(
        (".mp4", ".avi", ".mov", ".mkv", ".webm"),
        "videos",
        "save the frames that have masks as images, such as with ffmpeg -i FILE frames/%06d.png, "
        "and name the masks as these",
    ),
    _UnreadFormat(
        (".mat",),
        "files of MATLAB",
        "save each mask as PNG with class indices, with scipy.io.loadmat and Pillow",
    ),
    _UnreadFormat(
        (".h5", ".hdf5"),
        "files of HDF5",
        "give their images and masks as arrays to voc_seg_tfrecord.from_arrays",
    ),
    _UnreadFormat(
        (".xlsx", ".xls", ".ods"),
        "spreadsheets",
        "export the table as CSV, and put the images and masks beside it",
    ),
    _UnreadFormat(
        (".tfrecord", ".tfrecords"),
        "TFRecords",
        "read them with voc-seg-tfrecord import",
    ),
)
"""Formats of images, masks and tables that people have, and that no build reads."""

NO_MASKS = "no masks"
"""The kind of the error about a folder without masks."""

_MAX_SHOWN_KINDS = 8
_MAX_READ_FILES = 8
"""Texts that are searched for boxes, and photos that may be masks."""


def no_masks_error(listing: Listing, mask_folders: Collection[str]) -> LayoutError:
    """Returns the error about a folder without masks, which tells what it holds instead.

    Args:
      listing: all that lies in the folder.
      mask_folders: the folders that are called as folders of masks are.
    """
    names = sorted(listing.below())
    masks = [
        path for path in paths_below_any(names, mask_folders) if path.lower().endswith(MASK_ENDINGS)
    ]
    content = FolderContent(
        names=names,
        masks=sorted(masks),
        read=lambda name: File.read(listing.root / name, MaskError),
    )
    explanation = _explain(content)
    return LayoutError(listing.root, **dataclasses.asdict(explanation), kind=NO_MASKS)


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
        kind=NO_MASKS,
    )


def _explain(content: FolderContent) -> Explanation:
    """Returns what a folder holds: what a tool knows of it, or the kinds of its files."""
    for tool in TOOLS:
        explanation = tool.explain_no_masks(content) if tool.explain_no_masks else None
        if explanation:
            return explanation
    boxes = _explain_boxes_of_voc(content)
    if boxes and not content.masks and not _list_photos_called_masks(content):
        return boxes
    if not content.masks:
        unread = _explain_unread_format(content)
        if unread:
            return unread
    error = find_several_masks("", content.names) if content.masks else None
    if error is not None:
        return Explanation(found=error.found, expected=error.expected, remedy=error.remedy)
    advice = _advise_on_masks(content) if content.masks else _advise_without_masks(content)
    if not content.names:
        return Explanation(found="an empty folder", expected="images and masks", remedy=advice)
    if _list_photos_called_masks(content) and not content.masks:
        expected = "masks in a format that keeps each value, such as PNG"
        return Explanation(found=_describe_files(content), expected=expected, remedy=advice)
    return Explanation(
        found=_describe_files(content),
        expected=f"""\
one of these layouts:
    {IMAGES}, {MASKS} and {LISTS} (Pascal VOC)
    {IMAGES} and SegmentationClassPNG, SegmentationClassAug or SegmentationClassRaw
    images and masks (or img, label, gt, annotations ...), with files of the same names
    the same in train, val and test, or train, val and test in each of both
    NAME.jpg and NAME.png, or NAME_mask.png, in one folder
    images and the polygons of {NAMES_OF_SHAPE_TOOLS}""",
        remedy=advice,
    )


def _explain_unread_format(content: FolderContent) -> Explanation | None:
    """Explains a folder of which a third of the files or more have one of `_UNREAD_FORMATS`."""
    for unread in _UNREAD_FORMATS:
        paths = [path for path in content.names if path.lower().endswith(unread.endings)]
        if not paths or 3 * len(paths) < len(content.names):
            continue
        return Explanation(
            found=f"{unread.name}, which are not read: {counted(len(paths), 'file')}, such as "
            f"{paths[0]}",
            expected="images of two dimensions and masks of class indices, such as PNG",
            remedy=unread.remedy,
        )
    return None


def _describe_files(content: FolderContent) -> str:
    """Returns how many files there are of each kind, with the first: `3 .jpg, such as x/a.jpg`."""
    paths_by_kind: dict[str, list[str]] = {}
    called_masks = {*content.masks, *_list_photos_called_masks(content)}
    for path in content.names:
        kind = posixpath.splitext(path)[1] or "other"
        if path in called_masks:
            kind += " called masks"
        paths_by_kind.setdefault(kind, []).append(path)
    largest = sorted(paths_by_kind.items(), key=lambda item: -len(item[1]))[:_MAX_SHOWN_KINDS]
    kinds = "; ".join(f"{len(paths):,} {kind}, such as {paths[0]}" for kind, paths in largest)
    lack = "image with a mask" if content.masks else "masks"
    return f"no {lack} among {kinds}"


def _list_photos_called_masks(content: FolderContent) -> list[str]:
    """Returns JPEGs and the like that are called masks, or lie in a folder that is."""
    photos: list[str] = []
    for path in content.names:
        roles = (role_of_path(posixpath.dirname(path)), role_of_name(stem(path)))
        if "masks" in roles and path.lower().endswith(PHOTO_ENDINGS):
            photos.append(path)
    return photos


def _advise_on_masks(content: FolderContent) -> str:
    """Returns what to do with masks that pair with nothing, by what lies beside them.

    A PNG in a folder that is not called images may be a drawn mask, or one of objects, so only
    photos count there.
    """
    pictures = sorted({*content.names} - {*content.masks})
    images: list[str] = []
    for name in pictures:
        if role_of_path(posixpath.dirname(name)) in ("images", ""):
            images.append(name)
    arrays = [name for name in images if name.lower().endswith(".npy")]
    photos = [name for name in pictures if name.lower().endswith(PHOTO_ENDINGS)]
    if arrays:
        try:
            dtype = str(numpy_files.read_dtype(content.read(arrays[0])))
        except VocSegError:
            dtype = ""
        dtype = dtype if dtype in ("uint8", "uint16") else "float32"
        return f"to read all bands of the arrays, add {command(bands='all', dtype=dtype)}"
    if any(name.lower().endswith(IMAGE_ENDINGS) for name in images):
        patterns = command(image_name=f"image_{ID}", mask_name=f"gt_{ID}.png")
        return f"rename the masks, or give the patterns of the names, such as {patterns}"
    if photos:
        folder = posixpath.dirname(photos[0]) or "."
        return f"if the pictures in {folder} are the images, add {command(images=folder)}"
    return (
        "export again with the images (in CVAT, tick 'Save images'), or copy the images into the "
        "folder"
    )


def _advise_without_masks(content: FolderContent) -> str:
    """Returns what to do where there are no masks, with JPEGs in their place or without."""
    photos = _list_photos_called_masks(content)
    if not photos:
        return (
            "export in the Pascal VOC segmentation format, or name the folders with --images and "
            "--masks"
        )
    try:
        option = propose_threshold([content.read(path) for path in photos[:_MAX_READ_FILES]])
    except VocSegError:  # one cannot be read
        option = ""
    threshold = f". {ADVICE_ON_SOFT_MASKS} {option}" if option else ""
    return (
        "export the masks again as PNG with class indices, because JPEG changes the values of "
        f"pixels; or name the folder of masks with --masks{threshold}"
    )


def _hold_boxes(content: FolderContent, texts: Sequence[str]) -> bool:
    """Says whether one of the first texts has a box as Pascal VOC writes it."""
    read_texts = (content.read(name).data for name in texts[:_MAX_READ_FILES])
    return any(b"<bndbox>" in text for text in read_texts)


def _explain_boxes_of_voc(content: FolderContent) -> Explanation | None:
    """Explains a folder of Pascal VOC's XML files, which have boxes alone."""
    texts = [name for name in content.names if name.lower().endswith(".xml")]
    is_in_voc_folder = any("/Annotations/" in f"/{name}" for name in content.names)
    if not is_in_voc_folder and not _hold_boxes(content, texts):
        return None
    return Explanation(
        found=f"{BOXES_ALONE}: {counted(len(texts), 'text')} of Pascal VOC, and no masks",
        expected=f"masks in one of {', '.join(MASK_FOLDERS)}",
        remedy=f"{ADVICE_ON_BOXES}; VoTT, makesense and Label Studio write only boxes under the "
        "name Pascal VOC",
    )
