"""Lists the files of a folder that a plan does not use.

Every image, possible mask, list and class file of a folder is used or stands in the account.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
import dataclasses
import functools
import posixpath
from typing import TypeAlias

from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.layout import ENDINGS_BY_ROLE, IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.folder.by_name import without_any_ending
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.pairs import channel_paths
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree, join_paths, path_below_given
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

_MAX_LINES = 12
"""Lines of an account that `describe` returns."""

_NAME_OF_ENDING = {
    ".jpg": "JPEG",
    ".jpeg": "JPEG",
    ".jpe": "JPEG",
    ".tif": "TIFF",
    ".npy": "array",
    ".txt": "text",
}
"""What files are whose endings do not say it themselves."""


@dataclasses.dataclass(frozen=True)
class _AccountLine:
    """A line of an account in words.

    Attributes:
      text: the line.
      file_count: how many files it stands for.
    """

    text: str
    file_count: int


@dataclasses.dataclass(frozen=True)
class UnusedFiles:
    """What unused files are: `image without a mask`, `class file`, `JPEG`.

    Attributes:
      noun: a singular noun.
      detail: what follows the noun; empty if nothing does.
    """

    noun: str
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.noun} {self.detail}".strip()

    def describe(self, folder: str, names: Sequence[str]) -> list[_AccountLine]:
        """Returns one line for all files: `photos, 3 images without a mask, such as 1.jpg`."""
        files = f"{counted(len(names), self.noun)} {self.detail}".strip()
        return [_AccountLine(f"{folder or '.'}, {files}, such as {names[0]}", len(names))]


@dataclasses.dataclass(frozen=True)
class TextOfIds:
    """What a text is that names images and makes no split: `4 ids of images`.

    Attributes:
      id_count: how many images it names.
    """

    id_count: int

    def __str__(self) -> str:
        return f"{counted(self.id_count, 'id')} of images"

    def describe(self, folder: str, names: Sequence[str]) -> list[_AccountLine]:
        """Returns one line for each text: `lists/night.txt, 4 ids of images`."""
        return [_AccountLine(f"{posixpath.join(folder, name)}, {self}", 1) for name in names]


UnusedKind: TypeAlias = UnusedFiles | TextOfIds

_MASK_WITHOUT_IMAGE = UnusedFiles("mask", "without an image")


@dataclasses.dataclass(frozen=True)
class UnusedGroup:
    """The unused files of one kind in one folder.

    Attributes:
      folder: the folder below the given one; empty for the given one.
      kind: what the files are.
    """

    folder: str
    kind: UnusedKind


Account = Mapping[UnusedGroup, Sequence[str]]
"""The names of the unused files of each group."""


def list_unused_files(
    tree: VocTree,
    used_ids: Collection[str],
    *,
    read: Iterable[str],
    ids_in_texts: Mapping[str, int],
    replaced_masks: Collection[str],
    instances: bool,
) -> Account:
    """Returns the files of the given folder that a build does not use.

    Args:
      tree: the set.
      used_ids: the ids of all splits.
      read: the names of the lists and class files that are read, below the tree.
      ids_in_texts: how many images each text names that makes no split, by its path.
      replaced_masks: the paths of masks whose images have other masks, because texts state them.
      instances: whether instance masks are read.
    """
    if tree.listing is None:
        return {}
    files = _sort_by_use(tree, used_ids, instances=instances)
    known_names = _KnownNames(tree)
    used_paths = files.used_paths | {path_below_given(tree, name) for name in read}

    def find_kind(path: str) -> UnusedKind | None:
        """Returns what an unused file is; None if it does not count.

        The first of the four that knows the path decides.
        """
        if path in ids_in_texts:
            return TextOfIds(ids_in_texts[path])
        if path in replaced_masks:
            return _MASK_WITHOUT_IMAGE
        if path in files.kind_by_unused_path:
            return files.kind_by_unused_path[path]
        return known_names.kind_of(path)

    account: dict[UnusedGroup, list[str]] = {}
    for folder, names_in_folder in tree.listing.files_by_folder.items():
        for name in names_in_folder:
            path = f"{folder}/{name}" if folder else name
            if path in used_paths:
                continue
            kind = find_kind(path)
            if kind is not None:
                account.setdefault(UnusedGroup(folder, kind), []).append(name)
    return account


@dataclasses.dataclass(frozen=True)
class _TreePart:
    """The images, the masks or the instance masks of a tree.

    Attributes:
      noun: what each file is.
      folder: their folder, below the given one.
      names: the names of the files below their folder, by id.
      partner_names: the masks of images, or the images of masks.
      words_without_partner: what a file without a partner is: `without a mask` for an image.
      files: the id and the name of each file, of which an id may have several.
    """

    noun: str
    folder: str
    names: Names
    partner_names: Names
    words_without_partner: str
    files: Iterable[tuple[str, str]]

    def unused_kind(self, image_id: str) -> UnusedKind:
        """Returns the kind of a file whose id is in no split."""
        if image_id in self.partner_names:
            return UnusedFiles(self.noun, "in no split")
        return UnusedFiles(self.noun, self.words_without_partner)


def _list_parts(tree: VocTree, *, instances: bool) -> list[_TreePart]:
    """Returns the parts of a tree that a build reads."""
    layout = tree.layout
    image_folder = path_below_given(tree, layout.images)
    mask_folder = path_below_given(tree, layout.masks)
    parts = [
        _TreePart(
            noun="image",
            folder=image_folder,
            names=tree.images,
            partner_names=tree.masks,
            words_without_partner="without a mask",
            files=tree.images.items(),
        ),
        _TreePart(
            noun="mask",
            folder=mask_folder,
            names=tree.masks,
            partner_names=tree.images,
            words_without_partner="without an image",
            files=tree.labels.list_files(),
        ),
    ]
    if instances:
        parts.append(
            _TreePart(
                noun="instance mask",
                folder=path_below_given(tree, layout.instances),
                names=tree.instances,
                partner_names=tree.images,
                words_without_partner="without an image",
                files=tree.instances.items(),
            )
        )
    return parts


@dataclasses.dataclass
class _FilesByUse:
    """The images and masks of a tree, by their paths below the given folder.

    Attributes:
      used_paths: those of ids that are in splits.
      kind_by_unused_path: the others.
    """

    used_paths: set[str]
    kind_by_unused_path: dict[str, UnusedKind]


def _sort_by_use(tree: VocTree, used_ids: Collection[str], *, instances: bool) -> _FilesByUse:
    """Sorts the images and masks of a tree by whether their ids are in splits."""
    used_paths: set[str] = set()
    kind_by_unused_path: dict[str, UnusedKind] = {}
    for part in _list_parts(tree, instances=instances):
        used_ids_of_part = part.names.find_ids(used_ids)
        for image_id, name in part.files:
            path = join_paths(part.folder, name)
            if image_id not in used_ids_of_part:
                kind_by_unused_path.setdefault(path, part.unused_kind(image_id))
                continue
            used_paths.add(path)
            if part.noun == "image" and tree.channels > 1:
                used_paths.update(map(str, channel_paths(path, tree.channels)))
    return _FilesByUse(used_paths, kind_by_unused_path)


class _KnownNames:
    """Says by their names what files are that are neither images nor masks of a set.

    The names of images and masks are listed when the first such file is asked about.

    Args:
      tree: the set.
    """

    def __init__(self, tree: VocTree):
        self._tree = tree
        self._mask_folder = path_below_given(tree, tree.layout.masks)
        self._instance_folder = path_below_given(tree, tree.layout.instances)

    @functools.cached_property
    def _image_stems(self) -> set[str]:
        """The names of all images in the given folder, without their endings."""
        assert self._tree.listing
        stems: set[str] = set()
        for names in self._tree.listing.files_by_folder.values():
            images = [name for name in names if name.lower().endswith(ENDINGS_BY_ROLE["images"])]
            stems.update(map(without_any_ending, images))
        return stems

    @functools.cached_property
    def _mask_stems(self) -> set[str]:
        """The names of the set's masks below their folder, likewise."""
        return set(map(without_any_ending, self._tree.masks.values()))

    def kind_of(self, path: str) -> UnusedKind | None:
        """Returns the kind of a file; None if it does not count."""
        name = posixpath.basename(path)
        if name.lower().endswith(".json") and without_any_ending(name) in self._image_stems:
            return UnusedFiles("JSON", "with the name of an image")
        noun = _noun_of_file(name)
        if noun is None:
            return None
        if noun == "PNG" and path.startswith(f"{self._instance_folder}/"):
            return UnusedFiles("instance mask")
        if without_any_ending(self._path_below_masks(path)) in self._mask_stems:
            return UnusedFiles(noun, "with the name of a mask")
        return UnusedFiles(noun)

    def _path_below_masks(self, path: str) -> str:
        """Returns a path relative to the folder of masks.

        The path of a file in it is cut: `relpath` looks up the working directory for each.
        """
        if self._mask_folder == ".":
            return path
        if path.startswith(f"{self._mask_folder}/"):
            return path.removeprefix(f"{self._mask_folder}/")
        return posixpath.relpath(path, self._mask_folder)


def _noun_of_file(name: str) -> str | None:
    """Returns what a file is by its own name alone; None if it does not count."""
    if name in CLASS_FILE_NAMES:
        return "class file"
    ending = ending_of(name)
    if ending in _NAME_OF_ENDING:
        return _NAME_OF_ENDING[ending]
    if ending in IMAGE_OR_MASK_ENDINGS:
        return ending[1:].upper()
    return None


def describe(account: Account) -> list[str]:
    """Returns an account in words: a line for each folder and kind, and one for each text of ids.

    If there are many lines, the last one says how many files the others would name.
    """
    lines: list[_AccountLine] = []
    for group, names in account.items():
        lines += group.kind.describe(group.folder, names)
    shown = [line.text for line in lines[:_MAX_LINES]]
    unshown_count = sum(line.file_count for line in lines[_MAX_LINES:])
    if unshown_count:
        shown.append(f"{unshown_count:,} more files; --json lists all")
    return shown
