"""Finds the polygons of labeling tools in a folder, and the image of each."""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import json
import os
import posixpath
import re
from typing import NamedTuple

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError, command, counted
from voc_seg_tfrecord.core.layout import ID, Layout
from voc_seg_tfrecord.core.split_names import (
    UNIONS,
    list_splits_in,
    only_split_in,
    own_split_name,
    parse_split_name,
    split_but_for_number,
)
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.folder_names import below, common, split_of, stem
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.sheet_images import FiledAnnotation, SheetImages
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.listing import Listing, Names
from voc_seg_tfrecord.folder.tree.pairs import LabelSplit
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS, TOOLS, tool_named
from voc_seg_tfrecord.tools.shape_classes import number_shape_classes
from voc_seg_tfrecord.tools.shapes import (
    UNUSABLE,
    Annotation,
    Shape,
    Sheet,
    as_written,
    wrong,
)
from voc_seg_tfrecord.tools.tool import FolderFiles, ShapeFiles, Tool

_SheetsByTool = dict[str, dict[str, Sheet]]
"""What files hold, by the name of their tool and their paths."""


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
    sheets = _read_sheets(files)
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
    given: GivenLayout, files: FolderFiles, sheets: "_SheetsOfFolder", exif: str
) -> VocTree | None:
    """Returns the tree of the one tool that has polygons in a folder; None if none has."""
    for tool in SHAPE_TOOLS:
        sheets_of_tool = _read_folder(tool, files)
        if sheets_of_tool:
            sheets.by_tool[tool.name] = sheets_of_tool
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
    return _make_tree(given.listing, tool, chosen_sheets, files.images, notes, exif)


def _chosen_by_ending(by_tool: _SheetsByTool, mask_name: str) -> _SheetsByTool:
    """Returns the tools whose files the user's pattern of names means; all if it means none."""
    ending = posixpath.splitext(mask_name)[1].lower()
    chosen: _SheetsByTool = {}
    for name, sheets in by_tool.items():
        shapes = _shapes_of(name)
        if shapes.is_per_image and shapes.ending == ending:
            chosen[name] = sheets
    return chosen or by_tool


def _shapes_of(tool: str) -> ShapeFiles:
    shapes = tool_named(tool).shapes
    assert shapes
    return shapes


def _question_of_tools(listing: Listing, by_tool: _SheetsByTool) -> QuestionError:
    """Returns the question which tool's polygons are meant."""
    per_image = [_shapes_of(name) for name in by_tool if _shapes_of(name).is_per_image]
    count_of_ending = collections.Counter(shapes.ending for shapes in per_image)
    alternatives: list[Alternative] = []
    for name, sheets in by_tool.items():
        files = list(sheets)
        ending_is_shared = count_of_ending[_shapes_of(name).ending] > 1
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
    shapes = _shapes_of(tool)
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


# Which files have shapes.


@dataclasses.dataclass(frozen=True)
class _SheetsOfFolder:
    """What the files of a folder hold. It is filled while they are read.

    Attributes:
      by_tool: the sheets of each tool's files, by their paths.
      problems: errors about files that are not read.
      other_files: files that no tool wrote.
    """

    by_tool: _SheetsByTool = dataclasses.field(
        default_factory=lambda: collections.defaultdict(dict)
    )
    problems: list[VocSegError] = dataclasses.field(default_factory=list)
    other_files: list[str] = dataclasses.field(default_factory=list)


@dataclasses.dataclass(frozen=True)
class _FileOfTool:
    """What one file holds.

    Attributes:
      tool: what wrote it; empty if it is not known.
      sheet: its shapes.
      error: what is wrong with it.
    """

    tool: str = ""
    sheet: Sheet | None = None
    error: MaskError | None = None


