"""Finds what changed between two datasets, or between a dataset and a folder in the same layout.

Each side is read once, and a hash of each feature is kept. Masks are compared pixel by pixel only
if their hashes differ, or if classes have other numbers on each side. Such masks of the second side
are kept, and those of the first side are read once more. Classes are compared by their names.
"""

import collections
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import hashlib
import sys

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.proto import tf_feature_pb2

from voc_seg_tfrecord.audit import leaks, matching, source_records
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import id_list_sha256
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


@dataclasses.dataclass(frozen=True, slots=True)
class _HashedExample(matching.ComparedExample):
    """An example of one side, as it is kept of every example.

    Attributes:
      image: see `matching.ComparedExample`; None if its files in a folder cannot be used.
      image_id: the id of its image, which of a tile is another one than the example's.
      features: the names of all features but the image and `labels`, one per line, ascending. The
        text is interned, because nearly all examples have the same one.
      hashes: 8 bytes of the hash of each of them, in this order.
      unusable: why its files in a folder cannot be used; then it has no features.
    """

    image_id: str
    features: str = ""
    hashes: bytes = b""
    unusable: str = ""

    def has_same_features(self, other: "_HashedExample") -> bool:
        """Says whether all features but the image are the same."""
        return self.hashes == other.hashes and self.features == other.features

    def hash_by_feature(self) -> dict[str, bytes]:
        """Returns the hash of each feature, by name."""
        hashes: dict[str, bytes] = {}
        for number, name in enumerate(self.features.splitlines()):
            start = number * _FEATURE_HASH_BYTES
            hashes[name] = self.hashes[start : start + _FEATURE_HASH_BYTES]
        return hashes


_IMAGE_HASH_BYTES = 16
_FEATURE_HASH_BYTES = 8

_Place = tuple[str, str]
"""Split and id of an example, which no other example of a side has both."""

_Label = dict[str, bytes]
"""The file of a mask, or the class numbers in place of a mask, by the name of its feature."""


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
    if isinstance(after, tfds.core.DatasetBuilder):
        names = _name_datasets(before, after)
        builder_after = after
        examples_with_labels = _read_dataset(after, progress)
    else:
        names = (before.info.full_name, name or str(after))
        builder_after = before  # its classes are those of the folder
        examples_with_labels = _read_folder(before, epath.Path(after).expanduser(), progress)
    classes = _pair_classes(before, builder_after)
    examples = {_place(example): example for example, _ in _read_dataset(before, progress)}
    examples_after: dict[_Place, _HashedExample] = {}
    labels_after: dict[_Place, _Label] = {}
    for example, label in examples_with_labels:
        place = _place(example)
        examples_after[place] = example
        if place not in examples or classes.may_differ(examples[place], example):
            labels_after[place] = label

    matches = matching.match(examples.values(), examples_after.values(), matching.BY_IMAGE)
    mask_changes = _compare_labels(before, matches, labels_after, classes, progress)
    unnamed = []
    for builder, side_name in zip((before, builder_after), names, strict=True):
        if metadata.has_default_names(builder):
            unnamed.append(side_name)
    return Diff(
        before=_summarize(names[0], examples.values(), classes.before),
        after=_summarize(names[1], examples_after.values(), classes.after),
        changes=_list_changes(matches, mask_changes, classes),
        unnamed=unnamed,
    )


def _name_datasets(
    before: tfds.core.DatasetBuilder, after: tfds.core.DatasetBuilder
) -> tuple[str, str]:
    """Returns the names of two datasets; their folders if the names are the same."""
    if before.info.full_name == after.info.full_name:
        return str(before.data_path), str(after.data_path)
    return before.info.full_name, after.info.full_name


def _pair_classes(
    before: tfds.core.DatasetBuilder, after: tfds.core.DatasetBuilder
) -> "_ClassPair":
    """Returns the class names of both sides; default names become those of the other side."""
    names = metadata.class_names(before)
    names_after = metadata.class_names(after)
    is_unnamed = metadata.has_default_names(before)
    is_unnamed_after = metadata.has_default_names(after)
    if is_unnamed and is_unnamed_after:
        longer = max(names, names_after, key=len)
        return _ClassPair(longer[: len(names)], longer[: len(names_after)])
    if is_unnamed:
        names = (*names_after[: len(names)], *names[len(names_after) :])
    elif is_unnamed_after:
        names_after = (*names[: len(names_after)], *names_after[len(names) :])
    return _ClassPair(names, names_after)


def _place(example: _HashedExample) -> _Place:
    return example.split, example.id


