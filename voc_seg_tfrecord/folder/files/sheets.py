"""Reads the files of shapes in a folder, each by the tool that wrote it."""

import collections
import dataclasses
import functools
import json
import posixpath
import re

from voc_seg_tfrecord.core.errors import MaskError, VocSegError, counted, join_names
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS, TOOLS, tool_named
from voc_seg_tfrecord.tools.shapes import (
    ADVICE_ON_BOXES,
    BOXES_ALONE,
    Annotation,
    Shape,
    Sheet,
    as_written,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import FolderFiles, ShapeFiles

SheetsByTool = dict[str, dict[str, Sheet]]
"""What files hold, by the name of their tool and their paths."""


@dataclasses.dataclass(frozen=True)
class SheetsOfFolder:
    """What the files of a folder hold. It is filled while they are read.

    Attributes:
      by_tool: the sheets of each tool's files, by their paths.
      problems: errors about files that are not read.
      other_files: files that no tool wrote.
    """

    by_tool: SheetsByTool = dataclasses.field(default_factory=lambda: collections.defaultdict(dict))
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


def read_sheets(files: FolderFiles) -> SheetsOfFolder:
    """Reads the files of which each tells by its content which tool wrote it."""
    sheets = SheetsOfFolder()
    names = [name for name in files.labels if _may_have_shapes(name)]
    read = functools.partial(_read_sheet, files)
    for name, file in ordered_map(read, names, ahead=1):
        if file.error:
            sheets.problems.append(file.error)
            if file.tool and shapes_of(file.tool).is_per_image:
                sheets.by_tool[file.tool][name] = _damaged_sheet(name, file.error)
        elif file.sheet is not None:
            sheets.by_tool[file.tool][name] = file.sheet
        elif not _is_table_or_class_list(name):
            sheets.other_files.append(name)
    for tool in list(sheets.by_tool):
        if shapes_of(tool).is_per_image:
            _add_damaged_files(files, tool, sheets)
    _leave_out_files_with_faults(sheets)
    return sheets


def _leave_out_files_with_faults(sheets: SheetsOfFolder) -> None:
    """Leaves out files with a `fault_beside_others`, if their tool has files without such a fault.

    COCO's files of keypoints have the outlines of persons, too. They are not read if
    `instances_val.json`, which has all objects, lies beside `person_keypoints_val.json`.
    """
    for sheets_of_tool in sheets.by_tool.values():
        faults = {}
        for name, sheet in sheets_of_tool.items():
            if sheet.fault_beside_others:
                faults[name] = sheet.fault_beside_others
        if len(faults) == len(sheets_of_tool):
            continue
        for name, fault in faults.items():
            del sheets_of_tool[name]
            sheets.problems.append(shape_error(name, fault, "polygons or masks of objects"))


def _is_table_or_class_list(name: str) -> bool:
    """Says whether a file that no tool wrote is a usual one beside shapes."""
    class_lists = [tool.shapes.class_list for tool in SHAPE_TOOLS if tool.shapes]
    names_of_class_lists = {class_list.name for class_list in class_lists if class_list}
    is_table = name.lower().endswith(".csv")
    return is_table or posixpath.basename(name) in names_of_class_lists


def _may_have_shapes(name: str) -> bool:
    return name.lower().endswith(_endings_of_shapes())


@functools.cache
def _endings_of_shapes() -> tuple[str, ...]:
    """Returns the endings of all tools' files; a folder may have a million of other files."""
    endings: list[str] = []
    for tool in SHAPE_TOOLS:
        if tool.shapes:
            endings += tool.shapes.endings_read_alone
    return tuple(endings)


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
                return _FileOfTool(error=shape_error(name, refused.found, expected, refused.advice))
    return _FileOfTool()


def _names_of_shape_tools() -> str:
    return join_names([tool.name for tool in SHAPE_TOOLS], "or")


def _add_damaged_files(files: FolderFiles, tool: str, sheets: SheetsOfFolder) -> None:
    """Adds files that are cut off before the words of their tool, and that have an image's name.

    The image of each lacks its mask, which stops a build.
    """
    sheets_of_tool = sheets.by_tool[tool]
    ending = shapes_of(tool).ending
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


def add_sheets_of_folders(files: FolderFiles, sheets: SheetsOfFolder) -> None:
    """Adds the files of tools that are known by their folder alone.

    Raises:
      LayoutError: of the kind `UNUSABLE` about files that cannot be used, or about wrong ones.
    """
    for tool in SHAPE_TOOLS:
        if tool.shapes and tool.shapes.read_folder:
            sheets_of_tool = tool.shapes.read_folder(files)
            if sheets_of_tool:
                sheets.by_tool[tool.name] = sheets_of_tool


def leave_out_boxes(sheets: SheetsOfFolder) -> None:
    """Leaves out the files of each tool in which no object has an outline: all are boxes or points.

    Boxes beside outlines are drawn, as their tools draw them.
    """
    for tool, sheets_of_tool in list(sheets.by_tool.items()):
        shapes: list[Shape] = []
        for sheet in sheets_of_tool.values():
            for annotation in sheet.annotations:
                shapes += annotation.shapes
        has_outline = any(not shape.is_box and shape.kind != "point" for shape in shapes)
        if shapes and not has_outline:
            del sheets.by_tool[tool]
            found = f"{BOXES_ALONE}: {counted(len(shapes), 'shape')} of {tool}, all boxes or points"
            where = min(sheets_of_tool)
            sheets.problems.append(shape_error(where, found, "masks or polygons", ADVICE_ON_BOXES))


def shapes_of(tool: str) -> ShapeFiles:
    """Returns how a tool that writes shapes calls and writes its files."""
    shapes = tool_named(tool).shapes
    assert shapes
    return shapes
