"""Reads the exports of several annotators in one folder as one set.

`anna` and `ben` lie beside each other, and each is an export by itself: it has images, masks and a
class file. Each is read as if it were alone. Then all are parts of one set, whose ids begin with
the name of the folder: `anna/0001`.
"""

from collections.abc import Callable, Iterable, Mapping
import dataclasses
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError, counted, join_names
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, Layout, Part
from voc_seg_tfrecord.core.role_words import EXTRA_WORDS
from voc_seg_tfrecord.core.split_names import parse_split_name, words
from voc_seg_tfrecord.folder.files.folder_names import role_of_name
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout
from voc_seg_tfrecord.folder.files.layouts import relative
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.set_files import SetFiles
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

FindTree = Callable[[GivenLayout], VocTree]
"""Finds the images and masks of one set."""


def find_exports_tree(given: GivenLayout, find_tree: FindTree) -> VocTree | None:
    """Returns the tree of the exports in a folder.

    Args:
      given: the folder, and the user's options.
      find_tree: finds the images and masks of one export.

    Returns:
      The tree; None if the user named folders, if there are not several exports, or if one of them
      cannot be read by itself.
    """
    if given.image_folders or given.mask_folders:
        return None
    top = _find_top(given.listing)
    names = _list_names(given.listing, top)
    if len(names) < 2:
        return None
    trees: dict[str, VocTree] = {}
    for name in names:
        files_of_export = given.listing.within(posixpath.join(top, name))
        try:
            trees[name] = find_tree(dataclasses.replace(given, listing=files_of_export))
        except LayoutError:
            return None
    if any(tree.channels > 1 for tree in trees.values()):
        return None
    return _unite(given, top, trees)


def _find_top(listing: Listing) -> str:
    """Returns the innermost folder in which all pictures lie; empty for the root."""
    top = ""
    while not _have_pictures(listing.files_by_folder.get(top, ())):
        children = listing.children(top)
        if len(children) != 1:
            break
        top = posixpath.join(top, children[0])
    return top


def _list_names(listing: Listing, top: str) -> list[str]:
    """Returns the names of the exports in a folder; none if pictures lie elsewhere, too."""
    if _have_pictures(listing.files_by_folder.get(top, ())):
        return []
    names: list[str] = []
    for name in listing.children(top):
        files = list(listing.below(posixpath.join(top, name)))
        if not _have_pictures(files):
            continue
        if not _is_name_of_export(name) or not _have_class_file(files):
            return []
        names.append(name)
    return names


def _have_pictures(names: Iterable[str]) -> bool:
    return any(ending_of(name) in IMAGE_OR_MASK_ENDINGS for name in names)


def _have_class_file(names: Iterable[str]) -> bool:
    return any(posixpath.basename(name) in CLASS_FILE_NAMES for name in names)


def _is_name_of_export(name: str) -> bool:
    """Says whether a folder may be an export: neither a split nor a copy or sample of others."""
    if parse_split_name(name).split or role_of_name(name, is_folder=True) == "drawn":
        return False
    return EXTRA_WORDS.isdisjoint(words(name))


def _unite(given: GivenLayout, top: str, trees: Mapping[str, VocTree]) -> VocTree:
    """Returns the trees of exports as one, whose root is the folder that holds them."""
    parts: list[Part] = []
    excluded_names: list[str] = []
    copies: list[str] = []
    for name, tree in trees.items():
        parts += [_as_part(tree, part, name, top) for part in tree.layout.folders()]
        excluded_names += tree.set_files.excluded_names
        copies += [_path_from(top, tree, folder) for folder in tree.set_files.copies]
    files = SetFiles(
        given.listing.root / top,
        Layout(".", ".", parts=tuple(parts)),
        given.listing,
        excluded_names=sorted(set(excluded_names)),
        copies=copies,
        image_endings=given.endings.images,
        mask_endings=given.endings.masks,
    )
    note = (
        f"{join_names([*trees], 'and')} are read as {counted(len(trees), 'part')} of one set, "
        "because each is an export with a class file."
    )
    reasons = [reason for tree in trees.values() for reason in tree.reasons]
    return VocTree(
        files.root,
        files.layout,
        given.listing,
        notes=[note],
        given_files=files,
        reasons=reasons,
    )


def _as_part(tree: VocTree, part: Part, export: str, top: str) -> Part:
    """Returns a part of an export, or all of it, as a part of the set of all exports."""
    return dataclasses.replace(
        part,
        name=posixpath.join(export, part.name) if part.name else export,
        images=_path_from(top, tree, part.images),
        masks=_path_from(top, tree, part.masks),
    )


def _path_from(top: str, tree: VocTree, folder: str) -> str:
    """Returns a folder below the root of a tree by its path below another folder."""
    path = posixpath.normpath(posixpath.join(tree.root_below_given, folder))
    return relative(path, top)
