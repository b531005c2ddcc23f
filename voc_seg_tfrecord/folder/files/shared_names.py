"""Tells which part of a name is the id that an image and its mask share.

A file's name without its ending is its stem. A stem may begin or end with a role word, which tells
what the file holds: `mask_` in `mask_hall_old.png`. Another word at an end, such as `_old`, belongs
to the id if the names of an image and its mask both have it.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
import dataclasses
import functools

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.stem_words import CutStem, StemWords, split_words
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing


@dataclasses.dataclass(frozen=True)
class _Picture:
    """A file whose ending is that of an image or a mask.

    Attributes:
      folder: its folder.
      is_photo: whether its ending is one that masks do not have, such as that of a JPEG.
    """

    folder: str
    is_photo: bool

    @property
    def may_be_mask(self) -> bool:
        """Whether its ending is one of masks."""
        return not self.is_photo


@dataclasses.dataclass(frozen=True)
class _Namesakes:
    """Pictures that may have one id, as seen from a folder.

    Attributes:
      folder: the folder.
      here: the pictures in it.
      elsewhere: the pictures in other folders.
    """

    folder: str
    here: Sequence[_Picture]
    elsewhere: Sequence[_Picture]

    @classmethod
    def seen_from(cls, folder: str, pictures: Set[_Picture]) -> "_Namesakes":
        """Divides pictures into those in a folder and those elsewhere."""
        here: list[_Picture] = []
        elsewhere: list[_Picture] = []
        for picture in pictures:
            if picture.folder == folder:
                here.append(picture)
            else:
                elsewhere.append(picture)
        return cls(folder, here, elsewhere)

    def have_image_and_mask(self) -> bool:
        """Says whether a picture here and another one, here or elsewhere, are an image and a mask.

        In one folder, they are if one is a photo and the other is not. In two folders, they also
        are if the names of the folders say images and masks.
        """
        has_photo_here = any(picture.is_photo for picture in self.here)
        may_have_mask_here = any(picture.may_be_mask for picture in self.here)
        if has_photo_here and may_have_mask_here:
            return True
        for partner in self._possible_partners():
            if has_photo_here and partner.may_be_mask:
                return True
            if may_have_mask_here and partner.is_photo:
                return True
            if self.here and _are_for_images_and_masks(self.folder, partner.folder):
                return True
        return False

    def have_partner_elsewhere(self) -> bool:
        """Says whether another folder has a picture that may be the partner of one here."""
        return next(self._possible_partners(), None) is not None

    def _possible_partners(self) -> Iterator[_Picture]:
        """Yields the pictures elsewhere, unless their folder or this one holds drawings."""
        for picture in self.elsewhere:
            if not _is_one_for_drawings(self.folder, picture.folder):
                yield picture


def _are_for_images_and_masks(folder: str, other_folder: str) -> bool:
    """Says whether one folder is called as images are, and the other one as masks are."""
    roles = {role_of_path(folder), role_of_path(other_folder)}
    return roles == {"images", "masks"}


def _is_one_for_drawings(folder: str, other_folder: str) -> bool:
    """Says whether one of two folders is called as drawings, predictions or backups are.

    Pictures there repeat the names of images, but are neither images nor masks.
    """
    return "drawn" in (role_of_path(folder), role_of_path(other_folder))


@dataclasses.dataclass(frozen=True)
class _PicturesByName:
    """All pictures of a folder and of those below it.

    Attributes:
      by_stem: the pictures by their whole stems: `7_mask.png` by `7_mask`.
      by_stem_without_role_word: those that have a role word, by the rest: `7_mask.png` by `7`.
    """

    by_stem: Mapping[str, Set[_Picture]]
    by_stem_without_role_word: Mapping[str, Set[_Picture]]

    @classmethod
    def of_listing(cls, listing: Listing) -> "_PicturesByName":
        """Sorts all pictures of a listing by their names."""
        by_stem: dict[str, set[_Picture]] = {}
        by_stem_without_role_word: dict[str, set[_Picture]] = {}
        for folder, names in listing.files_by_folder.items():
            for name in names:
                ending = ending_of(name)
                if ending not in IMAGE_OR_MASK_ENDINGS:
                    continue
                picture = _Picture(folder, is_photo=ending not in MASK_ENDINGS)
                stem = stem_of(name)
                by_stem.setdefault(stem, set()).add(picture)
                for cut in split_words(stem).cuts:
                    if cut.has_role:
                        by_stem_without_role_word.setdefault(cut.core, set()).add(picture)
        return cls(by_stem, by_stem_without_role_word)

    def find_with_stem(self, stem: str) -> Set[_Picture]:
        """Returns the pictures with a stem."""
        return self.by_stem.get(stem, set())

    def find_with_stem_and_role_word(self, stem: str) -> Set[_Picture]:
        """Returns the pictures whose names are a stem and a role word."""
        return self.by_stem_without_role_word.get(stem, set())


class SharedNames:
    """Tells which part of a name is the id that an image and its mask share.

    Args:
      listing: all that lies in the folder.
    """

    def __init__(self, listing: Listing):
        self._listing = listing

    @functools.cached_property
    def _pictures(self) -> _PicturesByName:
        return _PicturesByName.of_listing(self._listing)

    def affix_beside_id(
        self, folder: str, stem_words: StemWords, affix: Affix, stems_of_folder: Set[str]
    ) -> Affix:
        """Returns the words of an affix that are no parts of the id.

        The first row that fits counts:

            file                has the partner       so the id is   and the affix is
            hall_old.png        hall_old.jpg          hall_old       empty
            mask_hall_old.png   photos/hall_old.jpg   hall_old       mask_, without _old
            old_hall_mask.png   photos/old_hall.jpg   old_hall       _mask, without old_

        Args:
          folder: the folder.
          stem_words: the stem of a file in it.
          affix: its first and last word, if they may tell the kind of the file.
          stems_of_folder: all stems of the folder.
        """
        if self._is_id_whole(folder, stem_words, stems_of_folder):
            return NO_AFFIX
        if self._is_id_without_word(folder, stem_words.without_first):
            return Affix(affix.before, "")
        if self._is_id_without_word(folder, stem_words.without_last):
            return Affix("", affix.after)
        return affix

    def _is_id_whole(self, folder: str, stem_words: StemWords, stems_of_folder: Set[str]) -> bool:
        """Says whether an image and a mask share a whole stem.

        Example: `hall_old` of `hall_old.jpg` and `hall_old.png`. The mask may have a role word, as
        `hall_old_mask.png`. They do not if the stem names another kind of files.
        """
        stem = stem_words.stem
        pictures = self._pictures.find_with_stem(stem)
        pictures = pictures | self._pictures.find_with_stem_and_role_word(stem)
        if not _Namesakes.seen_from(folder, pictures).have_image_and_mask():
            return False
        return not self._names_other_kind(folder, stem_words, stems_of_folder)

    def _names_other_kind(
        self, folder: str, stem_words: StemWords, stems_of_folder: Set[str]
    ) -> bool:
        """Says whether the first or last word of a stem tells files of one folder apart.

        It does if the folder has a file without the word, which is no image with a mask. Example:
        `hall_old.jpg` beside `hall.jpg`, if there is a mask `hall_old`, and none `hall`.
        """
        for cut in stem_words.cuts:
            stem_without_word = cut.core
            if stem_without_word not in stems_of_folder:
                continue
            if not self._find_namesakes(folder, stem_without_word).have_image_and_mask():
                return True
        return False

    def _is_id_without_word(self, folder: str, cut: CutStem | None) -> bool:
        """Says whether a stem without its role word is the name of the file's partner.

        Example: `hall_old`, left of `mask_hall_old.png`, if there is `photos/hall_old.jpg`.

        If the folder itself has `hall_old` too, that has to be the name of an image and a mask.
        Otherwise a file elsewhere is enough: with the stem's own file it is a pair.

        Args:
          folder: the folder of the file.
          cut: the stem without its first or last word; None if it has none.
        """
        if cut is None or not cut.has_role:
            return False
        namesakes = self._find_namesakes(folder, cut.core)
        if namesakes.here:
            return namesakes.have_image_and_mask()
        return namesakes.have_partner_elsewhere()

    def _find_namesakes(self, folder: str, stem: str) -> _Namesakes:
        """Returns the pictures with a stem, as seen from a folder."""
        return _Namesakes.seen_from(folder, self._pictures.find_with_stem(stem))
