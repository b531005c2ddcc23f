"""Asks the user which files of a folder are meant, where the rules cannot choose."""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.layout import ID, PICTURES, SPLIT, Layout, Part
from voc_seg_tfrecord.folder.files.choice import FileChoice
from voc_seg_tfrecord.folder.files.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.files.folder_names import find_split_word
from voc_seg_tfrecord.folder.files.layouts import (
    ArrangedSet,
    FolderPair,
    arrange,
    part_of,
    top_folders,
)
from voc_seg_tfrecord.folder.files.pairings import Pairing, are_apart
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.listing import Listing


def ask_which_files(listing: Listing, choice: FileChoice) -> QuestionError:
    """Returns the question which of several masks, or images, are meant: a line for each.

    Folders of splits that lie alike are one line. Each line has what is in no question too.
    """
    readings = _group_rivals(choice.rivals)
    sets_asked = {files for rival in choice.rivals for files in (rival.images, rival.masks)}
    undisputed = [p for p in choice.chosen if sets_asked.isdisjoint({p.images, p.masks})]
    if not undisputed:
        return _question(listing, readings)
    readings_of_all = [[*pairings, *undisputed] for pairings in readings]
    are_sets = all(arrange(listing, pairings) is not None for pairings in readings_of_all)
    if are_sets:  # so that no part has to be given a name
        return _question(listing, readings_of_all)
    return _question(listing, [*readings, undisputed, *readings_of_all])


def _group_rivals(rivals: Sequence[Pairing]) -> list[list[Pairing]]:
    """Returns rivals that are the same in all splits together, and each other one alone."""
    alike: dict[FolderPair, list[Pairing]] = {}
    for rival in rivals:
        top = top_folders(rival)
        without_splits = FolderPair(
            images=_without_split(top.images),
            masks=_without_split(top.masks),
            image_name=_without_split(top.image_name),
            mask_name=_without_split(top.mask_name),
        )
        alike.setdefault(without_splits, []).append(rival)
    together: list[list[Pairing]] = []
    alone: list[list[Pairing]] = []
    for pairings in alike.values():
        if are_apart(pairings):
            together.append(pairings)
        else:  # of several images of one mask only one can be right
            alone += [[pairing] for pairing in pairings]
    return together + alone


def _without_split(name: str) -> str:
    """Returns the name of a folder, or a pattern, with `{split}` in place of a split's word."""
    word = find_split_word(name).word
    return name.replace(word, SPLIT) if word else name


def ask_which_sets(listing: Listing, choice: FileChoice) -> QuestionError:
    """Returns the question which of several sets are meant, or whether all of them."""
    sets: list[Sequence[Pairing]] = [[pairing] for pairing in choice.chosen]
    if choice.beside:
        sets = [choice.chosen, *([pairing] for pairing in choice.beside)]
    all_together = [pairing for pairings in sets for pairing in pairings]
    if are_apart(all_together):
        sets.append(all_together)
    return _question(listing, sets)


def is_answered(question: QuestionError, options: Mapping[str, str]) -> bool:
    """Says whether the user gave the options of the only alternative, which takes all files.

    If images are there twice, with other masks or in two files of one name, no other answer is
    left.
    """
    if len(question.alternatives) != 1:
        return False
    (alternative,) = question.alternatives
    return all(options.get(name) == value for name, value in alternative.options.items())


def _question(listing: Listing, readings: Sequence[Sequence[Pairing]]) -> QuestionError:
    """Returns the question between several readings of a folder, without those that are equal."""
    alternatives: list[Alternative] = []
    for pairings in readings:
        alternative = Alternative("", _options(listing, pairings))
        if alternative not in alternatives:
            alternatives.append(alternative)
    to = "read images and masks"
    expected = "one unambiguous pair of image and mask folders"
    two_masks = _find_two_masks(readings)
    if two_masks is not None:
        to = f"read the masks, of which images have several, such as {two_masks}"
        expected = "one mask for each image; if each shows other classes or objects, merge them"
    elif any(p.pairs_few_masks_by_number for pairings in readings for p in pairings):
        expected = (
            "masks of which most have the number of an image; if several belong to each image, "
            "merge them"
        )
    return QuestionError(
        listing.root, alternatives, to=to, expected=expected, kind="several ways to read a folder"
    )


@dataclasses.dataclass(frozen=True)
class _TwoMasks:
    """An image and two masks of it, by their paths below the root of the listing."""

    image: str
    mask: str
    other_mask: str

    def __str__(self) -> str:
        return f"{self.mask} and {self.other_mask} for {self.image}"


def _find_two_masks(readings: Sequence[Sequence[Pairing]]) -> _TwoMasks | None:
    """Returns an image that has two masks, if readings have the same images and other masks."""
    image_folders = {frozenset(p.images.folder for p in pairings) for pairings in readings}
    if len(image_folders) > 1:
        return None
    mask_by_image: dict[str, str] = {}
    for pairings in readings:
        for pairing in pairings:
            images, masks = pairing.paths()
            for image, mask in zip(images, masks, strict=True):
                first_mask = mask_by_image.setdefault(image, mask)
                if mask != first_mask:
                    return _TwoMasks(image, first_mask, mask)
    return None


def _options(listing: Listing, pairings: Sequence[Pairing]) -> dict[str, str]:
    """Returns the options that choose pairings."""
    arranged = arrange(listing, pairings)
    if arranged is None:
        parts = [part_of(f"part{number}", pairing) for number, pairing in enumerate(pairings, 1)]
        return Layout(".", ".", parts=tuple(parts)).options("")
    # A split of images alone, or of masks alone, has nothing to choose.
    parts = [part for part in arranged.layout.parts if _has_both_folders(listing, arranged, part)]
    options = dataclasses.replace(arranged.layout, parts=tuple(parts)).options(arranged.root)
    if "image_name" not in options and _have_files_of_same_stems(listing, pairings):
        endings = {ending_of(path) for pairing in pairings for path in pairing.paths()[0]}
        if len(endings) == 1:
            options["image_name"] = f"{ID}{endings.pop()}"
    return options


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
        chosen = {posixpath.basename(path) for path in (*images, *masks)}
        for name in listing.folders[pairing.images.folder]:
            is_picture = ending_of(name) in PICTURES
            if is_picture and name not in chosen and stem_of(name) in pairing.pairs:
                return True
    return False
