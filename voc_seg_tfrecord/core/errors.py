"""The exceptions of this package, with one shape of message, and words that messages share.

`shell` writes the commands in them.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import contextlib
import difflib
import errno
import re
import textwrap
from typing import Any

from voc_seg_tfrecord.core.shell import rename_path, rename_quoted_path


class VocSegError(ValueError):
    """The data or the call is wrong. The base class of all errors of this package.

    Args:
      where: the file, the line of a list, or the option that is wrong.
      found: what is there.
      expected: what should be there.
      remedy: what the user can do about it.
      kind: the kind of problem in a few words; by default the kind of the class.
    """

    KIND = "other"
    _FIELDS: tuple[str, ...] = ("where", "found", "expected", "remedy", "kind")

    def __init__(
        self, where: object, *, found: str, expected: str = "", remedy: str = "", kind: str = ""
    ) -> None:
        self.kind: str = kind or self.KIND
        self.where: str = str(where)
        self.found: str = found
        self.expected: str = expected
        self.remedy: str = remedy
        super().__init__(_message(self.where, found, expected, remedy))

    def to_json(self) -> dict[str, Any]:
        """Returns the error as plain data, for `from_json` in another process."""
        return {"type": type(self).__name__, **{name: getattr(self, name) for name in self._FIELDS}}

    def changed(self, **fields: str) -> "VocSegError":
        """Returns the error with other fields, or of another `type`, a name of this module.

        `kind` stays if it is not given: it is the sort of problem, whatever raises it. A
        `SplitError` with another type, `where` or `found` becomes an error of plain text, in which
        its problems are lines.
        """
        data = self.to_json()
        stays_of_type = fields.get("type", data["type"]) == data["type"]
        has_fields = all(name in data for name in fields)
        if stays_of_type and has_fields:
            return from_json({**data, **fields})
        plain_data = {name: getattr(self, name) for name in VocSegError._FIELDS}
        plain_type = data["type"] if has_fields else VocSegError.__name__
        return from_json({"type": plain_type, **plain_data, **fields})

    def rename_folder(self, old: str, new: str) -> None:
        """Names a folder and what lies in it by another path, as an archive in place of its copy.

        The remedy may hold commands to paste, in which paths are quoted.
        """
        self.where = rename_path(self.where, old, new)
        self.found = rename_path(self.found, old, new)
        self.expected = rename_path(self.expected, old, new)
        self.remedy = rename_quoted_path(self.remedy, old, new)
        self.args: tuple[Any, ...] = (_message(self.where, self.found, self.expected, self.remedy),)

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


def _message(where: str, found: str, expected: str, remedy: str) -> str:
    lines = [f"{where}: {found}"]
    if expected:
        lines.append(f"expected: {expected}")
    if remedy:
        lines.append(f"what to do: {remedy}")
    return "\n  ".join(lines)


def raise_if_out_of_memory(error: BaseException, where: object) -> None:
    """Raises a MemoryError if an error is about memory, so that no file is called damaged for it.

    Args:
      error: what a library raised, which is to become an error about a file.
      where: the file that was read.
    """
    is_out_of_memory = isinstance(error, OSError) and error.errno == errno.ENOMEM
    if is_out_of_memory or isinstance(error, MemoryError):
        reason = str(error) or "not enough memory"
        raise MemoryError(f"{where}: {reason}") from None


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
    """A folder, list or file is missing, or the folder can be read in several ways."""

    KIND = "layout"


class ListError(LayoutError):
    """An id list is empty, repeats ids, leads out of the folder, or is not the official one."""

    KIND = "wrong id list"


class ImageError(VocSegError):
    """An image file cannot be used."""

    KIND = "unusable image"


class MaskError(VocSegError):
    """A mask cannot be read, has unknown values, or does not fit its image."""

    KIND = "unusable mask"


class AnnotationError(VocSegError):
    """An XML annotation cannot be read."""

    KIND = "unusable annotation"


class RecordError(VocSegError):
    """A record, or its file, is damaged or of another kind than expected."""

    KIND = "record"


class StorageError(VocSegError):
    """A file or folder could not be written or read: a full disk, missing rights."""

    KIND = "storage"


class SplitError(VocSegError):
    """A split has problems. The message shows the first five and the number of all.

    Problems with the same expectation and advice are grouped, and both are printed once.

    Args:
      split: name of the split.
      problems: all problems, in the order of the id list.
      examined: number of examined ids.
      remedy: what the user can do about all problems.
      ids: the ids of the examples that have the problems; none if the user cannot exclude them.
    """

    KIND = "split"
    _FIELDS = ("split", "problems", "examined", "remedy", "ids")
    MAX_SHOWN_PROBLEMS = 5

    def __init__(
        self,
        split: str,
        problems: Sequence[VocSegError],
        examined: int,
        remedy: str = "",
        ids: Sequence[str] = (),
    ) -> None:
        self.problems: tuple[VocSegError, ...] = tuple(problems)
        self.split = split
        self.examined = examined
        self.ids: tuple[str, ...] = tuple(ids)
        lines = [f"{len(problems)} of {examined} examples cannot be used"]
        shown = problems[: self.MAX_SHOWN_PROBLEMS]
        for text in share_advice(str(problem) for problem in shown):
            lines.append(textwrap.indent(text, "  ", lambda _: True))
        if len(problems) > len(shown):
            lines.append(f"  ... and {len(problems) - len(shown)} more")
        super().__init__(f"split {split!r}", found="\n".join(lines), remedy=remedy)

    def rename_folder(self, old: str, new: str) -> None:
        """Names a folder by another path, in the problems too."""
        for problem in self.problems:
            problem.rename_folder(old, new)
        super().rename_folder(old, new)

    def to_json(self) -> dict[str, Any]:
        """Returns the error as plain data, for `from_json` in another process."""
        problems = [problem.to_json() for problem in self.problems]
        return {**super().to_json(), "problems": problems}


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


_MAX_OPTION_CHARACTERS = 300
"""How many characters of an option's value an error shows."""


