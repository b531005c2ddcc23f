"""Tells which names an image and a mask have alike: `hall_old.jpg` and `hall_old.png`."""

from collections.abc import Mapping, Set
import dataclasses
import functools
import itertools

from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix
from voc_seg_tfrecord.folder.files.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.stem_words import CutStem, StemWords, split_words
from voc_seg_tfrecord.folder.tree.listing import Listing


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
    """All pictures of a folder and of those below it.

    Attributes:
      by_stem: the files by their stems.
      by_core: the files by their stems without a first or last word that tells what files hold.
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
                for cut in split_words(stem).cuts:
                    if cut.has_role:
                        by_core.setdefault(cut.core, set()).add(file)
        return _FilesByName(by_stem, by_core)

    def affix_beside_id(
        self, folder: str, stem_words: StemWords, affix: Affix, stems_of_folder: Set[str]
    ) -> Affix:
        """Returns the words of an affix that are no parts of the id.

        An image and a mask have the id alike. The first row that fits counts:

            file                beside         the id that is shared   words beside the id
            hall_old.png        hall_old.jpg   the whole stem          none
            mask_hall_old.png   hall_old.jpg   without `mask_`         mask_, and not _old
            old_hall_mask.png   old_hall.jpg   without `_mask`         _mask, and not old_

        Args:
          folder: the folder.
          stem_words: the stem of a file in it.
          affix: its first and last word, if they may tell the kind of the file.
          stems_of_folder: all stems of the folder.
        """
        if self._is_whole_stem_shared(folder, stem_words, stems_of_folder):
            return NO_AFFIX
        if self._is_rest_shared(folder, stem_words.without_first):
            return Affix(affix.before, "")
        if self._is_rest_shared(folder, stem_words.without_last):
            return Affix("", affix.after)
        return affix

    def _is_whole_stem_shared(
        self, folder: str, stem_words: StemWords, stems_of_folder: Set[str]
    ) -> bool:
        """Says whether a whole stem is the id of an image and a mask.

        Example: `hall_old` of `hall_old.jpg` and `hall_old.png`. If `hall` is in the folder too, it
        has to be the id of an image and a mask as well. Otherwise `_old` tells two kinds of files.
        """
        stem = stem_words.stem
        files_of_role = self._files.by_core.get(stem, set())  # `7_mask` beside `7`
        if not _have_image_and_mask(folder, self._files_named(stem) | files_of_role):
            return False
        rests_in_folder = [cut.core for cut in stem_words.cuts if cut.core in stems_of_folder]
        return all(
            _have_image_and_mask(folder, self._files_named(rest)) for rest in rests_in_folder
        )

    def _is_rest_shared(self, folder: str, cut: CutStem | None) -> bool:
        """Says whether a stem without a word of its role is the id of an image and a mask."""
        if cut is None or not cut.has_role:
            return False
        files = self._files_named(cut.core)
        if any(file.folder == folder for file in files):
            return _have_image_and_mask(folder, files)
        # The stem's own file is one of both, whatever it is; the other one lies elsewhere.
        return any(not _is_drawn(folder, file) for file in files)

    def _files_named(self, stem: str) -> Set[_NamedFile]:
        return self._files.by_stem.get(stem, set())


def _have_image_and_mask(folder: str, files: Set[_NamedFile]) -> bool:
    """Says whether a file in a folder, and another one of its name, are an image and its mask.

    Args:
      folder: the folder.
      files: all files of the name, in the folder and elsewhere.
    """
    files_here = [file for file in files if file.folder == folder]
    for file, other in itertools.product(files_here, files):
        if _are_image_and_mask(file, other):
            return True
    return False


def _are_image_and_mask(file: _NamedFile, other: _NamedFile) -> bool:
    """Says whether two files of one name are an image and its mask.

    They are if one is a photo and the other is not, or if their folders are called images and
    masks. Files in folders of drawings are no partners of files elsewhere.
    """
    if file.folder == other.folder:
        return file.is_photo != other.is_photo
    if _is_drawn(file.folder, other):
        return False
    if file.is_photo != other.is_photo:
        return True
    return {role_of_path(file.folder), role_of_path(other.folder)} == {"images", "masks"}


def _is_drawn(folder: str, other: _NamedFile) -> bool:
    """Says whether a folder, or that of a file elsewhere, is called drawings or backups."""
    return "drawn" in (role_of_path(folder), role_of_path(other.folder))
