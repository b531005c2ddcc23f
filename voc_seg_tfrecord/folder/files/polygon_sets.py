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
    split_in,
)
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.folder_names import below, common, split_word, stem
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.sheet_images import SheetImages
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


def find(given: GivenLayout, exif: str) -> tuple[VocTree | None, list[VocSegError]]:
    """Returns the tree of the polygons in a folder, None if there are none that can be used.

    The user's option `masks` may name a file of polygons.

    Returns:
      The tree, and errors about files that are not used, such as those of boxes.

    Raises:
      VocSegError: about polygons of several tools, two images of one id, or a file that may mean
        two images.
    """
    listing = given.listing
    every = [*listing.below()]
    labels = below(every, given.options.get("masks", ""))
    # Images of polygons have no parts that the user may name.
    tops = [
        f"{named.part}={named.path}" if named.part else named.path for named in given.image_folders
    ] or [""]
    below_tops = dict.fromkeys(path for top in tops for path in below(every, top))
    images = [path for path in below_tops if path.lower().endswith(tuple(given.endings))]
    files = FolderFiles(root=os.fspath(listing.root), names=every, labels=labels, images=images)
    found = _read_sheets(files)
    try:
        for tool in SHAPE_TOOLS:
            sheets = _read_folder(tool, files)
            if sheets:
                found.by_tool[tool.name] = sheets
        if not found.by_tool:
            return None, found.problems
        by_tool = _chosen_by_ending(found.by_tool, given.options.get("mask_name", ""))
        if len(by_tool) > 1:
            raise _question_of_tools(listing, by_tool)
        ((name, sheets),) = by_tool.items()
        notes = notes_on(found.problems)
        if found.others:
            notes.append(f"{len(found.others)} files such as {found.others[0]} are not {name}'s.")
        return _make_tree(listing, tool_named(name), sheets, images, notes, exif), found.problems
    except LayoutError as error:
        if error.kind != UNUSABLE:
            raise
        return None, [error, *found.problems]


def _chosen_by_ending(by_tool: _SheetsByTool, mask_name: str) -> _SheetsByTool:
    """Returns the tools whose files the user's pattern of names means; all if it means none."""
    ending = posixpath.splitext(mask_name)[1].lower()
    chosen = {}
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
    per_image = [_shapes_of(name) for name in by_tool if _shapes_of(name).is_per_image]
    count_of_ending = collections.Counter(shapes.ending for shapes in per_image)
    alternatives = []
    for name, sheets in by_tool.items():
        option = choice_of(name, [*sheets])
        if count_of_ending[_shapes_of(name).ending] > 1 and common(*sheets):
            option = _choice_of_files([*sheets])
        alternatives.append(Alternative(f"{name}'s {min(sheets)}", option))
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
    return {"masks": files[0] if len(files) == 1 else common(*files) or files[0]}


def notes_on(problems: Sequence[VocSegError]) -> list[str]:
    """Returns notes about files of polygons that are not read, one for each kind of problem."""
    files_by_reason = collections.defaultdict(list)
    for problem in problems:
        files_by_reason[problem.found].append(posixpath.basename(problem.where))
    notes = []
    for reason, files in files_by_reason.items():
        if len(files) == 1:
            notes.append(f"{files[0]} is not read: {reason}.")
        else:
            notes.append(f"{files[0]} and {len(files) - 1} more files are not read: {reason}.")
    return notes


# Which files have shapes.


@dataclasses.dataclass(frozen=True)
class _FoundSheets:
    """What the files of a folder hold.

    Attributes:
      by_tool: the sheets of each tool's files, by their paths.
      problems: errors about files that are not read.
      others: files that no tool wrote.
    """

    by_tool: _SheetsByTool
    problems: list[VocSegError]
    others: list[str]


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


