"""Finds the ignore masks of a set in the folder that the user named: one for each image."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, counted
from voc_seg_tfrecord.core.layout import MASK_ENDINGS
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.folder.files.affixes import NO_AFFIX, Affix, affix_around
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.listing import Listing, is_at_or_below
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import PartFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

IGNORE_MASKS = "ignore masks"
"""The kind of the errors about ignore masks that do not fit the images."""


@dataclasses.dataclass(frozen=True)
class _IgnoreFolder:
    """A folder of ignore masks.

    Attributes:
      path: the folder, below the root of the listing.
      name_by_stem: the names of the files, by their names without the ending.
    """

    path: str
    name_by_stem: Mapping[str, str]


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
    ignore_folders = _list_folders(listing, folders)
    path_by_id: dict[str, str] = {}
    for image_folder, stem_by_id in _stems_by_folder(tree).items():
        folder = _choose_folder(listing, ignore_folders, image_folder)
        for image_id, name in _match_names(listing, folder, stem_by_id).items():
            path_by_id[image_id] = posixpath.join(folder.path, name)
    if not path_by_id:
        raise _no_match_error(listing, ignore_folders, tree)
    note = _note_on_others(ignore_folders, path_by_id.values())
    files = PartFiles(listing.root, Names(path_by_id))
    return dataclasses.replace(tree, ignored=files, notes=[*tree.notes, *note])


def _list_folders(listing: Listing, folders: Sequence[str]) -> list[_IgnoreFolder]:
    """Returns the folders at and below those that the user named which have files of masks."""
    ignore_folders: list[_IgnoreFolder] = []
    for path, names in listing.files_by_folder.items():
        if not any(is_at_or_below(path, folder) for folder in folders):
            continue
        masks = [name for name in names if ending_of(name) in MASK_ENDINGS]
        name_by_stem = {stem_of(name): name for name in masks}
        if len(name_by_stem) < len(masks):
            raise LayoutError(
                listing.root / path,
                found="two ignore masks of one name that differ in their endings",
                expected="one ignore mask for each image",
                remedy="take one of them out of the folder",
                kind=IGNORE_MASKS,
            )
        if masks:
            ignore_folders.append(_IgnoreFolder(path, name_by_stem))
    if not ignore_folders:
        raise ConfigError(
            "option ignore_masks",
            found=f"no mask files in {', '.join(folders)}",
            expected=f"ignore masks: files that end with {', '.join(MASK_ENDINGS)}",
            remedy="name the folder of the ignore masks",
        )
    return ignore_folders


def _stems_by_folder(tree: VocTree) -> dict[str, dict[str, str]]:
    """Returns by folder the name of each image without its ending, by id."""
    stems: dict[str, dict[str, str]] = {}
    for image_id in tree.images:
        folder, name = posixpath.split(tree.paths.image(image_id))
        stems.setdefault(folder, {})[image_id] = stem_of(name)
    return stems


def _choose_folder(
    listing: Listing, folders: Sequence[_IgnoreFolder], image_folder: str
) -> _IgnoreFolder:
    """Returns the folder of ignore masks whose path is most alike that of a folder of images.

    Raises:
      LayoutError: if two are.
    """
    likeness_by_folder = {folder.path: _likeness(folder.path, image_folder) for folder in folders}
    highest = max(likeness_by_folder.values())
    best = [folder for folder in folders if likeness_by_folder[folder.path] == highest]
    if len(best) == 1:
        return best[0]
    raise LayoutError(
        listing.root / (image_folder or "."),
        found=f"images whose ignore masks may be those in {best[0].path} or in {best[1].path}",
        expected="one folder of ignore masks for each folder of images",
        remedy="name the folder with --ignore_masks, or give the folders of ignore masks the "
        "names of the image folders",
        kind=IGNORE_MASKS,
    )


def _likeness(path: str, other: str) -> int:
    """Returns how many folders two paths have in common at their beginnings and at their ends."""
    parts, other_parts = path.split("/"), other.split("/")
    count = 0
    while parts and other_parts and parts[0] == other_parts[0]:
        parts.pop(0)
        other_parts.pop(0)
        count += 1
    while parts and other_parts and parts[-1] == other_parts[-1]:
        parts.pop()
        other_parts.pop()
        count += 1
    return count


def _match_names(
    listing: Listing, folder: _IgnoreFolder, stem_by_id: Mapping[str, str]
) -> dict[str, str]:
    """Returns the names of the ignore masks of images, by id; none if no name fits.

    Raises:
      LayoutError: if they fit in two ways.
    """
    matches = _list_matches(folder, stem_by_id)
    largest = max(map(len, matches), default=0)
    best = [match for match in matches if len(match) == largest]
    if len(best) > 1:
        raise _two_fits_error(listing.root / folder.path, stem_by_id, best[0], best[1])
    return best[0] if best else {}


def _list_matches(folder: _IgnoreFolder, stem_by_id: Mapping[str, str]) -> list[dict[str, str]]:
    """Returns each way in which names of ignore masks fit those of images: the masks by id."""
    matches: list[dict[str, str]] = []
    for before, after in _list_affixes(folder, stem_by_id):
        name_by_id: dict[str, str] = {}
        for image_id, stem in stem_by_id.items():
            name = folder.name_by_stem.get(f"{before}{stem}{after}")
            if name is not None:
                name_by_id[image_id] = name
        if name_by_id and name_by_id not in matches:
            matches.append(name_by_id)
    return matches


def _two_fits_error(
    folder: PathLike,
    stem_by_id: Mapping[str, str],
    names: Mapping[str, str],
    other_names: Mapping[str, str],
) -> LayoutError:
    """Returns the error about ignore masks whose names fit those of images in two ways.

    Args:
      folder: of the ignore masks.
      stem_by_id: the images' names without their endings.
      names: the ignore masks of images by one way.
      other_names: those by the other.
    """
    common_ids = [image_id for image_id in names if image_id in other_names]
    if common_ids:
        image_id = common_ids[0]
        found = (
            f"2 ignore masks for the image {stem_by_id[image_id]}: {names[image_id]} and "
            f"{other_names[image_id]}"
        )
        remedy = "take the other files out of the folder"
    else:
        first, other = next(iter(names.values())), next(iter(other_names.values()))
        found = f"{first} and {other}, whose names fit those of images in two ways"
        remedy = "give all ignore masks names of one kind"
    return LayoutError(
        folder,
        found=found,
        expected="one ignore mask for each image",
        remedy=remedy,
        kind=IGNORE_MASKS,
    )


def _list_affixes(folder: _IgnoreFolder, stem_by_id: Mapping[str, str]) -> list[Affix]:
    """Returns what ignore masks may have before and behind the names of images.

    The names themselves come first, and are alone if they fit all images.
    """
    stems = [*stem_by_id.values()]
    if all(stem in folder.name_by_stem for stem in stems):
        return [NO_AFFIX]
    names = [*folder.name_by_stem]
    # If only few images have an ignore mask, a sample of images may have none.
    return _affixes_between(few(stems), names) or _affixes_between(stems, few(names))


def _affixes_between(stems: Iterable[str], names: Sequence[str]) -> list[Affix]:
    """Returns what any of some names has before and behind any of some names of images."""
    affixes: dict[Affix, None] = {}  # in place of an ordered set
    for stem in stems:
        for name in names:
            affix = affix_around(name, stem, may_touch_words=False)
            if affix is not None:
                affixes[affix] = None
    return [*affixes]


def _no_match_error(
    listing: Listing, folders: Sequence[_IgnoreFolder], tree: VocTree
) -> LayoutError:
    folder = folders[0]
    name = next(iter(folder.name_by_stem.values()))
    image = tree.paths.image(next(iter(tree.images))) if tree.images else "no image"
    return LayoutError(
        listing.root / folder.path,
        found=f"no ignore mask fits an image by its name, such as {name} and {image}",
        expected="the name of the image, with the same prefix or suffix in all names",
        remedy="rename the ignore masks, or name another folder with --ignore_masks",
        kind=IGNORE_MASKS,
    )


def _note_on_others(folders: Iterable[_IgnoreFolder], used: Iterable[str]) -> list[str]:
    """Names the ignore masks that belong to no image; none if all belong to one."""
    paths: set[str] = set()
    for folder in folders:
        paths.update(posixpath.join(folder.path, name) for name in folder.name_by_stem.values())
    others = sorted(paths.difference(used))
    if not others:
        return []
    return [f"{counted(len(others), 'ignore mask')} of no image, such as {others[0]}, not used."]
