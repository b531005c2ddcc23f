"""The charts of the report page as SVG; each is as wide as a phone."""

from collections.abc import Iterator, Mapping, Sequence
import itertools
from typing import Any
import unicodedata

import numpy as np

from voc_seg_tfrecord.report import svg
from voc_seg_tfrecord.report.gather import SplitFacts

WIDTH = 340
"""Width of a chart in CSS pixels."""

CLASSES = 30
"""Classes that a chart of bars shows, at most."""

_SPLITS = svg.SERIES
_LEFT, _RIGHT = 128, 328  # of bars, and of the other charts, in pixels
_NAME = 16  # characters of a class name beside a bar
_SIZES = 400  # image sizes


def bars(
    title: str,
    values: Mapping[str, Sequence[float] | np.ndarray],
    names: Sequence[str],
    colors: Sequence[str],
    labels: Sequence[int],
    form: str,
    links: Mapping[int, str] | None = None,
) -> str:
    """Draws one bar for each split and each of the first classes to show.

    Where a value is 0 it says that the class is absent, once for a class without any bar.

    Args:
      title: what is counted.
      values: of each split, one value per class.
      names: of the classes.
      colors: of the classes, as `#rrggbb`.
      labels: the classes to show, in this order.
      form: how a value is written, such as `{:.2%}`.
      links: of classes to their examples, as `svg.linked` takes them.
    """
    labels = labels[:CLASSES]
    chosen = {split: [of[label] for label in labels] for split, of in values.items()}
    shown = dict(list(chosen.items())[:_SPLITS])
    top = max((max(v, default=0) for v in shown.values()), default=0) or 1
    scale, row = 136 / top, 8 + 13 * len(shown)
    drawn = []
    for number, label in enumerate(labels):
        link = (links or {}).get(label, "")
        first = row * number + 10
        middle = first + 6.5 * (len(shown) - 1)
        name = svg.text(111, middle, clean(names[label], _NAME), font_size=11, text_anchor="end")
        square = {"x": 118, "y": middle - 3.5, "width": 7, "height": 7, "fill": colors[label]}
        drawn += [svg.linked(link, name), svg.element("rect", **square, class_="stroke-line")]
        for place, of_split in enumerate(shown.values()):
            box = {"x": _LEFT, "y": first + 13 * place - 5, "height": 10}
            width = of_split[number] * scale
            bar = svg.element("rect", **box, width=float(width), class_=f"fill-series{place}")
            drawn.append(svg.linked(link, bar))
    for number, slot, value, words in _bar_texts(chosen, form):
        at = _LEFT + value * scale + 2, row * number + 10 + 13 * slot
        drawn.append(svg.text(*at, words, class_=f"fill-{'ink' if value else 'warn'}"))
    height = row * len(labels) + 10
    drawn.append(svg.line(_LEFT, 0, _LEFT, height))
    return svg.chart(WIDTH, height, _label(title, shown), drawn)


def _bar_texts(
    values: Mapping[str, Sequence[float]], form: str
) -> Iterator[tuple[int, float, float, str]]:
    """Yields a class's number, the place of a bar among its bars, its value and its text."""
    shown = list(values)[:_SPLITS]
    for number, of_class in enumerate(zip(*values.values(), strict=True)):
        if len(of_class) > 1 and not any(of_class):
            yield number, (len(shown) - 1) / 2, 0, "absent in all splits here"
            continue
        for place, (split, count) in enumerate(zip(shown, of_class, strict=False)):
            text = form.format(count) if count else f"absent in {clean(split, 12)}"
            yield number, place, count, text


def histogram(
    title: str, values: Mapping[str, np.ndarray], marks: Sequence[str], axis: str, unit: str
) -> str:
    """Draws how many shares of each split lie between marks, which are percents."""
    shown = dict(list(values.items())[:_SPLITS])
    edges = _edges(marks)
    counts = [np.histogram(np.clip(v, edges[0], edges[-1]), edges)[0] for v in shown.values()]
    top = max((int(of_split.max()) for of_split in counts), default=0) or 1
    step, scale = (_RIGHT - 51) / (len(marks) - 1), 155 / top
    drawn = list(_heights(top, 51, 13, 168, unit))
    width = 0.86 * step / max(1, len(shown))
    for place, of_split in enumerate(counts):
        for number, count in enumerate(of_split.tolist()):
            box = {"x": 51 + step * (number + 0.07) + place * width, "y": 168 - count * scale}
            size = {"width": width, "height": float(count * scale)}
            drawn.append(svg.element("rect", **box, **size, class_=f"fill-series{place}"))
    for number, mark in enumerate(marks):
        drawn.append(svg.text(51 + step * number, 177, mark, text_anchor="middle"))
    drawn.append(svg.text((51 + _RIGHT) / 2, 198, axis, text_anchor="middle"))
    return svg.chart(WIDTH, 210, _label(title, shown), drawn)


