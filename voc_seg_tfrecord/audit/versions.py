"""Compares a new version of a dataset with the version before it.

It warns of a number that means another class now, and of ids that are in another split. Networks
that were trained before, and their scores, no longer fit, and no reader could see it.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
from typing import Self, cast
import warnings

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import matching
from voc_seg_tfrecord.audit.matching import ComparedExample
from voc_seg_tfrecord.core.class_rows import VOID_CLASS, Rows, check_rows, format_pairs
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError, counted
from voc_seg_tfrecord.core.example import Source
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.names import IMAGE, VOID, background_index
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.reading import dataset, metadata, records
from voc_seg_tfrecord.reading.find import versions_in
from voc_seg_tfrecord.writing.copies import digest_image

_MAX_NAMED = 6
"""How many classes or ids a message names."""


def open_older_version(folder: epath.Path) -> "OlderVersion | None":
    """Opens the newest version of a config that is not newer than the one that is built.

    A dataset that is replaced is an older version too.

    Args:
      folder: of the version that is built.

    Returns:
      The version; None if there is none, or if it cannot be read, which is a warning.
    """
    version = tfds.core.Version(folder.name)
    folders = versions_in(folder.parent)  # ascending
    older = [path for path in folders if tfds.core.Version(path.name) <= version]
    if not older:
        return None
    try:
        return OlderVersion(older[-1].name, dataset.open_built(older[-1]))
    except VocSegError as error:
        _warn_unread(older[-1].name, error)
        return None


def _warn_unread(version: str, error: VocSegError) -> None:
    warnings.warn(
        f"Version {version} cannot be read, so it was not compared with the new one: "
        f"{error.found}.",
        stacklevel=3,
    )


@dataclasses.dataclass(frozen=True)
class NewClasses:
    """The classes that are built.

    Attributes:
      names: in the order of their numbers.
      index_by_value: the number of each value's class in the source's masks; 255 for void.
      user_gave_order: whether an option of the user gives the classes their numbers. Then they may
        differ from those before, with a warning.
      have_default_names: whether the names are default names, as the user gave none.
      complete_table: the rows of `--classes`, if these alone name the classes and number them in
        their order; None if `--class_names` does.
    """

    names: Sequence[str]
    index_by_value: Mapping[int, int]
    user_gave_order: bool
    have_default_names: bool
    complete_table: Rows | None = None

    @classmethod
    def of_source(cls, source: Source, config: VocSegConfig) -> Self:
        """Returns the classes of a source that is built with a config."""
        return cls(
            source.spec.class_names,
            source.index_by_value,
            user_gave_order=source.numbered and not config.default_names,
            have_default_names=config.default_names,
            complete_table=_complete_table(config),
        )

    @classmethod
    def of_plan(cls, plan: FolderPlan) -> Self:
        """Returns the classes that a plan would build."""
        config = plan.config
        return cls(
            config.built_class_names,
            plan.index_by_value,
            user_gave_order=plan.are_classes_numbered and not config.default_names,
            have_default_names=config.default_names,
            complete_table=_complete_table(config),
        )

    def option(self, names: Sequence[str]) -> str:
        """Returns the option that gives these classes the order of some names."""
        if self.complete_table is None:
            return _option_of_names(names)
        order = {name: number for number, name in enumerate(names)}
        rows = sorted(self.complete_table, key=lambda row: order.get(row[1], len(order)))
        return command(classes=format_pairs(rows))


def _complete_table(config: VocSegConfig) -> Rows | None:
    """Returns the rows of a config that has no class names beside them; None if it has, or no rows.

    Args:
      config: a config, in which `classes` are rows in their normal form.
    """
    rows = cast(Rows, config.classes)
    return None if config.class_names or not rows else rows


@dataclasses.dataclass(frozen=True)
class OlderVersion:
    """A version that a new one is compared with.

    Changes that the user should know are warnings.

    Attributes:
      name: such as `1.0.0`.
      builder: reads it.
    """

    name: str
    builder: tfds.core.DatasetBuilder

    def check_classes(self, new: NewClasses) -> None:
        """Checks that each number means the same class in both versions.

        Classes are compared by name; by value if the names of either version are default names.

        | numbers | an option gives the order | result |
        | --- | --- | --- |
        | the same | either | nothing |
        | changed | yes | a warning |
        | changed | no | an error with options to choose from |

        Raises:
          ConfigError: see the table.
        """
        if new.have_default_names or metadata.has_default_names(self.builder):
            self._check_classes_by_value(new)
            return
        names = new.names
        before = metadata.class_names(self.builder)
        background_before = metadata.background(self.builder)
        are_both_background = background_before == 0 and background_index(names) == 0
        names_before = list(before)
        if are_both_background:
            names_before[0] = names[0]  # the new spelling of background
        changed = []
        # Classes that are new at the end, or gone from there, leave all other numbers alone.
        for number, (old_name, name) in enumerate(zip(names_before, names, strict=False)):
            if old_name != name:
                changed.append(f"{number} was {old_name:.40} and is {name:.40}")
        if not changed:
            return
        if new.user_gave_order:
            listed = _list_first(changed)
            text = f"Classes have other numbers than in version {self.name}: {listed}."
            warnings.warn(text, stacklevel=2)
            return
        new_names = [name for name in names if name not in names_before]
        same_numbers = [*names_before, *new_names]
        raise ConfigError(
            f"version {self.name}",
            found=f"classes with changed numbers: {_list_first(changed)}. No option gives an order",
            expected="classes that keep their numbers, or an order that you give",
            remedy=f"to keep the numbers of {self.name}, with new classes after them, add "
            f"{new.option(same_numbers)}; to take the new order, add {new.option(names)}",
        )

    def _check_classes_by_value(self, new: NewClasses) -> None:
        """Checks that each value means the same class number, as default names identify no class.

        If the numbers are the same and only the names differ, a warning says so.

        Raises:
          ConfigError: if a value has another number now and no option gives the order, or if no
            value is known in both versions.
        """
        before = metadata.class_names(self.builder)
        index_before = _index_by_value(self.builder, before)
        changes = _list_changed_values(index_before, new.index_by_value)
        if not changes:
            self._warn_of_new_names(before, new)
            return
        if new.user_gave_order:
            listed = _list_first(changes)
            text = f"Classes have other numbers than in version {self.name}: {listed}."
            warnings.warn(text, stacklevel=3)
            return
        raise ConfigError(
            f"version {self.name}",
            found=f"classes with changed numbers: {_list_first(changes)}",
            expected=f"values that keep the numbers of {self.name}, whose names are "
            f"{', '.join(before[:_MAX_NAMED])}",
            remedy=_remedy_of_moved_values(index_before, new),
        )

    def _warn_of_new_names(self, before: Sequence[str], new: NewClasses) -> None:
        """Warns of classes that keep their numbers, and are called otherwise now."""
        renamed = []
        for number, (old_name, name) in enumerate(zip(before, new.names, strict=False)):
            if old_name != name:
                renamed.append(f"{number} {old_name:.40} is {name:.40}")
        if not renamed:
            return
        if new.have_default_names and not metadata.has_default_names(self.builder):
            text = (
                f"Version {self.name} has names for these classes, and this one does not. To keep "
                f"them, add {_option_of_names(before)}."
            )
        else:
            text = (
                f"Nobody named the classes of version {self.name}. Their numbers stay, and their "
                f"names are new: {_list_first(renamed)}."
            )
        warnings.warn(text, stacklevel=4)

    def check_ids(
        self, ids: Mapping[str, Iterable[str]], digest_by_id: Mapping[str, int] | None = None
    ) -> None:
        """Warns of image ids that are in another split now.

        The older version's records are read only if the digests of two splits differ.

        Args:
          ids: the image ids that are built, by split.
          digest_by_id: the digests of the images that are built, by which renamed ones are known;
            see `copies.digest_image`.
        """
        ids_now = {split: set(ids_of_split) for split, ids_of_split in ids.items()}
        # A version without a digest of its ids has an empty one, which differs from any other.
        digests_before = dict.fromkeys(self.builder.info.splits, "")
        digests_before |= metadata.ids_sha256(self.builder)
        digests = {split: id_list_sha256(ids_of_split) for split, ids_of_split in ids_now.items()}
        changed_splits = []
        for split in {**digests_before, **digests}:
            if digests_before.get(split) != digests.get(split):
                changed_splits.append(split)
        if len(changed_splits) < 2:  # no id has moved from one split to another
            return
        try:
            before = _read_examples(self.builder, changed_splits)
        except VocSegError as error:
            _warn_unread(self.name, error)
            return
        images_now = digest_by_id or {}
        now = []
        for split in changed_splits:
            for image_id in sorted(ids_now.get(split, ())):
                now.append(ComparedExample(image_id, split, images_now.get(image_id)))
        moved = _find_moved(before, now)
        if moved:
            verb = "is" if len(moved) == 1 else "are"
            warnings.warn(
                f"{counted(len(moved), 'id')} {verb} in another split than in version "
                f"{self.name}: {_list_first(moved)}.",
                stacklevel=2,
            )


def _read_examples(
    builder: tfds.core.DatasetBuilder, splits: Sequence[str]
) -> list[ComparedExample]:
    """Returns the images of those splits that a dataset has, ascending by id within a split.

    The digest of an image that was cut into tiles is that of a tile, which no image has.
    """
    examples = []
    for split in splits:
        if split in builder.info.splits:
            digest_by_id = dict(records.scan(builder, split, _digest_record))
            for image_id, digest in sorted(digest_by_id.items()):
                examples.append(ComparedExample(image_id, split, digest))
    return examples


def _digest_record(record: records.Record) -> tuple[str, int]:
    return record.image_id, digest_image(record.bytes(IMAGE))


def _find_moved(before: Iterable[ComparedExample], now: Iterable[ComparedExample]) -> list[str]:
    """Returns which images are in another split, as `ID (SPLIT -> SPLIT)`.

    Images that were changed or whose digests are not known are matched by their ids.
    """
    pairs = matching.match(before, now, (*matching.BY_IMAGE, *matching.BY_NAME)).pairs
    moved = []
    for old, new in sorted(pairs, key=lambda pair: pair[1].id):
        if old.split != new.split:
            name = new.id if old.id == new.id else f"{old.id} -> {new.id}"
            moved.append(f"{name} ({old.split} -> {new.split})")
    return moved


def _index_by_value(builder: tfds.core.DatasetBuilder, names: Sequence[str]) -> dict[int, int]:
    """Returns the class index, or 255, of each value of a dataset, as its metadata has it."""
    rows = check_rows((builder.info.metadata or {}).get("classes") or ())
    index_by_name = {VOID_CLASS: VOID, **{name: index for index, name in enumerate(names)}}
    index_by_value: dict[int, int] = {}
    for key, name in rows:
        if isinstance(key, int) and name in index_by_name:
            index_by_value[key] = index_by_name[name]
    return index_by_value


def _list_changed_values(before: Mapping[int, int], now: Mapping[int, int]) -> list[str]:
    """Returns in words which values have another class number now.

    Args:
      before: the class number of each value in the older version; 255 for void.
      now: the same in the new version.

    Returns:
      A text about each such value. If no value is in both versions, so that this cannot be known,
      one text that says so.
    """
    common_values = [value for value in before if value in now]
    if not common_values:
        return ["the masks store no values that tell which class was which"]
    changes = []
    for value in common_values:
        if before[value] != now[value]:
            changes.append(
                f"value {value} was {_number(before[value])} and is {_number(now[value])}"
            )
    return changes


def _remedy_of_moved_values(index_before: Mapping[int, int], new: NewClasses) -> str:
    """Returns the option that keeps the numbers of values, and that for the new ones.

    `--class_names` gives 0 the first name, 1 the second, and so on. So it keeps the numbers only if
    each value was the number of its class, and the new masks use all values from 0 on.
    """
    new_order = f"to take the new order, add {new.option(new.names)}"
    values = sorted(value for value, index in new.index_by_value.items() if index != VOID)
    are_numbers = values == [*range(len(new.names))]
    if are_numbers and all(index_before.get(value) == value for value in values):
        names = [new.names[new.index_by_value[value]] for value in values]
        if names != list(new.names):
            return f"to keep the numbers, add {_option_of_names(names)}; {new_order}"
    return f"{new_order}; or build under another name"


def _number(index: int) -> str:
    return VOID_CLASS if index == VOID else f"class {index}"


def _list_first(texts: Sequence[str]) -> str:
    """Returns the first texts, whole, and how many more there are."""
    named = ", ".join(texts[:_MAX_NAMED])
    unnamed = len(texts) - _MAX_NAMED
    return f"{named}, and {unnamed} more" if unnamed > 0 else named


def _option_of_names(names: Sequence[str]) -> str:
    """Returns `--class_names` with these names; or the argument in Python if one has a comma."""
    if any("," in name for name in names):
        return f"class_names={[*names]} in Python"
    return command(class_names=",".join(names))
