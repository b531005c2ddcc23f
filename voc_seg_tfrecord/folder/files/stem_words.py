"""Cuts the first and the last word off the stem of a file, such as `_mask` off `7_mask`.

A stem is a file's name without its ending.
"""

import dataclasses
import re

from voc_seg_tfrecord.core.role_words import ROLE_WORDS
from voc_seg_tfrecord.core.split_names import words

_LONG_ROLES = sorted((word for word in ROLE_WORDS if len(word) > 1), key=len, reverse=True)
GLUED_ROLES = "|".join(_LONG_ROLES)
"""A pattern of the `ROLE_WORDS` that may stand beside a number: `img1`, but not `l1`."""

# A word behind a sign, as in `7_mask`, `7 (old)` and `7_manual1`, or beside a digit, as in `7mask`.
_LAST_WORD = re.compile(r"(.+?)([ _.\-]+[(\[]?[^\W\d_]+\d?[)\]]?|(?<=\d)[^\W\d_]+)")
# A word before a sign, as in `mask_7`, or one of roles before a number alone, as in `img7`.
_FIRST_WORD = re.compile(rf"([^\W\d_]+[ _.\-]+|(?:{GLUED_ROLES})(?=\d+$))(.+)", re.IGNORECASE)


@dataclasses.dataclass(frozen=True)
class CutStem:
    """A stem without its first or last word.

    Attributes:
      core: what is left.
      affix: the word, with the signs between it and the core.
    """

    core: str
    affix: str

    @property
    def has_role(self) -> bool:
        """Whether the word tells what a file holds."""
        return says_role(self.affix)


@dataclasses.dataclass(frozen=True)
class StemWords:
    """A stem, and what it is without its first word and without its last one.

    Example: `mask_hall_old` is `hall_old` without `mask_`, and `mask_hall` without `_old`.

    Attributes:
      stem: the stem.
      without_first: the stem without its first word; None if it has no word before its id.
      without_last: the stem without its last word; None if it has no word behind its id.
    """

    stem: str
    without_first: CutStem | None
    without_last: CutStem | None

    @property
    def cuts(self) -> list[CutStem]:
        """The stem without its first word and without its last one, if it has these."""
        return [cut for cut in (self.without_first, self.without_last) if cut is not None]


def split_words(stem: str) -> StemWords:
    """Returns a stem with what it is without its first and without its last word."""
    return StemWords(stem, _cut_first_word(stem), _cut_last_word(stem))


def says_role(affix: str) -> bool:
    """Says whether a word says what a file holds: `_mask`, but not `_old`."""
    return not ROLE_WORDS.isdisjoint(words(affix))


def _cut_first_word(stem: str) -> CutStem | None:
    match = _FIRST_WORD.fullmatch(stem)
    return CutStem(core=match[2], affix=match[1]) if match else None


def _cut_last_word(stem: str) -> CutStem | None:
    if stem[-2:].isdigit():
        return None  # as of most stems: a word ends with one digit at most
    match = _LAST_WORD.fullmatch(stem)
    return CutStem(core=match[1], affix=match[2]) if match else None
