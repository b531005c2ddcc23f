"""Sorts the files of each folder into sets of files that are named alike.

No file is opened. Whatever has an ending of images or masks is in a set, and words in names tell
kinds of files apart, such as masks and overlays in one folder.
"""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.layout import ID, MASK_SUFFIXES, PICTURES
from voc_seg_tfrecord.core.role_words import ROLES
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.affixes import (
    MIN_SAMPLED_NAMES,
    NO_AFFIX,
    Affix,
    common_affix,
    core_of,
)
from voc_seg_tfrecord.folder.files.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.files.folder_names import is_split, role
from voc_seg_tfrecord.folder.files.kinds_of_names import (
    GLUED_ROLES,
    SharedNames,
    cut_first_word,
    cut_last_word,
    sort_by_kind,
)
from voc_seg_tfrecord.folder.tree.listing import Listing

_MIN_SHARE_OF_NAMES = 0.6
"""At least this share of names has what counts as shared by them."""
# Words of roles that stand beside an id without a sign between them, as in `img1`.
_GLUED_AT_BEGIN = re.compile(f"({GLUED_ROLES})", re.IGNORECASE)
_GLUED_AT_END = re.compile(f"({GLUED_ROLES})$", re.IGNORECASE)
# The first word of what names begin with, and the last one of what they end with, with signs.
_OUTERMOST_BEFORE = re.compile(r"[^\W\d_]+[\W_]*")
_OUTERMOST_AFTER = re.compile(r"[\W_]*[^\W\d_]+\W*$")


@dataclasses.dataclass(frozen=True)
class FileSet:
    """Files of one folder that are named alike, and so are all images, all masks, or neither.

    Attributes:
      folder: the folder below the root of the listing; empty for the root.
      names: the names of the files by their names without the ending.
      affix: what only these of the folder's files have around their ids; mostly nothing.
      ending: the ending if only files of one are meant; empty means any.
      pattern: how the user says that the files are named; then `names` has their ids.
    """

    folder: str
    names: Mapping[str, str] = dataclasses.field(hash=False)
    affix: Affix = NO_AFFIX
    ending: str = ""
    pattern: str = ""

    @property
    def kind(self) -> tuple[str, Affix]:
        """The folder, and what only these of its files have around their ids."""
        return self.folder, self.affix

    def path(self, stem: str) -> str:
        """Returns the path of a file below the root of the listing."""
        return posixpath.join(self.folder, self.names[stem])

    def has_first_of(self, files: "FileSet") -> bool:
        """Says whether the first of some files is one of these."""
        stem, name = next(iter(files.names.items()))
        return self.folder == files.folder and self.names.get(stem) == name

    @functools.cached_property
    def shared(self) -> Affix:
        """What most names begin and end with, in whole words and numbers.

        Of a single name these are its first and last word, if they say what it holds.
        """
        stems = list(self.names)
        if len(stems) != 1:
            return common_affix(stems, _MIN_SHARE_OF_NAMES)
        first, last = cut_first_word(stems[0]), cut_last_word(stems[0])
        before = first.affix if first and first.has_role else ""
        after = last.affix if last and last.has_role else ""
        return before, after

    @property
    def _outermost(self) -> Affix:
        """The first word of what names begin with, and the last one of what they end with."""
        before, after = self.shared
        first = _OUTERMOST_BEFORE.match(before)
        last = _OUTERMOST_AFTER.search(after)
        return first[0] if first else "", last[0] if last else ""

    @property
    def _glued(self) -> Affix:
        """The words of `ROLES` that all names begin and end with, also beside a number.

        Example: `lb` of `lb1` and `lb2`. Words that `shared` has already are left out.
        """
        stems = [*self.names]
        if len(stems) == 1:
            return NO_AFFIX
        before_all, after_all = common_affix(stems)
        before_most, after_most = self.shared
        first_word, last_word = "", ""
        if not before_all and not before_most:
            match = _GLUED_AT_BEGIN.match(posixpath.commonprefix(stems))
            first_word = match[0] if match else ""
        if not after_all and not after_most:
            common_end = posixpath.commonprefix([stem[::-1] for stem in stems])[::-1]
            match = _GLUED_AT_END.search(common_end)
            last_word = match[0] if match else ""
        return first_word, last_word

    @functools.cached_property
    def ids(self) -> dict[Affix, dict[str, str]]:
        """By what may stand around ids, nothing first: the file's name without ending by id.

        Each beginning that names may have in common is tried with each end.
        """
        if self.pattern:
            return {NO_AFFIX: {stem: stem for stem in self.names}}
        of_all = common_affix([*self.names])
        affixes = [NO_AFFIX, self.shared, self._outermost, of_all, self._glued, self.affix]
        befores = [before for before, _ in affixes]
        afters = [after for _, after in affixes]
        combined_affixes = dict.fromkeys(itertools.product(befores, afters))
        return {affix: self._stems_by_core(affix) for affix in combined_affixes}

    def _stems_by_core(self, affix: Affix) -> dict[str, str]:
        stems: dict[str, str] = {}
        for stem in self.names:
            core = core_of(stem, affix)
            if core:
                stems[core] = stem
        return stems


