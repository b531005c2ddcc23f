"""Apache Beam as an engine of `shards`: a task for each shard, and nothing between tasks.

Imported only by a build that uses Beam. A task and its result are files of JSON below the folder
that is being built, which driver and workers share anyway, for two reasons:

1. A pipeline that held all tasks itself would be too big to submit.
2. What a runner makes of an exception on a worker differs from runner to runner.

The files hold data alone. Reading one executes nothing, whoever else can write to the folder.
"""

from collections.abc import Generator, Iterable
import gzip
import json
from typing import Any
import uuid

import apache_beam as beam
from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.errors import VocSegError
from voc_seg_tfrecord.examples.pieces import Made, Note, Work


class Beam:
    """An engine that runs a pipeline; see `shards.Engine`.

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
        """Does tasks; see `shards.Engine`.

        Raises:
          VocSegError: if the result of a task is missing, though the pipeline ended well.
        """
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
            yield number, Made.from_json(_read(_answer(path)))

    def send(self, tasks: Iterable[Any]) -> list[str]:
        """Writes the files of tasks; returns their paths."""
        folder = self._folder / uuid.uuid4().hex
        folder.mkdir(parents=True)
        paths = []
        for number, task in enumerate(tasks):
            paths.append(str(folder / f"{number:06}.json.gz"))
            _write(paths[-1], task.to_json())
        return paths


def _do(path: str, work: Any) -> None:
    """Does a task on a worker, if it was not done before a runner began anew.

    Args:
      path: the file of the task.
      work: a `Work`; Beam checks what is annotated, and cannot check a protocol.
    """
    if epath.Path(_answer(path)).exists():
        return
    result: Made = work(work.task(_read(path)), _ignore)
    made = f"{_answer(path)}.{uuid.uuid4().hex}"
    _write(made, result.to_json())
    epath.Path(made).replace(_answer(path))


def _ignore(count: int) -> None:
    """Takes what is noted, where nobody asks for it."""


def _answer(path: str) -> str:
    return path.replace(".json.gz", ".result.json.gz")


def _write(path: str, value: Any) -> None:
    _write_bytes(path, json.dumps(value).encode())


def _write_bytes(path: str, data: bytes) -> None:
    epath.Path(path).write_bytes(gzip.compress(data, 1, mtime=0))


def _read(path: str) -> Any:
    return json.loads(gzip.decompress(epath.Path(path).read_bytes()))
