"""A source: the items of each split and what examples are to hold."""

from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.examples.make import ExampleSpec
from voc_seg_tfrecord.examples.raw import Item


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a dataset comes from: the items of each split, and what to make of them.

    Attributes:
      splits: items by split name.
      spec: what examples are to hold and how masks are read.
      colors: the colour of each class index, and of 255, where a class file gives them.
      archives: `filename` and `sha256` of each archive it was unpacked from, if verified.
    """

    splits: Mapping[str, Sequence[Item]]
    spec: ExampleSpec
    archives: Sequence[Mapping[str, str]] = ()
    colors: Mapping[int, tuple[int, int, int]] = dataclasses.field(default_factory=dict)
