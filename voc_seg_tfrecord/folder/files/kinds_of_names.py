"""Sorts the files of a folder into kinds by words in their names, such as masks and overlays.

A stem may begin or end with a word that tells what the file holds: `mask_` in `mask_hall_old.png`.
Another word at an end, such as `_old`, belongs to the id if the names of an image and its mask both
have it.
"""

import collections
from collections.abc import Collection, Mapping, Sequence, Set
import functools
from typing import NamedTuple

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.core.words import words
from voc_seg_tfrecord.folder.files.align import (
    NO_AFFIX,
    Affix,
    says_role,
    words_at_ends,
)
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing

_DIGITS = "0123456789"


class _WordAndRest(NamedTuple):
    """A word at one end of a stem, and the rest, which may be the id."""

    word: str
    rest: str


def _cut_ends(stem: str) -> list[_WordAndRest]:
    """Returns the first word of a stem and the last one, each with the rest; empty if it has none.

    Example: `mask_` with `hall_old`, and `_old` with `mask_hall`.
    """
    before, after = words_at_ends(stem)
    return [
        _WordAndRest(before, stem.removeprefix(before)),
        _WordAndRest(after, stem.removesuffix(after)),
    ]


def sort_by_kind(
    folder: str, files: Sequence[str], shared_names: "SharedNames"
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
    ends_by_stem = {stem_of(name): _cut_ends(stem_of(name)) for name in files}
    first_words, last_words = _find_kind_words(ends_by_stem)
    files_of_kind: dict[Affix, list[str]] = {}
    for name in files:
        stem = stem_of(name)
        first, last = ends_by_stem[stem]
        before = first.word if first.word in first_words else ""
        after = last.word if last.word in last_words else ""
        if after and len(before + after) >= len(stem):  # no id is left between them
            before = ""
        affix = Affix(before, after)
        if affix != NO_AFFIX:
            affix = shared_names.affix_beside_id(folder, stem, affix, ends_by_stem)
        files_of_kind.setdefault(affix, []).append(name)
    return files_of_kind


def _find_kind_words(ends_by_stem: Mapping[str, Sequence[_WordAndRest]]) -> list[set[str]]:
    """Returns the first words of stems that tell kinds of files apart, and the last ones.

    Where words tell what files hold, other words that several names have are those of ids.
    """
    rests_by_first: dict[str, set[str]] = collections.defaultdict(set)
    rests_by_last: dict[str, set[str]] = collections.defaultdict(set)
    for first, last in ends_by_stem.values():
        rests_by_first[first.word].add(first.rest)
        rests_by_last[last.word].add(last.rest)
    stems = ends_by_stem.keys()
    kind_words = [
        _find_kind_words_at_one_end(rests_by_first, stems),
        _find_kind_words_at_one_end(_without_parts_of_ids(rests_by_last), stems),
    ]
    roles = [{word for word in found if says_role(word)} for found in kind_words]
    return roles if any(roles) else kind_words


def _without_parts_of_ids(rests_by_word: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Leaves out words that differ in their number or side alone, which are parts of ids.

    - `_view1` and `_view2` are left out; `_manual1` stays if no other number stands behind it.
    - `_mask` stays, even beside `_mask2`, because it tells what files hold and has no number.
    - `_l` and `_r` are left out if names have both: left and right.
    """
    counts = collections.Counter(word.rstrip(_DIGITS) for word in rests_by_word)
    remaining: dict[str, set[str]] = {}
    letters: set[str] = set()
    for word, rests in rests_by_word.items():
        plain_word = word.rstrip(_DIGITS)
        is_role_without_number = word == plain_word and says_role(word)
        if is_role_without_number or counts[plain_word] == 1:
            remaining[word] = rests
            letters.update(words(word))
    if letters.issuperset("lr"):
        for word in [*remaining]:
            if words(word) in (["l"], ["r"]):
                del remaining[word]
    return remaining


def _find_kind_words_at_one_end(rests_by_word: Mapping[str, set[str]], stems: Set[str]) -> set[str]:
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

    A word of all stems tells no kinds apart.

    Args:
      rests_by_word: by each word, what is left of the stems that have it, which may be ids; by the
        empty text, the stems that have no word.
      stems: all stems.
    """
    rests_by_found_word = {word: rests for word, rests in rests_by_word.items() if word}
    kind_words = {word for word in rests_by_found_word if says_role(word)}
    word_counts: collections.Counter[str] = collections.Counter()
    for rests in rests_by_found_word.values():
        if len(rests) == len(stems):
            return set()
        word_counts.update(rests)
    ids_with_other_names = {rest for rest, count in word_counts.items() if count > 1} | stems
    if len(rests_by_found_word) > len(word_counts):
        return kind_words
    for word, rests in rests_by_found_word.items():
        half = len(rests) / 2
        if len(rests) > 1 and len(rests & ids_with_other_names) >= half:
            kind_words.add(word)
    return kind_words


class _Picture(NamedTuple):
    """A file whose ending is that of an image or a mask.

    Attributes:
      folder: its folder.
      is_photo: whether its ending is one that masks do not have, such as that of a JPEG.
    """

    folder: str
    is_photo: bool


class SharedNames:
    """Tells which part of a name is the id that an image and its mask share.

    Args:
      listing: all that lies in the folder.
    """

    def __init__(self, listing: Listing):
        self._listing = listing

    @functools.cached_property
    def _by_stem(self) -> dict[str, set[_Picture]]:
        """All pictures by their whole stems: `7_mask.png` by `7_mask`."""
        pictures: dict[str, set[_Picture]] = collections.defaultdict(set)
        for folder, names in self._listing.files_by_folder.items():
            for name in names:
                ending = ending_of(name)
                if ending in IMAGE_OR_MASK_ENDINGS:
                    pictures[stem_of(name)].add(_Picture(folder, ending not in MASK_ENDINGS))
        return pictures

    @functools.cached_property
    def _by_stem_without_role(self) -> dict[str, set[_Picture]]:
        """Those that have a word for a role, by the rest: `7_mask.png` by `7`."""
        pictures: dict[str, set[_Picture]] = collections.defaultdict(set)
        for stem, pictures_of_stem in self._by_stem.items():
            for word, rest in _cut_ends(stem):
                if says_role(word):
                    pictures[rest].update(pictures_of_stem)
        return pictures

    def affix_beside_id(
        self,
        folder: str,
        stem: str,
        affix: Affix,
        ends_by_stem: Mapping[str, Sequence[_WordAndRest]],
    ) -> Affix:
        """Returns the words of an affix that are no parts of the id.

        The first row that fits counts:

            file                has the partner       so the id is   and the affix is
            hall_old.png        hall_old.jpg          hall_old       empty
            mask_hall_old.png   photos/hall_old.jpg   hall_old       mask_, without _old
            old_hall_mask.png   photos/old_hall.jpg   old_hall       _mask, without old_

        Args:
          folder: the folder.
          stem: the stem of a file in it.
          affix: its first and last word, if they may tell the kind of the file.
          ends_by_stem: the first and the last word of each stem of the folder.
        """
        first, last = ends_by_stem[stem]
        with_role = self._by_stem_without_role.get(stem, set())
        if _have_image_and_mask(folder, self._find(stem) | with_role):
            # Beside `hall.jpg` without a mask, `hall_old.jpg` and the mask `hall_old` are a kind.
            rests = [rest for word, rest in (first, last) if word and rest in ends_by_stem]
            if all(_have_image_and_mask(folder, self._find(rest)) for rest in rests):
                return NO_AFFIX
        if self._is_id_beside(folder, first):
            return Affix(affix.prefix, "")
        if self._is_id_beside(folder, last):
            return Affix("", affix.suffix)
        return affix

    def _find(self, stem: str) -> Set[_Picture]:
        return self._by_stem.get(stem, set())

    def _is_id_beside(self, folder: str, cut: _WordAndRest) -> bool:
        """Says whether a stem without its word for a role is the name of the file's partner.

        Example: `hall_old`, left of `mask_hall_old.png`, if there is `photos/hall_old.jpg`.

        If the folder itself has `hall_old` too, that has to be the name of an image and a mask.
        Otherwise a file elsewhere is enough: with the stem's own file it is a pair.
        """
        if not says_role(cut.word):
            return False
        pictures = self._find(cut.rest)
        if any(picture.folder == folder for picture in pictures):
            return _have_image_and_mask(folder, pictures)
        return bool(_list_elsewhere(folder, pictures))


def _have_image_and_mask(folder: str, pictures: Collection[_Picture]) -> bool:
    """Says whether a picture in a folder and another one, there or elsewhere, are image and mask.

    In one folder, they are if one is a photo and the other is not. In two folders, they also are if
    the names of the folders say images and masks.
    """
    are_photos_here = {picture.is_photo for picture in pictures if picture.folder == folder}
    if not are_photos_here:
        return False
    if are_photos_here == {True, False}:
        return True
    for other in _list_elsewhere(folder, pictures):
        roles = {role_of_path(folder), role_of_path(other.folder)}
        if other.is_photo not in are_photos_here or roles == {"images", "masks"}:
            return True
    return False


def _list_elsewhere(folder: str, pictures: Collection[_Picture]) -> list[_Picture]:
    """Returns the pictures in other folders, unless one folder holds drawings.

    Drawings, predictions and backups repeat the names of images, but are neither images nor masks.
    """
    if role_of_path(folder) == "drawn":
        return []
    elsewhere = [picture for picture in pictures if picture.folder != folder]
    return [picture for picture in elsewhere if role_of_path(picture.folder) != "drawn"]
