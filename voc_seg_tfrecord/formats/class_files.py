"""The files in which labelling tools say which value or colour means which class."""

import collections
from collections.abc import Callable, Collection, Sequence
import dataclasses
import json
import pathlib

from etils import epath

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.formats.class_parsers import EXPECTED, PARSERS, UNREADABLE, Color, Entry
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.labels import VOID, unprintable

NAMES = tuple(PARSERS)
"""Names of the class files that are known, in the order in which they are tried."""

VOID_NAMES = ("__ignore__", "void", "ignored", "ignore")
"""Labels by which tools mean void, in any spelling: `Void` and `VOID` too."""

VOID_COLOR: Color = (224, 224, 192)
"""VOC's colour of void, which Supervisely and datumaro write too."""


@dataclasses.dataclass(frozen=True)
class ClassFile:
    """What a class file says.

    Attributes:
      source: the file's name.
      entries: its classes in its order; void is among them where the file lists it.
      background: name of the class that the file says is background; mostly empty.
    """

    source: str
    entries: tuple[Entry, ...]
    background: str = ""

    @property
    def colored(self) -> bool:
        """Whether every entry has a colour."""
        return all(entry.color for entry in self.entries)

    def class_names(self, void: Collection[int | str | Color]) -> tuple[str, ...]:
        """Returns the names without those that mean void, in the file's order."""
        return tuple(e.name for e in self.entries if not is_void(e, void))


def is_void(entry: Entry, void: Collection[int | str | Color]) -> bool:
    """Says whether an entry is among the values, names and colours that mean void.

    The spelling of names in upper and lower case does not matter.
    """
    names = {word.casefold() for word in void if isinstance(word, str)}
    return entry.name.casefold() in names or entry.color in void or entry.value in void


def find(root: epath.Path, *folders: str) -> ClassFile | None:
    """Reads the class file of a tree.

    Args:
      root: the tree's root.
      *folders: folders below it to look in as well.

    Returns:
      The first of `NAMES` that exists, None where none does.

    Raises:
      LayoutError: if the file cannot be read as its tool writes it.
    """
    for name, parse in PARSERS.items():
        for folder in ("", *folders):
            path = root / folder / name if folder else root / name
            # A link to a file that is not there is no reason to go on without its names.
            if path.exists() or pathlib.Path(path).is_symlink():
                return _read(path, parse)
    return None


def _read(path: epath.Path, parse: Callable[[str], list[Entry]]) -> ClassFile:
    try:
        text = File.read(path, LayoutError).data.decode("utf-8-sig")
        entries = parse(text)
    except UNREADABLE as error:
        raise _unlike(
            path, f"not readable as a class file: {str(error)[:200] or type(error).__name__}"
        ) from None
    _check_numbers(path, entries)
    wrong = _wrong(entries)
    if wrong:
        raise _unlike(path, wrong)
    _check_colors(path, entries)
    background = _background_label(text) if path.name == "dataset_meta.json" else ""
    return ClassFile(path.name, tuple(entries), background)


def _unlike(path: epath.Path, found: str) -> LayoutError:
    return LayoutError(
        path,
        found=found,
        expected=EXPECTED[path.name],
        remedy="correct the file, or give the names with --class_names",
    )


def _check_numbers(path: epath.Path, entries: list[Entry]) -> None:
    """Checks that no class of a long file has the value of void, or one above it."""
    beyond = [e for e in entries if e.value >= VOID and e.name.casefold() not in VOID_NAMES]
    if len(entries) > VOID and beyond:
        raise LayoutError(
            path,
            found=f"{len(entries)} names; {beyond[0].name[:80]!r} would have the value {VOID}",
            expected=f"at most {VOID} classes, 0 to {VOID - 1}, as the value {VOID} is void",
            remedy="remove classes that no mask has, or put a void class last and call it void",
        )


def _background_label(text: str) -> str:
    """Returns the name that datumaro's `background_label` gives, as a value or as a name."""
    meta = json.loads(text)
    names, label = meta["label_map"], str(meta.get("background_label", ""))
    return str(names.get(label, label if label in names.values() else "")).strip()


def _wrong(entries: list[Entry]) -> str:
    """Says what is wrong with the entries of a file; empty if they are fine."""
    if not entries:
        return "no names"
    counts = collections.Counter(entry.name for entry in entries)
    for value, name in ((entry.value, entry.name) for entry in entries):
        if not name:
            return f"a class without a name, at value {value}"
        if unprintable(name):
            return f"the class name {name[:80]!r}, which has a control character"
        if counts[name] > 1:
            return f"the name {name[:80]!r} {'twice' if counts[name] == 2 else 'several times'}"
        if not 0 <= value <= VOID:
            return f"the value {value} for class {name[:80]!r}; masks have values of 0 to {VOID}"
    return ""


def _check_colors(path: epath.Path, entries: Sequence[Entry]) -> None:
    """Checks that no two classes share a colour: by colour they would be one."""
    owner: dict[Color, str] = {}
    for entry in entries:
        if entry.color and owner.setdefault(entry.color, entry.name) != entry.name:
            raise LayoutError(
                path,
                found=f"the colour {','.join(map(str, entry.color))} for {owner[entry.color]!r} "
                f"and for {entry.name!r}",
                expected="a colour of its own for each class",
                remedy="correct the file, and check which class the masks mean",
            )
