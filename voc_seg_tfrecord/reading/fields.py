"""Describes what a record holds of each feature, and refuses features that nobody here wrote.

TFDS imports the Python module that a feature's class names. So TFDS's message in `features.json` is
read here first, as data. `_ALLOWED_FEATURES` lists the classes of TFDS that may stand in it, with
bounds for each. Anything else is refused by name and never imported.

By the fields of a dataset `audit` checks records, exports read them, and `data_source` makes arrays
of them.
"""

from collections.abc import Iterator, Mapping
import dataclasses
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.names import IMAGE, IMAGE_SHAPE, IMAGE_VALUE, VOID, unprintable

FEATURES = "features.json"
"""The file of a built dataset that describes its features."""

_MAX_SIDE = 1 << 16
"""Pixels of a side, bands of an image, and classes of a feature that is no mask."""

_F = tfds.features


class ForeignError(Exception):
    """Something in the description of a dataset that this package does not write."""


def foreign_error(where: object, error: ForeignError) -> RecordError:
    """Returns the error for the file that has it."""
    return RecordError(
        where,
        found=str(error),
        expected="features that voc_seg_tfrecord writes, or plain features of TFDS",
        remedy="do not load this folder with TFDS, because it imports the modules that "
        f"{FEATURES} names; ask its maker for a dataset that this package built",
        kind="damaged dataset",
    )


@dataclasses.dataclass(frozen=True)
class Field:
    """What a record holds of one feature.

    Attributes:
      feature: the class of TFDS that describes it, such as `ClassLabel`.
      dtype: of its numbers; `string` of texts.
      shape: of one value, None for any size.
      sequence: the path of the sequence that it is in, of which a record has any number of values;
        empty if a record has one value.
      classes: how many classes there are; 0 if it is no class.
      values_per_record: how many values a record has, if they are in no sequence.
    """

    feature: type
    dtype: str
    shape: tuple[int | None, ...] = ()
    sequence: str = ""
    classes: int = 0
    values_per_record: int = 1

    def __str__(self) -> str:
        words = [self.feature.__name__]
        if self.sequence:
            words.insert(0, "Sequence of")
        if self.shape:
            words.append(f"of {self.shape[-1]}")
        return " ".join([*words, self.dtype])

    @property
    def is_image(self) -> bool:
        """Whether it is an image or a mask, whose bytes are one value."""
        return issubclass(self.feature, _F.Image)

    @property
    def values_per_item(self) -> int:
        """How many values each item of a sequence has: 4 of a box, else 1."""
        return 4 if self.feature is _F.BBoxFeature else 1

    @property
    def np_dtype(self) -> np.dtype[Any]:
        """The dtype of its values in a record, which are bytes for an image."""
        return np.dtype(object if self.is_image or self.dtype == "string" else self.dtype)


