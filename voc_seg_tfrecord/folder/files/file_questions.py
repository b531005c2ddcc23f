"""Asks the user which files of a folder are meant, where the rules cannot choose."""

from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.errors import join_names
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS, LISTS, SPLIT, Layout, Part
from voc_seg_tfrecord.core.split_names import parse_split_name
from voc_seg_tfrecord.folder.files.choice import FileChoice
from voc_seg_tfrecord.folder.files.copies import find_copies
from voc_seg_tfrecord.folder.files.evidence import FileEvidence
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.folder_names import find_split_word, replace_name
from voc_seg_tfrecord.folder.files.given_layout import MAX_LISTED_FOLDERS, GivenLayout
from voc_seg_tfrecord.folder.files.layouts import (
    ArrangedSet,
    FolderPair,
    part_of,
    top_folders,
)
from voc_seg_tfrecord.folder.files.named_folders import arrange_as_named
from voc_seg_tfrecord.folder.files.pairings import Pairing, are_apart
from voc_seg_tfrecord.folder.files.paths import common_folder
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing

SEVERAL_WAYS = "several ways to read a folder"
"""The kind of the questions which images and masks are meant."""


@dataclasses.dataclass(frozen=True)
class _Reading:
    """One way to read a folder.

    Attributes:
      pairings: the images and masks that are read.
      arranged: their layout as one set; None if they are no parts of one set.
    """

    pairings: Sequence[Pairing]
    arranged: ArrangedSet | None

    @classmethod
    def of_pairings(cls, given: GivenLayout, pairings: Sequence[Pairing]) -> "_Reading":
        """Returns the reading of some pairings."""
        return cls(pairings, arrange_as_named(given, pairings))


def ask_which_files(given: GivenLayout, choice: FileChoice) -> QuestionError:
    """Returns the question which of several masks, or images, are meant.

    Rivals are pairings of which one is right: `images` with `masks_anna`, or with `masks_ben`. A
    chosen pairing is undisputed if none of its files are a rival's. The alternatives are

    1. each group of rivals, if nothing is undisputed; all of them together come first if they have
       no file in common;
    2. each group of rivals together with all that is undisputed, if each of these is one set:
       `val/images` with `val/masks` is added to `train/images` with `train/masks_anna`, and to
       `train/images` with `train/masks_ben`;
    3. otherwise each group alone, the undisputed alone, and both together. Options for both
       together name each part after its folder, such as `anna=anna/photos`.
    """
    groups = _group_rivals(given, choice.rivals)
    readings = [_Reading.of_pairings(given, pairings) for pairings in groups]
    undisputed = _list_undisputed(choice)
    if not undisputed:
        if len(groups) > 1 and are_apart(choice.rivals):
            readings.insert(0, _Reading.of_pairings(given, choice.rivals))
        return _question(given, readings)
    complete_readings = [
        _Reading.of_pairings(given, [*pairings, *undisputed]) for pairings in groups
    ]
    if all(reading.arranged is not None for reading in complete_readings):
        return _question(given, complete_readings)
    undisputed_alone = _Reading.of_pairings(given, undisputed)
    return _question(given, [*readings, undisputed_alone, *complete_readings])


def _list_undisputed(choice: FileChoice) -> list[Pairing]:
    """Returns the chosen pairings that have neither the images nor the masks of a rival."""
    disputed_sets: set[FileSet] = set()
    for rival in choice.rivals:
        disputed_sets.update((rival.images, rival.masks))
    undisputed: list[Pairing] = []
    for pairing in choice.chosen:
        if pairing.images not in disputed_sets and pairing.masks not in disputed_sets:
            undisputed.append(pairing)
    return undisputed


def _group_rivals(given: GivenLayout, rivals: Sequence[Pairing]) -> list[list[Pairing]]:
    """Groups rivals that lie alike; each other rival is a group of its own.

    - `train/images` and `val/images`, each with `masks_anna` and `masks_ben`, give a group of both
      splits with `masks_anna`, and one of both with `masks_ben`.
    - `scene_1/images` and `scene_2/images`, likewise, give the same groups of both scenes.
    - `anna/images` with `anna/masks`, and `ben/images` with `ben/masks`, which are rivals of each
      other, are a group each.

    Rivals that share an image or a mask are not grouped, as only one of them can be right. Nor are
    scenes of which one has copies of the images of another one.
    """
    groups_of_splits: list[list[Pairing]] = []
    single_rivals: list[list[Pairing]] = []
    for pairings in _group_by(rivals, _folders_of_any_split):
        if are_apart(pairings):
            groups_of_splits.append(pairings)
        else:
            single_rivals += [[pairing] for pairing in pairings]
    groups = groups_of_splits + single_rivals
    if len(groups) < len(rivals) or not _are_rivals_in_each_folder(rivals):
        return groups
    groups_of_folders = _group_by(rivals, _folders_below_common_one)
    for pairings in groups_of_folders:
        evidence = FileEvidence(given.listing, pairings, given.options, given.looks)
        if not are_apart(pairings) or find_copies(pairings, evidence).list_copies():
            return groups
    return groups_of_folders


