"""Finds what a new version of a dataset changes about the version before it.

A number that means another class, or an id in another split, spoils what was trained or measured
before, and no reader could see it.
"""

from collections.abc import Iterable, Mapping, Sequence
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, command, counted
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.find import versions_in

_MAX_NAMED = 6
"""How many classes or ids a message names."""


class OlderVersion:
    """The newest version of a config in a folder that is not newer than the one that is built.

    A dataset that is replaced is an older version too. If there is no such version, nothing is
    compared. Changes that the user should know are warnings.

    Args:
      folder: of the version that is built.
    """

    def __init__(self, folder: epath.Path):
        self._name = ""
        self._builder: tfds.core.DatasetBuilder | None = None
        version = tfds.core.Version(folder.name)
        folders = versions_in(folder.parent)
        older = [path for path in folders if tfds.core.Version(path.name) <= version]
        if not older:
            return
        self._name = older[-1].name
        try:
            self._builder = dataset.open_built(older[-1])
        except VocSegError as error:
            self._warn_unread(error)

    def _warn_unread(self, error: VocSegError) -> None:
        warnings.warn(
            f"Version {self._name} cannot be read, so it was not compared with the new one: "
            f"{error.found}.",
            stacklevel=3,
        )

    def check_classes(self, names: Sequence[str], *, are_numbered: bool) -> None:
        """Warns of numbers that mean another class now.

        Args:
          names: the classes that are built, in mask order.
          are_numbered: whether the user gave the numbers, in a file or by an option.

        Raises:
          ConfigError: if nobody gave the numbers.
        """
        if self._builder is None:
            return
        before = dataset.class_names(self._builder)
        if dataset.background(self._builder) == 0 and background_index(names) == 0:
            before = (names[0], *before[1:])  # in another spelling it is the same class
        changed = []
        for number, (old, new) in enumerate(zip(before, names, strict=False)):
            if old != new:
                changed.append(f"{number} was {old:.40} and is {new:.40}")
        if not changed:
            return
        if are_numbered:
            text = f"Classes have other numbers than in version {self._name}: {_first(changed)}."
            warnings.warn(text, stacklevel=2)
            return
        same_numbers = [*before, *(name for name in names if name not in before)]
        raise ConfigError(
            f"version {self._name}",
            found=f"classes that get other numbers: {_first(changed)}. Nobody numbered them, "
            "so they are sorted by name",
            expected="classes that keep their numbers, or an order that you give",
            remedy=f"keep the numbers of {self._name}, with new classes after them, by "
            f"{_option(same_numbers)}, or take the new order by {_option(names)}",
        )

    def check_ids(self, ids: Mapping[str, Iterable[str]]) -> None:
        """Warns of image ids that are in another split now.

        The older version's records are read only if the digests of two splits differ.

        Args:
          ids: the image ids that are built, by split.
        """
        if self._builder is None:
            return
        ids_now = {split: set(of_split) for split, of_split in ids.items()}
        before = dict.fromkeys(self._builder.info.splits, "") | dataset.ids_sha256(self._builder)
        now = {split: id_list_sha256(of_split) for split, of_split in ids_now.items()}
        changed_splits = [s for s in {**before, **now} if before.get(s) != now.get(s)]
        if len(changed_splits) < 2:  # no id has moved from one split to another
            return
        try:
            ids_before = _read_ids(self._builder, changed_splits)
        except VocSegError as error:
            self._warn_unread(error)
            return
        moved = _find_moved(_splits_by_id(ids_before), _splits_by_id(ids_now, changed_splits))
        if moved:
            verb = "is" if len(moved) == 1 else "are"
            warnings.warn(
                f"{counted(len(moved), 'id')} {verb} in another split than in version "
                f"{self._name}: {_first(moved)}.",
                stacklevel=2,
            )


def _read_ids(builder: tfds.core.DatasetBuilder, splits: Sequence[str]) -> dict[str, set[str]]:
    """Returns the image ids of those splits that a dataset has."""
    return {
        split: set(records.scan(builder, split, dataset.image_of))
        for split in splits
        if split in builder.info.splits
    }


def _splits_by_id(
    ids: Mapping[str, Iterable[str]], splits: Iterable[str] | None = None
) -> dict[str, list[str]]:
    """Returns the splits of each id; of all splits, or of those that are given."""
    splits_by_id: dict[str, list[str]] = {}
    for split in ids if splits is None else splits:
        for image_id in ids.get(split, ()):
            splits_by_id.setdefault(image_id, []).append(split)
    return splits_by_id


def _find_moved(before: Mapping[str, list[str]], now: Mapping[str, list[str]]) -> list[str]:
    """Returns which ids are in other splits, as `ID (SPLIT -> SPLIT)`.

    In the folder of another split an image has another id, so ids are compared by their last part
    too. `diff` also compares bytes.

    Args:
      before: the splits of each image id of the older version.
      now: the splits of each image id that is built.
    """
    lost: dict[str, list[str]] = {}
    for image_id in sorted(before.keys() - now.keys()):
        lost.setdefault(_last_part(image_id), []).append(image_id)
    moved = []
    for image_id, splits in sorted(now.items()):
        old_ids = lost.get(_last_part(image_id), [])
        if image_id in before:
            old_ids = [image_id]
        for old_id in old_ids:
            if set(before[old_id]) & set(splits):
                continue
            old_ids.remove(old_id)  # an old id is one new id at most
            name = old_id if old_id == image_id else f"{old_id} -> {image_id}"
            moved.append(f"{name} ({', '.join(before[old_id])} -> {', '.join(splits)})")
            break
    return moved


def _last_part(image_id: str) -> str:
    return image_id.rpartition("/")[2]


def _first(texts: Sequence[str]) -> str:
    """Returns the first texts, and how many more there are."""
    named = ", ".join(texts[:_MAX_NAMED])
    unnamed = len(texts) - _MAX_NAMED
    return f"{named}, and {unnamed} more" if unnamed > 0 else named


def _option(names: Sequence[str]) -> str:
    """Returns the option that gives an order, or the argument if a name has a comma."""
    if any("," in name for name in names):
        return f"class_names={[*names]} in Python"
    return command(class_names=",".join(names))
