"""Aligns names: which names hold which ids, and what they have around them.

A name without its ending is a stem. Stems are cut only between tokens: whole words, whole numbers,
and single signs.

- `align` finds ids that are known, such as the names of images, in names that hold them.
- `find_affixes` finds ids that both of two sets of names have something around.
"""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
import functools
import itertools
import posixpath
import re
from typing import NamedTuple

from voc_seg_tfrecord.core.words import ROLE_WORDS, words


class Affix(NamedTuple):
    """The prefix and the suffix around the id in a name: `img_` and `_rgb` in `img_7_rgb.jpg`."""

    prefix: str
    suffix: str


NO_AFFIX = Affix("", "")

AffixPair = tuple[Affix, Affix]
"""What the names of images have around their ids, and what those of masks have."""

StemsByGuess = Mapping[Affix, Mapping[str, str]]
"""Stems by the id that they have if an affix is around it, by the affix; without one first."""

MIN_SAMPLED_NAMES = 300
"""Of more names, every nth is looked at: at least as many, and less than twice as many."""

_TOKEN = re.compile(r"\d+|[^\W\d_]+|[\W_]")
"""A number, a word, or a sign."""

_MIN_ALIKE_NAMES = 2
_MIN_SHARE_OF_NAMES = 0.6
"""At least this share of names has what counts as shared by most of them."""

_LONG_ROLES = sorted((word for word in ROLE_WORDS if len(word) > 1), key=len, reverse=True)
_GLUED_ROLES = "|".join(_LONG_ROLES)
"""A pattern of the `ROLE_WORDS` that may stand beside a number: `img1`, but not `l1`."""

_ROLE_AT_BEGIN = re.compile(f"({_GLUED_ROLES})", re.IGNORECASE)
_ROLE_AT_END = re.compile(f"({_GLUED_ROLES})$", re.IGNORECASE)
# A word behind a sign, as in `7_mask`, `7 (old)` and `7_manual1`, or beside a digit, as in `7mask`.
_LAST_WORD = re.compile(r".+?([ _.\-]+[(\[]?[^\W\d_]+\d?[)\]]?|(?<=\d)[^\W\d_]+)")
# A word before a sign, as in `mask_7`, or one of roles before a number alone, as in `img7`.
_FIRST_WORD = re.compile(rf"([^\W\d_]+[ _.\-]+|(?:{_GLUED_ROLES})(?=\d+$)).+", re.IGNORECASE)
_OUTERMOST_BEFORE = re.compile(r"[^\W\d_]+[\W_]*")
_OUTERMOST_AFTER = re.compile(r"[\W_]*[^\W\d_]+\W*$")
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT_IN_WORD = re.compile(r"(?<=[^\W\d_])\d(?=[^\W\d_])")
_NUMBER_ALONE = re.compile(r"(?<![^\W_])\d+(?![^\W_])")


def align(stems: Iterable[str], ids: Set[str]) -> dict[Affix, dict[str, str]]:
    """Returns all ways in which stems hold ids: by what is around the ids, the stem of each id.

    Example: of `1_fov`, `2_fov` and `roi_2`, with the ids 1 and 2, `1_fov` and `2_fov` by `_fov`,
    and `roi_2` by `roi_`.
    """
    lengths = list_lengths(ids)
    stem_by_id: dict[Affix, dict[str, str]] = {}
    for stem in stems:
        for part, affix in parts_of(stem, lengths):
            if part in ids:
                stem_by_id.setdefault(affix, {})[part] = stem
    return stem_by_id


def parts_of(stem: str, lengths: Iterable[int]) -> Iterator[tuple[str, Affix]]:
    """Yields the parts of a stem in whole tokens that have some lengths, with what is around them.

    Example: `a_12`, `_12` behind `a`, `a_` before `12`, `12`, `a` and `_`; but no `a_1`.
    """
    ends = _list_token_ends(stem)
    for length, start in itertools.product(lengths, ends):
        end = start + length
        if end in ends:
            yield stem[start:end], Affix(stem[:start], stem[end:])


def list_lengths(ids: Iterable[str]) -> list[int]:
    """Returns how long ids are, the longest first: no other parts of names can be ids."""
    return sorted({len(image_id) for image_id in ids}, reverse=True)


def parts_at_ends(stem: str) -> list[tuple[str, str]]:
    """Returns the beginnings and ends of a stem in whole tokens, the longest first, with the rest.

    Example: `_12` with `a`, `a_` with `12`, `12` with `a_`, and `a` with `_12`, of `a_12`.
    """
    cuts = _list_token_ends(stem)[1:-1]
    beginnings = [(stem[:cut], stem[cut:]) for cut in cuts]
    ends = [(stem[cut:], stem[:cut]) for cut in cuts]
    return sorted([*beginnings, *ends], key=lambda part: len(part[0]), reverse=True)