def option_error(
    option: str,
    found: object,
    expected: str,
    choices: Iterable[str] = (),
    remedy: str = "",
) -> ConfigError:
    """Returns the error about the value of an option of a config.

    It names the option and not the config, because not every call has a config's name.

    Args:
      option: the name of the option, in commands, JSON and Python alike.
      found: its value.
      expected: what the value should be.
      choices: possible values, of which the closest match is suggested.
      remedy: what to do; by default to change the option.
    """
    shown = repr(found)
    if len(shown) > _MAX_OPTION_CHARACTERS:
        shown = f"{shown[:_MAX_OPTION_CHARACTERS]}..."
    return ConfigError(
        f"option {option}",
        found=shown + did_you_mean(str(found), choices),
        expected=expected,
        remedy=remedy or f"change {option}",
    )


def share_advice(messages: Iterable[str]) -> list[str]:
    """Puts messages together that end with the same lines of what is expected and what to do."""
    problems_by_advice: dict[str, list[str]] = {}
    for message in messages:
        problem, expected, rest = message.partition("\n  expected: ")
        problems_by_advice.setdefault(expected + rest, []).append(problem)
    return ["\n".join(problems) + advice for advice, problems in problems_by_advice.items()]


_MAX_SUGGESTIONS = 3

_MAX_LIKENESS_GAP = 0.1
"""How much less like the word a name may be than the closest one; others would only confuse."""

