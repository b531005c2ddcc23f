"""Sorts the files of a folder into kinds by words in their names, such as masks and overlays."""

import collections
from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import re

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.core.role_words import ROLE_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix
from voc_seg_tfrecord.folder.files.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.tree.listing import Listing

_LONG_ROLES = sorted((word for word in ROLE_WORDS if len(word) > 1), key=len, reverse=True)
GLUED_ROLES = "|".join(_LONG_ROLES)
"""A pattern of the words of `ROLES` that may stand beside a number: `img1`, but not `l1`."""

# A word behind a sign, as in `7_mask`, `7 (old)` and `7_manual1`, or beside a digit, as in `7mask`.
_LAST_WORD = re.compile(r"(.+?)([ _.\-]+[(\[]?[^\W\d_]+\d?[)\]]?|(?<=\d)[^\W\d_]+)")
# A word before a sign, as in `mask_7`, or one of roles before a number alone, as in `img7`.
_FIRST_WORD = re.compile(rf"([^\W\d_]+[ _.\-]+|(?:{GLUED_ROLES})(?=\d+$))(.+)", re.IGNORECASE)
_DIGITS = "0123456789"
_SIDES = {"l", "r"}  # left and right


@dataclasses.dataclass(frozen=True)
class CutStem:
    """A stem without its first or last word.

    Attributes:
      core: what is left.
      affix: the word, with the signs between it and the core.
    """

    core: str
    affix: str

    @property
    def has_role(self) -> bool:
        """Whether the word says what a file holds."""
        return not ROLE_WORDS.isdisjoint(words(self.affix))


def cut_first_word(stem: str) -> CutStem | None:
    """Returns a stem without its first word; None if it has no word before its id."""
    match = _FIRST_WORD.fullmatch(stem)
    return CutStem(match[2], match[1]) if match else None


def cut_last_word(stem: str) -> CutStem | None:
    """Returns a stem without its last word; None if it has no word behind its id."""
    match = _LAST_WORD.fullmatch(stem)
    return CutStem(match[1], match[2]) if match else None


def sort_by_kind(
    folder: str, files: Sequence[str], shared_names: "SharedNames"
) -> dict[Affix, list[str]]:
    """Sorts the files of a folder by what tells kinds of files apart in their names.

    These are words that say what files hold, such as `_mask`, and words that several ids have:
    `1_color` and `1_ids` beside `2_color` and `2_ids`. They belong to the ids if images and masks
    have them alike: `hall_old.jpg` and `hall_old.png`.

    Args:
      folder: the folder.
      files: the names of the pictures in it.
      shared_names: which names images and masks have alike.
    """
    stems = {stem_of(name) for name in files}
    by_last_word = _cut_last_words(stems)
    by_first_word = _cut_first_words(stems)
    after_words = _affixes_of_kinds(by_last_word, stems)
    before_words = _affixes_of_kinds(by_first_word, stems)
    after_roles = {affix for affix in after_words if _has_role(affix)}
    before_roles = {affix for affix in before_words if _has_role(affix)}
    if after_roles or before_roles:
        # Where words say what files hold, other words that several names have are those of ids.
        after_words, before_words = after_roles, before_roles
    files_of_kind: dict[Affix, list[str]] = {}
    for name in files:
        stem = stem_of(name)
        before = _affix_of(stem, by_first_word, before_words)
        after = _affix_of(stem, by_last_word, after_words)
        affix = _without_overlap(stem, before, after)
        if affix != NO_AFFIX:
            affix = shared_names.affix_beside_id(folder, stem, affix, stems)
        files_of_kind.setdefault(affix, []).append(name)
    return files_of_kind


def _without_overlap(stem: str, before: str, after: str) -> Affix:
    """Returns a first and a last word as an affix; without the first if nothing is between them."""
    if before and after and len(before + after) >= len(stem):
        return "", after
    return before, after


def _has_role(affix: str) -> bool:
    return not ROLE_WORDS.isdisjoint(words(affix))


def _affix_of(stem: str, cut_stems: Mapping[str, CutStem], kinds: Set[str]) -> str:
    """Returns the word that tells the kind of a stem; empty if it has none."""
    cut = cut_stems.get(stem)
    return cut.affix if cut and cut.affix in kinds else ""


