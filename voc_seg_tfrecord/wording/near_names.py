"""What somebody may have meant who wrote a name that there is not."""

from collections.abc import Iterable
import difflib

_LIKENESS = 0.6  # difflib's own
_NEXT = 0.1
_SHOWN = 3
_LONGEST = 100  # comparing takes time that grows with the square of the length


def near(word: str, names: Iterable[str]) -> list[str]:
    """Returns the names that are most like a word, the likest first; at most 3.

    Capitals do not count. A name that begins with the word is like it (`val`, `validation`), and
    so is one that differs from it in a few letters (`trian`, `train`).
    """
    wanted = word.casefold()
    if not wanted or len(wanted) > _LONGEST:
        return []
    by_folded = {name.casefold(): name for name in names}
    begun = [name for name in by_folded if len(wanted) > 1 and name.startswith(wanted)]
    alike = difflib.get_close_matches(wanted, by_folded, n=_SHOWN, cutoff=_LIKENESS)
    if alike:  # what is much less like it than the best would only confuse
        least = _likeness(wanted, alike[0]) - _NEXT
        alike = [name for name in alike if _likeness(wanted, name) >= least]
    return [by_folded[name] for name in dict.fromkeys([*alike, *begun])][:_SHOWN]


def _likeness(one: str, other: str) -> float:
    return difflib.SequenceMatcher(None, one, other).ratio()


def did_you_mean(word: str, names: Iterable[str]) -> str:
    """Returns `; did you mean 'train'?`, to be put behind what was found; empty if none is near."""
    found = near(word, names)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""
