"""A split under Apache Beam: the same examples and errors, on as many machines as there are.

Imported only by a build that uses Beam. What the driver tells the workers, and what they
tell it back, goes through files below the data_dir, which TFDS has all of them share anyway:
a pipeline that held all ids itself would be too big to submit, and what a runner makes of an
exception on a worker differs from runner to runner.
"""

from collections.abc import Iterator, Sequence
import contextlib
import pickle
from typing import Any
import uuid

import apache_beam as beam
from etils import epath

from voc_seg_tfrecord.errors import SplitError, VocSegError
from voc_seg_tfrecord.examples.make import ExampleSpec, try_example
from voc_seg_tfrecord.examples.raw import Item

CHUNK = 1000
"""How many pairs the driver puts into one file."""


@contextlib.contextmanager
def exchange(data_dir: epath.PathLike) -> Iterator[epath.Path]:
    """Opens the folder through which driver and workers talk, while a pipeline runs.

    Args:
      data_dir: the folder that is being built; all workers must see it.

    Yields:
      The folder, to be given to `MakeExamples`.

    Raises:
      SplitError: at the end, for the first split that has problems, with all of them.
    """
    folder = epath.Path(data_dir) / "beam"
    folder.mkdir()
    try:
        try:
            yield folder
        except Exception:
            # A split without a single good example fails in TFDS first.
            _raise_problems(folder)
            raise
        _raise_problems(folder)
    finally:
        folder.rmtree()


class MakeExamples(beam.PTransform):
    """Makes the `(image id, example)` of one split.

    Args:
      split: the split's name.
      pairs: its files.
      spec: what to make of them.
      folder: what `exchange` yielded.
    """

    def __init__(self, split: str, pairs: Sequence[Item], spec: ExampleSpec, folder: epath.Path):
        super().__init__()
        self._spec = spec
        # Splits are numbered, so that the first one's problems are told first.
        self._folder = folder / f"{len(list(folder.iterdir())):03}"
        self._folder.mkdir()
        (self._folder / "split.pickle").write_bytes(pickle.dumps((split, len(pairs))))
        self._chunks = []
        for start in range(0, len(pairs), CHUNK):
            path = self._folder / f"pairs-{start:012}.pickle"
            numbered = list(enumerate(pairs[start : start + CHUNK], start))
            path.write_bytes(pickle.dumps(numbered))
            self._chunks.append(str(path))

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """Returns the examples; see Beam."""
        return (
            pipeline
            | "Chunks" >> beam.Create(self._chunks)
            | "Pairs" >> beam.FlatMap(_read_chunk)
            # Otherwise one worker would get a whole chunk.
            | "Spread" >> beam.Reshuffle()
            | "Examples" >> beam.ParDo(_MakeExample(self._spec, str(self._folder)))
        )


class _MakeExample(beam.DoFn):
    """Makes one example, or notes its problem for the driver."""

    def __init__(self, spec: ExampleSpec, folder: str):
        self._spec = spec
        self._folder = folder
        self._problems: list[tuple[int, VocSegError]] = []

    def start_bundle(self) -> None:
        self._problems = []

    def process(self, numbered: tuple[int, Item]) -> Iterator[tuple[str, dict[str, Any]]]:
        number, pair = numbered
        result = try_example(self._spec, pair)
        if isinstance(result, VocSegError):
            self._problems.append((number, result))
        else:
            yield pair.id, result

    def finish_bundle(self) -> None:
        if self._problems:
            path = epath.Path(self._folder) / f"problems-{uuid.uuid4()}.pickle"
            path.write_bytes(pickle.dumps(self._problems))


def _read_chunk(path: str) -> list[tuple[int, Item]]:
    return pickle.loads(epath.Path(path).read_bytes())


def _raise_problems(folder: epath.Path) -> None:
    for split_folder in sorted(folder.iterdir()):
        problems: dict[int, VocSegError] = {}  # by number: a bundle may have been run twice
        for path in split_folder.glob("problems-*.pickle"):
            problems.update(pickle.loads(path.read_bytes()))
        if problems:
            split, examined = pickle.loads((split_folder / "split.pickle").read_bytes())
            raise SplitError(split, [problems[n] for n in sorted(problems)], examined) from None
