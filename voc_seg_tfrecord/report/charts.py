"""The charts of the report page as inline SVG in the colours of the style sheet, and heat maps.

Each chart is as wide as a phone. Text stays text. No style attribute is used, so that the page can
forbid inline styles.
"""

import base64
from collections.abc import Iterable, Iterator, Mapping, Sequence
import itertools
from typing import Any
import unicodedata
from xml.sax.saxutils import escape, quoteattr

import numpy as np

from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.report.gather import SplitFacts

SERIES = 6
"""Splits that have a colour of their own: the classes `series0` to `series5` of the style sheet."""

_WIDTH = 340  # of a chart, in CSS pixels
_CLASSES = 30  # that a chart of bars shows, at most
_MAPS = 40  # classes that have a heat map, at most
_LEFT, _RIGHT = 128, 328  # of bars, and of the other charts, in pixels
_NAME = 16  # characters of a class name beside a bar
_SIZES = 400  # image sizes


def element(tag: str, *content: str, **attributes: object) -> str:
    """Returns an element: `content` is markup, `text_anchor=` becomes `text-anchor=`."""
    words = []
    for name, value in attributes.items():
        written = f"{round(value, 2):g}" if isinstance(value, float) else str(value)
        words.append(f" {name.rstrip('_').replace('_', '-')}={quoteattr(written)}")
    return f"<{tag}{''.join(words)}>{''.join(content)}</{tag}>"


def text(x: float, y: float, words: str, **attributes: object) -> str:
    """Returns text of 10 pixels whose middle is at a height."""
    shown: dict[str, object] = {"font_size": 10, "class_": "fill-ink"} | attributes
    return element("text", escape(words), x=float(x), y=y + 3.5, **shown)


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    """Returns a thin line."""
    places = {"x1": float(x1), "y1": float(y1), "x2": float(x2), "y2": float(y2)}
    return element("line", **places, class_="stroke-line", stroke_width=0.8)


def linked(link: str, *content: str) -> str:
    """Returns what leads to `#examples` for a link such as `#examples?12`, and filters by class 12.

    It is for the mouse: the chart's table has the same links for the keyboard.
    """
    if not link:
        return "".join(content)
    to, _, labels = link.partition("?")
    return element("g", *content, data_to=to, **({"data_filter": labels} if labels else {}))


def chart(height: int, label: str, content: Iterable[str]) -> str:
    """Returns a chart; `label` says what it shows, for who cannot see it."""
    return element(
        "svg",
        *content,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"0 0 {_WIDTH} {height}",
        width=_WIDTH,
        height=height,
        role="img",
        aria_label=label,
    )


def ticks(top: float, most: int = 4) -> list[int]:
    """Returns whole numbers from 0 to `top` in even steps of 1, 2 or 5, or ten times these."""
    steps = (factor * 10**power for power in itertools.count() for factor in (1, 2, 5))
    return list(range(0, int(top) + 1, next(step for step in steps if top / step <= most)))


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
      links: of classes to their examples, as `linked` takes them.
    """
    labels = labels[:_CLASSES]
    chosen = {split: [of[label] for label in labels] for split, of in values.items()}
    shown = dict(list(chosen.items())[:SERIES])
    top = max((max(v, default=0) for v in shown.values()), default=0) or 1
    scale, row = 136 / top, 8 + 13 * len(shown)
    drawn = []
    for number, label in enumerate(labels):
        link = (links or {}).get(label, "")
        first = row * number + 10
        middle = first + 6.5 * (len(shown) - 1)
        name = text(111, middle, clean(names[label], _NAME), font_size=11, text_anchor="end")
        square = {"x": 118, "y": middle - 3.5, "width": 7, "height": 7, "fill": colors[label]}
        drawn += [linked(link, name), element("rect", **square, class_="stroke-line")]
        for place, of_split in enumerate(shown.values()):
            box = {"x": _LEFT, "y": first + 13 * place - 5, "height": 10}
            width = of_split[number] * scale
            bar = element("rect", **box, width=float(width), class_=f"fill-series{place}")
            drawn.append(linked(link, bar))
    for number, slot, value, words in _bar_texts(chosen, form):
        at = _LEFT + value * scale + 2, row * number + 10 + 13 * slot
        drawn.append(text(*at, words, class_=f"fill-{'ink' if value else 'warn'}"))
    height = row * len(labels) + 10
    drawn.append(line(_LEFT, 0, _LEFT, height))
    return chart(height, _label(title, shown), drawn)


def _bar_texts(
    values: Mapping[str, Sequence[float]], form: str
) -> Iterator[tuple[int, float, float, str]]:
    """Yields a class's number, the place of a bar among its bars, its value and its text."""
    shown = list(values)[:SERIES]
    for number, of_class in enumerate(zip(*values.values(), strict=True)):
        if len(of_class) > 1 and not any(of_class):
            yield number, (len(shown) - 1) / 2, 0, "absent in all splits here"
            continue
        for place, (split, count) in enumerate(zip(shown, of_class, strict=False)):
            text = form.format(count) if count else f"absent in {clean(split, 12)}"
            yield number, place, count, text


