"""Reads the annotation files of a folder, and chooses the labeling tool whose polygons count.

An *annotation file* holds the shapes of one image (labelme), or of many (COCO).
"""

import collections
from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
import json
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, VocSegError, counted
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.threads import MAX_GROUP_ITEMS, ordered_map
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.paths import common_folder_of_files, stem
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.tools.label_studio import refuse_json
from voc_seg_tfrecord.tools.registry import (
    CLASS_LIST_NAMES,
    NAMES_OF_SHAPE_TOOLS,
    SHAPE_TOOLS,
    shape_tool_named,
    tools_for_name,
)
from voc_seg_tfrecord.tools.shapes import (
    ADVICE_ON_BOXES,
    BOXES_ALONE,
    UNUSABLE,
    Annotation,
    AnnotationFile,
    Shape,
    as_written,
    shape_error,
)
from voc_seg_tfrecord.tools.tool import FolderFiles, ShapeTool
from voc_seg_tfrecord.tools.yolo import YOLO
from voc_seg_tfrecord.tools.yolo import read_folder as read_yolo

_MAX_NAMED_FILES = 4
"""How many annotation files an option names, at most, if it could name their folder."""

_READ_ALONE = tuple(ending for tool in SHAPE_TOOLS if tool.read for ending in tool.endings)
"""The endings of files that are read by themselves; a folder may have a million of other files."""


@dataclasses.dataclass(frozen=True)
class AnnotationFiles:
    """What the annotation files of a folder hold. It is filled while they are read.

    Attributes:
      by_tool: the files of each tool, by their paths.
      problems: errors about files that are not read.
      other_paths: files that are called as annotation files, and that no tool wrote.
      damaged: by the tools with many images in each file, the files that end too early.
    """

    by_tool: dict[ShapeTool, dict[str, AnnotationFile]] = dataclasses.field(default_factory=dict)
    problems: list[VocSegError] = dataclasses.field(default_factory=list)
    other_paths: list[str] = dataclasses.field(default_factory=list)
    damaged: dict[ShapeTool, list[str]] = dataclasses.field(default_factory=dict)


def read_files(files: FolderFiles) -> AnnotationFiles:
    """Reads the files of which each tells by its content which tool wrote it.

    A file of one image that cannot be read counts as one of its tool: the image lacks its mask.
    """
    found = AnnotationFiles()
    unread_paths: list[str] = []
    paths = [path for path in files.labels if path.lower().endswith(_READ_ALONE)]
    read = functools.partial(_read, files)
    for path, (tool, content) in ordered_map(read, paths, group_items=MAX_GROUP_ITEMS):
        if isinstance(content, MaskError):
            found.problems.append(content)
            unread_paths.append(path)
            content = _without_shapes(tool, path, content) if tool and tool.is_per_image else None
        elif content is None and not _is_table_or_class_list(path):
            found.other_paths.append(path)
        if tool and content:
            found.by_tool.setdefault(tool, {})[path] = content
    for tool in list(found.by_tool):
        if tool.is_per_image:
            _add_damaged_files(files, tool, found)
        else:
            possible = (*unread_paths, *found.other_paths)
            found.damaged[tool] = _find_damaged_files(files, tool, found.by_tool[tool], possible)
    _leave_out_files_with_faults(found)
    return found


def _read(
    files: FolderFiles, path: str
) -> tuple[ShapeTool | None, AnnotationFile | MaskError | None]:
    """Returns the tool that wrote a file, if it is known, and what the file holds."""
    tool = None
    try:
        file = files.read(path)
        for tool in tools_for_name(path):
            if tool.read and tool.wrote(path, file.data):
                return tool, tool.read(file)
    except MaskError as error:
        return tool, error
    return None, refuse_json(path, file.data, f"polygons of {NAMES_OF_SHAPE_TOOLS}")


def _without_shapes(tool: ShapeTool, path: str, error: VocSegError) -> AnnotationFile:
    """Returns the file of an image of which nothing is known but its name and the error."""
    image = posixpath.basename(tool.without_ending(path))
    return AnnotationFile([Annotation(path, image, None, error=error)])


def _is_table_or_class_list(path: str) -> bool:
    """Says whether a file that no tool wrote is a usual one beside shapes."""
    return path.lower().endswith(".csv") or posixpath.basename(path) in CLASS_LIST_NAMES


