"""Finds the tree of a labeling tool's polygons in a folder: the image of each, and its splits."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import os
import posixpath
from typing import NamedTuple

from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, command, counted
from voc_seg_tfrecord.core.layout import ID, Layout
from voc_seg_tfrecord.core.split_names import (
    UNIONS,
    list_splits_in,
    only_split_in,
    own_split_name,
    parse_split_name,
    split_but_for_number,
)
from voc_seg_tfrecord.folder.files.folder_names import below, common, split_of, stem
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.sheet_images import FiledAnnotation, SheetImages
from voc_seg_tfrecord.folder.files.sheets import (
    SheetsByTool,
    SheetsOfFolder,
    add_sheets_of_folders,
    read_sheets,
    shapes_of,
)
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import LabelSplit
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import tool_named
from voc_seg_tfrecord.tools.shape_classes import number_shape_classes
from voc_seg_tfrecord.tools.shapes import (
    UNUSABLE,
    Annotation,
    Shape,
    Sheet,
    wrong,
)
from voc_seg_tfrecord.tools.tool import FolderFiles, Tool


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

    Raises:
      VocSegError: about polygons of several tools, two images of one id, or a file that may mean
        two images.
    """
    files = _list_files(given)
    sheets = read_sheets(files)
    try:
        tree = _find_tree(given, files, sheets, exif)
    except LayoutError as error:
        if error.kind != UNUSABLE:
            raise
        return FoundPolygons(None, [error, *sheets.problems])
    return FoundPolygons(tree, sheets.problems)


def _list_files(given: GivenLayout) -> FolderFiles:
    """Returns the files in the folders that the user named, or all."""
    all_paths = list(given.listing.below())
    # Images of polygons have no parts that the user may name.
    folders = [f"{f.part}={f.path}" if f.part else f.path for f in given.image_folders] or [""]
    images: dict[str, None] = {}  # in place of an ordered set
    for folder in folders:
        for path in below(all_paths, folder):
            if path.lower().endswith(tuple(given.endings)):
                images[path] = None
    return FolderFiles(
        root=os.fspath(given.listing.root),
        names=all_paths,
        labels=below(all_paths, given.options.get("masks", "")),
        images=list(images),
    )


def _find_tree(
    given: GivenLayout, files: FolderFiles, sheets: SheetsOfFolder, exif: str
) -> VocTree | None:
    """Returns the tree of the one tool that has polygons in a folder; None if none has."""
    add_sheets_of_folders(files, sheets)
    if not sheets.by_tool:
        return None
    by_tool = _chosen_by_ending(sheets.by_tool, given.options.get("mask_name", ""))
    if len(by_tool) > 1:
        raise _question_of_tools(given.listing, by_tool)
    ((tool_name, chosen_sheets),) = by_tool.items()
    notes = notes_on(sheets.problems)
    if sheets.other_files:
        count = len(sheets.other_files)
        notes.append(f"{count} files such as {sheets.other_files[0]} are not {tool_name}'s.")
    tool = tool_named(tool_name)
    return _make_tree(given.listing, tool, chosen_sheets, files.images, notes, exif, given.endings)


def _chosen_by_ending(by_tool: SheetsByTool, mask_name: str) -> SheetsByTool:
    """Returns the tools whose files the user's pattern of names means; all if it means none."""
    ending = posixpath.splitext(mask_name)[1].lower()
    chosen: SheetsByTool = {}
    for name, sheets in by_tool.items():
        shapes = shapes_of(name)
        if shapes.is_per_image and shapes.ending == ending:
            chosen[name] = sheets
    return chosen or by_tool


def _question_of_tools(listing: Listing, by_tool: SheetsByTool) -> QuestionError:
    """Returns the question which tool's polygons are meant."""
    per_image = [shapes_of(name) for name in by_tool if shapes_of(name).is_per_image]
    count_of_ending = collections.Counter(shapes.ending for shapes in per_image)
    alternatives: list[Alternative] = []
    for name, sheets in by_tool.items():
        files = list(sheets)
        ending_is_shared = count_of_ending[shapes_of(name).ending] > 1
        if ending_is_shared and common(*files):
            options = _choice_of_files(files)
        else:
            options = choice_of(name, files)
        alternatives.append(Alternative(f"{name}'s {min(files)}", options))
    return QuestionError(
        listing.root,
        alternatives,
        to="read the labels, by polygons of several tools",
        expected="polygons of one tool, or a folder of masks that --masks names",
        kind="polygons of several tools",
    )


def choice_of(tool: str, files: Sequence[str]) -> dict[str, str]:
    """Returns the option that chooses the polygons of a tool."""
    shapes = shapes_of(tool)
    if shapes.is_per_image:
        return {"mask_name": f"{ID}{shapes.ending}"}
    return _choice_of_files(files)


