"""The tasks of a build: to make the records of a chunk, or to cut a shard from chunks.

A task is plain data, which can be sent to any process. `ChunkWriter` does a `ChunkTask`, and
`ShardCutter` does a `ShardTask`. Both write one TFRecord file. See `shards` for why there are two.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
import pkgutil
from typing import Any, BinaryIO, Protocol, Self

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import hashing

from voc_seg_tfrecord.core import errors
from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec, Item, Source
from voc_seg_tfrecord.core.processes import Note
from voc_seg_tfrecord.core.staging import staged_file
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.writing.copies import DigestedItem
from voc_seg_tfrecord.writing.examples import try_examples
from voc_seg_tfrecord.writing.serializer import Encoder, StableSerializer

_MAX_OPEN_CHUNKS = 64
"""Chunks that are open at a time while a shard is cut; many systems allow a process 256 files."""


@dataclasses.dataclass(frozen=True)
class TaskResult:
    """The report of a task. That of a `ShardTask` is empty, because its records are known.

    Attributes:
      lengths: bytes of each record.
      hashes: the hash of each record's key, if the task asks for hashes.
      problems: numbers of items that cannot be used, and what is wrong with them.
      digests: the digest of each item's image, if the writer takes digests; see
        `copies.DigestedItem`.
      class_counts: images and pixels of each class in all records.
    """

    lengths: list[int] = dataclasses.field(default_factory=list)
    hashes: list[int] = dataclasses.field(default_factory=list)
    problems: list[tuple[int, VocSegError]] = dataclasses.field(default_factory=list)
    digests: list[int] = dataclasses.field(default_factory=list)
    class_counts: ClassCounts = dataclasses.field(default_factory=ClassCounts)

    def to_json(self) -> dict[str, Any]:
        """Returns the result as plain data."""
        problems = [(number, error.to_json()) for number, error in self.problems]
        return {**vars(self), "problems": problems, "class_counts": self.class_counts.to_json()}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the result that `to_json` turned into plain data."""
        problems = [(number, errors.from_json(error)) for number, error in data["problems"]]
        class_counts = ClassCounts.from_json(data["class_counts"])
        return cls(**{**data, "problems": problems, "class_counts": class_counts})


class TaskRunner(Protocol):
    """Does tasks of one kind: a `ChunkWriter` or a `ShardCutter`.

    It is picklable, so that any process can have it. Its tasks have `to_json()`, for engines that
    send them as plain data.
    """

    def __call__(self, task: Any, note: Note, /) -> TaskResult:
        """Does a task, and calls `note` with the number of examples as they are done."""
        ...

    def task_from_json(self, data: Mapping[str, Any]) -> Any:
        """Returns the task that its `to_json` turned into plain data."""
        ...


@dataclasses.dataclass(frozen=True)
class ChunkTask:
    """Items whose examples one call makes, and the file of their records.

    Attributes:
      path: the file.
      numbers: the number of each item in its split's list; there may be more numbers than items.
      items: the items, in the order of the file.
      salt: what keys are hashed with; empty if no hashes are wanted.
    """

    path: str
    numbers: Iterable[int]
    items: Iterable[Any]
    salt: str

    def to_json(self) -> dict[str, Any]:
        """Returns the task as plain data: each item with the number of its class in `types`.

        Items of one split may have several classes, such as masks that are drawn already, shapes
        to draw, and images without either.
        """
        number_by_type: dict[type, int] = {}
        items = []
        for item in self.items:
            number = number_by_type.setdefault(type(item), len(number_by_type))
            items.append([number, item.to_json()])
        types = [f"{item_type.__module__}:{item_type.__qualname__}" for item_type in number_by_type]
        return {**vars(self), "types": types, "items": items}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "ChunkTask":
        """Returns the task that `to_json` made plain data of."""
        types = [pkgutil.resolve_name(name) for name in data["types"]]
        items = [types[number].from_json(item) for number, item in data["items"]]
        return cls(data["path"], data["numbers"], items, data["salt"])


@dataclasses.dataclass(frozen=True)
class ChunkWriter:
    """Makes the examples of chunks and writes their records.

    Attributes:
      spec: what examples are to hold.
      features: the dataset's features.
      ahead: how many items may be in the making; see `core.threads.ordered_map`.
      takes_digests: whether the digests of images are wanted.
    """

    spec: ExampleSpec
    features: tfds.features.FeaturesDict
    ahead: int
    takes_digests: bool

    def __call__(self, task: ChunkTask, note: Note) -> TaskResult:
        """Writes a chunk. After a first problem it writes nothing, and looks for more problems."""
        result = TaskResult()
        _write_records(task.path, self._make_records(task, result, note))
        return result

    def _make_records(self, task: ChunkTask, result: TaskResult, note: Note) -> Iterator[bytes]:
        """Yields the records of a chunk; adds to the result what is found on the way."""
        hasher = hashing.Hasher(task.salt)
        encode = Encoder(self.features)
        serializer = StableSerializer(self.features.get_serialized_info())
        items = map(DigestedItem, task.items) if self.takes_digests else task.items
        make = functools.partial(try_examples, self.spec)
        outcomes = ordered_map(make, items, ahead=self.ahead)
        for number, (item, examples) in zip(task.numbers, outcomes, strict=False):
            note(1)
            if isinstance(examples, VocSegError):
                result.problems.append((number, examples))
                continue
            if result.problems:
                continue
            if self.takes_digests:
                result.digests.append(item.digest)
            for example in examples:
                record = serializer.serialize_example(encode(example.features))
                result.lengths.append(len(record))
                if task.salt:
                    result.hashes.append(hasher.hash_key(example.key))
                result.class_counts.add_mask(example.mask_counts)
                yield record

    def task_from_json(self, data: Mapping[str, Any]) -> ChunkTask:
        """Returns the task that `ChunkTask.to_json` turned into plain data."""
        return ChunkTask.from_json(data)