def _read_sheets(files: FolderFiles) -> _FoundSheets:
    """Reads the files that say themselves which tool wrote them."""
    found = _FoundSheets(collections.defaultdict(dict), [], [])
    names = [name for name in files.labels if _may_have_shapes(name)]
    class_lists = [tool.shapes.class_list for tool in SHAPE_TOOLS if tool.shapes]
    names_of_lists = {class_list.name for class_list in class_lists if class_list}
    read = functools.partial(_read_sheet, files)
    for name, of_file in ordered_map(read, names, ahead=1):
        if of_file.error:
            found.problems.append(of_file.error)
            if of_file.tool and _shapes_of(of_file.tool).is_per_image:
                found.by_tool[of_file.tool][name] = _damaged_sheet(name, of_file.error)
        elif of_file.sheet is None:
            is_table = name.lower().endswith(".csv")
            if not is_table and posixpath.basename(name) not in names_of_lists:
                found.others.append(name)
        else:
            found.by_tool[of_file.tool][name] = of_file.sheet
    for tool, sheets in found.by_tool.items():
        if _shapes_of(tool).is_per_image:
            _add_damaged_files(files, tool, sheets, found)
    return found


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


def _add_damaged_files(
    files: FolderFiles, tool: str, sheets: dict[str, Sheet], found: _FoundSheets
) -> None:
    """Adds files that are cut off before the words of their tool, and that have an image's name.

    The image of each lacks its mask, which stops a build.
    """
    ending = _shapes_of(tool).ending
    folders = {posixpath.dirname(path) for path in (*sheets, *files.images)}
    names_of_images = {*map(stem, files.images), *map(posixpath.basename, files.images)}
    for name in [*found.others]:
        is_of_image = stem(name) in names_of_images and posixpath.dirname(name) in folders
        if not is_of_image or not name.lower().endswith(ending):
            continue
        error = _error_of_json(files, name, tool)
        if error:
            found.problems.append(error)
            found.others.remove(name)
            sheets[name] = _damaged_sheet(name, error)


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


class _Source(NamedTuple):
    """A file of shapes, or a subset in it.

    Attributes:
      file: the file.
      subset: the subset; empty if the file has none.
    """

    file: str
    subset: str


@dataclasses.dataclass
class _MatchedShapes:
    """The shapes of the images in a folder.

    Attributes:
      files: of each image's path, the file that has its shapes.
      annotations: of each image's path, its shapes.
      embedded: paths of images that only the file of their shapes holds.
      lost: names of images that are not here.
      images_by_source: the images of each file, and of each subset in one.
    """

    files: dict[str, str] = dataclasses.field(default_factory=dict)
    annotations: dict[str, Annotation] = dataclasses.field(default_factory=dict)
    embedded: set[str] = dataclasses.field(default_factory=set)
    lost: list[str] = dataclasses.field(default_factory=list)
    images_by_source: dict[_Source, list[str]] = dataclasses.field(
        default_factory=lambda: collections.defaultdict(list)
    )


def _make_tree(
    listing: Listing,
    tool: Tool,
    sheets: Mapping[str, Sheet],
    images: Sequence[str],
    notes: list[str],
    exif: str,
) -> VocTree:
    assert tool.shapes
    finder = SheetImages(tool.name, tool.shapes, images, sheets)
    matched = _match_images(finder, sheets)
    if not matched.annotations:
        first_lost = min(matched.lost, default="")
        raise LayoutError(
            listing.root,
            found=f"{tool.name}'s {min(sheets)}, but no image {first_lost}".strip(),
            expected="the images beside their polygons",
            remedy="put the images into the folder, under the names in the file",
            kind=UNUSABLE,
        )
    top = common(*matched.annotations) or "."
    names = {path: posixpath.relpath(path, top) for path in matched.annotations}
    ids = {path: posixpath.splitext(name)[0] for path, name in names.items()}
    _check_unique(listing, ids)
    notes = [*notes, *_notes_on_lost(tool.name, matched.lost)]
    first_uses = _first_uses_of_labels(matched)
    classes = number_shape_classes(tool, sheets, first_uses, listing.root, listing.below())
    for sheet in sheets.values():
        notes += sheet.notes
    notes += classes.notes
    splits = list[LabelSplit]()
    if not tool.shapes.is_per_image:
        splits = _splits_of_files(matched.images_by_source, ids)
    labels = DrawnLabels(
        listing.root,
        Names({ids[path]: file for path, file in matched.files.items()}),
        images={ids[path]: name for path, name in names.items()},
        sheets={*sheets},
        splits=splits,
        class_file=classes.class_file,
        tool=tool.name,
        image_folder=listing.root / top,
        values=classes.values,
        shapes={ids[path]: annotation for path, annotation in matched.annotations.items()},
        embedded={ids[path] for path in matched.embedded},
        exif=exif,
    )
    ending = posixpath.splitext(next(iter(sheets)))[1]
    layout = Layout(top, ".", mask_name=f"{ID}{ending}")
    notes = [*dict.fromkeys([*notes, *finder.notes()])]
    return VocTree(listing.root, layout, listing, notes, labels)


