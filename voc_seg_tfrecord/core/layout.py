"""The names of a VOC layout's folders, and patterns of file names in them."""

import dataclasses
import functools
import posixpath
from typing import Self

from voc_seg_tfrecord.core.errors import ConfigError, several
from voc_seg_tfrecord.core.id_lists import IMAGE_ENDINGS

MASK_ENDINGS = (".png", ".npy", ".bmp", ".tif", ".tiff", ".gif")
"""Endings, in lower case, that make a file in a mask folder a mask."""

IMAGE_OR_ARRAY_ENDINGS = (*IMAGE_ENDINGS, ".npy")
"""Endings of images where bands are wanted."""

LAYOUT_OPTIONS = ("images", "masks", "lists", "image_name", "mask_name")
"""The options that say how a folder is laid out."""

PHOTO_ENDINGS = tuple(ending for ending in IMAGE_ENDINGS if ending not in MASK_ENDINGS)
"""Endings of images that cannot be masks: JPEG, WebP."""

SOFT_MASK_ENDINGS = (*MASK_ENDINGS, *PHOTO_ENDINGS)
"""Endings of masks where a threshold is given, so that a JPEG may be one."""

IMAGE_OR_MASK_ENDINGS = frozenset((*IMAGE_ENDINGS, *MASK_ENDINGS))
"""Endings of files that may be an image or a mask."""

PATTERN_ENDINGS = IMAGE_OR_MASK_ENDINGS | {".json", ".txt", ".xml"}
"""Endings that a pattern may have: of images, masks and polygons."""

# In patterns of file names: the id, or its two parts if something stands between them.
ID = "{id}"
FIRST_PART = "{a}"
SECOND_PART = "{b}"

SPLIT = "{split}"
"""In the folders that a user names: the name of a split."""

IMAGES = "JPEGImages"
MASKS = "SegmentationClass"
LISTS = "ImageSets/Segmentation"

MASK_FOLDERS = (MASKS, "SegmentationClassPNG", "SegmentationClassAug", "SegmentationClassRaw")
"""Names of mask folders, in the order in which they are tried."""


