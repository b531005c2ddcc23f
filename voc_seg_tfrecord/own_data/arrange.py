"""Makes a layout of what was chosen, with parts if a set has several, or asks what is meant."""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.base import wording
from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.companions import FileChoice
from voc_seg_tfrecord.own_data.folder_names import (
    EXTRA,
    SHORT,
    are_splits,
    common_folder,
    is_split,
    role,
    split_word,
    words,
)
from voc_seg_tfrecord.own_data.question import Rival, question
from voc_seg_tfrecord.own_data.readings import Reading, are_apart
from voc_seg_tfrecord.trees.layout import LISTS, MASK_SUFFIXES, SPLIT, Layout, Part
from voc_seg_tfrecord.trees.listing import Listing


def arrange(listing: Listing, chosen: Sequence[Reading]) -> tuple[str, Layout] | None:
    """Returns the root of a set and its layout; None if the readings are no parts of one set."""
    groups: dict[Top, list[Reading]] = {}
    for reading in chosen:
        groups.setdefault(_tops(reading), []).append(reading)
    if len(groups) == 1:
        ((image_top, other, image_name, mask_name),) = groups
        if image_top == other:
            image_top = other = common_folder([r.images.folder for r in chosen])
        below = [r.images.folder[len(image_top) :].strip("/") for r in chosen]
        splits = {split_word(path)[1] for path in below if is_split(path)}
        if "" in below and splits and "train" not in splits:
            return _parts(listing, chosen)
        root = common_folder([image_top, other])
        inner = (relative(image_top, root), relative(other, root))
        if image_top == other and is_split(posixpath.basename(root)) and root:
            root = posixpath.dirname(root)
            inner = (".", ".")
        # nnU-Net's imagesTr alone makes no split, so that its ids are those of nnU-Net's own lists.
        elif is_split(posixpath.basename(root)) or any(
            split and word.lower() not in SHORT for word, split in map(split_word, inner)
        ):
            return _parts(listing, chosen)
        return root, Layout(*inner, image_name, mask_name)
    return _parts(listing, chosen)


def _tops(reading: Reading, *, of_split: bool = False) -> "Top":
    """Returns the folders of images and masks without what both have at their end, and names.

    Args:
      reading: the images and masks.
      of_split: whether folders that are called as a split stay.
    """
    images, masks = (
        f.folder.split("/") if f.folder else [] for f in (reading.images, reading.masks)
    )
    while images and masks and images[-1] == masks[-1] and not (of_split and is_split(images[-1])):
        images, masks = images[:-1], masks[:-1]
    return "/".join(images), "/".join(masks), reading.image_name, reading.mask_name


def relative(folder: str, root: str) -> str:
    """Returns a folder relative to another, `.` if it is the same."""
    return posixpath.relpath(folder or ".", root or ".")


def _parts(listing: Listing, chosen: Sequence[Reading]) -> tuple[str, Layout] | None:
    """Returns the root and the layout of a set in several parts, such as splits."""
    tops: dict[Top, list[Reading]] = {}
    for reading in chosen:
        image_top, other = _tops(reading, of_split=True)[:2]
        if image_top == other and not is_split(posixpath.basename(image_top)):
            image_top = other = reading.images.folder
        tops.setdefault((image_top, other, reading.image_name, reading.mask_name), []).append(
            reading
        )
    root = common_folder([folder for top in tops for folder in top[:2]])
    if len(tops) == 1 and is_split(posixpath.basename(root)):
        root = posixpath.dirname(root)
    inner = {top: (relative(top[0], root), relative(top[1], root)) for top in tops}
    names = _names_of_splits(inner) or _names_of_siblings(listing, root, inner)
    if names is None:
        return None
    parts = [Part(names[top], *inner[top], *top[2:]) for top in tops]
    parts += _without_other_half(listing, root, parts)
    parts.sort(key=lambda part: part.name)
    return root, Layout(".", ".", parts=tuple(parts))


Top = tuple[str, str, str, str]
"""The folders of images and of masks, and how the files of both are named."""

Tops = Mapping[Top, tuple[str, str]]
"""The same folders below a root."""


def _names_of_splits(inner: Tops) -> dict[Top, str] | None:
    """Returns the split that each part is by the names of its folders, None if they do not say.

    One part may have no such name: it is `train` if the others are validation and test.
    """
    names, splits = {}, []
    for top, folders in inner.items():
        (word, split), (of_masks, mask_split) = map(split_word, folders)
        in_short = {SHORT.get(part.lower()) for f in folders for part in f.split("/")}
        if split and mask_split and split != mask_split:
            return None
        if not split and not mask_split and in_short - {None, "train"}:
            return None
        names[top] = word or of_masks or "train"
        splits.append(split or mask_split or "train")
    return names if len(set(splits)) == len(splits) else None


def _names_of_siblings(listing: Listing, root: str, inner: Tops) -> dict[Top, str] | None:
    """Returns the names of folders that all have the same inside; None if there are others.

    These may be scenes or patients. Two, or some with lists or class files of their own, may be
    sets of which each has its own classes.
    """
    names, patterns = {}, set()
    for top, (image_top, other) in inner.items():
        parts, of_masks = image_top.split("/"), other.split("/")
        same = [a for a, b in zip(parts, of_masks, strict=False) if a == b]
        if parts[: len(same)] != same or not same or EXTRA.intersection(words("/".join(same))):
            return None
        names[top] = "/".join(same)
        patterns.add(("/".join(parts[len(same) :]), "/".join(of_masks[len(same) :]), *top[2:]))
    texts = [
        name
        for folder in names.values()
        for name in listing.below(posixpath.normpath(posixpath.join(root, folder)))
        if name.startswith(LISTS) or posixpath.basename(name) in class_files.NAMES
    ]
    depths = {name.count("/") for name in names.values()}
    several = len(names) > 2 or are_splits([*names.values()])
    alike = several and len(patterns) == len(depths) == 1 and not texts
    return names if alike else None


