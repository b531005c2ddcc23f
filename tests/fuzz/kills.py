"""Kills commands that write at many moments, and looks at what they leave.

    python tests/fuzz/kills.py --kills 24
    python tests/fuzz/kills.py --kills 24 --signal TERM --seed 1 build "export voc"

After each kill the dataset or folder must be absent or complete. Then the same command is run
again: it must end with status 0, write the same bytes as a run that was not killed, and leave
nothing unfinished. SIGTERM, SIGINT and SIGHUP must leave nothing unfinished themselves, end with
their status, and show no traceback. `one worker` kills one of a build's two workers, if any is
there: the build must end with an error and leave nothing, or have been complete.

Each run is a fork of one process that has imported TensorFlow and the package already, so that the
moments lie in the work and not in the imports.
"""

import argparse
from collections.abc import Callable
import dataclasses
import hashlib
import importlib
import os
import pathlib
import pkgutil
import random
import shutil
import signal
import sys
import tempfile
import time
import traceback

import numpy as np
from PIL import Image

sys.path[:0] = [str(pathlib.Path(__file__).parents[1]), str(pathlib.Path(__file__).parents[2])]

CLASSES = "voc"


@dataclasses.dataclass(frozen=True)
class Command:
    """A command to be killed.

    Attributes:
      words: the command line.
      result: the file or folder that it writes.
      out: the folder that all it writes is in.
      replaces: whether the folder is there before, and must stay until the new one is complete.
      tfds: whether it is TFDS's own command line.
      worker: whether one of its workers is killed in its place.
    """

    words: list
    result: pathlib.Path
    out: pathlib.Path
    replaces: bool = False
    tfds: bool = False
    worker: bool = False

    def start(self) -> int:
        """Starts it; returns the number of its process."""
        words = list(map(str, self.words))
        return _fork(lambda: (_tfds if self.tfds else _ours)(words), self.errors)

    @property
    def errors(self) -> pathlib.Path:
        """The file of what it writes to standard error."""
        return self.out.with_name("errors")


@dataclasses.dataclass
class Outcome:
    """What came of all kills of one command."""

    kills: int = 0
    left_unfinished: int = 0
    half_loads: int = 0
    old_lost: int = 0
    other_status: int = 0
    tracebacks: int = 0
    next_failed: int = 0
    next_differs: int = 0
    next_unfinished: int = 0

    @property
    def faults(self) -> int:
        """How many kills had an outcome that must not be."""
        return sum(dataclasses.astuple(self)[2:])


