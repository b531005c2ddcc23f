"""Finds the ignore masks of a set, one for each image, and proposes folders that may hold them.

DRIVE has two folders with a mask for each image: the vessels, and the field of view. Where the
latter is 0, the label is void.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.class_masks import find_class_masks
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, MaskError, VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import MASK_ENDINGS
from voc_seg_tfrecord.folder.by_name import count_same_ends
from voc_seg_tfrecord.folder.files.align import align
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names
from voc_seg_tfrecord.folder.question import (
    MAX_TRIED_ALTERNATIVES,
    Alternative,
    QuestionError,
)
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing, is_at_or_below
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import PartFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.ignore_masks import looks_like_field_of_view


def pair_ignore_masks(tree: VocTree, listing: Listing, folders: Sequence[str]) -> VocTree:
    """Returns a tree with the ignore mask of each image.

    The names of all ignore masks of a folder have the same before and behind the names of images:
    `21_training_mask.gif` for `21_training.tif`. The images of one folder have their ignore masks
    in one folder, that with the most alike path: `test/mask` for `test/images`.

    Args:
      tree: the tree of images and masks.
      listing: all that lies in the given folder, with the ignore masks.
      folders: the folders that the user named. Those below belong to them.

    Raises:
      LayoutError: if names fit no image, or in two ways, or if two files have one name.
    """
    ignore_masks = _list_by_stem(listing, folders)
    stems_by_folder: dict[str, dict[str, str]] = {}
    for image_id in tree.images:
        folder, name = posixpath.split(tree.paths.image(image_id))
        stems_by_folder.setdefault(folder, {})[image_id] = stem_of(name)
    path_by_id: dict[str, str] = {}
    for image_folder, stem_by_id in stems_by_folder.items():
        folder = _choose_folder(listing.root, [*ignore_masks], image_folder)
        names = _match_names(ignore_masks[folder], stem_by_id, listing.root / folder)
        for image_id, name in names.items():
            path_by_id[image_id] = posixpath.join(folder, name)
    all_paths = [
        posixpath.join(folder, name)
        for folder, name_by_stem in ignore_masks.items()
        for name in name_by_stem.values()
    ]
    if not path_by_id:
        image = tree.paths.image(next(iter(tree.images))) if tree.images else "no image"
        raise _error(
            listing.root / posixpath.dirname(all_paths[0]),
            found="no ignore mask fits an image by its name, such as "
            f"{posixpath.basename(all_paths[0])} and {image}",
            remedy="give all the name of their image, with the same prefix or suffix, or name "
            "another folder with --ignore_masks",
        )
    notes = [*tree.notes]
    others = sorted(set(all_paths).difference(path_by_id.values()))
    if others:
        count = counted(len(others), "ignore mask")
        notes.append(f"{count} of no image, such as {others[0]}, not used.")
    files = PartFiles(listing.root, Names(path_by_id))
    return dataclasses.replace(tree, ignored=files, notes=notes)


def _error(where: epath.Path, found: str, remedy: str) -> LayoutError:
    """Returns the error about ignore masks that do not fit the images."""
    return LayoutError(
        where,
        found=found,
        expected="one ignore mask for each image",
        remedy=remedy,
        kind="ignore masks",
    )


def _list_by_stem(listing: Listing, folders: Sequence[str]) -> dict[str, dict[str, str]]:
    """Returns the files of masks at and below folders, by their folder and their stem."""
    ignore_masks: dict[str, dict[str, str]] = {}
    for path, names in listing.files_by_folder.items():
        if not any(is_at_or_below(path, folder) for folder in folders):
            continue
        masks = [name for name in names if ending_of(name) in MASK_ENDINGS]
        name_by_stem = {stem_of(name): name for name in masks}
        if len(name_by_stem) < len(masks):
            raise _error(
                listing.root / path,
                found="two ignore masks of one name that differ in their endings",
                remedy="take one of them out of the folder",
            )
        if masks:
            ignore_masks[path] = name_by_stem
    if not ignore_masks:
        raise ConfigError(
            "option ignore_masks",
            found=f"no mask files in {', '.join(folders)}",
            expected=f"ignore masks: files that end with {', '.join(MASK_ENDINGS)}",
            remedy="name the folder of the ignore masks",
        )
    return ignore_masks


def _choose_folder(root: epath.Path, folders: Sequence[str], image_folder: str) -> str:
    """Returns the folder of ignore masks whose path is most alike that of a folder of images.

    Raises:
      LayoutError: if two are.
    """
    likeness_by_folder: dict[str, int] = {}
    for folder in folders:
        names, image_names = folder_names(folder), folder_names(image_folder)
        depth = len(folder_names(common_folder([folder, image_folder])))
        same_ends = count_same_ends(names[depth:], image_names[depth:])
        likeness_by_folder[folder] = depth + same_ends
    highest = max(likeness_by_folder.values())
    best = [folder for folder in folders if likeness_by_folder[folder] == highest]
    if len(best) == 1:
        return best[0]
    raise _error(
        root / (image_folder or "."),
        found=f"images whose ignore masks may be those in {best[0]} or in {best[1]}",
        remedy="name the folder with --ignore_masks, or give the folders of ignore masks the names "
        "of the image folders",
    )


def _match_names(
    name_by_stem: Mapping[str, str], stem_by_id: Mapping[str, str], folder: epath.Path
) -> dict[str, str]:
    """Returns the names of the ignore masks of images, by id; none if no name fits.

    The names of the images themselves count alone if they fit all images.

    Args:
      name_by_stem: the ignore masks.
      stem_by_id: the images.
      folder: where the ignore masks lie, for errors.

    Raises:
      LayoutError: if they fit in two ways.
    """
    stems = set(stem_by_id.values())
    if stems.issubset(name_by_stem):
        return {image_id: name_by_stem[stem] for image_id, stem in stem_by_id.items()}
    alignments = align(name_by_stem, stems).values()
    largest = max(map(len, alignments), default=0)
    best: list[dict[str, str]] = []
    for alignment in alignments:
        if len(alignment) == largest and alignment not in best:
            best.append(alignment)
    if len(best) > 1:
        names, other_names = best[:2]
        common_stems = sorted(names.keys() & other_names.keys())
        if common_stems:
            stem = common_stems[0]
            first, other = name_by_stem[names[stem]], name_by_stem[other_names[stem]]
            raise _error(
                folder,
                found=f"2 ignore masks for the image {stem}: {first} and {other}",
                remedy="take the other files out of the folder",
            )
        first, other = (name_by_stem[min(each.values())] for each in (names, other_names))
        raise _error(
            folder,
            found=f"{first} and {other}, whose names fit those of images in two ways",
            remedy="give all ignore masks names of one kind",
        )
    matched = best[0] if best else {}
    return {i: name_by_stem[matched[stem]] for i, stem in stem_by_id.items() if stem in matched}


def add_ignore_masks(question: QuestionError, given: GivenLayout) -> QuestionError:
    """Returns a question in which masks that look like fields of view may be ignore masks.

    Args:
      question: which images and masks are meant.
      given: the folder, and the options that the user gave. If these name ignore masks, no others
        are proposed.
    """
    are_added_planned = len(question.alternatives) < MAX_TRIED_ALTERNATIVES
    if given.options.get("ignore_masks") or not are_added_planned:
        return question
    masks: list[Alternative] = []
    fields_of_view: list[Alternative] = []
    for other in question.alternatives:
        if "masks" in other.options and not find_class_masks(other.options):
            are_fields = _are_fields_of_view(other.options, given)
            (fields_of_view if are_fields else masks).append(other)
    added: list[Alternative] = []
    for alternative, field_of_view in itertools.product(masks, fields_of_view):
        folders = field_of_view.options["masks"]
        has_same_images = alternative.options.get("images") == field_of_view.options.get("images")
        if has_same_images and alternative.options["masks"] != folders:
            options = {**alternative.options, "ignore_masks": folders}
            added.append(Alternative(f"void where the masks in {folders} are 0", options))
    if not added:
        return question
    return QuestionError(
        question.where,
        [*question.alternatives, *added],
        task=question.task,
        expected=question.expected,
        kind=question.kind,
    )


def _are_fields_of_view(options: Mapping[str, str], given: GivenLayout) -> bool:
    """Says whether a few masks of an alternative all look like fields of view."""
    options_of_masks = {name: options[name] for name in ("masks", "mask_name") if name in options}
    layout = dataclasses.replace(given, options=options_of_masks)
    try:
        paths = [
            files.path(stem)
            for files in layout.allowed_sets().masks
            for stem in few([*files.names])
        ]
        looks = [
            looks_like_field_of_view(File.read(given.listing.root / path, MaskError))
            for path in paths
        ]
    except VocSegError:  # one is no ignore mask, or the alternative has no folder of masks
        return False
    return bool(looks) and all(looks)
