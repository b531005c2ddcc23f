"""The report page of a built dataset."""

from collections.abc import Mapping, Sequence
import itertools
from typing import Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord import storage
from voc_seg_tfrecord.audit import dataset, fingerprint, leaks, look_alikes
from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.features import MASK, TILE_IMAGE_ID
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.report import contents, drawn, gather, heat, page, thumbnails
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.choose import choose
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.sheets.overlay import class_colors
from voc_seg_tfrecord.storage import PathLike
from voc_seg_tfrecord.wording import versions

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
    with storage.told(builder.info.full_name):
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
        charts=drawn.draw(facts, names, colors, foreground, masked=masked, unit=unit),
        histograms=drawn.histograms(facts),
        maps=heat.maps(sum(f.places for f in facts.values()), order) if masked else [],
        together=drawn.together_rows(facts, foreground),
        objects=contents.object_rows(facts) if masked else [],
        chosen=chosen,
        shown=shown,
        seed=seed,
        fingerprint=fingerprint.of_dataset({s: f.fingerprint for s, f in facts.items()}),
        complete=set(splits) == set(builder.info.splits),
        versions=versions.everything(),
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
