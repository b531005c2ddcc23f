"""Asks the user which files of a folder are meant, where the rules cannot choose."""

from collections.abc import Iterable, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS, LISTS, Layout
from voc_seg_tfrecord.core.words import parse_split_name
from voc_seg_tfrecord.folder.files.file_sets import FileSet
from voc_seg_tfrecord.folder.files.given_layout import MAX_LISTED_FOLDERS, GivenLayout
from voc_seg_tfrecord.folder.files.layouts import FolderPair, arrange_as_named, part_of
from voc_seg_tfrecord.folder.files.pairings import Pairing, are_apart
from voc_seg_tfrecord.folder.files.paths import common_folder
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing

SEVERAL_WAYS = "ambiguous folder"
"""The kind of the questions which images and masks are meant."""

_UNAMBIGUOUS_PAIR = "one unambiguous pair of image and mask folders"


def ask(
    given: GivenLayout,
    alternatives: Sequence[Alternative],
    *,
    facts: Sequence[str] = (),
    expected: str = _UNAMBIGUOUS_PAIR,
) -> QuestionError:
    """Returns the question between several readings of a folder; see `QuestionError`."""
    return QuestionError(
        given.listing.root,
        alternatives,
        facts=facts,
        task="read images and masks",
        expected=expected,
        kind=SEVERAL_WAYS,
    )


def ask_which_files(
    given: GivenLayout, chosen: Sequence[Pairing], rivals: Sequence[Sequence[Pairing]]
) -> QuestionError:
    """Returns the question which of several masks, or images, are meant.

    A chosen pairing is undisputed if none of its files are a rival's. The alternatives are

    1. each group of rivals, if nothing is undisputed; all of them together come first if they have
       no file in common;
    2. each group of rivals together with all that is undisputed, if each of these is one set:
       `val/images` with `val/masks` is added to `train/images` with `train/masks_anna`, and to
       `train/images` with `train/masks_ben`;
    3. otherwise each group alone, the undisputed alone, and both together. Options for both
       together name each part after its folder, such as `anna=anna/photos`.

    Args:
      given: the folder, and the user's options.
      chosen: what the rules choose.
      rivals: groups of pairings of which one is right: `images` with `masks_anna`, or with
        `masks_ben`.
    """
    all_rivals = [pairing for group in rivals for pairing in group]
    disputed_sets: set[FileSet] = set()
    for rival in all_rivals:
        disputed_sets |= {rival.images, rival.masks}
    undisputed = [p for p in chosen if disputed_sets.isdisjoint([p.images, p.masks])]
    complete = [[*group, *undisputed] for group in rivals]
    if undisputed:
        if all(arrange_as_named(given, pairings) is not None for pairings in complete):
            return _ask_between(given, complete)
        return _ask_between(given, [*rivals, undisputed, *complete])
    if len(rivals) > 1 and are_apart(all_rivals):
        return _ask_between(given, [all_rivals, *rivals])
    return _ask_between(given, rivals)


def ask_which_sets(given: GivenLayout, sets: Sequence[Sequence[Pairing]]) -> QuestionError:
    """Returns the question which of several sets is meant, the largest first, or all together.

    Two pairings that share an image or a mask cannot be read together.
    """
    all_together = [pairing for pairings in sets for pairing in pairings]
    largest_first = sorted(sets, key=lambda pairings: -sum(len(p.pairs) for p in pairings))
    if are_apart(all_together):
        largest_first.append(all_together)
    return _ask_between(given, largest_first)


def _ask_between(given: GivenLayout, readings: Sequence[Sequence[Pairing]]) -> QuestionError:
    """Returns the question between readings; of those with the same options, only the first."""
    alternatives: list[Alternative] = []
    for words, pairings in zip(_describe_folders(readings), readings, strict=True):
        options = options_of(given, pairings)
        if options not in [alternative.options for alternative in alternatives]:
            alternatives.append(Alternative(words, options))
    two_masks = _find_two_masks(readings)
    if two_masks:
        return ask(
            given,
            alternatives,
            facts=[f"images have several masks, such as {two_masks}"],
            expected="one mask for each image",
        )
    if any(pairing.pairs_few_masks_by_number for pairings in readings for pairing in pairings):
        return ask(
            given,
            alternatives,
            expected="masks of which most have the number of an image; if several belong to each "
            "image, merge them",
        )
    return ask(given, alternatives)


