"""Reads the records of a built dataset once, and decodes only what is needed.

TFRecord files are read without TensorFlow, which takes seconds to import and some 600 MB.
"""

import collections
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
import itertools
from typing import Any, TypeVar

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    ImageError,
    MaskError,
    RecordError,
    counted,
    raise_if_out_of_memory,
)
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.named_lists import check_present
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
from voc_seg_tfrecord.formats import band_files, bands, frames, images, png, png_values
from voc_seg_tfrecord.reading.dataset_files import INFO, Snapshot


class ListedSplit(str):
    """The examples whose image ids are in a list. As text it is the list's name.

    It equals that text, which is the name of no split. So where splits are keys, keep this object
    and read records by it. Tiles are in it if their image is.

    Attributes:
      splits: the splits that are searched, in this order.
      ids: the list.
    """

    splits: tuple[str, ...]
    ids: frozenset[str]

    def __new__(cls, name: str, splits: Sequence[str], ids: Collection[str]) -> "ListedSplit":
        """Returns the examples of some splits that a list of ids has."""
        listed = super().__new__(cls, name)
        listed.splits = tuple(splits)
        listed.ids = frozenset(ids)
        return listed


Result = TypeVar("Result")
Item = TypeVar("Item")


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
        if name == IMAGE and name not in self.features:
            name = IMAGE_VALUE
        values = self.features[name].bytes_list.value if name in self.features else ()
        return values[0] if values else b""

    def file(self, name: str) -> File:
        """Returns an image or a mask, and the same one each time; of an array a NumPy file."""
        if name not in self._files:
            where = f"{self.id}, {name}"
            if name == IMAGE and IMAGE_VALUE in self.features:
                self._files[name] = bands.as_file(self.bands(), where)
            else:
                self._files[name] = File(self.bytes(name), where)
        return self._files[name]

    def bands(self) -> np.ndarray:
        """Returns all bands of the image, `[H, W, N]` of their dtype.

        Raises:
          RecordError: if it cannot be decoded.
        """
        with ImageError.raised_as(RecordError):
            if IMAGE_VALUE in self.features:
                where = f"{self.id}, {IMAGE}"
                return bands.inflate_array(self.bytes(IMAGE), self.ints(IMAGE_SHAPE), where)
            return band_files.read(self.file(IMAGE))

    def values(self, name: str) -> Sequence[Any]:
        """Returns a feature of any kind; empty if the record has none."""
        if name not in self.features:
            return ()
        feature = self.features[name]
        kind = feature.WhichOneof("kind")
        if kind is None:
            return ()
        values: Sequence[Any] = getattr(feature, kind).value
        return values

    def ints(self, name: str) -> tuple[int, ...]:
        """Returns a feature of integers; empty if the record has none."""
        return tuple(self.features[name].int64_list.value) if name in self.features else ()

    def pixels(self, name: str) -> np.ndarray:
        """Returns a mask, uint8 `[H, W]`; raises a `RecordError` as the function `pixels` does."""
        return pixels(self.file(name))

    def image(self, name: str = IMAGE) -> np.ndarray:
        """Returns an image, uint8 `[H, W, 3]`, as Pillow decodes it.

        An image of other bands is made visible: it gets three bands of 8 bits.

        Raises:
          RecordError: if it cannot be decoded.
        """
        with ImageError.raised_as(RecordError):
            return images.decode_rgb(self.file(name))

    def label_counts(self) -> np.ndarray:
        """Returns how often each label of an image is there, int64 `[256]`.

        Raises:
          RecordError: if a label is no number of a class.
        """
        labels = self.ints(LABEL)
        for label in labels:
            if not 0 <= label <= VOID:
                found = f"the label {label}"
                raise RecordError(self.id, found=found, expected="the number of a class")
        return np.bincount(np.array(labels, np.int64), minlength=VOID + 1)

    @property
    def image_id(self) -> str:
        """The id of the image; of a tile, that of the complete image."""
        return self.bytes(TILE_IMAGE_ID).decode() or self.id

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
    return dataclasses.replace(record, id=id_of_file(filename))


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
    serialized = read_shards(builder, split, complete=complete)
    results = ordered_map(functools.partial(_parse_and_call, function), serialized)
    for _, result in _with_progress(results, split, total, progress):
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
    work = functools.partial(_call_with_split, function)
    results = processes.ordered_map(work, _read_splits(builder, splits), count=total)
    split_by_name = {str(split): split for split in splits}
    for (name, _), result in _with_progress(results, "+".join(splits), total, progress):
        yield split_by_name[name], result


def _read_splits(
    builder: tfds.core.DatasetBuilder, splits: Sequence[str]
) -> Iterator[tuple[str, bytes]]:
    """Yields each record of several splits with its split."""
    for split in splits:
        for serialized in read_shards(builder, split):
            yield str(split), serialized  # a list's name is sent to processes without its ids


