"""The outcome of reading a folder as plain data: what is built, what is asked, or what is refused.

Only `doors` knows the package. Paths of files with the same bytes count as one: each is replaced
by the first of them, so that a copy is as good as its original.
"""

from collections.abc import Iterator, Mapping
import contextlib
import hashlib
import json
import os
import pathlib
import signal
from typing import Any

import numpy as np
from outcomes import doors
from outcomes.layouts.drawing import Pairs, Truth

from voc_seg_tfrecord.core.errors import VocSegError

MAX_MASKS_OF_SPLIT = 40
MAX_MASKS_OF_LINE = 10
MAX_LINES = 8
MAX_LISTED_FILES = 40
MAX_CPU_SECONDS = 60
MAX_TEXT_LENGTH = 300


class _TooSlowError(BaseException):
    """The time is up. It passes every `except Exception`."""


def outcome_of(
    root: pathlib.Path, options: Mapping[str, Any], truth: Truth | None = None
) -> dict[str, Any]:
    """Returns the outcome of a folder.

    | kind | the other keys |
    | --- | --- |
    | `read` | `splits`, `class_names`, `facts`, `unused` |
    | `asked` | `error`, `about`, `text`, and `lines`: what each gives, its options, its outcome |
    | `refused` | `error`, `about`, `text` |
    | `crash` | `error` |
    | `slow` | none |

    A row of `splits` has the image's filename, its path, those of its labels, and a digest of its
    mask, or the class of the error that stops the build there.

    With a truth, `truth` has what `_compare_with_truth` says.
    """
    reader = _Reader(root, truth)
    outcome = reader.outcome(options)
    if outcome["kind"] == "asked":
        outcome["lines"] = reader.outcomes_of_lines(options, outcome.pop("question"))
    if truth is not None:
        outcome["truth"] = _compare_with_truth(outcome, truth)
    outcome.pop("is_right", None)
    return outcome


class _Reader:
    """Reads one folder with several options."""

    def __init__(self, root: pathlib.Path, truth: Truth | None):
        self._root = root
        self._first_by_content = _list_first_by_content(root)
        self._right_pairs = []
        self._label_folders: set[str] = set()
        if truth is not None:
            for splits in (truth.splits, *truth.also_right):
                self._right_pairs.append(self._pairs(splits))
                masks = {mask for pairs in splits.values() for mask in pairs.values()}
                self._label_folders |= {mask for mask in masks if (root / mask).is_dir()}

    def outcome(
        self, options: Mapping[str, Any], max_masks: int = MAX_MASKS_OF_SPLIT
    ) -> dict[str, Any]:
        """Returns the outcome; of a question its whole text, as `question`."""
        try:
            with _limited_time():
                reading = doors.read_folder(self._root, options, max_masks)
            return self._describe_reading(reading)
        except VocSegError as error:
            return self._describe_error(error)
        except _TooSlowError:
            return {"kind": "slow"}
        except Exception as error:
            return {"kind": "crash", "error": self._shorten(f"{type(error).__name__}: {error}")}

    def outcomes_of_lines(self, options: Mapping[str, Any], question: str) -> list[list[Any]]:
        """Returns of each line what it gives, its options, and its outcome in short."""
        lines = (doors.list_answers(question) or [])[:MAX_LINES]
        return [
            [self._shorten(words), self._shorten(answer), self._follow(options, answer, question)]
            for words, answer in lines
        ]

    def _follow(
        self, options: Mapping[str, Any], answer: str, question: str, may_go_on: bool = True
    ) -> dict[str, Any]:
        """Returns the outcome of a line in short; if it asks, that of the first line, too."""
        try:
            fields = doors.add_answer(options, answer, question)
        except (VocSegError, SystemExit, ValueError) as error:
            return {"kind": "refused", "error": type(error).__name__}
        if fields is None:
            return {"kind": "another command"}
        outcome = self.outcome(fields, MAX_MASKS_OF_LINE)
        short = {name: outcome[name] for name in ("kind", "error", "about") if name in outcome}
        if outcome["kind"] == "read":
            short["digest"] = _digest([outcome["splits"], outcome["class_names"]])
            short["counts"] = {split: len(rows) for split, rows in outcome["splits"].items()}
            if self._right_pairs:
                short["is_right"] = outcome["is_right"]
        elif outcome["kind"] == "asked" and may_go_on:
            next_lines = doors.list_answers(outcome["question"])
            if next_lines:
                short["then"] = self._follow(fields, next_lines[0][1], outcome["question"], False)
        return short

    def _describe_reading(self, reading: doors.Reading) -> dict[str, Any]:
        splits = {}
        pairs = {}
        for split, items in reading.splits.items():
            splits[split] = sorted(self._describe_item(item) for item in items)
            pairs[split] = sorted([self._name(item.image), self._label(item)] for item in items)
        unused = [self._show(name) for name in reading.unused]
        if len(unused) > MAX_LISTED_FILES:
            rest = unused[MAX_LISTED_FILES:]
            unused = [*unused[:MAX_LISTED_FILES], f"{len(rest)} more, {_digest(rest)}"]
        return {
            "kind": "read",
            "splits": splits,
            "class_names": [self._show(name) for name in reading.class_names],
            "facts": reading.facts,
            "unused": unused,
            "is_right": pairs in self._right_pairs,
        }

    def _describe_item(self, item: doors.StoredItem) -> list[Any]:
        digest = item.fault
        if item.mask is not None:
            digest = hashlib.sha1(np.ascontiguousarray(item.mask)).hexdigest()[:8]
        labels = sorted(self._name(path) for path in item.labels)
        return [self._show(item.filename), self._name(item.image), labels, digest]

    def _label(self, item: doors.StoredItem) -> str:
        """Returns the label of an item as a truth names it."""
        paths = [pathlib.Path(label).relative_to(self._root) for label in item.labels]
        folders = {path.parent.as_posix() for path in paths}
        if len(folders) == 1 and folders <= self._label_folders:
            return folders.pop()
        return " ".join(sorted(self._name(label) for label in item.labels))

    def _describe_error(self, error: VocSegError) -> dict[str, Any]:
        text = str(error)
        lines = self._replace_root(text).splitlines()
        facts = {"error": type(error).__name__, "about": error.kind}
        if doors.list_answers(text) is None:
            shown = [self._shorten(line) for line in lines[:2]]
            return {"kind": "refused", **facts, "text": shown}
        return {"kind": "asked", **facts, "text": self._shorten(lines[0]), "question": text}

    def _pairs(self, splits: Mapping[str, Pairs]) -> dict[str, list[list[str]]]:
        """Returns pairs as `_describe_reading` has them."""
        return {
            split: sorted([self._name(image), self._name(mask)] for image, mask in pairs.items())
            for split, pairs in splits.items()
        }

    def _name(self, path: str) -> str:
        """Returns the first file below the folder with the bytes of a path, relative to it."""
        full = self._root / path
        try:
            return self._first_by_content[_digest_of_file(full)]
        except (OSError, KeyError):
            return self._replace_root(path)

    def _replace_root(self, text: str) -> str:
        return self._show(text.replace(str(self._root), "ROOT"))

    def _shorten(self, text: str) -> str:
        return self._replace_root(text)[:MAX_TEXT_LENGTH]

    @staticmethod
    def _show(text: str) -> str:
        """Returns a text in which bytes that are no UTF-8 are escaped."""
        return text.encode("utf-8", "backslashreplace").decode("utf-8")