def _choice_of_files(files: Sequence[str]) -> dict[str, str]:
    """Returns the option that names a file, or the folder of several files."""
    folder = common(*files)
    if len(files) == 1 or not folder:
        return {"masks": files[0]}
    return {"masks": folder}


def notes_on(problems: Sequence[VocSegError]) -> list[str]:
    """Returns notes about files of polygons that are not read, one for each kind of problem."""
    files_by_reason: dict[str, list[str]] = collections.defaultdict(list)
    for problem in problems:
        files_by_reason[problem.found].append(posixpath.basename(problem.where))
    notes: list[str] = []
    for reason, files in files_by_reason.items():
        if len(files) == 1:
            notes.append(f"{files[0]} is not read: {reason}.")
        else:
            notes.append(f"{files[0]} and {len(files) - 1} more files are not read: {reason}.")
    return notes


class _FileOrSubset(NamedTuple):
    """A file of shapes, or a subset in it.

    Attributes:
      file: the file.
      subset: the subset; empty if the file has none.
    """

    file: str
    subset: str


@dataclasses.dataclass(frozen=True)
class _MatchedShapes:
    """The shapes of the images in a folder. It is filled while images are looked for.

    Attributes:
      by_path: the shapes of each image, by its path.
      embedded: paths of images that only the file of their shapes holds.
      lost: names of images that are not here.
      images_by_source: the images of each file, and of each subset in one.
    """

    by_path: dict[str, FiledAnnotation] = dataclasses.field(default_factory=dict)
    embedded: set[str] = dataclasses.field(default_factory=set)
    lost: list[str] = dataclasses.field(default_factory=list)
    images_by_source: dict[_FileOrSubset, list[str]] = dataclasses.field(
        default_factory=lambda: collections.defaultdict(list)
    )


def _make_tree(
    listing: Listing,
    tool: Tool,
    sheets: Mapping[str, Sheet],
    images: Sequence[str],
    notes: Sequence[str],
    exif: str,
    image_endings: Sequence[str],
) -> VocTree:
    """Returns the tree of the images that have shapes of a tool.

    Raises:
      LayoutError: of the kind `UNUSABLE` if no image is here, or about two images of one id.
    """
    assert tool.shapes
    finder = SheetImages(tool.name, tool.shapes, images, sheets)
    matched = _match_images(finder, sheets)
    if not matched.by_path:
        raise _no_images_error(listing, tool, sheets, matched)
    top = common(*matched.by_path) or "."
    names = {path: posixpath.relpath(path, top) for path in matched.by_path}
    ids = {path: posixpath.splitext(name)[0] for path, name in names.items()}
    _check_unique(listing, ids)
    first_uses = _first_uses_of_labels(matched)
    classes = number_shape_classes(tool, sheets, first_uses, listing.root, listing.below())
    splits: list[LabelSplit] = []
    if not tool.shapes.is_per_image:
        splits = _splits_of_files(matched.images_by_source, ids)
    labels = DrawnLabels(
        listing.root,
        Names({ids[path]: filed.file for path, filed in matched.by_path.items()}),
        images={ids[path]: name for path, name in names.items()},
        sheets={*sheets},
        splits=splits,
        class_file=classes.class_file,
        tool=tool.name,
        image_folder=listing.root / top,
        values=classes.values,
        shapes={ids[path]: filed.annotation for path, filed in matched.by_path.items()},
        embedded={ids[path] for path in matched.embedded},
        exif=exif,
    )
    ending = posixpath.splitext(next(iter(sheets)))[1]
    layout = Layout(top, ".", mask_name=f"{ID}{ending}")
    notes_of_sheets = [note for sheet in sheets.values() for note in sheet.notes]
    all_notes = [
        *notes,
        *_notes_on_lost(tool.name, matched.lost),
        *notes_of_sheets,
        *classes.notes,
        *finder.notes(),
    ]
    files = SetFiles(
        listing.root, layout, listing, image_endings=image_endings, named_images=labels.images
    )
    return VocTree(listing.root, layout, listing, list(dict.fromkeys(all_notes)), files, labels)


def _no_images_error(
    listing: Listing, tool: Tool, sheets: Mapping[str, Sheet], matched: _MatchedShapes
) -> LayoutError:
    """Returns the error that no image of a tool's files is here."""
    first_lost = min(matched.lost, default="")
    return LayoutError(
        listing.root,
        found=f"{tool.name}'s {min(sheets)}, but no image {first_lost}".strip(),
        expected="the images beside their polygons",
        remedy="put the images into the folder, under the names in the file",
        kind=UNUSABLE,
    )


def _first_uses_of_labels(matched: _MatchedShapes) -> dict[str, str]:
    """Returns where the first shape of each label stands: `a.json, shape 3 (crack)`."""
    first_uses: dict[str, str] = {}
    for filed in matched.by_path.values():
        for shape in filed.annotation.shapes:
            first_uses.setdefault(shape.label, f"{filed.file}, {shape.position}")
    return first_uses


