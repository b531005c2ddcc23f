"""Where the tasks of a build are done: in this process, in several, or on Apache Beam."""

from collections.abc import Generator, Iterable
import dataclasses
import gzip
import json
from typing import Any, Protocol
import uuid

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import processes
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.processes import Note
from voc_seg_tfrecord.writing.tasks import TaskResult, TaskRunner

NumberedResults = Generator[tuple[int, TaskResult], None, None]
"""The number of each task and its result, in any order."""


class Engine(Protocol):
    """Runs tasks somewhere."""

    @property
    def workers(self) -> int:
        """How many tasks it runs at a time, as far as that is known."""
        ...

    def run(self, runner: TaskRunner, tasks: Iterable[Any], note: Note) -> NumberedResults:
        """Yields the number of each task and its result, in any order.

        Args:
          runner: does a task.
          tasks: the tasks, which are taken as they are needed.
          note: is called with numbers of examples as they are done.
        """
        ...


@dataclasses.dataclass(frozen=True)
class LocalEngine:
    """Runs tasks in this process, or in several processes that it starts.

    Attributes:
      workers: how many processes run tasks.
    """

    workers: int = 1

    def run(self, runner: TaskRunner, tasks: Iterable[Any], note: Note) -> NumberedResults:
        """Runs tasks; see `Engine`."""
        if self.workers > 1:
            yield from processes.unordered_map(runner, tasks, workers=self.workers, note=note)
            return
        for number, task in enumerate(tasks):
            yield number, runner(task, note)


class BeamEngine:
    """Runs a Beam pipeline whose elements are the tasks. Nothing passes between tasks.

    A task and its result are JSON files below the folder that is being built, which driver and
    workers share anyway, for two reasons:

    1. A pipeline that held all tasks itself would be too big to submit.
    2. Each runner turns an exception on a worker into another one.

    The files hold data alone. Reading one executes nothing, whoever else can write to the folder.

    Args:
      folder: a new folder for the files that are exchanged; all workers must see it.
      download_config: names the runner and its options.
    """

    workers = 1
    """The number is unknown. With 1, `shards` writes chunks as shards where it can, in one pass."""

    def __init__(self, folder: epath.Path, download_config: tfds.download.DownloadConfig):
        self._folder = folder
        self._runner = download_config.beam_runner
        self._options = download_config.beam_options

    def run(self, runner: TaskRunner, tasks: Iterable[Any], note: Note) -> NumberedResults:
        """Runs tasks; see `Engine`.

        Raises:
          VocSegError: if the result of a task is missing, though the pipeline ended well.
        """
        import apache_beam as beam  # it takes seconds

        paths = self._write_tasks(tasks)
        if not paths:
            return
        with beam.Pipeline(runner=self._runner, options=self._options) as pipeline:
            elements = pipeline | "Tasks" >> beam.Create(paths)  # type: ignore[no-untyped-call]
            _ = elements | "Work" >> beam.Map(_run_task, runner)  # type: ignore[no-untyped-call]
        for number, path in enumerate(paths):
            result_path = _result_path(path)
            if not epath.Path(result_path).exists():
                raise VocSegError(
                    path,
                    found="no result of this task, although the Beam run has ended",
                    expected="the result of each task in the folder of the build",
                    remedy="make sure that all workers reach the data_dir under the same path",
                )
            report = _read_json(result_path)
            note(report["examples"])
            yield number, TaskResult.from_json(report["result"])

    def _write_tasks(self, tasks: Iterable[Any]) -> list[str]:
        """Writes one file per task; returns their paths."""
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir(parents=True)
        paths = []
        for number, task in enumerate(tasks):
            path = str(folder / f"{number:06}.json.gz")
            _write_json(path, task.to_json())
            paths.append(path)
        return paths


def _run_task(path: str, runner: Any) -> None:
    """Runs the task of a file on a worker, and writes its result and the number of its examples.

    A Beam runner may retry a task; one that has a result is skipped.

    The runner is a `TaskRunner`. Beam checks annotated types, and cannot check a protocol.
    """
    result_path = _result_path(path)
    if epath.Path(result_path).exists():
        return
    task = runner.task_from_json(_read_json(path))
    example_counts: list[int] = []
    result: TaskResult = runner(task, example_counts.append)
    unfinished = f"{result_path}.{uuid.uuid4().hex}"
    _write_json(unfinished, {"examples": sum(example_counts), "result": result.to_json()})
    epath.Path(unfinished).replace(result_path)


def _result_path(path: str) -> str:
    return f"{path.removesuffix('.json.gz')}.result.json.gz"


def _write_json(path: str, value: Any) -> None:
    data = json.dumps(value).encode()
    epath.Path(path).write_bytes(gzip.compress(data, 1, mtime=0))


def _read_json(path: str) -> Any:
    return json.loads(gzip.decompress(epath.Path(path).read_bytes()))
