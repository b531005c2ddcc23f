"""What a plan does not use of a folder, and what a folder without masks holds instead.

Every image, possible mask, list and class file of a folder is used or stands in the account.
"""

from collections.abc import Collection, Mapping, Sequence
import functools
import itertools
import posixpath

from voc_seg_tfrecord.base.wording import counted
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.trees.layout import (
    PICTURES,
)
from voc_seg_tfrecord.trees.listing import Listing
from voc_seg_tfrecord.trees.tree import VocTree

_IDS = " of images"
"""The kind of a text that names images and makes no split, behind how many it names."""

_SHOWN = 12  # folders and kinds of files
_FILES = {".jpg": "JPEG", ".jpeg": "JPEG", ".jpe": "JPEG", ".tif": "TIFF", ".npy": "array"}

Account = Mapping[tuple[str, str], Sequence[str]]
"""The names of files that are not used, by their folder below the given one and what they are."""


def unused_files(
    tree: VocTree,
    listed: Collection[str],
    read: Collection[str],
    texts: Mapping[str, int],
    *,
    instances: bool,
) -> Account:
    """Returns the files of a folder that a build does not use.

    Args:
      tree: the tree, with the listing of the folder.
      listed: the ids of all splits.
      read: the names of the lists and class files that are read, below the tree.
      texts: how many images each text names that makes no split.
      instances: whether instance masks are read.
    """
    if tree.listing is None:
        return {}
    used, kinds = _files_of_parts(tree, listed, instances)
    used |= {posixpath.normpath(posixpath.join(tree.place, name)) for name in read}
    masks, objects = (
        posixpath.normpath(posixpath.join(tree.place, folder))
        for folder in (tree.layout.masks, tree.layout.instances)
    )
    named = functools.cache(lambda: {_stem(name) for name in tree.masks.values()})
    of_images = functools.cache(functools.partial(_stems_of_images, tree.listing))
    account: dict[tuple[str, str], list[str]] = {}
    for folder, files in tree.listing.folders.items():
        for name in files:
            path = f"{folder}/{name}" if folder else name
            if path in used:
                continue
            shapes = name.lower().endswith(".json") and _stem(name) in of_images()
            if path in texts:
                account.setdefault((folder, f"{counted(texts[path], 'id')}{_IDS}"), []).append(name)
                continue
            kind = kinds.get(path) or ("JSON with the name of an image" if shapes else _kind(name))
            if not kind:
                continue
            if kind == "PNG" and f"{path}/".startswith(f"{objects}/"):
                kind = "instance mask"
            elif path not in kinds and _stem(posixpath.relpath(path, masks)) in named():
                kind += " with the name of a mask"
            account.setdefault((folder, kind), []).append(name)
    return account


def _stems_of_images(listing: Listing) -> set[str]:
    names = itertools.chain(*listing.folders.values())
    return {_stem(name) for name in names if name.lower().endswith(IMAGE_SUFFIXES)}


def _files_of_parts(
    tree: VocTree, listed: Collection[str], instances: bool
) -> tuple[set[str], dict[str, str]]:
    """Returns the files of listed ids, and what the other images and masks of a tree are."""
    used, kinds = set[str](), dict[str, str]()
    parts = [
        ("images", "image", tree.images, tree.masks),
        ("masks", "mask", tree.masks, tree.images),
    ]
    if instances:
        parts.append(("instances", "instance mask", tree.instances, tree.images))
    for which, what, names, others in parts:
        top = posixpath.join(tree.place, getattr(tree.layout, which))
        start = "" if posixpath.normpath(top) == "." else f"{posixpath.normpath(top)}/"
        lacking = "a mask" if what == "image" else "an image"
        of_ids = names.all_written(listed)
        for image_id, name in names.items():
            path = start + (posixpath.normpath(name) if "./" in name else name)
            if image_id in of_ids:
                used.add(path)
            else:
                left = "in no split" if image_id in others else f"without {lacking}"
                kinds.setdefault(path, f"{what} {left}")
    return used, kinds


def _stem(name: str) -> str:
    return posixpath.splitext(name)[0]


def _kind(name: str) -> str:
    """Returns what a file is by its name alone; nothing if it is none that counts."""
    ending = posixpath.splitext(name)[1].lower()
    if name in class_files.NAMES:
        return "class file"
    if ending in PICTURES:
        return _FILES.get(ending, ending[1:].upper())
    return "text" if ending == ".txt" else ""


def describe(account: Account) -> list[str]:
    """Returns an account in words, one text for each folder and kind of files."""
    lines = list[tuple[str, int]]()
    for (folder, kind), names in account.items():
        if kind.endswith(_IDS):
            lines += [(f"{posixpath.join(folder, name)}, {kind}", 1) for name in names]
        else:
            text = f"{folder or '.'}, {_counted(len(names), kind)}, such as {names[0]}"
            lines.append((text, len(names)))
    rest = sum(count for _, count in lines[_SHOWN:])
    return [text for text, _ in lines[:_SHOWN]] + (
        [f"{rest:,} more files; --json lists all"] if rest else []
    )


def _counted(number: int, kind: str) -> str:
    for what in ("instance mask", "class file"):
        if kind.startswith(what):
            return counted(number, what) + kind[len(what) :]
    what, _, rest = kind.partition(" ")
    return f"{counted(number, what)} {rest}".strip()