def _describe_folders(readings: Sequence[Sequence[Pairing]]) -> list[str]:
    """Returns in which folders readings differ: `masks in masks_anna`, `masks in masks_ben`.

    It is that of the masks, or else that of the images; empty if neither tells all readings apart.
    """
    masks: list[str] = []
    images: list[str] = []
    for pairings in readings:
        mask_folders = dict.fromkeys(pairing.masks.folder or "." for pairing in pairings)
        image_folders = dict.fromkeys(pairing.images.folder or "." for pairing in pairings)
        masks.append(f"masks in {several(mask_folders)}")
        images.append(f"images in {several(image_folders)}")
    for descriptions in (masks, images):
        if len(set(descriptions)) == len(readings):
            return descriptions
    return [""] * len(readings)


def _find_two_masks(readings: Sequence[Sequence[Pairing]]) -> str:
    """Returns two masks of an image, if the readings differ only in their masks; else nothing."""
    folders_of_readings = [{p.images.folder for p in pairings} for pairings in readings]
    if any(folders != folders_of_readings[0] for folders in folders_of_readings):
        return ""
    mask_by_image: dict[str, str] = {}
    for pairings in readings:
        for pairing in pairings:
            for image, mask in zip(*pairing.paths(), strict=True):
                first_mask = mask_by_image.setdefault(image, mask)
                if mask != first_mask:
                    return f"{first_mask} and {mask} for {image}"
    return ""


def options_of(given: GivenLayout, pairings: Sequence[Pairing]) -> dict[str, str]:
    """Returns the options that choose some images and masks."""
    if len(pairings) > MAX_LISTED_FOLDERS:
        options_by_name = _options_by_name(given, pairings)
        if options_by_name:
            return options_by_name
    layout = arrange_as_named(given, pairings)
    if layout is None:
        names = _name_parts(pairings)
        parts = [part_of(name, pairing) for name, pairing in zip(names, pairings, strict=True)]
        return Layout(".", ".", parts=tuple(parts)).options()
    # A split of images alone, or of masks alone, has no pairs, so nothing of it can be chosen.
    parts = []
    for part in layout.parts:
        folders = [posixpath.join(layout.root, folder) for folder in (part.images, part.masks)]
        if all(given.listing.is_folder(posixpath.normpath(folder)) for folder in folders):
            parts.append(part)
    options = dataclasses.replace(layout, parts=tuple(parts)).options()
    lists = _find_lists(given.listing, layout.root)
    if lists:
        options["lists"] = lists
    endings = {ending_of(path) for pairing in pairings for path in pairing.paths()[0]}
    if len(endings) == 1 and _have_files_of_same_stems(given.listing, pairings):
        options.setdefault("image_name", f"{ID}{endings.pop()}")
    return options


def _options_by_name(given: GivenLayout, pairings: Sequence[Pairing]) -> dict[str, str]:
    """Returns options with one name for folders that lie alike: `--images images --masks masks`.

    They are empty if the folders lie otherwise, or if other folders have these names, too.
    """
    folder_pairs: set[FolderPair] = set()
    for pairing in pairings:
        folder_pairs.add(FolderPair.of(pairing).relative_to(common_folder(pairing.folders)))
    pair = folder_pairs.pop()
    if folder_pairs or pair.is_flat:
        return {}
    options = {"images": pair.images, "masks": pair.masks}
    folders = map(set, zip(*(pairing.folders for pairing in pairings), strict=True))
    for name, folders_of_half in zip(options.values(), folders, strict=True):
        of_name = {one for one in given.listing.files_by_folder if f"/{one}".endswith(f"/{name}")}
        if of_name != folders_of_half:
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
    folders: list[str] = []
    for pairing in pairings:
        image_folder, mask_folder = pairing.folders
        folders.append(common_folder(pairing.folders) or image_folder or mask_folder or "images")
    if len({*folders}) < len(folders):
        folders = [pairing.images.folder for pairing in pairings]
    root = common_folder(folders)
    names: list[str] = []
    for folder in folders:
        path = folder.removeprefix(root).strip("/") or posixpath.basename(folder)
        name = _SIGNS_OF_OPTION.sub("_", path)
        names.append(name if name not in names else f"{name}_{len(names) + 1}")
    return names


def _have_files_of_same_stems(listing: Listing, pairings: Iterable[Pairing]) -> bool:
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
