"""Label Studio: its JSON is not read, and its export of brushes is one mask per label."""

import re

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.tools.shapes import shape_error
from voc_seg_tfrecord.tools.tool import Explanation, FolderContent, Tool

_BRUSH_MASK = re.compile(r"task-\d+-annotation-\d+.*\.png$")
_SIZE_OF_IMAGE = re.compile(rb'"original_width"\s*:')


def refuse_json(name: str, data: bytes, expected: str) -> MaskError | None:
    """Returns the error about a file of Label Studio's JSON; None if it is another file.

    Args:
      name: the file's path.
      data: its bytes.
      expected: what is read in its place.
    """
    if not name.lower().endswith(".json") or not _SIZE_OF_IMAGE.search(data):
        return None
    advice = "export as COCO, and masks of brushes as PNG"
    return shape_error(name, "Label Studio's JSON", expected, advice)


def explain_brush_masks(content: FolderContent) -> Explanation | None:
    """Explains the export of brushes, which has one PNG of 0 and 255 per label."""
    masks = [name for name in content.names if _BRUSH_MASK.search(name)]
    if not masks:
        return None
    return Explanation(
        found="the brush export of Label Studio, which has one 0/255 PNG per label: "
        f"{len(masks)} files, the first is {masks[0]}",
        expected="one mask for each image, in which each pixel is a class",
        remedy="draw the labels of each image into one mask, with the value of their class and 0 "
        "for background; or export polygons as COCO",
    )


LABEL_STUDIO = Tool(name="Label Studio", explain_no_masks=explain_brush_masks)
