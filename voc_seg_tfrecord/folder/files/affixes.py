"""What names of files have around their ids, such as `_mask` in `7_mask.png`.

A name without its ending is a stem. An affix cuts a stem only between tokens: whole words, whole
numbers, and single signs.
"""

import collections
from collections.abc import Iterator, Sequence
import re

Affix = tuple[str, str]
"""What stands before and behind the id."""

NO_AFFIX: Affix = ("", "")

TOKEN = re.compile(r"\d+|[^\W\d_]+|[\W_]")
"""A number, a word, or a sign."""

MAX_SAMPLED_NAMES = 300
"""Names of a folder by which it is told what all of them begin and end with."""

_MIN_ALIKE_NAMES = 2


def common_affix(stems: Sequence[str], share: float = 1) -> Affix:
    """Returns what a share of stems begin and end with."""
    every_nth = max(1, len(stems) // MAX_SAMPLED_NAMES)
    tokens_of_stems = [TOKEN.findall(stem) for stem in stems[::every_nth]]
    before = _common_beginning(tokens_of_stems, share)
    reversed_rests: list[list[str]] = []
    for tokens in tokens_of_stems:
        if tokens[: len(before)] == before:
            rest = tokens[len(before) :]
            reversed_rests.append(rest[::-1])
    after = _common_beginning(reversed_rests, share)[::-1]
    return "".join(before), "".join(after)


def _common_beginning(token_lists: Sequence[Sequence[str]], share: float) -> list[str]:
    """Returns the tokens with which a share of lists begin; at least one stays behind them."""
    beginning: list[str] = []
    alike = token_lists
    while len(alike) > 1:
        position = len(beginning)
        longer = [tokens for tokens in alike if len(tokens) > position + 1]
        counts = collections.Counter(tokens[position] for tokens in longer)
        if not counts:
            break
        token = max(counts, key=counts.__getitem__)
        if counts[token] < max(_MIN_ALIKE_NAMES, share * len(token_lists)):
            break
        beginning.append(token)
        alike = [tokens for tokens in longer if tokens[position] == token]
    return beginning


def core_of(stem: str, affix: Affix) -> str:
    """Returns what an affix leaves of a stem; empty if the stem has not got it."""
    before, after = affix
    if stem.startswith(before) and stem.endswith(after):
        return stem[len(before) : len(stem) - len(after)]
    return ""


def cores_in(stem: str) -> Iterator[tuple[str, str]]:
    """Yields the beginnings and ends of a stem, the longest first, each with the rest.

    None ends within a word or a number: `a_12` gives `a_` and `_12`, but no `a_1`.
    """
    for length in range(len(stem) - 1, 0, -1):
        beginning, rest_behind = stem[:length], stem[length:]
        if not is_within_token(beginning[-1], rest_behind[0]):
            yield beginning, rest_behind
        rest_before, end = stem[:-length], stem[-length:]
        if not is_within_token(rest_before[-1], end[0]):
            yield end, rest_before


def is_within_token(before: str, after: str) -> bool:
    """Says whether two characters beside each other are in one word or number."""
    both_letters = before.isalpha() and after.isalpha()
    return both_letters or are_digits(before, after)


def are_digits(before: str, after: str) -> bool:
    """Says whether two characters beside each other are in one number."""
    return before.isdigit() and after.isdigit()
