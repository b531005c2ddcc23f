"""The report page of a built dataset: what is read, and what stands in its sections."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import json
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, leaks
from voc_seg_tfrecord.audit.counting import ClassCounts, missing_classes
from voc_seg_tfrecord.audit.leaks import Overlap
from voc_seg_tfrecord.core import staging, storage
from voc_seg_tfrecord.core.description import description_of_built
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.names import MASK, TILE_IMAGE_ID, VOID
from voc_seg_tfrecord.core.package_versions import all_versions
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.quality import finding, rules
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.report import charts, gather, thumbnails
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.gather import Chosen, SplitFacts
from voc_seg_tfrecord.report.overlay import Look, class_colors


def write(
    dataset: BuiltDataset,
    out: PathLike,
    *,
    data_dir: PathLike | None = None,
    splits: Sequence[str] | None = None,
    fits: bool = True,
    progress: bool = False,
) -> None:
    """Writes the report page of a built dataset: one HTML file that needs no network.

    The same dataset and versions of libraries give the same bytes.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      out: the file to write; one that is there is replaced when the page is complete.
      data_dir: the folder of datasets, for a name.
      splits: names of splits (all).
      fits: whether to look for masks that do not fit their images.
      progress: whether to show a progress bar on standard error.

    Raises:
      ConfigError: if there is no such dataset or split, or the file cannot be written.
      RecordError: if a shard cannot be read.
    """
    path = staging.check_file(out, "--out")
    builder = as_builder(dataset, data_dir)
    chosen = datasets.check_splits(builder, splits or ())
    with storage.as_storage_error(builder.info.full_name):
        text = _render(builder, chosen, fits, progress)
    staging.write_file(path, text, "--out")


def _render(
    builder: tfds.core.DatasetBuilder, splits: Sequence[str], fits: bool, progress: bool
) -> str:
    facts = gather.gather(builder, splits, fits=fits, progress=progress)
    config = datasets.config_of(builder)
    names = tuple(clean(name) for name in datasets.class_names(builder))
    masked = MASK in builder.info.features
    unit = "tile" if TILE_IMAGE_ID in builder.info.features else "image"
    background = datasets.background(builder)
    colors = class_colors(background, datasets.palette(builder))
    sides = [
        leaks.Side(split, leaks.role_of(split), {e.id: e.image_sha256 for e in f.evidence})
        for split, f in facts.items()
    ]
    shared = leaks.compare(sides, sides)
    evidence = [example for f in facts.values() for example in f.evidence]
    label_errors = rules.find_all(evidence, names, background)
    chosen = gather.choose(facts, background, label_errors)
    look = Look(names, colors, background)
    objects = (*chosen.largest, *chosen.smallest) if masked else ()
    boxes = [(place, error.box) for place, error in chosen.suspects if error.box]
    shown = thumbnails.read(builder, set(chosen.places()), objects, look, boxes)
    images = sum((f.stats.images for f in facts.values()), np.zeros(len(names), np.int64))
    order = sorted(range(len(names)), key=lambda label: (-images[label], label))
    foreground = [label for label in order if label != background]
    pixels = sum(int(f.stats.pixels.sum()) + f.stats.void for f in facts.values())
    links, together = _links(facts, foreground, chosen)
    shares = charts.count_shares(facts)
    places = np.sum([f.places for f in facts.values()], 0)
    return thumbnails.render(
        "dataset",
        colors,
        range(len(names)),
        title=builder.info.full_name.removesuffix(f"/{builder.info.version}"),
        info=builder.info,
        said=description_of_built(builder.info),
        archives=(builder.info.metadata or {}).get("archives", []),
        config=json.dumps(config, indent=2, ensure_ascii=False) if config else "",
        names=[*names, *[f"class {n}" for n in range(len(names), VOID)], "void"],
        background=background,
        masked=masked,
        views=masked,
        bands=datasets.bands_of(builder),
        unit=unit,
        void_share=sum(f.stats.void for f in facts.values()) / max(1, pixels),
        instances=masked and all(f.has_objects for f in facts.values()),
        splits=_split_rows(facts),
        classes=range(len(names)),
        stats=[f.stats for f in facts.values()],
        images=images,
        findings=list(_findings(facts, shared, label_errors)),
        charts=charts.draw_all(
            facts,
            shares,
            names,
            list(map(thumbnails.hex_color, colors)),
            foreground,
            links=links,
            masked=masked,
            unit=unit,
        ),
        links=links,
        histograms=charts.rows_of(shares),
        maps=charts.heat_maps(places, order) if masked else [],
        together=together if masked else [],
        objects=_object_rows(facts) if masked else [],
        chosen=chosen,
        shown=shown,
        fingerprint=fingerprint.of_dataset({s: f.fingerprint for s, f in facts.items()}),
        complete=set(splits) == set(builder.info.splits),
        versions=all_versions(),
    )


_TOGETHER = 20  # classes in the table of classes that are in one image, at most
_STEPS = 8  # of colour in it


def _links(
    facts: Mapping[str, SplitFacts], labels: Sequence[int], chosen: Chosen
) -> tuple[dict[int, str], list[tuple[int, list[tuple[int, int, int, str]]]]]:
    """Returns where examples of classes are, and a row and a column for each of the first classes.

    A link is `#rare-3`, or `#examples?3` for the galleries. A cell of the table has the column's
    class; how many images have both; how strong its colour is, 0 to 8, by their share of the images
    with the row's class; and the link to an example that has both, or nothing.
    """
    present = [facts[split].present[numbers] for split, numbers in chosen.gallery.items()]
    shown = np.concatenate([np.zeros((0, 256), bool), *present]).astype(np.float32)
    linked = shown.T @ shown > 0
    links = {label: f"#examples?{label}" for label in np.flatnonzero(linked.any(0)).tolist()}
    links |= {label: f"#rare-{label}" for label, _ in chosen.rare}
    first = list(labels[:_TOGETHER])
    counts = np.sum([f.together for f in facts.values()], 0)[np.ix_(first, first)]
    shares = counts / np.maximum(1, np.diag(counts))[:, None]
    np.fill_diagonal(shares, 0)
    steps = np.ceil(shares * (_STEPS / max(0.01, shares.max(initial=0)))).astype(int).tolist()
    rows = []
    for row, *of_row in zip(first, counts.tolist(), steps, strict=True):
        to = [f"#examples?{row} {column}" if linked[row, column] else "" for column in first]
        rows.append((row, list(zip(first, *of_row, to, strict=True))))
    return links, rows


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that its owner should know; `grave` if results would be wrong."""

    title: str
    text: str
    grave: bool = False
    items: tuple[str, ...] = ()


