"""Assigns ids to splits by ratio, where no list does; ids that belong together share a split."""

from collections.abc import Iterable, Mapping
import dataclasses
import hashlib
import re
from typing import TypeVar
import unicodedata

from voc_seg_tfrecord.base.errors import ConfigError

T = TypeVar("T")

_SCALE = 1 << 64

_NAMES = ("train", "val", "valid", "validation", "test", "trainval", "trainaug", "default")


def split_of(name: str) -> str:
    """Returns the split that a list, a folder or a ratio of this name makes.

    `val` and `valid` become `validation`, and known names are taken in any case.
    """
    name = name.lower() if name.lower() in _NAMES else name
    return {"val": "validation", "valid": "validation"}.get(name, name)


def check_ratios(ratios: Mapping[str, float], where: object) -> None:
    """Checks that the ratios of the splits sum to 1.

    Raises:
      ConfigError: if one is not above 0, or their sum is not 1.
    """
    total = sum(ratios.values())
    if any(not ratio > 0 for ratio in ratios.values()) or abs(total - 1) > 1e-6:
        raise ConfigError(
            where,
            found=", ".join(f"{name}={ratio:g}" for name, ratio in ratios.items())
            + f", together {total:g}",
            expected="ratios above 0 that sum to 1, such as train=0.8,validation=0.2",
            remedy="change the ratios",
        )


def named_by_split(names: Iterable[str]) -> dict[str, list[str]]:
    """Returns the names of lists, folders or ratios that make each split; see `split_of`."""
    splits: dict[str, list[str]] = {}
    for name in names:
        splits.setdefault(split_of(name), []).append(name)
    return splits


def by_split_name(ratios: Mapping[str, T], where: object) -> dict[str, T]:
    """Returns ratios by the names of the splits that they make: `val` is `validation`.

    Raises:
      ConfigError: if two of them would be one split.
    """
    splits = named_by_split(ratios)
    if twice := [split for split, names in splits.items() if len(names) > 1]:
        raise ConfigError(
            where,
            found=f"two ratios for the split {twice[0]!r}: {', '.join(ratios)}",
            expected="one ratio for each split",
            remedy="leave one out",
        )
    return {split: ratios[name] for split, (name,) in splits.items()}


def assign(
    ids: Iterable[str],
    ratios: Mapping[str, float],
    seed: int,
    groups: Mapping[str, str] | None = None,
) -> dict[str, list[str]]:
    """Assigns ids to splits.

    An id's place depends on the id, the seed and the ratios alone: not on the machine, not
    on the other ids. Adding images later moves none of the old ones.

    Args:
      ids: the pool.
      ratios: each split's share; they sum to 1.
      seed: another seed gives another assignment.
      groups: the group of each id; then the group's name is what is hashed, so that the ids
        of a group stay together.

    Returns:
      The ids of each split, sorted; with few ids a split may get none.
    """
    splits: dict[str, list[str]] = {name: [] for name in ratios}
    names = list(ratios)
    for image_id in sorted(ids):
        key = groups[image_id] if groups else image_id
        digest = hashlib.sha256(f"{seed}:{key}".encode()).digest()
        position = int.from_bytes(digest[:8]) / _SCALE
        bound = 0.0
        for name in names:
            bound += ratios[name]
            if position < bound:
                break
        splits[name].append(image_id)
    return splits


NO_GROUPS = "none"
"""Said in place of a grouping, so that nobody asks for one."""

FORMS = (
    "folder, prefix:CHARACTERS such as prefix:_, regex:PATTERN such as regex:^patient(\\d+), "
    f"or {NO_GROUPS}"
)
"""How a grouping is written."""

_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class Grouping:
    """A rule that gives each image id the name of its group.

    Attributes:
      text: the rule as the user wrote it.
      kind: `folder`, the folder that the image lies in; `prefix`, what stands in front of the
        first of some characters; or `regex`, what a regular expression finds: the texts of its
        parentheses, or all that it matches if it has none.
      pattern: the characters, or the regular expression.
    """

    text: str
    kind: str
    pattern: str = ""

    @classmethod
    def parse(cls, text: str) -> "Grouping":
        """Reads a rule.

        Raises:
          ConfigError: if it has another form.
        """
        kind, colon, pattern = text.partition(":")
        if not (text == "folder" or (kind in ("prefix", "regex") and colon and pattern)):
            raise _error(repr(text), FORMS)
        if kind == "regex":
            try:
                re.compile(pattern)
            except re.error as error:
                raise _error(f"{text!r}: {error}", "a regular expression of Python") from None
        return cls(text, kind, pattern)

    def groups(self, ids: Iterable[str]) -> dict[str, str]:
        """Returns the group of each id.

        Raises:
          ConfigError: if the rule finds no group for an id. As a group of its own, such an id
            could silently bring frames of one video into two splits.
        """
        groups = {image_id: self._group(image_id) for image_id in ids}
        without = sorted(image_id for image_id, group in groups.items() if not group)
        if without:
            raise _error(
                f"{self.text!r}, by which {len(without)} of {len(groups)} ids have no group, such "
                f"as {', '.join(without[:_SHOWN])}",
                "a group for each id",
                "change the rule so that it fits all ids; regex:PATTERN may have several forms, "
                "separated by |",
            )
        return groups

    def _group(self, image_id: str) -> str:
        # The same name may be composed of other characters on another system.
        image_id = unicodedata.normalize("NFC", image_id)
        if self.kind == "folder":
            return image_id.rpartition("/")[0]
        if self.kind == "prefix":
            front, characters, _ = image_id.partition(self.pattern)
            return front if characters else ""
        match = re.search(self.pattern, image_id)
        if match is None:
            return ""
        texts = match.groups()
        return "\0".join(text or "" for text in texts) if any(texts) else match[0] * (not texts)


def _error(problem: str, expected: str, remedy: str = "change group_by") -> ConfigError:
    return ConfigError("option group_by", found=problem, expected=expected, remedy=remedy)