def _list_token_ends(stem: str) -> list[int]:
    """Returns where the tokens of a stem end, after where the first one begins."""
    return [0, *itertools.accumulate(map(len, _TOKEN.findall(stem)))]


@functools.lru_cache(4096)
def says_role(affix: str) -> bool:
    """Says whether a word says what a file holds: `_mask`, but not `_old`."""
    return not ROLE_WORDS.isdisjoint(words(affix))


def words_at_ends(stem: str) -> Affix:
    """Returns the first word of a stem and the last one, each with the signs beside it.

    Each may be the word of a kind of files if the other one is a part of the id: `mask_` and `_old`
    of `mask_hall_old`.
    """
    first = _FIRST_WORD.fullmatch(stem)
    # Most stems end with a number, and a word ends with one digit at most.
    last = None if stem[-2:].isdigit() else _LAST_WORD.fullmatch(stem)
    return Affix(first[1] if first else "", last[1] if last else "")


def core_of(stem: str, affix: Affix) -> str:
    """Returns what an affix leaves of a stem; empty if the stem has not got it."""
    before, after = affix
    if stem.startswith(before) and stem.endswith(after):
        return stem[len(before) : len(stem) - len(after)]
    return ""


def cut_stems(stems: Iterable[str], affix: Affix) -> dict[str, str]:
    """Returns the stems that have an affix, by what it leaves of them."""
    if affix == NO_AFFIX:
        return {stem: stem for stem in stems}
    stem_by_core = {core_of(stem, affix): stem for stem in stems}
    stem_by_core.pop("", None)
    return stem_by_core


def affix_of_most_names(stems: Sequence[str]) -> Affix:
    """Returns what most names begin and end with, in whole words and numbers.

    Example: `im_` and `_rgb` of `im_1_rgb`, `im_2_rgb` and `extra`. Of a single name these are its
    first and last word, if they tell what it holds: `_mask` of `7_mask`.
    """
    if len(stems) != 1:
        return common_affix(stems, _MIN_SHARE_OF_NAMES)
    before, after = words_at_ends(stems[0])
    return Affix(before if says_role(before) else "", after if says_role(after) else "")


