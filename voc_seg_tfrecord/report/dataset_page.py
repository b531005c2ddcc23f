"""Writes the report page of a built dataset."""

from collections.abc import Mapping, Sequence
import dataclasses
import json
from typing import Any

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import fingerprint, leaks
from voc_seg_tfrecord.audit.fingerprint import Fingerprint
from voc_seg_tfrecord.audit.leaks import Overlap
from voc_seg_tfrecord.audit.statistics import Stats
from voc_seg_tfrecord.core import staging, storage
from voc_seg_tfrecord.core.names import MASK, TILE_IMAGE_ID
from voc_seg_tfrecord.core.requirements import all_versions
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.report.band_display import BandDisplay, find_display
from voc_seg_tfrecord.report.class_table import SplitClasses, largest_share
from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.dataset_findings import make_cards, make_sections
from voc_seg_tfrecord.report.gather import SplitFacts, gather
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.sections import folders_to_filter
from voc_seg_tfrecord.report.selection import RecordPlace, choose_shown
from voc_seg_tfrecord.report.templating import fill_template, name_all_values
from voc_seg_tfrecord.report.thumbnails import read_thumbnails


def write(
    dataset: BuiltDataset,
    out: PathLike,
    *,
    data_dir: PathLike | None = None,
    splits: Sequence[str] | None = None,
    fits: bool = True,
    rgb: Sequence[int] | None = None,
    progress: bool = False,
) -> None:
    """Writes the report page of a built dataset: one HTML file that needs no network.

    The same dataset and versions of libraries give the same bytes.

    Args:
      dataset: a built dataset: its builder, its name, such as `voc_seg_tfrecord/2012`, or the
        path of its folder.
      out: the file to write; an existing file is replaced when the page is complete.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.
      splits: names of splits (all).
      fits: whether to look for masks that do not fit their images.
      rgb: for images other than 8-bit RGB: the numbers, from 0, of the bands to show as red, green
        and blue; by default the first three, or the first one in gray. All images share one range
        of values per band.
      progress: whether to show a progress bar on standard error (False).

    Raises:
      ConfigError: if the dataset or split is missing, or the file cannot be written.
      RecordError: if a shard cannot be read.
    """
    path = staging.check_output_file(out, "--out")
    builder = as_builder(dataset, data_dir)
    checked_splits = datasets.check_splits(builder, splits or ())
    with storage.as_storage_error(builder.info.full_name):
        display = find_display(builder, rgb)
        page = _render(builder, checked_splits, display, fits, progress)
    staging.write_output_file(path, page, "--out")


def _render(
    builder: tfds.core.DatasetBuilder,
    splits: Sequence[str],
    display: BandDisplay | None,
    fits: bool,
    progress: bool,
) -> str:
    """Reads the dataset, and returns the page as HTML."""
    facts = gather(builder, splits, fits=fits, progress=progress)
    stats = [of_split.stats for of_split in facts.values()]
    names = tuple(clean(name) for name in metadata.class_names(builder))
    background = metadata.background(builder)
    colors = class_colors(background, metadata.palette(builder))
    has_masks = MASK in builder.info.features
    unit = "tile" if TILE_IMAGE_ID in builder.info.features else "image"

    evidence = [example for of_split in facts.values() for example in of_split.evidence]
    label_errors = rules.find_all(evidence, names, background)
    selection = choose_shown(facts, label_errors)
    thumbnails = read_thumbnails(
        builder,
        selection.places(),
        ClassStyle(names, colors, background),
        selection.boxes(),
        display,
    )
    examples = [
        thumbnails[RecordPlace(split, number)]
        for split, numbers in selection.gallery.items()
        for number in numbers
    ]
    cards = make_cards(selection.findings, thumbnails)
    class_columns = [
        SplitClasses(split, of_split.class_counts, of_split.stats.objects if has_masks else None)
        for split, of_split in facts.items()
    ]
    config = metadata.config_of(builder)
    fingerprints = {split: of_split.fingerprint for split, of_split in facts.items()}
    return fill_template(
        "dataset",
        colors,
        range(len(names)),
        title=builder.info.full_name.removesuffix(f"/{builder.info.version}"),
        info=builder.info,
        description=metadata.description_of(builder),
        archives=metadata.archives_of(builder),
        config=json.dumps(config, indent=2, ensure_ascii=False) if config else "",
        names=name_all_values(names, "class"),
        background=background,
        masked=has_masks,
        views=has_masks,
        bands=metadata.bands_of(builder),
        unit=unit,
        void_share=_share_of_void(stats),
        instances=has_masks and all(of_split.objects is not None for of_split in stats),
        splits=_split_rows(facts),
        classes=range(len(names)),
        class_columns=class_columns,
        max_share=largest_share(class_columns, background),
        shown_labels={label for example in examples for label in example.shares},
        kinds=make_sections(facts, _find_shared_images(facts), label_errors, cards),
        selection=selection,
        folders=folders_to_filter(example.folder for example in examples),
        thumbnails=thumbnails,
        fingerprint=fingerprint.of_dataset(fingerprints),
        complete=set(splits) == set(builder.info.splits),
        versions=all_versions(),
    )


def _find_shared_images(facts: Mapping[str, SplitFacts]) -> list[Overlap]:
    """Returns what each two splits share."""
    sides = []
    for split, of_split in facts.items():
        hashes = {example.id: example.image_sha256 for example in of_split.evidence}
        sides.append(leaks.Side(split, leaks.guess_role(split), hashes))
    return leaks.compare(sides, sides)


def _share_of_void(stats: Sequence[Stats]) -> float:
    """Returns the share of void in all pixels."""
    void = sum(of_split.void for of_split in stats)
    pixels = void + sum(int(of_split.pixels.sum()) for of_split in stats)
    return void / max(1, pixels)


@dataclasses.dataclass(frozen=True)
class _SplitRow:
    """A split in the tables of splits and of sizes.

    Attributes:
      split: its name.
      examples: how many examples it has.
      sources: how many images its tiles were cut from; None if there are no tiles.
      classes: how many classes its masks have.
      objects: how many objects it has; None if they are not counted.
      void: the share of void; None if no example has masks.
      sides: the smallest, the median and the largest height and width; None for each if there are
        no sizes.
      common: the most common heights and widths, with how many examples have each.
      list: the named list that has its ids; empty if none has.
      fingerprint: its fingerprint.
    """

    split: str
    examples: int
    sources: int | None
    classes: int
    objects: int | None
    void: float | None
    sides: Sequence[Any]
    common: Sequence[tuple[int, int, int]]
    list: str
    fingerprint: Fingerprint


def _split_rows(facts: Mapping[str, SplitFacts]) -> list[_SplitRow]:
    """Returns the rows of the tables of splits and of sizes."""
    rows = []
    for split, of_split in facts.items():
        stats = of_split.stats
        has_sizes = len(stats.sizes) > 0
        sides: list[Any] = [None, None, None]
        if has_sizes:
            sides = np.quantile(stats.sizes, (0, 0.5, 1), axis=0).astype(int).tolist()
        row = _SplitRow(
            split=split,
            examples=len(stats.ids),
            sources=of_split.sources,
            classes=int((stats.images > 0).sum()),
            objects=None if stats.objects is None else int(stats.objects.sum()),
            void=stats.void_share if of_split.has_masks else None,
            sides=sides,
            common=stats.most_common_sizes(3) if has_sizes else [],
            list=stats.id_list,
            fingerprint=of_split.fingerprint,
        )
        rows.append(row)
    return rows
