"""Tells which class names are the same name, which differ in case alone, and folds Unicode forms.

Class files, files of shapes, options and configs are all checked by it. Two classes of one name are
an error, because their pixels would become one class, or two that nobody can tell apart. Two names
that differ in case alone are two classes, and a note names them.
"""

from collections.abc import Iterable, Sequence
import functools
import re
from typing import NamedTuple
import unicodedata

from voc_seg_tfrecord.core.names import plain

# Characters without width that Unicode's category Cf does not have: joiners, fillers of Hangul, and
# selectors of variants, by the property Default_Ignorable_Code_Point.
_INVISIBLE = re.compile(
    "[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
_LOOKS_LIKE = {
    "\u2800": " ",  # an empty cell of Braille
    "\u2010": "-",  # a hyphen
    "\u2011": "-",  # a hyphen at which no line breaks
}
"""The usual character for each that looks like it, and that Unicode does not tell."""

_VISIBLE_DIFFERENCES = ("<super>", "<sub>", "<fraction>", "<circle>")
"""How Unicode marks a character that is a form of others, and looks different: `\u2082` is a 2."""


def as_nfc(text: str) -> str:
    """Returns a text in Unicode's form NFC, in which rules, lists and hashes take ids and paths.

    A letter with an accent is one character in it. Some file systems, such as that of macOS, store
    the letter and the accent as two.
    """
    return text if text.isascii() else unicodedata.normalize("NFC", text)


def fold_spelling(text: str) -> str:
    """Returns what texts have in common that differ in case or in their Unicode form alone."""
    return as_nfc(text).casefold()


def visible_form(name: str) -> str:
    r"""Returns a name as one sees it.

    Names of one visible form are one name. They differ in blanks at their ends or in the number of
    blanks, in characters without width, or in their Unicode form alone. For example `road`,
    `road ` and `ro\u200bad`; `caf\u00e9` and `cafe\u0301`. But `m2` and `m\u00b2` are two names.
    """
    if name.isascii():
        return " ".join(name.split())
    usual = "".join(_LOOKS_LIKE.get(character, character) for character in name)
    text = "".join(map(_usual_form, usual))
    visible = [character for character in text if unicodedata.category(character) != "Cf"]
    without_fillers = _INVISIBLE.sub("", "".join(visible))
    # At the end, as an invisible character may stand between a letter and its accent.
    return " ".join(as_nfc(without_fillers).split())


@functools.cache
def _usual_form(character: str) -> str:
    """Returns the usual characters for one that looks the same: of the ligature `\ufb01`, `fi`."""
    if unicodedata.decomposition(character).startswith(_VISIBLE_DIFFERENCES):
        return character
    return unicodedata.normalize("NFKC", character)


class SameName(NamedTuple):
    """Two classes of one name.

    Attributes:
      first: the position of the first one among the names, from 0.
      second: the position of the second one.
    """

    first: int
    second: int


def find_same_name(names: Sequence[str]) -> SameName | None:
    """Returns the first two of some names that are one name; None if all differ."""
    position_of_form: dict[str, int] = {}
    for position, name in enumerate(names):
        first = position_of_form.setdefault(visible_form(name), position)
        if first != position:
            return SameName(first, position)
    return None


def describe_same_name(name: str, other: str) -> str:
    """Says that two classes have one name, for errors: `the name 'road' twice`."""
    if name == other:
        return f"the name {name[:80]!r} twice"
    return f"the names {show_name(name)} and {show_name(other)}, which look the same"


def show_name(name: str) -> str:
    """Returns a name in quotes, with characters beyond ASCII escaped where the name hides some."""
    short = name[:80]
    return repr(short) if short == visible_form(short) else ascii(short)


def group_by_case(names: Iterable[str]) -> list[list[str]]:
    """Returns the names that differ in case, or in marks at their ends, alone: each group of them.

    For example `[["Road", "road"], ["_sky_", "sky"]]`.
    """
    names_by_form: dict[str, list[str]] = {}
    for name in names:
        names_by_form.setdefault(plain(visible_form(name)), []).append(name)
    return [group for group in names_by_form.values() if len(group) > 1]
