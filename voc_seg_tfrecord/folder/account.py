"""What a plan does not use of a folder, and which images and masks among it may be pairs.

Every image, possible mask, list and class file of a folder is used or stands in the account.
"""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.base.errors import LayoutError, command, counted
from voc_seg_tfrecord.folder.files.folder_names import (
    EXTRA,
    ROLES,
    role,
    role_of,
    split_word,
    words,
)
from voc_seg_tfrecord.folder.files.pixels import are_same, looks_drawn, show_same, sizes_agree
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES
from voc_seg_tfrecord.trees.layout import ENDINGS_OF, ID, MASK_FOLDERS, PICTURES
from voc_seg_tfrecord.trees.pair import channel_paths
from voc_seg_tfrecord.trees.tree import VocTree

_IDS = " of images"
"""The kind of a text that names images and makes no split, behind how many it names."""

_SHOWN = 12  # folders and kinds of files
_FILES = {".tif": "TIFF", ".npy": "array", ".txt": "text"}
_FILES |= dict.fromkeys((".jpg", ".jpeg", ".jpe"), "JPEG")

_TRIED = 8  # masks for one image, which are read
_LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")

Account = Mapping[tuple[str, str], Sequence[str]]
"""The names of files that are not used, by their folder below the given one and what they are."""


