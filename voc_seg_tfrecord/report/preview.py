"""Examples of a built dataset on one sheet, by its name or its builder."""

from collections.abc import Iterable, Sequence
import dataclasses

from PIL import Image
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit.dataset import background, palette
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.report import pick
from voc_seg_tfrecord.report.cell import Look
from voc_seg_tfrecord.report.overlay import class_colors
from voc_seg_tfrecord.report.sheet import Group, sheet

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
      count: how many examples it shows.
      split: where they are from.
      absent: names of the classes that `by_class` found in no example of the split.
    """

    image: Image.Image
    count: int
    split: str
    absent: tuple[str, ...]


def draw(builder: tfds.core.DatasetBuilder, wanted: Wanted) -> Preview:
    """Picks, reads and draws examples of a built dataset.

    Raises:
      ConfigError: if there is no such split, id or class.
      RecordError: if the examples cannot be read.
    """
    names = pick.class_names_of(builder)
    splits = [wanted.split] if wanted.split else [pick.default_split(builder)]
    absent: tuple[str, ...] = ()
    if wanted.ids is not None:
        splits = splits if wanted.split else _train_first(builder.info.splits)
        groups = [Group(pick.named(builder, splits, wanted.ids))]
    elif wanted.by_class:
        found = pick.by_class(builder, splits[0], wanted.num or _NUM_OF_CLASS, wanted.seed)
        groups = [Group(examples, value) for value, examples in found.items() if examples]
        missing = set(range(len(names))) - {group.value for group in groups}
        absent = tuple(names[v] for v in sorted(missing) if v != background(builder))
    else:
        groups = [Group(pick.some(builder, splits[0], wanted.num or _NUM, wanted.seed))]
    count = sum(len(group.examples) for group in groups)
    split = ", ".join(splits)
    look = Look(names, class_colors(background(builder), palette(builder)), background(builder))
    title = f"{builder.info.full_name}, {split}: {count} example{'s' * (count != 1)}"
    note = f"In no example of {split}: {', '.join(absent)}." if absent else ""
    drawn = sheet(title, groups, look, columns=wanted.columns, note=note)
    return Preview(drawn, count, split, absent)


def _train_first(splits: Iterable[str]) -> list[str]:
    return sorted(splits, key=lambda split: split != "train")
