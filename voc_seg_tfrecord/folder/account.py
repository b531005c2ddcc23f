"""Lists the files of a folder that a plan does not use.

Every image, possible mask, list and class file of a folder is used or stands in the account.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, counted
from voc_seg_tfrecord.core.layout import ENDINGS_BY_ROLE, ID, IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import channel_paths
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

_MAX_LINES = 12
"""Lines of an account that `describe` returns."""

_IDS_OF_IMAGES = "of images"
"""The end of the kind of a text that names images and makes no split: `5 ids of images`."""

_NAME_OF_ENDING = {
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".tif": "TIFF",
    ".npy": "array",
    ".txt": "text",
}
"""Names of kinds of files that their endings do not say."""

_NOUNS_OF_TWO_WORDS = ("instance mask", "class file")
"""The beginnings of kinds of which the second word has the plural."""

_MIN_NUMBERED_IMAGES = 3
_LAST_NUMBER = re.compile(r"(.*?)(\d+)(\D*)")

Account = Mapping[tuple[str, str], Sequence[str]]
"""The names of unused files, by their folder below the given one and by their kind.

The folder is empty for the given one. A kind is a singular noun and what else there is to say:
`image without a mask`, `class file`, `JPEG`, `4 ids of images`.
"""


def list_unused_files(
    tree: VocTree,
    used_ids: Collection[str],
    *,
    read: Iterable[str],
    ids_in_texts: Mapping[str, int],
    instances: bool,
) -> Account:
    """Returns the files of the given folder that a build does not use.

    Args:
      tree: the set.
      used_ids: the ids of all splits.
      read: the names of the lists and class files that are read, below the tree.
      ids_in_texts: how many images each text names that makes no split, by its path.
      instances: whether instance masks are read.
    """
    if tree.listing is None:
        return {}
    files = _FilesOfTree.of(tree, used_ids, instances=instances)
    known_names = _KnownNames(tree)
    used = files.used | {_path_below_given(tree, name) for name in read}
    account: dict[tuple[str, str], list[str]] = {}
    for folder, names_in_folder in tree.listing.files_by_folder.items():
        for name in names_in_folder:
            path = f"{folder}/{name}" if folder else name
            if path in used:
                continue
            if path in ids_in_texts:
                kind = f"{counted(ids_in_texts[path], 'id')} {_IDS_OF_IMAGES}"
            elif path in files.unused:
                kind = files.unused[path]
            else:
                kind = known_names.kind_of(path)
            if kind:
                account.setdefault((folder, kind), []).append(name)
    return account


def _path_below_given(tree: VocTree, name: str) -> str:
    """Returns the path below the given folder of what lies below the tree."""
    return posixpath.normpath(posixpath.join(tree.root_below_given, name))


@dataclasses.dataclass(frozen=True)
class _FilesOfTree:
    """The images and masks of a tree.

    Attributes:
      used: the paths of those of the ids in use, below the given folder.
      unused: the kinds of the others, by their paths.
    """

    used: set[str]
    unused: dict[str, str]

    @classmethod
    def of(cls, tree: VocTree, used_ids: Collection[str], *, instances: bool) -> "_FilesOfTree":
        """Sorts the images and masks of a tree by whether their ids are in use."""
        files = cls(set(), {})
        layout = tree.layout
        used_images = files._add(tree, used_ids, layout.images, "image", tree.images, tree.masks)
        if tree.channels > 1:
            for path in used_images:
                files.used.update(map(str, channel_paths(path, tree.channels)))
        files._add(tree, used_ids, layout.masks, "mask", tree.masks, tree.images)
        if instances:
            names = tree.instances
            files._add(tree, used_ids, layout.instances, "instance mask", names, tree.images)
        return files

    def _add(
        self,
        tree: VocTree,
        used_ids: Collection[str],
        folder: str,
        noun: str,
        names: Names,
        other_halves: Names,
    ) -> list[str]:
        """Adds the images, or the masks, of a tree; returns the paths of those in use.

        Args:
          tree: the set.
          used_ids: the ids of all splits.
          folder: the folder of the files, below the tree.
          noun: what each file is.
          names: the names of the files below their folder, by id.
          other_halves: the masks of images, or the images of masks.
        """
        top = _path_below_given(tree, folder)
        used_ids_of_files = names.find_ids(used_ids)
        missing_half = "a mask" if noun == "image" else "an image"
        paths_in_use: list[str] = []
        for image_id, name in names.items():
            below_top = posixpath.normpath(name) if "./" in name else name
            path = below_top if top == "." else f"{top}/{below_top}"
            if image_id in used_ids_of_files:
                paths_in_use.append(path)
            elif image_id in other_halves:
                self.unused.setdefault(path, f"{noun} in no split")
            else:
                self.unused.setdefault(path, f"{noun} without {missing_half}")
        self.used.update(paths_in_use)
        return paths_in_use


class _KnownNames:
    """Says by their names what files are that are neither images nor masks of a set.

    The names of images and masks are listed when the first such file is asked about.

    Args:
      tree: the set.
    """

    def __init__(self, tree: VocTree):
        self._tree = tree
        self._mask_folder = _path_below_given(tree, tree.layout.masks)
        self._instance_folder = _path_below_given(tree, tree.layout.instances)

    @functools.cached_property
    def _image_stems(self) -> set[str]:
        """The names of all images in the given folder, without their endings."""
        assert self._tree.listing
        stems: set[str] = set()
        for names in self._tree.listing.files_by_folder.values():
            images = [name for name in names if name.lower().endswith(ENDINGS_BY_ROLE["images"])]
            stems.update(map(_stem, images))
        return stems

    @functools.cached_property
    def _mask_stems(self) -> set[str]:
        """The names of the set's masks below their folder, likewise."""
        return set(map(_stem, self._tree.masks.values()))

    def kind_of(self, path: str) -> str:
        """Returns the kind of a file; empty if it does not count."""
        name = posixpath.basename(path)
        if name.lower().endswith(".json") and _stem(name) in self._image_stems:
            return "JSON with the name of an image"
        kind = _kind_of_ending(name)
        if kind == "PNG" and path.startswith(f"{self._instance_folder}/"):
            return "instance mask"
        if kind and _stem(posixpath.relpath(path, self._mask_folder)) in self._mask_stems:
            return f"{kind} with the name of a mask"
        return kind


