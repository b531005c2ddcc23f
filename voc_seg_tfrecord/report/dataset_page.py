"""The report page of a built dataset, and its charts."""

from collections.abc import Mapping, Sequence
import itertools
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, leaks, look_alikes
from voc_seg_tfrecord.base import storage, wording
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import MASK, TILE_IMAGE_ID, VOID
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built import dataset
from voc_seg_tfrecord.pictures.overlay import class_colors
from voc_seg_tfrecord.report import charts, contents, gather, page, svg, thumbnails
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.choose import choose
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.report.page import hex_color

# What TFDS says of a dataset without a page of its own; there is no such page.
_CATALOG = "https://www.tensorflow.org/datasets/catalog/"
_PAIRS = 1000  # pairs that look alike are counted so far


def write(
    builder: tfds.core.DatasetBuilder | str,
    out: PathLike,
    *,
    data_dir: PathLike | None = None,
    splits: Sequence[str] | None = None,
    num: int | None = None,
    seed: int = 0,
    progress: bool = False,
) -> None:
    """Writes the report page of a built dataset: one HTML file that needs no network.

    The same dataset, seed and versions of libraries give the same bytes.

    Args:
      builder: of a built dataset, or its name, such as `voc_seg_tfrecord/2012`.
      out: the file to write; one that is there is replaced when the page is complete.
      data_dir: the folder of datasets, for a name.
      splits: names of splits (all).
      num: examples in each split's gallery; by default 24, and at most 240 in all galleries.
      seed: of the choice of examples.
      progress: whether to show one progress bar per split on standard error.

    Raises:
      ConfigError: if there is no such dataset or split, or the file cannot be written.
      RecordError: if a shard cannot be read.
    """
    path = page.check_out(out)
    if num is not None and num < 0:
        raise ConfigError("num", found=str(num), expected="0 or more examples per gallery")
    if isinstance(builder, str):
        builder = dataset.open_built(builder, data_dir)
    chosen = dataset.check_splits(builder, splits or ())
    with storage.as_storage_error(builder.info.full_name):
        text = render(builder, chosen, num=num, seed=seed, progress=progress)
    page.save(text, path)


def render(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    *,
    num: int | None,
    seed: int,
    progress: bool = False,
) -> str:
    """Returns the page as HTML; see `write`."""
    facts = gather.gather(builder, splits, progress=progress)
    names = tuple(clean(name) for name in dataset.class_names(builder))
    masked = MASK in builder.info.features
    unit = "tile" if TILE_IMAGE_ID in builder.info.features else "image"
    background = dataset.background(builder) if masked else None
    colors = class_colors(background, dataset.palette(builder))
    shared, alike, more = _common(facts)
    chosen = choose(facts, background, shared, alike, num=num, seed=seed)
    objects = (*chosen.largest, *chosen.smallest) if masked else ()
    shown = thumbnails.read(builder, set(chosen.places()), objects, colors)
    order = contents.by_images(facts, names)
    foreground = [label for label in order if label != background]
    return page.render(
        "dataset",
        colors,
        range(len(names)),
        title=builder.info.full_name.removesuffix(f"/{builder.info.version}"),
        info=builder.info,
        about=_about(builder),
        names=[*names, *[f"class {n}" for n in range(len(names), VOID)], "void"],
        background=background,
        masked=masked,
        unit=unit,
        void_share=_void_share(facts),
        instances=masked and all(f.has_objects for f in facts.values()),
        splits=contents.split_rows(facts),
        classes=contents.class_rows(facts, names),
        findings=list(contents.findings(facts, shared, len(alike), more)),
        charts=draw_charts(facts, names, colors, foreground, masked=masked, unit=unit),
        histograms=histograms(facts),
        maps=svg.heat_maps(sum(f.places for f in facts.values()), order) if masked else [],
        together=together_rows(facts, foreground),
        objects=contents.object_rows(facts) if masked else [],
        chosen=chosen,
        shown=shown,
        seed=seed,
        fingerprint=fingerprint.of_dataset({s: f.fingerprint for s, f in facts.items()}),
        complete=set(splits) == set(builder.info.splits),
        versions=wording.all_versions(),
    )


def _common(
    facts: Mapping[str, SplitFacts],
) -> tuple[list[leaks.Shared], list[look_alikes.LookAlike], bool]:
    """Returns what splits share, images that look alike, and whether there are more of them."""
    sides = [leaks.Side(split, leaks.role_of(split), f.image_sha256) for split, f in facts.items()]
    alike = itertools.islice(
        (
            both
            for both in look_alikes.find({split: f.looks for split, f in facts.items()})
            if _sha256(facts, both.first) != _sha256(facts, both.second)
        ),
        _PAIRS + 1,
    )
    found = list(alike)
    return leaks.compare(sides, sides), found[:_PAIRS], len(found) > _PAIRS


def _sha256(facts: Mapping[str, SplitFacts], place: tuple[str, int]) -> str:
    split, number = place
    return facts[split].image_sha256[facts[split].stats.ids[number]]


def _void_share(facts: Mapping[str, SplitFacts]) -> float:
    pixels = sum(int(f.stats.pixels.sum()) + f.stats.void for f in facts.values())
    return sum(f.stats.void for f in facts.values()) / max(1, pixels)


def _about(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    info = builder.info
    metadata = info.metadata or {}
    return {
        "description": " ".join((info.description or "").split()),
        "citation": (info.citation or "").strip(),
        "homepage": "" if (info.homepage or "").startswith(_CATALOG) else info.homepage,
        "license": info.redistribution_info.license or "",
        "config": page.json_lines(metadata["config"]) if metadata.get("config") else "",
        "archives": metadata.get("archives", []),
    }


_VOID_EDGES = (0, 0.001, 0.02, 0.05, 0.1, 0.2, 0.5, 1)
_VOID_TICKS = ("0", "0.1", "2", "5", "10", "20", "50", "100")
_OBJECT_EDGES = (0, 0.0001, 0.001, 0.01, 0.03, 0.1, 0.3, 1)
_OBJECT_TICKS = ("0", "0.01", "0.1", "1", "3", "10", "30", "100")


def draw_charts(
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
