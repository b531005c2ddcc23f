"""The report page of a built dataset: what is read, and what stands in its sections."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import json
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, leaks
from voc_seg_tfrecord.audit.leaks import Shared
from voc_seg_tfrecord.base import staging, storage, wording
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.names import MASK, TILE_IMAGE_ID, VOID
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built import dataset
from voc_seg_tfrecord.facts import lists
from voc_seg_tfrecord.pictures.overlay import Look, class_colors
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.report import charts, gather, page, svg, thumbnails
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.choose import Chosen, choose
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.stats.counts import ClassCounts, missing_classes

# What TFDS says of a dataset without a page of its own; there is no such page.
_CATALOG = "https://www.tensorflow.org/datasets/catalog/"


def write(
    builder: tfds.core.DatasetBuilder | str,
    out: PathLike,
    *,
    data_dir: PathLike | None = None,
    splits: Sequence[str] | None = None,
    num: int | None = None,
    seed: int = 0,
    fits: bool = True,
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
      fits: whether to look for masks that do not fit their images.
      progress: whether to show a progress bar on standard error.

    Raises:
      ConfigError: if there is no such dataset or split, or the file cannot be written.
      RecordError: if a shard cannot be read.
    """
    path = staging.check_file(out, "--out")
    if num is not None and num < 0:
        raise ConfigError("num", found=str(num), expected="0 or more examples per gallery")
    if isinstance(builder, str):
        builder = dataset.open_built(builder, data_dir)
    chosen = dataset.check_splits(builder, splits or ())
    with storage.as_storage_error(builder.info.full_name):
        text = render(builder, chosen, num=num, seed=seed, fits=fits, progress=progress)
    staging.write_file(path, text, "--out")


def render(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    *,
    num: int | None,
    seed: int,
    fits: bool = True,
    progress: bool = False,
) -> str:
    """Returns the page as HTML; see `write`."""
    facts = gather.gather(builder, splits, fits=fits, progress=progress)
    names = tuple(clean(name) for name in dataset.class_names(builder))
    masked = MASK in builder.info.features
    unit = "tile" if TILE_IMAGE_ID in builder.info.features else "image"
    background = dataset.background(builder)
    colors = class_colors(background, dataset.palette(builder))
    sides = [
        leaks.Side(split, leaks.role_of(split), {e.id: e.image_sha256 for e in f.evidence})
        for split, f in facts.items()
    ]
    shared = leaks.compare(sides, sides)
    evidence = [example for f in facts.values() for example in f.evidence]
    label_errors = rules.find(evidence, names, background)
    chosen = choose(facts, background, label_errors, num=num, seed=seed)
    look = Look(names, colors, background)
    objects = (*chosen.largest, *chosen.smallest) if masked else ()
    boxes = [(place, error.box) for place, error in chosen.suspects if error.box]
    shown = thumbnails.read(builder, set(chosen.places()), objects, look, boxes)
    order = by_images(facts, names)
    foreground = [label for label in order if label != background]
    links = find_links(facts, chosen)
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
        views=masked,
        bands=dataset.bands_of(builder),
        unit=unit,
        void_share=_void_share(facts),
        instances=masked and all(f.has_objects for f in facts.values()),
        splits=split_rows(facts),
        classes=range(len(names)),
        stats=[f.stats for f in facts.values()],
        images=_images(facts, names),
        findings=list(findings(facts, shared, label_errors)),
        charts=charts.draw_all(
            facts,
            names,
            list(map(page.hex_color, colors)),
            foreground,
            links=links,
            masked=masked,
            unit=unit,
        ),
        links=links,
        histograms=charts.histogram_rows(facts),
        maps=svg.heat_maps(np.sum([f.places for f in facts.values()], 0), order) if masked else [],
        together=together_rows(facts, foreground, chosen) if masked else [],
        objects=object_rows(facts) if masked else [],
        chosen=chosen,
        shown=shown,
        seed=seed,
        fingerprint=fingerprint.of_dataset({s: f.fingerprint for s, f in facts.items()}),
        complete=set(splits) == set(builder.info.splits),
        versions=wording.all_versions(),
    )


