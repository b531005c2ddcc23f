"""What one call makes on its own, a file of records, and the engines that run such calls somewhere.

`Pieces` makes the examples of a piece. `Shards` cuts a shard from the records of pieces. An engine
does it `Here`, in this process or in several, or on Apache `Beam`.
"""

from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
import gzip
import json
from typing import Any, Protocol, Self
import uuid

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core import hashing

from voc_seg_tfrecord.core import errors, processes
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.example import ExampleSpec
from voc_seg_tfrecord.core.staging import staged_file
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.writing.copies import Digested
from voc_seg_tfrecord.writing.examples import try_examples
from voc_seg_tfrecord.writing.serializer import Encoder, StableSerializer

Note = Callable[[int], Any]
"""Takes how many examples were done since it was called last."""


@dataclasses.dataclass(frozen=True)
class Piece:
    """Examples that one call makes, and the file of their records.

    Attributes:
      path: the file.
      numbers: the number of each item in its split; at least as many.
      items: the items, in the order of the file.
      salt: what keys are hashed with if the hashes are wanted, else empty.
    """

    path: str
    numbers: Iterable[int]
    items: Iterable[Any]
    salt: str

    def to_json(self) -> dict[str, Any]:
        """Returns the piece as plain data."""
        return {**vars(self), "items": [item.to_json() for item in self.items]}


