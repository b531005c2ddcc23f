"""The layouts of hand-written records: which feature holds what."""

from collections.abc import Collection, Mapping
import dataclasses
import re
from typing import Any

from voc_seg_tfrecord.core.file import IMAGE_KINDS, kind_of

NAMES = ("name", "filename", "image/filename", "file_name", "image_name")
"""Features that hold the name of a record's image."""


@dataclasses.dataclass(frozen=True)
class RecordLayout:
    """Which feature of a record holds what; an empty name means no feature.

    Attributes:
      image: raw pixels, an encoded file or a serialized tensor; the bytes show which.
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
        key_by_field = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        del key_by_field["size"]  # it is no feature
        return {field: key for field, key in key_by_field.items() if key}


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

_OPTIONAL_FIELDS = {"channels", "filename"}
"""Fields of a layout whose features a record may lack."""

_REDUNDANT_FEATURES = {
    "image/format",
    "format",
    "encoding",
    "depth",
    "channels",
    "height",
    "width",
    "image/segmentation/class/format",
    "image/colorspace",
}
"""Features that say no more than an image's bytes do, and so may stand beside any layout."""

_MASK_NAME = re.compile(r"(?:^|[/_])(?:mask|label|seg|segmentation|annotation|gt)s?(?:[/_]|$)")
"""The name of a feature that may be a mask: `mask`, `image/labels`, `seg_map`."""


def detect(
    record: Mapping[str, Any], size: tuple[int, ...] = ()
) -> tuple[str, RecordLayout] | None:
    """Finds the layout of records by the features of one of them.

    Records whose image has neither mask nor label may have no other feature: that could be the
    mask or the label under another name, and would be lost silently. A label that is
    bytes is a mask.

    Args:
      record: the first record.
      size: height, width and channels of all images, if no feature holds them.

    Returns:
      The name and the layout; None if it is not known.
    """
    for name, known in KNOWN.items():
        layout = _with_given_size(known, size) if size else known
        if _fits(layout, record):
            return name, _completed(layout, record)
    return None


def _with_given_size(layout: RecordLayout, size: tuple[int, ...]) -> RecordLayout:
    """Returns a layout of records in which no feature holds the size."""
    return dataclasses.replace(layout, size=size, height="", width="", channels="", shape="")


def _fits(layout: RecordLayout, record: Mapping[str, Any]) -> bool:
    """Says whether a record has the features of a layout; see `detect`."""
    needed = {key for field, key in layout.keys.items() if field not in _OPTIONAL_FIELDS}
    if not needed <= set(record):
        return False
    if layout.mask or layout.label:
        return True
    allowed = {*layout.keys.values(), *NAMES, *_REDUNDANT_FEATURES}
    return set(record) <= allowed


def _completed(layout: RecordLayout, record: Mapping[str, Any]) -> RecordLayout:
    """Returns the layout with what this record holds beside the features that are needed."""
    fields: dict[str, Any] = {}
    if layout.filename not in record:
        fields["filename"] = next((key for key in NAMES if key in record), "")
    has_no_size = not (layout.height or layout.shape or layout.size)
    if has_no_size and {"height", "width"} <= set(record):
        fields |= {"height": "height", "width": "width"}
    labels = record.get(layout.label, [])
    is_label_a_mask = layout.label != "" and len(labels) > 0 and isinstance(labels[0], bytes)
    if is_label_a_mask:
        fields |= {"mask": layout.label, "label": ""}
    return dataclasses.replace(layout, **fields)


def other_masks(layout: RecordLayout, record: Mapping[str, Any]) -> list[str]:
    """Returns the features beside a layout's mask that may be the mask as well.

    Such a feature is named like a mask, and holds an image file or as many bytes as the mask.
    """
    if not layout.mask:
        return []
    masks = record[layout.mask]
    mask = masks[0] if masks else b""
    others = []
    for key, values in record.items():
        is_known = key in layout.keys.values() or key in _REDUNDANT_FEATURES
        if is_known or not _MASK_NAME.search(key):
            continue
        if len(values) != 1 or not isinstance(values[0], bytes):
            continue
        if len(values[0]) == len(mask) or kind_of(values[0]) in IMAGE_KINDS:
            others.append(key)
    return sorted(others)


def sizes_in(record: Mapping[str, Any]) -> list[str]:
    """Returns the features of a record by which known layouts hold sizes."""
    keys = set[str]()
    for layout in KNOWN.values():
        keys |= {layout.height, layout.width, layout.shape}
    return sorted(keys & set(record))


def unused(layout: RecordLayout, keys: Collection[str]) -> list[str]:
    """Returns the features of a record that an import does not read."""
    return sorted(set(keys) - set(layout.keys.values()) - _REDUNDANT_FEATURES)
