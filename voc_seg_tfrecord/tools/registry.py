"""All labeling tools, and what they know together."""

from voc_seg_tfrecord.core.errors import join_names
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.coco import COCO
from voc_seg_tfrecord.tools.cvat import CVAT
from voc_seg_tfrecord.tools.datumaro import DATUMARO
from voc_seg_tfrecord.tools.label_studio import LABEL_STUDIO
from voc_seg_tfrecord.tools.labelme import LABELME
from voc_seg_tfrecord.tools.layouts import LAYOUTS
from voc_seg_tfrecord.tools.nnunet import NNUNET
from voc_seg_tfrecord.tools.supervisely import SUPERVISELY
from voc_seg_tfrecord.tools.tool import ShapeTool, Tool
from voc_seg_tfrecord.tools.via import VIA
from voc_seg_tfrecord.tools.yolo import NAMES_OF_YAML, YOLO

SHAPE_TOOLS: tuple[ShapeTool, ...] = (LABELME, COCO, YOLO, CVAT, SUPERVISELY, VIA)
"""Tools whose shapes are drawn to masks. If a folder has files of two, the user is asked."""

TOOLS: tuple[Tool, ...] = (*SHAPE_TOOLS, DATUMARO, NNUNET, LABEL_STUDIO, *LAYOUTS)
"""Every tool. A new one is a module and a word here, or a row of `LAYOUTS`."""


def tools_for_name(name: str) -> list[ShapeTool]:
    """Returns the tools whose files are called so. The first one that wrote a file reads it.

    The longest ending comes first: `a.seg.json` is a file of the tool with the ending `.seg.json`
    before it is one of a tool with `.json`. Tools with one ending have the order of the table.

    Args:
      name: the name of a file, its path, or a pattern of names such as `{id}.json`.
    """
    tools = [tool for tool in SHAPE_TOOLS if tool.ending_of(name)]
    return sorted(tools, key=lambda tool: -len(tool.ending_of(name)))


def shape_tool_named(name: str) -> ShapeTool:
    """Returns the tool of a name whose shapes are drawn.

    Raises:
      KeyError: if there is none.
    """
    return {tool.name: tool for tool in SHAPE_TOOLS}[name]


NAMES_OF_SHAPE_TOOLS = join_names([tool.name for tool in SHAPE_TOOLS], "or")


def _all_class_files() -> dict[str, ClassFileFormat]:
    by_name: dict[str, ClassFileFormat] = {}
    for tool in TOOLS:
        for file_format in tool.class_files:
            by_name.setdefault(file_format.name, file_format)
    return by_name


_CLASS_FILE_BY_NAME = _all_class_files()

CLASS_FILES = tuple(_CLASS_FILE_BY_NAME.values())
"""The class files of all tools, in the order in which they are looked for."""


def class_file_named(name: str) -> ClassFileFormat | None:
    """Returns the class file of a name; None if it is not the name of one."""
    return _CLASS_FILE_BY_NAME.get(name)


CLASS_FILE_NAMES = tuple(_CLASS_FILE_BY_NAME)

COMMON_CLASS_FILE_NAMES = tuple(
    file_format.name for file_format in CLASS_FILES if file_format.is_common
)
"""Names of class files that other programs' files have too."""

CLASS_LIST_NAMES = {tool.class_list.name for tool in SHAPE_TOOLS if tool.class_list}
"""Names of files that number the classes of shapes."""

NAME_FILE_PATTERNS = (*CLASS_LIST_NAMES, *NAMES_OF_YAML)
"""Patterns of the names of files that name the classes of shapes, beside the class files."""
