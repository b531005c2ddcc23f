"""Rules that give each image id a group: ids that belong together share a split."""

from collections.abc import Iterable, Mapping
import dataclasses
import re

from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.core.words import ROLE_WORDS, only_split_in

_MAX_SHOWN_IDS = 3


@dataclasses.dataclass(frozen=True)
class Grouping:
    """A rule that gives each image id the name of its group.

    Attributes:
      text: the rule as the user wrote it.
      kind: `folder`, the folder that the image lies in, but for folders of splits; `prefix`, what
        stands in front of the first of some characters; `word`, what ends with a word and its
        number: `rome_patient_03`; or `regex`, what a regular expression finds: the texts of its
        parentheses, or all that it matches if it has none.
      pattern: the characters, the word, or the regular expression.
    """

    text: str
    kind: str
    pattern: str = ""

    @classmethod
    def parse(cls, text: str) -> "Grouping":
        """Reads a rule that a config may have: `VocSegConfig` refuses others."""
        kind, _, pattern = text.partition(":")
        return cls(text, kind, pattern)

    def groups(self, ids: Iterable[str]) -> dict[str, str]:
        """Returns the group of each id.

        Raises:
          ConfigError: if the rule finds no group for an id. As a group of its own, such an id
            could silently bring frames of one video into two splits.
        """
        groups = {image_id: self._group_of(image_id) for image_id in ids}
        without_group = sorted(image_id for image_id, group in groups.items() if not group)
        if without_group:
            first = ", ".join(without_group[:_MAX_SHOWN_IDS])
            raise ConfigError(
                "option group_by",
                found=f"{self.text!r}, by which {len(without_group)} of {len(groups)} ids have no "
                f"group, such as {first}",
                expected="a group for each id",
                remedy="change the rule so that it fits all ids; folders of splits, such as train, "
                "are no groups, and regex:PATTERN may have several forms, separated by |",
            )
        return groups

    def _group_of(self, image_id: str) -> str:
        """Returns the group of an id; empty if the rule finds none."""
        # The same name may be composed of other characters on another system.
        image_id = as_nfc(image_id)
        if self.kind == "folder":
            return _folder_of_group(image_id.rpartition("/")[0])
        if self.kind == "prefix":
            front, characters, _ = image_id.partition(self.pattern)
            return front if characters else ""
        pattern = self.pattern
        if self.kind == "word":
            pattern = rf"(?i)^.*?(?<![a-z]){re.escape(as_nfc(self.pattern))}[_ -]?\d+"
        match = re.search(pattern, image_id)
        if match is None:
            return ""
        has_parentheses = match.re.groups > 0
        if not has_parentheses:
            return match[0]
        texts = match.groups(default="")
        return "\0".join(texts) if any(texts) else ""


def _folder_of_group(folder: str) -> str:
    """Returns the folder by which images are grouped; empty if its names say no group.

    A folder of a split, such as `train`, groups nothing, nor does `images` in it. So `train/rome/1`
    is in one group with `val/rome/2`, and `train/images/1` is in none.
    """
    names = folder.split("/")
    without_splits = [name for name in names if not only_split_in(name)]
    if len(without_splits) < len(names):
        names = [name for name in without_splits if name.lower() not in ROLE_WORDS]
    return "/".join(names)


def link_groups(groups: Mapping[str, str], linked_ids: Iterable[Iterable[str]]) -> dict[str, str]:
    """Returns groups, of which those that have linked ids are one, under the first of their names.

    Args:
      groups: the group of each id.
      linked_ids: ids that belong together; those without a group do not count.
    """
    name_of_group: dict[str, str] = {}

    def find_name(group: str) -> str:
        while group in name_of_group:
            group = name_of_group[group]
        return group

    for ids in linked_ids:
        names = sorted({find_name(groups[image_id]) for image_id in ids if image_id in groups})
        for name in names[1:]:
            name_of_group[name] = names[0]
    return {image_id: find_name(group) for image_id, group in groups.items()}


def first_rule(rules: Iterable[str], groups: Mapping[str, str]) -> str | None:
    """Returns the first rule that makes the same groups; None if none does.

    Args:
      rules: rules as the user writes them.
      groups: the group of each id, of any name.
    """
    group_count = len({*groups.values()})
    for rule in rules:
        try:
            group_by_rule = Grouping.parse(rule).groups(groups)
        except ConfigError:  # the rule gives an id no group
            continue
        pairs = {(group_by_rule[image_id], groups[image_id]) for image_id in groups}
        if len(pairs) == group_count and len({*group_by_rule.values()}) == group_count:
            return rule
    return None
