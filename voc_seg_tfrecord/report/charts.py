"""The charts of the report page, drawn by Matplotlib; each is as wide as a phone."""

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

_SPLITS = len(svg.SERIES)
_NAME = 16  # characters of a class name beside a bar
_SIZES = 400  # image sizes


def bars(
    title: str,
    values: Mapping[str, Sequence[float]],
    names: Sequence[str],
    colors: Sequence[str],
    form: str,
    prefix: str,
    links: Sequence[str] = (),
) -> str:
    """Draws one bar for each class and split.

    Where a value is 0 it says that the class is absent, once for a class without any bar.

    Args:
      title: what is counted.
      values: of each split, one value per class.
      names: of the classes.
      colors: of the classes, as `#rrggbb`.
      form: how a value is written, such as `{:.2%}`.
      prefix: of ids.
      links: of the classes to their examples, as `svg.render` takes them; empty if there are none.
    """
    shown = dict(list(values.items())[:_SPLITS])
    row = 8 + 13 * len(shown)
    height = row * len(names) + 10
    left, right = 128, 0.98 * WIDTH
    with svg.figure(WIDTH, height) as figure:
        axes = figure.add_axes((left / WIDTH, 0, (right - left) / WIDTH, 1))
        axes.grid(visible=False)
        axes.spines[:].set_visible(False)
        top = max((max(v, default=0) for v in shown.values()), default=0) or 1
        rows = np.arange(len(names)) * row + 6
        for place, of_split in enumerate(shown.values()):
            drawn = axes.barh(rows + 13 * place, of_split, 10, color=svg.SERIES[place])
            for bar, link in zip(drawn, links, strict=False):
                bar.set_url(link or None)
        for number, place, value, text in _bar_texts(values, form):
            color = svg.INK if value else svg.WARN
            at = value + 0.015 * top, rows[number] + 13 * place
            axes.text(*at, text, color=color, va="center", size=10)
        middle = rows + 6.5 * (len(shown) - 1)
        axes.scatter(
            [-0.05 * top] * len(names),
            middle,
            42,
            list(colors),
            marker="s",
            clip_on=False,
            edgecolors=svg.LINE,
            linewidths=0.8,
            zorder=3,
        )
        axes.set_xticks([])
        axes.set_yticks(middle, [clean(name, _NAME) for name in names], size=11)
        for text, link in zip(axes.get_yticklabels(), links, strict=False):
            text.set_url(link or None)
        axes.tick_params(length=0, pad=17)
        axes.set_xlim(0, top * 1.48)
        axes.set_ylim(height - 4, -4)
        axes.axvline(0, color=svg.LINE, linewidth=0.8)
        return svg.render(figure, _label(title, shown), prefix)


def _bar_texts(
    values: Mapping[str, Sequence[float]], form: str
) -> Iterator[tuple[int, float, float, str]]:
    """Yields a class's number, the place of a bar among its bars, its value and its text."""
    shown = list(values)[:_SPLITS]
    for number, of_class in enumerate(zip(*values.values(), strict=True)):
        if len(of_class) > 1 and not any(of_class):
            yield number, (len(shown) - 1) / 2, 0, "absent in all splits here"
            continue
        for place, (split, value) in enumerate(zip(shown, of_class, strict=False)):
            text = form.format(value) if value else f"absent in {clean(split, 12)}"
            yield number, place, value, text


def histogram(
    title: str,
    values: Mapping[str, np.ndarray],
    ticks: Sequence[str],
    axis: str,
    unit: str,
    prefix: str,
) -> str:
    """Draws how many shares of each split lie between ticks, which are percents."""
    edges = _edges(ticks)
    shown = dict(list(values.items())[:_SPLITS])
    with svg.figure(WIDTH, 210) as figure:
        axes = figure.add_axes((0.15, 0.2, 0.83, 0.74))
        width = 0.86 / max(1, len(shown))
        for place, (_, found) in enumerate(shown.items()):
            counts, _ = np.histogram(np.clip(found, edges[0], edges[-1]), edges)
            left = np.arange(len(counts)) + 0.07 + place * width
            axes.bar(left, counts, width, align="edge", color=svg.SERIES[place])
        axes.set_xticks(range(len(edges)), ticks)
        axes.set_xlabel(axis, size=10)
        axes.set_ylabel(unit, size=10)
        axes.tick_params(length=0, labelsize=10)
        axes.grid(visible=False, axis="x")
        axes.yaxis.set_major_locator(_whole())
        return svg.render(figure, _label(title, shown), prefix)


