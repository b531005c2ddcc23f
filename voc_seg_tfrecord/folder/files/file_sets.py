"""Sorts the files of each folder into sets of files that are named alike.

No file is opened. Whatever has an ending of images or masks is in a set, and words in names tell
kinds of files apart, such as masks and overlays in one folder.
"""

from collections.abc import Collection, Mapping, Sequence, Set
import dataclasses
import functools
import posixpath

from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS, MASK_ENDINGS
from voc_seg_tfrecord.core.role_words import ROLE_WORDS
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.affix_guesses import affix_of_most_names, guess_affixes
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix, core_of
from voc_seg_tfrecord.folder.files.folder_names import is_split, role_of_name
from voc_seg_tfrecord.folder.files.kinds_of_names import sort_by_kind
from voc_seg_tfrecord.folder.files.shared_names import SharedNames
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing

_MAX_FILES_OF_ONE_IMAGE = 299
"""Files at most in a folder that holds one image and what belongs to it."""


@dataclasses.dataclass(frozen=True)
class FileSet:
    """Files of one folder that are named alike, and so are all images, all masks, or neither.

    Attributes:
      folder: the folder below the root of the listing; empty for the root.
      names: the names of the files by their names without the ending.
      affix: the words around the ids that tell these files from others in the folder; usually none.
      ending: the ending if only files of one are meant; empty means any.
      pattern: how the files are named, as a user gives it; then `names` is by ids, and `affix` is
        not around these.
    """

    folder: str
    names: Mapping[str, str] = dataclasses.field(hash=False)
    affix: Affix = NO_AFFIX
    ending: str = ""
    pattern: str = ""

    @property
    def kind(self) -> tuple[str, Affix]:
        """The folder, and the words that tell these files from others in it."""
        return self.folder, self.affix

    def path(self, stem: str) -> str:
        """Returns the path of a file below the root of the listing."""
        name = self.names[stem]
        return f"{self.folder}/{name}" if self.folder else name

    def has_first_of(self, files: "FileSet") -> bool:
        """Says whether the first of some files is one of these."""
        stem, name = next(iter(files.names.items()))
        return self.folder == files.folder and self.names.get(stem) == name

    @functools.cached_property
    def affix_of_most_names(self) -> Affix:
        """What most names begin and end with; see `affix_guesses`."""
        return affix_of_most_names([*self.names])

    @functools.cached_property
    def stems_by_guess(self) -> dict[Affix, dict[str, str]]:
        """For each guess of what stands around ids, nothing first: the file's stem by id."""
        if self.pattern:
            return {NO_AFFIX: {stem: stem for stem in self.names}}
        guesses = guess_affixes([*self.names], self.affix)
        return {affix: self.stem_by_id(affix) for affix in guesses}

    def stem_by_id(self, affix: Affix) -> dict[str, str]:
        """Returns the stems by their ids, if an affix stands around these.

        Stems without the affix are left out.
        """
        stem_by_id: dict[str, str] = {}
        for stem in self.names:
            core = core_of(stem, affix)
            if core:
                stem_by_id[core] = stem
        return stem_by_id


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

    def list_paths(self) -> set[str]:
        """Returns the paths of all files."""
        return {files.path(stem) for files in (*self.images, *self.masks) for stem in files.names}


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
    paths_of_one_image = sets.list_paths()
    shared_names = SharedNames(listing)
    for folder, files in listing.files_by_folder.items():
        pictures = [name for name in files if ending_of(name) in IMAGE_OR_MASK_ENDINGS]
        if paths_of_one_image:
            pictures = _without_files_of_one_image(folder, pictures, paths_of_one_image)
        for affix, names in sort_by_kind(folder, pictures, shared_names).items():
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
    | both, and some have the same name | see `_sets_beside_photos`     |               |
    | others, and some of the same name | those of each ending          | likewise      |

    The last line is not for a folder that is called as images or as masks: there, `1.tif` and
    `1.png` are the same picture twice.

    With a threshold photos may be masks too, unless others have the same names.
    """
    photos = {stem_of(name): name for name in names if endings.is_photo(name)}
    names_by_ending = _others_by_ending(names, endings)
    may_be_both = not photos and not role_of_name(posixpath.basename(folder))
    if may_be_both and _share_names(names_by_ending.values()):
        sets = [FileSet(folder, others, affix, end) for end, others in names_by_ending.items()]
        return PossibleSets(sets, list(sets))
    others = {stem_of(name): name for name in names if not endings.is_photo(name)}
    possible_images = {
        stem: name for stem, name in others.items() if ending_of(name) not in endings.only_masks
    }
    if not photos.keys().isdisjoint(others):
        return _sets_beside_photos(folder, affix, photos, others, possible_images)
    images = []
    if photos and possible_images:
        images.append(FileSet(folder, photos, affix))
    if photos or possible_images:
        images.append(FileSet(folder, possible_images | photos, affix))
    possible_masks = others | photos if endings.photos_may_be_masks else others
    masks = [FileSet(folder, possible_masks, affix)] if possible_masks else []
    return PossibleSets(images, masks)


def _others_by_ending(names: Sequence[str], endings: RoleEndings) -> dict[str, dict[str, str]]:
    """Returns the files that may be images and masks by their endings and stems."""
    names_by_ending: dict[str, dict[str, str]] = {}
    for name in names:
        ending = ending_of(name)
        if not endings.is_photo(name) and ending not in endings.only_masks:
            names_by_ending.setdefault(ending, {})[stem_of(name)] = name
    return names_by_ending


def _share_names(names_by_stem: Collection[Mapping[str, str]]) -> bool:
    """Says whether files of two endings have one name: `1.tif` and `1.png`."""
    all_stems = set().union(*names_by_stem)
    return len(all_stems) < sum(len(names) for names in names_by_stem)


def _sets_beside_photos(
    folder: str,
    affix: Affix,
    photos: Mapping[str, str],
    others: Mapping[str, str],
    possible_images: Mapping[str, str],
) -> PossibleSets:
    """Returns the sets of files if a photo and another file have one name: `1.jpg` and `1.png`.

    The files with the ending of the other file are masks; those of other endings are not.

    Args:
      folder: the folder.
      affix: what tells the kind of the files.
      photos: the photos by their names without the ending.
      others: the other files, likewise.
      possible_images: those of the others that may be images.
    """
    sets = PossibleSets([FileSet(folder, photos, affix)], [])
    mask_endings = dict.fromkeys(ending_of(others[stem]) for stem in others if stem in photos)
    for ending in mask_endings:
        of_ending = {stem: name for stem, name in others.items() if ending_of(name) == ending}
        sets.masks.append(FileSet(folder, of_ending, affix, ending))
    if possible_images:
        sets.images.append(FileSet(folder, possible_images, affix))
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
        if _roles_of_plain_names(names) >= {"images", "masks"}:
            ids_by_top.setdefault(top, {})[folder] = image_id
    return {top: ids for top, ids in ids_by_top.items() if len(ids) > 1}


def _without_files_of_one_image(
    folder: str, pictures: list[str], paths_of_one_image: Set[str]
) -> list[str]:
    """Returns the pictures of a folder that do not belong to its one image; see `_sets_below`.

    A few beside that image are left out, too: `a/drawing.png` beside `a/rgb.jpg` and `a/label.png`.
    """
    others = [name for name in pictures if posixpath.join(folder, name) not in paths_of_one_image]
    has_one_image = len(others) < len(pictures)
    has_few_others = 2 * len(others) <= len(pictures)
    return [] if has_one_image and has_few_others else others


def _roles_of_plain_names(names: Sequence[str]) -> set[str]:
    """Returns the roles of pictures whose names have no other words, such as `label.png`."""
    roles: set[str] = set()
    for name in names:
        stem = stem_of(name)
        if ending_of(name) in IMAGE_OR_MASK_ENDINGS and ROLE_WORDS.issuperset(words(stem)):
            roles.add(role_of_name(stem))
    return roles


def _sets_below(
    listing: Listing, top: str, id_by_folder: Mapping[str, str], endings: RoleEndings
) -> PossibleSets:
    """Returns the sets of files that have the same name in most folders of one image each."""
    names_of_kind: dict[tuple[str, str], dict[str, str]] = {}
    for folder, image_id in id_by_folder.items():
        for name in listing.files_by_folder[folder]:
            ending = ending_of(name)
            if ending in IMAGE_OR_MASK_ENDINGS:
                of_kind = names_of_kind.setdefault((stem_of(name), ending), {})
                of_kind[image_id] = f"{image_id}/{name}"
    sets = PossibleSets()
    for (stem, ending), names in names_of_kind.items():
        if 2 * len(names) <= len(id_by_folder):
            continue
        # The name of the files tells their kind, as words around ids do elsewhere.
        kind_of_files = Affix("", stem)
        files = FileSet(top, names, kind_of_files, ending, pattern=f"{ID}/{stem}{ending}")
        if ending not in endings.only_masks:
            sets.images.append(files)
        if ending in endings.masks:
            sets.masks.append(files)
    return sets
