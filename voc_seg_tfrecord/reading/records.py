"""Reads the records of a built dataset once, and decodes only what is needed.

TFRecord files are read without TensorFlow, which takes seconds to import and some 600 MB.
"""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
import itertools
import operator
import re
from typing import Any, TypeVar

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.dataset_files import INFO
from voc_seg_tfrecord.core.errors import ConfigError, ImageError, MaskError, RecordError
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.core.id_lists import image_id
from voc_seg_tfrecord.core.names import (
    FILENAME,
    HEIGHT,
    IMAGE,
    IMAGE_SHAPE,
    IMAGE_VALUE,
    LABEL,
    MASKS,
    TILE_IMAGE_ID,
    VOID,
    WIDTH,
)
from voc_seg_tfrecord.core.storage import size
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.core.wanted_ids import check_present
from voc_seg_tfrecord.formats import bands, frames, images, png, png_pixels
from voc_seg_tfrecord.reading.find import Part
from voc_seg_tfrecord.writing import serializer

Result = TypeVar("Result")


@dataclasses.dataclass(frozen=True)
class Record:
    """One record's features, still encoded.

    Attributes:
      id: the image id, which is the file's name without the suffix.
      features: one `tf.train.Feature` per name.
      message: the `tf.train.Example` that holds them.
      length: how many bytes it was parsed from.
    """

    id: str
    features: Mapping[str, Any]
    message: Any = dataclasses.field(default=None, repr=False, compare=False)
    length: int = dataclasses.field(default=0, repr=False, compare=False)
    _files: dict[str, File] = dataclasses.field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def bytes(self, name: str) -> bytes:
        """Returns a feature of one string; empty if the record has none."""
        if name in self._files:
            return self._files[name].data
        if name == IMAGE and name not in self.features:
            name = IMAGE_VALUE
        values = self.features[name].bytes_list.value if name in self.features else ()
        return values[0] if values else b""

    def file(self, name: str) -> File:
        """Returns an image or a mask, and the same one each time; of an array a NumPy file."""
        if name not in self._files:
            where = f"{self.id}, {name}"
            is_array = name == IMAGE and IMAGE_VALUE in self.features
            made = bands.as_file(self.bands(), where) if is_array else File(self.bytes(name), where)
            self._files[name] = made
        return self._files[name]

    def bands(self) -> np.ndarray:
        """Returns all bands of the image, `[H, W, N]` of their dtype.

        Raises:
          RecordError: if it cannot be decoded.
        """
        with ImageError.raised_as(RecordError):
            if IMAGE_VALUE in self.features:
                where = f"{self.id}, {IMAGE}"
                return bands.array_of(self.bytes(IMAGE), self.ints(IMAGE_SHAPE), where)
            return bands.read(self.file(IMAGE))

    def keep(self, image: Any) -> None:
        """Gives the record the bytes of its image, for which its message has a stand-in."""
        self._files[IMAGE] = File(image, f"{self.id}, {IMAGE}")

    def values(self, name: str) -> Sequence[Any]:
        """Returns a feature of any kind; empty if the record has none."""
        kind = self.features[name].WhichOneof("kind") if name in self.features else None
        values = getattr(self.features[name], kind).value if kind else ()
        return [self._files[name].data] if name in self._files and len(values) == 1 else values

    def ints(self, name: str) -> tuple[int, ...]:
        """Returns a feature of integers; empty if the record has none."""
        return tuple(self.features[name].int64_list.value) if name in self.features else ()

    def pixels(self, name: str) -> np.ndarray:
        """Returns a mask, uint8 `[H, W]`; raises a `RecordError` as the function `pixels` does."""
        return pixels(self.file(name))

    def image(self, name: str = IMAGE) -> np.ndarray:
        """Returns an image, uint8 `[H, W, 3]`, as Pillow decodes it; of other bands for people.

        Raises:
          RecordError: if it cannot be decoded.
        """
        with ImageError.raised_as(RecordError):
            return images.pixels(self.file(name))

    def label_counts(self) -> np.ndarray:
        """Returns how often each label of an image is there, int64 `[256]`.

        Raises:
          RecordError: if a label is no number of a class.
        """
        if wrong := [label for label in self.ints(LABEL) if not 0 <= label <= VOID]:
            found = f"the label {wrong[0]}"
            raise RecordError(self.id, found=found, expected="the number of a class")
        return np.bincount(np.array(self.ints(LABEL), np.int64), minlength=VOID + 1)

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
        record = Record("", example.features.feature, example, len(serialized))
        del serialized  # it may be large
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
    return _lighter(dataclasses.replace(record, id=image_id(filename)))


def _lighter(record: Record) -> Record:
    """Returns a record that has a large image once, and not in its message too."""
    if record.length <= serializer.MAX_KEPT_BYTES or len(record.values(IMAGE)) != 1:
        return record
    image = record.bytes(IMAGE)
    shortened = serializer.shorten(record.message, IMAGE, image)
    message = shortened.message
    length = record.length - shortened.saved_bytes
    lighter = Record(record.id, message.features.feature, message, length)
    lighter.keep(image)
    return lighter


