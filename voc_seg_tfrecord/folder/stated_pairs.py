"""Pairs that a text of the folder states: which mask an image has, whatever the files are called.

A list with lines such as `images/2.png masks/0.png`, a CSV file with the columns `image` and
`mask`, JSON and manifests state pairs. What they state is taken, or the build stops:

1. A mask of the set is taken, also if its name is that of another image.
2. A mask outside of the set's folders is taken if the folder or the column is called as masks are,
   unless the user named the masks, or other texts make the splits.
3. The build stops if two texts, or two rows, state different masks for one image; if a mask is not
   there and has another name than the image; if a mask is stated for one image and, by its name,
   belongs to another one for which nothing is stated; and if two names in a line may both be those
   of an image and of a mask.
"""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
import dataclasses
import functools
import itertools
import os
import posixpath
import re
import unicodedata

from voc_seg_tfrecord.core.errors import LayoutError, ListError, command, counted
from voc_seg_tfrecord.core.id_lists import decode
from voc_seg_tfrecord.core.layout import MASK_SUFFIXES, PICTURES
from voc_seg_tfrecord.folder.files.folder_names import role, role_of, same_parts
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.tree.listing import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.formats.pair_tables import PairTable, names_file
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

KIND = "stated pairs"
"""The kind of the errors about pairs that texts state."""

_MAX_TEXT_BYTES = 64 << 20
_MAX_SAMPLED_ROWS = 200
_MAX_TEXTS_OF_FOLDER = 500
_MIN_IDS = 3  # different words in rows, which otherwise are labels
_MIN_SHARE = 0.5  # of the sampled rows, in which a column has to name files


@dataclasses.dataclass(frozen=True)
class StatedMask:
    """The mask that a row states for an image.

    Attributes:
      written: how the row writes it.
      path: where it lies below the given folder; empty if there is no such file.
      text: the text, below the given folder.
      is_called_mask: whether the column, or the folder of the mask, is called as masks are.
    """

    written: str
    path: str
    text: str
    is_called_mask: bool


@dataclasses.dataclass(frozen=True)
class StatedPairs:
    """What was found in the texts of a folder.

    Attributes:
      tree: the set, with the masks that are stated.
      texts: the texts whose pairs were taken in place of those by name.
      notes: what a user should know.
      image_ids: the images for which texts state a mask, also that which they have by name.
    """

    tree: VocTree
    texts: Sequence[str] = ()
    notes: Sequence[str] = ()
    image_ids: Set[str] = frozenset()


def pair_as_stated(
    tree: VocTree,
    names: ImageNames,
    *,
    used: Collection[str],
    texts_of_splits: Collection[str],
    listed: Mapping[str, Collection[str]],
    masks_are_given: bool,
) -> StatedPairs:
    """Gives each image the mask that a text states.

    Args:
      tree: the set, paired by names.
      names: the ids of its images by their names.
      used: the ids in splits.
      texts_of_splits: the texts that make the splits, below the given folder.
      listed: the ids that each text names, by its path.
      masks_are_given: whether the user named the masks.

    Raises:
      LayoutError: if what is stated contradicts itself, or a stated mask is not there.
    """
    if tree.listing is None or tree.labels.tool:
        return StatedPairs(tree)
    reader = _PairReader(tree, names)
    stated: dict[str, StatedMask] = {}
    outside: dict[str, StatedMask] = {}  # the first mask of each text that is not taken
    for path in _texts_of(tree):
        counts = not texts_of_splits or path in texts_of_splits
        for image_id, mask in reader.read(path):
            if reader.is_of_set(mask):
                _add(tree, stated, image_id, mask)
            elif not mask.is_called_mask:
                continue
            elif mask.path and counts and not masks_are_given:
                _add(tree, stated, image_id, mask)
            elif mask.path or (counts and _has_id(mask.written, image_id)):
                outside.setdefault(path, mask)
            elif counts:
                raise _absent(tree, image_id, mask)
    changed = {i: mask for i, mask in stated.items() if mask.path != reader.mask_by_name(i)}
    notes = [_note_on_outside(tree, mask) for mask in outside.values()]
    if not changed:
        return StatedPairs(tree, notes=notes, image_ids=stated.keys())
    _check_unstated(tree, reader, used, stated, changed)
    _check_listed(tree, stated, texts_of_splits, listed)
    texts = sorted({mask.text for mask in changed.values()})
    notes = [*(_note(tree, text, changed) for text in texts), *notes]
    return StatedPairs(_with_masks(tree, changed), texts, notes, stated.keys())