def _add_damaged_files(files: FolderFiles, tool: ShapeTool, found: AnnotationFiles) -> None:
    """Adds JSON that is cut off before the words of its tool, and that has an image's name."""
    files_of_tool = found.by_tool[tool]
    folders = {posixpath.dirname(path) for path in (*files_of_tool, *files.images)}
    names_of_images = {*map(stem, files.images), *map(posixpath.basename, files.images)}
    for path in list(found.other_paths):
        image = posixpath.basename(tool.without_ending(path))
        if image not in names_of_images or posixpath.dirname(path) not in folders:
            continue
        error = _damage_of(files, tool, path)
        if error is not None:
            found.problems.append(error)
            found.other_paths.remove(path)
            files_of_tool[path] = _without_shapes(tool, path, error)


def _find_damaged_files(
    files: FolderFiles, tool: ShapeTool, paths_of_tool: Collection[str], possible: Iterable[str]
) -> list[str]:
    """Returns JSON that ends too early and may be a tool's, which has many images in each file.

    It lies beside a file of the tool, or is called as one.

    Args:
      files: the files of the folder.
      tool: the tool.
      paths_of_tool: the files of the tool that were read.
      possible: the files of which nothing was read.
    """
    folders = {posixpath.dirname(path) for path in paths_of_tool}
    names = {posixpath.basename(path) for path in paths_of_tool}
    damaged = []
    for path in possible:
        folder, name = posixpath.split(path)
        may_be_of_tool = folder in folders or name in names
        if may_be_of_tool and _damage_of(files, tool, path) is not None:
            damaged.append(path)
    return damaged


def _damage_of(files: FolderFiles, tool: ShapeTool, path: str) -> MaskError | None:
    """Returns what is wrong with JSON that is called as a tool's and ends too early; None if not.

    An empty file is not damaged.
    """
    if not tool.ending_of(path).endswith(".json"):
        return None
    try:
        file = files.read(path)
        with as_written(file.where, f"{tool.name}'s JSON, to its end"):
            json.loads(file.data.decode("utf-8-sig").strip() or "{}")
    except MaskError as error:
        return error
    return None


def _leave_out_files_with_faults(found: AnnotationFiles) -> None:
    """Leaves out files with a `fault_beside_others`, if their tool has files without such a fault.

    COCO's files of keypoints have the outlines of persons, too. They are not read if
    `instances_val.json`, which has all objects, lies beside `person_keypoints_val.json`.
    """
    for files_of_tool in found.by_tool.values():
        if all(file.fault_beside_others for file in files_of_tool.values()):
            continue
        for path, file in list(files_of_tool.items()):
            if file.fault_beside_others:
                del files_of_tool[path]
                expected = "polygons or masks of objects"
                found.problems.append(shape_error(path, file.fault_beside_others, expected))


def _leave_out_boxes(found: AnnotationFiles) -> None:
    """Leaves out the files of each tool in which no object has an outline: all are boxes or points.

    Boxes beside outlines are drawn, as their tools draw them.
    """
    for tool, files_of_tool in list(found.by_tool.items()):
        shapes: list[Shape] = []
        for file in files_of_tool.values():
            for annotation in file.annotations:
                shapes += annotation.shapes
        if shapes and all(shape.is_box or shape.kind == "point" for shape in shapes):
            del found.by_tool[tool]
            count = counted(len(shapes), "shape")
            words = f"{BOXES_ALONE}: {count} of {tool.name}, all boxes or points"
            where = min(files_of_tool)
            found.problems.append(shape_error(where, words, "masks or polygons", ADVICE_ON_BOXES))


@dataclasses.dataclass(frozen=True)
class ChosenFiles:
    """The annotation files of the one tool whose polygons are read.

    Attributes:
      tool: the tool.
      files: what its files hold, by their paths.
      notes: what a user should know of the files that are not read.
    """

    tool: ShapeTool
    files: Mapping[str, AnnotationFile]
    notes: Sequence[str]


def choose_tool(
    given: GivenLayout, files: FolderFiles, found: AnnotationFiles
) -> ChosenFiles | None:
    """Chooses the one tool that has polygons in a folder; None if none has any.

    YOLO's files do not say what they are, so they are added here, where errors about them count.

    Raises:
      QuestionError: if several tools have some.
      LayoutError: of the kind `UNUSABLE` if the user gave names to folders of images or polygons,
        about a file that ends too early, or about YOLO's files.
    """
    files_of_yolo = read_yolo(files)
    if files_of_yolo:
        found.by_tool[YOLO] = files_of_yolo
    _leave_out_boxes(found)
    by_tool = found.by_tool
    mask_name = given.options.get("mask_name", "")
    fitting = [tool for tool in by_tool if tool.is_per_image and tool.ending_of(mask_name)]
    if fitting:
        longest = max(len(tool.ending_of(mask_name)) for tool in fitting)
        by_tool = {t: by_tool[t] for t in fitting if len(t.ending_of(mask_name)) == longest}
    if not by_tool:
        return None
    if len(by_tool) > 1:
        raise _which_tool(given, by_tool)
    ((tool, files_of_tool),) = by_tool.items()
    if found.damaged.get(tool):
        raise _damaged_error(given, found.damaged[tool][0], tool, [*files_of_tool])
    _check_folders_have_no_names(given, tool.name, files_of_tool)
    notes = notes_on(found.problems)
    if len(found.other_paths) == 1:
        notes.append(f"{found.other_paths[0]} is not {tool.name}'s.")
    elif found.other_paths:
        others = counted(len(found.other_paths), "file")
        notes.append(f"{others} such as {found.other_paths[0]} are not {tool.name}'s.")
    return ChosenFiles(tool, files_of_tool, notes)


