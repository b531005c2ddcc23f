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
from voc_seg_tfrecord.core import output_files, storage
from voc_seg_tfrecord.core.description import description_of_built
from voc_seg_tfrecord.core.names import MASK, TILE_IMAGE_ID
from voc_seg_tfrecord.core.package_versions import all_versions
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.reading import dataset as datasets
from voc_seg_tfrecord.reading import metadata
from voc_seg_tfrecord.reading.dataset import BuiltDataset, as_builder
from voc_seg_tfrecord.report import charts
from voc_seg_tfrecord.report.band_display import BandDisplay, find_display
from voc_seg_tfrecord.report.charts import ClassAxis
from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.gather import SplitFacts, gather, join_tables
from voc_seg_tfrecord.report.heat_maps import draw_heat_maps
from voc_seg_tfrecord.report.notices import find_notices
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.selection import PageSelection, RecordPlace, choose_shown
from voc_seg_tfrecord.report.templating import fill_template, hex_color, name_all_values
from voc_seg_tfrecord.report.thumbnails import folders_to_filter, read_thumbnails

_MAX_CLASSES_TOGETHER = 20  # in the table of classes that are in one image
_COLOR_STEPS = 8  # of a cell of that table
_MIN_STRONGEST_SHARE = 0.01  # where all shares are smaller, no cell has the strongest color


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
        of values.
      progress: whether to show a progress bar on standard error.

    Raises:
      ConfigError: if the dataset or split is missing, or the file cannot be written.
      RecordError: if a shard cannot be read.
    """
    path = output_files.check_file(out, "--out")
    builder = as_builder(dataset, data_dir)
    checked_splits = datasets.check_splits(builder, splits or ())
    with storage.as_storage_error(builder.info.full_name):
        display = find_display(builder, rgb)
        page = _render(builder, checked_splits, display, fits, progress)
    output_files.write_file(path, page, "--out")


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
    selection = choose_shown(facts, background, label_errors)
    boxes = [(suspect.place, suspect.box) for suspect in selection.suspects]
    thumbnails = read_thumbnails(
        builder,
        selection.places(),
        [*selection.largest, *selection.smallest] if has_masks else [],
        ClassStyle(names, colors, background),
        boxes,
        display,
    )

    images = sum((of_split.images for of_split in stats), np.zeros(len(names), np.int64))
    most_common_first = sorted(range(len(names)), key=lambda label: (-images[label], label))
    foreground = [label for label in most_common_first if label != background]
    shown_together = _find_shown_together(facts, selection)
    links = _link_classes(shown_together, selection)
    axis = ClassAxis(names, [hex_color(color) for color in colors], foreground, links)
    images_at_points = np.sum([of_split.images_at_points for of_split in facts.values()], 0)
    config = metadata.config_of(builder)
    fingerprints = {split: of_split.fingerprint for split, of_split in facts.items()}
    return fill_template(
        "dataset",
        colors,
        range(len(names)),
        title=builder.info.full_name.removesuffix(f"/{builder.info.version}"),
        info=builder.info,
        description=description_of_built(builder.info),
        archives=(builder.info.metadata or {}).get("archives", []),
        config=json.dumps(config, indent=2, ensure_ascii=False) if config else "",
        names=name_all_values(names, "class"),
        background=background,
        masked=has_masks,
        views=has_masks,
        bands=metadata.bands_of(builder),
        unit=unit,
        void_share=_share_of_void(stats),
        instances=has_masks and all(of_split.has_instances for of_split in facts.values()),
        splits=_split_rows(facts),
        classes=range(len(names)),
        stats=stats,
        images=images,
        notices=find_notices(facts, _find_shared_images(facts), label_errors),
        charts=charts.draw_dataset_charts(facts, axis, has_masks=has_masks, unit=unit),
        links=links,
        void_table=charts.table_of_ranges(charts.count_void_shares(facts), charts.VOID_PERCENTS),
        object_table=charts.table_of_ranges(
            charts.count_object_shares(facts), charts.OBJECT_PERCENTS
        ),
        maps=draw_heat_maps(images_at_points, most_common_first) if has_masks else [],
        together=_together_rows(facts, foreground, shown_together) if has_masks else [],
        objects=_object_rows(facts) if has_masks else [],
        selection=selection,
        folders=folders_to_filter(
            thumbnails[RecordPlace(split, number)].folder
            for split, numbers in selection.gallery.items()
            for number in numbers
        ),
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


def _find_shown_together(facts: Mapping[str, SplitFacts], selection: PageSelection) -> np.ndarray:
    """Returns which two mask values are shown together in an example, bool `[256, 256]`.

    The examples are those of the galleries. A value that one of them has is shown with itself.
    """
    present = [facts[split].present[numbers] for split, numbers in selection.gallery.items()]
    present_in_examples = np.concatenate([np.zeros((0, 256), bool), *present]).astype(np.float32)
    return np.asarray(present_in_examples.T @ present_in_examples > 0)


def _link_classes(shown_together: np.ndarray, selection: PageSelection) -> dict[int, str]:
    """Returns a link to examples of each class that is shown: `#rare-3`, or `#examples?3`."""
    labels = np.flatnonzero(shown_together.any(0)).tolist()
    links = {label: f"#examples?{label}" for label in labels}
    for rare_class in selection.rare:
        links[rare_class.label] = f"#rare-{rare_class.label}"
    return links


@dataclasses.dataclass(frozen=True)
class _TogetherCell:
    """A cell of the table of classes that are in one image.

    Attributes:
      label: the class of the column.
      images: how many have both the class of the row and that of the column.
      color_step: how strong the color of the cell is, 0 to 8, by the share of these images in
        those that have the class of the row.
      link: the link to an example that has both; empty if none is shown.
    """

    label: int
    images: int
    color_step: int
    link: str


@dataclasses.dataclass(frozen=True)
class _TogetherRow:
    """A row of the table of classes that are in one image."""

    label: int
    cells: Sequence[_TogetherCell]


def _together_rows(
    facts: Mapping[str, SplitFacts], labels: Sequence[int], shown_together: np.ndarray
) -> list[_TogetherRow]:
    """Returns a row and a column for each of the first classes."""
    labels = list(labels[:_MAX_CLASSES_TOGETHER])
    images = np.sum([of_split.together for of_split in facts.values()], 0)
    images = images[np.ix_(labels, labels)]
    shares = images / np.maximum(1, np.diag(images))[:, np.newaxis]
    np.fill_diagonal(shares, 0)
    strongest = max(_MIN_STRONGEST_SHARE, shares.max(initial=0))
    color_steps = np.ceil(shares * (_COLOR_STEPS / strongest)).astype(int)
    rows = []
    for row, row_label in enumerate(labels):
        cells = []
        for column, label in enumerate(labels):
            is_shown = shown_together[row_label, label]
            link = f"#examples?{row_label} {label}" if is_shown else ""
            step = int(color_steps[row, column])
            cells.append(_TogetherCell(label, int(images[row, column]), step, link))
        rows.append(_TogetherRow(row_label, cells))
    return rows


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
            void=stats.void_share if len(of_split.void_shares) else None,
            sides=sides,
            common=stats.most_common_sizes(3) if has_sizes else [],
            list=stats.id_list,
            fingerprint=of_split.fingerprint,
        )
        rows.append(row)
    return rows


@dataclasses.dataclass(frozen=True)
class _ObjectRow:
    """The sizes of the objects of a class: how many there are, pixels, and the median share."""

    label: int
    objects: int
    smallest: int
    median: int
    largest: int
    median_share: float


def _object_rows(facts: Mapping[str, SplitFacts]) -> list[_ObjectRow]:
    """Returns the sizes of objects by class."""
    objects = join_tables(of_split.objects for of_split in facts.values())
    rows = []
    for label in np.unique(objects.labels).tolist():
        is_of_class = objects.labels == label
        pixels = objects.pixels[is_of_class]
        smallest, median, largest = np.quantile(pixels, (0, 0.5, 1)).astype(int).tolist()
        median_share = float(np.median(objects.shares[is_of_class]))
        rows.append(_ObjectRow(label, len(pixels), smallest, median, largest, median_share))
    return rows
