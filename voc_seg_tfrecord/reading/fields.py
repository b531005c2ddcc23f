"""Describes what a record holds of each feature of a dataset.

`audit` checks records against the fields of their dataset, exports read records by them, and
`data_source` makes arrays by them.
"""

from collections.abc import Iterator
import dataclasses
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import RecordError
from voc_seg_tfrecord.core.names import IMAGE, IMAGE_SHAPE, IMAGE_VALUE

FEATURES = "features.json"
"""The file of a built dataset that describes its features."""

_F = tfds.features


@dataclasses.dataclass(frozen=True)
class Field:
    """What a record holds of one feature.

    Attributes:
      feature: the class of TFDS that describes it, such as `ClassLabel`.
      dtype: of its numbers; `string` of texts.
      shape: as TFDS has it: of a decoded image or mask, `(4,)` of a box, and `()` of a number, a
        class or a text. None stands for any size. That of `image/value` is the shape of its array.
      sequence: the path of the sequence that it is in, of which a record has any number of items;
        empty if it is in none.
      classes: how many classes there are; 0 if it is no class.
      values_per_record: how many values a record has outside of a sequence: 3 of `image/shape`,
        else 1.
    """

    feature: type
    dtype: str
    shape: tuple[int | None, ...] = ()
    sequence: str = ""
    classes: int = 0
    values_per_record: int = 1

    @property
    def is_image(self) -> bool:
        """Whether it is an image or a mask, whose bytes are one value."""
        return issubclass(self.feature, _F.Image)

    @property
    def values_per_item(self) -> int:
        """How many values a record has for each item of a sequence: 4 of a box, else 1."""
        return 4 if self.feature is _F.BBoxFeature else 1

    @property
    def np_dtype(self) -> np.dtype[Any]:
        """The dtype of its values in a record, which are bytes for an image."""
        return np.dtype(object if self.is_image or self.dtype == "string" else self.dtype)


def fields_of(features: tfds.features.FeaturesDict) -> dict[str, Field]:
    """Returns what a record holds of a dataset's features, by paths such as `objects/bbox`.

    Raises:
      RecordError: if a feature is an array of numbers, which this package does not read; or if two
        features have one path, as `bbox` in `objects` and a feature `objects/bbox`.
    """
    fields: dict[str, Field] = {}
    for path, field in _fields_below("", features, ""):
        if path in fields:
            raise _unreadable(path, "two features with this path")
        fields[path] = field
    return fields


def _fields_below(path: str, feature: Any, sequence: str) -> Iterator[tuple[str, Field]]:
    """Yields path and field of a feature, or of each feature within it.

    Args:
      path: of the feature; empty of the features as a whole.
      feature: a feature of TFDS.
      sequence: the path of the sequence that it is in; empty if it is in none.
    """
    if isinstance(feature, _F.Sequence):
        yield from _fields_below(path, feature.feature, path)
    elif isinstance(feature, _F.FeaturesDict):
        for name, child in feature.items():
            yield from _fields_below(f"{path}/{name}" if path else name, child, sequence)
    elif path == IMAGE and type(feature) is _F.Tensor:  # bands that no PNG can hold
        yield IMAGE_SHAPE, Field(_F.Tensor, "int32", values_per_record=3)
        yield IMAGE_VALUE, Field(_F.Tensor, "string", feature.shape)
    else:
        yield path, _field_of_values(path, feature, sequence)


def _field_of_values(path: str, feature: Any, sequence: str) -> Field:
    """Returns the field of a feature that has no features within it."""
    if isinstance(feature, _F.Text):
        return Field(_F.Text, "string", sequence=sequence)
    kind = _F.Tensor if type(feature) is _F.Scalar else type(feature)
    if kind is _F.Tensor and feature.shape:
        raise _unreadable(path, f"a feature of the shape {feature.shape}")
    classes = 0
    if isinstance(feature, _F.ClassLabel | _F.LabeledImage):
        classes = feature.num_classes
    return Field(kind, np.dtype(feature.np_dtype).name, tuple(feature.shape), sequence, classes)


def _unreadable(path: str, found: str) -> RecordError:
    return RecordError(
        path,
        found=found,
        expected="texts, classes, boxes, images, or single numbers",
        kind="damaged dataset",
    )
