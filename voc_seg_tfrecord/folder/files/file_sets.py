"""Sorts the files of each folder into sets of files that are named alike.

No file is opened. Whatever has an ending of images or masks is in a set, and words in names tell
kinds of files apart, such as masks and overlays in one folder.
"""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.core.words import ROLE_WORDS, words
from voc_seg_tfrecord.folder.files.align import (
    NO_AFFIX,
    Affix,
    affix_of_most_names,
    cut_stems,
    guess_affixes,
)
from voc_seg_tfrecord.folder.files.folder_names import is_split, role_of_name
from voc_seg_tfrecord.folder.files.kinds_of_names import SharedNames, sort_by_kind
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing

_MAX_FILES_OF_ONE_IMAGE = 299
"""Files at most in a folder that holds one image and what belongs to it."""


@dataclasses.dataclass(frozen=True)
class StemKey:
    """The key of a file is its name without the ending, in which the id has to be found.

    Attributes:
      ending: the ending if only files of one are meant; empty means any.
    """

    ending: str = ""


@dataclasses.dataclass(frozen=True)
class PatternKey:
    """The key of a file is its id, which a pattern finds in its name.

    Attributes:
      pattern: the pattern, as a user gives it: `{id}_mask.png` or `{id}/label.png`.
    """

    pattern: str


@dataclasses.dataclass(frozen=True)
class FileSet:
    """Files of one folder that are named alike, and so are all images, all masks, or neither.

    Attributes:
      folder: the folder below the root of the listing; empty for the root.
      names: the names of the files by key.
      affix: the words in names that tell these files from others in the folder; usually none.
      key: what the key of a file is: its name without the ending, or its id.
    """

    folder: str
    names: Mapping[str, str] = dataclasses.field(hash=False)
    affix: Affix = NO_AFFIX
    key: StemKey | PatternKey = StemKey()

    @property
    def is_by_id(self) -> bool:
        """Whether the keys of the files are ids, so that none have to be guessed."""
        return isinstance(self.key, PatternKey)

    @property
    def kind(self) -> tuple[str, Affix]:
        """The folder, and the words that tell these files from others in it."""
        return self.folder, self.affix

    def path(self, key: str) -> str:
        """Returns the path of a file below the root of the listing."""
        name = self.names[key]
        return f"{self.folder}/{name}" if self.folder else name

    def has_first_of(self, files: "FileSet") -> bool:
        """Says whether the first of some files is one of these."""
        key, name = next(iter(files.names.items()))
        return self.folder == files.folder and self.names.get(key) == name

    @functools.cached_property
    def affix_of_most_names(self) -> Affix:
        """What most keys begin and end with; see `align`."""
        return affix_of_most_names([*self.names])

    @functools.cached_property
    def keys_by_guess(self) -> dict[Affix, dict[str, str]]:
        """For each guess of what keys have around ids, nothing first: the key of the file by id."""
        guesses = [NO_AFFIX]
        if not self.is_by_id:
            guesses = guess_affixes([*self.names], self.affix)
        return {affix: cut_stems(self.names, affix) for affix in guesses}


@dataclasses.dataclass
class PossibleSets:
    """Sets of files by what they may be, to which more are added.

    Attributes:
      images: those that may be images.
      masks: those that may be masks; some may be both.
    """

    images: list[FileSet] = dataclasses.field(default_factory=list)
    masks: list[FileSet] = dataclasses.field(default_factory=list)

    def add(self, other: "PossibleSets") -> None:
        """Adds sets."""
        self.images.extend(other.images)
        self.masks.extend(other.masks)


@dataclasses.dataclass(frozen=True)
class RoleEndings:
    """Which files may be images and masks by the endings of their names.

    Attributes:
      images: the endings of images.
      masks: the endings of masks.
    """

    images: Sequence[str] = IMAGE_ENDINGS
    masks: Sequence[str] = MASK_ENDINGS

    @functools.cached_property
    def only_masks(self) -> Set[str]:
        """The endings of masks alone."""
        return {".npy"} - {*self.images}

    def is_photo(self, name: str) -> bool:
        """Says whether a file has an ending that masks have with a threshold alone: a JPEG's."""
        return ending_of(name) not in MASK_ENDINGS

    @property
    def photos_may_be_masks(self) -> bool:
        """Whether a threshold is given, so that a JPEG may be a mask."""
        return set(self.masks) > set(MASK_ENDINGS)


def list_file_sets(listing: Listing, endings: RoleEndings) -> PossibleSets:
    """Returns the sets of files that may be images, and those that may be masks.

    Args:
      listing: all that lies in the folder.
      endings: what names of images and masks end with.
    """
    sets = PossibleSets()
    for top, id_by_folder in _folders_of_one_image(listing).items():
        sets.add(_sets_below(listing, top, id_by_folder, endings))
    sorted_paths: set[str] = set()
    for files in (*sets.images, *sets.masks):
        sorted_paths.update(map(files.path, files.names))
    shared_names = SharedNames(listing)
    for folder, names_in_folder in listing.files_by_folder.items():
        pictures = [name for name in names_in_folder if ending_of(name) in IMAGE_OR_MASK_ENDINGS]
        others = pictures
        if sorted_paths:
            others = [name for name in pictures if f"{folder}/{name}" not in sorted_paths]
        # A few beside an image and its mask, such as `a/drawing.png`, are left out with them.
        if len(others) < len(pictures) and 2 * len(others) <= len(pictures):
            continue
        for affix, names in sort_by_kind(folder, others, shared_names).items():
            sets.add(_sets_of_kind(folder, affix, names, endings))
    return sets