def _compare_with_truth(outcome: Mapping[str, Any], truth: Truth) -> str:
    """Returns how an outcome stands to the truth.

    | outcome | the result |
    | --- | --- |
    | read | `right`, or `WRONG` if the pairs are others or the user had to be asked |
    | asked | `first`, `second` or `later`: the line that is right; ` again` if it asks once more |
    | asked | `without`: no line is right |
    | another kind | the kind |
    """
    if outcome["kind"] == "read":
        is_right = outcome["is_right"] and not truth.must_ask
        return "right" if is_right else "WRONG"
    if outcome["kind"] != "asked":
        return str(outcome["kind"])
    for number, (_, _, line) in enumerate(outcome["lines"]):
        rank = ("first", "second")[number] if number < 2 else "later"
        if line.get("is_right"):
            return rank
        if line.get("then", {}).get("is_right"):
            return f"{rank} again"
    return "without"


@contextlib.contextmanager
def _limited_time() -> Iterator[None]:
    """Raises `_TooSlowError` after `MAX_CPU_SECONDS` of this process."""

    def stop(*_: object) -> None:
        raise _TooSlowError

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, MAX_CPU_SECONDS)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def _list_first_by_content(root: pathlib.Path) -> dict[str, str]:
    """Returns the first path below a folder, relative to it, by the digest of its bytes."""
    first_by_content: dict[str, str] = {}
    for place, folders, names in os.walk(root):
        folders[:] = sorted(name for name in folders if not name.startswith(".git"))
        for name in sorted(names):
            path = pathlib.Path(place, name)
            with contextlib.suppress(OSError):
                if path.is_file():
                    shown = _Reader._show(path.relative_to(root).as_posix())
                    first_by_content.setdefault(_digest_of_file(path), shown)
    return first_by_content


def _digest_of_file(path: pathlib.Path) -> str:
    return hashlib.sha1(path.read_bytes()).hexdigest()


def _digest(data: Any) -> str:
    return hashlib.sha1(json.dumps(data, sort_keys=True).encode()).hexdigest()[:12]
