"""Matches the examples of one side of a comparison with those of the other.

`diff` compares two datasets, `versions` a new version with the one before it. Files may be renamed,
and moved to the folder of another split, which changes their ids. So examples are matched by one
rule after the other, and each rule sees only those that no rule before it matched.
"""

import collections
from collections.abc import Callable, Hashable, Iterable, Sequence
import dataclasses
from typing import Generic, TypeVar

from voc_seg_tfrecord.core.id_lists import last_part


@dataclasses.dataclass(frozen=True, slots=True)
class ComparedExample:
    """What rules compare of an example.

    Attributes:
      id: its id; only one example of a split has it.
      split: its split.
      image: a digest of its image file; None if it is not known.
    """

    id: str
    split: str
    image: Hashable


AnyExample = TypeVar("AnyExample", bound=ComparedExample)


@dataclasses.dataclass(frozen=True)
class MatchingRule:
    """Matches examples that have the same key.

    Attributes:
      key_of: returns the key of an example; None if the rule does not apply to it.
      needs_unique_key: whether only one example of each side may have the key. If not, examples of
        one key are matched in their order.
    """

    key_of: Callable[[ComparedExample], Hashable]
    needs_unique_key: bool = False


def _split_and_id(example: ComparedExample) -> Hashable:
    return example.split, example.id


def _image_and_id(example: ComparedExample) -> Hashable:
    return None if example.image is None else (example.image, example.id)


def _image_and_last_part(example: ComparedExample) -> Hashable:
    return None if example.image is None else (example.image, last_part(example.id))


def _image(example: ComparedExample) -> Hashable:
    return example.image


def _id(example: ComparedExample) -> Hashable:
    return example.id


def _split_and_last_part(example: ComparedExample) -> Hashable:
    return example.split, last_part(example.id)


def _last_part(example: ComparedExample) -> Hashable:
    return last_part(example.id)


BY_IMAGE = (
    MatchingRule(_split_and_id),
    MatchingRule(_image_and_id),
    MatchingRule(_image_and_last_part),
    MatchingRule(_image, needs_unique_key=True),  # nobody knows which of several copies is which
)
"""Matches an example in another split, or with another id, only if its image is the same.

Folders of two splits may each have a `0001`.
"""

BY_NAME = (MatchingRule(_id), MatchingRule(_split_and_last_part), MatchingRule(_last_part))
"""Matches examples whose images may be unknown or changed."""


@dataclasses.dataclass(frozen=True)
class MatchedExamples(Generic[AnyExample]):
    """Which example of one side is which of the other.

    Attributes:
      pairs: each example of the first side with the one of the second side.
      lost: examples that only the first side has.
      new: examples that only the second side has.
    """

    pairs: Sequence[tuple[AnyExample, AnyExample]]
    lost: Sequence[AnyExample]
    new: Sequence[AnyExample]


def match(
    before: Iterable[AnyExample], after: Iterable[AnyExample], rules: Iterable[MatchingRule]
) -> MatchedExamples[AnyExample]:
    """Matches each example of the first side with at most one of the second.

    Args:
      before: the examples of the first side.
      after: those of the second side.
      rules: in the order in which they apply.
    """
    pairs: list[tuple[AnyExample, AnyExample]] = []
    lost = list(before)
    new = list(after)
    for rule in rules:
        lost_by_key = _group(lost, rule)
        new_by_key = _group(new, rule)
        lost = []
        new = []
        for key in {**lost_by_key, **new_by_key}:
            lost_of_key = lost_by_key.get(key, [])
            new_of_key = new_by_key.get(key, [])
            count = min(len(lost_of_key), len(new_of_key))
            is_ambiguous = rule.needs_unique_key and max(len(lost_of_key), len(new_of_key)) > 1
            if key is None or is_ambiguous:
                count = 0
            pairs += zip(lost_of_key[:count], new_of_key[:count], strict=True)
            lost += lost_of_key[count:]
            new += new_of_key[count:]
    return MatchedExamples(pairs, lost, new)


def _group(examples: Iterable[AnyExample], rule: MatchingRule) -> dict[Hashable, list[AnyExample]]:
    """Returns the examples of each key, in their order."""
    examples_by_key: dict[Hashable, list[AnyExample]] = collections.defaultdict(list)
    for example in examples:
        examples_by_key[rule.key_of(example)].append(example)
    return examples_by_key
