"""The exceptions of this package: one small tree, one shape of message."""

from collections.abc import Sequence


class VocSegError(ValueError):
    """Something about the data or the call is wrong, and the message says what to do.

    Args:
      where: the file, list line or option that is at fault.
      found: what is there.
      expected: what should be there.
      remedy: what the user can do about it.
      kind: what sort of problem it is, in a few words; by default that of the class.
    """

    KIND = "other"

    def __init__(
        self, where: object, *, found: str, expected: str = "", remedy: str = "", kind: str = ""
    ):
        self.kind = kind or self.KIND
        self.where = str(where)
        self.found = found
        self.expected = expected
        self.remedy = remedy
        parts = [f"{self.where}: {found}"]
        if expected:
            parts.append(f"expected: {expected}")
        if remedy:
            parts.append(f"what to do: {remedy}")
        super().__init__("\n  ".join(parts))

    def __reduce__(self):
        # Beam and process pools pickle exceptions; keyword-only arguments need help.
        fields = {name: getattr(self, name) for name in ("found", "expected", "remedy", "kind")}
        return _rebuild, (type(self), self.where, fields)


class ConfigError(VocSegError):
    """A config, flag or argument makes no sense."""

    KIND = "wrong call"


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
    """A record, or its file, is damaged or not what it is taken for."""

    KIND = "record"


class SplitError(VocSegError):
    """A split has problems; the first few are shown, all are counted.

    Args:
      split: name of the split.
      problems: all that was found wrong, in the order of the id list.
      examined: how many ids were examined.
    """

    KIND = "split"

    SHOWN = 5

    def __init__(self, split: str, problems: Sequence[VocSegError], examined: int):
        self.problems = tuple(problems)
        self.split = split
        self.examined = examined
        lines = [f"{len(problems)} of {examined} examples cannot be used"]
        lines += [_indent(str(problem)) for problem in problems[: self.SHOWN]]
        if len(problems) > self.SHOWN:
            lines.append(f"  ... and {len(problems) - self.SHOWN} more")
        super().__init__(f"split {split!r}", found="\n".join(lines))

    def __reduce__(self):
        return type(self), (self.split, self.problems, self.examined)


def _indent(text: str) -> str:
    return "\n".join("  " + line for line in text.splitlines())


def _rebuild(cls: type[VocSegError], where: str, fields: dict[str, str]) -> VocSegError:
    return cls(where, **fields)
