"""What the user gave of a folder's layout, and the files that it allows to be images and masks."""

from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
import re
from typing import Literal

from voc_seg_tfrecord.core.class_masks import ClassMasks, find_class_masks
from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.core.layout import Naming
from voc_seg_tfrecord.folder.files.align import Affix
from voc_seg_tfrecord.folder.files.file_sets import (
    FileSet,
    PatternKey,
    PossibleSets,
    RoleEndings,
    list_file_sets,
)
from voc_seg_tfrecord.folder.files.folder_names import compile_with_split
from voc_seg_tfrecord.folder.files.paths import deepest_above, paths_below_any
from voc_seg_tfrecord.folder.looks import Looks
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing, is_at_or_below

Half = Literal["images", "masks"]
"""One of the two halves of a set, which is the name of the option for its folder too."""

MAX_LISTED_FOLDERS = 4
"""How many of the folders that one name means an error lists."""


@dataclasses.dataclass(frozen=True)
class NamedPath:
    """A folder that the user named; of `named_labels`, also a file of shapes.

    Attributes:
      part: the name that it was given, as `train` in `train=data/images`; mostly empty.
      path: the path below the root of the listing; empty for the root.
    """

    part: str
    path: str

    @property
    def item(self) -> str:
        """The item of an option that names it, such as `train=data/images`."""
        path = self.path or "."
        return f"{self.part}={path}" if self.part else path


