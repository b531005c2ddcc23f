"""What the user said of a folder by options: its folders, its patterns, its lists."""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.base.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.own_data.file_sets import FileSet, ending_of
from voc_seg_tfrecord.trees.layout import SPLIT, Layout, Naming, Part
from voc_seg_tfrecord.trees.listing import Listing


@dataclasses.dataclass(frozen=True, eq=False)
class Said:
    """A folder, and what the user said of it.

    Attributes:
      listing: what the folder holds.
      options: the fields of the layout that were given.
      endings: what names of images end with.
    """

    listing: Listing
    options: Mapping[str, str]
    endings: Sequence[str]

    @functools.cached_property
    def images(self) -> list[tuple[str, str]]:
        """The folders of images that were named; see `said_folders`."""
        return said_folders(self.listing, self.options, "images")

    @functools.cached_property
    def masks(self) -> list[tuple[str, str]]:
        """The folders of masks that were named."""
        return said_folders(self.listing, self.options, "masks")

    @property
    def wants_bands(self) -> bool:
        """Whether images may be arrays, or one file for each band."""
        return ".npy" in self.endings


def said_folders(listing: Listing, said: Mapping[str, str], option: str) -> list[tuple[str, str]]:
    """Returns the folders that an option names, each with the name of its part if it has one.

    Raises:
      ConfigError: if there is no such folder.
    """
    text = said.get(option, "")
    if not text or listing.is_folder(resolved(listing, text)):
        return [("", resolved(listing, text))] if text else []
    folders: list[tuple[str, str]] = []
    for item in text.split(","):
        name, _, path = item.rpartition("=")
        path = resolved(listing, path)
        if listing.is_folder(path):
            folders.append((name, path))
            continue
        pattern = re.compile("(.*/)?" + re.escape(path).replace(re.escape(SPLIT), "[^/]+"))
        there = [("", f) for f in listing.folders if path and pattern.fullmatch(f)]
        if not there:
            raise ConfigError(
                f"option {option}",
                found=f"no folder {path!r} in {listing.root}{did_you_mean(path, listing.folders)}",
                expected=f"the folder of {option}, relative to {listing.root}",
                remedy="check the name",
            )
        folders += there
    return folders


def resolved(listing: Listing, text: str) -> str:
    """Returns a path as the listing has it; linked folders by the name under which they are."""
    path = posixpath.normpath(text.strip().replace("\\", "/"))
    # A folder may hold one of its own name, and what is said is relative to the outer one.
    if path.partition("/")[0] not in listing.folders:
        path = path.removeprefix(f"{listing.root}/")
    inside = f"{posixpath.realpath(str(listing.root))}/"
    for link, to in listing.links.items():
        if f"{path}/".startswith(f"{link}/"):
            path = (to + path[len(link) :]).removeprefix(inside)
    return "" if path == "." else path


def as_said(said: Said) -> Layout:
    """Returns the layout of patterns that name folders, which need no reading."""
    tops = [named[0][1] if named else "" for named in (said.images, said.masks)]
    names, of_split = list[str](), dict[str, list[str]]()
    for top, option in zip(tops, ("image_name", "mask_name"), strict=True):
        folder, _, name = said.options.get(option, "").rpartition("/")
        if SPLIT not in folder:
            names.append(said.options.get(option, ""))
            continue
        names.append(name)
        wanted = re.escape(posixpath.join(top, folder)).replace(re.escape(SPLIT), "([^/]+?)", 1)
        for path in said.listing.folders:
            if match := re.fullmatch(wanted, path):
                of_split.setdefault(match[1], []).append(path)
    parts = [Part(n, *f, *names) for n, f in sorted(of_split.items()) if len(f) == 2]
    if parts:
        return Layout(".", ".", parts=tuple(parts))
    return Layout(tops[0] or ".", tops[1] or ".", names[0], names[1])


def deepest(folder: str, tops: Sequence[str]) -> str | None:
    """Returns the deepest of some folders that has a folder, None if none has."""
    having = [t for t in tops if not t or folder == t or folder.startswith(f"{t}/")]
    return max(having, key=len, default=None)


def said_lists(listing: Listing, said: Mapping[str, str]) -> str | None:
    """Returns the folder of lists, or the file, that the user said; None if he said none.

    Raises:
      ConfigError: if it is not there.
    """
    if "lists" not in said:
        return None
    path = resolved(listing, said["lists"])
    folder, name = posixpath.split(path)
    if not listing.is_folder(path) and name not in listing.folders.get(folder, ()):
        raise ConfigError(
            "option lists",
            found=f"no folder or file {said['lists']!r} in {listing.root}",
            expected=f"the folder of lists, or one file of them, relative to {listing.root}",
            remedy="check the name",
        )
    return path


def sets_of_pattern(
    listing: Listing, folders: Iterable[str], pattern: str, endings: Sequence[str]
) -> list[FileSet]:
    """Returns the sets of files in folders that are named as the user says."""
    naming = Naming.parse(pattern)
    sets = []
    for folder in folders:
        names = (n for n in listing.folders[folder] if ending_of(n) in endings)
        by_id = {image_id: name for name in names if (image_id := naming.id_of(name))}
        affix = naming.prefix, naming.suffix
        sets += [FileSet(folder, by_id, affix, naming.ending, pattern)] if by_id else []
    return sets