_MAX_WORD_CHARACTERS = 100
"""Longer words get no suggestion: comparing takes time that grows with the square of the length."""


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Returns `; did you mean 'train'?`, to put behind what was found; empty if no name is close.

    Suggests at most 3 names, the closest first. A name is close if it begins with the word (`val`,
    `validation`) or differs in a few letters (`trian`, `train`). Case does not matter.
    """
    folded = word.casefold()
    if not folded or len(folded) > _MAX_WORD_CHARACTERS:
        return ""
    name_by_folded = {name.casefold(): name for name in names}
    suggestions = _close_names(folded, name_by_folded)
    if len(folded) > 1:
        suggestions += [name for name in name_by_folded if name.startswith(folded)]
    distinct = list(dict.fromkeys(suggestions))[:_MAX_SUGGESTIONS]
    if not distinct:
        return ""
    listed = " or ".join(repr(name_by_folded[name]) for name in distinct)
    return f"; did you mean {listed}?"


def _close_names(word: str, names: Iterable[str]) -> list[str]:
    """Returns the names that differ from a word in a few letters, the closest first."""
    close = difflib.get_close_matches(word, names, n=_MAX_SUGGESTIONS)
    if not close:
        return []
    likeness = {name: difflib.SequenceMatcher(None, word, name).ratio() for name in close}
    least = likeness[close[0]] - _MAX_LIKENESS_GAP
    return [name for name in close if likeness[name] >= least]


_TYPES: dict[str, type[VocSegError]] = {
    name: kind
    for name, kind in globals().items()
    if isinstance(kind, type) and issubclass(kind, VocSegError)
}


def counted(number: int, name: str) -> str:
    """Returns `1 image` or `2 images`, with commas in long numbers."""
    if number == 1:
        return f"1 {name}"
    ending = "es" if name.endswith("s") else "s"
    return f"{number:,} {name}{ending}"


_MAX_NAME_CHARACTERS = 40
"""How many characters of each name a list of names shows."""


def several(names: Iterable[str], shown: int = 3) -> str:
    """Returns the first names and how many more there are: `a, b, c and 4 more`.

    Long names are cut in the middle, unless two of them would become the same.
    """
    names = list(names)
    listed_names = names[:shown]
    cut_names = [_cut_in_middle(name) for name in listed_names]
    if len(set(cut_names)) == len(set(listed_names)):
        listed_names = cut_names
    listed = ", ".join(listed_names)
    unlisted = len(names) - len(listed_names)
    return f"{listed} and {unlisted} more" if unlisted > 0 else listed


def _cut_in_middle(name: str) -> str:
    """Returns a name with its beginning and its end, if it is long."""
    if len(name) <= _MAX_NAME_CHARACTERS:
        return name
    side = _MAX_NAME_CHARACTERS // 2
    return f"{name[:side]}...{name[-side:]}"


def join_names(names: Sequence[str], conjunction: str) -> str:
    """Returns all names in a sentence: `a, b or c`."""
    if len(names) == 1:
        return names[0]
    return f"{', '.join(names[:-1])} {conjunction} {names[-1]}"


_SENTENCES = (
    (r"invalid literal for int\(\) with base \d+: (.*)", r"\1, which is no whole number"),
    (r"could not convert string to float: (.*)", r"\1, which is no number"),
    (r"Exceeds the limit \((\d+) digits\).*", r"a number of more than \1 digits"),
    (r"maximum recursion depth exceeded.*", "too many lists or objects within each other"),
    (r"not enough values to unpack \(expected (\d+), got (\d+)\)", r"\2 values, not \1"),
    (r"too many values to unpack \(expected (\d+).*\)", r"more than \1 values"),
    (r"(?:list|string|tuple) index out of range", "too few values"),
    (r"(?:list|string|tuple) indices must be integers.*", "a list or text, not an object"),
    (r"'(?:int|float|bool|NoneType)' object is not .*", "a single value, not a list or object"),
    (r"'(?:\w+)' object has no attribute '(?:\w+)'", "a value of another kind"),
    (r"(?:int|float)\(\) argument must be .* not '(\w+)'", r"a \1, which is no number"),
)  # fmt: skip
"""The messages of Python that a wrong value causes, and what to say in their place."""


def plain_reason(error: Exception) -> str:
    """Returns what an error says, without the words of a programmer.

    Example: `'x', which is no whole number` for `invalid literal for int() with base 10: 'x'`.
    """
    text = " ".join(str(error).split()) or type(error).__name__
    for pattern, sentence in _SENTENCES:
        match = re.fullmatch(pattern, text)
        if match:
            return match.expand(sentence)
    return text
