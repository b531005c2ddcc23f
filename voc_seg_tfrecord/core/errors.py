"""The exceptions of this package: one small tree, one shape of message; and words of messages."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import contextlib
import difflib
import os
import shlex
import textwrap
from typing import Any


class VocSegError(ValueError):
    """Something about the data or the call is wrong, and the message says what to do.

    Args:
      where: the file, the line of a list, or the option that is wrong.
      found: what is there.
      expected: what should be there.
      remedy: what the user can do about it.
      kind: the sort of problem in a few words; by default that of the class.
    """

    KIND = "other"
    _FIELDS: tuple[str, ...] = ("where", "found", "expected", "remedy", "kind")

    def __init__(
        self, where: object, *, found: str, expected: str = "", remedy: str = "", kind: str = ""
    ) -> None:
        self.kind: str = kind or self.KIND
        self.where: str = str(where)
        self.found = found
        self.expected = expected
        self.remedy = remedy
        parts = [f"{self.where}: {found}"]
        if expected:
            parts.append(f"expected: {expected}")
        if remedy:
            parts.append(f"what to do: {remedy}")
        super().__init__("\n  ".join(parts))

    def to_json(self) -> dict[str, Any]:
        """Returns the error as plain data, for `from_json` in another process."""
        return {"type": type(self).__name__, **{name: getattr(self, name) for name in self._FIELDS}}

    def changed(self, **fields: str) -> "VocSegError":
        """Returns the error with other fields, or of another `type`, a name of this module."""
        return from_json({**self.to_json(), **fields})

    @classmethod
    @contextlib.contextmanager
    def raised_as(cls, other: "type[VocSegError]", **fields: str) -> Iterator[None]:
        """Raises errors of this class as those of another one, with other fields if given."""
        try:
            yield
        except cls as error:
            raise error.changed(type=other.__name__, **fields) from None

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        # Process pools pickle exceptions; keyword-only arguments need help.
        return from_json, (self.to_json(),)


class ConfigError(VocSegError):
    """The call is wrong: a config, an option or an argument."""

    KIND = "wrong call"


class MissingPackageError(ConfigError, ImportError):
    """A package that this call needs is not installed."""

    KIND = "missing package"


class SourceError(VocSegError):
    """The data could not be found or downloaded."""

    KIND = "no source"


class LayoutError(VocSegError):
    """A tree is not laid out as Pascal VOC's: a folder, list or file is missing."""

    KIND = "layout"


class ListError(LayoutError):
    """An id list is empty, repeats itself, leaves its tree, or is not the official one."""

    KIND = "id list"


class ImageError(VocSegError):
    """An image file cannot be used."""

    KIND = "image"


class MaskError(VocSegError):
    """A mask cannot be read, has unknown values, or does not fit its image."""

    KIND = "mask"


class AnnotationError(VocSegError):
    """An XML annotation cannot be read."""

    KIND = "annotation"


class RecordError(VocSegError):
    """A record, or its file, is damaged or of another kind than expected."""

    KIND = "record"


class StorageError(VocSegError):
    """A file or folder could not be written or read: a full disk, missing rights."""

    KIND = "storage"


class SplitError(VocSegError):
    """A split has problems. The first few are shown and all are counted.

    Problems with the same expectation and advice stand together, which are printed once.

    Args:
      split: name of the split.
      problems: all that was found wrong, in the order of the id list.
      examined: how many ids were examined.
      remedy: what the user can do about all of them.
    """

    KIND = "split"
    _FIELDS = ("split", "problems", "examined", "remedy")
    SHOWN = 5

    def __init__(
        self, split: str, problems: Sequence[VocSegError], examined: int, remedy: str = ""
    ) -> None:
        self.problems: tuple[VocSegError, ...] = tuple(problems)
        self.split = split
        self.examined = examined
        lines = [f"{len(problems)} of {examined} examples cannot be used"]
        shown = share_advice(map(str, problems[: self.SHOWN]))
        lines += [textwrap.indent(text, "  ", lambda _: True) for text in shown]
        if len(problems) > self.SHOWN:
            lines.append(f"  ... and {len(problems) - self.SHOWN} more")
        super().__init__(f"split {split!r}", found="\n".join(lines), remedy=remedy)

    def to_json(self) -> dict[str, Any]:
        """Returns the error as plain data, for `from_json` in another process."""
        return {**super().to_json(), "problems": [p.to_json() for p in self.problems]}


def from_json(data: Mapping[str, Any]) -> VocSegError:
    """Returns the error whose plain data `to_json` made.

    Args:
      data: the plain data. Only a class of this module is ever called with it.

    Raises:
      KeyError: if its type is no error of this module.
    """
    fields = dict(data)
    kind = _TYPES[fields.pop("type")]
    if kind is SplitError:
        fields["problems"] = [from_json(problem) for problem in fields["problems"]]
        return SplitError(**fields)
    return kind(fields.pop("where"), **fields)