def _with_progress(
    items: Iterable[Item], description: str, total: int, progress: bool
) -> Iterable[Item]:
    """Returns items with a progress bar on standard error, if it is wanted."""
    return tqdm(
        items,
        desc=description,
        total=total,
        unit=" examples",
        disable=not progress,
        leave=False,
    )


def count(builder: tfds.core.DatasetBuilder, split: str) -> int:
    """Returns how many examples a split has; of a list of ids, how many ids.

    A tiled dataset may have more examples of a list than the list has ids.
    """
    if isinstance(split, ListedSplit):
        return len(split.ids)
    return builder.info.splits[split].num_examples


def _parse_and_call(function: Callable[[Record], Result], serialized: bytes) -> Result:
    record = parse(serialized)
    with large_in_turn(record):
        return function(record)


def _call_with_split(
    function: Callable[[str, Record], Result], stored: tuple[str, bytes]
) -> Result:
    split, serialized = stored
    return _parse_and_call(functools.partial(function, split), serialized)


def large_in_turn(record: Record) -> contextlib.AbstractContextManager[None]:
    """Waits until no other large image or mask is being decoded, if one of the record is large.

    It ignores an array that is damaged: who decodes it gets the error.
    """
    files = []
    for name in (IMAGE, *MASKS):
        if name in record.features:
            with contextlib.suppress(RecordError):
                files.append(record.file(name))
    return images.large_in_turn(*files)


def pixels(file: File) -> np.ndarray:
    """Decodes a stored mask as TensorFlow does, uint8 `[H, W]`.

    Raises:
      RecordError: if it is not an 8-bit grayscale PNG, the only kind that all decoders read
        to the same values, or is damaged.
    """
    remedy = "build the dataset again, or copy it again from where it is complete"
    with MaskError.raised_as(RecordError, remedy=remedy):
        header = png.read_header(file)
        if header.color is png.ColorType.GRAY and png_values.holds_values(header):
            return png_values.read_values(file, header, png.read_chunks(file, header)).array()
    raise RecordError(
        file.where,
        found=header.describe(),
        expected="an 8-bit grayscale PNG, which every decoder reads to class indices",
        remedy="build the dataset again with this package",
    )


def image_size(file: File) -> tuple[int, int]:
    """Returns a stored image's height and width, from its header alone."""
    if file.kind is Kind.NUMPY:
        height, width = band_files.read(file).shape[:2]
        return height, width
    image = images.open_image(file, decoding="none", user_wants_rgb=True)
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
    """Yields the serialized examples of a split, of a slice such as `train[:10]`, or of a list.

    Raises:
      RecordError: naming a shard that is missing, truncated or damaged; or, if it must be
        `complete`, a split that has not as many bytes as its info says, before its first record,
        or not as many records.
      ConfigError: if the files are no TFRecords; or at the end of a `ListedSplit`, if ids of the
        list are in no split, or in two.
    """
    if isinstance(split, ListedSplit):
        yield from _read_listed(builder, split, complete)
        return
    check_tfrecord(builder)
    snapshot = Snapshot.take(builder)
    if complete:
        _check_size(builder, split)
    record_count = 0
    for shard in _shards_of(builder, split):
        for record in itertools.islice(_read_shard(shard), shard.skip, shard.stop):
            record_count += 1
            yield record
    snapshot.check()
    expected = builder.info.splits[split].num_examples
    if complete and record_count != expected:
        raise RecordError(
            f"{builder.info.full_name}@{split}",
            found=counted(record_count, "record"),
            expected=f"{expected} records, the number in the dataset's info",
            remedy="copy the dataset again, or build it again",
        )


RecordNumber = tuple[str, int]
"""A split, or a slice of one, and the number of a record in it."""


def read_at(
    builder: tfds.core.DatasetBuilder, record_numbers: Collection[RecordNumber]
) -> Iterator[tuple[RecordNumber, Record]]:
    """Yields some records, split by split and by ascending number.

    Raises:
      RecordError: if they cannot be read, or a split has no record of a number.
    """
    snapshot = Snapshot.take(builder)
    numbers_by_split: dict[str, set[int]] = collections.defaultdict(set)
    for split, number in record_numbers:
        numbers_by_split[split].add(number)
    for split, numbers in sorted(numbers_by_split.items()):
        if not isinstance(split, ListedSplit):  # a list of tiles has more records than ids
            _check_numbers(builder, split, numbers)
        records_up_to_last = itertools.islice(read_shards(builder, split), max(numbers) + 1)
        for number, serialized in enumerate(records_up_to_last):
            if number in numbers:
                yield (split, number), parse(serialized)
        snapshot.check()  # `read_shards` does it at the end, which is not reached


def _check_numbers(builder: tfds.core.DatasetBuilder, split: str, numbers: Collection[int]) -> None:
    """Raises a `RecordError` if a number is not that of a record of a split."""
    total = builder.info.splits[split].num_examples
    last = max(numbers)
    if last >= total:
        raise RecordError(
            f"{builder.info.full_name}@{split}",
            found=f"the number {last} of a record",
            expected=f"0 to {total - 1}, as the split has {total} records",
            remedy="use record numbers of this version of the dataset",
        )