def _absent(tree: VocTree, image_id: str, mask: StatedMask) -> LayoutError:
    return LayoutError(
        tree.given / mask.text,
        found=f"the mask {mask.written} for the image {tree.image_path(image_id)}, and no file of "
        "that name",
        expected="masks that are in the folder",
        remedy="add the masks, or correct the text",
        kind=KIND,
    )


def _note_on_outside(tree: VocTree, mask: StatedMask) -> str:
    """Says that a text names masks of another folder than the one that is read."""
    folder = posixpath.dirname(mask.path or mask.written.replace("\\", "/")).strip("/")
    note = f"{mask.text} names masks in {folder or 'another folder'}, and they are read from "
    note += f"{tree.layout.describe('masks')}."
    if mask.path and folder:
        note += f" {command(masks=folder)} reads the others."
    return note


def _add(tree: VocTree, stated: dict[str, StatedMask], image_id: str, mask: StatedMask) -> None:
    """Adds what a row states.

    Raises:
      LayoutError: if another row states another mask.
    """
    other = stated.setdefault(image_id, mask)
    if other.path == mask.path:
        return
    image = tree.image_path(image_id)
    if other.text == mask.text:
        raise LayoutError(
            tree.given / mask.text,
            found=f"the masks {other.written} and {mask.written} for the image {image}",
            expected="one mask for each image",
            remedy="if each mask shows one object or the work of one person, merge them into one "
            "mask for each image; otherwise, remove the rows that are wrong",
            kind=KIND,
        )
    raise LayoutError(
        tree.given / mask.text,
        found=f"the mask {mask.written} for the image {image}, and {other.text} has "
        f"{other.written} for it",
        expected="the same mask in all texts",
        remedy="correct one of the texts, or take it out of the folder",
        kind=KIND,
    )


def _check_unstated(
    tree: VocTree,
    reader: "_PairReader",
    used: Collection[str],
    stated: Mapping[str, StatedMask],
    changed: Mapping[str, StatedMask],
) -> None:
    """Checks that no image without a stated mask has one by name that is stated for another image.

    Raises:
      LayoutError: if one has.
    """
    taken = {mask.path: i for i, mask in changed.items() if reader.mask_by_name(i)}
    for image_id in used:
        mask = "" if image_id in stated else reader.mask_by_name(image_id)
        if mask in taken and image_id in tree.images:
            other = taken[mask]
            raise LayoutError(
                tree.given / stated[other].text,
                found=f"the mask {mask} for the image {tree.image_path(other)}. By its name it "
                f"belongs to {tree.image_path(image_id)}, for which the text states no mask",
                expected="a mask for each image whose mask another image gets",
                remedy="add the missing rows, or leave these images out of the splits",
                kind=KIND,
            )


def _check_listed(
    tree: VocTree,
    stated: Mapping[str, StatedMask],
    texts_of_splits: Collection[str],
    listed: Mapping[str, Collection[str]],
) -> None:
    """Checks that a text that makes a split gives it the images for which it states masks.

    Raises:
      LayoutError: if the lines were read for other images, such as those of the masks' names.
    """
    for image_id, mask in stated.items():
        if mask.text in texts_of_splits and image_id not in listed.get(mask.text, ()):
            raise LayoutError(
                tree.given / mask.text,
                found=f"the mask {mask.written} for the image {tree.image_path(image_id)}, and "
                "this image is not in the list that the text was read as",
                expected="the image before its mask in each row",
                remedy="write the images into the first column",
                kind=KIND,
            )


def _note(tree: VocTree, text: str, changed: Mapping[str, StatedMask]) -> str:
    of_text = {i: mask for i, mask in changed.items() if mask.text == text}
    first = min(of_text)
    return (
        f"{text} states {counted(len(of_text), 'pair')} that the names of the files do not, such "
        f"as {tree.image_path(first)} with {of_text[first].path}. The stated pairs are used."
    )