def histogram(
    title: str, values: Mapping[str, Sequence[int]], marks: Sequence[str], axis: str, unit: str
) -> str:
    """Draws how many shares of each split lie between marks, which are percents."""
    shown = dict(list(values.items())[:SERIES])
    top = max((max(of_split) for of_split in shown.values()), default=0) or 1
    step, scale = (_RIGHT - 51) / (len(marks) - 1), 155 / top
    drawn = list(_heights(top, 51, 13, 168, unit))
    width = 0.86 * step / max(1, len(shown))
    for place, of_split in enumerate(shown.values()):
        for number, count in enumerate(of_split):
            box = {"x": 51 + step * (number + 0.07) + place * width, "y": 168 - count * scale}
            size = {"width": width, "height": float(count * scale)}
            drawn.append(element("rect", **box, **size, class_=f"fill-series{place}"))
    for number, mark in enumerate(marks):
        drawn.append(text(51 + step * number, 177, mark, text_anchor="middle"))
    drawn.append(text((51 + _RIGHT) / 2, 198, axis, text_anchor="middle"))
    return chart(210, _label(title, shown), drawn)


def sizes(values: Mapping[str, np.ndarray]) -> str:
    """Draws the width and height of images, int64 `[N, 2]` for each split."""
    shown = dict(list(values.items())[:SERIES])
    height, width = np.max([f.max(0, initial=1) for f in values.values()], axis=0).tolist()
    right, up = (_RIGHT - 54) / (1.06 * width), 208 / (1.06 * height)
    drawn = list(_heights(height, 54, 218 - 1.06 * height * up, 218, "height in pixels", 1.06))
    for place, of_split in enumerate(shown.values()):
        pairs, counts = np.unique(of_split, axis=0, return_counts=True)
        order = np.argsort(-counts, kind="stable")[:_SIZES]
        areas = 14 + 160 * counts[order] / max(1, counts.max(initial=1))
        for (high, wide), area in zip(pairs[order].tolist(), areas.tolist(), strict=True):
            at = {"cx": 54 + wide * right, "cy": 218 - high * up, "r": area**0.5 / 2}
            dot = element("circle", **at, class_=f"fill-series{place}", fill_opacity=0.6)
            drawn.append(dot)
    for tick in ticks(1.06 * width, 5):
        at = 54 + tick * right
        drawn += [line(at, 10, at, 218), text(at, 227, str(tick), text_anchor="middle")]
    drawn.append(text((54 + _RIGHT) / 2, 246, "width in pixels", text_anchor="middle"))
    return chart(260, _label("Width and height of images", shown), drawn)


def _heights(
    most: float, left: int, top: float, bottom: int, unit: str, room: float = 1
) -> Iterator[str]:
    """Yields the vertical axis: lines, numbers up to `most`, and what they count."""
    for tick in ticks(most * room):
        y = bottom - (bottom - top) * tick / (most * room)
        yield line(left, y, _RIGHT, y)
        yield text(left - 5, y, f"{tick:,}", text_anchor="end")
    middle = (top + bottom) / 2
    yield text(10, middle, unit, text_anchor="middle", transform=f"rotate(-90 10 {middle:g})")


