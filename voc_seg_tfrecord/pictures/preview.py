"""Examples of a built dataset on one sheet: drawn, and saved to a file."""

from collections.abc import Sequence
import dataclasses
import io

from etils import epath
from PIL import Image
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import staging, wording
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.built.dataset import background, class_names, palette
from voc_seg_tfrecord.pictures import pick
from voc_seg_tfrecord.pictures.cell import Look
from voc_seg_tfrecord.pictures.overlay import class_colors
from voc_seg_tfrecord.pictures.pick import count_examples
from voc_seg_tfrecord.pictures.sheet import Group, check_number, sheet

_NUM, _NUM_OF_CLASS = 9, 1


@dataclasses.dataclass(frozen=True)
class Choice:
    """Which examples a sheet shows, and how; its fields are arguments of `figure.preview`.

    Raises:
      ConfigError: if two of these contradict each other.
    """

    num: int | None = None
    split: str | None = None
    ids: Sequence[str] | None = None
    by_class: bool = False
    columns: int | None = None
    seed: int | None = None

    def __post_init__(self) -> None:
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


def draw(builder: tfds.core.DatasetBuilder, choice: Choice) -> Preview:
    """Picks, reads and draws examples of a built dataset.

    Raises:
      ConfigError: if there is no such split, id or class.
      RecordError: if the examples cannot be read.
    """
    names = class_names(builder)
    groups, splits = _chosen(builder, choice)
    split = ", ".join(splits)
    if not groups:
        raise ConfigError(
            builder.info.full_name,
            found=f"no example of any class in {split}" if choice.by_class else f"{split} is empty",
            expected="at least one example",
            remedy="choose another split",
        )
    absent: tuple[str, ...] = ()
    if choice.by_class:
        shown = {background(builder), *(group.value for group in groups)}
        absent = tuple(name for value, name in enumerate(names) if value not in shown)
        content = f"examples of {wording.counted(len(groups), 'class')} of {split}"
    else:
        content = f"{wording.counted(len(groups[0].examples), 'example')} of {split}"
    drawn = sheet(
        f"{builder.info.full_name}: {content}",
        groups,
        Look(names, class_colors(background(builder), palette(builder)), background(builder)),
        columns=choice.columns,
        note=f"In no example of {split}: {', '.join(absent)}." if absent else "",
    )
    return Preview(drawn, content, split, absent)


def _chosen(builder: tfds.core.DatasetBuilder, choice: Choice) -> tuple[list[Group], list[str]]:
    """Reads the examples, in groups that are not empty, and names the splits they are from."""
    if choice.ids is not None:
        check_number(len(choice.ids))
        splits = [choice.split] if choice.split else builder.info.splits
        examples, found = pick.named(
            builder, sorted(splits, key=lambda split: split != "train"), choice.ids
        )
        return [Group(examples)], found
    split = choice.split or pick.default_split(builder)
    if choice.by_class:
        num = choice.num or _NUM_OF_CLASS
        check_number(num * max(1, len(class_names(builder))))
        of_class = pick.by_class(builder, split, num, choice.seed)
        groups = [Group(examples, value) for value, examples in of_class.items()]
    else:
        num = choice.num or _NUM
        check_number(min(num, max(1, count_examples(builder, split))))
        groups = [Group(pick.some(builder, split, num, choice.seed))]
    return [group for group in groups if group.examples], [split]


ENDINGS = (".png", ".jpg", ".jpeg")
"""Of the files that a sheet is saved as."""


def save(drawn: Image.Image, out: epath.Path) -> None:
    """Saves a sheet as PNG, with the exact colours, or as JPEG, which is smaller.

    Raises:
      ConfigError: if the file cannot be written, or the sheet is too large for JPEG.
    """
    file = io.BytesIO()
    try:
        if out.suffix.lower() == ".png":
            drawn.save(file, "PNG")
        else:  # without subsampling, which turns thin lines of colour grey
            drawn.save(file, "JPEG", quality=92, subsampling=0)
    except (OSError, ValueError) as error:
        raise ConfigError(
            f"--out {out}",
            found=f"a sheet of {drawn.width} x {drawn.height} pixels: {error}",
            expected="at most 65500 pixels in height and width, for JPEG",
            remedy="save it as .png, or draw fewer examples",
        ) from None
    staging.write_file(out, file.getvalue(), "--out")
