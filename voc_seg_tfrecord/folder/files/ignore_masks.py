"""Finds the ignore masks of a set, one for each image, and proposes folders that may hold them.

DRIVE has two folders with a mask for each image: the vessels, and the field of view. Where the
latter is 0, the label is void.
"""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.class_masks import find_class_masks
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    MaskError,
    VocSegError,
    counted,
    join_names,
)
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import MASK_ENDINGS
from voc_seg_tfrecord.folder.by_name import count_same_ends
from voc_seg_tfrecord.folder.files.align import align
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names, paths_below_any
from voc_seg_tfrecord.folder.question import (
    MAX_TRIED_ALTERNATIVES,
    Alternative,
    QuestionError,
)
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing
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
    name_by_stem_and_folder = _list_by_stem(listing, folders)
    stems_by_folder: dict[str, dict[str, str]] = {}
    for image_id in tree.images:
        folder, name = posixpath.split(tree.images[image_id])
        stems_by_folder.setdefault(folder, {})[image_id] = stem_of(name)
    path_by_id: dict[str, str] = {}
    unused: set[str] = set()
    for folder, name_by_stem in name_by_stem_and_folder.items():
        unused.update(posixpath.join(folder, name) for name in name_by_stem.values())
    for image_folder, stem_by_id in stems_by_folder.items():
        folder = _choose_folder(listing.root, [*name_by_stem_and_folder], image_folder)
        name_by_stem = name_by_stem_and_folder[folder]
        match = _match_names(listing.root / folder, name_by_stem, set(stem_by_id.values()))
        for image_id, stem in stem_by_id.items():
            if stem in match:
                path_by_id[image_id] = posixpath.join(folder, name_by_stem[match[stem]])
    if not path_by_id:
        image = tree.images[next(iter(tree.images))] if tree.images else "no image"
        raise _error(
            listing.root,
            found=f"no ignore mask fits an image by its name, such as {min(unused)} and {image}",
            remedy="give all the name of their image, with the same prefix or suffix, or name "
            "another folder with --ignore_masks",
        )
    notes = [*tree.notes]
    unused.difference_update(path_by_id.values())
    if unused:
        count = counted(len(unused), "ignore mask")
        notes.append(f"{count} of no image, such as {min(unused)}, not used.")
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


def ignores_all_masks_error(folders: Sequence[str]) -> ConfigError:
    """Returns the error that no masks lie outside of the folders of ignore masks."""
    return ConfigError(
        "option ignore_masks",
        found=f"no masks but those in {join_names(folders, 'and')}",
        expected="the masks of the classes in another folder",
        remedy="leave --ignore_masks out, or name the folder of masks with --masks",
    )


def _list_by_stem(listing: Listing, folders: Sequence[str]) -> dict[str, dict[str, str]]:
    """Returns the files of masks at and below folders, by their folder and their stem."""
    ignore_masks: dict[str, dict[str, str]] = {}
    for path in paths_below_any(listing.below(), folders):
        folder, name = posixpath.split(path)
        if ending_of(name) not in MASK_ENDINGS:
            continue
        other = ignore_masks.setdefault(folder, {}).setdefault(stem_of(name), name)
        if other != name:
            raise _error(
                listing.root / path,
                found=f"two ignore masks of one name that differ in their endings: {other}, {name}",
                remedy="take one of them out of the folder",
            )
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
    folders_by_likeness: dict[int, list[str]] = {}
    for folder in folders:
        names, image_names = folder_names(folder), folder_names(image_folder)
        depth = len(folder_names(common_folder([folder, image_folder])))
        likeness = depth + count_same_ends(names[depth:], image_names[depth:])
        folders_by_likeness.setdefault(likeness, []).append(folder)
    best = folders_by_likeness[max(folders_by_likeness)]
    if len(best) == 1:
        return best[0]
    raise _error(
        root / (image_folder or "."),
        found=f"images whose ignore masks may be those in {best[0]} or in {best[1]}",
        remedy="name the folder with --ignore_masks, or give the folders of ignore masks the names "
        "of the image folders",
    )


def _match_names(
    folder: epath.Path, name_by_stem: Mapping[str, str], image_stems: Set[str]
) -> Mapping[str, str]:
    """Returns the stems of the ignore masks by those of images; none if no name fits.

    The names of the images themselves count alone if they fit all images.

    Raises:
      LayoutError: if they fit in two ways.
    """
    if image_stems <= name_by_stem.keys():
        return {stem: stem for stem in image_stems}
    alignments = sorted(align(name_by_stem, image_stems).values(), key=len, reverse=True)
    best = alignments[0] if alignments else {}
    for other in alignments[1:]:
        if len(other) < len(best) or other == best:
            continue
        stem = min(best.keys() & other.keys(), default=min(best))
        other_stem = stem if stem in other else min(other)
        raise _error(
            folder,
            found="names that fit those of images in two ways, such as "
            f"{name_by_stem[best[stem]]} and {name_by_stem[other[other_stem]]}",
            remedy="give all ignore masks names of one kind, and take other files out of the "
            "folder",
        )
    return best


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
        if not isinstance(other, Alternative) or "masks" not in other.options:
            continue
        if find_class_masks(other.options):
            continue
        if _are_fields_of_view(other.options, given):
            fields_of_view.append(other)
        else:
            masks.append(other)
    added: list[Alternative] = []
    for alternative, field_of_view in itertools.product(masks, fields_of_view):
        folders = field_of_view.options["masks"]
        images = alternative.options.get("images")
        if images != field_of_view.options.get("images"):
            continue
        if alternative.options["masks"] != folders:
            options = {**alternative.options, "ignore_masks": folders}
            added.append(Alternative(f"void where the masks in {folders} are 0", options))
    if not added:
        return question
    return QuestionError(
        question.where,
        [*question.alternatives, *added],
        facts=question.facts,
        task=question.task,
        expected=question.expected,
        kind=question.kind,
    )


def _are_fields_of_view(options: Mapping[str, str], given: GivenLayout) -> bool:
    """Says whether a few masks of an alternative all look like fields of view."""
    options_of_masks = {name: options[name] for name in ("masks", "mask_name") if name in options}
    layout = dataclasses.replace(given, options=options_of_masks)
    looks: list[bool] = []
    try:
        for files in layout.allowed_sets().masks:
            for stem in few([*files.names]):
                file = File.read(given.listing.root / files.path(stem), MaskError)
                looks.append(looks_like_field_of_view(file))
    except VocSegError:  # one is no ignore mask, or the alternative has no folder of masks
        return False
    return bool(looks) and all(looks)
