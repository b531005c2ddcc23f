"""Which feature of hand-written records holds what: as the user says, or as tutorials write."""

from collections.abc import Collection, Iterator, Mapping, Sequence
import dataclasses
import re
from typing import Any

from voc_seg_tfrecord.core.errors import ConfigError, RecordError, did_you_mean
from voc_seg_tfrecord.core.names import LABELS, MASK
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.sources.records import features
from voc_seg_tfrecord.sources.records.features import Record, RecordLayout

NAMES = ("name", "filename", "image/filename", "file_name", "image_name")
"""Features that hold the name of a record's image."""

_LAYOUT_AS_GIVEN = "as given"
"""The name of a layout that the user gave with `--keys`."""

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
    label there may be others; `list_possible_masks` looks for masks among them.

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


def find_layout(
    record: Record, keys: Mapping[str, str] | None, size: tuple[int, ...], where: str
) -> tuple[str, RecordLayout]:
    """Returns the name of the layout of records, and the layout; see `scan_records`.

    Args:
      record: the first record.
      keys: which feature holds what, if the user gave it.
      size: the size of all images, if the user gave it.
      where: the record, for errors.
    """
    if keys:
        layout = _layout_as_given(keys, size)
        _check_keys_of_size(keys, record)
        return _LAYOUT_AS_GIVEN, layout
    _check_size_is_needed(size, sizes_in(record))
    return _detect_layout(record, size, where)


def _layout_as_given(keys: Mapping[str, str], size: tuple[int, ...]) -> RecordLayout:
    """Returns the layout that the user gave with `--keys`.

    Raises:
      ConfigError: if no key names the image, or one is for nothing that a layout has.
    """
    expected = f"image=KEY and others of {', '.join(sorted(FIELDS))}"
    for field in keys:
        if field not in FIELDS:
            found = f"unknown role {field!r}{_suggest_field(field)}"
            raise ConfigError("--keys", found=found, expected=expected)
    if "image" not in keys:
        found = ", ".join(f"{field}={key}" for field, key in keys.items())
        raise ConfigError(
            "--keys",
            found=f"the image is missing: {found}",
            expected=expected,
            remedy="name the feature that holds the image",
        )
    if "mask" in keys and "label" in keys:
        raise ConfigError(
            "--keys",
            found=f"a mask ({keys['mask']}) and a label of the image ({keys['label']})",
            expected="one of them: a dataset is for segmentation or for classification",
            remedy="leave out the other key",
        )
    keys_of_sizes = [keys[field] for field in ("height", "width", "shape") if field in keys]
    _check_size_is_needed(size, keys_of_sizes)
    return RecordLayout(**keys, size=size)


def _check_keys_of_size(keys: Mapping[str, str], record: Record) -> None:
    """Checks that each key about the size of images does something.

    Raises:
      ConfigError: about the first that does nothing.
    """
    found = ""
    fields_in_shape = [field for field in ("height", "width", "channels") if field in keys]
    if "shape" in keys and fields_in_shape:
        found = f"{' and '.join(fields_in_shape)} beside shape, which has them"
    elif ("height" in keys) != ("width" in keys):
        found = "one of height and width"
    elif "channels" in keys and "height" not in keys:
        found = "channels without height and width"
    elif "channels" in keys and keys["channels"] not in record:
        found = f"channels={keys['channels']}, a feature that the first record does not have"
    if found:
        raise ConfigError(
            "--keys",
            found=found,
            expected="height and width, with channels if a feature has them; or shape alone",
            remedy="name the features of the size in one of these ways, or leave them out",
        )


def _suggest_field(name: str) -> str:
    """Returns `; did you mean 'filename'?`; empty if no field is called alike."""
    if name in FIELD_BY_OTHER_NAME:
        return f"; did you mean {FIELD_BY_OTHER_NAME[name]!r}?"
    return did_you_mean(name, FIELDS)


def _check_size_is_needed(size: tuple[int, ...], keys_of_sizes: Sequence[str]) -> None:
    """Checks that the user gave a size only for records that hold none.

    Raises:
      ConfigError: if features hold sizes, too.
    """
    if size and keys_of_sizes:
        raise ConfigError(
            "--shape",
            found=f"a size, although the records have their sizes in {', '.join(keys_of_sizes)}",
            expected="--shape only for records without sizes",
            remedy="leave --shape out, or say with --keys which features hold what",
        )


def _detect_layout(record: Record, size: tuple[int, ...], where: str) -> tuple[str, RecordLayout]:
    """Returns the name of the known layout that a record has, and the layout.

    Raises:
      RecordError: if it has none, or several features may be the mask.
    """
    detected = detect(record, size)
    if detected is None:
        raise RecordError(
            where,
            found=f"features {', '.join(sorted(record))}, which match no known layout",
            expected="those of a known layout, such as image_raw, mask_raw, height, width",
            remedy=features.ADVICE_ON_KEYS,
        )
    _, layout = detected
    _check_one_mask(record, layout, where)
    return detected


_MASK_NAME = re.compile(r"mask|label|seg|annot|truth|target|(?<![a-z])gts?(?![a-z])", re.IGNORECASE)
"""The name of a feature that may be a mask: `Mask1`, `image/labels`, `segmap`, `im_gt`.

The features are read before anybody is asked, so a name of something else does no harm."""


def _check_one_mask(record: Record, layout: RecordLayout, where: str) -> None:
    """Checks that a record with a mask or a label has no other feature that may be the mask.

    Args:
      record: the first record.
      layout: the layout that was detected.
      where: the record, for errors.

    Raises:
      RecordError: if it has one; the error says how to choose.
    """
    others = list_possible_masks(record, layout)
    if not others:
        return
    if layout.mask:
        masks = (layout.mask, *others)
        raise RecordError(
            where,
            found=f"{len(masks)} features that may be the mask: {', '.join(masks)}",
            expected="one mask",
            remedy=_advise_choice(_with_each_mask(layout, masks)),
        )
    raise RecordError(
        where,
        found=f"the label {layout.label}, and features that may be a mask: {', '.join(others)}",
        expected="a label or a mask",
        remedy=_advise_choice([layout, *_with_each_mask(layout, others)]),
    )


def list_possible_masks(record: Record, layout: RecordLayout) -> list[str]:
    """Returns the features beside those of a layout that may be the mask, sorted.

    Such a feature is named like a mask, and can be read as one.
    """
    if not layout.mask and not layout.label:
        return []  # then a record has no other features
    keys = []
    for key in unused(layout, record):
        is_named_like_mask = _MASK_NAME.search(key) is not None
        if is_named_like_mask and _is_mask(record, layout, key):
            keys.append(key)
    return keys


def _is_mask(record: Record, layout: RecordLayout, key: str) -> bool:
    """Says whether a feature can be read as a mask of the image's size."""
    try:
        features.read_mask(record, dataclasses.replace(layout, mask=key), "")
    except RecordError:
        return False
    return True


def _with_each_mask(layout: RecordLayout, masks: Sequence[str]) -> list[RecordLayout]:
    """Returns a layout for each mask, without a label."""
    return [dataclasses.replace(layout, mask=mask, label="") for mask in masks]


def _advise_choice(choices: Sequence[RecordLayout]) -> str:
    """Returns the option that chooses each of several layouts."""
    options = [_option_keys(layout.keys) for layout in choices]
    return "choose it: " + "; or ".join(options)


def _option_keys(keys: Mapping[str, str]) -> str:
    """Returns the option that says which feature holds what."""
    return command(keys=",".join(f"{field}={key}" for field, key in keys.items()))