def _group_by(
    pairings: Iterable[Pairing], key_of: Callable[[Pairing], FolderPair]
) -> list[list[Pairing]]:
    """Returns the pairings that have one key together, in the order of the first of each."""
    groups: dict[FolderPair, list[Pairing]] = {}
    for pairing in pairings:
        groups.setdefault(key_of(pairing), []).append(pairing)
    return [*groups.values()]


def _are_rivals_in_each_folder(pairings: Sequence[Pairing]) -> bool:
    """Says whether the pairings of each folder share images or masks, and those of two share none.

    Example: `scene_1` has `images`, `masks_anna` and `masks_ben`, and so has `scene_2`. If `anna`
    and `ben` have one pairing each, the two folders are rivals, and do not lie alike.
    """
    pairings_by_folder: dict[str, list[Pairing]] = {}
    for pairing in pairings:
        pairings_by_folder.setdefault(common_folder(pairing.folders), []).append(pairing)
    return not any(are_apart(group) for group in pairings_by_folder.values())


def _folders_of_any_split(pairing: Pairing) -> FolderPair:
    return _without_splits(top_folders(pairing))


def _folders_below_common_one(pairing: Pairing) -> FolderPair:
    """Returns the folders of a pairing as they lie below the folder of both."""
    image_folder, mask_folder = pairing.folders
    folders = FolderPair(image_folder, mask_folder, pairing.image_name, pairing.mask_name)
    return folders.relative_to(common_folder(pairing.folders))


def _without_splits(folders: FolderPair) -> FolderPair:
    """Returns folders and patterns with `{split}` in place of a split's word."""
    return FolderPair(
        images=_without_split(folders.images),
        masks=_without_split(folders.masks),
        image_name=_without_split(folders.image_name),
        mask_name=_without_split(folders.mask_name),
    )


def _without_split(name: str) -> str:
    """Returns the name of a folder, or a pattern, with `{split}` in place of a split's word."""
    word = find_split_word(name).word
    return replace_name(name, word, SPLIT) if word else name


def ask_which_sets(given: GivenLayout, choice: FileChoice) -> QuestionError:
    """Returns the question which of several sets are meant, or whether all of them.

    | the pairings | the alternatives |
    | --- | --- |
    | chosen `a`, `b`; beside them `c`, `d` | `a` with `b`; `c`; `d`; all together |
    | chosen `a`, `b`, which are no parts of one set | `a`; `b`; both together |

    Two pairings that share an image or a mask cannot be read together.
    """
    if choice.beside:
        groups = [[*choice.chosen], *([pairing] for pairing in choice.beside)]
    else:
        groups = [[pairing] for pairing in choice.chosen]
    all_together = [*choice.chosen, *choice.beside]
    if are_apart(all_together):
        groups.append(all_together)
    return _question(given, [_Reading.of_pairings(given, pairings) for pairings in groups])


def ask_which_images(given: GivenLayout, choice: FileChoice, photo_folder: str) -> QuestionError:
    """Returns the question whether images are those of another folder than the chosen ones."""
    options = _options(given, _Reading.of_pairings(given, choice.chosen))
    options_of_photos = {"images": photo_folder or ".", "masks": options.get("masks", ".")}
    return QuestionError(
        given.listing.root,
        [
            Alternative("the photos of the other folder", options_of_photos),
            Alternative("the pictures as they are, if no labels are painted over them", options),
        ],
        task="read images and masks",
        expected="images in another folder than masks",
        kind=SEVERAL_WAYS,
    )


def ask_whether_held_out(
    given: GivenLayout, choice: FileChoice, oddly_named: Sequence[Pairing]
) -> QuestionError:
    """Returns the question whether masks of validation or test are labels or predictions.

    Args:
      given: the folder, and the user's options.
      choice: what is chosen.
      oddly_named: those of it whose masks are named otherwise than the masks of train.
    """
    others = [pairing for pairing in choice.chosen if pairing not in oddly_named]
    folder_of_each = dict.fromkeys(pairing.masks.folder for pairing in oddly_named)
    folders = join_names([*folder_of_each], "and")
    return QuestionError(
        given.listing.root,
        [
            Alternative(
                f"without {folders}, if it holds predictions",
                _options(given, _Reading.of_pairings(given, others)),
            ),
            Alternative(
                f"with {folders}, if it holds labels",
                _options(given, _Reading.of_pairings(given, choice.chosen)),
            ),
        ],
        task="read images and masks",
        expected="masks of validation and test that are named as those of train",
        kind=SEVERAL_WAYS,
    )


