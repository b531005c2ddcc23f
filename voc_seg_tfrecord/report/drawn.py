"""The charts of the report page, from what was gathered."""

from collections.abc import Mapping, Sequence
import itertools
from typing import Any

import numpy as np

from voc_seg_tfrecord.report import charts
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.report.page import hex_color

_VOID_EDGES = (0, 0.001, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
_VOID_TICKS = ("0", "0.1", "2", "5", "10", "20", "50", "100")
_OBJECT_EDGES = (0, 0.0001, 0.001, 0.01, 0.03, 0.1, 0.3, 1)
_OBJECT_TICKS = ("0", "0.01", "0.1", "1", "3", "10", "30", "100")


def draw(
    facts: Mapping[str, SplitFacts],
    names: Sequence[str],
    colors: np.ndarray,
    labels: Sequence[int],
    *,
    masked: bool,
    unit: str,
) -> dict[str, str]:
    """Draws the charts that a dataset gives data for, each as an SVG by name.

    Args:
      facts: of each split.
      names: of the classes.
      colors: of the mask values, uint8 `[256, 3]`.
      labels: the classes to show, in this order; background is not among them.
      masked: whether there are masks.
      unit: what a record is, `image` or `tile`.
    """
    labels = list(labels[: charts.CLASSES])
    shown = [names[label] for label in labels], [hex_color(colors[label]) for label in labels]

    def bars(title: str, values: Mapping[str, np.ndarray], form: str) -> str:
        chosen = {split: of_split[labels].tolist() for split, of_split in values.items()}
        return charts.bars(title, chosen, *shown, form, title.split()[0].lower())

    found = {"sizes": charts.sizes({s: f.stats.sizes for s, f in facts.items()}, "sizes")}
    if labels:
        images = {s: f.stats.images for s, f in facts.items()}
        found["images"] = bars(f"{unit.capitalize()}s per class", images, "{:,}")
    if not masked:
        return found
    if labels:
        pixels = {s: f.stats.share for s, f in facts.items()}
        found["pixels"] = bars("Pixels per class, as a share", pixels, "{:.2%}")
        together = sum(f.together for f in facts.values())[np.ix_(labels, labels)]
        found["together"] = charts.together(together, shown[0], "together")
        if all(f.has_objects for f in facts.values()):
            objects = {s: f.stats.objects for s, f in facts.items()}
            found["objects"] = bars("Objects per class", objects, "{:,}")
    found["void"] = charts.histogram(
        "Void's share of an image",
        {s: f.shares for s, f in facts.items()},
        _VOID_EDGES,
        _VOID_TICKS,
        f"void, % of the {unit}'s pixels",
        f"{unit}s",
        "void",
    )
    of_image = {s: f.objects[:, 3] / np.maximum(1, f.objects[:, 4]) for s, f in facts.items()}
    found["object_sizes"] = charts.histogram(
        "Sizes of objects",
        of_image,
        _OBJECT_EDGES,
        _OBJECT_TICKS,
        f"% of the {unit}'s pixels",
        "objects" if all(f.has_objects for f in facts.values()) else "areas",
        "object-sizes",
    )
    return found


def histograms(facts: Mapping[str, SplitFacts]) -> dict[str, list[dict[str, Any]]]:
    """Returns the numbers of the histograms: rows of a range and a count for each split."""
    shares = {s: f.shares for s, f in facts.items()}
    objects = {s: f.objects[:, 3] / np.maximum(1, f.objects[:, 4]) for s, f in facts.items()}
    return {
        "void": _rows(shares, _VOID_EDGES, _VOID_TICKS),
        "object_sizes": _rows(objects, _OBJECT_EDGES, _OBJECT_TICKS),
    }


def _rows(
    values: Mapping[str, np.ndarray], edges: Sequence[float], ticks: Sequence[str]
) -> list[dict[str, Any]]:
    counts = [np.histogram(found, edges)[0].tolist() for found in values.values()]
    ranges = [f"{low} to {high} %" for low, high in itertools.pairwise(ticks)]
    return [
        {"range": text, "counts": of_range}
        for text, of_range in zip(ranges, zip(*counts, strict=True), strict=True)
    ]


def together_rows(
    facts: Mapping[str, SplitFacts], labels: Sequence[int]
) -> list[tuple[int, list[tuple[int, int]]]]:
    """Returns for each class how many images have it together with each of the first classes."""
    first = list(labels[: charts.TOGETHER])
    counts = sum(f.together for f in facts.values())
    return [(row, [(column, int(counts[row, column])) for column in first]) for row in first]
