"""Finds groups by words with a number in image ids, such as `patient_003` and `frame0007`."""

from collections.abc import Collection, Sequence
import re

from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.splits.group_proposals import (
    PLAIN_RULES,
    GroupKind,
    GroupProposal,
    group_by_pattern,
    propose,
)
from voc_seg_tfrecord.folder.splits.words_before_numbers import PARTS, WHOLES

_MAX_SAMPLED_NAMES = 500
_NO_LETTER_BEFORE = "(?<![a-z])"
_NUMBER = r"[_ -]?\d+"


def propose_wholes(ids: Collection[str]) -> GroupProposal | None:
    """Proposes groups by the first word such as `patient`, and its number.

    Example: `patient_003_slice_05` is in the group `patient_003`.
    """
    words = _words_in_ids(WHOLES, ids)
    if words is None:
        return None
    pattern = rf"(?i)^(.*?{_NO_LETTER_BEFORE}(?:{words}){_NUMBER})"
    return _propose_by_pattern(pattern, ids, (*PLAIN_RULES, f"word:{words}"))


def propose_parts(ids: Collection[str]) -> GroupProposal | None:
    """Proposes groups by what stands before the first word such as `frame` with a number.

    Example: `vid3_frame0007` is in the group `vid3_`.
    """
    words = _words_in_ids(PARTS, ids)
    if words is None:
        return None
    return _propose_by_pattern(rf"(?i)^(.+?){_NO_LETTER_BEFORE}(?:{words}){_NUMBER}", ids)


def _words_in_ids(words: str, ids: Collection[str]) -> str | None:
    """Returns which words stand before a number in ids; None if few of a sample have one.

    Args:
      words: a pattern of all words: `patient|case`.
      ids: all ids.

    Returns:
      A pattern of those that occur, the longest first.
    """
    word_with_number = re.compile(f"(?i){_NO_LETTER_BEFORE}({words}){_NUMBER}")
    names = [as_nfc(image_id) for image_id in ids]
    sampled = names[:: len(names) // _MAX_SAMPLED_NAMES + 1]
    sampled_with_word = [name for name in sampled if word_with_number.search(name)]
    if 3 * len(sampled_with_word) <= len(sampled):
        return None
    found = set()
    for name in names:
        match = word_with_number.search(name)
        if match:
            found.add(match[1].lower())
    return "|".join(sorted(found, key=lambda word: (-len(word), word)))


def _propose_by_pattern(
    pattern: str, ids: Collection[str], plain_rules: Sequence[str] = PLAIN_RULES
) -> GroupProposal | None:
    """Proposes the groups of a regular expression, if most ids are in one with others."""
    groups = group_by_pattern(pattern, ids)
    if groups is None or 2 * groups.grouped_id_count <= len(ids):
        return None
    return propose(groups, groups.list_groups_of_several(), GroupKind.NUMBERED, plain_rules)