def _with_masks(tree: VocTree, changed: Mapping[str, StatedMask]) -> VocTree:
    """Returns a tree whose images have other masks."""
    labels = tree.labels
    folder = posixpath.normpath(posixpath.join(tree.place, tree.layout.masks))
    files = dict(labels.names.items())
    for image_id, mask in changed.items():
        files[image_id] = posixpath.relpath(mask.path, folder)
    twins = {i: of for i, of in labels.names.twins.items() if i not in changed}
    names = Names(dict(sorted(files.items())), twins)
    return dataclasses.replace(tree, drawn=dataclasses.replace(labels, names=names))


def _texts_of(tree: VocTree) -> Iterator[str]:
    """Yields the texts that may state pairs, but for class files and labels of one image."""
    assert tree.listing
    endings = (*pair_tables.ENDINGS, *pair_tables.YAML_ENDINGS)
    stems: set[str] = set()
    for name in tree.images.values():
        stems.add(_stem(posixpath.basename(name)))
    for folder, files in tree.listing.folders.items():
        if role_of(folder) == "drawn":
            continue
        texts = [name for name in files if name.lower().endswith(endings)]
        texts = [name for name in texts if _stem(name) not in stems]
        for name in texts[:_MAX_TEXTS_OF_FOLDER]:
            path = posixpath.join(folder, name)
            is_class_file = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if not is_class_file and path not in tree.labels.sheets:
                yield path