def sizes(values: Mapping[str, np.ndarray], prefix: str) -> str:
    """Draws the width and height of images, int64 `[N, 2]` for each split."""
    shown = dict(list(values.items())[:_SPLITS])
    largest = np.max([f.max(0, initial=1) for f in values.values()], axis=0)
    with svg.figure(WIDTH, 260) as figure:
        axes = figure.add_axes((0.16, 0.16, 0.81, 0.8))
        for place, found in enumerate(shown.values()):
            pairs, counts = np.unique(found, axis=0, return_counts=True)
            order = np.argsort(-counts, kind="stable")[:_SIZES]
            area = 14 + 160 * counts[order] / max(1, counts.max(initial=1))
            axes.scatter(*pairs[order, ::-1].T, area, svg.SERIES[place], alpha=0.6, linewidths=0)
        axes.set_xlabel("width in pixels", size=10)
        axes.set_ylabel("height in pixels", size=10)
        axes.tick_params(length=0, labelsize=10)
        axes.set_xlim(0, 1.06 * largest[1])
        axes.set_ylim(0, 1.06 * largest[0])
        return svg.render(figure, _label("Width and height of images", shown), prefix)


def clean(name: str, length: int = 0) -> str:
    """Returns a name without characters that XML cannot hold, cut to a length if it is given."""
    plain = "".join("\ufffd" if _forbidden(c) else c for c in name)
    return plain if not length or len(plain) <= length else plain[: length - 1] + "…"


def _forbidden(character: str) -> bool:
    return unicodedata.category(character) in ("Cc", "Cs") or character in "\ufffe\uffff"


def _label(title: str, shown: Mapping[str, object]) -> str:
    return clean(f"{title}, by split: {', '.join(shown)}. The table below has the numbers.")


def _whole():
    from matplotlib.ticker import MaxNLocator

    return MaxNLocator(4, integer=True)


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
      links: of classes to their examples, as `svg.render` takes them.
      masked: whether there are masks.
      unit: what a record is, `image` or `tile`.
    """
    labels = list(labels[:CLASSES])
    shown = [names[label] for label in labels], [colors[label] for label in labels]

    def per_class(title: str, values: Mapping[str, np.ndarray], form: str) -> str:
        chosen = {split: of_split[labels].tolist() for split, of_split in values.items()}
        lead = [links.get(label, "") for label in labels]
        return bars(title, chosen, *shown, form, title.split()[0].lower(), lead)

    found = {"sizes": sizes({s: f.stats.sizes for s, f in facts.items()}, "sizes")}
    if labels:
        images = {s: f.stats.images for s, f in facts.items()}
        found["images"] = per_class(f"{unit.capitalize()}s per class", images, "{:,}")
    if not masked:
        return found
    if labels:
        pixels = {s: f.stats.share for s, f in facts.items()}
        found["pixels"] = per_class("Pixels per class, as a share", pixels, "{:.2%}")
        if all(f.has_objects for f in facts.values()):
            objects = {s: f.stats.objects for s, f in facts.items()}
            found["objects"] = per_class("Objects per class", objects, "{:,}")
    objects = "objects" if all(f.has_objects for f in facts.values()) else "areas"
    axis = f"% of the {unit}'s pixels"
    for name, title, label, counted in (
        ("void", "Void's share of an image", f"void, {axis}", f"{unit}s"),
        ("object_sizes", "Sizes of objects", axis, objects),
    ):
        values, prefix = _shares(facts)[name], name.replace("_", "-")
        found[name] = histogram(title, values, _TICKS[name], label, counted, prefix)
    return found


def histogram_rows(facts: Mapping[str, SplitFacts]) -> dict[str, list[dict[str, Any]]]:
    """Returns the numbers of the histograms: rows of a range and a count for each split."""
    return {name: _rows(values, _TICKS[name]) for name, values in _shares(facts).items()}


def _edges(ticks: Sequence[str]) -> list[float]:
    return [float(tick) / 100 for tick in ticks]


def _rows(values: Mapping[str, np.ndarray], ticks: Sequence[str]) -> list[dict[str, Any]]:
    counts = [np.histogram(found, _edges(ticks))[0].tolist() for found in values.values()]
    ranges = [f"{low} to {high} %" for low, high in itertools.pairwise(ticks)]
    return [
        {"range": text, "counts": of_range}
        for text, of_range in zip(ranges, zip(*counts, strict=True), strict=True)
    ]