_LONGEST_OPTION = 300  # letters of what an option is, in an error


def option_error(
    option: str, found: object, expected: str, choices: Iterable[str] = ()
) -> ConfigError:
    """Returns the error about the value of an option of a config.

    Commands, JSON and Python all have the option, and not all of them a config's name. Of `choices`
    the closest match is suggested.
    """
    shown = repr(found)
    shown = shown if len(shown) <= _LONGEST_OPTION else f"{shown[:_LONGEST_OPTION]}..."
    return ConfigError(
        f"option {option}",
        found=shown + did_you_mean(str(found), choices),
        expected=expected,
        remedy=f"change {option}",
    )


def share_advice(messages: Iterable[str]) -> list[str]:
    """Puts messages together that end with the same lines of what is expected and what to do."""
    groups: dict[str, list[str]] = {}
    for message in messages:
        problem, expected, advice = message.partition("\n  expected: ")
        groups.setdefault(expected + advice, []).append(problem)
    return ["\n".join(problems) + advice for advice, problems in groups.items()]


_NEXT = 0.1
_SHOWN = 3
_LONGEST_NAME = 100  # comparing takes time that grows with the square of the length


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Returns `; did you mean 'train'?`, to be put behind what was found; empty if none is near.

    At most 3 names are near, the likest first. Capitals do not count. A name that begins with the
    word is like it (`val`, `validation`), and so is one that differs from it in a few letters
    (`trian`, `train`).
    """
    folded = word.casefold()
    if not folded or len(folded) > _LONGEST_NAME:
        return ""
    by_folded = {name.casefold(): name for name in names}
    begun = [name for name in by_folded if len(folded) > 1 and name.startswith(folded)]
    alike = difflib.get_close_matches(folded, by_folded, n=_SHOWN)
    likeness = [difflib.SequenceMatcher(None, folded, name).ratio() for name in alike]
    # Names much less alike than the best one would only confuse.
    alike = [n for n, of in zip(alike, likeness, strict=True) if of >= likeness[0] - _NEXT]
    near = [by_folded[name] for name in dict.fromkeys([*alike, *begun])][:_SHOWN]
    return f"; did you mean {' or '.join(map(repr, near))}?" if near else ""


_TYPES: dict[str, type[VocSegError]] = {
    name: kind
    for name, kind in globals().items()
    if isinstance(kind, type) and issubclass(kind, VocSegError)
}


def counted(number: int, name: str) -> str:
    """Returns `1 image` or `2 images`, with commas in long numbers."""
    ending = "es" if name.endswith("s") else "s"
    return f"{number:,} {name}{'' if number == 1 else ending}"


def several(names: Iterable[str], shown: int = 3) -> str:
    """Returns the first names and how many more there are."""
    names = list(names)
    more = f" and {len(names) - shown} more" if len(names) > shown else ""
    short = (name if len(name) <= 40 else f"{name[:40]}..." for name in names[:shown])
    return ", ".join(short) + more


def command(*words: object, **options: object) -> str:
    """Returns a command, or a part of one, that a shell takes as it is meant.

    `command("voc-seg-tfrecord", "verify", folder, data_dir=data_dir)` is
    `voc-seg-tfrecord verify cracks --data_dir '/my data'`; `command(masks="a b")` is
    `--masks 'a b'`. A word that needs no quotes has none.

    Args:
      *words: the program and what comes before the options. A path that looks like an option or
        like a home folder gets `./` before it.
      **options: in this order. One that is None or False is left out, True is the bare option,
        and a list is several words behind one option.
    """
    parts = []
    for word in words:
        text = os.fspath(word) if isinstance(word, os.PathLike) else ""
        parts.append(_quoted(f"./{text}" if text.startswith(("-", "~")) else word))
    for name, value in options.items():
        if value is True:
            parts.append(f"--{name}")
        elif isinstance(value, list | tuple):
            parts += [f"--{name}", *map(_quoted, value)]
        elif value is not None and value is not False:
            joint = "=" if str(value).startswith("-") else " "  # else it looks like an option
            parts.append(f"--{name}{joint}{_quoted(value)}")
    return " ".join(parts)


def _quoted(word: object) -> str:
    """Returns one word of a shell. What cannot be printed is escaped as Bash and Zsh do it."""
    text = str(word)
    if text.isprintable():
        return shlex.quote(text)
    data = text.encode("utf-8", "surrogateescape")  # names that are no UTF-8 keep their bytes
    safe = (chr(b) if 32 <= b < 127 and b not in b"\\'" else f"\\x{b:02x}" for b in data)
    return f"$'{''.join(safe)}'"
