"""Checks the kind, number and range of the values of each feature of a record."""

from collections.abc import Iterator, Mapping
import dataclasses
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.reading.fields import Field, fields_of
from voc_seg_tfrecord.reading.records import Record


@dataclasses.dataclass(frozen=True)
class ValueCheck:
    """The values that a feature may have in a record.

    Attributes:
      field: describes the feature.
      kind: the list of a `tf.train.Feature` that holds them, such as `int64_list`.
      lowest: the lowest number; None for any.
      highest: the highest number; None for any.
    """

    field: Field
    kind: str
    lowest: int | None = None
    highest: int | None = None

    def problem(self, feature: Any) -> str:
        """Returns what is wrong with a `tf.train.Feature`; empty if nothing is."""
        kind = feature.WhichOneof("kind")
        if kind != self.kind:
            return f"{kind or 'no values'}, expected a {self.kind}"
        values = getattr(feature, kind).value
        if self.field.sequence:
            if len(values) % self.field.values_per_item:
                return f"{len(values)} values, expected groups of {self.field.values_per_item}"
        elif len(values) != self.field.values_per_record:
            return f"{len(values)} values, expected {self.field.values_per_record}"
        if self.lowest is not None and self.highest is not None:
            for value in values:
                if not self.lowest <= value <= self.highest:
                    return f"{value}, expected {self.lowest} to {self.highest}"
        if self.field.feature is tfds.features.Text:
            try:
                b"".join(values).decode()
            except UnicodeDecodeError as error:
                return str(error)
        return ""


_KIND_OF_DTYPE = {"O": "bytes_list", "f": "float_list"}
"""The list that holds values by the kind of their dtype; `int64_list` holds all others."""


def value_checks(features: tfds.features.FeaturesDict) -> dict[str, ValueCheck]:
    """Returns a check of each feature of a dataset's records, by path in their order."""
    return {name: _value_check(field) for name, field in sorted(fields_of(features).items())}


def _value_check(field: Field) -> ValueCheck:
    dtype = field.np_dtype
    kind = _KIND_OF_DTYPE.get(dtype.kind, "int64_list")
    if field.feature is tfds.features.BBoxFeature:
        return ValueCheck(field, kind, 0, 1)
    if field.feature is tfds.features.ClassLabel:
        return ValueCheck(field, kind, 0, field.classes - 1)
    if dtype.kind == "b":
        return ValueCheck(field, kind, 0, 1)
    if kind == "int64_list":
        limits = np.iinfo(dtype)
        return ValueCheck(field, kind, int(limits.min), int(limits.max))
    return ValueCheck(field, kind)


def value_problems(checks: Mapping[str, ValueCheck], record: Record) -> Iterator[str]:
    """Yields which features of a record are missing, or hold other values than expected."""
    for name, check in checks.items():
        if name not in record.features:
            yield f"{name}: missing"
            continue
        problem = check.problem(record.features[name])
        if problem:
            yield f"{name}: {problem}"