def _read_sheets(files: FolderFiles) -> _SheetsOfFolder:
    """Reads the files of which each tells by its content which tool wrote it."""
    sheets = _SheetsOfFolder()
    names = [name for name in files.labels if _may_have_shapes(name)]
    read = functools.partial(_read_sheet, files)
    for name, file in ordered_map(read, names, ahead=1):
        if file.error:
            sheets.problems.append(file.error)
            if file.tool and _shapes_of(file.tool).is_per_image:
                sheets.by_tool[file.tool][name] = _damaged_sheet(name, file.error)
        elif file.sheet is not None:
            sheets.by_tool[file.tool][name] = file.sheet
        elif not _is_table_or_class_list(name):
            sheets.other_files.append(name)
    for tool in list(sheets.by_tool):
        if _shapes_of(tool).is_per_image:
            _add_damaged_files(files, tool, sheets)
    return sheets


def _is_table_or_class_list(name: str) -> bool:
    """Says whether a file that no tool wrote is a usual one beside shapes."""
    class_lists = [tool.shapes.class_list for tool in SHAPE_TOOLS if tool.shapes]
    names_of_class_lists = {class_list.name for class_list in class_lists if class_list}
    is_table = name.lower().endswith(".csv")
    return is_table or posixpath.basename(name) in names_of_class_lists


def _may_have_shapes(name: str) -> bool:
    return any(tool.shapes.may_have_name(name) for tool in SHAPE_TOOLS if tool.shapes)


def _read_sheet(files: FolderFiles, name: str) -> _FileOfTool:
    """Reads a file by the tool that wrote it."""
    try:
        file = files.read(name)
    except MaskError as error:
        return _FileOfTool(error=error)
    for tool in SHAPE_TOOLS:
        shapes = tool.shapes
        if not shapes or not shapes.read or not shapes.may_have_name(name):
            continue
        if shapes.may_have_content(file.data):
            try:
                return _FileOfTool(tool.name, sheet=shapes.read(file))
            except MaskError as error:
                return _FileOfTool(tool.name, error=error)
    for tool in TOOLS:
        for refused in tool.refused_files:
            if name.lower().endswith(refused.ending) and re.search(refused.pattern, file.data):
                expected = f"polygons of {_names_of_shape_tools()}"
                return _FileOfTool(error=wrong(name, refused.found, expected, refused.advice))
    return _FileOfTool()


def _names_of_shape_tools() -> str:
    *names, last = (tool.name for tool in SHAPE_TOOLS)
    return f"{', '.join(names)} or {last}"


def _add_damaged_files(files: FolderFiles, tool: str, sheets: _SheetsOfFolder) -> None:
    """Adds files that are cut off before the words of their tool, and that have an image's name.

    The image of each lacks its mask, which stops a build.
    """
    sheets_of_tool = sheets.by_tool[tool]
    ending = _shapes_of(tool).ending
    folders = {posixpath.dirname(path) for path in (*sheets_of_tool, *files.images)}
    names_of_images = {*map(stem, files.images), *map(posixpath.basename, files.images)}
    for name in list(sheets.other_files):
        is_of_image = stem(name) in names_of_images and posixpath.dirname(name) in folders
        if not is_of_image or not name.lower().endswith(ending):
            continue
        error = _error_of_json(files, name, tool)
        if error:
            sheets.problems.append(error)
            sheets.other_files.remove(name)
            sheets_of_tool[name] = _damaged_sheet(name, error)


def _damaged_sheet(name: str, error: MaskError) -> Sheet:
    """Returns the sheet of a file that cannot be read: one image lacks its mask."""
    return Sheet((), [Annotation(name, stem(name), None, error=error)])


def _error_of_json(files: FolderFiles, name: str, tool: str) -> MaskError | None:
    """Returns the error about a JSON file that is cut off or overwritten, but not empty."""
    try:
        file = files.read(name)
        if name.lower().endswith(".json") and file.data.strip():
            with as_written(file.where, f"{tool}'s JSON, to its end"):
                json.loads(file.data.decode("utf-8-sig"))
    except MaskError as error:
        return error
    return None


def _read_folder(tool: Tool, files: FolderFiles) -> dict[str, Sheet]:
    if not tool.shapes or not tool.shapes.read_folder:
        return {}
    return tool.shapes.read_folder(files)


# The tree of a tool's shapes.


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
    return VocTree(listing.root, layout, listing, list(dict.fromkeys(all_notes)), labels)


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
