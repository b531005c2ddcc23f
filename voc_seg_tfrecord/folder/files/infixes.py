"""Finds masks whose names have a word between two parts of the id.

Example: `um_road_000000.png` is the mask of `um_000000.png`. The pattern of such names is
`{a}_road_{b}.png`. Names are cut so only where they pair in no other way.
"""

from collections.abc import Collection, Iterator, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.layout import FIRST_PART, SECOND_PART, joint_of
from voc_seg_tfrecord.folder.files.affixes import TOKEN

_MAX_TOKENS = 12
"""Words, numbers and signs of a name; longer names are not cut."""


@dataclasses.dataclass(frozen=True)
class InfixMatch:
    """A mask that has the name of an image with something between two parts of it.

    Attributes:
      image_stem: the name of the image without its ending.
      pattern: the pattern of the mask's name.
    """

    image_stem: str
    pattern: str


def find_infix(mask_name: str, image_stems: Collection[str]) -> InfixMatch | None:
    """Returns the image whose name a mask has in two parts; None if there is none.

    Args:
      mask_name: the name of the mask, without folders.
      image_stems: the names of images without their endings.
    """
    stem, ending = posixpath.splitext(mask_name)
    for first_part, infix, second_part in _cut_in_three(stem):
        image_stem = f"{first_part}{joint_of(infix)}{second_part}"
        if image_stem in image_stems:
            return InfixMatch(image_stem, f"{FIRST_PART}{infix}{SECOND_PART}{ending}")
    return None


def find_infix_pattern(mask_names: Sequence[str], image_stems: Collection[str]) -> str:
    """Returns the pattern by which all masks belong to images; empty if there is no such one.

    Args:
      mask_names: the names of masks, without folders.
      image_stems: the names of images without their endings.
    """
    patterns: set[str] = set()
    for mask_name in mask_names:
        match = find_infix(mask_name, image_stems)
        if match is None:
            return ""
        patterns.add(match.pattern)
        if len(patterns) > 1:
            return ""
    return patterns.pop() if patterns else ""


def _cut_in_three(stem: str) -> Iterator[tuple[str, str, str]]:
    """Yields what stands before a word, the word with its signs, and what stands behind it."""
    tokens = TOKEN.findall(stem)
    if len(tokens) > _MAX_TOKENS:
        return
    for start in range(1, len(tokens) - 1):
        for end in range(start + 1, len(tokens)):
            infix = tokens[start:end]
            has_word = any(token.isalpha() for token in infix)
            if has_word:
                yield "".join(tokens[:start]), "".join(infix), "".join(tokens[end:])