@dataclasses.dataclass(frozen=True)
class GivenLayout:
    """A folder, and what the user gave of its layout.

    Attributes:
      listing: all that lies in the folder.
      options: the options of the layout that the user gave, by name; see `LAYOUT_OPTIONS`.
      endings: what names of images and masks end with. If bands are wanted, images may end with
        `.npy` too; if a threshold is given, masks may end as photos do.
      looks: what was seen of the files.
      photos: the paths of files that a labeling tool calls images, which are no masks.
    """

    listing: Listing
    options: Mapping[str, str]
    endings: RoleEndings
    looks: Looks
    photos: Set[str] = frozenset()

    @functools.cached_property
    def image_folders(self) -> list[NamedPath]:
        """The folders of images that the user named; none if the user named none."""
        return self._named("images")

    @functools.cached_property
    def mask_folders(self) -> list[NamedPath]:
        """The folders of masks, likewise."""
        return self._named("masks")

    @functools.cached_property
    def named_labels(self) -> list[NamedPath]:
        """What the option `masks` names: folders, and files of shapes such as `train.json`."""
        return self._named("masks", or_files=True)

    def ignore_folders(self) -> list[str]:
        """Returns the folders of ignore masks that the user named; none if the user named none.

        Raises:
          ConfigError: if there is no such folder, or it is the given folder itself.
        """
        folders = [named.path for named in self._named("ignore_masks")]
        if "" in folders:
            raise ConfigError(
                "option ignore_masks",
                found="the folder itself, in which images and masks lie",
                expected="a folder that holds ignore masks alone",
                remedy="put the ignore masks into a folder of their own, and name it",
            )
        return folders

    @property
    def image_name(self) -> str:
        """The pattern of the images' names that the user gave; empty if there is none."""
        return self.options.get("image_name", "")

    @property
    def mask_name(self) -> str:
        """The pattern of the masks' names, likewise."""
        return self.options.get("mask_name", "")

    @functools.cached_property
    def masks_of_classes(self) -> Sequence[ClassMasks]:
        """The masks of each class that the user named; none if the options name no classes."""
        folder = self._path_in_listing(self.options.get("masks", ""))
        if folder and self.listing.is_folder(folder):  # the name of a folder may have a `=`
            options = {**self.options, "masks": ""}
            return [
                dataclasses.replace(masks, folder=folder) for masks in find_class_masks(options)
            ]
        return find_class_masks(self.options)

    def _named(
        self, option: Half | Literal["ignore_masks"], *, or_files: bool = False
    ) -> list[NamedPath]:
        """Returns the folders that an option names: one, or several with commas between them.

        The name of a folder may have a comma or a `=`, as `split=train` has in folders of Hive. So
        an item has several readings; see `_read_item`. The first one whose path exists counts. If
        none exists, `_folders_ending_so` looks for folders with such an end of their paths.

        Args:
          option: the option.
          or_files: whether it may name files, too.

        Raises:
          ConfigError: if there is no such folder, several have the name of one part, or an item is
            empty, which would name the given folder itself: `photos,`.
        """
        text = self.options.get(option, "")
        if not text:
            return []
        exists = self._is_listed if or_files else self.listing.is_folder
        path = self._path_in_listing(text)
        if exists(path):
            return [NamedPath("", path)]
        items = text.split(",")
        if not all(item.strip() for item in items):
            raise ConfigError(
                f"option {option}",
                found=f"an empty name in {text!r}",
                expected="folders with one comma between two of them",
                remedy="remove the comma; write . for the given folder itself",
            )
        folders: list[NamedPath] = []
        for item in items:
            readings = [NamedPath(part, self._path_in_listing(p)) for part, p in _read_item(item)]
            existing = [reading for reading in readings if exists(reading.path)]
            folders += existing[:1] or self._folders_ending_so(option, readings)
        return folders

    def _folders_ending_so(self, option: str, readings: Sequence[NamedPath]) -> list[NamedPath]:
        """Returns the folders, anywhere, whose paths end with the path of the first reading.

        If there are none, the next reading counts.

        `{split}` stands for any one name in the path of a reading.

        Raises:
          ConfigError: if there is none, or several have the name of one part.
        """
        for reading in readings:
            pattern = re.compile(f"(.*/)?{compile_with_split(reading.path).pattern}")
            folders = [path for path in self.listing.files_by_folder if pattern.fullmatch(path)]
            if reading.part and len(folders) > 1:
                raise ConfigError(
                    f"option {option}",
                    found=f"{len(folders)} folders {reading.path!r} for the part {reading.part!r}: "
                    + ", ".join(folders[:MAX_LISTED_FOLDERS]),
                    expected=f"one folder, relative to {self.listing.root}",
                    remedy="give the whole path of the folder",
                )
            if folders:
                return [NamedPath(reading.part, folder) for folder in folders]
        path = readings[-1].path
        raise ConfigError(
            f"option {option}",
            found=f"no folder {path!r} in {self.listing.root}"
            + did_you_mean(path, self.listing.files_by_folder),
            expected=f"the folder of {option}, relative to {self.listing.root}",
            remedy="check the name",
        )

    def _path_in_listing(self, text: str) -> str:
        """Returns a path that the user gave as the listing has it; empty for the root.

        The user may give it with the root; if the root holds a folder of its own name, the path is
        one below the root. A link to a listed folder is left out of the listing, as each folder is
        listed once, so the path is that of the listed one.
        """
        path = posixpath.normpath(text.strip().replace("\\", "/"))
        root = posixpath.normpath(str(self.listing.root))
        first_name = path.partition("/")[0]
        if not first_name or first_name not in self.listing.files_by_folder:
            for root_as_given in (root, posixpath.abspath(root)):
                if is_at_or_below(path, root_as_given):
                    path = posixpath.relpath(path, root_as_given)
                    break
        for link, target in self.listing.links.items():
            if is_at_or_below(path, link):
                real_path = target + path.removeprefix(link)
                path = real_path.removeprefix(f"{posixpath.realpath(root)}/")
                break
        return "" if path == "." else path

    def _is_listed(self, path: str) -> bool:
        """Says whether a path is that of a listed file or folder."""
        folder, name = posixpath.split(path)
        is_file = name in self.listing.files_by_folder.get(folder, ())
        return is_file or self.listing.is_folder(path)

    def label_paths(self) -> list[str]:
        """Returns the files that the option `masks` means: those in its folders; without it, all.

        Raises:
          ConfigError: if there is no such file or folder.
        """
        tops = [named.path for named in self.named_labels] or [""]
        return paths_below_any(self.listing.below(), tops)

    @functools.cached_property
    def paths_of_named(self) -> Mapping[Half, Set[str]]:
        """The paths of the folders of each half that the user named; the root if none are."""
        folders: dict[Half, list[NamedPath]] = {
            "images": self.image_folders,
            "masks": self.mask_folders,
        }
        return {half: {each.path for each in named} or {""} for half, named in folders.items()}

    def path_below_named(self, half: Half, folder: str) -> str | None:
        """Returns the path of a folder below the one that the user named; None if outside of it.

        If the user named none, all lie below the root.
        """
        top = deepest_above(folder, self.paths_of_named[half])
        return None if top is None else folder.removeprefix(top).strip("/")

    def is_named(self, half: Half, folder: str) -> bool:
        """Says whether the user named a folder, or one that it lies in.

        If the user named none, all are meant.
        """
        return self.path_below_named(half, folder) is not None

    @functools.cached_property
    def all_sets(self) -> PossibleSets:
        """All sets of files that may be images, and those that may be masks.

        They are kept with the listing, because each alternative of a question needs them.
        """
        kept = self.listing.kept_sets
        if self.endings not in kept:
            kept[self.endings] = list_file_sets(self.listing, self.endings)
        return kept[self.endings]

    def allowed_sets(self) -> PossibleSets:
        """Returns the sets in the folders and with the names that the user gave; no empty ones.

        If the user gave only how masks are named, files of these names are no images.
        """
        images: Sequence[FileSet] = self.all_sets.images
        masks: Sequence[FileSet] = self.all_sets.masks
        paths_of_masks: set[str] = set()
        if self.image_name:
            images = self._sets_of_pattern(self.image_name, self.endings.images)
        elif self.mask_name:
            naming = Naming.parse(self.mask_name)
            for files in images:
                stems = [stem for stem, name in files.names.items() if naming.id_of(name)]
                paths_of_masks.update(map(files.path, stems))
        if self.mask_name:
            masks = self._sets_of_pattern(self.mask_name, self.endings.masks)
        return PossibleSets(
            images=self._in_named_folders("images", images, paths_of_masks),
            masks=self._in_named_folders("masks", masks, self.photos),
        )

    def _in_named_folders(
        self, half: Half, sets: Sequence[FileSet], left_out: Set[str]
    ) -> list[FileSet]:
        """Returns the sets in the folders that the user named; no empty ones.

        Args:
          half: which of them the folders are for.
          sets: the sets of files in all folders.
          left_out: the paths of files that are left out of the sets.
        """
        allowed: list[FileSet] = []
        for files in sets:
            names = files.names
            if left_out:
                names = {s: name for s, name in names.items() if files.path(s) not in left_out}
            if names and self.is_named(half, files.folder):
                allowed.append(dataclasses.replace(files, names=names) if left_out else files)
        return allowed

    def _sets_of_pattern(self, pattern: str, endings: Sequence[str]) -> list[FileSet]:
        """Returns the files of each folder that are named by a pattern, by their ids."""
        naming = Naming.parse(pattern)
        affix = Affix(naming.prefix, naming.suffix)
        sets: list[FileSet] = []
        for folder, files in self.listing.files_by_folder.items():
            name_by_id: dict[str, str] = {}
            for name in files:
                image_id = naming.id_of(name) if ending_of(name) in endings else None
                if image_id:
                    name_by_id[image_id] = name
            sets.append(FileSet(folder, name_by_id, affix, PatternKey(pattern)))
        return sets

    def lists_path(self) -> str | None:
        """Returns the folder of lists, or the list, that the user named; None if there is none.

        Raises:
          ConfigError: if it is not there.
        """
        text = self.options.get("lists")
        if text is None:
            return None
        path = self._path_in_listing(text)
        if not self._is_listed(path):
            raise ConfigError(
                "option lists",
                found=f"no folder or file {text!r} in {self.listing.root}",
                expected=f"the folder of lists, or one list, relative to {self.listing.root}",
                remedy="check the name",
            )
        return path


def _read_item(item: str) -> list[tuple[str, str]]:
    """Returns the readings of an item of an option: the part and the path that each gives.

    The first is a path without a part. The others are cut at one `=` each, the first `=` first:
    `a=split=train` may be the part `a` in `split=train`, or the part `a=split` in `train`.
    """
    readings = [("", item)]
    for position, character in enumerate(item):
        if character == "=" and item[position + 1 :].strip():
            readings.append((item[:position], item[position + 1 :]))
    return readings
