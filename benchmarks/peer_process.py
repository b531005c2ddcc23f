"""Processes that read the way of others, each with an interpreter that can."""

from collections.abc import Sequence
import contextlib
import dataclasses
import functools
import importlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile
from typing import TextIO

from peers import Source

_HERE = pathlib.Path(__file__).parent
MODULES = (
    "this_package",
    "pillow_files",
    "torchvision_files",
    "hugging_face",
    "web_dataset",
    "data_source",
    "dali",
)

_FIND = """
import importlib, sys
for name in sys.argv[1:]:
    try:
        importlib.import_module(name)
    except Exception as error:
        print(f"{type(error).__name__}: {error}".splitlines()[0])
        break
"""


@dataclasses.dataclass(frozen=True)
class Peer:
    """A way to read that another library offers.

    Attributes:
      name: of the way.
      module: in `peers`.
      packages: what it imports.
    """

    name: str
    module: str
    packages: tuple[str, ...]

    def interpreter(self, candidates: Sequence[str]) -> tuple[str | None, str]:
        """Returns the first interpreter that has all packages, or None and what is missing."""
        reasons = [_missing(python, self.packages) for python in candidates]
        if "" in reasons:
            return candidates[reasons.index("")], ""
        return None, f"not measured: {reasons[-1]}"


def peers() -> list[Peer]:
    """Returns all of them."""
    found = []
    for name in MODULES:
        module = importlib.import_module(f"peers.{name}")
        found += [Peer(way, name, module.PACKAGES[way]) for way in module.WAYS]
    return found


@functools.cache
def _missing(python: str, packages: tuple[str, ...]) -> str:
    """Returns why an interpreter cannot import packages, or nothing if it can."""
    found = subprocess.run([python, "-c", _FIND, *packages], capture_output=True, text=True)
    if found.returncode:
        return f"{python} ended with exit status {found.returncode}"
    return found.stdout.strip()


@dataclasses.dataclass(frozen=True)
class Running:
    """A process that goes through the data once, and then waits to be asked."""

    process: subprocess.Popen
    errors: TextIO

    def seen(self) -> dict:
        """Waits until it has gone through the data, and returns what it saw.

        Raises:
          RuntimeError: with its last words, if it has failed.
        """
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        status = self.process.wait()
        self.errors.seek(0)
        words = [line for line in self.errors.read().splitlines() if line.strip()]
        raise RuntimeError(words[-1] if words else f"exit status {status}")

    def read(self) -> tuple[float, float | None]:
        """Lets it go through the data again; returns what `rounds.through` does."""
        self.process.stdin.write("\n")
        self.process.stdin.flush()
        wall, cpu = json.loads(self.process.stdout.readline())
        return wall, cpu


def start(stack: contextlib.ExitStack, peer: Peer, python: str, source: Source) -> Running:
    """Starts a process, which ends with the stack."""
    command = [python, _HERE / "run_peer.py", peer.module, peer.name, source.tree, source.folder]
    errors = stack.enter_context(tempfile.TemporaryFile("w+"))  # noqa: SIM115 - the stack closes it
    # Others' processes are not to find this checkout's folder or a path meant for this one.
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    process = subprocess.Popen(
        [*map(str, command)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=errors,
        text=True,
        env=environment,
    )
    stack.callback(_end, process)
    return Running(process, errors)


def _end(process: subprocess.Popen) -> None:
    with contextlib.suppress(BrokenPipeError):
        process.stdin.close()
    try:
        process.wait(60)
    except subprocess.TimeoutExpired:
        print(f"{process.args} did not end; it is killed", file=sys.stderr)
        process.kill()
        process.wait()
    process.stdout.close()
