"""What changed between two datasets, or between a dataset and a folder in the same layout.

Each side is read once, and only hashes of it are kept. Masks are decoded where their bytes differ,
or where the classes of the two sides have other numbers. Classes are compared by their names.
"""

import collections
from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import hashlib
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.proto import tf_feature_pb2

from voc_seg_tfrecord.audit import leaks, source_records
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
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.records import Record


@dataclasses.dataclass(frozen=True)
class MaskChange:
    """How a mask changed.

    Attributes:
      pixels: how many pixels have another class; None if that cannot be said, because the sizes
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
        the id begins with the folder.
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


@dataclasses.dataclass(frozen=True)
class Diff:
    """What changed.

    Attributes:
      names: of both sides.
      counts: how many examples each split of both sides has.
      ids_sha256: of the image ids of each split of both sides; see `id_lists.id_list_sha256`.
      classes: the class names of both sides, in mask order.
      changes: every example that is not the same, in the order of splits and ids.
    """

    names: tuple[str, str]
    counts: tuple[Mapping[str, int], Mapping[str, int]]
    ids_sha256: tuple[Mapping[str, str], Mapping[str, str]]
    classes: tuple[tuple[str, ...], tuple[str, ...]]
    changes: Sequence[Change]

    @property
    def broken(self) -> dict[str, list[str]]:
        """Ids that validation and test splits of the first side lost, or that changed in them."""
        ids: dict[str, list[str]] = {}
        for change in self.changes:
            if change.before and leaks.role_of(change.before) == leaks.EVALUATION:
                ids.setdefault(change.before, []).append(change.id)
        return ids


_Place = tuple[str, str]
"""Id and split."""

_Hashes = tuple[bytes, bytes, str]
"""Of an example's image, and of its other features; and the image's id, other than a tile's."""

_Features = dict[str, bytes]
"""All features of an example but its image, by name, in the order of names."""


def compare(
    before: tfds.core.DatasetBuilder,
    after: tfds.core.DatasetBuilder | epath.PathLike,
    *,
    name: str = "",
    progress: bool = False,
) -> Diff:
    """Says what changed from one dataset to another, or to a folder, which the report calls `name`.

    An unpacked folder is read as a build of `before` would read it now.

    Raises:
      ConfigError: if the dataset does not say how it was built, which a folder needs.
      VocSegError: if a shard or the folder cannot be read.
    """
    unusable: dict[_Place, str] = {}
    names, classes = (before.info.full_name, name or str(after)), dataset.class_names(before)
    if not isinstance(after, tfds.core.DatasetBuilder):
        examples = _read_folder(before, epath.Path(after).expanduser(), unusable, progress)
    else:
        examples = _read(after, progress)
        names, classes = (names[0], after.info.full_name), dataset.class_names(after)
        if names[0] == names[1]:
            names = str(before.data_path), str(after.data_path)
    meaning = _Meaning(dataset.class_names(before), classes)
    ours = {
        place: _hashes(place, image, others) for place, image, others in _read(before, progress)
    }
    theirs: dict[_Place, _Hashes] = {}
    features: dict[_Place, _Features] = {}
    for place, image, others in examples:
        theirs[place] = _hashes(place, image, others)
        if ours.get(place) != theirs[place] or not meaning.same:
            features[place] = others
    pairs, lost, new = _match(ours, theirs)
    compared = {one for one, other in pairs.items() if other in features and other not in unusable}
    found_again = _find(before, compared, progress)
    changes = [Change(*place, "") for place in lost]
    changes += [Change(i, "", split, unusable=unusable.get((i, split), "")) for i, split in new]
    for one, other in pairs.items():
        change = Change(
            *one,
            other[1],
            unusable=unusable.get(other, ""),
            id_after=other[0] if other[0] != one[0] else "",
        )
        if one in compared:
            change = dataclasses.replace(
                change,
                image=ours[one][0] != theirs[other][0],
                **meaning.differences(found_again[one], features[other], bool(change.id_after)),
            )
        if change != Change(*one, one[1]):
            changes.append(change)
    changes.sort(key=lambda change: (change.before or change.after, change.id))
    counts = [dict(collections.Counter(split for _, split in side)) for side in (ours, theirs)]
    return Diff(
        names,
        (counts[0], counts[1]),
        (_ids_sha256(ours), _ids_sha256(theirs)),
        (meaning.before, meaning.after),
        changes,
    )


def _read(
    builder: tfds.core.DatasetBuilder, progress: bool
) -> Iterator[tuple[_Place, bytes, _Features]]:
    """Yields place, hash of the image and all other features of each example of a dataset."""
    for split in builder.info.splits:
        for example_id, image, others in records.scan(builder, split, _parts, progress=progress):
            yield (example_id, split), image, others


def _parts(record: Record) -> tuple[str, bytes, _Features]:
    """Returns id, hash of the image, and the other features in the order of their names."""
    others = {
        name: record.bytes(MASK) if name == MASK else value.SerializeToString(deterministic=True)
        for name, value in sorted(record.features.items())
        if name not in (IMAGE, LABELS)  # the labels follow from the mask
    }
    return record.id, _hash(record.bytes(IMAGE)), others


def _read_folder(
    builder: tfds.core.DatasetBuilder,
    folder: epath.Path,
    unusable: dict[_Place, str],
    progress: bool,
) -> Iterator[tuple[_Place, bytes, _Features]]:
    """Yields the same of a folder; fills in why files cannot be used, by image id and split."""
    for split, image_id, made in source_records.read_folder(builder, folder, progress=progress):
        if isinstance(made, VocSegError):
            unusable[image_id, split] = str(made)
            yield (image_id, split), b"", {}
            continue
        for record in made:
            _, image, others = _parts(record)
            yield (record.id, split), image, others


