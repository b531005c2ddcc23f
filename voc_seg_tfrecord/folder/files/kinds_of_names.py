"""Sorts the files of a folder into kinds by words in their names, such as masks and overlays."""

import collections
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
import dataclasses

from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix
from voc_seg_tfrecord.folder.files.shared_names import SharedNames
from voc_seg_tfrecord.folder.files.stem_words import CutStem, StemWords, says_role, split_words
from voc_seg_tfrecord.folder.tree.endings import stem_of

_DIGITS = "0123456789"
_LEFT_AND_RIGHT = {"l", "r"}


def sort_by_kind(
    folder: str, files: Sequence[str], shared_names: SharedNames
) -> dict[Affix, list[str]]:
    """Sorts the files of a folder by what tells kinds of files apart in their names.

    These are words that tell what files hold, such as `_mask`, and words that several ids have:
    `1_color` and `1_ids` beside `2_color` and `2_ids`. They belong to the ids if images and masks
    have them alike: `hall_old.jpg` and `hall_old.png`.

    Args:
      folder: the folder.
      files: the names of the pictures in it.
      shared_names: which names images and masks have alike.
    """
    words_by_stem = {stem_of(name): split_words(stem_of(name)) for name in files}
    kind_words = _find_kind_words(words_by_stem.values())
    files_of_kind: dict[Affix, list[str]] = {}
    for name in files:
        stem_words = words_by_stem[stem_of(name)]
        affix = kind_words.affix_of(stem_words)
        if affix != NO_AFFIX:
            stems = words_by_stem.keys()
            affix = shared_names.affix_beside_id(folder, stem_words, affix, stems)
        files_of_kind.setdefault(affix, []).append(name)
    return files_of_kind


@dataclasses.dataclass(frozen=True)
class _KindWords:
    """The words that tell kinds of files apart in a folder, with the signs beside them.

    Attributes:
      first: those at the beginning of stems.
      last: those at the end of stems.
    """

    first: Set[str]
    last: Set[str]

    def affix_of(self, stem_words: StemWords) -> Affix:
        """Returns the words of a stem that tell its kind."""
        before = _affix_among(stem_words.without_first, self.first)
        after = _affix_among(stem_words.without_last, self.last)
        leaves_no_id = len(before + after) >= len(stem_words.stem)
        if before and after and leaves_no_id:
            return Affix("", after)
        return Affix(before, after)


def _affix_among(cut: CutStem | None, kind_words: Set[str]) -> str:
    """Returns the word that was cut off a stem if it is one of some words; else nothing."""
    return cut.affix if cut and cut.affix in kind_words else ""


def _find_kind_words(all_stem_words: Collection[StemWords]) -> _KindWords:
    """Finds the words that tell kinds of files apart.

    Where words tell what files hold, other words that several names have are those of ids.
    """
    stems = {stem_words.stem for stem_words in all_stem_words}
    cores_by_first_word = _cores_by_word(each.without_first for each in all_stem_words)
    cores_by_last_word = _cores_by_word(each.without_last for each in all_stem_words)
    cores_by_last_word = _without_sides(_without_numbered_words(cores_by_last_word))
    first = _find_kind_words_at_one_end(cores_by_first_word, stems)
    last = _find_kind_words_at_one_end(cores_by_last_word, stems)
    first_roles = {word for word in first if says_role(word)}
    last_roles = {word for word in last if says_role(word)}
    if first_roles or last_roles:
        return _KindWords(first_roles, last_roles)
    return _KindWords(first, last)


def _cores_by_word(cuts: Iterable[CutStem | None]) -> dict[str, set[str]]:
    """Returns by each word that was cut off stems what is left of these."""
    cores_by_word: dict[str, set[str]] = {}
    for cut in cuts:
        if cut is not None:
            cores_by_word.setdefault(cut.affix, set()).add(cut.core)
    return cores_by_word


def _without_numbered_words(cores_by_word: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Leaves out words that differ in their number alone, which are parts of ids.

    - `_view1` and `_view2` are left out; `_manual1` stays if no other number stands behind it.
    - `_mask` stays, even beside `_mask2`, because it tells what files hold and has no number.
    """
    counts = collections.Counter(word.rstrip(_DIGITS) for word in cores_by_word)
    cores_by_kept_word = {}
    for word, cores in cores_by_word.items():
        plain_word = word.rstrip(_DIGITS)
        is_plain_role = word == plain_word and says_role(word)
        if is_plain_role or counts[plain_word] == 1:
            cores_by_kept_word[word] = cores
    return cores_by_kept_word


def _without_sides(cores_by_word: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Leaves out `_l` and `_r` if names have both: left and right are parts of ids, not kinds."""
    letters = {letter for word in cores_by_word for letter in words(word)}
    if not letters.issuperset(_LEFT_AND_RIGHT):
        return dict(cores_by_word)
    return {
        word: cores for word, cores in cores_by_word.items() if words(word) not in (["l"], ["r"])
    }


def _find_kind_words_at_one_end(cores_by_word: Mapping[str, set[str]], stems: Set[str]) -> set[str]:
    """Returns the words at one end of stems that tell kinds of files apart.

    They tell what files hold: `_mask`. Or at least half of the ids beside a word have other names:

    | stems                             | words              | why                                |
    |-----------------------------------|--------------------|------------------------------------|
    | `1_color`, `1_ids`, `2_color`,    | `_color`, `_ids`   | 1 and 2 have both words            |
    | `2_ids`                           |                    |                                    |
    | `1`, `1_ids`, `2`, `2_ids`        | `_ids`             | 1 and 2 are names without a word   |
    | `hall_old`, `yard_old`, `barn`    | none               | each id has one name               |
    | `hall_a`, `hall_b`, `hall_c`,     | none               | three words of two ids are parts   |
    | `yard_a`                          |                    | of ids                             |

    Args:
      cores_by_word: by each word, what is left of the stems that have it, which may be ids.
      stems: all stems.
    """
    if _is_word_of_all(cores_by_word, stems):
        return set()
    kind_words = {word for word in cores_by_word if says_role(word)}
    word_counts = collections.Counter(core for cores in cores_by_word.values() for core in cores)
    has_more_words_than_ids = len(cores_by_word) > len(word_counts)
    if has_more_words_than_ids:
        return kind_words
    for word, cores in cores_by_word.items():
        ids_of_several_names = _find_ids_of_several_names(cores, word_counts, stems)
        if len(cores) > 1 and 2 * len(ids_of_several_names) >= len(cores):
            kind_words.add(word)
    return kind_words


def _find_ids_of_several_names(
    ids: Iterable[str], word_counts: Mapping[str, int], stems: Set[str]
) -> list[str]:
    """Returns the ids that stand beside several words, or are a name without a word, too.

    Args:
      ids: what stands beside a word in names.
      word_counts: beside how many words each id stands.
      stems: all stems.
    """
    return [image_id for image_id in ids if word_counts[image_id] > 1 or image_id in stems]


def _is_word_of_all(cores_by_word: Mapping[str, set[str]], stems: Set[str]) -> bool:
    """Says whether all stems have one word, which then tells no kinds apart."""
    if len(cores_by_word) != 1:
        return False
    (cores,) = cores_by_word.values()
    return len(cores) == len(stems)
