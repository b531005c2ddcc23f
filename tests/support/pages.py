"""Reads the pages of the documentation and runs what they show.

The convention, for README.md and the pages in docs/:

1. Every fence is `bash`, `python` or `text`. A `bash` or `python` fence is run, in the order
   of the page. All fences of a page share one folder and one Python session.
2. A `text` fence after it holds all that it prints to standard output. A line `...` stands for
   any number of lines that are left out.
3. A comment before a fence may say more: `<!-- not run: reason -->`; `<!-- exits: 1 -->`, the
   exit status of the last command; `<!-- needs: grain, jax -->`, modules without which the fence
   is skipped; `<!-- numbers: reason -->` before a `text` fence, whose decimals may differ.
4. `<!-- after: docs/start/own-data.md -->` before all fences: the page continues that page.
5. Paths of the pages stand for folders of the test: see `World`.
"""

import contextlib
import dataclasses
import importlib.util
import io
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys

from support.building import tfds_command
from support.paths import REPOSITORY

from voc_seg_tfrecord.commands import cli

# README.md first, and then as mkdocs.yml lists them.
_LISTED = re.findall(r"^ +- ([\w/-]+\.md)$", (REPOSITORY / "mkdocs.yml").read_text(), re.M)
IN_ORDER = [REPOSITORY / "README.md", *(REPOSITORY / "docs" / name for name in _LISTED)]
PAGES = [REPOSITORY / "README.md", *sorted((REPOSITORY / "docs").rglob("*.md"))]

# What the first two commands of the README do before the part that the tests run.
_INSTALL = re.compile(r"python3 -m venv \.venv && \.venv/bin/pip install [^&]* && \.venv/bin/")
_AFTER = re.compile(r"^<!-- after: (.+) -->$", re.M)
_MARK = re.compile(r"<!-- (?:(not run|exits|needs|numbers): (.+)|\w+) -->")


@dataclasses.dataclass(frozen=True)
class Fence:
    """A fenced block: where it stands, its language, its text, and what comments say of it."""

    line: int
    language: str
    text: str
    marks: dict[str, str]


def sentence_and_example(rule) -> tuple[str, str]:
    """Returns the first sentence of a rule's docstring, and its example, as pages have them."""
    _, _, example = rule.__doc__.partition("Example: ")
    return rule.__doc__.partition("\n")[0], " ".join(example.split())


def fences(page: pathlib.Path) -> list[Fence]:
    """Returns the fences of a page, in its order."""
    found, marks, opened = [], {}, None
    for number, line in enumerate(page.read_text().splitlines(keepends=True), start=1):
        if opened is None and line.startswith("```"):
            opened, text = (number, line[3:].strip()), ""
        elif opened is not None and line.startswith("```"):
            found.append(Fence(*opened, text, marks))
            marks, opened = {}, None
        elif opened is not None:
            text += line
        elif mark := _MARK.fullmatch(line.strip()):
            marks = marks | ({mark[1]: mark[2]} if mark[1] else {})
        elif line.strip():
            marks = {}
    return found


def fences_before(page: pathlib.Path) -> list[Fence]:
    """Returns the fences of the page that this one continues; empty if it stands alone."""
    return [
        fence for name in _AFTER.findall(page.read_text()) for fence in fences(REPOSITORY / name)
    ]