def is_answered(question: QuestionError, options: Mapping[str, str]) -> bool:
    """Says whether the user gave the options of the only alternative, which takes all files.

    A question has one alternative if the same options choose each reading: images are there twice,
    with different masks, or in two files of one name. Then asking again would not help.
    """
    if len(question.alternatives) != 1:
        return False
    (alternative,) = question.alternatives
    return all(options.get(name) == value for name, value in alternative.options.items())


def _question(given: GivenLayout, readings: Sequence[_Reading]) -> QuestionError:
    """Returns the question between several readings of a folder.

    Of readings that the same options choose, only the first is an alternative.
    """
    choices: list[Alternative] = []
    for reading in readings:
        alternative = Alternative("", _options(given, reading))
        if alternative not in choices:
            choices.append(alternative)
    pairings_of_readings = [reading.pairings for reading in readings]
    wording = _word_question(pairings_of_readings)
    return QuestionError(
        given.listing.root,
        choices,
        task=wording.task,
        expected=wording.expected,
        kind=SEVERAL_WAYS,
    )


@dataclasses.dataclass(frozen=True)
class _Wording:
    """The words of a question.

    Attributes:
      task: what can be done in several ways; it stands behind `2 ways to`.
      expected: what the folder should have, so that there is one way.
    """

    task: str = "read images and masks"
    expected: str = "one unambiguous pair of image and mask folders"


def _word_question(readings: Sequence[Sequence[Pairing]]) -> _Wording:
    """Returns the words of the question between several readings."""
    two_masks = _find_two_masks(readings)
    if two_masks is not None:
        return _Wording(
            task=f"read images that have several masks, such as {two_masks}",
            expected="one mask for each image, or a mask of one class or object in each file",
        )
    if any(_pairs_few_masks(pairings) for pairings in readings):
        return _Wording(
            expected="masks of which most have the number of an image; if several belong to each "
            "image, merge them"
        )
    return _Wording()


def _pairs_few_masks(pairings: Iterable[Pairing]) -> bool:
    return any(pairing.pairs_few_masks_by_number for pairing in pairings)


@dataclasses.dataclass(frozen=True)
class _TwoMasks:
    """An image and two masks of it, by their paths below the root of the listing."""

    image: str
    mask: str
    other_mask: str

    def __str__(self) -> str:
        return f"{self.mask} and {self.other_mask} for {self.image}"


def _find_two_masks(readings: Sequence[Sequence[Pairing]]) -> _TwoMasks | None:
    """Returns an image that has two masks, if the readings differ only in their masks."""
    folders_of_readings = [_image_folders(pairings) for pairings in readings]
    if any(folders != folders_of_readings[0] for folders in folders_of_readings):
        return None
    mask_by_image: dict[str, str] = {}
    for pairing in itertools.chain.from_iterable(readings):
        images, masks = pairing.paths()
        for image, mask in zip(images, masks, strict=True):
            first_mask = mask_by_image.setdefault(image, mask)
            if mask != first_mask:
                return _TwoMasks(image, first_mask, mask)
    return None


def _image_folders(pairings: Iterable[Pairing]) -> set[str]:
    return {pairing.images.folder for pairing in pairings}


def _options(given: GivenLayout, reading: _Reading) -> dict[str, str]:
    """Returns the options that choose a reading."""
    if len(reading.pairings) > MAX_LISTED_FOLDERS:
        options_by_name = _options_by_name(given, reading.pairings)
        if options_by_name:
            return options_by_name
    if reading.arranged is None:
        return _options_of_parts(reading.pairings)
    options = _options_of_set(given.listing, reading.arranged)
    lists = _find_lists(given.listing, reading.arranged.root)
    if lists:
        options["lists"] = lists
    if "image_name" not in options and _have_files_of_same_stems(given.listing, reading.pairings):
        ending = _only_image_ending(reading.pairings)
        if ending:
            options["image_name"] = f"{ID}{ending}"
    return options


