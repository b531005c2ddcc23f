"""Finds the tree of a labeling tool's polygons in a folder: the image of each, and its splits.

A *sheet* is what one file of a tool holds: the shapes of one image (labelme), or of many (COCO). An
*annotation* is the shapes of one image. The steps:

1. `polygon_tool` chooses the one tool whose sheets are read, or asks.
2. `shape_matches` matches each annotation with its image.
3. `shape_splits` reads the splits, and the tree is made here: ids, classes, notes.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import itertools
import os
import posixpath

from voc_seg_tfrecord.core import split_names
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, counted
from voc_seg_tfrecord.core.layout import ID, Layout
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.paths import common_folder_of_files, paths_below_any
from voc_seg_tfrecord.folder.files.polygon_tool import ChosenSheets, choose_sheets
from voc_seg_tfrecord.folder.files.shape_matches import MatchedShapes, RivalShapes, match_images
from voc_seg_tfrecord.folder.files.shape_splits import splits_of_sources
from voc_seg_tfrecord.folder.files.sheet_images import FiledAnnotation, SheetImages
from voc_seg_tfrecord.folder.files.sheets import (
    add_sheets_of_folders,
    leave_out_boxes,
    read_sheets,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.labels import LabelSplit
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.shape_classes import number_shape_classes
from voc_seg_tfrecord.tools.shapes import UNUSABLE, Sheet
from voc_seg_tfrecord.tools.tool import FolderFiles


@dataclasses.dataclass(frozen=True)
class FoundPolygons:
    """The polygons of a folder.

    Attributes:
      tree: the tree of the polygons; None if there are none that can be used.
      problems: errors about files that are not used, such as those of boxes.
    """

    tree: VocTree | None
    problems: Sequence[VocSegError]


def find_polygons(given: GivenLayout, exif: str) -> FoundPolygons:
    """Finds the polygons in a folder. The user's option `masks` may name a file of polygons.

    Args:
      given: the folder, and what the user gave of its layout.
      exif: what an EXIF orientation means; see `DrawnPair`.

    Raises:
      VocSegError: about polygons of several tools, two images of one id, or a file that may mean
        two images.
    """
    files = _list_files(given)
    sheets = read_sheets(files)
    try:
        add_sheets_of_folders(files, sheets)
        leave_out_boxes(sheets)
        if not sheets.by_tool:
            return FoundPolygons(None, sheets.problems)
        chosen = choose_sheets(given, sheets)
        tree = _make_tree(given, chosen, files.images, exif)
    except LayoutError as error:
        if error.kind != UNUSABLE:
            raise
        return FoundPolygons(None, [error, *sheets.problems])
    return FoundPolygons(tree, sheets.problems)


def _list_files(given: GivenLayout) -> FolderFiles:
    """Returns the files in the folders that the user named, or all."""
    all_paths = list(given.listing.below())
    image_folders = [folder.path for folder in given.image_folders] or [""]
    image_endings = tuple(given.endings.images)
    paths = paths_below_any(all_paths, image_folders)
    return FolderFiles(
        root=os.fspath(given.listing.root),
        names=all_paths,
        labels=given.label_paths(),
        images=[path for path in paths if path.lower().endswith(image_endings)],
    )


@dataclasses.dataclass(frozen=True)
class _LabeledImage:
    """An image that has shapes.

    Attributes:
      id: its name without the ending.
      name: its path below the folder in which all images with shapes lie.
      path: its path below the given folder.
      filed: its shapes, and their file.
      is_embedded: whether only the file of its shapes holds it.
    """

    id: str
    name: str
    path: str
    filed: FiledAnnotation
    is_embedded: bool


def _make_tree(
    given: GivenLayout, chosen: ChosenSheets, paths: Sequence[str], exif: str
) -> VocTree:
    """Returns the tree of the images that have shapes of a tool.

    Args:
      given: the folder, and what the user gave of its layout.
      chosen: the tool and its files.
      paths: the images in the folder.
      exif: what an EXIF orientation means.

    Raises:
      QuestionError: if files in several folders have other shapes of an image.
      LayoutError: of the kind `UNUSABLE` if no image is here, or about two images of one id.
    """
    listing = given.listing
    tool = chosen.tool
    assert tool.shapes
    finder = SheetImages(tool.name, tool.shapes, paths, chosen.sheets, listing.root)
    matched = match_images(finder, chosen.sheets)
    if not matched.by_path:
        raise _no_images_error(listing, chosen, matched)
    _check_one_labeling(listing, matched)
    if matched.rivals:
        raise _ask_whose_shapes(listing, matched.rivals)
    image_folder = common_folder_of_files(*matched.by_path) or "."
    images = _list_labeled_images(matched, image_folder)
    _check_ids_differ(listing, images)
    classes = number_shape_classes(
        tool, chosen.sheets, _first_uses_of_labels(images), listing.root, listing.below()
    )
    splits: list[LabelSplit] = []
    if not tool.shapes.is_per_image:
        id_by_path = {image.path: image.id for image in images}
        splits = splits_of_sources(matched.paths_by_source, id_by_path)
    labels = DrawnLabels(
        listing.root,
        Names({image.id: image.filed.file for image in images}),
        images={image.id: image.name for image in images},
        label_files={*chosen.sheets},
        splits=splits,
        class_file=classes.class_file,
        tool=tool.name,
        image_folder=listing.root / image_folder,
        values=classes.values,
        shapes={image.id: image.filed.annotation for image in images},
        embedded={image.id for image in images if image.is_embedded},
        exif=exif,
    )
    ending_of_sheets = posixpath.splitext(next(iter(chosen.sheets)))[1]
    layout = Layout(image_folder, ".", mask_name=f"{ID}{ending_of_sheets}")
    files = SetFiles(
        listing.root,
        layout,
        listing,
        image_endings=given.endings.images,
        named_images=labels.images,
    )
    notes = [
        *chosen.notes,
        *_notes_on_lost(tool.name, matched.lost),
        *_notes_of_sheets(chosen.sheets),
        *classes.notes,
        *_notes_on_moved(tool.name, matched.moved),
    ]
    different_notes = list(dict.fromkeys(notes))
    return VocTree(listing.root, layout, listing, different_notes, files, labels)


def _ask_whose_shapes(listing: Listing, rivals: Sequence[RivalShapes]) -> QuestionError:
    """Returns the question in which of several folders the shapes of images are right."""
    folders: dict[str, None] = {}  # in place of an ordered set
    for rival in rivals:
        folders.update(dict.fromkeys(map(posixpath.dirname, rival.files)))
    first = rivals[0]
    count = len({rival.image for rival in rivals})
    return QuestionError(
        listing.root,
        [Alternative("", {"masks": folder or "."}) for folder in sorted(folders)],
        task=f"read the shapes of {counted(count, 'image')}, such as {first.image}, which differ "
        f"in {first.files[0]} and {first.files[1]}",
        expected="shapes of one person for each image",
        kind="shapes in several folders",
    )


def _check_one_labeling(listing: Listing, matched: MatchedShapes) -> None:
    """Checks that no two files of one folder label most of their images otherwise.

    Example: `train/damage.json` and `train/doors.json`, and two such files in `val`.

    Raises:
      QuestionError: if there are such files, with a line for each labeling: the files of one name
        but for its split.
    """
    rivals = _list_rival_files(matched)
    if not rivals:
        return
    files_by_name: dict[tuple[str, ...], list[str]] = {}
    for file in dict.fromkeys(source.file for source in matched.paths_by_source):
        words = split_names.words(posixpath.splitext(posixpath.basename(file))[0])
        name = tuple(word for word in words if word not in split_names.SPLIT_BY_WORD)
        files_by_name.setdefault(name, []).append(file)
    labelings = [files for files in files_by_name.values() if not rivals.isdisjoint(files)]
    raise QuestionError(
        listing.root,
        [Alternative("", {"masks": ",".join(files)}) for files in labelings],
        task=f"read the shapes, which differ in files of one folder, such as {min(rivals)}",
        expected="one labeling of each image",
        kind="several labelings",
    )


def _list_rival_files(matched: MatchedShapes) -> set[str]:
    """Returns the files of which another one in the folder has other shapes of most images."""
    images_by_file: dict[str, set[str]] = {}
    for source, paths in matched.paths_by_source.items():
        images_by_file.setdefault(source.file, set()).update(paths)
    differing = {path for path, filed in matched.by_path.items() if filed.annotation.error}
    rivals: set[str] = set()
    if not differing:
        return rivals
    for first, second in itertools.combinations(images_by_file, 2):
        shared = images_by_file[first] & images_by_file[second] & differing
        fewer_images = min(len(images_by_file[first]), len(images_by_file[second]))
        is_same_folder = posixpath.dirname(first) == posixpath.dirname(second)
        if is_same_folder and 2 * len(shared) > fewer_images:
            rivals |= {first, second}
    return rivals


def _no_images_error(listing: Listing, chosen: ChosenSheets, matched: MatchedShapes) -> LayoutError:
    """Returns the error that no image of a tool's files is here."""
    first_lost = min(matched.lost, default="")
    return LayoutError(
        listing.root,
        found=f"{chosen.tool.name}'s {min(chosen.sheets)}, but no image {first_lost}".strip(),
        expected="the images beside their polygons",
        remedy="put the images into the folder, under the names in the file",
        kind=UNUSABLE,
    )


