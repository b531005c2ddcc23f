"""Draws the charts of the report page as inline SVG in the colors of the style sheet.

Each chart is as wide as a phone. Text stays text. No style attribute is used, so that the page can
forbid inline styles.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import itertools
from typing import TypeVar
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.gather import SplitFacts

MAX_COLORED_SPLITS = 6
"""Splits that have a color of their own: the classes `series0` to `series5` of the style sheet."""

_MAX_CLASSES = 30  # in a chart of bars
_MAX_SIZES = 400  # image sizes that have a dot
_MAX_CLASS_NAME_CHARACTERS = 16  # beside a bar
_MAX_SPLIT_NAME_CHARACTERS = 12  # beside a bar

# Places and lengths in CSS pixels.
_CHART_WIDTH = 340
_RIGHT = 328  # of what is charts
_TEXT_SIZE = 10
_BASELINE_BELOW_MIDDLE = 3.5  # of text
_TICK_ROOM = 5  # between a number and the axis
_TICK_TEXT_DISTANCE = 9  # from the axis down to its numbers

_FIRST_BAR_MIDDLE = 10
_CLASS_NAME_RIGHT = 111
_SQUARE_LEFT = 118
_SQUARE_SIDE = 7
_BAR_LEFT = 128
_BAR_LENGTH = 136  # of the longest one, which leaves room for the number behind it
_BAR_HEIGHT = 10
_BAR_STEP = 13  # from one bar to the next
_CLASS_GAP = 8  # between the bars of two classes

_HISTOGRAM_LEFT = 51
_HISTOGRAM_TOP = 13
_HISTOGRAM_BOTTOM = 168
_HISTOGRAM_BAR_SHARE = 0.86  # of the room between two marks

_SIZES_LEFT = 54
_SIZES_TOP = 10
_SIZES_BOTTOM = 218
_SIZES_ROOM = 1.06  # of the largest side, so that its dot is in the chart
_MIN_DOT_AREA = 14
_DOT_AREA_RANGE = 160

Value = TypeVar("Value")


@dataclasses.dataclass(frozen=True)
class ClassAxis:
    """The classes of charts of bars.

    Attributes:
      names: the names of the classes, by index.
      colors: the colors of the classes, by index, as `#rrggbb`.
      labels: the classes to show, in this order.
      links: for each class that has one, the link to its examples; see `_link`.
    """

    names: Sequence[str]
    colors: Sequence[str]
    labels: Sequence[int]
    links: Mapping[int, str] = dataclasses.field(default_factory=dict)


def draw_dataset_charts(
    facts: Mapping[str, SplitFacts],
    classes: ClassAxis,
    *,
    has_masks: bool,
    unit: str,
) -> dict[str, str]:
    """Draws the charts that a dataset gives data for, each as an SVG by name.

    Args:
      facts: of each split.
      classes: those to show; background is not among them.
      has_masks: whether the dataset has masks.
      unit: what a record is, `image` or `tile`.
    """
    sizes = {split: of_split.stats.sizes for split, of_split in facts.items()}
    charts = {"sizes": draw_sizes(sizes)}
    if classes.labels:
        images = {split: of_split.stats.images for split, of_split in facts.items()}
        charts["images"] = draw_bars(f"{unit.capitalize()}s per class", images, classes, "{:,}")
    if not has_masks:
        return charts
    if classes.labels:
        shares = {split: of_split.stats.share for split, of_split in facts.items()}
        charts["pixels"] = draw_bars("Pixels per class, as a share", shares, classes, "{:.2%}")
        objects = {
            split: of_split.stats.objects
            for split, of_split in facts.items()
            if of_split.stats.objects is not None
        }
        if len(objects) == len(facts):
            charts["objects"] = draw_bars("Objects per class", objects, classes, "{:,}")
    axis = f"% of the {unit}'s pixels"
    charts["void"] = draw_histogram(
        "Void's share of an image",
        count_void_shares(facts),
        VOID_PERCENTS,
        x_title=f"void, {axis}",
        y_title=f"{unit}s",
    )
    has_instances = all(of_split.has_instances for of_split in facts.values())
    charts["object_sizes"] = draw_histogram(
        "Sizes of objects",
        count_object_shares(facts),
        OBJECT_PERCENTS,
        x_title=axis,
        y_title="objects" if has_instances else "areas",
    )
    return charts


VOID_PERCENTS = ("0", "0.1", "2", "5", "10", "20", "50", "100")
"""The percents between which void's shares are counted."""