def _find(
    builder: tfds.core.DatasetBuilder, places: set[_Place], progress: bool
) -> dict[_Place, _Features]:
    """Reads the splits of some examples once more; returns their features but the image."""
    features: dict[_Place, _Features] = {}
    for split in dict.fromkeys(split for _, split in sorted(places)):

        def pick(record: Record, split: str = split) -> tuple[_Place, _Features]:
            place = record.id, split
            return place, _parts(record)[2] if place in places else {}

        found = records.scan(builder, split, pick, progress=progress)
        features |= {place: part for place, part in found if place in places}
    return features


def _match(
    ours: Mapping[_Place, _Hashes], theirs: Mapping[_Place, _Hashes]
) -> tuple[dict[_Place, _Place], list[_Place], list[_Place]]:
    """Returns which example of the first side is which of the second, and those without another.

    An example is the same if its id and its split are. In another split it is the same if its
    image is too, and its id or the id's last part: folders of two splits may each have a `0001`.
    """
    pairs = {place: place for place in ours if place in theirs}
    lost = [place for place in ours if place not in pairs]
    new = dict.fromkeys(place for place in theirs if place not in ours)
    for name in (str, lambda example_id: example_id.rpartition("/")[2]):
        places = collections.defaultdict(list)
        for place in new:
            places[theirs[place][0], name(place[0])].append(place)
        for place in lost:
            same = places[ours[place][0], name(place[0])]
            if (other := next((p for p in same if p[1] != place[1]), None)) is not None:
                pairs[place] = other
                same.remove(other)
                del new[other]
        lost = [place for place in lost if place not in pairs]
    return pairs, lost, list(new)


@dataclasses.dataclass(frozen=True)
class _Meaning:
    """The class names of both sides."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @functools.cached_property
    def same(self) -> bool:
        """Whether no number means one class on one side and another class on the other."""
        return all(a == b for a, b in zip(self.before, self.after, strict=False))

    @functools.cached_property
    def _names(self) -> list[str]:
        names = [*dict.fromkeys((*self.before, *self.after))]
        return [*names, *(f"value {n}" for n in range(len(names), VOID)), "void"]

    def _numbers(self, names: tuple[str, ...]) -> np.ndarray:
        """Returns the place in `_names` of each value of a side's masks, int64 `[256]`."""
        numbers = np.arange(256)
        numbers[: len(names)] = [self._names.index(name) for name in names]
        numbers[VOID] = len(self._names) - 1
        return numbers

    def differences(self, ours: _Features, theirs: _Features, renamed: bool) -> dict[str, Any]:
        """Returns `mask` and `others` of a `Change` for the features of both sides."""
        names = sorted({*ours, *theirs} - ({FILENAME, TILE_IMAGE_ID} if renamed else set()))
        differ = [name for name in names if ours.get(name) != theirs.get(name)]
        mask = None
        if MASK in differ or not self.same:
            mask = self._mask_change(ours.get(MASK), theirs.get(MASK))
        if LABEL in names:
            before, after = self._label(ours, self.before), self._label(theirs, self.after)
            mask = None if before == after else MaskChange(None, ((before, after, 0),))
        others = [name for name in differ if name not in (MASK, LABEL)]
        if not self.same:
            others = [name for name in others if not name.startswith(f"{OBJECTS}/label")]
        return {"mask": mask, "others": tuple(others)}

    def _mask_change(self, ours: bytes | None, theirs: bytes | None) -> MaskChange | None:
        """Returns how two masks differ, None if every pixel has the same class."""
        if ours is None or theirs is None:
            return None if ours is theirs else MaskChange()
        try:
            first, second = (records.pixels(File(mask, MASK)) for mask in (ours, theirs))
        except VocSegError:
            return None if ours == theirs else MaskChange()
        if first.shape != second.shape:
            return MaskChange()
        count = len(self._names)
        numbers = self._numbers(self.before)[first] * count + self._numbers(self.after)[second]
        cells = np.bincount(numbers.ravel(), minlength=count**2).reshape(count, count)
        np.fill_diagonal(cells, 0)
        if not cells.any():
            return None
        rows = [(self._names[i], self._names[j], int(cells[i, j])) for i, j in np.argwhere(cells)]
        return MaskChange(int(cells.sum()), tuple(sorted(rows, key=lambda row: -row[2])))

    def _label(self, features: _Features, names: tuple[str, ...]) -> str:
        values = tf_feature_pb2.Feature.FromString(features.get(LABEL, b"")).int64_list.value
        return ", ".join(names[n] if 0 <= n < len(names) else str(n) for n in values)


def _hash(*parts: bytes) -> bytes:
    """Returns a hash of texts, each with its length before it."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(b"%d " % len(part))
        digest.update(part)
    return digest.digest()[:16]


def _hashes(place: _Place, image: bytes, others: _Features) -> _Hashes:
    of_tile = tf_feature_pb2.Feature.FromString(others.get(TILE_IMAGE_ID, b"")).bytes_list.value
    return image, _hash(*others.values()), of_tile[0].decode() if of_tile else place[0]


def _ids_sha256(hashes: Mapping[_Place, _Hashes]) -> dict[str, str]:
    ids: dict[str, set[str]] = {}
    for (_, split), (_, _, image_id) in hashes.items():
        ids.setdefault(split, set()).add(image_id)
    return {split: id_list_sha256(of_split) for split, of_split in ids.items()}
