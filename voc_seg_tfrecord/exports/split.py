"""A split of a built dataset on its way into an export."""

from collections.abc import Iterator
import dataclasses
from typing import Any

from etils import epath
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.base.names import FILENAME, FILL, HEIGHT, LABEL, WIDTH
from voc_seg_tfrecord.built.records import read_shards
from voc_seg_tfrecord.imports.files import Record, parse

_SINGLE = (FILENAME, HEIGHT, WIDTH, LABEL, *FILL)


@dataclasses.dataclass(frozen=True)
class Split:
    """A split, and where its export goes.

    Attributes:
      builder: of the built dataset.
      name: the split's name.
      folder: the folder of the export.
      num_shards: how many files to write; None for the layout's default.
    """

    builder: tfds.core.DatasetBuilder
    name: str
    folder: epath.Path
    num_shards: int | None

    def records(self) -> Iterator[tuple[str, Record]]:
        """Yields each record's name for errors, and its features; shows a progress bar.

        Raises:
          RecordError: if a record cannot be read.
        """
        serialized = tqdm(
            read_shards(self.builder, self.name),
            total=self.builder.info.splits[self.name].num_examples,
            desc=f"Exporting {self.name}...",
            unit=" examples",
            leave=False,
        )
        for number, record in enumerate(serialized):
            where = f"{self.builder.info.full_name}, split {self.name}, record {number}"
            yield where, parse(record, where)

    def examples(self) -> Iterator[dict[str, Any]]:
        """Yields the features that have one value, images and masks still encoded.

        Raises:
          RecordError: if a record lacks one of them.
        """
        needed = [name for name in _SINGLE if name in self.builder.info.features]
        for where, record in self.records():
            lacking = [name for name in needed if len(record.get(name, ())) != 1]
            if lacking:
                raise RecordError(
                    where,
                    found=f"no {', '.join(lacking)}",
                    expected=f"one value each of {', '.join(needed)}",
                    remedy="build the dataset again",
                )
            yield {name: record[name][0] for name in needed}