@dataclasses.dataclass(frozen=True)
class _FeatureBounds:
    """A class of TFDS that may describe a feature, and what it may say.

    Attributes:
      feature: the class.
      content: the part of TFDS's message that describes it.
      dtypes: that it may have; the first is the default, and empty for none.
      shapes: that it may have, -1 for any size; the first is the default.
      encodings: that it may have.
    """

    feature: type
    content: str
    dtypes: tuple[str, ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    encodings: tuple[str, ...] = ("",)


_GRAY, _RGB, _RGBA = (-1, -1, 1), (-1, -1, 3), (-1, -1, 4)
_IMAGE_ENCODINGS = ("", "jpeg", "png")
_NUMBERS = ("", "bool", "uint8", "uint16", "int32", "int64", "float32", "float64")

_ALLOWED_FEATURES = (
    _FeatureBounds(_F.FeaturesDict, "features_dict"),
    _FeatureBounds(_F.Sequence, "sequence"),
    _FeatureBounds(_F.Text, "text"),
    _FeatureBounds(_F.ClassLabel, "class_label"),
    _FeatureBounds(_F.Image, "image", ("uint8",), (_RGB, _GRAY), _IMAGE_ENCODINGS),
    _FeatureBounds(_F.LabeledImage, "image", ("uint8",), (_RGB, _GRAY), _IMAGE_ENCODINGS),
    _FeatureBounds(_F.Tensor, "tensor", _NUMBERS, ((),), ("", "none")),
    _FeatureBounds(_F.Scalar, "tensor", _NUMBERS, ((),), ("", "none")),
    _FeatureBounds(_F.BBoxFeature, "bounding_box", ("float32",), ((4,),)),
)
_BOUNDS_OF_BANDS = _FeatureBounds(
    _F.Image, "image", ("uint8", "uint16"), (_RGB, _GRAY, _RGBA), _IMAGE_ENCODINGS
)
"""The bounds of `image`, which alone may have 16 bits and four bands."""

_BAND_DTYPES = ("uint8", "uint16", "float32")
"""The dtypes of `image` if it is stored as an array."""


def _bounds_by_name() -> dict[str, _FeatureBounds]:
    """Returns the bounds of each class, by all names under which TFDS writes it."""
    by_name = {}
    for bounds in _ALLOWED_FEATURES:
        feature = bounds.feature
        names = [f"{feature.__module__}.{feature.__name__}"]
        names += feature.__dict__.get("ALIASES", ())
        by_name.update(dict.fromkeys(names, bounds))
    return by_name


_BOUNDS_BY_NAME: Mapping[str, _FeatureBounds] = _bounds_by_name()


def fields_of(features: tfds.features.FeaturesDict) -> dict[str, Field]:
    """Returns what a record holds of a dataset's features, by paths such as `objects/bbox`.

    Raises:
      RecordError: if a feature is none that this package reads.
    """
    try:
        return read_fields(features.to_proto())
    except ForeignError as error:
        raise foreign_error(epath.Path(FEATURES), error) from None


def read_fields(message: Any) -> dict[str, Field]:
    """Returns what a record holds of the features in TFDS's message, by their paths.

    Raises:
      ForeignError: if a feature is none that this package reads.
    """
    if _find_bounds(message).feature is not _F.FeaturesDict:
        raise ForeignError("features that are no FeaturesDict")
    fields: dict[str, Field] = {}
    for path, field in _read_feature("", message, ""):
        if path in fields:
            raise ForeignError("two features with one path")
        fields[path] = field
    return fields


def _find_bounds(message: Any) -> _FeatureBounds:
    name = message.python_class_name
    if name not in _BOUNDS_BY_NAME:
        raise ForeignError(f"a feature of the class {name!r:.80}")
    return _BOUNDS_BY_NAME[name]


def _read_feature(path: str, message: Any, sequence: str) -> Iterator[tuple[str, Field]]:
    """Yields path and field of a feature, or of each feature within it.

    Args:
      path: of the feature; empty of the features as a whole.
      message: TFDS's message of it.
      sequence: the path of the sequence that it is in; empty if it is in none.
    """
    bounds = _find_bounds(message)
    if message.WhichOneof("content") != bounds.content:
        raise ForeignError(f"the feature {path!r} has the content of another class")
    content = getattr(message, bounds.content)
    if bounds.feature is _F.Sequence:
        if content.length != -1 or sequence:
            raise ForeignError(f"the feature {path!r} is a sequence of a length, or in another one")
        yield from _read_feature(path, content.feature, path)
    elif bounds.feature is _F.FeaturesDict:
        is_root_or_item = path == sequence  # both are empty of the features as a whole
        if not is_root_or_item or not content.features:
            raise ForeignError(f"the feature {path!r} has no features, or is in no sequence")
        for name, child in content.features.items():
            if not name or unprintable(name):
                raise ForeignError(f"a feature with the name {name!r:.80}")
            yield from _read_feature(f"{path}/{name}" if path else name, child, sequence)
    elif path == IMAGE and bounds.feature is _F.Tensor:
        yield from _read_bands(content)
    else:
        yield path, _read_values(path, content, sequence, bounds)


def _read_values(path: str, content: Any, sequence: str, bounds: _FeatureBounds) -> Field:
    """Returns the field of a feature that has no features within it."""
    if bounds.feature is _F.Text:
        return Field(_F.Text, "string", sequence=sequence)
    if bounds.feature is _F.ClassLabel:
        return _read_class_label(path, content, sequence)
    if path == IMAGE and bounds.feature is _F.Image:
        bounds = _BOUNDS_OF_BANDS
    return _read_array(path, content, sequence, bounds)


def _read_class_label(path: str, content: Any, sequence: str) -> Field:
    if not 0 <= content.num_classes <= _MAX_SIDE:
        raise ForeignError(f"the feature {path!r} has {content.num_classes} classes")
    return Field(_F.ClassLabel, "int64", sequence=sequence, classes=content.num_classes)


def _read_bands(content: Any) -> Iterator[tuple[str, Field]]:
    """Yields the two fields of an image that is stored as an array: its shape and its values."""
    shape = list(content.shape.dimensions)
    if shape[:2] != [-1, -1] or len(shape) != 3 or not 0 < shape[2] <= _MAX_SIDE:
        raise ForeignError(f"the feature {IMAGE!r} has the shape {shape}")
    if content.encoding != "zlib" or content.dtype not in _BAND_DTYPES:
        raise ForeignError(f"the feature {IMAGE!r} is {content.dtype} {content.encoding}")
    yield IMAGE_SHAPE, Field(_F.Tensor, "int32", values_per_record=3)
    yield IMAGE_VALUE, Field(_F.Tensor, "string", (None, None, shape[2]))


def _read_array(path: str, content: Any, sequence: str, bounds: _FeatureBounds) -> Field:
    """Returns the field of an image, a mask, a number or a box, within its bounds."""
    is_image = issubclass(bounds.feature, _F.Image)
    shape = tuple(content.shape.dimensions) or bounds.shapes[0]
    dtype = content.dtype or bounds.dtypes[0]
    encoding = content.encoding_format if is_image else getattr(content, "encoding", "")
    is_allowed = (
        dtype in bounds.dtypes
        and dtype != ""
        and encoding in bounds.encodings
        and any(_fits(shape, allowed) for allowed in bounds.shapes)
        and not (is_image and sequence)
    )
    # A box is one of the values of an object: it is in a sequence, and is not the sequence itself.
    if bounds.feature is _F.BBoxFeature and sequence in ("", path):
        is_allowed = False
    if not is_allowed:
        where = " in a sequence" if sequence else ""
        raise ForeignError(
            f"the feature {path!r} has the shape {list(shape)}, the dtype {dtype!r:.40} and the "
            f"encoding {encoding!r:.40}{where}"
        )
    classes = 0
    if bounds.feature is _F.LabeledImage:
        classes = content.label.num_classes
        if not 1 <= classes <= VOID:
            raise ForeignError(f"the feature {path!r} has {classes} classes")
    feature = _F.Tensor if bounds.feature is _F.Scalar else bounds.feature
    sizes = tuple(None if side == -1 else side for side in shape)
    return Field(feature, dtype, sizes, sequence, classes)


def _fits(shape: tuple[int, ...], allowed: tuple[int, ...]) -> bool:
    """Whether a shape is the allowed one, in which -1 may be any side."""
    if len(shape) != len(allowed):
        return False
    for side, allowed_side in zip(shape, allowed, strict=True):
        is_any_side = allowed_side == -1 and (side == -1 or 0 < side <= _MAX_SIDE)
        if side != allowed_side and not is_any_side:
            return False
    return True