def _summarize(name: str, examples: Iterable[_HashedExample], classes: tuple[str, ...]) -> DiffSide:
    """Returns the summary of a side for a report."""
    counts: dict[str, int] = collections.Counter()
    ids: dict[str, set[str]] = collections.defaultdict(set)
    for example in examples:
        counts[example.split] += 1
        ids[example.split].add(example.image_id)
    ids_sha256 = {split: id_list_sha256(ids_of_split) for split, ids_of_split in ids.items()}
    return DiffSide(name, dict(counts), ids_sha256, classes)


def _compare_labels(
    before: tfds.core.DatasetBuilder,
    matches: matching.MatchedExamples[_HashedExample],
    labels_after: Mapping[_Place, _Label],
    classes: "_ClassPair",
    progress: bool,
) -> dict[_Place, MaskChange | None]:
    """Compares the labels of all pairs that may differ.

    Args:
      before: the first side.
      matches: the examples of both sides.
      labels_after: the labels of the second side that may differ, by place.
      classes: the classes of both sides.
      progress: whether to show progress bars.

    Returns:
      How the label changed, None if it did not, by the place of the example on the first side.
    """
    place_after: dict[_Place, _Place] = {}
    for example, example_after in matches.pairs:
        if classes.may_differ(example, example_after):
            place_after[_place(example)] = _place(example_after)
    mask_changes: dict[_Place, MaskChange | None] = {}
    for place, label in _read_labels(before, place_after.keys(), progress):
        mask_changes[place] = classes.label_change(label, labels_after[place_after[place]])
    return mask_changes


def _list_changes(
    matches: matching.MatchedExamples[_HashedExample],
    mask_changes: Mapping[_Place, MaskChange | None],
    classes: "_ClassPair",
) -> list[Change]:
    """Returns the changes of all examples; those of masks are known."""
    changes = [Change(example.id, example.split, "") for example in matches.lost]
    for example in matches.new:
        changes.append(Change(example.id, "", example.split, unusable=example.unusable))
    for example, example_after in matches.pairs:
        change = Change(
            example.id,
            example.split,
            example_after.split,
            id_after=example_after.id if example_after.id != example.id else "",
        )
        if example_after.unusable:
            change = dataclasses.replace(change, unusable=example_after.unusable)
        else:
            change = dataclasses.replace(
                change,
                image=example.image != example_after.image,
                mask=mask_changes.get(_place(example)),
                others=classes.other_changes(example, example_after),
            )
        if change != Change(example.id, example.split, example.split):
            changes.append(change)
    return sorted(changes, key=lambda change: (change.before or change.after, change.id))


def _read_dataset(
    builder: tfds.core.DatasetBuilder, progress: bool
) -> Iterator[tuple[_HashedExample, _Label]]:
    """Yields each example of a dataset, with its label."""
    for split in builder.info.splits:
        read = functools.partial(_as_example, split)
        yield from records.scan(builder, split, read, progress=progress)


def _read_folder(
    builder: tfds.core.DatasetBuilder, folder: epath.Path, progress: bool
) -> Iterator[tuple[_HashedExample, _Label]]:
    """Yields each example that a build would make of a folder, with its label."""
    for split, image_id, result in source_records.read_folder(builder, folder, progress=progress):
        if isinstance(result, VocSegError):
            yield _HashedExample(image_id, split, None, image_id, unusable=str(result)), {}
            continue
        for record in result:
            yield _as_example(split, record)


def _as_example(split: str, record: Record) -> tuple[_HashedExample, _Label]:
    """Returns the example of a record; `labels` are left out, because they follow from the mask."""
    names = sorted({*record.features} - {IMAGE, LABELS})
    hashes = b""
    label: _Label = {}
    for name in names:
        value = _serialize(record, name)
        hashes += hashlib.sha256(value).digest()[:_FEATURE_HASH_BYTES]
        if name in (MASK, LABEL):
            label[name] = value
    example = _HashedExample(
        record.id,
        split,
        image=hashlib.sha256(record.bytes(IMAGE)).digest()[:_IMAGE_HASH_BYTES],
        image_id=record.image_id,
        features=sys.intern("\n".join(names)),
        hashes=hashes,
    )
    return example, label


def _label_of(record: Record) -> _Label:
    return {name: _serialize(record, name) for name in (MASK, LABEL) if name in record.features}


def _serialize(record: Record, name: str) -> bytes:
    serialized: bytes = record.features[name].SerializeToString(deterministic=True)
    return serialized