def common_affix(stems: Sequence[str], share: float = 1) -> Affix:
    """Returns what a share of stems begin with, and what the same share of these end with."""
    every_nth = max(1, len(stems) // MIN_SAMPLED_NAMES)
    tokens_of_stems = [_TOKEN.findall(stem) for stem in stems[::every_nth]]
    before = _common_beginning(tokens_of_stems, share)
    reversed_rests: list[Sequence[str]] = []
    for tokens in tokens_of_stems:
        rest = tokens[len(before) :]
        if [*before, *rest] == tokens:
            reversed_rests.append(rest[::-1])
    after = _common_beginning(reversed_rests, share)
    return Affix("".join(before), "".join(reversed(after)))


def _common_beginning(token_lists: Sequence[Sequence[str]], share: float) -> list[str]:
    """Returns the tokens with which a share of the lists begin.

    Each of these lists has at least one more token behind them.
    """
    min_count = max(_MIN_ALIKE_NAMES, share * len(token_lists))
    beginning: list[str] = []
    longer_lists = [tokens for tokens in token_lists if len(tokens) > 1]
    while longer_lists:
        position = len(beginning)
        lists_by_token: dict[str, list[Sequence[str]]] = collections.defaultdict(list)
        for tokens in longer_lists:
            lists_by_token[tokens[position]].append(tokens)
        alike_lists = max(lists_by_token.values(), key=len)
        if len(alike_lists) < min_count:
            break
        beginning.append(alike_lists[0][position])
        min_length = len(beginning) + 2
        longer_lists = [tokens for tokens in alike_lists if len(tokens) >= min_length]
    return beginning


def guess_affixes(stems: Sequence[str], affix_of_kind: Affix) -> list[Affix]:
    """Returns what may stand around the ids of files, nothing first.

    Every beginning that is guessed is combined with every end. The guesses are what most names
    have, its outermost words (`gt_` and `_v` of `gt_scan_` and `_x_v`), what all names have, words
    for roles beside numbers (`lb` of `lb1` and `lb2`), and words that tell kinds of files apart.

    Args:
      stems: the names of the files, without the ending.
      affix_of_kind: what tells these files from others in their folder; see `sort_by_kind`.
    """
    of_most = affix_of_most_names(stems)
    of_all = common_affix(stems)
    befores = ["", of_most.prefix, of_all.prefix, affix_of_kind.prefix]
    afters = ["", of_most.suffix, of_all.suffix, affix_of_kind.suffix]
    befores += _OUTERMOST_BEFORE.findall(of_most.prefix)[:1]
    afters += _OUTERMOST_AFTER.findall(of_most.suffix)
    if len(stems) > 1:
        if not (of_most.prefix or of_all.prefix):
            befores += _ROLE_AT_BEGIN.findall(posixpath.commonprefix(stems))
        if not (of_most.suffix or of_all.suffix):
            reversed_end = posixpath.commonprefix([stem[::-1] for stem in stems])
            afters += _ROLE_AT_END.findall(reversed_end[::-1])
    return [*dict.fromkeys(itertools.starmap(Affix, itertools.product(befores, afters)))]


def find_affixes(images: StemsByGuess, masks: StemsByGuess, min_count: int) -> AffixPair | None:
    """Returns what stands around the ids of images and of masks, by which most files pair.

    Args:
      images: the names of the images, cut by each guess.
      masks: the names of the masks, likewise.
      min_count: how many files have to pair.
    """
    best: AffixPair | None = None
    best_count = min_count - 1
    counts_of_files = sorted([len(images[NO_AFFIX]), len(masks[NO_AFFIX])])
    for image_affix, mask_affix in itertools.product(images, masks):
        if image_affix == mask_affix == NO_AFFIX:
            continue
        count = len(images[image_affix].keys() & masks[mask_affix].keys())
        if count <= best_count:
            continue
        affixes = _drop_common_parts(image_affix, mask_affix)
        min_pairs = _min_pairs(affixes, *counts_of_files)
        if count >= min_pairs and _have_words_and_same_numbers(affixes):
            best = affixes
            best_count = count
    return best


def _drop_common_parts(affix: Affix, other: Affix) -> AffixPair:
    """Leaves out of two affixes what both have next to the id, in whole words and numbers.

    That is a part of the id: `a_x_` and `b_x_` become `a_` and `b_`.
    """
    tokens_before, other_tokens_before = (_TOKEN.findall(a.prefix) for a in (affix, other))
    tokens_before.reverse()
    other_tokens_before.reverse()
    length_before = _common_length(tokens_before, other_tokens_before)
    length_after = _common_length(_TOKEN.findall(affix.suffix), _TOKEN.findall(other.suffix))

    def without_common_parts(affix: Affix) -> Affix:
        end_of_before = len(affix.prefix) - length_before
        return Affix(affix.prefix[:end_of_before], affix.suffix[length_after:])

    return without_common_parts(affix), without_common_parts(other)


def _common_length(tokens: list[str], other_tokens: list[str]) -> int:
    """Returns how many characters two lists of tokens begin with alike, up to a word or number.

    If all of one list is alike, the signs at its end count too.
    """
    common = [*posixpath.commonprefix([tokens, other_tokens])]
    if common not in (tokens, other_tokens):
        while common and not common[-1].isalnum():
            common.pop()
    return len("".join(common))


def _have_words_and_same_numbers(affixes: AffixPair) -> bool:
    """Says whether affixes may be a tool's or a person's: words, and no numbers that differ.

    Examples: `im_` and `gt_` may, `t1_` and `gt_` too. `0_` and `gt_` may not, as 0 is no word, and
    `t1_` and `t2_` may not. A digit within a word is none, as in `leftImg8bit`.
    """
    for text in itertools.chain.from_iterable(affixes):
        if text and not _LETTER.search(text):
            return False
    numbers, other_numbers = map(_list_numbers, affixes)
    if not numbers or not other_numbers:
        return True
    return numbers == other_numbers


def _list_numbers(affix: Affix) -> list[str]:
    return re.findall(r"\d+", _DIGIT_IN_WORD.sub("", "".join(affix)))


def _min_pairs(affixes: AffixPair, count_of_fewer: int, count_of_more: int) -> int:
    """Returns how many files have to pair, so that what is around their ids can be no accident.

    Args:
      affixes: what is around the ids of images and of masks.
      count_of_fewer: how many images or masks there are, whichever are fewer.
      count_of_more: the other count.
    """
    texts = [" ".join(affix) for affix in affixes]
    numbers, other_numbers = map(_NUMBER_ALONE.findall, texts)
    if numbers != other_numbers:
        return count_of_more  # where some names are `{id}_0`, the id may be `1_0`
    for before, after in affixes:
        has_letter_beside_id = before[-1:].isalpha() or after[:1].isalpha()
        if not has_letter_beside_id:
            return 0  # `im_1` and `gt_1`: a word behind a sign is no part of an id
    if ROLE_WORDS.issuperset(words(" ".join(texts))):
        return count_of_fewer  # `img1` and `lb1`
    return count_of_more  # `u1` and `v1`: many files have a letter and a number