def _sets_of_kind(
    folder: str, affix: Affix, names: Sequence[str], endings: RoleEndings
) -> PossibleSets:
    """Returns the sets of files of one kind.

    A photo has an ending that masks do not have, such as that of a JPEG. Other files, such as PNGs,
    may be images or masks; arrays are masks alone, unless bands are wanted.

    | the files are                     | sets of images                | sets of masks |
    |-----------------------------------|-------------------------------|---------------|
    | photos                            | photos                        |               |
    | others                            | others                        | others        |
    | both, and all names differ        | photos; photos and others     | others        |
    | both, and some have the same name | photos; others                | those of each |
    |                                   |                               | such ending   |
    | others, and some of the same name | those of each ending          | likewise      |

    The last line is not for a folder that is called as images or as masks: there, `1.tif` and
    `1.png` are the same picture twice.

    With a threshold photos may be masks too, unless others have the same names.
    """
    photos: dict[str, str] = {}
    others: dict[str, str] = {}
    pictures_by_ending: dict[str, dict[str, str]] = {}
    for name in names:
        stem, ending = stem_of(name), ending_of(name)
        if endings.is_photo(name):
            photos[stem] = name
            continue
        others[stem] = name
        if ending not in endings.only_masks:
            pictures_by_ending.setdefault(ending, {})[stem] = name
    picture_count = sum(map(len, pictures_by_ending.values()))
    some_share_names = len(set().union(*pictures_by_ending.values())) < picture_count
    if some_share_names and not photos and not role_of_name(posixpath.basename(folder)):
        sets_of_endings: list[FileSet] = []
        for ending, pictures in pictures_by_ending.items():
            sets_of_endings.append(FileSet(folder, pictures, affix, StemKey(ending)))
        return PossibleSets(sets_of_endings, [*sets_of_endings])
    possible_images = {
        stem: name for stem, name in others.items() if ending_of(name) not in endings.only_masks
    }
    sets = PossibleSets()
    if photos:
        sets.images.append(FileSet(folder, photos, affix))
    endings_beside_photos = [ending_of(name) for stem, name in others.items() if stem in photos]
    for ending in dict.fromkeys(endings_beside_photos):
        of_ending = {stem: name for stem, name in others.items() if ending_of(name) == ending}
        sets.masks.append(FileSet(folder, of_ending, affix, StemKey(ending)))
    if possible_images:
        images = possible_images if endings_beside_photos else possible_images | photos
        sets.images.append(FileSet(folder, images, affix))
    possible_masks = others | photos if endings.photos_may_be_masks else others
    if possible_masks and not endings_beside_photos:
        sets.masks.append(FileSet(folder, possible_masks, affix))
    return sets


def _folders_of_one_image(listing: Listing) -> dict[str, dict[str, str]]:
    """Returns by their parents the folders that have one image each, with the image's id.

    A folder counts if it has a file that is called as an image and one that is called as a mask,
    such as `a/rgb.jpg` and `a/label.png`, and if another folder beside it counts too.
    """
    ids_by_top: dict[str, dict[str, str]] = {}
    for folder, names in listing.files_by_folder.items():
        top, image_id = posixpath.split(folder)
        if not image_id or is_split(image_id) or len(names) > _MAX_FILES_OF_ONE_IMAGE:
            continue
        roles: set[str] = set()
        for name in names:
            stem = stem_of(name)
            is_picture = ending_of(name) in IMAGE_OR_MASK_ENDINGS
            if is_picture and ROLE_WORDS.issuperset(words(stem)):
                roles.add(role_of_name(stem))
        if "images" in roles and "masks" in roles:
            ids_by_top.setdefault(top, {})[folder] = image_id
    return {top: ids for top, ids in ids_by_top.items() if len(ids) > 1}


def _sets_below(
    listing: Listing, top: str, id_by_folder: Mapping[str, str], endings: RoleEndings
) -> PossibleSets:
    """Returns the sets of files that have the same name in most folders of one image each."""
    names_of_kind: dict[tuple[str, str], dict[str, str]] = {}
    for folder, image_id in id_by_folder.items():
        for name in listing.files_by_folder[folder]:
            kind = (stem_of(name), ending_of(name))
            names_of_kind.setdefault(kind, {})[image_id] = f"{image_id}/{name}"
    sets = PossibleSets()
    for (stem, ending), names in names_of_kind.items():
        if ending not in IMAGE_OR_MASK_ENDINGS or 2 * len(names) <= len(id_by_folder):
            continue
        # The name that all these files have tells their kind, as words around ids do elsewhere.
        kind_of_files = Affix("", stem)
        files = FileSet(top, names, kind_of_files, PatternKey(f"{ID}/{stem}{ending}"))
        if ending not in endings.only_masks:
            sets.images.append(files)
        if ending in endings.masks:
            sets.masks.append(files)
    return sets
