"""What names of files have around their ids, such as `_mask` in `7_mask.png`.

A name without its ending is a stem. Stems are cut only between tokens: whole words, whole numbers,
and single signs.
"""

import collections
from collections.abc import Iterator, Sequence
import re
from typing import NamedTuple


class Affix(NamedTuple):
    """What stands before and behind the id in a name."""

    before: str
    after: str


NO_AFFIX = Affix("", "")

TOKEN = re.compile(r"\d+|[^\W\d_]+|[\W_]")
"""A number, a word, or a sign."""

MIN_SAMPLED_NAMES = 300
"""Of more names, every nth is looked at: at least as many, and less than twice as many."""

_MIN_ALIKE_NAMES = 2


def common_affix(stems: Sequence[str], share: float = 1) -> Affix:
    """Returns what most stems begin and end with.

    Example: of `im_1_rgb`, `im_2_rgb` and `extra` with a share of 0.6, `im_` and `_rgb`.

    Args:
      stems: the stems; see `MIN_SAMPLED_NAMES`.
      share: the least share of all stems that have the beginning, and of those with the beginning
        that have the end. At 1, all stems have both.
    """
    every_nth = max(1, len(stems) // MIN_SAMPLED_NAMES)
    tokens_of_stems = [TOKEN.findall(stem) for stem in stems[::every_nth]]
    before = _common_beginning(tokens_of_stems, share)
    reversed_rests: list[list[str]] = []
    for tokens in tokens_of_stems:
        if tokens[: len(before)] == before:
            rest = tokens[len(before) :]
            reversed_rests.append(rest[::-1])
    after = _common_beginning(reversed_rests, share)[::-1]
    return Affix("".join(before), "".join(after))


def _common_beginning(token_lists: Sequence[Sequence[str]], share: float) -> list[str]:
    """Returns the tokens with which a share of the lists begin.

    Each of these lists has at least one more token behind them.
    """
    min_count = max(_MIN_ALIKE_NAMES, share * len(token_lists))
    beginning: list[str] = []
    lists_with_beginning = token_lists
    while len(lists_with_beginning) > 1:
        position = len(beginning)
        longer_lists = [tokens for tokens in lists_with_beginning if len(tokens) > position + 1]
        if not longer_lists:
            break
        counts = collections.Counter(tokens[position] for tokens in longer_lists)
        ((token, count),) = counts.most_common(1)
        if count < min_count:
            break
        beginning.append(token)
        lists_with_beginning = [tokens for tokens in longer_lists if tokens[position] == token]
    return beginning


def core_of(stem: str, affix: Affix) -> str:
    """Returns what an affix leaves of a stem; empty if the stem has not got it.

    The caller answers for where the affix cuts the stem: that of `common_affix` has whole tokens.
    """
    before, after = affix
    if stem.startswith(before) and stem.endswith(after):
        return stem[len(before) : len(stem) - len(after)]
    return ""


def parts_at_token_ends(stem: str) -> Iterator[tuple[str, str]]:
    """Yields the beginnings and ends of a stem, the longest first, each with the rest.

    None ends within a word or a number. Example: `a_12` gives `_12` with `a`, `a_` with `12`, `12`
    with `a_`, and `a` with `_12`, but no `a_1`.
    """
    for length in range(len(stem) - 1, 0, -1):
        beginning, rest_behind = stem[:length], stem[length:]
        if not is_within_token(beginning[-1], rest_behind[0]):
            yield beginning, rest_behind
        rest_before, end = stem[:-length], stem[-length:]
        if not is_within_token(rest_before[-1], end[0]):
            yield end, rest_before


def affix_around(stem: str, image_id: str, *, may_touch_words: bool) -> Affix | None:
    """Returns what a stem has before and behind an id; None if it has the id nowhere.

    An id does not begin or end within a number. Unless words may touch it, it does not begin or
    end within a word either. Example: `lb` before the id `x` of `lbx` if words may touch it.
    """
    start = stem.find(image_id)
    while start >= 0:
        end = start + len(image_id)
        before, after = stem[:start], stem[end:]
        edges = [(before[-1:], image_id[:1]), (image_id[-1:], after[:1])]
        if may_touch_words:
            is_within = any(are_digits(*edge) for edge in edges)
        else:
            is_within = any(is_within_token(*edge) for edge in edges)
        if not is_within:
            return Affix(before, after)
        start = stem.find(image_id, start + 1)
    return None


def is_within_token(before: str, after: str) -> bool:
    """Says whether two characters beside each other are in one word or number."""
    both_letters = before.isalpha() and after.isalpha()
    return both_letters or are_digits(before, after)


def are_digits(before: str, after: str) -> bool:
    """Says whether two characters beside each other are in one number."""
    return before.isdigit() and after.isdigit()