@dataclasses.dataclass
class World:
    """What the paths of the pages stand for, and the Python session of one page.

    Attributes:
      folder: where commands run; it looks like a checkout.
      data_dir: `/tmp/tensorflow_datasets` of the pages.
    """

    folder: pathlib.Path
    data_dir: pathlib.Path
    session: dict = dataclasses.field(default_factory=dict)
    process: subprocess.Popen | None = None

    def run(self, fence: Fence) -> str:
        """Runs a fence; returns what it printed, with the paths of the page."""
        text = _INSTALL.sub("", fence.text)
        as_word = shlex.quote if fence.language == "bash" else str
        text = text.replace("/tmp/tensorflow_datasets", as_word(str(self.data_dir)))
        printed = io.StringIO()
        if fence.language == "python" and "torch" in fence.marks.get("needs", ""):
            printed.write(self._in_a_process(text))
        elif fence.language == "python":
            with contextlib.redirect_stdout(printed):
                exec(compile(text, f"line {fence.line}", "exec"), self.session)
        else:
            status = 0
            for command in _commands(text):
                assert status == 0, f"a command exits with {status}"
                status = self._command(command, printed)
            assert status == int(fence.marks.get("exits", 0))
        shown = printed.getvalue()
        for ours, theirs in (
            (self.data_dir, "/tmp/tensorflow_datasets"),
            (self.folder, "."),
        ):
            shown = shown.replace(str(ours), theirs)
        return shown

    def _in_a_process(self, text: str) -> str:
        """Runs Python in the process of this page: torchvision breaks after TensorFlow, and
        the workers of PyTorch's loader are forked.
        """
        if self.process is None:
            self.process = subprocess.Popen(
                [sys.executable, "-c", _PROCESS],
                cwd=self.folder,
                env=self._environment(),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        print(json.dumps(text), file=self.process.stdin, flush=True)
        return json.loads(self.process.stdout.readline() or '"the process ended"')

    def end(self) -> None:
        """Ends what a page has begun."""
        self.session.clear()
        if self.process is not None:
            self.process.communicate()
            self.process = None

    def _environment(self) -> dict[str, str]:
        return os.environ | {
            "PATH": f"{pathlib.Path(sys.executable).parent}:{os.environ['PATH']}",
            "PYTHONPATH": str(REPOSITORY),
            "TFDS_DATA_DIR": str(self.data_dir),
        }

    def _command(self, command: str, printed: io.StringIO) -> int:
        words = shlex.split(command, comments=True)
        if words[0] == "voc-seg-tfrecord" and "|" not in words:  # here: a process takes a second
            with contextlib.redirect_stdout(printed):
                try:
                    return cli.main(words[1:])
                except SystemExit as done:  # as --version and --help end
                    return int(done.code or 0)
        if words[0] == "tfds" and "|" not in words:  # here: a process takes 8 seconds
            with contextlib.redirect_stdout(printed):
                if words[1] == "build" and "--data_dir" not in words:
                    # Not from TFDS_DATA_DIR, which TFDS reads once, when it is imported.
                    words += ["--data_dir", self.data_dir]
                tfds_command(*words[1:])
            return 0
        result = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", command],
            cwd=self.folder,
            env=self._environment(),
            capture_output=True,
            text=True,
        )
        assert result.returncode in (0, 1), result.stderr
        printed.write(result.stdout)
        return result.returncode


_PROCESS = """
import contextlib, io, json, sys
session = {"__name__": "__main__"}
for line in sys.stdin:
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        exec(compile(json.loads(line), "page", "exec"), session)
    print(json.dumps(printed.getvalue()), flush=True)
"""


def _commands(text: str) -> list[str]:
    lines = text.replace("\\\n", " ").splitlines()
    return [line for line in lines if line.strip() and not line.startswith("#")]


def missing(fence: Fence) -> str:
    """Returns the modules that a fence needs and that are not installed; empty if there is none."""
    names = [name for name in fence.marks.get("needs", "").split(", ") if name]
    return ", ".join(name for name in names if importlib.util.find_spec(name) is None)


def same(printed: str, shown: str, numbers_vary: bool = False) -> bool:
    """Says whether a page shows what was printed; `...` stands for lines that are left out.

    If `numbers_vary`, numbers with a decimal point may differ.
    """
    parts = re.split(r"^\.\.\.\n", shown, flags=re.M)
    patterns = [re.escape(part) for part in parts]
    if numbers_vary:
        patterns = [re.sub(r"(?:\\ )+\d+\\\.\d+", r" +\\d+\\.\\d+", part) for part in patterns]
    return re.fullmatch(r"(?:.*\n)*?".join(patterns), printed) is not None
