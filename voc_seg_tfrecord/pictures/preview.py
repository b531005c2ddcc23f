"""Contact sheets: examples of a built dataset in rows, under a legend of their colours."""

from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import io

from etils import epath
from PIL import Image, ImageDraw
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import staging, wording
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.built.dataset import background, class_names, palette
from voc_seg_tfrecord.pictures import lettering, pick
from voc_seg_tfrecord.pictures.cell import cell, width_of
from voc_seg_tfrecord.pictures.lettering import LegendEntry, legend
from voc_seg_tfrecord.pictures.overlay import Look, class_colors
from voc_seg_tfrecord.pictures.pick import Example, count_examples

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


Group = tuple[int | None, Sequence[Example]]
"""Examples that stand together on a sheet, and their class; None if it is not divided by class."""


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
        shown = {background(builder), *(value for value, _ in groups)}
        absent = tuple(name for value, name in enumerate(names) if value not in shown)
        content = f"examples of {wording.counted(len(groups), 'class')} of {split}"
    else:
        content = f"{wording.counted(len(groups[0][1]), 'example')} of {split}"
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
        examples, of_splits = pick.named(
            builder, sorted(splits, key=lambda split: split != "train"), choice.ids
        )
        return [(None, examples)], of_splits
    split = choice.split or pick.default_split(builder)
    if choice.by_class:
        num = choice.num or _NUM_OF_CLASS
        check_number(num * max(1, len(class_names(builder))))
        of_class = pick.by_class(builder, split, num, choice.seed)
        groups: list[Group] = [*of_class.items()]
    else:
        num = choice.num or _NUM
        check_number(min(num, max(1, count_examples(builder, split))))
        groups = [(None, pick.some(builder, split, num, choice.seed))]
    return [group for group in groups if group[1]], [split]


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


MAX_EXAMPLES = 600
"""More do not fit on a sheet: it would take gigabytes."""

_MARGIN, _BETWEEN = 20, 24  # around the sheet, and between examples
_LINE, _TITLE, _HEADING = 30, 18, 15  # height of a line, and of the letters in it

_Cell = tuple[int | None, Example]
"""An example, and the class that begins with it, None if none does."""


def sheet(
    title: str,
    groups: Iterable[Group],
    look: Look,
    *,
    columns: int | None = None,
    note: str = "",
) -> Image.Image:
    """Draws a sheet.

    Args:
      title: the first line.
      groups: the examples.
      look: names and colours of the classes.
      columns: how many examples stand side by side; by default 1 for up to three examples with
        masks, 2 for more, and 3 for examples without masks.
      note: a last line of the legend.

    Returns:
      An RGB image. Fields of the legend and masks have the exact colours of `look`.

    Raises:
      ConfigError: if there are no examples or too many.
    """
    groups = list(groups)
    examples = [example for _, of_group in groups for example in of_group]
    check_number(len(examples))
    if columns is None:
        columns = 3 if examples[0].mask is None else 1 if len(examples) <= 3 else 2
    bands = _bands(groups, columns)
    columns = max(map(len, bands))
    width = columns * (width_of(examples[0]) + _BETWEEN) - _BETWEEN
    parts = [
        _line(title, _TITLE, width),
        *_legend(examples, look, width, note),
        *(_drawn(band, look, width) for band in bands),
    ]
    height = sum(part.height for part in parts) + 2 * _MARGIN
    paper = Image.new("RGB", (width + 2 * _MARGIN, height), lettering.PAPER)
    top = _MARGIN
    for part in parts:
        paper.paste(part, (_MARGIN, top))
        top += part.height
    return paper


def check_number(examples: int) -> None:
    """Checks how many examples a sheet shall show.

    Raises:
      ConfigError: if there are none, or more than fit.
    """
    if not 0 < examples <= MAX_EXAMPLES:
        raise ConfigError(
            "num",
            found=f"{examples} examples on one sheet",
            expected=f"1 to {MAX_EXAMPLES}",
            remedy="draw several sheets, of slices such as train[:100]" if examples else "",
        )


def _line(text: str, size: int, width: int) -> Image.Image:
    drawn = Image.new("RGB", (width, _LINE), lettering.PAPER)
    text = lettering.fitted(text, size, width, bold=True)
    lettering.write_text(drawn, (0, _LINE // 2), text, size, bold=True)
    return drawn


def _legend(
    examples: Sequence[Example], look: Look, width: int, note: str
) -> Iterator[Image.Image]:
    """Yields the key to all masks of the sheet, in mask order, and what to know of it."""
    values = sorted({value for example in examples for value, _ in example.shares})
    entries: list[LegendEntry] = [
        (value, f"{value} {lettering.name_of(value, look.names)}") for value in values
    ]
    entries += [(None, note)] if note else []
    if drawn := legend(entries, look.palette, width):
        yield drawn


def _bands(groups: Sequence[Group], columns: int) -> list[list[_Cell]]:
    """Returns what stands side by side. Groups of one example each share a row."""
    cells = [
        [(None if number else value, example) for number, example in enumerate(examples)]
        for value, examples in groups
    ]
    if all(len(group) == 1 for group in cells):
        cells = [[group[0] for group in cells]]
    return [
        group[start : start + columns] for group in cells for start in range(0, len(group), columns)
    ]


def _drawn(band: Sequence[_Cell], look: Look, width: int) -> Image.Image:
    """Draws examples side by side, each under the name of the class that begins with it."""
    cells = [cell(example, look) for _, example in band]
    begins = any(value is not None for value, _ in band)
    top = _BETWEEN // 2 + (_LINE if begins else 0)
    drawn = Image.new("RGB", (width, max(c.height for c in cells) + top), lettering.PAPER)
    for number, (value, _) in enumerate(band):
        left = number * (cells[0].width + _BETWEEN)
        if value is not None:
            ImageDraw.Draw(drawn).line((left, 8, left + cells[0].width, 8), lettering.PALE)
            name = lettering.name_of(value, look.names)
            drawn.paste(_line(name, _HEADING, cells[0].width), (left, 12))
        drawn.paste(cells[number], (left, top))
    return drawn
