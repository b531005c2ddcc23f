"""Reads the records of a built dataset once, and decodes only what is needed."""

from collections.abc import Callable, Iterator, Mapping
import dataclasses
from typing import Any, TypeVar

import numpy as np
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.errors import MaskError, RecordError
from voc_seg_tfrecord.features import FILENAME, HEIGHT, WIDTH
from voc_seg_tfrecord.formats import images, png, png_chunks, png_values
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import image_id
from voc_seg_tfrecord.interop import shards
from voc_seg_tfrecord.pool import ordered_map

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class Record:
    """One record's features, still encoded.

    Attributes:
      id: the image id, which is the file's name without the suffix.
      features: one `tf.train.Feature` per name.
    """

    id: str
    features: Mapping[str, Any]

    def bytes(self, name: str) -> bytes:
        """Returns a feature of one string; empty if the record has none."""
        values = self.features[name].bytes_list.value if name in self.features else ()
        return values[0] if values else b""

    def ints(self, name: str) -> tuple[int, ...]:
        """Returns a feature of integers; empty if the record has none."""
        return tuple(self.features[name].int64_list.value) if name in self.features else ()

    @property
    def size(self) -> tuple[int, ...]:
        """`image/height` and `image/width`, in pixels."""
        return self.ints(HEIGHT) + self.ints(WIDTH)


def parse(serialized: bytes) -> Record:
    """Returns the record of a serialized `tf.train.Example`.

    Raises:
      RecordError: if it is not a `tf.train.Example`, or has no file name.
    """
    from google.protobuf import message
    from tensorflow_datasets.proto import tf_example_pb2

    try:
        example = tf_example_pb2.Example.FromString(serialized)
        record = Record("", example.features.feature)
        filename = record.bytes(FILENAME).decode()
    except (message.DecodeError, UnicodeDecodeError) as error:
        raise RecordError("a record", found=str(error), expected="a tf.train.Example") from None
    if not filename:
        raise RecordError(
            "a record",
            found=f"no `{FILENAME}`",
            expected="a record that voc_seg_tfrecord built",
            remedy="build the dataset again",
        )
    return dataclasses.replace(record, id=image_id(filename))


def scan(
    builder: tfds.core.DatasetBuilder,
    split: str,
    function: Callable[[Record], Result],
    *,
    progress: bool = False,
    complete: bool = True,
) -> Iterator[Result]:
    """Calls a function with each record of a split, in as many threads as there are cores.

    Args:
      builder: of a built dataset.
      split: a split's name.
      function: called once per record, in any thread.
      progress: whether to show a bar on standard error.
      complete: whether there must be as many records as the dataset's info says.

    Yields:
      What the function returns, in the order of the records.

    Raises:
      RecordError: if a shard or a record cannot be read, or if records are lost; see
        `shards.read`.
    """
    total = builder.info.splits[split].num_examples
    serialized = shards.read(builder, split, complete=complete)
    read = ordered_map(lambda record: function(parse(record)), serialized)
    bar = tqdm(read, desc=split, total=total, unit=" examples", disable=not progress, leave=False)
    for _, result in bar:
        yield result


def pixels(file: File) -> np.ndarray:
    """Decodes a stored mask as TensorFlow does, uint8 `[H, W]`.

    Raises:
      RecordError: if it is not an 8-bit greyscale PNG, the only kind that all decoders read
        to the same values, or is damaged.
    """
    try:
        header = png.read_header(file)
        if header.color is png.ColorType.GREY and png_values.holds(header):
            return png_values.read(file, header, png_chunks.read(file, header)).pixels()
    except MaskError as error:
        raise RecordError(
            error.where,
            found=error.found,
            expected=error.expected,
            remedy="build the dataset again, or copy it again from where it is complete",
            kind=error.kind,
        ) from None
    raise RecordError(
        file.where,
        found=header.describe(),
        expected="an 8-bit greyscale PNG, which every decoder reads to class indices",
        remedy="build the dataset again with this package",
    )


def image_size(file: File) -> tuple[int, int]:
    """Returns a stored image's height and width, from its header alone."""
    image = images.read_image(file, decoding="none")
    return image.height, image.width