class _PairReader:
    """Finds the images and masks that rows of texts name.

    Args:
      tree: the set, paired by names.
      names: the ids of its images by their names.
    """

    def __init__(self, tree: VocTree, names: ImageNames):
        self._tree, self._names = tree, names

    def read(self, path: str) -> Iterator[tuple[str, StatedMask]]:
        """Yields the id of each image for which a text states a mask, and the mask."""
        place = self._tree.given / path
        if not 0 < place.stat().length <= _MAX_TEXT_BYTES:
            return
        try:
            file = self._tree.read_text(place, ListError)
            if not pair_tables.may_name_files(file.data):
                return
            text = decode(file.data, file.where)
        except ListError:  # no text, which is said where lists are read
            return
        for table in pair_tables.read_tables(text, posixpath.splitext(path)[1].lower()):
            yield from self._read_table(table, path)

    def mask_by_name(self, image_id: str) -> str:
        """Returns the path of the mask that an image has by its name; empty if it has none."""
        return self._masks_by_id.get(self._tree.masks.written(image_id) or "", "")

    def is_of_set(self, mask: StatedMask) -> bool:
        """Says whether a stated mask is one of the set's."""
        return mask.path in self._mask_paths

    def _read_table(self, table: PairTable, text: str) -> Iterator[tuple[str, StatedMask]]:
        columns = self._columns_of(table)
        if columns is None:
            return
        image_column, mask_column = columns
        is_bare = not table.has_names and self._are_bare(table, columns)
        is_called_mask = table.has_names and role(table.columns[mask_column]) == "masks"
        for row in table.rows:
            image_id = self._find_image(row[image_column])
            written = row[mask_column]
            if image_id is None or not written:
                continue
            found = self._find_masks(written)
            if len(found) > 1:
                continue  # a name that several folders have tells nothing
            path = found[0] if found else ""
            folder = posixpath.dirname(path or written.replace("\\", "/"))
            if is_bare and path != self.mask_by_name(image_id):
                raise _bare(self._tree, text, row[image_column], written)
            is_mask = is_called_mask or role_of(folder.strip("/")) == "masks"
            yield image_id, StatedMask(written, path, text, is_mask)

    def _are_bare(self, table: PairTable, columns: Sequence[int]) -> bool:
        """Says whether two columns have names that may be those of images and of masks."""
        sample = _sample_of(table)
        kinds = [self._kind_of_column(table, n, sample) for n in columns]
        return all({"image", "mask"} <= kind for kind in kinds)

    def _columns_of(self, table: PairTable) -> tuple[int, int] | None:
        """Returns the columns of images and of masks; None if the table does not have both."""
        sample = _sample_of(table)
        if not any(map(names_file, itertools.chain(*sample))) and not self._are_ids(table, sample):
            return None
        kinds = [self._kind_of_column(table, n, sample) for n in range(len(table.columns))]
        images = [n for n, kind in enumerate(kinds) if "image" in kind]
        if not images:
            return None
        image_column = min(images, key=lambda n: ("mask" in kinds[n], n))
        others = [n for n, kind in enumerate(kinds) if kind - {"image"} and n != image_column]
        called = [n for n in others if self._is_called(table, n, sample)]
        of_set = [n for n in others if "mask" in kinds[n]]
        candidates = [n for n in of_set if n in called] or of_set or called
        if not candidates:
            return None
        agreements = [self._agreement(sample, image_column, n) for n in candidates]
        return image_column, candidates[agreements.index(max(agreements))]

    def _are_ids(self, table: PairTable, sample: Sequence[Sequence[str]]) -> bool:
        """Says whether words without endings are names, and no labels such as 1 and -1."""
        if table.has_names:
            return any(role(column) == "masks" for column in table.columns)
        second = {row[-1] for row in sample}
        if all(word.isdecimal() for word in second):
            return len(second) >= max(_MIN_IDS, len(sample) / 2)
        # Lists of two ids each may be folds.
        return len(second) >= _MIN_IDS or not any(word in self._image_paths for word in second)

    def _kind_of_column(
        self, table: PairTable, column: int, sample: Sequence[Sequence[str]]
    ) -> set[str]:
        """Returns what a column names: `image`, `mask`, both if its names may be either, `file`."""
        of_name = role(table.columns[column]) if table.has_names else ""
        if of_name == "drawn":
            return set()
        has_words = table.has_names and "mask" not in table.columns[column]
        counts: collections.Counter[str] = collections.Counter()
        for row in sample:
            # A word below `label` may be a class.
            if has_words and not names_file(row[column]):
                counts.update(["image"] if row[column] in self._names else [])
            else:
                counts.update(self._kinds_of(row[column], of_name))
        kinds = {kind for kind, count in counts.items() if count >= _MIN_SHARE * len(sample)}
        if {"image", "mask"} <= kinds and of_name in ("images", "masks"):
            return {of_name.removesuffix("s")}
        return kinds

    def _kinds_of(self, cell: str, of_name: str) -> set[str]:
        if "/" in cell and cell in self._ids:  # a path as it is needs no index of all files
            return {"image"}
        if "/" in cell and cell in self._mask_paths:
            return {"mask"}
        images, masks = self._image_paths.matches(cell), self._all_masks.matches(cell)
        most = max(images.shared, masks.shared)
        kinds = set[str]()
        if most and images.shared == most:
            kinds.add("image")
        if most and masks.shared == most:
            kinds.add("mask")
        if not kinds and names_file(cell):
            is_image = of_name != "masks" and self._find_image(cell) is not None
            kinds.add("image" if is_image and not self._other_files.matches(cell).paths else "file")
        return kinds

    @staticmethod
    def _is_called(table: PairTable, column: int, sample: Sequence[Sequence[str]]) -> bool:
        """Says whether a column, or the folder of its files, is called as masks are."""
        if table.has_names and role(table.columns[column]) == "masks":
            return True
        folders = [posixpath.dirname(row[column].replace("\\", "/")) for row in sample]
        return any(role_of(folder.strip("/")) == "masks" for folder in folders)

    def _agreement(self, sample: Sequence[Sequence[str]], image_column: int, column: int) -> int:
        """Returns in how many rows a column has the masks that the images have by name."""
        count = 0
        for row in sample:
            image_id = self._find_image(row[image_column])
            masks = self._find_masks(row[column])
            if image_id is not None and masks == [self.mask_by_name(image_id)]:
                count += 1
        return count

    def _find_image(self, cell: str) -> str | None:
        if cell in self._ids:
            return self._ids[cell]
        found = self._image_paths.matches(cell).paths
        if len(found) == 1:
            return self._ids[found[0]]
        return self._names.get(cell) if not found and cell else None

    def _find_masks(self, cell: str) -> Sequence[str]:
        """Returns the masks of the set that a cell may name; if there are none, other files."""
        if cell in self._mask_paths:
            return [cell]
        of_set, others = self._all_masks.matches(cell), self._other_files.matches(cell)
        return others.paths if others.shared > of_set.shared else of_set.paths

    # What lies in the folder, by its path below the given one.

    @functools.cached_property
    def _ids(self) -> dict[str, str]:
        return {self._tree.image_path(image_id): image_id for image_id in self._tree.images}

    @functools.cached_property
    def _masks_by_id(self) -> dict[str, str]:
        return {image_id: self._tree.mask_path(image_id) for image_id in self._tree.masks}

    @functools.cached_property
    def _mask_paths(self) -> set[str]:
        return {*self._masks_by_id.values()}

    @functools.cached_property
    def _image_paths(self) -> "_PathIndex":
        return _PathIndex(self._ids)

    @functools.cached_property
    def _all_masks(self) -> "_PathIndex":
        return _PathIndex(self._mask_paths)

    @functools.cached_property
    def _other_files(self) -> "_PathIndex":
        """The files that may be masks and are neither images nor masks of the set."""
        assert self._tree.listing
        paths = []
        for folder, files in self._tree.listing.folders.items():
            for name in files:
                path = posixpath.join(folder, name)
                is_other = path not in self._ids and path not in self._mask_paths
                if is_other and name.lower().endswith(MASK_SUFFIXES):
                    paths.append(path)
        return _PathIndex(paths)


