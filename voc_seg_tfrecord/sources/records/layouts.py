"""The layouts of hand-written records: which feature holds what."""

from collections.abc import Collection, Iterator, Mapping
import dataclasses
from typing import Any

from voc_seg_tfrecord.core.names import LABELS, MASK

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

_WITH_LABELS = {
    "DeepLab": DEEPLAB,
    "raw with label_raw": RecordLayout("image_raw", "label_raw", "height", "width"),
    "raw with mask_raw": RecordLayout("image_raw", "mask_raw", "height", "width"),
    "raw with a label": RecordLayout("image_raw", "", "height", "width", label="label"),
    "tensor with a label": RecordLayout("raw_image", "", "height", "width", "depth", label="label"),
    "shape with a label": RecordLayout("data", "", shape="shape", label="label"),
    "shape with a label, image": RecordLayout("image", "", shape="shape", label="label"),
    "image with a label": RecordLayout("image", label="label"),
    "image with a mask": RecordLayout("image", "mask"),
}


def _without_labels() -> Iterator[tuple[str, RecordLayout]]:
    """Yields the same layouts of records that have neither mask nor label."""
    yield "DeepLab without masks", dataclasses.replace(DEEPLAB, mask="")
    for name, layout in _WITH_LABELS.items():
        if layout.label:
            unlabeled_name = name.replace("with a label", "without a label")
            yield unlabeled_name, dataclasses.replace(layout, label="")


KNOWN = _WITH_LABELS | dict(_without_labels())
"""Layouts by a readable name, in the order in which they are tried."""

FIELDS = tuple(field.name for field in dataclasses.fields(RecordLayout) if field.name != "size")
"""What a feature of a record may hold."""

FIELD_BY_OTHER_NAME = {
    "name": "filename",
    "file": "filename",
    "file_name": "filename",
    "id": "filename",
    "size": "shape",
    "segmentation": "mask",
    MASK: "mask",
    "masks": "mask",
    LABELS: "label",
    "class": "label",
    "depth": "channels",
}
"""What people call the fields of a layout."""

_OPTIONAL_FIELDS = {"channels", "filename"}
"""Fields of a layout whose features a record may lack."""

REDUNDANT_FEATURES = {
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


def detect(
    record: Mapping[str, Any], size: tuple[int, ...] = ()
) -> tuple[str, RecordLayout] | None:
    """Finds the layout of records by the features of one of them.

    A layout without mask and label matches only records that have no unknown feature: that could
    be the mask or the label under another name, and would be lost silently. Beside a mask or a
    label there may be others; `scan` looks for masks among them.

    Args:
      record: the first record.
      size: height, width and channels of all images, if no feature holds them.

    Returns:
      The name and the layout; None if it is not known.
    """
    for name, known in KNOWN.items():
        layout = _with_given_size(known, size) if size else known
        if _has_features(layout, record):
            layout = _with_name_key(layout, record)
            layout = _with_size_keys(layout, record)
            layout = _with_label_as_mask(layout, record)
            return name, layout
    return None


def _with_given_size(layout: RecordLayout, size: tuple[int, ...]) -> RecordLayout:
    """Returns a layout of records in which no feature holds the size."""
    return dataclasses.replace(layout, size=size, height="", width="", channels="", shape="")


def _has_features(layout: RecordLayout, record: Mapping[str, Any]) -> bool:
    """Says whether a record has the features of a layout; see `detect`."""
    for field, key in layout.keys.items():
        is_needed = field not in _OPTIONAL_FIELDS
        if is_needed and key not in record:
            return False
    if layout.mask or layout.label:
        return True
    unknown_keys = set(unused(layout, record)).difference(NAMES)
    return not unknown_keys


def _with_name_key(layout: RecordLayout, record: Mapping[str, Any]) -> RecordLayout:
    """Returns a layout with the feature that holds the name of a record's image, if one does."""
    if layout.filename in record:
        return layout
    keys = [key for key in NAMES if key in record]
    return dataclasses.replace(layout, filename=keys[0] if keys else "")


def _with_size_keys(layout: RecordLayout, record: Mapping[str, Any]) -> RecordLayout:
    """Returns a layout with the features `height` and `width`, if it needs them, and has none."""
    has_size = bool(layout.height or layout.shape or layout.size)
    if has_size or not {"height", "width"} <= set(record):
        return layout
    return dataclasses.replace(layout, height="height", width="width")


def _with_label_as_mask(layout: RecordLayout, record: Mapping[str, Any]) -> RecordLayout:
    """Returns a layout in which a label that is bytes is the mask."""
    labels = record.get(layout.label, []) if layout.label else []
    if not labels or not isinstance(labels[0], bytes):
        return layout
    return dataclasses.replace(layout, mask=layout.label, label="")


def sizes_in(record: Mapping[str, Any]) -> list[str]:
    """Returns the features of a record by which known layouts hold sizes."""
    keys = set[str]()
    for layout in KNOWN.values():
        keys |= {layout.height, layout.width, layout.shape}
    return sorted(keys & set(record))


def unused(layout: RecordLayout, keys: Collection[str]) -> list[str]:
    """Returns the features of a record that an import does not read."""
    return sorted(set(keys) - set(layout.keys.values()) - REDUNDANT_FEATURES)