def wrong_size(builder: tfds.core.DatasetBuilder, split: str) -> str:
    """Returns what is wrong with the size of the TFRecord files of a split, empty if nothing is.

    Of a slice, or of several splits as in `train[:10]+validation`, it is that of the whole splits.

    A shard of another build or split, and records that were lost or doubled, are noticed by it
    unless the sizes agree by chance.
    """
    names = [piece.partition("[")[0] for piece in split.split("+")]
    for name in dict.fromkeys(names):
        info = builder.info.splits.get(name)
        if info is None or not info.num_bytes:
            continue
        paths = [shard.path for shard in _shards_of(builder, name)]
        are_there = all(path.exists() for path in paths)
        if not are_there:
            continue  # reading them says more
        bytes_in_files = sum(size(path) for path in paths)
        bytes_of_frames = info.num_examples * (frames.HEAD + frames.TAIL)
        expected = int(info.num_bytes) + bytes_of_frames
        if bytes_in_files != expected:
            return f"shards of {bytes_in_files} bytes, {INFO} says {expected}"
    return ""


def _check_size(builder: tfds.core.DatasetBuilder, split: str) -> None:
    """Raises a `RecordError` if the files of a split are not as large as its info says."""
    problem = wrong_size(builder, split)
    if problem:
        raise RecordError(
            f"{builder.info.full_name}@{split}",
            found=problem,
            expected="the complete shards of one build",
            remedy="run `voc-seg-tfrecord verify` to find the shard, then copy or build the "
            "dataset again",
            kind="damaged dataset",
        )


def _read_listed(
    builder: tfds.core.DatasetBuilder, listed: ListedSplit, complete: bool
) -> Iterator[bytes]:
    """Yields the serialized examples of a list of ids; see `read_shards`."""
    where = f"{builder.info.full_name}@{'+'.join(listed.splits)}, list {listed}"
    split_of_image: dict[str, str] = {}
    for split in listed.splits:
        for serialized in read_shards(builder, split, complete=complete):
            record = parse(serialized)
            image_id = record.image_id
            del record  # a large record
            if image_id not in listed.ids:
                continue
            first_split = split_of_image.setdefault(image_id, split)
            if first_split != split:
                raise ConfigError(
                    where,
                    found=f"the image {image_id} in {first_split} and in {split}",
                    expected="each id in one split only",
                    remedy="name one split too, as in DATASET@SPLIT --ids FILE",
                )
            yield serialized
    if complete:
        remedy = "read the dataset and split that the list belongs to"
        check_present(listed.ids, split_of_image, where, partial=False, remedy=remedy)


@dataclasses.dataclass(frozen=True)
class _Shard:
    """A file of a split, or the part of one that a slice has.

    Attributes:
      path: the file.
      length: how many records it has.
      skip: how many of them are left out at its beginning.
      stop: the number of the first record that is left out at its end; None if there is none.
    """

    path: epath.Path
    length: int
    skip: int = 0
    stop: int | None = None


def _shards_of(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[_Shard]:
    """Yields each shard with records of a split, or of a slice."""
    info = builder.info.splits[split]
    if split in builder.info.splits:
        for path, length in zip(info.filepaths, info.shard_lengths, strict=True):
            if length:
                yield _Shard(path, length)
        return
    for piece in info.file_instructions:
        stop = None if piece.takes_all else piece.skip + piece.take
        path = epath.Path(piece.filename)
        yield _Shard(path, piece.examples_in_shard, piece.skip, stop)


def check_tfrecord(builder: tfds.core.DatasetBuilder) -> None:
    """Raises a `ConfigError` if a dataset is not in TFRecord files."""
    if builder.info.file_format != tfds.core.FileFormat.TFRECORD:
        raise ConfigError(
            builder.info.full_name,
            found=f"files of the format {builder.info.file_format.value}",
            expected="tfrecord",
            remedy="build the dataset again",
        )


def _read_shard(shard: _Shard) -> Iterator[bytes]:
    """Yields all records of a file."""
    if not shard.path.exists():
        raise unreadable(shard.path, "no such file", shard.length)
    try:
        for _, record in frames.read(shard.path):
            yield record
    except (OSError, RuntimeError, ValueError, IndexError) as error:
        raise_if_out_of_memory(error, shard.path)
        raise unreadable(shard.path, " ".join(str(error).split()), shard.length) from None


def unreadable(path: epath.Path, found: str, length: int) -> RecordError:
    """Returns the error about a shard that is to hold `length` records."""
    return RecordError(
        path,
        found=found,
        expected=f"a complete shard of {counted(length, 'record')}",
        remedy="copy the shard again, or build the dataset again with --overwrite",
    )
