"""Finds which images belong together, by which tokens of their ids tell those that look alike.

Neighbours by some tokens of their ids look alike, and others do not. Then these tokens tell the
members of a group, and the others tell groups. So it is with blocks of ids that are numbered in a
row, as the frames of one film are.
"""

from collections.abc import Callable, Collection, Iterable, Iterator
import contextlib
import itertools
import re
import unicodedata

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import (
    ConfigError,
    ImageError,
    VocSegError,
)
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.splitting.ratios import (
    Grouping,
    Proposal,
    first_rule,
)

_FEWEST = 3  # pairs of neighbours that say anything
_SEEN = 8  # pairs of one level
_LOOKS = 128  # images that are read at most
_SIDE = 16  # of a squeezed image
_CONTRAST = 4  # of 255; less is noise
_SHARE = 10  # one of so many ids at least is in a group
_BLOCKS = 5  # of successive numbers for each split, at least
_NUMBER = re.compile(r"[\W_]*(\d{1,18})")  # more digits are no counter
# How ids may be cut into tokens: at separators and digits; at separators, folders or `_`; or into a
# name and what Roboflow appends, or a number before or behind it.
_TOKENS = (
    r"\.rf\.\w+$|[\W_]*(?:\d+|[^\W\d_]+)",
    r"[\W_]*[^\W_]+",
    r"/?[^/]+",
    r"_?[^_]+",
    r".+(?=\.rf\.)|.+",
    r"^\d+(?=[\W_])|.+",
    r".+(?=[\W_]\d+$)|.+",
)
_Level = tuple[int, int]  # the place of a token, and how many of its digits are dropped


Pair = tuple[int, str, str]
"""Two neighbours, and a number that tells where they are from where other pairs are."""


def propose_by_looks(
    ids: Iterable[str], splits: int, look_alike: Callable[[list[Pair]], bool]
) -> Proposal | None:
    """Returns a rule that keeps ids together whose images look alike; None if there is none.

    Ids are sorted by their tokens, which take turns as the last. From some level on two neighbours
    differ: a token, or a digit of it. If those of the last level look alike, it tells members of a
    group apart; so does the level before it if those look alike too, and so on. What is left tells
    groups. One film is cut into blocks, enough for the splits.
    """
    tokens, found = _Tokens(sorted(ids)), list[dict[int, int]]()
    for order in tokens.orders():
        kept, to_the_end = tokens.walk(order, look_alike)
        if to_the_end and len(kept) == 1 and any(kept.values()):  # a film
            *cuts, _ = (level for level in order if level[0] in kept)
            enough = (cut for cut in cuts if tokens.levels[cut].max() >= _BLOCKS * splits - 1)
            found = [dict([next(enough, cuts[-1])])]
            break
        found += [kept] * (len(kept) > 0)
    joint = found[0] if found else {}
    for other in found:
        joint = {p: max(dropped, other[p]) for p, dropped in joint.items() if p in other}
    whole = {place: 0 for place, dropped in joint.items() if not dropped}
    made = (tokens.proposal(kept) for kept in (whole, joint, *found) if kept)
    return next(filter(None, made), None)