def clean(name: str, length: int = 0) -> str:
    """Returns a name without characters that XML cannot hold, cut to a length if it is given."""
    plain = "".join(
        "\ufffd" if unicodedata.category(c) in ("Cc", "Cs") or c in "\ufffe\uffff" else c
        for c in name
    )
    return plain if not length or len(plain) <= length else plain[: length - 1] + "…"


def _label(title: str, shown: Mapping[str, object]) -> str:
    return clean(f"{title}, by split: {', '.join(shown)}. The table below has the numbers.")


# Of each histogram the percents between which shares are counted.
_TICKS = {
    "void": ("0", "0.1", "2", "5", "10", "20", "50", "100"),
    "object_sizes": ("0", "0.01", "0.1", "1", "3", "10", "30", "100"),
}


def count_shares(facts: Mapping[str, SplitFacts]) -> dict[str, dict[str, list[int]]]:
    """Returns how many shares of each split lie between the ticks, by histogram and split."""
    shares = {
        "void": {split: f.shares for split, f in facts.items()},
        "object_sizes": {split: f.object_shares for split, f in facts.items()},
    }
    edges = {name: [float(tick) / 100 for tick in ticks] for name, ticks in _TICKS.items()}
    return {
        name: {split: np.histogram(of, edges[name])[0].tolist() for split, of in values.items()}
        for name, values in shares.items()
    }


def rows_of(shares: Mapping[str, Mapping[str, list[int]]]) -> dict[str, list[tuple[str, Any]]]:
    """Returns what `count_shares` counts as rows of a range and a count for each split."""
    return {
        name: [
            (f"{low} to {high} %", counts)
            for (low, high), *counts in zip(
                itertools.pairwise(_TICKS[name]), *values.values(), strict=True
            )
        ]
        for name, values in shares.items()
    }


def draw_all(
    facts: Mapping[str, SplitFacts],
    shares: Mapping[str, Mapping[str, list[int]]],
    names: Sequence[str],
    colors: Sequence[str],
    labels: Sequence[int],
    *,
    links: Mapping[int, str],
    masked: bool,
    unit: str,
) -> dict[str, str]:
    """Draws the charts that a dataset gives data for, each as an SVG by name; see `bars`.

    The shares are those of `count_shares`; background is not among the labels; a record is a unit,
    `image` or `tile`.
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
        drawn[name] = histogram(title, shares[name], _TICKS[name], label, counted)
    return drawn


_HEAT = ((68, 1, 84), (59, 82, 139), (33, 145, 140), (94, 201, 98), (253, 231, 37))


def heat_maps(places: np.ndarray, labels: Sequence[int]) -> list[dict[str, Any]]:
    """Draws the first 40 of the classes that lie anywhere.

    Args:
      places: images that have a mask value at a point, int64 `[256, 32, 32]`.
      labels: classes, in the order in which they are to be shown.

    Returns:
      Of each class `label`; `url`, data URL of a PNG of 32 x 32 pixels, brighter where more images
      have the class; its mean place, `across` from the left edge and `down` from the top, 0 to 1;
      and the same in `words`, such as `bottom left`.
    """
    return [_map(places[label], label) for label in labels if places[label].any()][:_MAPS]


def _map(counts: np.ndarray, label: int) -> dict[str, Any]:
    share, stops = counts / counts.max(), np.linspace(0, 1, len(_HEAT))
    rgb = np.stack([np.interp(share, stops, of) for of in zip(*_HEAT, strict=True)], -1)
    png = pillow.encode_png(rgb.astype(np.uint8))
    url = f"data:image/png;base64,{base64.b64encode(png).decode()}"
    centres = (np.arange(len(counts)) + 0.5) / len(counts)
    down = float(counts.sum(1) @ centres / counts.sum())
    across = float(counts.sum(0) @ centres / counts.sum())
    vertical, horizontal = _third(down, "top", "bottom"), _third(across, "left", "right")
    words = f"{vertical} {horizontal}".strip() or "centre"
    return {"label": label, "url": url, "across": across, "down": down, "words": words}


def _third(place: float, low: str, high: str) -> str:
    return low if place < 0.4 else high if place > 0.6 else ""