@dataclasses.dataclass(frozen=True)
class _Halves:
    """Sets of files by what they may be.

    Attributes:
      images: those that may be images.
      masks: those that may be masks; some may be both.
    """

    images: list[FileSet]
    masks: list[FileSet]

    def add(self, other: "_Halves") -> None:
        """Adds sets."""
        self.images.extend(other.images)
        self.masks.extend(other.masks)


def list_file_sets(listing: Listing, endings: Sequence[str]) -> tuple[list[FileSet], list[FileSet]]:
    """Returns the sets of files that may be images, and those that may be masks.

    Args:
      listing: all that lies in the folder.
      endings: what names of images end with.
    """
    mask_endings_alone = {".npy"} - {*endings}
    folders_by_top = _folders_of_one_image(listing)
    halves = _Halves([], [])
    for top, id_by_folder in folders_by_top.items():
        halves.add(_sets_below(listing, top, id_by_folder, mask_endings_alone))
    of_one_image = {folder for ids in folders_by_top.values() for folder in ids}
    shared_names = SharedNames(listing)
    for folder, files in listing.files_by_folder.items():
        if folder in of_one_image:
            continue
        pictures = [name for name in files if ending_of(name) in PICTURES]
        for affix, names in sort_by_kind(folder, pictures, shared_names).items():
            halves.add(_sets_of_kind(folder, affix, names, mask_endings_alone))
    return halves.images, halves.masks


def _sets_of_kind(
    folder: str, affix: Affix, names: Sequence[str], mask_endings_alone: Set[str]
) -> _Halves:
    """Returns the sets of files of one kind.

    Photos have endings that masks do not have.
    """
    photos: dict[str, str] = {}
    others: dict[str, str] = {}
    for name in names:
        half = others if ending_of(name) in MASK_SUFFIXES else photos
        half[stem_of(name)] = name
    images_of_others = {
        stem: name for stem, name in others.items() if ending_of(name) not in mask_endings_alone
    }
    if not photos.keys().isdisjoint(others):
        return _sets_beside_photos(folder, affix, photos, others, bool(images_of_others))
    halves = _Halves([], [])
    if others:
        halves.masks.append(FileSet(folder, others, affix))
    if photos and images_of_others:
        halves.images.append(FileSet(folder, photos, affix))
    if photos or images_of_others:
        halves.images.append(FileSet(folder, images_of_others | photos, affix))
    return halves


def _sets_beside_photos(
    folder: str,
    affix: Affix,
    photos: Mapping[str, str],
    others: Mapping[str, str],
    others_may_be_images: bool,
) -> _Halves:
    """Returns the sets of files if a photo and another file have one name: `1.jpg` and `1.png`.

    The files with the ending of the other file are masks; those of other endings are not.
    """
    halves = _Halves([FileSet(folder, photos, affix)], [])
    mask_endings = dict.fromkeys(ending_of(others[stem]) for stem in others if stem in photos)
    for ending in mask_endings:
        of_ending = {stem: name for stem, name in others.items() if ending_of(name) == ending}
        halves.masks.append(FileSet(folder, of_ending, affix, ending))
    if others_may_be_images:
        halves.images.append(FileSet(folder, others, affix))
    return halves


def _folders_of_one_image(listing: Listing) -> dict[str, dict[str, str]]:
    """Returns by their parents the folders that have one image each, with the image's id.

    Files of the same names say it, of which one is called as masks are and one as images are:
    `a/rgb.jpg` and `a/label.png` beside `b/rgb.jpg` and `b/label.png`.
    """
    ids_by_top: dict[str, dict[str, str]] = {}
    for folder, names in listing.files_by_folder.items():
        top, image_id = posixpath.split(folder)
        if not image_id or is_split(image_id) or len(names) >= MIN_SAMPLED_NAMES:
            continue
        if _roles_of_plain_names(names) >= {"images", "masks"}:
            ids_by_top.setdefault(top, {})[folder] = image_id
    return {top: ids for top, ids in ids_by_top.items() if len(ids) > 1}


def _roles_of_plain_names(names: Sequence[str]) -> set[str]:
    """Returns what names of pictures say that have no other words, such as `label.png`."""
    roles: set[str] = set()
    for name in names:
        stem = stem_of(name)
        if ending_of(name) in PICTURES and ROLES.issuperset(words(stem)):
            roles.add(role(stem))
    return roles


def _sets_below(
    listing: Listing, top: str, id_by_folder: Mapping[str, str], mask_endings_alone: Set[str]
) -> _Halves:
    """Returns the sets of files that have the same name in most folders of one image each."""
    names_of_kind: dict[tuple[str, str], dict[str, str]] = {}
    for folder, image_id in id_by_folder.items():
        for name in listing.files_by_folder[folder]:
            ending = ending_of(name)
            if ending in PICTURES:
                of_kind = names_of_kind.setdefault((stem_of(name), ending), {})
                of_kind[image_id] = f"{image_id}/{name}"
    halves = _Halves([], [])
    for (stem, ending), names in names_of_kind.items():
        if 2 * len(names) <= len(id_by_folder):
            continue
        files = FileSet(top, names, ("", stem), ending, f"{ID}/{stem}{ending}")
        if ending not in mask_endings_alone:
            halves.images.append(files)
        if ending in MASK_SUFFIXES:
            halves.masks.append(files)
    return halves