@dataclasses.dataclass(frozen=True)
class Naming:
    """A pattern of file names: what stands around the id.

    There are three kinds of patterns, by how they write the id:

    | pattern | fields | name | id |
    | --- | --- | --- | --- |
    | `gt_{id}_m.png` | prefix `gt_`, suffix `_m` | `gt_a_m.png` | `a` |
    | `{a}_road_{b}.png` | infix `_road_` | `um_road_000000.png` | `um_000000` |
    | `{id}/images/{id}.png` | between_ids `/images/` | `a/images/a.png` | `a` |

    Attributes:
      prefix: what stands before the id.
      suffix: what stands between the id and the ending.
      ending: the ending, in lower case; empty means any.
      names_folders: whether the pattern has a `/`. Then it is compared with the complete path
        below the folder of images or masks. Otherwise it is compared with the file's own name, and
        the folders before that name belong to the id.
      infix: what stands between the two parts of an id of the second kind; empty of other kinds.
      between_ids: what stands between the id and the same id of the third kind, likewise.
    """

    prefix: str = ""
    suffix: str = ""
    ending: str = ""
    names_folders: bool = False
    infix: str = ""
    between_ids: str = ""

    @classmethod
    def parse(cls, pattern: str, option: str = "mask_name") -> Self:
        """Reads a pattern.

        Args:
          pattern: a name with one `{id}` in it, with or without an ending: `gt_{id}.png`; or
            with the two parts of the id: `{a}_road_{b}.png`; or a path that has the id twice:
            `{id}/images/{id}.png`.
          option: for the error.

        Raises:
          ConfigError: if there is no id, or another one, or the pattern leaves the folder.
        """
        if not _has_one_id(pattern) or SPLIT in pattern or not _is_below_folder(pattern):
            raise ConfigError(
                f"option {option}",
                found=repr(pattern),
                expected=f"a file name with one {ID} where the id stands, such as gt_{ID}.png",
                remedy="change the pattern",
            )
        prefix, infix, suffix = _cut_pattern(pattern)
        between_ids = ""
        if ID in suffix:
            between_ids, _, suffix = suffix.partition(ID)
        names_folders = "/" in pattern
        stem, dot, ending = suffix.rpartition(".")
        if f".{ending.lower()}" in PATTERN_ENDINGS:
            return cls(prefix, stem, dot + ending.lower(), names_folders, infix, between_ids)
        # `{id}.orig` has no ending.
        return cls(prefix, suffix, "", names_folders, infix, between_ids)

    @property
    def narrowness(self) -> tuple[int, int]:
        """How much of a name the pattern gives; of two patterns that fit, the larger one counts.

        First the number of characters around the id, then that of the ending.
        """
        return len(self._text_around_id), len(self.ending)

    @property
    def _text_around_id(self) -> str:
        return self.prefix + self.infix + self.between_ids + self.suffix

    def id_of(self, name: str) -> str | None:
        """Returns the id of a file by its name below its folder; None if it does not fit."""
        stem, _, ending = name.rpartition(".")
        if stem == "" or "/" in ending:  # it has no ending
            stem = name
            ending = ""
        if self.ending and f".{ending.lower()}" != self.ending:
            return None
        return self._id_of_stem(stem)

    def _id_of_stem(self, stem: str) -> str | None:
        """Returns the id in a name without its ending; None if the name does not fit."""
        if not self._text_around_id:
            names_a_file = stem != "" and not stem.endswith("/")
            return stem if names_a_file else None
        folders, name = self._split_off_folders(stem)
        if not name.startswith(self.prefix) or not name.endswith(self.suffix):
            return None
        inner_name = name[len(self.prefix) : len(name) - len(self.suffix)]
        if self.infix:
            image_id = _join_parts(inner_name, self.infix)
        elif self.between_ids:
            image_id = _first_of_two(inner_name, self.between_ids)
        else:
            image_id = inner_name
        return folders + image_id if image_id else None

    def _split_off_folders(self, stem: str) -> tuple[str, str]:
        """Returns the folders before what is compared with the pattern, and what is compared."""
        if self.names_folders:
            return "", stem
        folder, slash, last = stem.rpartition("/")
        return folder + slash, last

    def __str__(self) -> str:
        image_id = f"{FIRST_PART}{self.infix}{SECOND_PART}" if self.infix else ID
        if self.between_ids:
            image_id = f"{ID}{self.between_ids}{ID}"
        return f"{self.prefix}{image_id}{self.suffix}{self.ending}"


def _join_parts(name: str, infix: str) -> str:
    """Returns the two parts of an id as one; empty if the infix is not between them.

    One sign of the infix stays: `um_road_000000` becomes `um_000000`.
    """
    first_part, _, second_part = name.partition(infix)
    if not first_part or not second_part:
        return ""
    return f"{first_part}{_joint_of(infix)}{second_part}"


def _first_of_two(name: str, between_ids: str) -> str:
    """Returns the id of a name that has it twice; empty if the two are not the same."""
    length = (len(name) - len(between_ids)) // 2
    image_id = name[:length]
    return image_id if name == f"{image_id}{between_ids}{image_id}" else ""


def _joint_of(infix: str) -> str:
    """Returns the sign that joins two parts of an id when what is between them goes."""
    for sign in (infix[:1], infix[-1:]):
        if sign and not sign.isalnum():
            return sign
    return ""


def _is_below_folder(pattern: str) -> bool:
    """Says whether a pattern can be the path of a file below a folder."""
    is_absolute = pattern.startswith("/")
    return "\\" not in pattern and not is_absolute and ".." not in pattern.split("/")


def _has_one_id(pattern: str) -> bool:
    """Says whether a pattern has one id.

    That is one `{id}`, two of them in a folder's name and in the file's, or `{a}` and `{b}` with
    something between them.
    """
    id_count = pattern.count(ID)
    part_counts = (pattern.count(FIRST_PART), pattern.count(SECOND_PART))
    if id_count == 0:
        _, infix, _ = _cut_pattern(pattern)
        return part_counts == (1, 1) and infix != ""
    if part_counts != (0, 0):
        return False
    if id_count == 2:
        _, between_ids, _ = pattern.split(ID)
        return "/" in between_ids
    return id_count == 1