OBJECT_PERCENTS = ("0", "0.01", "0.1", "1", "3", "10", "30", "100")
"""The percents between which the shares of objects are counted."""


def count_void_shares(facts: Mapping[str, SplitFacts]) -> dict[str, list[int]]:
    """Returns for each split how many images have a share of void in each range."""
    return {
        split: _count_in_ranges(of_split.void_shares, VOID_PERCENTS)
        for split, of_split in facts.items()
    }


def count_object_shares(facts: Mapping[str, SplitFacts]) -> dict[str, list[int]]:
    """Returns for each split how many objects have a share of their image in each range."""
    return {
        split: _count_in_ranges(of_split.objects.shares, OBJECT_PERCENTS)
        for split, of_split in facts.items()
    }


def _count_in_ranges(shares: np.ndarray, percents: Sequence[str]) -> list[int]:
    edges = [float(percent) / 100 for percent in percents]
    counts, _ = np.histogram(shares, edges)
    return counts.tolist()


def table_of_ranges(
    counts: Mapping[str, Sequence[int]], percents: Sequence[str]
) -> list[tuple[str, list[int]]]:
    """Returns a row for each range of percents: the range in words, and the count of each split."""
    ranges = [f"{low} to {high} %" for low, high in itertools.pairwise(percents)]
    return [
        (words, [of_split[number] for of_split in counts.values()])
        for number, words in enumerate(ranges)
    ]


def draw_bars(
    title: str,
    values: Mapping[str, Sequence[float] | np.ndarray],
    classes: ClassAxis,
    number_format: str,
) -> str:
    """Draws one bar for each split and each of the first classes to show.

    Where a value is 0, a text says that the class is absent, once for a class without any bar.

    Args:
      title: what is counted.
      values: of each split, one value per class.
      classes: those to show.
      number_format: how a value is written, such as `{:.2%}`.
    """
    labels = classes.labels[:_MAX_CLASSES]
    values_of_labels = {
        split: [of_split[label] for label in labels] for split, of_split in values.items()
    }
    colored = _first_splits(values_of_labels)
    scale = _BAR_LENGTH / _largest(colored.values())
    class_height = _CLASS_GAP + _BAR_STEP * len(colored)
    parts = []
    for number, label in enumerate(labels):
        first_bar = class_height * number + _FIRST_BAR_MIDDLE
        middle = first_bar + _BAR_STEP / 2 * (len(colored) - 1)
        parts += _class_name(classes, label, middle)
        for place, of_split in enumerate(colored.values()):
            bar = _element(
                "rect",
                x=_BAR_LEFT,
                y=first_bar + _BAR_STEP * place - _BAR_HEIGHT // 2,
                height=_BAR_HEIGHT,
                width=float(of_split[number] * scale),
                class_=f"fill-series{place}",
            )
            parts.append(_link(classes.links.get(label, ""), bar))
    for text in _bar_texts(values_of_labels, number_format):
        x = _BAR_LEFT + text.value * scale + 2
        y = class_height * text.class_number + _FIRST_BAR_MIDDLE + _BAR_STEP * text.bar
        parts.append(_text(x, y, text.words, class_="fill-ink" if text.value else "fill-warn"))
    height = class_height * len(labels) + _FIRST_BAR_MIDDLE
    parts.append(_line(_BAR_LEFT, 0, _BAR_LEFT, height))
    return _chart(height, _describe_chart(title, colored), parts)


def _class_name(classes: ClassAxis, label: int, middle: float) -> list[str]:
    """Returns the name of a class, and a square in its color."""
    name = clean(classes.names[label], _MAX_CLASS_NAME_CHARACTERS)
    text = _text(_CLASS_NAME_RIGHT, middle, name, font_size=11, text_anchor="end")
    square = _element(
        "rect",
        x=_SQUARE_LEFT,
        y=middle - _SQUARE_SIDE / 2,
        width=_SQUARE_SIDE,
        height=_SQUARE_SIDE,
        fill=classes.colors[label],
        class_="stroke-line",
    )
    return [_link(classes.links.get(label, ""), text), square]


@dataclasses.dataclass(frozen=True)
class _BarText:
    """A text behind a bar.

    Attributes:
      class_number: the place of its class among those shown.
      bar: the place of the bar among those of the class; a half is between two bars.
      value: that of the bar.
      words: the text.
    """

    class_number: int
    bar: float
    value: float
    words: str