def _match_images(finder: SheetImages, sheets: Mapping[str, Sheet]) -> _MatchedShapes:
    """Finds the image of each annotation, and what is wrong if it has several."""
    matched = _MatchedShapes()
    for file, sheet in sheets.items():
        for annotation in sheet.annotations:
            path = finder.find(file, annotation)
            if path is None and annotation.embedded:
                path = _path_of_embedded(file, annotation)
                matched.embedded.add(path)
            if path is None:
                matched.lost.append(annotation.image or file)
                continue
            matched.images_by_source[_FileOrSubset(file, annotation.subset)].append(path)
            first = matched.by_path.get(path)
            if first is not None:
                error = _error_of_both(path, first, FiledAnnotation(file, annotation))
                annotation = dataclasses.replace(annotation, error=error)
            matched.by_path[path] = FiledAnnotation(file, annotation)
    return matched


def _path_of_embedded(file: str, annotation: Annotation) -> str:
    """Returns the path that an image would have which only the file of its shapes holds."""
    ending = posixpath.splitext(annotation.image)[1] or ".jpg"
    return posixpath.splitext(file)[0] + ending


def _error_of_both(
    path: str, first: FiledAnnotation, second: FiledAnnotation
) -> VocSegError | None:
    """Returns what is wrong with two annotations of one image; None if they are the same."""
    error = first.annotation.error or second.annotation.error
    if error:
        return error
    first_shapes = [_without_position(shape) for shape in first.annotation.shapes]
    second_shapes = [_without_position(shape) for shape in second.annotation.shapes]
    if first_shapes == second_shapes:
        return None
    expected = "one file for each image"
    if second.file == first.file:
        first_name, second_name = first.annotation.image, second.annotation.image
        found = f"other shapes of {path} as {second_name} than as {first_name}"
        return wrong(second.file, found, expected)
    found = f"other shapes of {path} than {first.file}"
    remedy = f"name the file that is right: {command(masks=second.file)}"
    return wrong(second.file, found, expected, remedy)


def _without_position(shape: Shape) -> Shape:
    """Returns a shape without its position, because the same one may stand in two files."""
    return shape._replace(position="")


def _notes_on_lost(tool: str, lost: Sequence[str]) -> list[str]:
    """Returns a note on images that only the files of a tool name."""
    if not lost:
        return []
    verb = "is" if len(lost) == 1 else "are"
    images = counted(len(lost), "image")
    return [f"{images} {verb} in {tool}'s files and not here, such as {min(lost)}."]


def _splits_of_files(
    images_by_source: Mapping[_FileOrSubset, Sequence[str]], ids: Mapping[str, str]
) -> list[LabelSplit]:
    """Returns the splits that several files say, or several subsets in files.

    A file of train and validation is none beside those of train or of validation. Images of no
    split are left to the step that chooses splits.
    """
    splits: list[LabelSplit] = []
    for source, images in images_by_source.items():
        split_name = _split_of_source(source)
        if split_name:
            image_ids = [ids[path] for path in images]
            splits.append(LabelSplit(split_name, source.file, source.subset, image_ids))
    if len(images_by_source) == 1:
        # It divides nothing, but images of validation or test do not become train.
        not_to_train_on = ("validation", "test")
        return [one for one in splits if split_but_for_number(one.split) in not_to_train_on]
    has_train_or_validation = any(split.split in ("train", "validation") for split in splits)
    if has_train_or_validation:
        splits = [split for split in splits if split.split not in UNIONS]
    return splits


def _split_of_source(source: _FileOrSubset) -> str:
    """Returns the split that a subset is called as, or else a file or its folder; or nothing.

    A subset is a split whatever it is called.
    """
    if source.subset:
        return only_split_in(source.subset) or own_split_name(source.subset)
    folder, name = posixpath.split(source.file)
    split = parse_split_name(stem(name)).split
    if split:
        return split
    if list_splits_in(stem(name)):
        return ""  # two splits, of which nobody knows which image is of which
    for part in reversed(folder.split("/")):
        split_of_folder = only_split_in(part) or split_of(part)
        if split_of_folder:
            return split_of_folder
    return ""


def _check_unique(listing: Listing, ids: Mapping[str, str]) -> None:
    owners: dict[str, str] = {}
    for path, image_id in ids.items():
        owner = owners.setdefault(image_id, path)
        if owner != path:
            raise LayoutError(
                listing.root / path,
                found=f"polygons of this image, and of {posixpath.basename(owner)} beside it",
                expected="images whose names differ before the ending, which is no part of an id",
                remedy="rename one of them, in the file of the polygons too; of an image and its "
                "mask, name the file to read with --masks",
            )
