"""What the user said of a folder by options: its folders, its patterns, its lists."""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.base.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.own_data.file_sets import FileSet, ending_of, file_sets
from voc_seg_tfrecord.trees.layout import MASK_SUFFIXES, SPLIT, Layout, Naming, Part
from voc_seg_tfrecord.trees.listing import Listing


@dataclasses.dataclass(frozen=True)
class Said:
    """A folder, and what the user said of it.

    Attributes:
      listing: all that lies in the folder.
      options: the fields of the layout that the user gave.
      endings: what names of images end with.
    """

    listing: Listing
    options: Mapping[str, str]
    endings: Sequence[str]

    @property
    def wants_bands(self) -> bool:
        """Whether bands are wanted, so that arrays may be images."""
        return ".npy" in self.endings

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
            images = [_without_masks(files, Naming.parse(mask_name)) for files in images]
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

    def layout(self) -> Layout:
        """Returns the layout of patterns that name folders, which need no reading."""
        tops = [named[0][1] if named else "" for named in (self.images, self.masks)]
        names, of_split = list[str](), dict[str, list[str]]()
        for top, option in zip(tops, ("image_name", "mask_name"), strict=True):
            pattern = self.options.get(option, "")
            folder, _, name = pattern.rpartition("/")
            if SPLIT not in folder:
                names.append(pattern)
                continue
            names.append(name)
            wanted = re.escape(posixpath.join(top, folder)).replace(re.escape(SPLIT), "([^/]+?)", 1)
            for path in self.listing.folders:
                if match := re.fullmatch(wanted, path):
                    of_split.setdefault(match[1], []).append(path)
        parts = [Part(n, *f, *names) for n, f in sorted(of_split.items()) if len(f) == 2]
        if parts:
            return Layout(".", ".", parts=tuple(parts))
        return Layout(tops[0] or ".", tops[1] or ".", names[0], names[1])

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


def _without_masks(files: FileSet, naming: Naming) -> FileSet:
    names = {stem: name for stem, name in files.names.items() if not naming.id_of(name)}
    return dataclasses.replace(files, names=names)


def deepest(folder: str, tops: Sequence[str]) -> str | None:
    """Returns the deepest of some folders that has a folder, None if none has."""
    having = [t for t in tops if not t or folder == t or folder.startswith(f"{t}/")]
    return max(having, key=len, default=None)