def _stem(name: str) -> str:
    return posixpath.splitext(name)[0]


def _kind_of_ending(name: str) -> str:
    """Returns the kind of a file by its own name alone; empty if it does not count."""
    if name in CLASS_FILE_NAMES:
        return "class file"
    ending = posixpath.splitext(name)[1].lower()
    if ending in _NAME_OF_ENDING:
        return _NAME_OF_ENDING[ending]
    if ending in IMAGE_OR_MASK_ENDINGS:
        return ending[1:].upper()
    return ""


def describe(account: Account) -> list[str]:
    """Returns an account in words: a line for each folder and kind, and one for each text of ids.

    If there are many lines, the last one says how many files the others would name.
    """
    lines: list[str] = []
    counts: list[int] = []
    for (folder, kind), names in account.items():
        if kind.endswith(_IDS_OF_IMAGES):
            lines += [f"{posixpath.join(folder, name)}, {kind}" for name in names]
            counts += [1] * len(names)
        else:
            files = _describe_files(len(names), kind)
            lines.append(f"{folder or '.'}, {files}, such as {names[0]}")
            counts.append(len(names))
    shown = lines[:_MAX_LINES]
    unshown_count = sum(counts[_MAX_LINES:])
    if unshown_count:
        shown.append(f"{unshown_count:,} more files; --json lists all")
    return shown


def _describe_files(number: int, kind: str) -> str:
    """Returns a number of files of a kind: `3 images without a mask`."""
    for noun in _NOUNS_OF_TWO_WORDS:
        if kind.startswith(noun):
            return counted(number, noun) + kind.removeprefix(noun)
    noun, _, detail = kind.partition(" ")
    return f"{counted(number, noun)} {detail}".strip()


def check_numbers(tree: VocTree) -> None:
    """Checks that masks are not numbered from 1 while images are numbered from 0, or the like.

    By their names all of them but one would be pairs, and each image would get another's mask.

    Raises:
      LayoutError: if they are numbered so.
    """
    images_alone = tree.images.keys() - tree.masks.keys()
    masks_alone = tree.masks.keys() - tree.images.keys()
    no_name_fits = len(images_alone) == len(tree.images)
    if not images_alone or not masks_alone or no_name_fits:
        return
    image_numbers = _numbers_by_pattern(tree.images)
    mask_numbers = _numbers_by_pattern(tree.masks)
    for pattern in sorted(image_numbers.keys() & mask_numbers.keys()):
        images = sorted(image_numbers[pattern])
        masks = sorted(mask_numbers[pattern])
        if not _is_shifted(images, masks):
            continue
        options = command(**tree.layout.options(tree.root_below_given))
        raise LayoutError(
            tree.given,
            found=f"images {pattern} with the numbers {images[0]} to {images[-1]}, and as many "
            f"masks with {masks[0]} to {masks[-1]}, so each may get another's",
            expected="the same numbers for an image and its mask",
            remedy="rename the masks. If the names are right, and one image and one mask are "
            f"missing: {options}",
            kind="names of masks",
        )


def _numbers_by_pattern(ids: Iterable[str]) -> dict[str, list[int]]:
    """Returns the last number of each id, by the id with `{id}` in place of the number."""
    numbers: dict[str, list[int]] = {}
    for image_id in ids:
        match = _LAST_NUMBER.fullmatch(image_id)
        if match:
            before, number, after = match.groups()
            numbers.setdefault(f"{before}{ID}{after}", []).append(int(number))
    return numbers


def _is_shifted(images: Sequence[int], masks: Sequence[int]) -> bool:
    """Says whether sorted numbers of masks are those of images plus the same number."""
    if len(images) != len(masks) or len(images) < _MIN_NUMBERED_IMAGES:
        return False
    shifts = {mask - image for image, mask in zip(images, masks, strict=True)}
    return len(shifts) == 1 and 0 not in shifts