def scan(
    builder: tfds.core.DatasetBuilder,
    split: str,
    function: Callable[[Record], Result],
    *,
    progress: bool = False,
    complete: bool = True,
) -> Iterator[Result]:
    """Calls a function with each record of a split, in as many threads as there are cores.

    Yields:
      What the function returns, in the order of the records.

    Raises:
      RecordError: if a shard or a record cannot be read; or, if the split must be `complete`, has
        not as many records as the dataset's info says.
    """
    total = count(builder, split)
    serialized = map(_boxed, read_shards(builder, split, complete=complete))
    read = ordered_map(functools.partial(_parse_and_call, function), serialized)
    bar = tqdm(read, desc=split, total=total, unit=" examples", disable=not progress, leave=False)
    for _, result in bar:
        yield result


def scan_splits(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    function: Callable[[str, Record], Result],
    *,
    progress: bool = False,
) -> Iterator[tuple[str, Result]]:
    """Calls a function that takes milliseconds with each record of several splits.

    It is called in processes if there are many records; see `processes.ordered_map`.

    Yields:
      The split, and what the function returns, in the order of the records.

    Raises:
      RecordError: see `scan`.
    """
    total = sum(count(builder, split) for split in splits)
    # A part's name is sent to the processes without its list.
    serialized = (
        (str(split), _boxed(record)) for split in splits for record in read_shards(builder, split)
    )
    work = functools.partial(_call_with_split, function)
    read = processes.ordered_map(work, serialized, count=total)
    desc = "+".join(splits)
    bar = tqdm(read, desc=desc, total=total, unit=" examples", disable=not progress, leave=False)
    for (split, _), result in bar:
        yield split, result


def _boxed(serialized: bytes) -> list[bytes]:
    """Returns a list, out of which a record is taken when it is parsed: a loop would keep it."""
    return [serialized]