@dataclasses.dataclass(frozen=True)
class Made:
    """What came of a piece; of a shard, whose records are known, nothing.

    Attributes:
      lengths: bytes of each record.
      hashes: of each record's key, if they were wanted.
      problems: numbers of items that cannot be used, and what is wrong with them.
      digests: of each item's image, if they were wanted; see `copies.Digested`.
    """

    lengths: list[int] = dataclasses.field(default_factory=list)
    hashes: list[int] = dataclasses.field(default_factory=list)
    problems: list[tuple[int, VocSegError]] = dataclasses.field(default_factory=list)
    digests: list[int] = dataclasses.field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        """Returns it as plain data."""
        return {**vars(self), "problems": [(n, error.to_json()) for n, error in self.problems]}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns what `to_json` made plain data of."""
        problems = [(number, errors.from_json(error)) for number, error in data["problems"]]
        return cls(**{**data, "problems": problems})


@dataclasses.dataclass(frozen=True)
class Pieces:
    """Makes pieces, in any process that has it.

    Attributes:
      item_type: the class of all items.
      spec: what examples are to hold.
      features: the dataset's.
      ahead: how many groups of items are in the making at least; see `base.threads.ordered_map`.
      digests: whether digests of images are wanted.
    """

    item_type: Any
    spec: ExampleSpec
    features: tfds.features.FeaturesDict
    ahead: int
    digests: bool

    def __call__(self, piece: Piece, note: Note) -> Made:
        """Makes a piece. After a first problem it only looks for more of them."""
        made = Made()
        _write_records(piece.path, self._records(piece, made, note))
        return made

    def _records(self, piece: Piece, made: Made, note: Note) -> Iterator[tuple[str, bytes]]:
        hasher = hashing.Hasher(piece.salt)
        serializer = StableSerializer(self.features.get_serialized_info())
        encode = Encoder(self.features)
        make = functools.partial(try_examples, self.spec)
        items = map(Digested, piece.items) if self.digests else piece.items
        results = ordered_map(make, items, ahead=self.ahead)
        for number, (item, result) in zip(piece.numbers, results, strict=False):
            note(1)
            if isinstance(result, VocSegError):
                made.problems.append((number, result))
            elif not made.problems:
                if self.digests:
                    made.digests.append(item.digest)
                for key, example in result:
                    record = serializer.serialize_example(encode(example))
                    made.lengths.append(len(record))
                    if piece.salt:
                        made.hashes.append(hasher.hash_key(key))
                    yield key, record

    def task(self, data: Mapping[str, Any]) -> Piece:
        """Returns the piece of plain data."""
        return Piece(**{**data, "items": [self.item_type.from_json(i) for i in data["items"]]})


@dataclasses.dataclass(frozen=True)
class Shard:
    """A shard that is cut from pieces.

    Attributes:
      path: its file.
      pieces: TFRecord files.
      records: of each record the number of its piece, its place there, and its length, in bytes.
    """

    path: str
    pieces: Sequence[str]
    records: Sequence[tuple[int, int, int]]

    def to_json(self) -> dict[str, Any]:
        """Returns the shard as plain data."""
        return vars(self)


class Shards:
    """Cuts shards, in any process that has it."""

    def __call__(self, shard: Shard, note: Note) -> Made:
        """Writes a shard."""
        _write_records(shard.path, self._records(shard, note))
        return Made()

    def _records(self, shard: Shard, note: Note) -> Iterator[tuple[int, bytes]]:
        with contextlib.ExitStack() as stack:
            files: dict[int, Any] = {}
            for number, (piece, place, length) in enumerate(shard.records):
                if piece not in files:
                    files[piece] = stack.enter_context(epath.Path(shard.pieces[piece]).open("rb"))
                files[piece].seek(place)
                note(1)
                yield number, files[piece].read(length)

    def task(self, data: Mapping[str, Any]) -> Shard:
        """Returns the shard of plain data."""
        return Shard(**data)


def _write_records(path: str, records: Iterable[tuple[Any, bytes]]) -> None:
    """Writes a TFRecord file as TFDS does."""
    # The bytes are those of TensorFlow's own writer, which takes seconds and 600 MB to import.
    # TFDS's own `incomplete_file` makes the folder anew where the next run has just removed it.
    with staged_file(path) as unfinished, unfinished.open("wb") as file:
        for _, record in records:
            file.write(frames.frame(record))


class Work(Protocol):
    """What is done with a task: `Pieces` or `Shards`. Picklable, so that any process can have it.

    Tasks have `to_json()`, for engines that send them as plain data.
    """

    def __call__(self, task: Any, note: Note, /) -> Made:
        """Does a task."""
        ...

    def task(self, data: Mapping[str, Any]) -> Any:
        """Returns the task of plain data."""
        ...


class Engine(Protocol):
    """What does tasks somewhere."""

    @property
    def workers(self) -> int:
        """How many tasks it does at a time, as far as that is known."""
        ...

    def run(
        self, work: Work, tasks: Iterable[Any], note: Note
    ) -> Generator[tuple[int, Made], None, None]:
        """Yields the number of each task and its result, in any order."""
        ...


@dataclasses.dataclass(frozen=True)
class Here:
    """In this process alone, or in several that it starts.

    Attributes:
      workers: how many processes do the work.
    """

    workers: int = 1

    def run(
        self, work: Work, tasks: Iterable[Any], note: Note
    ) -> Generator[tuple[int, Made], None, None]:
        """Does tasks; see `Engine`."""
        if self.workers > 1:
            yield from processes.unordered_map(work, tasks, workers=self.workers, note=note)
            return
        for number, task in enumerate(tasks):
            yield number, work(task, note)


class Beam:
    """An engine that runs a pipeline with a task for each shard, and nothing between tasks.

    A task and its result are files of JSON below the folder that is being built, which driver and
    workers share anyway, for two reasons:

    1. A pipeline that held all tasks itself would be too big to submit.
    2. What a runner makes of an exception on a worker differs from runner to runner.

    The files hold data alone. Reading one executes nothing, whoever else can write to the folder.

    Args:
      folder: a new folder for the files that are exchanged; all workers must see it.
      download_config: says which runner, with which options.
    """

    workers = 1  # nobody knows how many there are: pieces are shards wherever they can be

    def __init__(self, folder: epath.Path, download_config: tfds.download.DownloadConfig):
        self._folder = folder
        self._runner = download_config.beam_runner
        self._options = download_config.beam_options

    def run(
        self, work: Work, tasks: Iterable[Any], note: Note
    ) -> Generator[tuple[int, Made], None, None]:
        """Does tasks; see `Engine`.

        Raises:
          VocSegError: if the result of a task is missing, though the pipeline ended well.
        """
        import apache_beam as beam  # it takes seconds

        paths = self.send(tasks)
        if not paths:
            return
        with beam.Pipeline(runner=self._runner, options=self._options) as pipeline:
            made = pipeline | "Tasks" >> beam.Create(paths)  # type: ignore[no-untyped-call]
            _ = made | "Work" >> beam.Map(_do, work)  # type: ignore[no-untyped-call]
        for number, path in enumerate(paths):
            if not epath.Path(_answer(path)).exists():
                raise VocSegError(
                    path,
                    found="no result of this task, though the runner says that all is done",
                    expected="a result of each task, in the folder that is being built",
                    remedy="see that all workers reach the data_dir under the same path",
                )
            note(1)
            yield number, Made.from_json(_read_json(_answer(path)))

    def send(self, tasks: Iterable[Any]) -> list[str]:
        """Writes the files of tasks; returns their paths."""
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir(parents=True)
        paths = []
        for number, task in enumerate(tasks):
            paths.append(str(folder / f"{number:06}.json.gz"))
            _write_json(paths[-1], task.to_json())
        return paths


def _do(path: str, work: Any) -> None:
    """Does the task of a file on a worker, if it was not done before a runner began anew.

    The work is a `Work`. Beam checks what is annotated, and cannot check a protocol.
    """
    if epath.Path(_answer(path)).exists():
        return
    result: Made = work(work.task(_read_json(path)), lambda _: None)
    made = f"{_answer(path)}.{uuid.uuid4().hex}"
    _write_json(made, result.to_json())
    epath.Path(made).replace(_answer(path))


def _answer(path: str) -> str:
    return path.replace(".json.gz", ".result.json.gz")


def _write_json(path: str, value: Any) -> None:
    epath.Path(path).write_bytes(gzip.compress(json.dumps(value).encode(), 1, mtime=0))


def _read_json(path: str) -> Any:
    return json.loads(gzip.decompress(epath.Path(path).read_bytes()))