def _cut_first_words(stems: Set[str]) -> dict[str, CutStem]:
    cut_stems: dict[str, CutStem] = {}
    for stem in stems:
        cut = cut_first_word(stem)
        if cut:
            cut_stems[stem] = cut
    return cut_stems


def _cut_last_words(stems: Set[str]) -> dict[str, CutStem]:
    """Returns the stems without their last words, but for words that are parts of ids."""
    cut_stems: dict[str, CutStem] = {}
    for stem in stems:
        if stem[-2:].isdigit():
            continue  # a word ends with one digit at most
        cut = cut_last_word(stem)
        if cut:
            cut_stems[stem] = cut
    return _without_sides(_keep_words_of_kinds(cut_stems))


def _without_sides(cut_stems: dict[str, CutStem]) -> dict[str, CutStem]:
    """Leaves out `_l` and `_r` if names have both: left and right are parts of ids, not kinds."""
    words_of_all = {word for cut in cut_stems.values() for word in words(cut.affix)}
    if not words_of_all.issuperset(_SIDES):
        return cut_stems
    return {stem: cut for stem, cut in cut_stems.items() if words(cut.affix) not in (["l"], ["r"])}


def _keep_words_of_kinds(cut_stems: Mapping[str, CutStem]) -> dict[str, CutStem]:
    """Keeps the stems whose last word may tell a kind of files.

    - `_manual1` may, if no other number stands behind `_manual`; `_view1` and `_view2` may not.
    - `_mask` may, even beside `_mask2`, because it says what files hold and has no number.
    """
    affixes = {cut.affix for cut in cut_stems.values()}
    count_of_word = collections.Counter(affix.rstrip(_DIGITS) for affix in affixes)
    stems_with_kinds: dict[str, CutStem] = {}
    for stem, cut in cut_stems.items():
        word = cut.affix.rstrip(_DIGITS)
        is_plain_role = cut.has_role and word == cut.affix
        if is_plain_role or count_of_word[word] == 1:
            stems_with_kinds[stem] = cut
    return stems_with_kinds


def _affixes_of_kinds(cut_stems: Mapping[str, CutStem], stems: Set[str]) -> set[str]:
    """Returns the words that tell kinds of files apart.

    They say what files hold: `_mask`. Or several ids have the same ones: `1_color` and `1_ids`
    beside `2_color` and `2_ids`.

    Args:
      cut_stems: the stems that have a word, without it.
      stems: all stems.
    """
    cores_of_affix: dict[str, set[str]] = {}
    for cut in cut_stems.values():
        cores_of_affix.setdefault(cut.affix, set()).add(cut.core)
    all_names_have_it = len(cores_of_affix) == 1 and len(cut_stems) == len(stems)
    if all_names_have_it:
        return set()
    kinds = {affix for affix in cores_of_affix if _has_role(affix)}
    count_of_core = collections.Counter(core for cores in cores_of_affix.values() for core in cores)
    if len(cores_of_affix) > len(count_of_core):
        return kinds  # more words than ids: other words are parts of ids
    for affix, cores in cores_of_affix.items():
        of_several_kinds = [core for core in cores if count_of_core[core] > 1 or core in stems]
        if len(cores) > 1 and 2 * len(of_several_kinds) >= len(cores):
            kinds.add(affix)
    return kinds


@dataclasses.dataclass(frozen=True)
class _NamedFile:
    """A file of some name.

    Attributes:
      folder: where it lies.
      is_photo: whether its ending is one that masks do not have, such as that of a JPEG.
    """

    folder: str
    is_photo: bool


@dataclasses.dataclass(frozen=True)
class _FilesByName:
    """All pictures of a folder.

    Attributes:
      by_stem: the files by their stems.
      by_core: the files by their stems without a first or last word that says what files hold.
    """

    by_stem: Mapping[str, Set[_NamedFile]]
    by_core: Mapping[str, Set[_NamedFile]]