def _cut_pattern(pattern: str) -> tuple[str, str, str]:
    """Returns what a pattern has before an id, between its two parts, and behind it."""
    if ID in pattern:
        prefix, _, suffix = pattern.partition(ID)
        return prefix, "", suffix
    prefix, _, rest = pattern.partition(FIRST_PART)
    infix, _, suffix = rest.partition(SECOND_PART)
    return prefix, infix, suffix


ANY = Naming()


@dataclasses.dataclass(frozen=True)
class Part:
    """One of several parts of a set, such as a split that has its own folders.

    Attributes:
      name: the part's name, such as `train`; all its ids are below it, as `train/a` is. It is empty
        if the set is not divided into parts.
      images: its folder of images, below the root.
      masks: its folder of masks, likewise.
      image_name: pattern of its images' names; empty means `{id}`.
      mask_name: pattern of its masks' names, likewise.
    """

    name: str
    images: str
    masks: str
    image_name: str = ""
    mask_name: str = ""

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.images == self.masks

    @property
    def image_naming(self) -> Naming:
        """What images' names have around their id."""
        return Naming.parse(self.image_name, "image_name") if self.image_name else ANY

    @property
    def mask_naming(self) -> Naming:
        """What masks' names have around their id."""
        return Naming.parse(self.mask_name, "mask_name") if self.mask_name else ANY


@dataclasses.dataclass(frozen=True)
class Layout:
    """Where the files of a set lie below its root, and how they are named; by default as VOC's.

    It gives options and words for messages. `folder.tree.set_files` finds the files.

    Attributes:
      root: the root, below the folder that the user gave; empty for this folder.
      images: the folder of images. If there are parts, which have folders of their own, it is `.`.
      masks: the folder of masks, likewise.
      image_name: pattern of the images' names, such as `image_{id}.jpg`; empty means `{id}`.
      mask_name: pattern of the masks' names, such as `gt_{id}.png`, likewise.
      lists: the folder of id lists; empty means the root.
      instances: the folder of instance masks.
      annotations: the folder of XML files.
      parts: the parts of a set that has several.
      options_of_classes: the options `masks` and `mask_name` as the user gave them, if they name
        the masks of each class.
    """

    images: str = IMAGES
    masks: str = MASKS
    image_name: str = ""
    mask_name: str = ""
    _: dataclasses.KW_ONLY
    root: str = ""
    lists: str = LISTS
    instances: str = "SegmentationObject"
    annotations: str = "Annotations"
    parts: tuple[Part, ...] = ()
    options_of_classes: tuple[tuple[str, str], ...] = ()

    def folders(self) -> list[Part]:
        """Returns the parts; of a set without parts, one part that is the complete set."""
        complete_set = Part("", self.images, self.masks, self.image_name, self.mask_name)
        return list(self.parts) or [complete_set]

    def options(self) -> dict[str, str]:
        """Returns the options that give this layout."""
        options = {}
        for option in ("images", "masks"):
            values = []
            for part in self.folders():
                folder = posixpath.normpath(posixpath.join(self.root, getattr(part, option)))
                values.append(f"{part.name}={folder}" if part.name else folder)
            options[option] = ",".join(values)
        for option in ("image_name", "mask_name"):
            names = {getattr(part, option) for part in self.folders()}
            is_one_pattern = len(names) == 1 and names != {""}
            if is_one_pattern:
                options[option] = names.pop()
        if self.options_of_classes:
            options.pop("masks")
            options.update(self.options_of_classes)
        return options

    def belongs_with_its_subfolders(self, folder: str) -> bool:
        """Says whether files in folders below a folder of the layout belong to it too.

        They do unless another folder of the layout is there.
        """
        return folder not in self._folders_above_others

    @functools.cached_property
    def _folders_above_others(self) -> frozenset[str]:
        """The folders that have another folder of images or masks below them."""
        above = set()
        for part in self.folders():
            for folder in (part.images, part.masks):
                if folder == ".":
                    continue
                above.add(".")
                while "/" in folder:
                    folder = posixpath.dirname(folder)
                    above.add(folder)
        return frozenset(above)

    def describe(self, which: str) -> str:
        """Returns the folders of `images` or `masks` in words: `train/masks, val/masks`."""
        return several(getattr(part, which) for part in self.folders())


VOC = Layout()
