"""A pytest plugin that keeps a copy of every folder that a test plans, with the options.

It makes the corpus `suite`. The folders are those of the tests of b3156bc4, so that they can be
made again at any time, from a worktree of that commit beside this one:

    git worktree add --detach ../base b3156bc4
    cd ../base
    PYTHONPATH=$PWD:HERE/tests pytest -p outcomes.record --record_folders SUITE -n 2 \
        tests/folder tests/tools tests/build_from tests/commands tests/sources

HERE is this checkout, and SUITE the folder that is written; VOC_SEG_REAL_DATA is not set, so that
no real picture gets there. SUITE holds a folder for each planned folder and its options, called by
a digest of both:

    SUITE/0a1b2c3d4e5f/options.json      {"test": "tests/folder/...", "options": {...}}
    SUITE/0a1b2c3d4e5f/folder/NAME/...   the copy; NAME is the folder's own name

The plugin wraps a class of that commit, so it is of no use at a later one.
"""

from collections import Counter
from collections.abc import Mapping
import hashlib
import json
import os
import pathlib
import shutil
from typing import Any

import pytest

MAX_FOLDER_BYTES = 3_000_000
MAX_FOLDER_FILES = 2_000
MAX_FOLDERS_OF_TEST = 30
"""Limits: what is larger is not copied, and tests that draw hundreds of folders count less."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--record_folders", metavar="DIR", help="where planned folders are copied")


def pytest_configure(config: pytest.Config) -> None:
    folder = config.getoption("record_folders")
    if folder:
        _wrap_planner(pathlib.Path(folder).absolute())


def _wrap_planner(out: pathlib.Path) -> None:
    """Makes the planner of b3156bc4 copy its folder before it plans."""
    from voc_seg_tfrecord.build_from.tree import FolderPlanner

    start_planner = FolderPlanner.__init__
    count_by_test: Counter[str] = Counter()

    def record_and_start(self: Any, root: Any, *, name: str, **options: Any) -> None:
        test = os.environ.get("PYTEST_CURRENT_TEST", "").rpartition(" ")[0]
        if count_by_test[test] < MAX_FOLDERS_OF_TEST and record(root, options, test, out):
            count_by_test[test] += 1
        start_planner(self, root, name=name, **options)

    FolderPlanner.__init__ = record_and_start  # type: ignore[method-assign]


def record(root: Any, options: Mapping[str, Any], test: str, out: pathlib.Path) -> bool:
    """Copies a folder and its options, if both are small and plain; says whether it did."""
    folder = pathlib.Path(str(root))
    text = plain_options(options)
    if not folder.is_dir() or text is None or str(folder.parent) in text:
        return False
    draft = out / f".{os.getpid()}"
    try:
        digest = _digest_of(folder, text)
        if not digest or (out / digest).exists():
            return False
        copy = draft / "folder" / (folder.name or "root")
        shutil.copytree(folder, copy, symlinks=True)
        row = {"test": test, "options": json.loads(text)}
        (draft / "options.json").write_text(json.dumps(row, indent=1), "utf-8")
        draft.rename(out / digest)
    except (OSError, shutil.Error):  # what a test has made unreadable, or another worker copied
        shutil.rmtree(draft, ignore_errors=True)
        return False
    return True


def plain_options(options: Mapping[str, Any]) -> str | None:
    """Returns options as JSON; None if they are not plain data. Tables become lists of pairs."""
    fields = dict(options)
    classes = fields.get("classes")
    if isinstance(classes, Mapping):
        fields["classes"] = list(classes.items())
    try:
        return json.dumps(fields, sort_keys=True)
    except TypeError:
        return None


def _digest_of(folder: pathlib.Path, text: str) -> str:
    """Returns a digest of a folder's files and of a text; empty if it is not to be copied."""
    digest = hashlib.sha256(f"{folder.name}\n{text}".encode("utf-8", "surrogateescape"))
    total_bytes = 0
    total_files = 0
    for place, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted([*folders, *names]):
            path = pathlib.Path(place, name)
            if not path.resolve().is_relative_to(folder.resolve()):
                return ""  # a link out of the folder, which a copy would not have
            if path.is_dir() and not path.is_symlink():
                continue
            if path.is_fifo():  # reading it would wait for a writer
                return ""
            total_files += 1
            total_bytes += path.lstat().st_size
            if total_bytes > MAX_FOLDER_BYTES or total_files > MAX_FOLDER_FILES:
                return ""
            relative = os.fsencode(path.relative_to(folder))
            content = os.fsencode(path.readlink()) if path.is_symlink() else path.read_bytes()
            digest.update(b"%d %s %d %s" % (len(relative), relative, len(content), content))
    return digest.hexdigest()[:12]