@dataclasses.dataclass(frozen=True)
class ShardTask:
    """A shard that is cut from chunks.

    Attributes:
      path: the shard's file.
      chunks: the chunks' files.
      records: of each record the number of its chunk, its offset there, and its length, in bytes.
    """

    path: str
    chunks: Sequence[str]
    records: Sequence[tuple[int, int, int]]

    def to_json(self) -> dict[str, Any]:
        """Returns the task as plain data."""
        return vars(self)


class ShardCutter:
    """Cuts shards from the records of chunks."""

    def __call__(self, task: ShardTask, note: Note) -> TaskResult:
        """Writes a shard."""
        _write_records(task.path, self._read_records(task, note))
        return TaskResult()

    def _read_records(self, task: ShardTask, note: Note) -> Iterator[bytes]:
        """Yields the records of a shard, each from its chunk."""
        with contextlib.closing(_ChunkReader(task.chunks)) as chunks:
            for chunk, offset, length in task.records:
                note(1)
                yield chunks.read(chunk, offset, length)

    def task_from_json(self, data: Mapping[str, Any]) -> ShardTask:
        """Returns the task that `ShardTask.to_json` turned into plain data."""
        return ShardTask(**data)


class _ChunkReader:
    """Reads records of chunks, and keeps the chunks open that were read last.

    Args:
      paths: the files of the chunks.
    """

    def __init__(self, paths: Sequence[str]) -> None:
        self._paths = paths
        self._files: dict[int, BinaryIO] = {}  # the one that was read last comes last

    def read(self, chunk: int, offset: int, length: int) -> bytes:
        """Returns the record at an offset, in bytes, of the chunk of this number."""
        file = self._open(chunk)
        file.seek(offset)
        return file.read(length)

    def _open(self, chunk: int) -> BinaryIO:
        file = self._files.pop(chunk, None)
        if file is None:
            if len(self._files) >= _MAX_OPEN_CHUNKS:
                oldest = next(iter(self._files))
                self._files.pop(oldest).close()
            file = epath.Path(self._paths[chunk]).open("rb")
        self._files[chunk] = file
        return file

    def close(self) -> None:
        """Closes all chunks."""
        for file in self._files.values():
            file.close()


def _write_records(path: str, records: Iterable[bytes]) -> None:
    """Writes a TFRecord file as TFDS does."""
    # The bytes are those of TensorFlow's own writer, which takes seconds and 600 MB to import.
    # TFDS's own `incomplete_file` makes the folder anew where the next run has just removed it.
    with staged_file(path) as unfinished, unfinished.open("wb") as file:
        for record in records:
            frames.write(file, record)


@dataclasses.dataclass(frozen=True)
class _ItemName:
    """The names of an item, kept after the item was read."""

    id: str
    filename: str


class StreamedItems(Sequence[Any]):
    """The names of items that were read from a stream so far, in its order.

    The items themselves are not kept. `read` yields them, once.
    """

    def __init__(self, items: Iterable[Item]):
        self._unread_items: Iterable[Item] | None = items
        self._names: list[_ItemName] = []

    def read(self) -> Iterator[Item]:
        """Yields the items, and keeps their names.

        Raises:
          RuntimeError: if they were read before.
        """
        if self._unread_items is None:
            raise RuntimeError("a stream of items can be read only once")
        items = self._unread_items
        self._unread_items = None
        for item in items:
            self._names.append(_ItemName(item.id, item.filename))
            yield item

    def __len__(self) -> int:
        """Returns how many items were read so far."""
        return len(self._names)

    def __getitem__(self, number: Any) -> Any:
        """Returns the names of an item that was read: its `id` and its `filename`."""
        return self._names[number]


def stream_items(source: Source) -> Source:
    """Returns the source with items that cannot be sent to a worker as `StreamedItems`."""
    splits: dict[str, Sequence[Item]] = {}
    for split, items in source.splits.items():
        splits[split] = items if _can_be_sent(items) else StreamedItems(items)
    return dataclasses.replace(source, splits=splits)


def _can_be_sent(items: Iterable[Item]) -> bool:
    """Returns whether any process can read the items: they name files, and turn into JSON.

    All items of a split are of one class, so the first one decides.
    """
    if not isinstance(items, Sequence):
        return False
    if not items:  # nothing has to be read
        return True
    return hasattr(items[0], "from_json")