@dataclasses.dataclass(frozen=True)
class _Matches:
    """The files that a text may mean, and how many names at the ends of their paths it shares."""

    paths: Sequence[str] = ()
    shared: int = 0


class _PathIndex:
    """Finds files by a path that may begin at another folder, on this machine or another one.

    Args:
      paths: the paths of the files below the given folder.
    """

    def __init__(self, paths: Iterable[str]):
        self._by_name: dict[str, list[str]] = collections.defaultdict(list)
        for path in paths:
            self._by_name[_as_path(path).rpartition("/")[2]].append(path)

    @functools.cached_property
    def _by_stem(self) -> dict[str, list[str]]:
        by_stem: dict[str, list[str]] = collections.defaultdict(list)
        for name, paths in self._by_name.items():
            by_stem[_stem(name)] += paths
        return by_stem

    def __contains__(self, text: str) -> bool:
        return bool(self.matches(text).paths)

    def matches(self, text: str) -> _Matches:
        """Returns the files whose paths share the most with a text.

        A path whose last folder is another than the file's means another file.
        """
        asked = [part for part in _as_path(text).split("/") if part not in ("", ".", "..")]
        if not asked:
            return _Matches()
        has_ending = posixpath.splitext(asked[-1])[1].lower() in PICTURES
        of_name = self._by_name if has_ending else self._by_stem
        found: dict[str, int] = {}
        for path in of_name.get(asked[-1], ()):
            own = _as_path(path if has_ending else _stem(path)).split("/")
            shared = same_parts(own, asked)
            if shared in (len(asked), len(own)) or shared > 1:
                found[path] = shared
        most = max(found.values(), default=0)
        return _Matches([path for path, shared in found.items() if shared == most], most)


def _as_path(text: str) -> str:
    """Returns a path with slashes, in the Unicode form that lists use; of an address its path."""
    if text.isascii() and "\\" not in text and "?" not in text:
        return text
    return unicodedata.normalize("NFC", text.replace("\\", "/")).partition("?")[0]


def _sample_of(table: PairTable) -> Sequence[Sequence[str]]:
    """Returns rows that are spread over a table."""
    return table.rows[:: max(1, len(table.rows) // _MAX_SAMPLED_ROWS)]


def _stem(path: str) -> str:
    return os.path.splitext(path)[0]  # noqa: PTH122 - of a text, not a file


def _bare(tree: VocTree, text: str, image: str, mask: str) -> LayoutError:
    return LayoutError(
        tree.given / text,
        found=f"the names {image} and {mask} in one row, and an image and a mask are called so",
        expected="an image and its mask, each with its folder, such as images/1.png masks/2.png",
        remedy="write the folders before the names",
        kind=KIND,
    )


def _has_id(written: str, image_id: str) -> bool:
    """Says whether the name of a mask has an image's id in it, between other signs."""
    own = _stem(posixpath.basename(image_id))
    of_mask = _stem(posixpath.basename(written.replace("\\", "/")))
    return re.search(rf"(?<![0-9]){re.escape(own)}(?![0-9])", of_mask) is not None
