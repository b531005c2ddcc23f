"""All labeling tools, in the order of the guides' tables; and what they know together."""

from collections.abc import Mapping, Sequence

from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.tools.ade20k import ADE20K
from voc_seg_tfrecord.tools.by_hand import BY_HAND
from voc_seg_tfrecord.tools.camvid import CAMVID
from voc_seg_tfrecord.tools.cityscapes import CITYSCAPES
from voc_seg_tfrecord.tools.class_file import ClassFileFormat
from voc_seg_tfrecord.tools.coco import COCO
from voc_seg_tfrecord.tools.cvat import CVAT
from voc_seg_tfrecord.tools.datumaro import DATUMARO
from voc_seg_tfrecord.tools.flat_folder import FLAT_FOLDER
from voc_seg_tfrecord.tools.folder_per_image import FOLDER_PER_IMAGE
from voc_seg_tfrecord.tools.label_studio import LABEL_STUDIO
from voc_seg_tfrecord.tools.labelme import LABELME
from voc_seg_tfrecord.tools.labelme2voc import LABELME2VOC
from voc_seg_tfrecord.tools.labelme_json_to_dataset import LABELME_JSON_TO_DATASET
from voc_seg_tfrecord.tools.makesense import MAKESENSE
from voc_seg_tfrecord.tools.mmsegmentation import MMSEGMENTATION
from voc_seg_tfrecord.tools.nnunet import NNUNET
from voc_seg_tfrecord.tools.plain_folders import PLAIN_FOLDERS
from voc_seg_tfrecord.tools.roboflow import ROBOFLOW
from voc_seg_tfrecord.tools.supervisely import SUPERVISELY
from voc_seg_tfrecord.tools.tool import Tool
from voc_seg_tfrecord.tools.trainaug import TRAINAUG
from voc_seg_tfrecord.tools.via import VIA
from voc_seg_tfrecord.tools.vott import VOTT
from voc_seg_tfrecord.tools.yolo import YOLO

TOOLS: tuple[Tool, ...] = (
    LABELME,
    COCO,
    YOLO,
    CVAT,
    DATUMARO,
    LABELME2VOC,
    LABELME_JSON_TO_DATASET,
    SUPERVISELY,
    ROBOFLOW,
    MMSEGMENTATION,
    TRAINAUG,
    NNUNET,
    VOTT,
    MAKESENSE,
    LABEL_STUDIO,
    VIA,
    ADE20K,
    CAMVID,
    CITYSCAPES,
    PLAIN_FOLDERS,
    FLAT_FOLDER,
    FOLDER_PER_IMAGE,
    BY_HAND,
)
"""Every tool; a new one is a module and a line here."""

SHAPE_TOOLS = tuple(tool for tool in TOOLS if tool.shapes)
"""Tools whose shapes are drawn to masks."""


def tool_named(name: str) -> Tool:
    """Returns the tool that messages call so.

    Raises:
      KeyError: if there is none.
    """
    return {tool.name: tool for tool in TOOLS}[name]


def _all_class_files() -> tuple[ClassFileFormat, ...]:
    by_name: dict[str, ClassFileFormat] = {}
    for tool in TOOLS:
        for file_format in tool.class_files:
            by_name.setdefault(file_format.name, file_format)
    return tuple(by_name.values())


CLASS_FILES = _all_class_files()
"""The class files of all tools, in the order in which they are looked for."""


def class_file_named(name: str) -> ClassFileFormat | None:
    """Returns the class file of a name; None if it is not the name of one."""
    return next((file_format for file_format in CLASS_FILES if file_format.name == name), None)


CLASS_FILE_NAMES = tuple(file_format.name for file_format in CLASS_FILES)

COMMON_CLASS_FILE_NAMES = tuple(
    file_format.name for file_format in CLASS_FILES if file_format.is_common
)
"""Names of class files that other programs' files have too."""

NAME_FILE_PATTERNS = tuple(
    pattern for tool in SHAPE_TOOLS if tool.shapes for pattern in tool.shapes.name_files
)
"""Patterns of the names of files that name the classes of shapes, beside the class files."""

CLASS_NAMES_BY_WORD: Mapping[str, Sequence[str]] = {
    "voc": VOC_CLASSES,
    **{tool.name.lower(): tool.class_names for tool in TOOLS if tool.class_names},
}
"""The class names of public sets, by the word that stands for them in `--class_names`."""