def sizes(values: Mapping[str, np.ndarray]) -> str:
    """Draws the width and height of images, int64 `[N, 2]` for each split."""
    shown = dict(list(values.items())[:_SPLITS])
    height, width = np.max([f.max(0, initial=1) for f in values.values()], axis=0).tolist()
    right, up = (_RIGHT - 54) / (1.06 * width), 208 / (1.06 * height)
    drawn = list(_heights(height, 54, 218 - 1.06 * height * up, 218, "height in pixels", 1.06))
    for place, of_split in enumerate(shown.values()):
        pairs, counts = np.unique(of_split, axis=0, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_SIZES]
        areas = 14 + 160 * counts[order] / max(1, counts.max(initial=1))
        for (high, wide), area in zip(pairs[order].tolist(), areas.tolist(), strict=True):
            at = {"cx": 54 + wide * right, "cy": 218 - high * up, "r": area**0.5 / 2}
            dot = svg.element("circle", **at, class_=f"fill-series{place}", fill_opacity=0.6)
            drawn.append(dot)
    for tick in svg.ticks(1.06 * width, 5):
        at = 54 + tick * right
        drawn += [svg.line(at, 10, at, 218), svg.text(at, 227, str(tick), text_anchor="middle")]
    drawn.append(svg.text((54 + _RIGHT) / 2, 246, "width in pixels", text_anchor="middle"))
    return svg.chart(WIDTH, 260, _label("Width and height of images", shown), drawn)


def _heights(
    most: float, left: int, top: float, bottom: int, unit: str, room: float = 1
) -> Iterator[str]:
    """Yields the vertical axis: lines, numbers up to `most`, and what they count."""
    for tick in svg.ticks(most * room):
        y = bottom - (bottom - top) * tick / (most * room)
        yield svg.line(left, y, _RIGHT, y)
        yield svg.text(left - 5, y, f"{tick:,}", text_anchor="end")
    middle = (top + bottom) / 2
    yield svg.text(10, middle, unit, text_anchor="middle", transform=f"rotate(-90 10 {middle:g})")


def clean(name: str, length: int = 0) -> str:
    """Returns a name without characters that XML cannot hold, cut to a length if it is given."""
    plain = "".join("\ufffd" if _forbidden(c) else c for c in name)
    return plain if not length or len(plain) <= length else plain[: length - 1] + "…"


def _forbidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or character in "\ufffe\uffff"


def _label(title: str, shown: Mapping[str, object]) -> str:
    return clean(f"{title}, by split: {', '.join(shown)}. The table below has the numbers.")


# Of each histogram the percents between which shares are counted.
_TICKS = {
    "void": ("0", "0.1", "2", "5", "10", "20", "50", "100"),
    "object_sizes": ("0", "0.01", "0.1", "1", "3", "10", "30", "100"),
}


def _shares(facts: Mapping[str, SplitFacts]) -> dict[str, dict[str, np.ndarray]]:
    """Returns the shares that each histogram counts, by split."""
    return {
        "void": {split: f.shares for split, f in facts.items()},
        "object_sizes": {split: f.object_shares for split, f in facts.items()},
    }


def draw_all(
    facts: Mapping[str, SplitFacts],
    names: Sequence[str],
    colors: Sequence[str],
    labels: Sequence[int],
    *,
    links: Mapping[int, str],
    masked: bool,
    unit: str,
) -> dict[str, str]:
    """Draws the charts that a dataset gives data for, each as an SVG by name.

    Args:
      facts: of each split.
      names: of the classes.
      colors: of the mask values, as `#rrggbb`.
      labels: the classes to show, in this order; background is not among them.
      links: of classes to their examples, as `svg.linked` takes them.
      masked: whether there are masks.
      unit: what a record is, `image` or `tile`.
    """

    def per_class(title: str, values: Mapping[str, np.ndarray], form: str) -> str:
        return bars(title, values, names, colors, labels, form, links)

    drawn = {"sizes": sizes({s: f.stats.sizes for s, f in facts.items()})}
    if labels:
        images = {s: f.stats.images for s, f in facts.items()}
        drawn["images"] = per_class(f"{unit.capitalize()}s per class", images, "{:,}")
    if not masked:
        return drawn
    if labels:
        pixels = {s: f.stats.share for s, f in facts.items()}
        drawn["pixels"] = per_class("Pixels per class, as a share", pixels, "{:.2%}")
        objects = {s: f.stats.objects for s, f in facts.items() if f.stats.objects is not None}
        if len(objects) == len(facts):
            drawn["objects"] = per_class("Objects per class", objects, "{:,}")
    areas = "objects" if all(f.has_objects for f in facts.values()) else "areas"
    axis = f"% of the {unit}'s pixels"
    for name, title, label, counted in (
        ("void", "Void's share of an image", f"void, {axis}", f"{unit}s"),
        ("object_sizes", "Sizes of objects", axis, areas),
    ):
        drawn[name] = histogram(title, _shares(facts)[name], _TICKS[name], label, counted)
    return drawn


def histogram_rows(facts: Mapping[str, SplitFacts]) -> dict[str, list[dict[str, Any]]]:
    """Returns the numbers of the histograms: rows of a range and a count for each split."""
    return {name: _rows(values, _TICKS[name]) for name, values in _shares(facts).items()}


def _edges(ticks: Sequence[str]) -> list[float]:
    return [float(tick) / 100 for tick in ticks]


def _rows(values: Mapping[str, np.ndarray], ticks: Sequence[str]) -> list[dict[str, Any]]:
    counts = [np.histogram(shares, _edges(ticks))[0].tolist() for shares in values.values()]
    ranges = [f"{low} to {high} %" for low, high in itertools.pairwise(ticks)]
    return [
        {"range": text, "counts": of_range}
        for text, of_range in zip(ranges, zip(*counts, strict=True), strict=True)
    ]