def _bar_texts(values: Mapping[str, Sequence[float]], number_format: str) -> Iterator[_BarText]:
    """Yields the text of each bar; one for all bars of a class that no split has.

    Args:
      values: of each split, also of those without bars, one value per class.
      number_format: how a value is written.
    """
    colored = list(_first_splits(values))
    for class_number, of_class in enumerate(zip(*values.values(), strict=True)):
        is_absent = not any(of_class)
        if is_absent and len(of_class) > 1:
            middle = (len(colored) - 1) / 2
            yield _BarText(class_number, middle, 0, "absent in all splits here")
            continue
        for bar, (split, value) in enumerate(zip(colored, of_class, strict=False)):
            words = number_format.format(value)
            if not value:
                words = f"absent in {clean(split, _MAX_SPLIT_NAME_CHARACTERS)}"
            yield _BarText(class_number, bar, value, words)


def draw_histogram(
    title: str,
    values: Mapping[str, Sequence[int]],
    marks: Sequence[str],
    *,
    x_title: str,
    y_title: str,
) -> str:
    """Draws how many values of each split lie between two marks each.

    Args:
      title: what is counted.
      values: of each split, one count for each range between marks.
      marks: the texts below the ends of the ranges.
      x_title: what the marks are.
      y_title: what the counts are of.
    """
    colored = _first_splits(values)
    largest = _largest(colored.values())
    scale = (_HISTOGRAM_BOTTOM - _HISTOGRAM_TOP) / largest
    step = (_RIGHT - _HISTOGRAM_LEFT) / (len(marks) - 1)
    bar_width = _HISTOGRAM_BAR_SHARE * step / max(1, len(colored))
    margin = (1 - _HISTOGRAM_BAR_SHARE) / 2
    parts = list(
        _vertical_axis(largest, _HISTOGRAM_LEFT, _HISTOGRAM_TOP, _HISTOGRAM_BOTTOM, y_title)
    )
    for place, of_split in enumerate(colored.values()):
        for number, count in enumerate(of_split):
            bar = _element(
                "rect",
                x=_HISTOGRAM_LEFT + step * (number + margin) + place * bar_width,
                y=_HISTOGRAM_BOTTOM - count * scale,
                width=bar_width,
                height=float(count * scale),
                class_=f"fill-series{place}",
            )
            parts.append(bar)
    for number, mark in enumerate(marks):
        x = _HISTOGRAM_LEFT + step * number
        parts.append(_text(x, _HISTOGRAM_BOTTOM + _TICK_TEXT_DISTANCE, mark, text_anchor="middle"))
    middle = (_HISTOGRAM_LEFT + _RIGHT) / 2
    parts.append(_text(middle, _HISTOGRAM_BOTTOM + 30, x_title, text_anchor="middle"))
    return _chart(_HISTOGRAM_BOTTOM + 42, _describe_chart(title, colored), parts)


def draw_sizes(values: Mapping[str, np.ndarray]) -> str:
    """Draws a dot for each size of images, larger where more images have it.

    Args:
      values: of each split the heights and widths of its images, int64 `[N, 2]`.
    """
    colored = _first_splits(values)
    largest_sizes = [of_split.max(0, initial=1) for of_split in values.values()]
    max_height, max_width = np.max(largest_sizes, axis=0).tolist()
    x_scale = (_RIGHT - _SIZES_LEFT) / (_SIZES_ROOM * max_width)
    y_scale = (_SIZES_BOTTOM - _SIZES_TOP) / (_SIZES_ROOM * max_height)
    top = _SIZES_BOTTOM - _SIZES_ROOM * max_height * y_scale
    parts = list(
        _vertical_axis(
            max_height, _SIZES_LEFT, top, _SIZES_BOTTOM, "height in pixels", room=_SIZES_ROOM
        )
    )
    for place, of_split in enumerate(colored.values()):
        for size in _most_common_sizes(of_split):
            dot = _element(
                "circle",
                cx=_SIZES_LEFT + size.width * x_scale,
                cy=_SIZES_BOTTOM - size.height * y_scale,
                r=size.dot_area**0.5 / 2,
                class_=f"fill-series{place}",
                fill_opacity=0.6,
            )
            parts.append(dot)
    for tick in ticks(_SIZES_ROOM * max_width, max_steps=5):
        x = _SIZES_LEFT + tick * x_scale
        parts.append(_line(x, _SIZES_TOP, x, _SIZES_BOTTOM))
        parts.append(_text(x, _SIZES_BOTTOM + _TICK_TEXT_DISTANCE, str(tick), text_anchor="middle"))
    middle = (_SIZES_LEFT + _RIGHT) / 2
    parts.append(_text(middle, _SIZES_BOTTOM + 28, "width in pixels", text_anchor="middle"))
    label = _describe_chart("Width and height of images", colored)
    return _chart(_SIZES_BOTTOM + 42, label, parts)