class LeftOver:
    """The files of a set that a plan does not use, of which an image and a mask may be a pair.

    Args:
      tree: the set.
      used: the ids of all splits.
    """

    def __init__(self, tree: VocTree, used: Collection[str]):
        self._tree, self._used = tree, used

    def files(self, read: Iterable[str], texts: Mapping[str, int], *, instances: bool) -> Account:
        """Returns the files of the given folder that a build does not use.

        Args:
          read: the names of the lists and class files that are read, below the tree.
          texts: how many images each text names that makes no split.
          instances: whether instance masks are read.
        """
        tree = self._tree
        if tree.listing is None:
            return {}
        used, kinds = self._of_parts(instances)
        used |= {self._path(name) for name in read}
        masks, objects = map(self._path, (tree.layout.masks, tree.layout.instances))
        folders = tree.listing.folders
        named = functools.cache(lambda: {_stem(name) for name in tree.masks.values()})
        of_images = functools.cache(
            lambda: {
                _stem(name)
                for name in itertools.chain(*folders.values())
                if name.lower().endswith(ENDINGS_OF["images"])
            }
        )
        account: dict[tuple[str, str], list[str]] = {}
        for folder, files in folders.items():
            for name in files:
                path = f"{folder}/{name}" if folder else name
                if path in used:
                    continue
                if path in texts:
                    kind = f"{counted(texts[path], 'id')}{_IDS}"
                elif not (kind := kinds.get(path, "")):
                    is_json = name.lower().endswith(".json") and _stem(name) in of_images()
                    kind = "JSON with the name of an image" if is_json else _kind(name)
                    if kind == "PNG" and f"{path}/".startswith(f"{objects}/"):
                        kind = "instance mask"
                    elif kind and _stem(posixpath.relpath(path, masks)) in named():
                        kind += " with the name of a mask"
                if kind:
                    account.setdefault((folder, kind), []).append(name)
        return account

    def _path(self, name: str) -> str:
        """Returns the path below the given folder of what lies below the tree."""
        return posixpath.normpath(posixpath.join(self._tree.place, name))

    def _of_parts(self, instances: bool) -> tuple[set[str], dict[str, str]]:
        """Returns the files of the ids in use, and what the other images and masks are."""
        used, kinds = set[str](), dict[str, str]()
        tree = self._tree
        parts = [
            (tree.layout.images, "image", tree.images, tree.masks),
            (tree.layout.masks, "mask", tree.masks, tree.images),
        ]
        if instances:
            parts.append((tree.layout.instances, "instance mask", tree.instances, tree.images))
        for folder, what, names, others in parts:
            top = self._path(folder)
            start = "" if top == "." else f"{top}/"
            lacking = "a mask" if what == "image" else "an image"
            of_ids = names.all_written(self._used)
            for image_id, name in names.items():
                path = start + (posixpath.normpath(name) if "./" in name else name)
                if image_id in of_ids:
                    used.add(path)
                    if what == "image" and tree.channels > 1:
                        used.update(map(str, channel_paths(path, tree.channels)))
                else:
                    left = "in no split" if image_id in others else f"without {lacking}"
                    kinds.setdefault(path, f"{what} {left}")
        return used, kinds

    @functools.cached_property
    def _folders(self) -> list[set[str]]:
        """The folders of the images in use, and those of their masks."""
        both = (self._paths(which, self._used) for which in ("images", "masks"))
        return [{posixpath.dirname(path) or "." for path in paths} for paths in both]

    def check(self, account: Account, lacking: Iterable[str] | None = None) -> None:
        """Checks that no image and mask that are left over may be a pair.

        If there are lists, only images that these name and that are `lacking` a mask count.

        Raises:
          LayoutError: if an image and a mask of one size have the same numbers in their names, or
            one number more at an end, or the same words if these have no numbers; or if the masks
            are numbered as the images, but from another number on.
        """
        tree = self._tree
        if not any(image_id in tree.masks for image_id in self._used):
            return  # then no name fits another, which is said elsewhere
        self._check_numbers()
        listed = lacking if lacking is None else {*self._paths("images", lacking)}
        masks: dict[tuple[str, ...], list[str]] = {}
        for numbers, mask in self._of(account, "masks"):
            for key in dict.fromkeys([numbers, numbers[:-1], numbers[1:]]):
                masks.setdefault(key, []).append(mask)
        images = [*self._of(account, "images")] if masks else []
        beside = collections.Counter(posixpath.dirname(image) for _, image in images)
        for numbers, image in images:
            few = 2 * beside[posixpath.dirname(image)] < len(self._used)
            if not numbers or (listed is not None and image not in listed):
                continue
            for mask in masks.get(numbers, [])[:_TRIED]:
                files = tree.given / image, tree.given / mask
                if (
                    mask == image
                    or self._is_example(image, mask, few=few)
                    or not (sizes_agree(*files) and looks_drawn(files[1]))
                    or looks_drawn(files[0])
                ):
                    continue
                raise LayoutError(
                    files[1],
                    found=f"a mask without an image, and {image}, which has no mask. This may be "
                    "its mask under another name",
                    expected="names of images and masks that are the same, but for what all have "
                    "around them",
                    remedy="rename one of them, or leave out all files without their other half: "
                    + command(**tree.layout.options(tree.place)),
                    kind="names of masks",
                )

    def _check_numbers(self) -> None:
        """Checks that masks are not numbered from 1 while images are from 0, or the like."""
        ids = self._tree.images.keys(), self._tree.masks.keys()
        if not (ids[0] - ids[1] and ids[1] - ids[0]):
            return
        runs: tuple[dict[str, list[int]], ...] = {}, {}
        for run, of in zip(runs, ids, strict=True):
            for m in filter(None, map(_LAST_NUMBER.fullmatch, of)):
                run.setdefault(f"{m[1]}{ID}{m[3]}", []).append(int(m[2]))
        for name in runs[0].keys() & runs[1].keys():
            images, masks = (sorted(run[name]) for run in runs)
            steps = {a - b for a, b in zip(images, masks, strict=False)}
            if len(images) == len(masks) > 2 and len(steps) == 1 and 0 not in steps:
                raise LayoutError(
                    self._tree.given,
                    found=f"images {name} with the numbers {images[0]} to {images[-1]}, and as "
                    f"many masks with {masks[0]} to {masks[-1]}, so each may get another's",
                    expected="the same numbers for an image and its mask",
                    remedy="rename the masks. If the names are right, and one image and one mask "
                    "are missing: " + command(**self._tree.layout.options(self._tree.place)),
                    kind="names of masks",
                )

    def _paths(self, which: str, ids: Iterable[str]) -> Iterator[str]:
        """Yields the paths of the `images` or `masks` that ids have, below the given folder."""
        names, folder = getattr(self._tree, which), getattr(self._tree.layout, which)
        for image_id in (image_id for image_id in ids if image_id in names):
            yield self._path(posixpath.join(folder, names[image_id]))

    def _of(self, account: Account, which: str) -> Iterator[tuple[tuple[str, ...], str]]:
        """Yields the numbers and paths of `images` or `masks` that are left over."""
        layout = self._tree.layout
        patterns = [getattr(part, f"{which[:-1]}_name") for part in layout.folders()]
        endings = ENDINGS_OF[which]
        copies = {*map(self._path, layout.copies)}
        for (folder, kind), names in account.items():
            what, _, state = kind.partition(" ")
            place, of_folder = folder or ".", role_of(folder)
            if state == "in no split" or of_folder == "drawn" or place in copies:
                continue
            if EXTRA.intersection(words(folder)):
                continue
            known = posixpath.basename(folder) in MASK_FOLDERS
            of_images = bool(split_word(folder)[1]) or of_folder == "images"
            of_images |= place in self._folders[0]
            of_masks = place in self._folders[1] or (of_folder == "masks" and not known)
            if of_images != of_masks and of_images != (which == "images"):
                continue
            for name in names:
                stem, ending = posixpath.splitext(name.lower())
                of_name = role(stem) if of_images == of_masks else ""
                if what in ("image", "mask"):
                    of_name = f"{what}s"
                if ending in endings and of_name in ("", which) and role(stem) != "drawn":
                    yield _numbers(stem, patterns), posixpath.join(folder, name)

    def _is_example(self, image: str, mask: str, *, few: bool) -> bool:
        """Says whether an image and a mask outside of the tree's folders show a pair of the set.

        They are a few in folders whose names say nothing, such as `docs`, and are not those of the
        set's; or they are named as a pair is, of which one is a copy.
        """
        places = [posixpath.dirname(path) or "." for path in (image, mask)]
        if any(place in of for place, of in zip(places, self._folders, strict=True)):
            return False
        names = posixpath.basename(image), posixpath.basename(mask)
        tree, folders = self._tree, map(posixpath.basename, places)
        if not any(map(role_of, places)):
            inner = ({posixpath.basename(place) for place in of} for of in self._folders)
            alike = all(name in of for name, of in zip(folders, inner, strict=True))
            return few and not alike
        for part in tree.layout.folders():
            of_image, of_mask = part.image_naming.id_of(names[0]), part.mask_naming.id_of(names[1])
            image_id = posixpath.join(part.name, of_image or "")
            if of_image == of_mask and image_id in tree.images:
                masks = (tree.given / path for path in self._paths("masks", [image_id]))
                return show_same(tree.given / image, tree.image_file(image_id)) or any(
                    are_same(tree.given / mask, path) for path in masks
                )
        return False


def _stem(name: str) -> str:
    return posixpath.splitext(name)[0]


def _kind(name: str) -> str:
    """Returns what a file is by its name alone; nothing if it is none that counts."""
    ending = posixpath.splitext(name)[1].lower()
    if name in CLASS_FILE_NAMES:
        return "class file"
    return _FILES.get(ending) or (ending[1:].upper() if ending in PICTURES else "")


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
    more = [f"{rest:,} more files; --json lists all"] if rest else []
    return [*(text for text, _ in lines[:_SHOWN]), *more]


def _counted(number: int, kind: str) -> str:
    for what in ("instance mask", "class file"):
        if kind.startswith(what):
            return counted(number, what) + kind[len(what) :]
    what, _, rest = kind.partition(" ")
    return f"{counted(number, what)} {rest}".strip()


def _numbers(stem: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Returns the numbers of a name but for those of patterns.

    If it has none, these are its words but for those that say what files hold.
    """
    around = {word for pattern in patterns for word in words(pattern)}
    of_name = [word.lstrip("0") or "0" for word in words(stem) if word not in around | ROLES]
    return tuple([word for word in of_name if word.isdigit()] or of_name)
