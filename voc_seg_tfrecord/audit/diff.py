"""Finds what changed between two datasets, or between a dataset and a folder in the same layout.

Each side is read once, and of most examples only hashes are kept. Of an example that may differ all
features but the image are kept: those of the second side at once, those of the first one in another
reading. If the classes of the two sides have other numbers, all examples may differ.

Masks are decoded only of examples that may differ. Classes are compared by their names.
"""

import collections
from collections.abc import Callable, Iterator, Mapping, Sequence
import dataclasses
import functools
import hashlib
from typing import NamedTuple

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.proto import tf_feature_pb2

from voc_seg_tfrecord.audit import leaks, source_records
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import id_list_sha256, last_part
from voc_seg_tfrecord.core.names import (
    FILENAME,
    IMAGE,
    LABEL,
    LABELS,
    MASK,
    OBJECTS,
    TILE_IMAGE_ID,
    VOID,
)
from voc_seg_tfrecord.reading import metadata, records
from voc_seg_tfrecord.reading.records import Record


@dataclasses.dataclass(frozen=True)
class MaskChange:
    """How a mask changed.

    Attributes:
      pixels: how many pixels have another class; None if they cannot be counted, because the sizes
        differ, one mask is missing, or one cannot be decoded.
      classes: class before, class after, and pixels, most first.
    """

    pixels: int | None = None
    classes: tuple[tuple[str, str, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class Change:
    """One example that is not the same on both sides.

    Attributes:
      id: its id.
      before: its split on the first side; empty if it was not there.
      after: its split on the second side; empty if it is in none.
      image: whether the image's bytes differ.
      mask: how the mask differs, or the label in place of a mask; None if it is the same.
      others: the other features that differ, by name.
      unusable: why its files in a folder cannot be used.
      id_after: its id on the second side, if that is another one: of images in one folder per split
        the id begins with the folder, and files may have been renamed.
    """

    id: str
    before: str
    after: str
    image: bool = False
    mask: MaskChange | None = None
    others: tuple[str, ...] = ()
    unusable: str = ""
    id_after: str = ""

    @property
    def moved(self) -> bool:
        """Whether it is in another split."""
        return bool(self.before and self.after) and self.before != self.after

    @property
    def is_only_renamed(self) -> bool:
        """Whether it is the same, in the same split, under another id."""
        has_changed = self.image or self.mask or self.others or self.unusable
        return bool(self.id_after) and not self.moved and not has_changed


@dataclasses.dataclass(frozen=True)
class DiffSide:
    """What one side of a comparison holds.

    Attributes:
      name: of the dataset or folder.
      counts: how many examples each split has.
      ids_sha256: of the image ids of each split; see `id_lists.id_list_sha256`.
      classes: the class names, in mask order.
    """

    name: str
    counts: Mapping[str, int]
    ids_sha256: Mapping[str, str]
    classes: tuple[str, ...]


@dataclasses.dataclass(frozen=True)
class RenumberedClass:
    """A class that has another number on each side, so that old networks give it another name.

    Attributes:
      name: its name.
      before: its number on the first side.
      after: its number on the second side.
    """

    name: str
    before: int
    after: int


@dataclasses.dataclass(frozen=True)
class Diff:
    """The changes between two sides.

    Attributes:
      before: the first side.
      after: the second side.
      changes: every example that is not the same, in the order of splits and ids.
      unnamed: the sides whose classes have default names. Equal ones are no evidence that the
        classes agree, so classes are compared by number, with the names of the other side.
    """

    before: DiffSide
    after: DiffSide
    changes: Sequence[Change]
    unnamed: Sequence[str] = ()

    @property
    def renumbered(self) -> list[RenumberedClass]:
        """The classes that both sides have, under different numbers."""
        renumbered: list[RenumberedClass] = []
        for number, name in enumerate(self.before.classes):
            if name not in self.after.classes:
                continue
            number_after = self.after.classes.index(name)
            if number_after != number:
                renumbered.append(RenumberedClass(name, number, number_after))
        return renumbered

    @property
    def is_comparable(self) -> bool:
        """Whether networks and scores of the first side fit the second one."""
        return not self.broken and not self.renumbered

    @property
    def broken(self) -> dict[str, list[str]]:
        """Ids that validation and test splits of the first side got or lost, or that changed."""
        ids: dict[str, list[str]] = {}
        for change in self.changes:
            is_added = not change.before
            if change.is_only_renamed or (is_added and change.unusable):
                continue
            for split in dict.fromkeys((change.before, change.after)):
                if not self.before.counts.get(split):
                    continue  # it had no score before
                if leaks.guess_role(split) == leaks.EVALUATION:
                    ids.setdefault(split, []).append(change.id)
        return ids


class _ExampleKey(NamedTuple):
    """The id of an example and its split, which tell it apart from the others of a side."""

    id: str
    split: str


_Features = dict[str, bytes]
"""All features of an example but its image, by name, in the order of names."""


@dataclasses.dataclass(frozen=True)
class _Example:
    """An example of one side.

    Attributes:
      key: its id and its split.
      image_hash: the hash of its image.
      features: its other features.
      unusable: why its files in a folder cannot be used; then it has neither image nor features.
    """

    key: _ExampleKey
    image_hash: bytes
    features: _Features
    unusable: str = ""


@dataclasses.dataclass(frozen=True, slots=True)
class _Hashes:
    """The hashes of one example, which are kept of every example.

    Attributes:
      image: the hash of its image.
      features: the hash of its other features.
      image_id: the id of its image, which of a tile is another one than the example's.
    """

    image: bytes
    features: bytes = b""
    image_id: str = ""


@dataclasses.dataclass(frozen=True)
class _ReadSide:
    """A side that was read.

    Attributes:
      hashes: of each example, by its key.
      features: of the examples that may differ, by their keys.
      unusable: why the files of some examples cannot be used, by their keys.
    """

    hashes: dict[_ExampleKey, _Hashes] = dataclasses.field(default_factory=dict)
    features: dict[_ExampleKey, _Features] = dataclasses.field(default_factory=dict)
    unusable: dict[_ExampleKey, str] = dataclasses.field(default_factory=dict)

    def summarize(self, name: str, classes: tuple[str, ...]) -> DiffSide:
        """Returns the summary of the side for a report."""
        counts = collections.Counter(key.split for key in self.hashes)
        ids: dict[str, set[str]] = collections.defaultdict(set)
        for key, hashes in self.hashes.items():
            ids[key.split].add(hashes.image_id)
        ids_sha256 = {split: id_list_sha256(ids_of_split) for split, ids_of_split in ids.items()}
        return DiffSide(name, dict(counts), ids_sha256, classes)


@dataclasses.dataclass(frozen=True)
class _SecondSide:
    """The second side of a comparison: another dataset, or a folder.

    Attributes:
      names: of both sides, for the report.
      class_names: the classes of this side, in mask order.
      has_default_names: whether nobody gave these names.
      examples: its examples, which are read once.
    """

    names: tuple[str, str]
    class_names: tuple[str, ...]
    has_default_names: bool
    examples: Iterator[_Example]


def compare(
    before: tfds.core.DatasetBuilder,
    after: tfds.core.DatasetBuilder | epath.PathLike,
    *,
    name: str = "",
    progress: bool = False,
) -> Diff:
    """Compares a dataset with another one, or with a folder.

    An unpacked folder is read as a build of `before` would read it now.

    Args:
      before: the first side.
      after: the second side.
      name: what the report calls a folder; its path by default.
      progress: whether to show one progress bar per split on standard error.

    Raises:
      ConfigError: if the dataset does not say how it was built, which a folder needs.
      VocSegError: if a shard or the folder cannot be read.
    """
    second = _open_second_side(before, after, name, progress)
    classes = _pair_classes(before, second)
    read_before = _ReadSide()
    for example in _read_dataset(before, progress):
        read_before.hashes[example.key] = _hash_example(example)
    read_after = _read_second_side(second, read_before, classes)
    matches = _match(read_before.hashes, read_after.hashes)
    keys_to_compare = set()
    for key, key_after in matches.pairs.items():
        if _needs_content(key_after, read_after):
            keys_to_compare.add(key)
    read_before.features.update(_read_features(before, keys_to_compare, progress))

    changes = _lost_and_new(matches, read_after.unusable)
    for key, key_after in matches.pairs.items():
        change = _move(key, key_after, read_after.unusable.get(key_after, ""))
        if key in read_before.features:
            change = _add_content(change, key, key_after, read_before, read_after, classes)
        if change != Change(key.id, key.split, key.split):
            changes.append(change)
    changes.sort(key=lambda change: (change.before or change.after, change.id))
    name_before, name_after = second.names
    return Diff(
        before=read_before.summarize(name_before, classes.before),
        after=read_after.summarize(name_after, classes.after),
        changes=changes,
        unnamed=_list_unnamed(before, second),
    )


def _pair_classes(before: tfds.core.DatasetBuilder, second: "_SecondSide") -> "_ClassPair":
    """Returns the class names of both sides; default names become those of the other side."""
    names = metadata.class_names(before)
    names_after = second.class_names
    is_unnamed = metadata.has_default_names(before)
    if is_unnamed and second.has_default_names:
        longer = max(names, names_after, key=len)
        return _ClassPair(longer[: len(names)], longer[: len(names_after)])
    if is_unnamed:
        names = (*names_after[: len(names)], *names[len(names_after) :])
    elif second.has_default_names:
        names_after = (*names[: len(names_after)], *names_after[len(names) :])
    return _ClassPair(names, names_after)


def _list_unnamed(before: tfds.core.DatasetBuilder, second: "_SecondSide") -> list[str]:
    """Returns the names of the sides whose classes have default names."""
    name, name_after = second.names
    unnamed = []
    if metadata.has_default_names(before):
        unnamed.append(name)
    if second.has_default_names:
        unnamed.append(name_after)
    return unnamed


def _read_second_side(second: _SecondSide, before: _ReadSide, classes: "_ClassPair") -> _ReadSide:
    """Reads the second side, and keeps the features of examples that differ from the first side's.

    It keeps those of all examples if classes have other numbers.
    """
    after = _ReadSide()
    for example in second.examples:
        hashes = _hash_example(example)
        after.hashes[example.key] = hashes
        if example.unusable:
            after.unusable[example.key] = example.unusable
        if before.hashes.get(example.key) != hashes or not classes.numbers_agree:
            after.features[example.key] = example.features
    return after


def _needs_content(key_after: _ExampleKey, after: _ReadSide) -> bool:
    """Says whether an example of the second side may differ, and can be compared."""
    return key_after in after.features and key_after not in after.unusable


def _add_content(
    change: Change,
    key: _ExampleKey,
    key_after: _ExampleKey,
    before: _ReadSide,
    after: _ReadSide,
    classes: "_ClassPair",
) -> Change:
    """Returns the change of an example with how its image, its mask and its other features differ.

    Args:
      change: what its keys show.
      key: its key on the first side.
      key_after: its key on the second side.
      before: the first side, with the features of the example.
      after: the second side, likewise.
      classes: by which masks are compared.
    """
    features = before.features[key]
    features_after = after.features[key_after]
    return dataclasses.replace(
        change,
        image=before.hashes[key].image != after.hashes[key_after].image,
        mask=classes.mask_or_label_change(features, features_after),
        others=classes.other_changes(features, features_after, is_renamed=bool(change.id_after)),
    )


def _open_second_side(
    before: tfds.core.DatasetBuilder,
    after: tfds.core.DatasetBuilder | epath.PathLike,
    name: str,
    progress: bool,
) -> _SecondSide:
    """Returns what a dataset is compared with; nothing of it is read yet."""
    if not isinstance(after, tfds.core.DatasetBuilder):
        names = (before.info.full_name, name or str(after))
        folder = epath.Path(after).expanduser()
        examples = _read_folder(before, folder, progress)
        has_default_names = metadata.has_default_names(before)
        return _SecondSide(names, metadata.class_names(before), has_default_names, examples)
    names = (before.info.full_name, after.info.full_name)
    if names[0] == names[1]:
        names = (str(before.data_path), str(after.data_path))
    has_default_names = metadata.has_default_names(after)
    examples = _read_dataset(after, progress)
    return _SecondSide(names, metadata.class_names(after), has_default_names, examples)


def _read_dataset(builder: tfds.core.DatasetBuilder, progress: bool) -> Iterator[_Example]:
    """Yields each example of a dataset."""
    for split in builder.info.splits:
        read = functools.partial(_as_example, split)
        yield from records.scan(builder, split, read, progress=progress)


def _as_example(split: str, record: Record) -> _Example:
    """Returns the example of a record; `labels` are left out, because they follow from the mask."""
    features = {}
    for name, value in sorted(record.features.items()):
        if name == MASK:
            features[name] = record.bytes(MASK)
        elif name not in (IMAGE, LABELS):
            features[name] = value.SerializeToString(deterministic=True)
    return _Example(_ExampleKey(record.id, split), _hash(record.bytes(IMAGE)), features)


def _read_folder(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, progress: bool
) -> Iterator[_Example]:
    """Yields each example that a build would make of a folder; see `_Example.unusable`."""
    for split, image_id, result in source_records.read_folder(builder, folder, progress=progress):
        if isinstance(result, VocSegError):
            yield _Example(_ExampleKey(image_id, split), b"", {}, unusable=str(result))
            continue
        for record in result:
            yield _as_example(split, record)


def _read_features(
    builder: tfds.core.DatasetBuilder, keys: set[_ExampleKey], progress: bool
) -> dict[_ExampleKey, _Features]:
    """Reads the splits of some examples once more; returns their features but the image."""
    features: dict[_ExampleKey, _Features] = {}
    splits = {key.split for key in keys}
    for split in sorted(splits):
        read = functools.partial(_as_example_of, keys, split)
        for example in records.scan(builder, split, read, progress=progress):
            if example is not None:
                features[example.key] = example.features
    return features


def _as_example_of(keys: set[_ExampleKey], split: str, record: Record) -> _Example | None:
    """Returns the example of a record if it has one of the keys."""
    return _as_example(split, record) if _ExampleKey(record.id, split) in keys else None


@dataclasses.dataclass(frozen=True)
class _ExampleMatches:
    """Which example of the first side is which of the second.

    Attributes:
      pairs: the key on the second side, by the key on the first side.
      lost: keys that only the first side has.
      new: keys that only the second side has.
    """

    pairs: Mapping[_ExampleKey, _ExampleKey]
    lost: Sequence[_ExampleKey]
    new: Sequence[_ExampleKey]


def _match(
    before: Mapping[_ExampleKey, _Hashes], after: Mapping[_ExampleKey, _Hashes]
) -> _ExampleMatches:
    """Finds the examples of the first side among those of the second.

    An example is the same if its id and its split are. In another split it is the same if its
    image is too, and its id or the id's last part: folders of two splits may each have a `0001`.
    Of those that are left, one whose image no other one has was renamed if its image is there.
    """
    pairs = {key: key for key in before if key in after}
    pairs |= _pair_moved(before, after, pairs, _complete_id)
    pairs |= _pair_moved(before, after, pairs, last_part)
    pairs |= _pair_renamed(before, after, pairs)
    paired_after = set(pairs.values())
    return _ExampleMatches(
        pairs,
        lost=[key for key in before if key not in pairs],
        new=[key for key in after if key not in paired_after],
    )


def _pair_moved(
    before: Mapping[_ExampleKey, _Hashes],
    after: Mapping[_ExampleKey, _Hashes],
    pairs: Mapping[_ExampleKey, _ExampleKey],
    name_of: Callable[[str], str],
) -> dict[_ExampleKey, _ExampleKey]:
    """Finds examples without a pair that have the same image and name in another split.

    Args:
      before: the examples of the first side.
      after: those of the second side.
      pairs: the key on the second side of each example that has a pair.
      name_of: returns the name of an id.

    Returns:
      The key on the second side, by the key on the first side.
    """
    paired_after = set(pairs.values())
    candidates: dict[tuple[bytes, str], list[_ExampleKey]] = collections.defaultdict(list)
    for key_after, hashes in after.items():
        if key_after not in paired_after:
            candidates[hashes.image, name_of(key_after.id)].append(key_after)
    moved = {}
    for key, hashes in before.items():
        if key in pairs:
            continue
        same = candidates.get((hashes.image, name_of(key.id)), [])
        in_other_split = [candidate for candidate in same if candidate.split != key.split]
        if in_other_split:
            moved[key] = in_other_split[0]
            same.remove(in_other_split[0])
    return moved


def _pair_renamed(
    before: Mapping[_ExampleKey, _Hashes],
    after: Mapping[_ExampleKey, _Hashes],
    pairs: Mapping[_ExampleKey, _ExampleKey],
) -> dict[_ExampleKey, _ExampleKey]:
    """Finds examples without a pair that have the same image under another id.

    Images that several of them have are copies, of which nobody knows which is which.

    Args:
      before: the examples of the first side.
      after: those of the second side.
      pairs: the key on the second side of each example that has a pair.

    Returns:
      The key on the second side, by the key on the first side.
    """
    paired_after = set(pairs.values())
    lost = {key: hashes.image for key, hashes in before.items() if key not in pairs}
    new = {key: hashes.image for key, hashes in after.items() if key not in paired_after}
    keys_by_image = _keys_by_image(lost)
    keys_after_by_image = _keys_by_image(new)
    renamed = {}
    for image, keys in keys_by_image.items():
        keys_after = keys_after_by_image.get(image, [])
        if image and len(keys) == len(keys_after) == 1:
            renamed[keys[0]] = keys_after[0]
    return renamed


def _keys_by_image(image_by_key: Mapping[_ExampleKey, bytes]) -> dict[bytes, list[_ExampleKey]]:
    """Returns the keys of each image, which is empty if its file cannot be used."""
    keys_by_image: dict[bytes, list[_ExampleKey]] = collections.defaultdict(list)
    for key, image in image_by_key.items():
        keys_by_image[image].append(key)
    return keys_by_image


def _lost_and_new(matches: _ExampleMatches, unusable: Mapping[_ExampleKey, str]) -> list[Change]:
    """Returns the changes of examples that only one side has."""
    changes = [Change(key.id, key.split, "") for key in matches.lost]
    for key in matches.new:
        reason = unusable.get(key, "")
        changes.append(Change(key.id, "", key.split, unusable=reason))
    return changes


def _move(key: _ExampleKey, key_after: _ExampleKey, unusable: str) -> Change:
    """Returns the change of an example that both sides have, as far as its keys show it."""
    id_after = key_after.id if key_after.id != key.id else ""
    return Change(key.id, key.split, key_after.split, unusable=unusable, id_after=id_after)


def _complete_id(image_id: str) -> str:
    return image_id


@dataclasses.dataclass(frozen=True)
class _ClassPair:
    """The class names of both sides, in mask order, by which masks are compared."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @functools.cached_property
    def numbers_agree(self) -> bool:
        """Whether each number means the same class on both sides, as far as both have it."""
        both = zip(self.before, self.after, strict=False)
        return all(name == name_after for name, name_after in both)

    def mask_or_label_change(self, before: _Features, after: _Features) -> MaskChange | None:
        """Returns how the mask differs, or the label in place of a mask; None if it does not."""
        if LABEL in before or LABEL in after:
            label = _label_of(before, self.before)
            label_after = _label_of(after, self.after)
            if label == label_after:
                return None
            return MaskChange(None, ((label, label_after, 0),))
        if before.get(MASK) == after.get(MASK) and self.numbers_agree:
            return None
        return self._mask_change(before.get(MASK), after.get(MASK))

    def other_changes(
        self, before: _Features, after: _Features, *, is_renamed: bool
    ) -> tuple[str, ...]:
        """Returns the names of all other features that differ.

        The features that follow from the id do not count if it is another one, nor do the labels of
        objects if classes have other numbers.
        """
        changed = []
        for name in sorted({*before, *after}):
            if before.get(name) == after.get(name) or name in (MASK, LABEL):
                continue
            if is_renamed and name in (FILENAME, TILE_IMAGE_ID):
                continue
            if not self.numbers_agree and name.startswith(f"{OBJECTS}/label"):
                continue
            changed.append(name)
        return tuple(changed)

    def _mask_change(self, before: bytes | None, after: bytes | None) -> MaskChange | None:
        """Returns how two mask files differ, None if every pixel has the same class."""
        if before is None or after is None:
            return None if before is after else MaskChange()
        try:
            mask = records.pixels(File(before, MASK))
            mask_after = records.pixels(File(after, MASK))
        except VocSegError:
            return None if before == after else MaskChange()
        if mask.shape != mask_after.shape:
            return MaskChange()
        # Each pair of classes has a number, whose pixels are counted: first * count + second.
        count = len(self._all_names)
        first = self._numbers_in_all(self.before)[mask]
        second = self._numbers_in_all(self.after)[mask_after]
        pixels = np.bincount((first * count + second).ravel(), minlength=count**2)
        pixels = pixels.reshape(count, count)
        np.fill_diagonal(pixels, 0)
        if not pixels.any():
            return None
        rows = []
        for row, column in np.argwhere(pixels):
            rows.append((self._all_names[row], self._all_names[column], int(pixels[row, column])))
        rows.sort(key=lambda row: -row[2])
        return MaskChange(int(pixels.sum()), tuple(rows))

    @functools.cached_property
    def _all_names(self) -> list[str]:
        """The classes of both sides, a name for each value that is no class, and void."""
        values = [f"value {value}" for value in range(VOID)]
        return [*self._class_names, *values, "void"]

    @functools.cached_property
    def _class_names(self) -> list[str]:
        """The classes of both sides, each once."""
        return list(dict.fromkeys((*self.before, *self.after)))

    def _numbers_in_all(self, names: tuple[str, ...]) -> np.ndarray:
        """Returns the index in `_all_names` of each value of a side's masks, int64 `[256]`.

        A value that is no class of the side is none of the other side either, whatever its number.
        """
        numbers = len(self._class_names) + np.arange(256)
        numbers[: len(names)] = [self._class_names.index(name) for name in names]
        return numbers


def _label_of(features: _Features, names: tuple[str, ...]) -> str:
    """Returns the names of the classes that an image has in place of a mask."""
    values = tf_feature_pb2.Feature.FromString(features.get(LABEL, b"")).int64_list.value
    return ", ".join(names[n] if 0 <= n < len(names) else str(n) for n in values)


_HASH_BYTES = 16


def _hash(*parts: bytes) -> bytes:
    """Returns a hash of texts, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d " % len(part))
        digest.update(part)
    return digest.digest()[:_HASH_BYTES]


def _hash_example(example: _Example) -> _Hashes:
    image_id = example.key.id
    tile_image_id = example.features.get(TILE_IMAGE_ID)
    if tile_image_id is not None:
        values = tf_feature_pb2.Feature.FromString(tile_image_id).bytes_list.value
        if values:
            image_id = values[0].decode()
    names_and_values = []
    for name, value in example.features.items():
        names_and_values += [name.encode(), value]
    return _Hashes(example.image_hash, _hash(*names_and_values), image_id)