def _first_uses_of_labels(matched: _MatchedShapes) -> dict[str, str]:
    """Returns where the first shape of each label stands: `a.json, shape 3 (crack)`."""
    first_uses: dict[str, str] = {}
    for path, annotation in matched.annotations.items():
        for shape in annotation.shapes:
            first_uses.setdefault(shape.label, f"{matched.files[path]}, {shape.place}")
    return first_uses


def _match_images(finder: SheetImages, sheets: Mapping[str, Sheet]) -> _MatchedShapes:
    """Finds the image of each annotation, and what is wrong if it has several."""
    matched = _MatchedShapes()
    for file, sheet in sheets.items():
        for annotation in sheet.annotations:
            path = finder.find(file, annotation)
            if path is None and annotation.embedded:
                ending = posixpath.splitext(annotation.image)[1] or ".jpg"
                path = posixpath.splitext(file)[0] + ending
                matched.embedded.add(path)
            if path is None:
                matched.lost.append(annotation.image or file)
                continue
            matched.images_by_source[_Source(file, annotation.subset)].append(path)
            if path in matched.annotations:
                error = _error_of_both(path, file, annotation, matched)
                annotation = dataclasses.replace(annotation, error=error)
            matched.files[path] = file
            matched.annotations[path] = annotation
    return matched


def _error_of_both(
    path: str, file: str, annotation: Annotation, matched: _MatchedShapes
) -> VocSegError | None:
    """Returns what is wrong with two annotations of one image; None if they are the same."""
    first_file = matched.files[path]
    first = matched.annotations[path]
    error = first.error or annotation.error
    if error:
        return error
    if [*map(_without_place, first.shapes)] == [*map(_without_place, annotation.shapes)]:
        return None
    expected = "one file for each image"
    if file == first_file:
        found = f"other shapes of {path} as {annotation.image} than as {first.image}"
        return wrong(file, found, expected)
    found = f"other shapes of {path} than {first_file}"
    return wrong(file, found, expected, f"name the file that is right: {command(masks=file)}")


def _without_place(shape: Shape) -> Shape:
    """Returns a shape without its place, at which the same one may stand in two files."""
    return shape._replace(place="")


def _notes_on_lost(tool: str, lost: Sequence[str]) -> list[str]:
    if not lost:
        return []
    images = f"{counted(len(lost), 'image')} {'is' if len(lost) == 1 else 'are'}"
    return [f"{images} in {tool}'s files and not here, such as {min(lost)}."]


def _splits_of_files(
    images_by_source: Mapping[_Source, Sequence[str]], ids: Mapping[str, str]
) -> list[LabelSplit]:
    """Returns the splits that several files say, or several subsets in files.

    A file of train and validation is none beside those of train or of validation. Images of no
    split are left to the step that chooses splits.
    """
    splits = []
    for source, images in images_by_source.items():
        split = _split_of_source(source)
        if split:
            image_ids = [ids[path] for path in images]
            splits.append(LabelSplit(split, source.file, source.subset, image_ids))
    if any(split.split in ("train", "validation") for split in splits):
        splits = [split for split in splits if split.split not in UNIONS]
    if len(images_by_source) == 1:
        return []
    return splits


def _split_of_source(source: _Source) -> str:
    """Returns the split that a subset is called as, or else a file or its folder; or nothing.

    A subset is a split whatever it is called.
    """
    if source.subset:
        return only_split_in(source.subset) or own_split_name(source.subset)
    folder, name = posixpath.split(source.file)
    split, _ = split_in(stem(name))
    if split:
        return split
    if list_splits_in(stem(name)):
        return ""  # two splits, of which nobody knows which image is of which
    for part in reversed(folder.split("/")):
        split_of_folder = only_split_in(part) or split_word(part)[1]
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
