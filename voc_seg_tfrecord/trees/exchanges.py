"""Units exchanged between splits, where a class is missing in a split that could have it."""

import itertools

from voc_seg_tfrecord.trees.assignment import Assignment

_TRIED = 200  # images of a split that are tried in an exchange


def exchange(state: Assignment, detours: int) -> tuple[int, list[list[int]]]:
    """Exchanges units, so that classes get into splits that lack them.

    Args:
      state: has every unit in a split. It is changed.
      detours: how often a class may be brought at the price of another one, where no
        exchange is better than that.

    Returns:
      Of the best state on the way: how often a class is lacking, and the units in each split.
    """
    best, splits = state.lacking, [list(s) for s in state.splits]
    for step in itertools.count():
        wanted = [
            (c, split)
            for c in sorted(state.there, key=lambda c: (len(state.having[c]), c))
            for split, there in enumerate(state.there[c])
            if not there and _may_have(state, c)
        ]
        if not any(_bring(state, c, split, 1) for c, split in wanted):
            detours -= 1
            # Another one each time, or the same two exchanges would undo each other.
            turned = wanted[step % len(wanted) :] + wanted if wanted else []
            if detours < 0 or not any(_bring(state, c, split, 0) for c, split in turned):
                break
        if state.lacking < best:
            best, splits = state.lacking, [list(s) for s in state.splits]
    return best, splits


def _may_have(state: Assignment, c: int) -> bool:
    covered = sum(map(bool, state.there[c]))
    return covered < min(len(state.having[c]), len(state.splits))


def _bring(state: Assignment, c: int, split: int, least: int) -> bool:
    """Exchanges a unit with a class for one without; says whether it found a good one.

    Args:
      state: what is changed.
      c: the class.
      split: the split that lacks it.
      least: how many more splits must have a class afterwards.
    """
    best: tuple[tuple[int, int], int, int, int] | None = None
    for other in range(len(state.splits)):
        givers = [n for n in state.splits[other] if c in state.units[n].classes]
        for giver in givers[:_TRIED] if other != split else ():
            for taker in state.splits[split][:_TRIED]:
                gain = _gain(state, giver, other, taker, split)
                if gain[0] >= least and (best is None or gain > best[0]):
                    best = (gain, giver, other, taker)
    if best is None:
        return False
    _, giver, other, taker = best
    state.take(giver, other)
    state.take(taker, split)
    state.place(giver, split)
    state.place(taker, other)
    return True


def _gain(state: Assignment, giver: int, other: int, taker: int, split: int) -> tuple[int, int]:
    """Returns in how many more splits a class is after an exchange, and minus the misfit."""
    gives, takes = state.units[giver], state.units[taker]
    gain = 0
    for c in {*gives.classes, *takes.classes}:
        change = (c in takes.classes) - (c in gives.classes)
        for s, delta in ((other, change), (split, -change)):
            gain += bool(state.there[c][s] + delta) - bool(state.there[c][s])
    more = gives.size - takes.size
    misfit = abs(state.room[other] + more) + abs(state.room[split] - more)
    return gain, -misfit