def _list_labeled_images(matched: MatchedShapes, image_folder: str) -> list[_LabeledImage]:
    """Returns the images that have shapes, in the order in which the files name them first."""
    images: list[_LabeledImage] = []
    for path, filed in matched.by_path.items():
        name = posixpath.relpath(path, image_folder)
        image_id = posixpath.splitext(name)[0]
        images.append(_LabeledImage(image_id, name, path, filed, path in matched.embedded))
    return images


def _check_ids_differ(listing: Listing, images: Sequence[_LabeledImage]) -> None:
    first_by_id: dict[str, _LabeledImage] = {}
    for image in images:
        first = first_by_id.setdefault(image.id, image)
        if first is image:
            continue
        raise LayoutError(
            listing.root / image.path,
            found="polygons of two images with the same id: this one and "
            f"{posixpath.basename(first.path)}",
            expected="images whose names differ before the ending, because ids have no ending",
            remedy="rename one of them, in the file of the polygons too; if one is the mask of "
            "the other, name the file to read with --masks",
        )


def _first_uses_of_labels(images: Iterable[_LabeledImage]) -> dict[str, str]:
    """Returns where the first shape of each label stands: `a.json, shape 3 (crack)`."""
    first_uses: dict[str, str] = {}
    for image in images:
        for shape in image.filed.annotation.shapes:
            first_uses.setdefault(shape.label, f"{image.filed.file}, {shape.position}")
    return first_uses


def _notes_on_lost(tool: str, lost: Sequence[str]) -> list[str]:
    """Returns a note on images that only the files of a tool name."""
    if not lost:
        return []
    verb = "is" if len(lost) == 1 else "are"
    images = counted(len(lost), "image")
    return [f"{images} {verb} in {tool}'s files and not here, such as {min(lost)}."]


def _notes_on_moved(tool: str, moved: Mapping[str, str]) -> list[str]:
    """Returns a note on images that lie elsewhere than at the path in the files of a tool."""
    if not moved:
        return []
    name, path = min(moved.items())
    images = counted(len(moved), "image")
    return [f"{images} in other places than {tool}'s files say, such as {name}, read from {path}."]


def _notes_of_sheets(sheets: Mapping[str, Sheet]) -> list[str]:
    notes: list[str] = []
    for sheet in sheets.values():
        notes += sheet.notes
    return notes