def count(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split or a part has."""
    return len(split.ids) if isinstance(split, Part) else builder.info.splits[split].num_examples


def _parse_and_call(function: Callable[[Record], Result], serialized: list[bytes]) -> Result:
    record = parse(serialized.pop())
    with large_in_turn(record):
        return function(record)


def _call_with_split(
    function: Callable[[str, Record], Result], stored: tuple[str, list[bytes]]
) -> Result:
    split, serialized = stored
    return _parse_and_call(functools.partial(function, split), serialized)


def large_in_turn(record: Record) -> contextlib.AbstractContextManager[None]:
    """Waits until no other large image or mask is being decoded, if one of the record is large."""
    names = (name for name in (IMAGE, *MASKS) if name in record.features)
    return images.large_in_turn(*map(record.file, names))


def pixels(file: File) -> np.ndarray:
    """Decodes a stored mask as TensorFlow does, uint8 `[H, W]`.

    Raises:
      RecordError: if it is not an 8-bit grayscale PNG, the only kind that all decoders read
        to the same values, or is damaged.
    """
    remedy = "build the dataset again, or copy it again from where it is complete"
    with MaskError.raised_as(RecordError, remedy=remedy):
        header = png.read_header(file)
        if header.color is png.ColorType.GRAY and png_pixels.holds_values(header):
            return png_pixels.read_values(file, header, png.read_chunks(file, header)).pixels()
    raise RecordError(
        file.where,
        found=header.describe(),
        expected="an 8-bit grayscale PNG, which every decoder reads to class indices",
        remedy="build the dataset again with this package",
    )


def image_size(file: File) -> tuple[int, int]:
    """Returns a stored image's height and width, from its header alone."""
    if file.kind is Kind.NUMPY:
        height, width = bands.read(file).shape[:2]
        return height, width
    image = images.open_image(file, decoding="none", is_rgb_said=True)
    return image.height, image.width


def size_of(record: Record) -> tuple[int, ...]:
    """Returns height and width of an image; 0 and 0 if it is damaged and its size is not stored."""
    if len(record.size) == 2:
        return record.size
    try:
        return image_size(record.file(IMAGE))
    except ImageError:
        return (0, 0)


def read_shards(
    builder: tfds.core.DatasetBuilder, split: str, *, complete: bool = True
) -> Iterator[bytes]:
    """Yields the serialized examples of a split, of a slice such as `train[:10]`, or of a `Part`.

    Raises:
      RecordError: naming a shard that is missing, truncated or damaged; or, if it must be
        `complete`, a split that has not as many bytes as its info says, before its first record,
        or not as many records.
      ConfigError: if the files are no TFRecords; or at the end of a `Part`, if ids of the list are
        in no split, or in two.
    """
    if isinstance(split, Part):
        yield from _read_part(builder, split, complete)
        return
    check_tfrecord(builder)
    count = 0

    def counted(record: bytes) -> bytes:  # a loop would keep the last one, which may be large
        nonlocal count
        count += 1
        return record

    if complete and (problem := wrong_size(builder, split)):
        raise RecordError(
            f"{builder.info.full_name}@{split}",
            found=problem,
            expected="the shards of one build, complete and in their places",
            remedy="run `voc-seg-tfrecord verify` to find the shard, then copy or build the "
            "dataset again",
            kind="damaged dataset",
        )
    for path, skip, take, length in _pieces(builder, split):
        records = _read_shard(path, length)
        stop = None if take is None else skip + take
        yield from map(counted, itertools.islice(records, skip, stop))
    expected = builder.info.splits[split].num_examples
    if complete and count != expected:
        raise RecordError(
            f"{builder.info.full_name}@{split}",
            found=f"{count} records",
            expected=f"{expected} records, as the dataset's info says",
            remedy="copy the dataset again, or build it again",
        )


def read_at(
    builder: tfds.core.DatasetBuilder, places: Collection[tuple[str, int]]
) -> Iterator[tuple[tuple[str, int], Record]]:
    """Yields the records at some places, each a split or a slice and a number, in their order.

    Raises:
      RecordError: if they cannot be read.
    """
    for split in dict.fromkeys(split for split, _ in sorted(places)):
        last = max(number for name, number in places if name == split)
        of_split = read_shards(builder, split)
        for number in range(last + 1):  # one may be large, so none is kept
            if (split, number) in places:
                yield (split, number), parse(next(of_split))
            else:
                next(of_split)


def wrong_size(builder: tfds.core.DatasetBuilder, split: str) -> str:
    """Says what is wrong with the size of the TFRecord files of a split, or of that of a slice.

    A shard of another build or split, and records that were lost or doubled, are noticed by it
    unless the sizes agree by chance.
    """
    name = re.split(r"[\[+]", split)[0]
    info = builder.info.splits.get(name)
    if info is None or not info.num_bytes:
        return ""
    paths = [p for p, length in zip(info.filepaths, info.shard_lengths, strict=True) if length]
    if not all(path.exists() for path in paths):
        return ""  # which says more when it is read
    in_files = sum(size(path) for path in paths)
    expected = int(info.num_bytes) + info.num_examples * (frames.HEAD + frames.TAIL)
    return "" if in_files == expected else f"shards of {in_files} bytes, {INFO} says {expected}"


def _read_part(builder: tfds.core.DatasetBuilder, part: Part, complete: bool) -> Iterator[bytes]:
    where = f"{builder.info.full_name}@{part}"
    split_of: dict[str, str] = {}
    for split in part.splits:
        for serialized in read_shards(builder, split, complete=complete):
            record = parse(serialized)
            image = record.bytes(TILE_IMAGE_ID).decode() or record.id
            if image in part.ids:
                if split_of.setdefault(image, split) != split:
                    raise ConfigError(
                        where,
                        found=f"the image {image} in {split_of[image]} and in {split}",
                        expected="each id of the list in one split",
                        remedy="name one split too, as in DATASET@SPLIT --ids FILE",
                    )
                del record  # it may be large
                yield serialized
    if complete:
        remedy = "read the dataset and split that the list was made for"
        check_present(part.ids, split_of, where, partial=False, remedy=remedy)


def _pieces(
    builder: tfds.core.DatasetBuilder, split: str
) -> Iterator[tuple[epath.Path, int, int | None, int]]:
    """Yields each shard with records, how many to leave out and to read, and how many it has."""
    info = builder.info.splits[split]
    if split in builder.info.splits:
        for path, length in zip(info.filepaths, info.shard_lengths, strict=True):
            if length:
                yield path, 0, None, length
        return
    for piece in info.file_instructions:
        take = None if piece.takes_all else piece.take
        yield epath.Path(piece.filename), piece.skip, take, piece.examples_in_shard


def check_tfrecord(builder: tfds.core.DatasetBuilder) -> None:
    """Raises a `ConfigError` if a dataset is not in TFRecord files."""
    if builder.info.file_format != tfds.core.FileFormat.TFRECORD:
        raise ConfigError(
            builder.info.full_name,
            found=f"files of the format {builder.info.file_format.value}",
            expected="tfrecord",
            remedy="build the dataset again",
        )


def _read_shard(path: epath.Path, length: int) -> Iterator[bytes]:
    if not path.exists():
        raise unreadable(path, "no such file", length)
    try:
        yield from map(operator.itemgetter(1), frames.read(path))
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        raise unreadable(path, " ".join(str(error).split()), length) from None


def unreadable(path: epath.Path, found: str, length: int) -> RecordError:
    """Returns the error about a shard that is to hold `length` records."""
    return RecordError(
        path,
        found=found,
        expected=f"a complete shard of {length} records",
        remedy="copy the shard again, or build the dataset again",
    )
