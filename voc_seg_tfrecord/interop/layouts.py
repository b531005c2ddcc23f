"""The feature layouts of hand-written records in tutorials and code bases."""

from collections.abc import Collection, Mapping
import dataclasses
from typing import Any

NAMES = ("name", "filename", "image/filename", "file_name", "image_name")
"""Features that hold the name of a record's image."""


@dataclasses.dataclass(frozen=True)
class RecordLayout:
    """Which feature of a record holds what; an empty name means no feature.

    Attributes:
      image: raw pixels, an encoded file or a serialised tensor; the bytes show which.
      mask: the same, with one channel of class indices.
      height: in pixels; needed for raw pixels, if there is no `shape`.
      width: in pixels, the same.
      channels: number of channels; derived from the number of bytes if empty.
      shape: height, width and channels in one feature.
      size: height and width, or height, width and channels, of all images, if no feature
        holds them; empty if one does.
      filename: the image's name.
      label: class index of the complete image.
    """

    image: str
    mask: str = ""
    height: str = ""
    width: str = ""
    channels: str = ""
    shape: str = ""
    filename: str = ""
    label: str = ""
    size: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", tuple(self.size))  # plain data brings a list

    @property
    def keys(self) -> dict[str, str]:
        """The features that are named, by what they hold."""
        held = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return {what: key for what, key in held.items() if key and what != "size"}

    def of_size(self, size: tuple[int, ...]) -> "RecordLayout":
        """Returns this layout for records whose images all have one size, which none holds."""
        none = dict.fromkeys(("height", "width", "channels", "shape"), "")
        return dataclasses.replace(self, size=size, **none)


DEEPLAB = RecordLayout(
    "image/encoded",
    "image/segmentation/class/encoded",
    "image/height",
    "image/width",
    "image/channels",
    filename="image/filename",
)
"""Features of DeepLab's own converters."""

KNOWN = {
    "DeepLab": DEEPLAB,
    "raw with label_raw": RecordLayout("image_raw", "label_raw", "height", "width"),
    "raw with mask_raw": RecordLayout("image_raw", "mask_raw", "height", "width"),
    "raw with a label": RecordLayout("image_raw", "", "height", "width", label="label"),
    "tensor with a label": RecordLayout("raw_image", "", "height", "width", "depth", label="label"),
    "shape with a label": RecordLayout("data", "", shape="shape", label="label"),
    "shape with a label, image": RecordLayout("image", "", shape="shape", label="label"),
    "image with a label": RecordLayout("image", label="label"),
    "DeepLab without masks": dataclasses.replace(DEEPLAB, mask=""),
    "raw without a label": RecordLayout("image_raw", "", "height", "width"),
    "tensor without a label": RecordLayout("raw_image", "", "height", "width", "depth"),
    "shape without a label": RecordLayout("data", "", shape="shape"),
    "shape without a label, image": RecordLayout("image", "", shape="shape"),
    "image without a label": RecordLayout("image"),
}
"""Layouts by a readable name, in the order in which they are tried."""

_OPTIONAL = {"channels", "filename"}

# Features that say no more than an image's bytes do, and so may stand beside any layout.
_REDUNDANT = {"image/format", "format", "encoding", "depth", "channels", "height", "width"}
_REDUNDANT |= {"image/segmentation/class/format", "image/colorspace"}


def detect(
    record: Mapping[str, Any], size: tuple[int, ...] = ()
) -> tuple[str, RecordLayout] | None:
    """Finds the layout of records by the features of one of them.

    Records whose image has neither mask nor label may have no other feature: that could be the
    mask or the label under another name, and would be lost without a word. A label that is
    bytes is a mask.

    Args:
      record: the first record.
      size: height, width and channels of all images, if no feature holds them.

    Returns:
      The name and the layout; None if it is not known.
    """
    for name, known in KNOWN.items():
        layout = known.of_size(size) if size else known
        needed = {key for what, key in layout.keys.items() if what not in _OPTIONAL}
        if not needed <= set(record):
            continue
        allowed = needed | {*NAMES, *layout.keys.values()} | _REDUNDANT
        if layout.mask or layout.label or set(record) <= allowed:
            return name, _completed(layout, record)
    return None


def _completed(layout: RecordLayout, record: Mapping[str, Any]) -> RecordLayout:
    """Returns the layout with what this record holds beside the features that are needed."""
    more = {}
    if layout.filename not in record:
        more["filename"] = next((key for key in NAMES if key in record), "")
    unsized = not (layout.height or layout.shape or layout.size)
    if unsized and {"height", "width"} <= set(record):
        more |= {"height": "height", "width": "width"}
    values = record.get(layout.label, [])
    if layout.label and values and isinstance(values[0], bytes):
        more |= {"mask": layout.label, "label": ""}
    return dataclasses.replace(layout, **more)


def sizes_in(record: Mapping[str, Any]) -> list[str]:
    """Returns the features of a record by which known layouts hold sizes."""
    keys = {key for known in KNOWN.values() for key in (known.height, known.width, known.shape)}
    return sorted(keys & set(record))


def unused(layout: RecordLayout, keys: Collection[str]) -> list[str]:
    """Returns the features of a record that an import does not read."""
    return sorted(set(keys) - set(layout.keys.values()) - _REDUNDANT)