def main() -> int:
    """Kills, prints the table, and returns 1 if anything happened that must not."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("commands", nargs="*", default=[], help="all of them by default")
    parser.add_argument("--kills", type=int, default=24, help="kills of each command (24)")
    parser.add_argument("--pairs", type=int, default=300, help="images and masks (300)")
    parser.add_argument("--signal", choices=("KILL", "TERM", "INT", "HUP"), default="KILL")
    parser.add_argument("--seed", help="moves the moments at random; even moments by default")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        commands = _commands(pathlib.Path(name), args.pairs)
        number = signal.Signals[f"SIG{args.signal}"]
        wanted = args.commands or list(commands)
        moments = _moments(args.kills, args.seed)
        outcomes = {w: _kill_often(commands[w], moments, number) for w in wanted}
    fields = [field.name for field in dataclasses.fields(Outcome)]
    print("command".ljust(18), *fields)
    for command, outcome in outcomes.items():
        values = dataclasses.astuple(outcome)
        print(
            command.ljust(18), *(str(v).rjust(len(f)) for v, f in zip(values, fields, strict=True))
        )
    return 1 if any(outcome.faults for outcome in outcomes.values()) else 0


def _moments(kills: int, seed: str | None) -> list[float]:
    """Returns when to kill, in parts of the time that a run takes."""
    generator = random.Random(seed)
    return [(n + (0.5 if seed is None else generator.random())) / kills for n in range(kills)]


def _commands(folder: pathlib.Path, pairs: int) -> dict[str, Command]:
    from support.drawing import write_small_tree

    tree, records = write_small_tree(folder / "tree", pairs), folder / "records"
    predicted = folder / "predicted"
    predicted.mkdir()
    for path in (tree / "SegmentationClass").iterdir():
        values = np.asarray(Image.open(path))
        Image.fromarray(np.where(values == 255, 0, values).astype(np.uint8)).save(
            predicted / path.name
        )
    source, out = folder / "source", folder / "out"
    # They are made in a child, so that no thread of TensorFlow runs in this process.
    sources = [
        ["build", tree, "--name", "s", "--class_names", CLASSES, "--data_dir", source],
        ["export", source / "voc_seg_tfrecord/s/1.0.0", "--layout", "raw", "--out", records],
    ]
    for words in sources:
        _wait(_fork(lambda words=words: _ours(list(map(str, words))), folder / "errors"))
    config = '{"name": "k"}'
    built = out / "voc_seg_tfrecord/k/1.0.0"
    build = ["build", tree, "--name", "k", "--class_names", CLASSES, "--data_dir", out]
    tfds = ["build", "voc_seg_tfrecord", "--imports", "voc_seg_tfrecord", "--config", config]
    tfds += ["--manual_dir", tree, "--data_dir", out]
    imported = ["import", records, "--name", "k", "--class_names", CLASSES, "--data_dir", out]
    dataset = source / "voc_seg_tfrecord/s/1.0.0"
    export = ["export", dataset, "--out", out / "k", "--layout"]
    score = ["evaluate", f"{dataset}@train", "--predictions", predicted]
    page = out / "page.html"
    return {
        "build": Command(build, built, out),
        "build --overwrite": Command([*build, "--overwrite"], built, out, replaces=True),
        "build --workers": Command([*build, "--workers", "2"], built, out),
        "one worker": Command([*build, "--workers", "2"], built, out, worker=True),
        "tfds build": Command(tfds, built, out, tfds=True),
        "tfds build --overwrite": Command([*tfds, "--overwrite"], built, out, True, True),
        "import": Command(imported, built, out),
        "example": Command(["example", "field", "--out", out / "k"], out / "k", out),
        "export voc": Command([*export, "voc"], out / "k", out),
        "export deeplab": Command([*export, "deeplab"], out / "k", out),
        "report": Command(["report", dataset, "--out", page], page, out),
        "evaluate": Command([*score, "--html", out / "k.html"], out / "k.html", out),
        "evaluate --html": Command([*score, "--html", page], page, out),
    }


def _ours(words: list) -> int:
    from voc_seg_tfrecord.commands import cli

    return cli.main(words)


def _tfds(words: list) -> int:
    from tensorflow_datasets.scripts.cli import main

    main.main(main._parse_flags(["tfds", *words]))
    return 0


def _kill_often(command: Command, moments: list[float], number: int) -> Outcome:
    shutil.rmtree(command.out, ignore_errors=True)
    command.out.mkdir()
    start = time.monotonic()
    status = _wait(command.start())
    duration = time.monotonic() - start
    whole = _digest(command.result)
    if status or not whole:
        raise SystemExit(f"a run that nobody killed ended with status {status}")
    outcome = Outcome()
    for moment in moments:
        if not command.replaces:
            shutil.rmtree(command.out, ignore_errors=True)
            command.out.mkdir()
        child = command.start()
        time.sleep(duration * moment)
        victims = _workers(child) if command.worker else [child]
        for victim in victims[:1]:
            os.kill(victim, number)
        outcome.kills += len(victims[:1])
        _judge_killed(outcome, _wait(child), command, whole, number, moment)
        if not command.replaces and command.result.exists():
            shutil.rmtree(command.out)
            command.out.mkdir()  # the kill came too late: the next run is to build again
        _judge_next(outcome, _wait(command.start()), command, whole)
    return outcome


def _workers(driver: int) -> list[int]:
    """Returns the processes that a process has started, the last one first."""
    tasks = pathlib.Path(f"/proc/{driver}/task").glob("*/children")
    return sorted((int(n) for task in tasks for n in task.read_text().split()), reverse=True)


def _judge_killed(
    outcome: Outcome, status: int, command: Command, whole: str, number: int, moment: float
) -> None:
    unfinished = bool(_unfinished(command.out))
    outcome.left_unfinished += unfinished
    found = _digest(command.result)
    outcome.half_loads += found not in ("", whole)
    outcome.old_lost += command.replaces and not found
    if command.worker:
        outcome.other_status += unfinished or status != (0 if found else 1)
    elif number != signal.SIGKILL:
        other = status not in (0, 128 + number) or unfinished
        outcome.other_status += other
        errors = command.errors.read_text()
        shown = not command.tfds and ("Traceback" in errors or "Exception ignored" in errors)
        outcome.tracebacks += shown
        if other or shown:
            print(f"at {moment:.4f}: status {status}, unfinished: {unfinished}\n{errors[-2000:]}")


def _judge_next(outcome: Outcome, status: int, command: Command, whole: str) -> None:
    outcome.next_failed += status != 0
    outcome.next_differs += _digest(command.result) != whole
    left = _unfinished(command.out)
    outcome.next_unfinished += bool(left)
    if left:
        print("the next run left", *(path.relative_to(command.out) for path in left))


def _unfinished(out: pathlib.Path) -> list[pathlib.Path]:
    return [path for path in out.rglob("*") if "incomplete" in path.name]


def _digest(folder: pathlib.Path) -> str:
    """Returns one hash of a file, or of all files below a folder; empty if there is none."""
    if folder.is_file():
        return hashlib.sha256(folder.read_bytes()).hexdigest()
    if not folder.exists():
        return ""
    digest = hashlib.sha256()
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        digest.update(f"{path.relative_to(folder)}\0".encode() + path.read_bytes())
    return digest.hexdigest()


def _fork(call: Callable[[], int], errors: pathlib.Path) -> int:
    status = 1
    child = 0
    try:
        child = os.fork()
        if child:
            return child
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        os.dup2(os.open(errors, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), 2)
        status = call()
    except SystemExit as error:
        status = error.code if isinstance(error.code, int) else 1
    except KeyboardInterrupt:
        status = 128 + signal.SIGINT
    except BaseException:
        traceback.print_exc()
    finally:
        if not child:  # never out of here: this process is not the one that called
            os._exit(status)


def _wait(child: int) -> int:
    """Returns the status of a child that ended, as a shell says it."""
    _, status = os.waitpid(child, 0)
    code = os.waitstatus_to_exitcode(status)
    return code if code >= 0 else 128 - code


if __name__ == "__main__":
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    import tensorflow  # noqa: F401

    import voc_seg_tfrecord

    for module in pkgutil.walk_packages(voc_seg_tfrecord.__path__, "voc_seg_tfrecord."):
        if (
            not module.name.endswith("__main__") and ".torch" not in module.name
        ):  # which needs PyTorch
            importlib.import_module(module.name)
    sys.exit(main())
