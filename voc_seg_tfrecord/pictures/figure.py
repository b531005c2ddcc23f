"""A contact sheet as a figure of Matplotlib, for notebooks."""

from collections.abc import Sequence
import io
import os

from matplotlib.figure import Figure
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.built.dataset import open_built
from voc_seg_tfrecord.pictures.preview import Choice, draw

_DPI = 100


class SheetFigure(Figure):
    """A figure that a notebook shows once, whether or not pyplot is in use.

    pyplot does not know of it, so nothing has to be closed.
    """

    def _repr_png_(self) -> bytes:
        file = io.BytesIO()
        self.savefig(file, format="png", dpi="figure")
        return file.getvalue()


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
) -> Figure:
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
      A figure of the sheet's size at 100 dots per inch. Its only axes hold the sheet, uint8
      `[H, W, 3]`. Masks and legend have the colours of `info.metadata['palette']`; if these are
      VOC's, background is black.

    Raises:
      ConfigError: if there is no such dataset, split or id, or an argument is out of range.
      RecordError: if the examples cannot be read.
    """
    by_name = isinstance(dataset, str | os.PathLike)
    builder = open_built(os.fspath(dataset), data_dir) if by_name else dataset
    choice = Choice(num, split, ids, by_class, columns, seed)
    pixels = np.asarray(draw(builder, choice).image)
    height, width = pixels.shape[:2]
    figure = SheetFigure(figsize=(width / _DPI, height / _DPI), dpi=_DPI)
    axes = figure.add_axes((0, 0, 1, 1))
    axes.imshow(pixels, interpolation="nearest", aspect="auto")
    axes.set_axis_off()
    return figure