_SHOWN = 10  # lines of a finding

# What the page says of a kind; the rest says all in its messages.
_LABEL_ERRORS = {
    finding.SIMILAR_IMAGES_IN_TWO_SPLITS: "Images in two splits look alike, though their files "
    "differ. They may be copies that were scaled or encoded again, or frames of one film.",
    finding.SIMILAR_IMAGES: "Images of one split look alike, though their files differ.",
    finding.SAME_IMAGE: "Images of one split are the same file.",
}


def _findings(
    facts: Mapping[str, SplitFacts],
    shared: Sequence[Overlap],
    label_errors: Sequence[finding.Finding],
) -> Iterator[Finding]:
    """Yields what was found, the gravest first, then the most suspicious labels."""
    for both in (pair for pair in shared if pair.examples):
        first, second = both.first.name, both.second.name
        pairs = [a if a == b else f"{a} = {b}" for a, b in both.images]
        yield Finding(
            "Training data meets evaluation data" if both.is_leak else "Images in two splits",
            f"{first} and {second} share {counted(both.examples, 'example')}.",
            grave=both.is_leak,
            items=_first(pairs or [f"{i}, by its id" for i in both.ids]),
        )
    problems = [(split, i, p) for split, f in facts.items() for _, i, p in f.problems]
    if problems:
        lines = [f"{split}, {image_id}: {problem}" for split, image_id, problem in problems]
        yield Finding(
            "Damaged records",
            f"{counted(len(problems), 'problem')} in the records. The page counts what can "
            "be read.",
            grave=True,
            items=_first(lines),
        )
    for kind in dict.fromkeys(error.kind for error in label_errors):
        messages = [error.message for error in label_errors if error.kind == kind]
        if kind in (finding.ALL_MASKS, "note"):
            yield Finding(kind.capitalize(), f"{' '.join(messages).removesuffix('.')}.")
        elif kind != finding.SAME_IMAGE_IN_TWO_SPLITS:  # this is among what is shared
            text = _LABEL_ERRORS.get(kind) or f"{counted(len(messages), 'label')} may be wrong."
            yield Finding(kind.capitalize(), text, items=_first(messages))
    by_split = {split: ClassCounts(f.present.sum(0).astype(np.int64)) for split, f in facts.items()}
    names = next((f.stats.class_names for f in facts.values()), ())
    for sentence in missing_classes(names, by_split):
        nowhere = sentence.startswith("no image")
        text = f"{'N' + sentence[1:] if nowhere else 'Split ' + sentence}."
        yield Finding("Absent classes", text)


def _first(lines: Sequence[str]) -> tuple[str, ...]:
    more = [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more)


def _split_rows(facts: Mapping[str, SplitFacts]) -> list[dict[str, Any]]:
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
                "sides": np.quantile(sizes, (0, 0.5, 1), axis=0).astype(int).tolist()
                if len(sizes)
                else [None] * 3,
                "common": f.stats.most_common_sizes(3) if len(sizes) else [],
                "list": f.stats.id_list,
                "fingerprint": f.fingerprint,
            }
        )
    return rows


def _object_rows(facts: Mapping[str, SplitFacts]) -> list[tuple[Any, ...]]:
    """Returns class, objects, their least, median and most pixels, and median share, by class."""
    objects = np.concatenate([np.zeros((0, 5), np.int64), *(f.objects for f in facts.values())])
    shares = np.concatenate([np.zeros(0), *(f.object_shares for f in facts.values())])
    rows = []
    for label in np.unique(objects[:, 2]).tolist():
        of_class = objects[:, 2] == label
        sizes = np.quantile(objects[of_class, 3], (0, 0.5, 1)).astype(int).tolist()
        rows.append((label, int(of_class.sum()), *sizes, float(np.median(shares[of_class]))))
    return rows