class _Tokens:
    """Sorted ids, cut into tokens such as `vid`, `3`, `_f` and `005`.

    Attributes:
      levels: by place of a token and number of dropped digits, a number for what is left of it in
        each id, int64 `[N]`. Only what tells ids apart is there, the coarsest of a place first.
    """

    def __init__(self, ids: list[str]):
        names = [unicodedata.normalize("NFC", i) for i in ids]
        self._ids, self._share, self._texts = ids, 0.0, list[list[str]]()
        self.levels: dict[_Level, np.ndarray] = {}
        for token in _TOKENS:
            counts = [len(re.findall(token, name)) for name in names[:: len(ids) // 500 + 1]]
            usual = max({*counts} - {1}, key=counts.count, default=0)
            share = (counts.count(usual) + 1) / (len(counts) + 1)
            if self._share < 0.9 and share > self._share:
                self._token, self._share = token, share
        rows = map(re.compile(self._token).findall, names)
        for place, column in enumerate(itertools.zip_longest(*rows, fillvalue="")):
            texts = sorted({*column})
            self._texts.append(texts)
            numbers = dict(zip(texts, itertools.count()))
            of_ids, known = np.fromiter(map(numbers.__getitem__, column), int, len(ids)), 1
            for dropped, values in _digits(texts):
                distinct, values = np.unique(values, return_inverse=True)
                if len(distinct) > known:
                    self.levels[place, dropped], known = values[of_ids], len(distinct)
        if len(self.levels) == 1:  # one group, unless it is cut
            ((place, _),) = self.levels
            self.levels = {(place, 1): np.zeros(len(ids), int), **self.levels}

    def orders(self) -> Iterator[list[_Level]]:
        """Yields the orders of levels to try; a token that no two ids share is always last."""
        own = [level for level in self.levels if len(self._texts[level[0]]) == len(self._ids)]
        shared = [level for level in self.levels if level not in own]
        places = [*dict.fromkeys(place for place, _ in shared)]
        for n in range(max(1, len(places)) if self._share > 0.5 else 1):
            turn = places[n:] + places[:n]
            yield [level for place in turn for level in shared if level[0] == place] + own
        grid = sorted((v for v in shared if v[0] in places[-2:]), key=lambda level: -level[1])
        if len({place for place, dropped in grid if dropped}) == 2:
            yield [level for level in shared if level not in grid] + grid + own

    def _sort(self, order: list[_Level]) -> tuple[np.ndarray, np.ndarray]:
        """Returns the numbers of ids in order, and the level at which the next first differs."""
        rows = np.lexsort([self.levels[of] for of in order[::-1]])
        differ = np.full(len(rows) - 1, len(order))
        for level in reversed(range(len(order))):
            differ[np.diff(self.levels[order[level]][rows]) != 0] = level
        return rows, differ

    def walk(
        self, order: list[_Level], look_alike: Callable[[list[Pair]], bool]
    ) -> tuple[dict[int, int], bool]:
        """Returns the tokens that tell groups, less some digits; and whether all are alike."""
        if not order:
            return {}, False
        rows, differ = self._sort(order)
        cut, waiting, stops = len(order), np.array([], int), False
        for level in reversed(range(len(order))):
            waiting = np.union1d(waiting, np.flatnonzero(differ == level))
            if len(waiting) >= _FEWEST:
                at = waiting[np.linspace(0, len(waiting) - 1, _SEEN, dtype=int)]
                tried = [self.levels[of][rows[at]] for of in order[: level or 1]]
                most = _SEEN**2 - 2 * _FEWEST  # pairs of pairs in one place, both ways
                apart = (where for where in tried if (np.bincount(where) ** 2).sum() <= most)
                where = next(apart, tried[-1])
                pairs = zip(where, rows[at], rows[at + 1], strict=True)
                stops = not look_alike([(n, self._ids[a], self._ids[b]) for n, a, b in pairs])
                if stops:
                    break
                cut, waiting = level or cut, waiting[:0]
        return dict(order[:cut]) if cut < len(order) else {}, not stops

    def proposal(self, kept: dict[int, int]) -> Proposal | None:
        """Returns groups that some tokens tell, and a rule for them; None if they are too few."""
        order = [of for of in self.levels if of[1] >= kept.get(of[0], 99)]
        rows, differ = self._sort(order + [of for of in self.levels if of not in order])
        ends = np.flatnonzero(differ < len(order)) + 1
        groups = [[self._ids[row] for row in of] for of in np.split(rows, ends)]
        members = [of for of in groups if len(of) > 1]
        if len(groups) + any(kept.values()) < 2 or _SHARE * sum(map(len, members)) < len(rows):
            return None
        meant = {i: str(n) for n, of in enumerate(groups) for i in of}
        rule = self._rule(kept)
        with contextlib.suppress(ConfigError):  # an id has no such token
            found = first_rule(("folder", "prefix:_", rule), meant)
            rule, by_rule = found or (rule, Grouping.parse(rule).groups(meant))
            return Proposal(rule, by_rule, members, in_a_row=any(kept.values()))
        return None

    def _rule(self, kept: dict[int, int]) -> str:
        """Returns a rule that finds some tokens, and numbers without so many last digits."""
        pattern = ""
        for place, texts in enumerate(self._texts[: max(kept) + 1]):
            fronts = {re.split(r"[^\W_]", text, maxsplit=1)[0] for text in texts if text}
            front = re.escape(*fronts) if len(fronts) == 1 else r"[\W_]*"
            kinds = (rf"{front}\d+", rf"{front}[^\W\d_]+", rf"{front}[^\W_]+", f"(?:{self._token})")
            fits = (of for of in kinds if all(re.fullmatch(of, text) for text in texts if text))
            token = next(fits, kinds[-1])
            token = re.escape(*texts) if len(texts) == 1 else token if texts[0] else f"(?:{token})?"
            if dropped := kept.get(place):
                some = "*?" if front or pattern.endswith(")") else "+?"
                token = rf"({front}\d{some})\d{{0,{dropped}}}"
            elif place in kept or len(texts) == 1:
                token = f"({token})"
            pattern += token
        return "regex:^" + pattern.replace(")(", "") + r"(?!\d)" * (kept[max(kept)] > 0)


def _digits(texts: list[str]) -> Iterator[tuple[int, np.ndarray]]:
    """Yields what is left of sorted tokens without so many last digits, the most first, int64."""
    matches = (_NUMBER.fullmatch(text) for text in texts if text)
    numbers = [-1] * (not texts[0]) + [int(m[1]) for m in itertools.takewhile(bool, matches) if m]
    if len(numbers) < len(texts):
        yield 0, np.arange(len(texts))
        return
    for dropped in range(len(str(max(numbers))) - 1, -1, -1):
        yield dropped, np.array(numbers) // 10**dropped


def look_alike(
    pairs: Collection[Pair],
    path_of: Callable[[str], epath.Path],
    looks: dict[str, np.ndarray | None] | None = None,
) -> bool:
    """Says whether pairs are much more alike than images of pairs that have another number.

    No, if these are more than 128 images with those that are known. One that cannot be read does
    not count.
    """
    looks = {} if looks is None else looks
    names = dict.fromkeys(i for _, *pair in pairs for i in pair if i not in looks)
    if len(looks) + len(names) > _LOOKS:
        return False
    looks |= ordered_map(lambda image_id: _look(path_of(image_id)), names)
    shown = [
        (number, one, other)
        for number, *pair in pairs
        if (one := looks[pair[0]]) is not None and (other := looks[pair[1]]) is not None
    ]
    within = [_difference(one, other) for _, one, other in shown]
    across = [
        _difference(first, second)
        for (number, first, _), (other, second, _) in itertools.combinations(shown, 2)
        if number != other
    ]
    if len(within) < _FEWEST or not across:
        return False
    # Measured: films 0.05 to 0.4 of the quantile, unrelated photos 0.7 and more.
    return bool(2 * np.median(within) < np.quantile(across, 0.25))


def _difference(one: np.ndarray, other: np.ndarray) -> float:
    """Returns how much two looks differ, whichever way one is mirrored and turned."""
    turned = (np.rot90(look, n) for look in (other, other.T) for n in range(4))
    return min(float(np.abs(one - look).mean()) for look in turned)


def _look(path: epath.Path) -> np.ndarray | None:
    """Returns an image squeezed to a few brightness values; None if it cannot be read.

    They are what differs from the mean, of contrast 1, float32 `[16, 16]`. So photos of one dark
    class are not alike because they are dark.
    """
    try:
        file = File.read(path, ImageError)
        with images.large_in_turn(file):
            pixels = images.decode(file, side=4 * _SIDE).grey(_SIDE, _SIDE)
    except VocSegError:  # the build says what is wrong with it
        return None
    values = pixels.astype(np.float32) - pixels.mean(dtype=np.float32)
    return np.asarray(values / max(float(values.std()), _CONTRAST))
