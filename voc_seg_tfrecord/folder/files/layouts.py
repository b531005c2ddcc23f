"""The layout of a folder: as the user says it, or of the pairings that were chosen, with parts."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.core.layout import (
    ENDINGS_OF,
    LISTS,
    MASK_SUFFIXES,
    SPLIT,
    Layout,
    Naming,
    Part,
)
from voc_seg_tfrecord.core.role_words import EXTRA
from voc_seg_tfrecord.core.split_names import SHORT_WORDS, are_names_of_splits, words
from voc_seg_tfrecord.folder.files.file_looks import FileLooks
from voc_seg_tfrecord.folder.files.file_sets import FileSet, ending_of, file_sets
from voc_seg_tfrecord.folder.files.folder_names import common_folder, is_split, role, split_word
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.tools.nnunet import is_split_word
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES


@dataclasses.dataclass(frozen=True)
class Said:
    """A folder, and what the user said of it.

    Attributes:
      listing: all that lies in the folder.
      options: the fields of the layout that the user gave.
      endings: what names of images end with; if bands are wanted, with `.npy` too.
      looks: what was seen of the files.
    """

    listing: Listing
    options: Mapping[str, str]
    endings: Sequence[str]
    looks: FileLooks

    @functools.cached_property
    def images(self) -> list[tuple[str, str]]:
        """The folders of images that the user named, each with the name of its part or nothing."""
        return self._folders("images")

    @functools.cached_property
    def masks(self) -> list[tuple[str, str]]:
        """The folders of masks, likewise."""
        return self._folders("masks")

    def _folders(self, option: str) -> list[tuple[str, str]]:
        """Returns the folders that an option names.

        Raises:
          ConfigError: if there is no such folder.
        """
        listing, text = self.listing, self.options.get(option, "")
        if not text or listing.is_folder(self._resolved(text)):
            return [("", self._resolved(text))] if text else []
        folders: list[tuple[str, str]] = []
        for item in text.split(","):
            name, _, path = item.rpartition("=")
            path = self._resolved(path)
            if listing.is_folder(path):
                folders.append((name, path))
                continue
            pattern = re.compile("(.*/)?" + re.escape(path).replace(re.escape(SPLIT), "[^/]+"))
            there = [("", f) for f in listing.folders if path and pattern.fullmatch(f)]
            if not there:
                raise ConfigError(
                    f"option {option}",
                    found=f"no folder {path!r} in {listing.root}"
                    + did_you_mean(path, listing.folders),
                    expected=f"the folder of {option}, relative to {listing.root}",
                    remedy="check the name",
                )
            folders += there
        return folders

    def _resolved(self, text: str) -> str:
        """Returns a path as the listing has it; linked folders by the name under which they are."""
        path, root = posixpath.normpath(text.strip().replace("\\", "/")), self.listing.root
        # A folder may hold one of its own name, and what is said is relative to the outer one.
        if path.partition("/")[0] not in self.listing.folders:
            path = path.removeprefix(f"{root}/")
        inside = f"{posixpath.realpath(str(root))}/"
        for link, to in self.listing.links.items():
            if f"{path}/".startswith(f"{link}/"):
                path = (to + path[len(link) :]).removeprefix(inside)
        return "" if path == "." else path

    def inner(self, option: str, folder: str) -> str | None:
        """Returns where a folder lies below those of `images` or `masks`; None if outside of them.

        If the user named none, these are all.
        """
        top = deepest(folder, [top for _, top in getattr(self, option)] or [""])
        return None if top is None else folder[len(top) :].strip("/")

    @functools.cached_property
    def every_set(self) -> tuple[list[FileSet], list[FileSet]]:
        """All sets of files that may be images, and those that may be masks."""
        return file_sets(self.listing, self.endings)

    def sets(self) -> list[list[FileSet]]:
        """Returns those in the folders that the user named, which are named as he said."""
        images, masks = self.every_set
        mask_name = self.options.get("mask_name")
        if image_name := self.options.get("image_name"):
            images = self._of_pattern(image_name, self.endings)
        elif mask_name:
            is_mask = Naming.parse(mask_name).id_of
            images = [
                dataclasses.replace(f, names={s: n for s, n in f.names.items() if not is_mask(n)})
                for f in images
            ]
        if mask_name:
            masks = self._of_pattern(mask_name, MASK_SUFFIXES)
        return [
            [f for f in sets if f.names and self.inner(option, f.folder) is not None]
            for option, sets in (("images", images), ("masks", masks))
        ]

    def _of_pattern(self, pattern: str, endings: Sequence[str]) -> list[FileSet]:
        naming, sets = Naming.parse(pattern), []
        for folder, files in self.listing.folders.items():
            names = (n for n in files if ending_of(n) in endings)
            by_id = {image_id: name for name in names if (image_id := naming.id_of(name))}
            affix = naming.prefix, naming.suffix
            sets.append(FileSet(folder, by_id, affix, naming.ending, pattern))
        return sets

    def lists(self) -> str | None:
        """Returns the folder of lists, or the file, that the user said; None if he said none.

        Raises:
          ConfigError: if it is not there.
        """
        if "lists" not in self.options:
            return None
        path, root = self._resolved(self.options["lists"]), self.listing.root
        folder, name = posixpath.split(path)
        if not self.listing.is_folder(path) and name not in self.listing.folders.get(folder, ()):
            raise ConfigError(
                "option lists",
                found=f"no folder or file {self.options['lists']!r} in {root}",
                expected=f"the folder of lists, or one file of them, relative to {root}",
                remedy="check the name",
            )
        return path


def deepest(folder: str, tops: Sequence[str]) -> str | None:
    """Returns the deepest of some folders that has a folder, None if none has."""
    having = [t for t in tops if not t or folder == t or folder.startswith(f"{t}/")]
    return max(having, key=len, default=None)


def arrange(listing: Listing, chosen: Sequence[Pairing]) -> tuple[str, Layout] | None:
    """Returns the root of a set and its layout; None if the pairings are no parts of one set."""
    tops, *more = {tops_of(pairing) for pairing in chosen}
    image_top, other, names = tops[0], tops[1], tops[2:]
    if more:
        return _parts(listing, chosen)
    if image_top == other:
        image_top = other = common_folder([r.images.folder for r in chosen])
    below = [r.images.folder[len(image_top) :].strip("/") for r in chosen]
    splits = {split_word(path)[1] for path in below if is_split(path)}
    if "" in below and splits and "train" not in splits:
        return _parts(listing, chosen)
    root = common_folder([image_top, other])
    inner = (relative(image_top, root), relative(other, root))
    if image_top == other and is_split(posixpath.basename(root)):
        return posixpath.dirname(root), Layout(".", ".", *names)
    # nnU-Net's imagesTr alone makes no split, so that its ids are those of nnU-Net's own lists.
    if is_split(posixpath.basename(root)) or any(
        split and not is_split_word(word) for word, split in map(split_word, inner)
    ):
        return _parts(listing, chosen)
    return root, Layout(*inner, *names)


def part_of(name: str, pairing: Pairing) -> Part:
    """Returns a part of a set in the folders of a pairing."""
    images, masks = (folder or "." for folder in pairing.folders)
    return Part(name, images, masks, pairing.image_name, pairing.mask_name)


def tops_of(pairing: Pairing, *, of_split: bool = False) -> "Top":
    """Returns the folders of images and masks without what both have at their end, and names.

    Neither has the other in it then, unless they are the same.

    Args:
      pairing: the images and masks.
      of_split: whether folders that are called as a split stay.
    """
    images, masks = (folder.split("/") if folder else [] for folder in pairing.folders)
    while images and masks and images[-1] == masks[-1] and not (of_split and is_split(images[-1])):
        shorter, other = sorted((images[:-1], masks[:-1]), key=len)
        if shorter != other and other[: len(shorter)] == shorter:
            break
        images, masks = images[:-1], masks[:-1]
    return "/".join(images), "/".join(masks), pairing.image_name, pairing.mask_name


def relative(folder: str, root: str) -> str:
    """Returns a folder relative to another, `.` if it is the same."""
    return posixpath.relpath(folder or ".", root or ".")


def _parts(listing: Listing, chosen: Sequence[Pairing]) -> tuple[str, Layout] | None:
    """Returns the root and the layout of a set in several parts, such as splits."""
    tops: dict[Top, list[Pairing]] = {}
    for pairing in chosen:
        image_top, other = tops_of(pairing, of_split=True)[:2]
        if image_top == other and not is_split(posixpath.basename(image_top)):
            image_top = other = pairing.images.folder
        tops.setdefault((image_top, other, pairing.image_name, pairing.mask_name), []).append(
            pairing
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
        in_short = {SHORT_WORDS.get(part.lower()) for f in folders for part in f.split("/")}
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
        same = common_folder([image_top, other])
        if not same and parts[-1] == of_masks[-1]:  # `v1` and `masks/v1`
            same = parts.pop()
            of_masks.pop()
        else:
            parts, of_masks = (path[same.count("/") + 1 :] for path in (parts, of_masks))
        if not same or EXTRA.intersection(words(same)):
            return None
        names[top] = same
        patterns.add(("/".join(parts), "/".join(of_masks), *top[2:]))
    texts = [
        name
        for folder in names.values()
        for name in listing.below(posixpath.normpath(posixpath.join(root, folder)))
        if name.startswith(LISTS) or posixpath.basename(name) in CLASS_FILE_NAMES
    ]
    depths = {name.count("/") for name in names.values()}
    several = len(names) > 2 or are_names_of_splits([*names.values()])
    alike = several and len(patterns) == len(depths) == 1 and not texts
    return names if alike else None


def _without_other_half(listing: Listing, root: str, parts: Sequence[Part]) -> list[Part]:
    """Returns parts that have the folders of a split, but images alone or masks alone."""
    names = {part.name for part in parts}
    used = {folder for part in parts for folder in (part.images, part.masks)}
    patterns: dict[tuple[str, str], Part] = {}  # with a part that lies so
    for part in parts:
        if part.name in part.images and part.name in part.masks:
            images, masks = (f.replace(part.name, SPLIT, 1) for f in (part.images, part.masks))
            patterns[images, masks] = part
    unused = [path for path in (relative(f, root) for f in listing.folders) if path not in used]
    found: dict[str, Part] = {}
    for (images, masks), part in patterns.items():
        for pattern, endings in ((images, ENDINGS_OF["images"]), (masks, ENDINGS_OF["masks"])):
            for path, name in _folders_of_splits(unused, pattern):
                files = listing.below(posixpath.normpath(posixpath.join(root, path)))
                if name not in names and any(file.lower().endswith(endings) for file in files):
                    found[name] = dataclasses.replace(
                        part,
                        name=name,
                        images=images.replace(SPLIT, name, 1),
                        masks=masks.replace(SPLIT, name, 1),
                    )
    return [*found.values()]


def _folders_of_splits(folders: Iterable[str], pattern: str) -> Iterator[tuple[str, str]]:
    """Yields the folders that are called as a pattern with the name of a split, and that name."""
    regex = re.compile(re.escape(pattern).replace(re.escape(SPLIT), "([^/]+?)", 1))
    for folder in folders:
        match = regex.fullmatch(folder)
        if match and is_split(match[1]):
            yield folder, match[1]


def without(pairings: Sequence[Pairing], chosen_pairings: Sequence[Pairing]) -> tuple[str, ...]:
    """Returns patterns of files beside the chosen images and masks that are neither."""
    chosen = {(s.folder, s.affix) for r in chosen_pairings for s in (r.images, r.masks)}
    folders = {folder for folder, _ in chosen}
    others = {
        s.affix
        for r in pairings
        for s in (r.images, r.masks)
        if s.folder in folders
        and (s.folder, s.affix) not in chosen
        and role("".join(s.affix))
        and not s.pattern
    }
    return tuple(sorted(f"{a}{{id}}{b}" for a, b in others if (a, b) != ("", "")))