class SharedNames:
    """Tells which names an image and a mask have alike, so that no word in them is an affix.

    Args:
      listing: all that lies in the folder.
    """

    def __init__(self, listing: Listing):
        self._listing = listing

    @functools.cached_property
    def _files(self) -> _FilesByName:
        by_stem: dict[str, set[_NamedFile]] = {}
        by_core: dict[str, set[_NamedFile]] = {}
        for folder, names in self._listing.files_by_folder.items():
            for name in names:
                ending = ending_of(name)
                if ending not in IMAGE_OR_MASK_ENDINGS:
                    continue
                file = _NamedFile(folder, is_photo=ending not in MASK_ENDINGS)
                stem = stem_of(name)
                by_stem.setdefault(stem, set()).add(file)
                for cut in (cut_first_word(stem), cut_last_word(stem)):
                    if cut and cut.has_role:
                        by_core.setdefault(cut.core, set()).add(file)
        return _FilesByName(by_stem, by_core)

    def affix_beside_id(
        self, folder: str, stem: str, affix: Affix, stems_of_folder: Set[str]
    ) -> Affix:
        """Returns what of the affix of a stem is no part of its id.

        Args:
          folder: the folder.
          stem: the stem of a file in it.
          affix: its first and last word, if they may tell the kind of the file.
          stems_of_folder: all stems of the folder.
        """
        if self._is_id(folder, stem, stems_of_folder):
            return NO_AFFIX
        return self._drop_word_of_id(folder, stem, affix)

    def _is_id(self, folder: str, stem: str, stems_of_folder: Set[str]) -> bool:
        """Says whether a whole stem is the id of an image and a mask.

        Example: `hall_old` of `hall_old.jpg` and `hall_old.png`. If `hall` is in the folder too, it
        has to be the id of an image and a mask as well. Otherwise `_old` tells two kinds of files.
        """
        if not self._is_stem_of_pair(folder, stem, or_with_role=True):
            return False
        for cut in (cut_first_word(stem), cut_last_word(stem)):
            if not cut or cut.core not in stems_of_folder:
                continue
            if not self._is_stem_of_pair(folder, cut.core):
                return False
        return True

    def _drop_word_of_id(self, folder: str, stem: str, affix: Affix) -> Affix:
        """Drops one word of an affix if it is a part of the id, as images and masks have it.

        Example: `mask_hall_old` keeps `mask_` and drops `_old` if `hall_old` is the id of an image
        and a mask.
        """
        before, after = affix
        first, last = cut_first_word(stem), cut_last_word(stem)
        if first and first.has_role and self._is_stem_of_pair(folder, first.core):
            return before, ""
        if last and last.has_role and self._is_stem_of_pair(folder, last.core):
            return "", after
        return affix

    def _is_stem_of_pair(self, folder: str, stem: str, *, or_with_role: bool = False) -> bool:
        """Says whether an image and a mask have the stem, one of them in the folder.

        Args:
          folder: the folder.
          stem: the stem.
          or_with_role: whether the other one may have a word for its role more: `7` and `7_mask`.
        """
        files = self._files.by_stem.get(stem, set())
        if or_with_role:
            files = files | self._files.by_core.get(stem, set())
        return _have_image_and_mask(folder, files)


def _have_image_and_mask(folder: str, files: Set[_NamedFile]) -> bool:
    """Says whether an image and a mask are among files of one name, one of them in a folder.

    They are if one is a photo and the other is not, or if their folders are called images and
    masks. If none lies in the folder, any file elsewhere may be one of them. Folders of drawings or
    backups do not count.
    """
    kinds_here = {file.is_photo for file in files if file.folder == folder}
    if len(kinds_here) == 2:
        return True
    for file in files:
        if file.folder == folder or _is_drawn(folder, file.folder):
            continue
        if file.is_photo not in kinds_here:
            return True
        if _are_images_and_masks(folder, file.folder):
            return True
    return False


def _is_drawn(folder: str, other: str) -> bool:
    """Says whether one of two folders is called as drawings or backups are."""
    return "drawn" in (role_of_path(folder), role_of_path(other))


def _are_images_and_masks(folder: str, other: str) -> bool:
    """Says whether one of two folders is called images, and the other one masks."""
    return {role_of_path(folder), role_of_path(other)} == {"images", "masks"}
