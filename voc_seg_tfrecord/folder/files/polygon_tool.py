"""Chooses the one labeling tool whose polygons are read in a folder, or asks which one."""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, counted
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.paths import common_folder_of_files
from voc_seg_tfrecord.folder.files.sheets import SheetsByTool, SheetsOfFolder, shapes_of
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.tools.registry import tool_named
from voc_seg_tfrecord.tools.shapes import UNUSABLE, Sheet
from voc_seg_tfrecord.tools.tool import Tool

_MAX_NAMED_FILES = 4
"""How many files of polygons an option names, at most, if it could name their folder."""


@dataclasses.dataclass(frozen=True)
class ChosenSheets:
    """The files of the one tool whose polygons are read.

    Attributes:
      tool: the tool.
      sheets: what its files hold, by their paths.
      notes: what a user should know of the files that are not read.
    """

    tool: Tool
    sheets: Mapping[str, Sheet]
    notes: Sequence[str]


def choose_sheets(given: GivenLayout, sheets: SheetsOfFolder) -> ChosenSheets:
    """Chooses the one tool that has polygons in a folder.

    Raises:
      QuestionError: if several tools have some.
      LayoutError: of the kind `UNUSABLE` if the user gave names to folders of images or polygons.
    """
    by_tool = _chosen_by_ending(sheets.by_tool, given.options.get("mask_name", ""))
    if len(by_tool) > 1:
        raise _question_of_tools(given.listing, by_tool)
    tool_name = next(iter(by_tool))
    sheets_of_tool = by_tool[tool_name]
    _check_folders_have_no_names(given, tool_name, sheets_of_tool)
    notes = notes_on(sheets.problems)
    notes += _notes_on_other_files(tool_name, sheets.other_files)
    return ChosenSheets(tool_named(tool_name), sheets_of_tool, notes)


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
        shares_ending = count_of_ending[shapes_of(name).ending] > 1
        options = options_for_tool(name, files, shares_ending=shares_ending)
        alternatives.append(Alternative(f"{name}'s {min(files)}", options))
    return QuestionError(
        listing.root,
        alternatives,
        task="read the labels, by polygons of several tools",
        expected="polygons of one tool, or a folder of masks that --masks names",
        kind="polygons of several tools",
    )


def options_for_tool(
    tool: str, files: Sequence[str], *, shares_ending: bool = False
) -> dict[str, str]:
    """Returns the option that chooses the polygons of a tool.

    | the tool's files                | option                                               |
    |---------------------------------|------------------------------------------------------|
    | one for each image              | their ending: `--mask-name {id}.json`                |
    | the same, with a shared ending  | their folder; the ending, if the root is that folder |
    | few for many images             | the files: `--masks train.json,val.json`             |
    | more of them                    | their folder; the files, if the root is that folder  |

    Args:
      tool: the tool's name.
      files: the paths of its files.
      shares_ending: whether files of another tool, one for each image, have the same ending.
    """
    shapes = shapes_of(tool)
    folder = common_folder_of_files(*files)
    if shapes.is_per_image:
        if shares_ending and folder:
            return {"masks": folder}
        return {"mask_name": f"{ID}{shapes.ending}"}
    if folder and len(files) > _MAX_NAMED_FILES:
        return {"masks": folder}
    return {"masks": ",".join(files)}


def _check_folders_have_no_names(given: GivenLayout, tool: str, files: Iterable[str]) -> None:
    """Checks that the user gave folders alone: polygons are not read in parts such as `train=a`."""
    named_images = [folder for folder in given.image_folders if folder.part]
    named_labels = given.named_label_parts()
    if named_images:
        found = (
            f"{tool}'s polygons, and a name for a folder of their images, {named_images[0].item}"
        )
        remedy = command(images=",".join(folder.path or "." for folder in given.image_folders))
    elif named_labels:
        found = f"{tool}'s polygons, and a name for a folder of them, {named_labels[0].item}"
        remedy = command(masks=",".join(folder.path or "." for folder in named_labels))
    else:
        return
    raise LayoutError(
        given.listing.root / min(files),
        found=found,
        expected="folders without names: polygons are one set, and their files or lists divide it",
        remedy=f"give {remedy}",
        kind=UNUSABLE,
    )


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
            more_files = counted(len(files) - 1, "more file")
            notes.append(f"{files[0]} and {more_files} are not read: {reason}.")
    return notes


def _notes_on_other_files(tool: str, files: Sequence[str]) -> list[str]:
    """Returns a note on files that look like a tool's by their names, and that no tool wrote."""
    if not files:
        return []
    if len(files) == 1:
        return [f"{files[0]} is not {tool}'s."]
    return [f"{counted(len(files), 'file')} such as {files[0]} are not {tool}'s."]