def _which_tool(
    given: GivenLayout, by_tool: Mapping[ShapeTool, Mapping[str, AnnotationFile]]
) -> QuestionError:
    """Returns the question which tool's polygons are meant."""
    endings = collections.Counter(tool.endings[0] for tool in by_tool if tool.is_per_image)
    alternatives: list[Alternative] = []
    for tool, files_of_tool in by_tool.items():
        paths = list(files_of_tool)
        shares_ending = endings[tool.endings[0]] > 1
        options = options_for_tool(tool.name, paths, shares_ending=shares_ending)
        alternatives.append(Alternative(f"{tool.name}'s {min(paths)}", options))
    return QuestionError(
        given.listing.root,
        alternatives,
        facts=["polygons of several tools"],
        task="read the labels",
        expected="polygons of one tool, or a folder of masks that --masks names",
        kind="polygons of several tools",
    )


def _damaged_error(
    given: GivenLayout, damaged: str, tool: ShapeTool, others: Sequence[str]
) -> LayoutError:
    """Returns the error about a file that ends too early, with the option that leaves it out."""
    without_it = command(masks=",".join(others))
    return LayoutError(
        given.listing.root / damaged,
        found="JSON that ends too early",
        expected=f"{tool.name}'s JSON, to its end",
        remedy="copy the file again from where it comes from; or leave it and its images out with "
        f"{without_it}",
        kind=UNUSABLE,
    )


def options_for_tool(
    tool_name: str, paths: Sequence[str], *, shares_ending: bool = False
) -> dict[str, str]:
    """Returns the option that chooses the polygons of a tool.

    | the tool's files                | option                                               |
    |---------------------------------|------------------------------------------------------|
    | one for each image              | their ending: `--mask_name {id}.json`                |
    | the same, with a shared ending  | their folder; the ending, if the root is that folder |
    | few for many images             | the files: `--masks train.json,val.json`             |
    | more of them                    | their folder; the files, if the root is that folder  |

    Args:
      tool_name: the tool.
      paths: its files.
      shares_ending: whether files of another tool, one for each image, have the same ending.
    """
    tool = shape_tool_named(tool_name)
    folder = common_folder_of_files(*paths)
    if tool.is_per_image:
        if shares_ending and folder:
            return {"masks": folder}
        return {"mask_name": f"{ID}{tool.endings[0]}"}
    if folder and len(paths) > _MAX_NAMED_FILES:
        return {"masks": folder}
    return {"masks": ",".join(paths)}


def _check_folders_have_no_names(given: GivenLayout, tool: str, paths: Iterable[str]) -> None:
    """Checks that the user gave folders alone: polygons are not read in parts such as `train=a`."""
    for option, folders in (("images", given.image_folders), ("masks", given.named_labels)):
        named = [folder.item for folder in folders if folder.part]
        if not named:
            continue
        paths_of_folders = ",".join(folder.path or "." for folder in folders)
        raise LayoutError(
            given.listing.root / min(paths),
            found=f"{tool}'s polygons, and a name for a folder of {option}, {named[0]}",
            expected="folders without names: polygons are one set, and their files or lists divide "
            "it",
            remedy=f"give {command(**{option: paths_of_folders})}",
            kind=UNUSABLE,
        )


def notes_on(problems: Iterable[VocSegError]) -> list[str]:
    """Returns notes about annotation files that are not read, one for each kind of problem."""
    files_by_reason: dict[str, list[str]] = collections.defaultdict(list)
    for problem in problems:
        files_by_reason[problem.found].append(posixpath.basename(problem.where))
    notes: list[str] = []
    for reason, (first, *others) in files_by_reason.items():
        if others:
            more_files = counted(len(others), "more file")
            notes.append(f"{first} and {more_files} are not read: {reason}.")
        else:
            notes.append(f"{first} is not read: {reason}.")
    return notes