def _read_labels(
    builder: tfds.core.DatasetBuilder, places: Collection[_Place], progress: bool
) -> Iterator[tuple[_Place, _Label]]:
    """Reads the splits of some examples once more, and yields the labels of these examples."""
    for split in sorted({split for split, _ in places}):
        read = functools.partial(_label_at, places, split)
        for found in records.scan(builder, split, read, progress=progress):
            if found is not None:
                yield found


def _label_at(
    places: Collection[_Place], split: str, record: Record
) -> tuple[_Place, _Label] | None:
    """Returns the label of a record with its place, if this is one of some places."""
    place = (split, record.id)
    return (place, _label_of(record)) if place in places else None


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

    def may_differ(self, example: _HashedExample, example_after: _HashedExample) -> bool:
        """Says whether two labels may differ, so that their pixels are compared."""
        if example_after.unusable:
            return False
        if not self.numbers_agree:
            return True
        if example.has_same_features(example_after):
            return False
        hashes = example.hash_by_feature()
        hashes_after = example_after.hash_by_feature()
        return any(hashes.get(name) != hashes_after.get(name) for name in (MASK, LABEL))

    def other_changes(
        self, example: _HashedExample, example_after: _HashedExample
    ) -> tuple[str, ...]:
        """Returns the names of all features that differ, but image, mask and label.

        The features that follow from the id do not count if it is another one, nor do the labels of
        objects if classes have other numbers.
        """
        if example.has_same_features(example_after):
            return ()
        hashes = example.hash_by_feature()
        hashes_after = example_after.hash_by_feature()
        is_renamed = example.id != example_after.id
        changed = []
        for name in sorted({*hashes, *hashes_after}):
            if hashes.get(name) == hashes_after.get(name) or name in (MASK, LABEL):
                continue
            if is_renamed and name in (FILENAME, TILE_IMAGE_ID):
                continue
            if not self.numbers_agree and name.startswith(f"{OBJECTS}/label"):
                continue
            changed.append(name)
        return tuple(changed)

    def label_change(self, before: _Label, after: _Label) -> MaskChange | None:
        """Returns how the mask differs, or the label in place of a mask; None if it does not."""
        if LABEL in before or LABEL in after:
            names = _name_label(before, self.before)
            names_after = _name_label(after, self.after)
            return None if names == names_after else MaskChange(None, ((names, names_after, 0),))
        if MASK not in before or MASK not in after:
            return None if before == after else MaskChange()
        try:
            mask = _decode_mask(before)
            mask_after = _decode_mask(after)
        except VocSegError:
            return None if before == after else MaskChange()
        if mask.shape != mask_after.shape:
            return MaskChange()
        return self._count_changed_pixels(mask, mask_after)

    def _count_changed_pixels(self, mask: np.ndarray, mask_after: np.ndarray) -> MaskChange | None:
        """Returns how two masks, uint8 `[H, W]`, differ; None if every pixel has the same class.

        A value that is no class of its side is none of the other side either, whatever its number.
        """
        class_names = list(dict.fromkeys((*self.before, *self.after)))
        all_names = [*class_names, *(f"value {value}" for value in range(VOID)), "void"]
        numbers = _renumber(self.before, class_names)[mask]
        numbers_after = _renumber(self.after, class_names)[mask_after]
        # Each pair of classes has a number, whose pixels are counted.
        count = len(all_names)
        pixels = np.bincount((numbers * count + numbers_after).ravel(), minlength=count**2)
        pixels = pixels.reshape(count, count)
        np.fill_diagonal(pixels, 0)
        rows = []
        for row, column in np.argwhere(pixels):
            rows.append((all_names[row], all_names[column], int(pixels[row, column])))
        rows.sort(key=lambda row: -row[2])
        return MaskChange(int(pixels.sum()), tuple(rows)) if rows else None


def _renumber(names: tuple[str, ...], class_names: list[str]) -> np.ndarray:
    """Returns the number of each value of a side's masks, int64 `[256]`.

    Args:
      names: the classes of the side.
      class_names: those of both sides. A value that is no class has a number after them.
    """
    numbers = len(class_names) + np.arange(256)
    numbers[: len(names)] = [class_names.index(name) for name in names]
    return numbers


def _decode_mask(label: _Label) -> np.ndarray:
    (data,) = tf_feature_pb2.Feature.FromString(label[MASK]).bytes_list.value or [b""]
    return records.pixels(File(data, MASK))


def _name_label(label: _Label, names: tuple[str, ...]) -> str:
    """Returns the names of the classes that an image has in place of a mask."""
    values = tf_feature_pb2.Feature.FromString(label.get(LABEL, b"")).int64_list.value
    return ", ".join(names[n] if 0 <= n < len(names) else str(n) for n in values)