def _void_share(facts: Mapping[str, SplitFacts]) -> float:
    pixels = sum(int(f.stats.pixels.sum()) + f.stats.void for f in facts.values())
    return sum(f.stats.void for f in facts.values()) / max(1, pixels)


def _about(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    info = builder.info
    config = dataset.config_of(builder)
    return {
        "description": " ".join((info.description or "").split()),
        "citation": (info.citation or "").strip(),
        "homepage": "" if (info.homepage or "").startswith(_CATALOG) else info.homepage,
        "license": info.redistribution_info.license or "",
        "config": json.dumps(config, indent=2, ensure_ascii=False) if config else "",
        "archives": (info.metadata or {}).get("archives", []),
    }


def find_links(facts: Mapping[str, SplitFacts], chosen: Chosen) -> dict[int, str]:
    """Returns where examples of a class are on the page: `#rare-3`, or `#examples?3`."""
    links = {label: f"#rare-{label}" for label, _ in chosen.rare}
    for label in np.flatnonzero(_shown_together(facts, chosen).any(0)).tolist():
        links.setdefault(label, f"#examples?{label}")
    return links


def _shown_together(facts: Mapping[str, SplitFacts], chosen: Chosen) -> np.ndarray:
    """Returns which two values any example of the galleries has, bool `[256, 256]`."""
    present = [facts[split].present[numbers] for split, numbers in chosen.gallery.items()]
    shown = np.concatenate([np.zeros((0, 256), bool), *present]).astype(np.float32)
    return shown.T @ shown > 0


_TOGETHER = 20
"""Classes in the table of classes that are in one image, at most."""

_STEPS = 8  # of colour in it


def together_rows(
    facts: Mapping[str, SplitFacts], labels: Sequence[int], chosen: Chosen
) -> list[tuple[int, list[tuple[int, int, int, str]]]]:
    """Returns a row for each of the first classes, with a cell for each of them.

    Of each cell the column's class; how many images have both; how strong its colour is, 0 to 8,
    by their share of the images with the row's class; and the link to an example, or nothing.
    """
    first = list(labels[:_TOGETHER])
    counts = np.sum([f.together for f in facts.values()], 0)[np.ix_(first, first)]
    shares = counts / np.maximum(1, np.diag(counts))[:, None]
    np.fill_diagonal(shares, 0)
    steps = np.ceil(shares * (_STEPS / max(0.01, shares.max(initial=0)))).astype(int)
    linked = _shown_together(facts, chosen)
    return [
        (
            row,
            [
                (
                    column,
                    int(counts[i, j]),
                    int(steps[i, j]),
                    f"#examples?{row} {column}" if linked[row, column] else "",
                )
                for j, column in enumerate(first)
            ],
        )
        for i, row in enumerate(first)
    ]


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that its owner should know; `grave` if results would be wrong."""

    title: str
    text: str
    grave: bool = False
    items: tuple[str, ...] = ()


_SHOWN = 10

# What the page says of a kind; the rest says all in its messages.
_LABEL_ERRORS = {
    rules.ALIKE_IN_TWO_SPLITS: "Images in two splits look alike, though their files differ. They "
    "may be copies that were scaled or encoded again, or frames of one film.",
    rules.ALIKE: "Images of one split look alike, though their files differ.",
    rules.SAME: "Images of one split are the same file.",
}


def findings(
    facts: Mapping[str, SplitFacts],
    shared: Sequence[Shared],
    label_errors: Sequence[rules.Finding],
) -> Iterator[Finding]:
    """Yields what was found, the gravest first, then the most suspicious labels."""
    for both in shared:
        if both.examples:
            yield _shared(both)
    problems = [(split, i, p) for split, f in facts.items() for _, i, p in f.problems]
    if problems:
        lines = [f"{split}, {image_id}: {problem}" for split, image_id, problem in problems]
        yield Finding(
            "Damaged records",
            f"{wording.counted(len(problems), 'problem')} in the records. The page counts what can "
            "be read.",
            grave=True,
            items=_first(lines),
        )
    for kind in dict.fromkeys(error.kind for error in label_errors):
        messages = [error.message for error in label_errors if error.kind == kind]
        if kind in (rules.ALL_MASKS, "note"):
            yield Finding(kind.capitalize(), f"{' '.join(messages).removesuffix('.')}.")
        elif kind != rules.SAME_IN_TWO_SPLITS:  # this is among what is shared
            text = (
                _LABEL_ERRORS.get(kind)
                or f"{wording.counted(len(messages), 'label')} may be wrong."
            )
            yield Finding(kind.capitalize(), text, items=_first(messages))
    by_split = {split: ClassCounts(f.present.sum(0).astype(np.int64)) for split, f in facts.items()}
    names = next((f.stats.class_names for f in facts.values()), ())
    for sentence in missing_classes(names, by_split):
        nowhere = sentence.startswith("no image")
        text = f"{'N' + sentence[1:] if nowhere else 'Split ' + sentence}."
        yield Finding("Absent classes", text)


def _shared(both: Shared) -> Finding:
    first, second = both.first.name, both.second.name
    pairs = [a if a == b else f"{a} = {b}" for a, b in both.images]
    return Finding(
        "Training data meets evaluation data" if both.is_leak else "Images in two splits",
        f"{first} and {second} share {wording.counted(both.examples, 'example')}.",
        grave=both.is_leak,
        items=_first(pairs or [f"{i}, by its id" for i in both.ids]),
    )


def _first(lines: Sequence[str]) -> tuple[str, ...]:
    more = [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more)


def split_rows(facts: Mapping[str, SplitFacts]) -> list[dict[str, Any]]:
    """Returns one row per split."""
    rows = []
    for split, f in facts.items():
        sizes = f.stats.sizes
        rows.append(
            {
                "split": split,
                "examples": len(f.stats.ids),
                "sources": f.sources,
                "classes": int((f.stats.images > 0).sum()),
                "objects": None if f.stats.objects is None else int(f.stats.objects.sum()),
                "void": f.stats.void_share if len(f.shares) else None,
                "low": sizes.min(0).tolist() if len(sizes) else None,
                "middle": np.median(sizes, 0).astype(int).tolist() if len(sizes) else None,
                "high": sizes.max(0).tolist() if len(sizes) else None,
                "common": f.stats.most_common_sizes(3) if len(sizes) else [],
                "ids_sha256": f.stats.ids_sha256,
                "list": lists.identify(f.stats.ids_sha256),
                "fingerprint": f.fingerprint,
            }
        )
    return rows


def object_rows(facts: Mapping[str, SplitFacts]) -> list[dict[str, Any]]:
    """Returns one row per class that has objects: how large they are."""
    objects = np.concatenate([np.zeros((0, 5), np.int64), *(f.objects for f in facts.values())])
    shares = np.concatenate([np.zeros(0), *(f.object_shares for f in facts.values())])
    rows = []
    for label in np.unique(objects[:, 2]).tolist():
        of_class = objects[:, 2] == label
        pixels = objects[of_class, 3]
        rows.append(
            {
                "label": label,
                "objects": len(pixels),
                "low": int(pixels.min()),
                "middle": int(np.median(pixels)),
                "high": int(pixels.max()),
                "share": float(np.median(shares[of_class])),
            }
        )
    return rows


def by_images(facts: Mapping[str, SplitFacts], names: Sequence[str]) -> list[int]:
    """Returns the classes, those in most images first."""
    images = _images(facts, names)
    return sorted(range(len(names)), key=lambda label: (-images[label], label))


def _images(facts: Mapping[str, SplitFacts], names: Sequence[str]) -> np.ndarray:
    """Returns how many images of all splits have each class, int64 `[C]`."""
    return sum((f.stats.images for f in facts.values()), np.zeros(len(names), np.int64))
