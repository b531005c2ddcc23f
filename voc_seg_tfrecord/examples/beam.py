"""A split under Apache Beam: the same examples and errors, on as many machines as there are.

Imported only by a build that uses Beam. Driver and workers exchange files of JSON lines below
the data_dir, which all of them share anyway, for two reasons:

1. A pipeline that held all ids itself would be too big to submit.
2. What a runner makes of an exception on a worker differs from runner to runner.

The files hold data alone. Reading one executes nothing, whoever else can write to the folder.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
import contextlib
import json
from typing import Any, NoReturn, Protocol, runtime_checkable
import uuid

import apache_beam as beam
from etils import epath

from voc_seg_tfrecord.base import errors
from voc_seg_tfrecord.base.errors import ConfigError, LayoutError, SplitError, VocSegError
from voc_seg_tfrecord.examples.make import ExampleSpec, try_examples
from voc_seg_tfrecord.examples.raw import Item

CHUNK = 1000
"""How many items the driver puts into one file."""


@contextlib.contextmanager
def exchange(data_dir: epath.PathLike) -> Iterator[epath.Path]:
    """Opens the folder of files for driver and workers, while a pipeline runs.

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
    """Makes the `(key, example)` of one split; the key is the image's id, or the tile's.

    Args:
      split: the split's name.
      items: its examples in their source, all of one class. They are drawn once, and not kept.
      spec: what to make of them.
      folder: what `exchange` yielded.

    Raises:
      ConfigError: if the items cannot be sent to a worker.
    """

    def __init__(self, split: str, items: Sequence[Item], spec: ExampleSpec, folder: epath.Path):
        super().__init__()
        self._open = _opener(items)
        self._spec = spec
        # Splits are numbered, so that the problems of the first one are told first.
        self._folder = folder / f"{len(list(folder.iterdir())):03}"
        self._folder.mkdir()
        _write_lines(self._folder / "split.jsonl", [{"split": split, "examined": len(items)}])
        self._chunks = [self._write_chunk(items, n) for n in range(0, len(items), CHUNK)]

    def _write_chunk(self, items: Sequence[Item], start: int) -> str:
        path = self._folder / f"items-{start:012}.jsonl"
        numbered = enumerate(items[start : start + CHUNK], start)
        _write_lines(path, ([number, item.to_json()] for number, item in numbered))
        return str(path)

    def expand(self, pipeline: beam.Pipeline) -> beam.PCollection:
        """Returns the examples; see Beam."""
        return (
            pipeline
            | "Chunks" >> beam.Create(self._chunks)
            | "Items" >> beam.FlatMap(_read_lines)
            # Otherwise one worker would get a whole chunk. Not by Reshuffle: `Create` has one, and
            # Flink leaves out a second one that only maps separate from the first.
            | "Alone" >> beam.Map(lambda line: (line, None)).with_output_types(tuple[str, None])
            | "Spread" >> beam.GroupByKey()
            | "Lines" >> beam.Keys()
            | "Examples" >> beam.ParDo(_MakeExample(self._open, self._spec, str(self._folder)))
        )


@runtime_checkable
class _Opening(Protocol):
    """Items whose class alone cannot make them of plain data."""

    def opener(self) -> Callable[[Any], Item]:
        """Returns what can."""
        ...


class _MakeExample(beam.DoFn):
    """Makes one example, or notes its problem for the driver."""

    def __init__(self, open_item: Callable[[Any], Item], spec: ExampleSpec, folder: str):
        self._open = open_item
        self._spec = spec
        self._folder = folder
        self._problems: list[tuple[int, VocSegError]] = []

    def start_bundle(self) -> None:
        self._problems = []

    def process(self, line: str) -> Iterator[tuple[str, dict[str, Any]]]:
        number, data = json.loads(line)
        result = try_examples(self._spec, self._open(data))
        if isinstance(result, VocSegError):
            self._problems.append((number, result))
        else:
            yield from result

    def finish_bundle(self) -> None:
        if self._problems:
            path = epath.Path(self._folder) / f"problems-{uuid.uuid4()}.jsonl"
            _write_lines(path, ([number, error.to_json()] for number, error in self._problems))


def _opener(items: Sequence[Item]) -> Callable[[Any], Item]:
    """Returns what makes an item of its plain data; it goes to the workers with the pipeline."""
    if isinstance(items, _Opening):
        return items.opener()
    item_type = type(items[0])
    if not hasattr(item_type, "from_json"):
        raise ConfigError(
            "Apache Beam",
            found="examples that are in the memory of this process alone",
            expected="examples that lie in files, which workers can read",
            remedy="build them without Beam options",
        )
    return item_type.from_json


def _write_lines(path: epath.Path, values: Iterable[Any]) -> None:
    path.write_text("".join(json.dumps(value) + "\n" for value in values))


def _read_lines(path: epath.PathLike) -> list[str]:
    return epath.Path(path).read_text().splitlines()


def _raise_problems(folder: epath.Path) -> None:
    """Raises what a build without Beam would: first of all what it would find before it begins."""
    found = [(path, _problems(path)) for path in sorted(folder.iterdir())]
    for path, problems in found:
        if lost := [problem for problem in problems if isinstance(problem, LayoutError)]:
            # A folder that cannot be listed is none of an example's problems.
            if lost[0].kind == LayoutError.KIND:
                raise lost[0] from None
            _raise(path, lost)
    for path, problems in found:
        if problems:
            _raise(path, problems)


def _raise(folder: epath.Path, problems: Sequence[VocSegError]) -> NoReturn:
    (line,) = _read_lines(folder / "split.jsonl")
    raise SplitError(problems=problems, **json.loads(line)) from None


def _problems(folder: epath.Path) -> list[VocSegError]:
    """Returns the problems of a split, in the order of its items."""
    problems: dict[int, VocSegError] = {}  # by number: a bundle may have been run twice
    for path in folder.glob("problems-*.jsonl"):
        for line in _read_lines(path):
            number, data = json.loads(line)
            problems[number] = errors.from_json(data)
    return [problems[number] for number in sorted(problems)]
