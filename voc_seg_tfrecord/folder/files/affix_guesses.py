"""Guesses what the names of a set of files have around their ids, before anything is paired.

Each guess is an affix that many names of the set have. `pairings` tries the guesses for images with
those for masks, and takes the two by which most files pair.
"""

from collections.abc import Sequence
import itertools
import posixpath
import re

from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix, common_affix
from voc_seg_tfrecord.folder.files.stem_words import GLUED_ROLES, CutStem, split_words

_MIN_SHARE_OF_NAMES = 0.6
"""At least this share of names has what counts as shared by most of them."""

_ROLE_AT_BEGIN = re.compile(f"({GLUED_ROLES})", re.IGNORECASE)
_ROLE_AT_END = re.compile(f"({GLUED_ROLES})$", re.IGNORECASE)
_FIRST_WORD = re.compile(r"[^\W\d_]+[\W_]*")
_LAST_WORD = re.compile(r"[\W_]*[^\W\d_]+\W*$")


def guess_affixes(stems: Sequence[str], affix_of_kind: Affix) -> list[Affix]:
    """Returns what may stand around the ids of files, nothing first.

    Every beginning that is guessed is combined with every end.

    Args:
      stems: the names of the files, without the ending.
      affix_of_kind: what tells these files from others in their folder; see `sort_by_kind`.
    """
    of_most = affix_of_most_names(stems)
    of_all = common_affix(stems)
    guesses = [
        NO_AFFIX,
        of_most,
        _outermost_words(of_most),
        of_all,
        _glued_roles(stems, of_most, of_all),
        affix_of_kind,
    ]
    befores = [guess.before for guess in guesses]
    afters = [guess.after for guess in guesses]
    combinations = itertools.starmap(Affix, itertools.product(befores, afters))
    return list(dict.fromkeys(combinations))


def affix_of_most_names(stems: Sequence[str]) -> Affix:
    """Returns what most names begin and end with, in whole words and numbers.

    Example: `im_` and `_rgb` of `im_1_rgb`, `im_2_rgb` and `extra`. Of a single name these are its
    first and last word, if they tell what it holds: `_mask` of `7_mask`.
    """
    if len(stems) != 1:
        return common_affix(stems, _MIN_SHARE_OF_NAMES)
    stem_words = split_words(stems[0])
    return Affix(
        before=_affix_with_role(stem_words.without_first),
        after=_affix_with_role(stem_words.without_last),
    )


def _affix_with_role(cut: CutStem | None) -> str:
    """Returns the word that was cut off a stem if it tells what the file holds; else nothing."""
    return cut.affix if cut is not None and cut.has_role else ""


def _outermost_words(affix: Affix) -> Affix:
    """Returns the first word of a beginning, and the last word of an end, with their signs.

    Example: `gt_` and `_v` of `gt_scan_` and `_x_v`.
    """
    first = _FIRST_WORD.match(affix.before)
    last = _LAST_WORD.search(affix.after)
    return Affix(before=first[0] if first else "", after=last[0] if last else "")


def _glued_roles(stems: Sequence[str], of_most: Affix, of_all: Affix) -> Affix:
    """Returns the words for roles that all names begin and end with, also beside a number.

    Example: `lb` of `lb1` and `lb2`. A beginning or end that is known in whole words is left out.

    Args:
      stems: the names.
      of_most: what most names have, in whole words.
      of_all: what all names have, in whole words.
    """
    if len(stems) == 1:
        return NO_AFFIX
    first_role = ""
    last_role = ""
    if not of_most.before and not of_all.before:
        match = _ROLE_AT_BEGIN.match(posixpath.commonprefix(stems))
        first_role = match[0] if match else ""
    if not of_most.after and not of_all.after:
        match = _ROLE_AT_END.search(_common_characters_at_end(stems))
        last_role = match[0] if match else ""
    return Affix(first_role, last_role)


def _common_characters_at_end(stems: Sequence[str]) -> str:
    return posixpath.commonprefix([stem[::-1] for stem in stems])[::-1]