@dataclasses.dataclass(frozen=True)
class _SizeDot:
    """A size of images in pixels, and the area of its dot."""

    height: int
    width: int
    dot_area: float


def _most_common_sizes(sizes: np.ndarray) -> Iterator[_SizeDot]:
    """Yields the most common of sizes, int64 `[N, 2]`."""
    distinct, counts = np.unique(sizes, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:_MAX_SIZES]
    most = max(1, counts.max(initial=1))
    areas = _MIN_DOT_AREA + _DOT_AREA_RANGE * counts[order] / most
    for (height, width), area in zip(distinct[order].tolist(), areas.tolist(), strict=True):
        yield _SizeDot(height, width, area)


def _vertical_axis(
    largest: float, left: int, top: float, bottom: int, title: str, room: float = 1
) -> Iterator[str]:
    """Yields lines, their numbers, and what these count.

    Args:
      largest: the largest value of the chart.
      left: where the lines begin.
      top: the height of the axis's end.
      bottom: the height of 0.
      title: what is counted.
      room: the value at the axis's end, as a multiple of the largest one.
    """
    end = largest * room
    for tick in ticks(end):
        y = bottom - (bottom - top) * tick / end
        yield _line(left, y, _RIGHT, y)
        yield _text(left - _TICK_ROOM, y, f"{tick:,}", text_anchor="end")
    middle = (top + bottom) / 2
    rotation = f"rotate(-90 10 {middle:g})"
    yield _text(10, middle, title, text_anchor="middle", transform=rotation)


def ticks(largest: float, max_steps: int = 4) -> list[int]:
    """Returns whole numbers from 0 to `largest` in even steps of 1, 2 or 5, or ten times these."""
    steps = (factor * 10**power for power in itertools.count() for factor in (1, 2, 5))
    step = next(step for step in steps if largest / step <= max_steps)
    return list(range(0, int(largest) + 1, step))


def _first_splits(values: Mapping[str, Value]) -> dict[str, Value]:
    """Returns the splits that have a color."""
    return dict(itertools.islice(values.items(), MAX_COLORED_SPLITS))


def _largest(values: Iterable[Sequence[float]]) -> float:
    """Returns the largest value of all splits; 1 if there is none above 0."""
    return max((max(of_split, default=0) for of_split in values), default=0) or 1


def _describe_chart(title: str, splits: Iterable[str]) -> str:
    """Returns what a chart shows, for people who cannot see it."""
    return clean(f"{title}, by split: {', '.join(splits)}. The table below has the numbers.")


def _chart(height: int, label: str, content: Iterable[str]) -> str:
    """Returns a chart; the label is for people who cannot see it."""
    return _element(
        "svg",
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_CHART_WIDTH} {height}",
        width=_CHART_WIDTH,
        height=height,
        role="img",
        aria_label=label,
    )


def _link(link: str, *content: str) -> str:
    """Returns what leads to `#examples` for a link such as `#examples?12`, and filters by class 12.

    It is for the mouse: the chart's table has the same links for the keyboard.
    """
    if not link:
        return "".join(content)
    target, _, labels = link.partition("?")
    if not labels:
        return _element("g", *content, data_to=target)
    return _element("g", *content, data_to=target, data_filter=labels)


def _text(x: float, y: float, words: str, **attributes: object) -> str:
    """Returns text whose middle is at a height."""
    baseline = y + _BASELINE_BELOW_MIDDLE
    defaults: dict[str, object] = {"font_size": _TEXT_SIZE, "class_": "fill-ink"}
    return _element("text", escape(words), x=float(x), y=baseline, **(defaults | attributes))


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Returns a thin line."""
    return _element(
        "line",
        x1=float(x1),
        y1=float(y1),
        x2=float(x2),
        y2=float(y2),
        class_="stroke-line",
        stroke_width=0.8,
    )


def _element(tag: str, *content: str, **attributes: object) -> str:
    """Returns an element.

    Args:
      tag: its name.
      *content: markup.
      **attributes: `text_anchor` is written as `text-anchor`, and `class_` as `class`.
    """
    written = []
    for name, value in attributes.items():
        text = f"{round(value, 2):g}" if isinstance(value, float) else str(value)
        written.append(f" {name.rstrip('_').replace('_', '-')}={quoteattr(text)}")
    return f"<{tag}{''.join(written)}>{''.join(content)}</{tag}>"
