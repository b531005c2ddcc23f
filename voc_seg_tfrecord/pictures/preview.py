"""Contact sheets: examples of a built dataset, chosen and drawn."""

from collections.abc import Sequence
import os
from typing import TYPE_CHECKING, Any

import tensorflow_datasets as tfds

from voc_seg_tfrecord.base import wording
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built.dataset import background, class_names, open_built, palette
from voc_seg_tfrecord.pictures import pick
from voc_seg_tfrecord.pictures.overlay import Look, class_colors

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def preview(
    dataset: tfds.core.DatasetBuilder | PathLike,
    num: int | None = None,
    *,
    split: str | None = None,
    ids: Sequence[str] | None = None,
    by_class: bool = False,
    columns: int | None = None,
    seed: int | None = None,
    data_dir: PathLike | None = None,
) -> "Figure":
    """Shows examples of a built dataset: images, masks, overlays and a legend.

    In a notebook the figure is shown if it is the last value of a cell. In a script, save it
    with `savefig`. TensorFlow is not loaded.

    Args:
      dataset: a builder, as `tfds.builder` returns it, or a name as in TFDS,
        `voc_seg_tfrecord/2012`, or the path of a version folder.
      num: how many examples (9); with `by_class`, of each class (1).
      split: a split, or a slice such as `train[20:26]`; `train` by default, or the first split
        of a dataset without it.
      ids: the image ids to show, in this order, in place of a choice. Without `split` they are
        looked for in all splits.
      by_class: whether to show examples of each class, under its name. Of the first examples
        with a class, those are taken in which it covers the largest share.
      columns: examples side by side; by default 1 for up to three examples, 2 for more, and 3
        if there are no masks.
      seed: 0 or more, for a choice at random; by default the first examples are shown.
      data_dir: the folder of datasets, for a name; TFDS's by default.

    Returns:
      A figure whose data coordinates are pixels at 100 dots per inch. Masks and legend have the
      colours of `info.metadata['palette']`; if these are VOC's, background is black.

    Raises:
      ConfigError: if there is no such dataset, split or id, or an argument is out of range.
      RecordError: if the examples cannot be read.
    """
    by_name = isinstance(dataset, str | os.PathLike)
    builder: Any = open_built(os.fspath(dataset), data_dir) if by_name else dataset
    if columns is not None and columns < 1:
        raise ConfigError("columns", found=str(columns), expected="1 or more")
    groups, split = pick.groups(builder, num, split, ids, by_class, seed)
    names, ground = class_names(builder), background(builder)
    content = wording.counted(len(groups[0][1]), "example")
    absent: tuple[str, ...] = ()
    if by_class:
        shown = {ground, *(value for value, _ in groups)}
        absent = tuple(name for value, name in enumerate(names) if value not in shown)
        content = f"examples of {wording.counted(len(groups), 'class')}"
    content = f"{content} of {split}"
    look = Look(names, class_colors(ground, palette(builder)), ground)
    note = f"In no example of {split}: {', '.join(absent)}." if absent else ""
    from voc_seg_tfrecord.pictures.figure import sheet  # after the reading, which needs memory

    figure = sheet(f"{builder.info.full_name}: {content}", groups, look, columns, note)
    figure.content, figure.split, figure.absent = content, split, absent
    return figure