def _without_other_half(listing: Listing, root: str, parts: Sequence[Part]) -> list[Part]:
    """Returns parts that have the folders of a split, but images alone or masks alone."""
    by_name: dict[str, Part] = {}
    used = {folder for part in parts for folder in (part.images, part.masks)}
    for part in parts:
        if part.name not in part.images or part.name not in part.masks:
            continue
        patterns = [f.replace(part.name, SPLIT, 1) for f in (part.images, part.masks)]
        for pattern, endings in zip(patterns, (IMAGE_SUFFIXES, MASK_SUFFIXES), strict=True):
            regex = re.compile(re.escape(pattern).replace(re.escape(SPLIT), "([^/]+?)", 1))
            for path in listing.folders:
                path = relative(path, root)
                match = regex.fullmatch(path)
                if path in used or not match or not split_word(match[1])[1]:
                    continue
                names = listing.below(posixpath.normpath(posixpath.join(root, path)))
                if is_split(match[1]) and any(n.lower().endswith(endings) for n in names):
                    image_folder, other = (p.replace(SPLIT, match[1], 1) for p in patterns)
                    by_name[match[1]] = dataclasses.replace(
                        part, name=match[1], images=image_folder, masks=other
                    )
    return [part for name, part in by_name.items() if name not in {p.name for p in parts}]


def without(readings: Sequence[Reading], choice: FileChoice) -> tuple[str, ...]:
    """Returns patterns of files beside the chosen images and masks that are neither."""
    chosen = {(s.folder, s.affix) for r in choice.chosen for s in (r.images, r.masks)}
    folders = {folder for folder, _ in chosen}
    others = {
        s.affix
        for r in readings
        for s in (r.images, r.masks)
        if s.folder in folders
        and (s.folder, s.affix) not in chosen
        and role("".join(s.affix))
        and not s.pattern
    }
    return tuple(sorted(f"{a}{{id}}{b}" for a, b in others if (a, b) != ("", "")))


def several_ways(listing: Listing, choice: FileChoice) -> LayoutError:
    """Returns the question which of several masks, or images, are meant: a line for each.

    What is the same in all splits is one line, with all that is in no question.
    """
    ways: dict[tuple[str, ...], list[Reading]] = {}
    for reading in choice.rivals:
        key = tuple(_of_any_split(name) for name in _tops(reading))
        ways.setdefault(key, []).append(reading)
    for key, readings in list(ways.items()):
        if not are_apart(readings):  # of one mask only one image can be right
            del ways[key]
            ways |= {(*key, str(n)): [reading] for n, reading in enumerate(readings)}
    asked = {id(f) for r in choice.rivals for f in (r.images, r.masks)}
    others = [r for r in choice.chosen if not {id(r.images), id(r.masks)} & asked]
    together = [[*sets_of_way, *others] for sets_of_way in ways.values()]
    alone = [*ways.values(), others] if others else []
    sets = [
        sets_of_way
        for sets_of_way in alone
        if any("part1=" in _options(listing, t) for t in together)
    ]
    return _question(listing, [*filter(None, sets), *together])


def _of_any_split(path: str) -> str:
    word = split_word(path)[0]
    return path.replace(word, SPLIT) if word else path


def several_sets(listing: Listing, choice: FileChoice) -> LayoutError:
    """Returns the question which of several sets are meant, or whether all of them."""
    sets = [choice.chosen, *([reading] for reading in choice.beside)]
    if not choice.beside:
        sets = [[reading] for reading in choice.chosen]
    together = [r for of_set in sets for r in of_set]
    return _question(listing, [*sets, together] if are_apart(together) else sets)


def _question(listing: Listing, ways: Sequence[Sequence[Reading]]) -> LayoutError:
    images: dict[str, set[str]] = {}  # of each line's options
    for of_line in ways:
        images.setdefault(_options(listing, of_line), set()).update(
            *(r.paths()[0] for r in of_line)
        )
    rivals = [Rival(f"{len(of)} images with masks", options) for options, of in images.items()]
    return question(
        LayoutError,
        listing.root,
        rivals,
        to="read images and masks",
        expected="folders of which one set alone can be meant, and are called so",
        kind="several ways to read a folder",
    )


def _options(listing: Listing, chosen: Sequence[Reading]) -> str:
    """Returns the options that choose readings, for a shell."""
    root, layout = arrange(listing, chosen) or ("", Layout(".", "."))
    # A split of images alone has no masks to choose.
    below = functools.partial(posixpath.join, root)
    parts = [p for p in layout.parts if listing.is_folder(posixpath.normpath(below(p.masks)))]
    if layout == Layout(".", "."):
        parts = [
            Part(f"part{n}", r.images.folder, r.masks.folder, r.image_name, r.mask_name)
            for n, r in enumerate(chosen, 1)
        ]
    return wording.command(**dataclasses.replace(layout, parts=tuple(parts)).options(root))