def _options_by_name(given: GivenLayout, pairings: Sequence[Pairing]) -> dict[str, str]:
    """Returns options with one name for folders that lie alike: `--images images --masks masks`.

    They are empty if the folders lie otherwise, or if other folders have these names, too.
    """
    pair, *others = dict.fromkeys(map(_folders_below_common_one, pairings))
    if others or pair.is_flat:
        return {}
    options = {"images": pair.images, "masks": pair.masks}
    named = dataclasses.replace(given, options=options)
    allowed = named.allowed_sets()
    image_folders = {pairing.images.folder for pairing in pairings}
    mask_folders = {pairing.masks.folder for pairing in pairings}
    if {files.folder for files in allowed.images} != image_folders:
        return {}
    if {files.folder for files in allowed.masks} != mask_folders:
        return {}
    patterns = {"image_name": pair.image_name, "mask_name": pair.mask_name}
    return options | {name: pattern for name, pattern in patterns.items() if pattern}


def _find_lists(listing: Listing, root: str) -> str:
    """Returns the folder of the lists of a set below the given folder; empty if there is none.

    The lists of other sets beside it may name images of the same names.
    """
    in_voc_folder = posixpath.join(root, LISTS)
    if root and listing.is_folder(in_voc_folder):
        return in_voc_folder
    texts = [name for name in listing.files_by_folder.get(root, ()) if ending_of(name) == ".txt"]
    return root if any(parse_split_name(stem_of(name)).split for name in texts) else ""


def _options_of_parts(pairings: Sequence[Pairing]) -> dict[str, str]:
    """Returns options that name each pairing after its folder: `--images anna=anna/a,ben=ben/a`."""
    names = _name_parts(pairings)
    parts = [part_of(name, pairing) for name, pairing in zip(names, pairings, strict=True)]
    return Layout(".", ".", parts=tuple(parts)).options("")


_SIGNS_OF_OPTION = re.compile("[,=]")
"""Signs that the options take apart, so that no name of a part has one."""


def _name_parts(pairings: Sequence[Pairing]) -> list[str]:
    """Returns a name for each pairing: the path of its folder below the folder of all of them.

    | images and masks of each pairing | names |
    | --- | --- |
    | `anna/photos`, `anna/masks`; `ben/photos`, `ben/masks` | `anna`, `ben` |
    | `photos/ulm`, `masks/ulm`; `photos/bonn`, `seg/bonn` | `ulm`, `bonn` |
    | the folder itself, `masks`; `more/photos`, `more/masks` | `masks`, `more` |
    | `a/x`, `a/x_mask`; `a/y`, `a/y_mask` | `x`, `y` |
    """
    folders = [_folder_of_pairing(pairing) for pairing in pairings]
    if len({*folders}) < len(folders):
        folders = [pairing.images.folder for pairing in pairings]
    root = common_folder(folders)
    names: list[str] = []
    for folder in folders:
        path = folder.removeprefix(root).strip("/") or posixpath.basename(folder)
        name = _SIGNS_OF_OPTION.sub("_", path)
        names.append(name if name not in names else f"{name}_{len(names) + 1}")
    return names


def _folder_of_pairing(pairing: Pairing) -> str:
    """Returns the folder of images and masks; the folder of either if they have none in common."""
    image_folder, mask_folder = pairing.folders
    return common_folder(pairing.folders) or image_folder or mask_folder or "images"


def _options_of_set(listing: Listing, arranged: ArrangedSet) -> dict[str, str]:
    """Returns the options of a set, without parts of which one of the folders is missing.

    A split of images alone, or of masks alone, has no pairs, so nothing of it can be chosen.
    """
    parts = [part for part in arranged.layout.parts if _has_both_folders(listing, arranged, part)]
    layout = dataclasses.replace(arranged.layout, parts=tuple(parts))
    return layout.options(arranged.root)


def _has_both_folders(listing: Listing, arranged: ArrangedSet, part: Part) -> bool:
    folders = [posixpath.join(arranged.root, folder) for folder in (part.images, part.masks)]
    return all(listing.is_folder(posixpath.normpath(folder)) for folder in folders)


def _have_files_of_same_stems(listing: Listing, pairings: Sequence[Pairing]) -> bool:
    """Says whether a file beside the images has the name of one, and is neither image nor mask.

    Example: `1.png` beside the image `1.jpg`, whose mask is `1-v2.png`.
    """
    for pairing in pairings:
        if not pairing.is_flat:
            continue
        images, masks = pairing.paths()
        paired_names = {posixpath.basename(path) for path in (*images, *masks)}
        for name in listing.files_by_folder[pairing.images.folder]:
            is_picture = ending_of(name) in IMAGE_OR_MASK_ENDINGS
            if is_picture and name not in paired_names and stem_of(name) in pairing.pairs:
                return True
    return False


def _only_image_ending(pairings: Iterable[Pairing]) -> str:
    """Returns the ending that all images have, such as `.jpg`; empty if they have several."""
    endings: set[str] = set()
    for pairing in pairings:
        images, _ = pairing.paths()
        endings.update(map(ending_of, images))
    return endings.pop() if len(endings) == 1 else ""
