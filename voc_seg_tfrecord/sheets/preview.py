"""Examples of a built dataset on one sheet, by its name or its builder."""

from collections.abc import Sequence
import dataclasses

from PIL import Image
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit.dataset import background, class_names, palette
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.sheets import pick
from voc_seg_tfrecord.sheets.cell import Look
from voc_seg_tfrecord.sheets.example import count
from voc_seg_tfrecord.sheets.overlay import class_colors
from voc_seg_tfrecord.sheets.sheet import Group, check_number, sheet

_NUM, _NUM_OF_CLASS = 9, 1


@dataclasses.dataclass(frozen=True)
class Wanted:
    """Which examples a sheet shows, and how.

    Attributes:
      num: how many; of each class with `by_class`. 9 or 1 if None.
      split: a split or a slice; `train`, or the first split, if None.
      ids: image ids; these are shown in this order, and looked for in all splits if `split` is
        None.
      by_class: whether to show examples of each class under its name.
      columns: examples side by side; None leaves it to the sheet.
      seed: for a choice at random; None takes the first examples.

    Raises:
      ConfigError: if two of these contradict each other.
    """

    num: int | None = None
    split: str | None = None
    ids: Sequence[str] | None = None
    by_class: bool = False
    columns: int | None = None
    seed: int | None = None

    def __post_init__(self):
        if isinstance(self.ids, str) or (self.ids is not None and not len(self.ids)):
            raise ConfigError("ids", found=repr(self.ids), expected="a list of image ids")
        if self.ids is not None and (
            self.by_class or self.num is not None or self.seed is not None
        ):
            raise ConfigError(
                "ids",
                found="ids together with num, by_class or seed",
                expected="either ids, which are all shown, or a choice",
                remedy="leave one out",
            )
        for name in ("num", "columns"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise ConfigError(name, found=str(value), expected="1 or more")
        if self.seed is not None and self.seed < 0:
            raise ConfigError("seed", found=str(self.seed), expected="0 or more")


@dataclasses.dataclass(frozen=True)
class Preview:
    """A drawn sheet, and what is on it.

    Attributes:
      image: the sheet, RGB.
      content: what it shows, such as `9 examples of train`.
      split: where the examples are from.
      absent: names of the classes that `by_class` found in no example of the split.
    """

    image: Image.Image
    content: str
    split: str
    absent: tuple[str, ...]


def draw(builder: tfds.core.DatasetBuilder, wanted: Wanted) -> Preview:
    """Picks, reads and draws examples of a built dataset.

    Raises:
      ConfigError: if there is no such split, id or class.
      RecordError: if the examples cannot be read.
    """
    names = class_names(builder)
    groups, splits = _chosen(builder, wanted)
    split = ", ".join(splits)
    if not groups:
        raise ConfigError(
            builder.info.full_name,
            found=f"no example of any class in {split}" if wanted.by_class else f"{split} is empty",
            expected="at least one example",
            remedy="choose another split",
        )
    absent: tuple[str, ...] = ()
    if wanted.by_class:
        shown = {background(builder), *(group.value for group in groups)}
        absent = tuple(name for value, name in enumerate(names) if value not in shown)
        content = f"examples of {_number(len(groups), 'class', 'classes')} of {split}"
    else:
        content = f"{_number(len(groups[0].examples), 'example', 'examples')} of {split}"
    drawn = sheet(
        f"{builder.info.full_name}: {content}",
        groups,
        Look(names, class_colors(background(builder), palette(builder)), background(builder)),
        columns=wanted.columns,
        note=f"In no example of {split}: {', '.join(absent)}." if absent else "",
    )
    return Preview(drawn, content, split, absent)


def _chosen(builder: tfds.core.DatasetBuilder, wanted: Wanted) -> tuple[list[Group], list[str]]:
    """Reads the examples, in groups that are not empty, and names the splits they are from."""
    if wanted.ids is not None:
        check_number(len(wanted.ids))
        splits = [wanted.split] if wanted.split else builder.info.splits
        examples, found = pick.named(
            builder, sorted(splits, key=lambda split: split != "train"), wanted.ids
        )
        return [Group(examples)], found
    split = wanted.split or pick.default_split(builder)
    if wanted.by_class:
        num = wanted.num or _NUM_OF_CLASS
        check_number(num * max(1, len(class_names(builder))))
        of_class = pick.by_class(builder, split, num, wanted.seed)
        groups = [Group(examples, value) for value, examples in of_class.items()]
    else:
        num = wanted.num or _NUM
        check_number(min(num, max(1, count(builder, split))))
        groups = [Group(pick.some(builder, split, num, wanted.seed))]
    return [group for group in groups if group.examples], [split]


def _number(number: int, one: str, many: str) -> str:
    return f"{number} {one if number == 1 else many}"
