"""A picture of a confusion matrix, with the names of the classes."""

from etils import epath
import numpy as np

from voc_seg_tfrecord.evaluation.result import Result

ENDINGS = (".png", ".pdf", ".svg")


def save_confusion(result: Result, path: epath.Path) -> None:
    """Draws which share of each class's pixels was predicted as which class.

    Args:
      result: the score.
      path: the file to write; its ending, one of `ENDINGS`, tells the format.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    rows = result.matrix.sum(1, keepdims=True)
    shares = np.divide(result.matrix, rows, out=np.zeros(result.matrix.shape), where=rows > 0)
    classes = len(result.class_names)
    side = 2.5 + 0.32 * classes
    figure = Figure(figsize=(side + 1, side), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    shown = axes.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    names = [f"{n} {name}" for n, name in enumerate(result.class_names)]
    axes.set_xticks(range(classes), names, rotation=90)
    axes.set_yticks(range(classes), names)
    axes.set_xlabel("predicted")
    axes.set_ylabel("mask")
    axes.set_title(f"{result.dataset or 'predictions'}: mIoU {result.miou:.2%}")
    for row, column in np.argwhere(shares >= 0.005):
        share = shares[row, column]
        axes.text(
            column,
            row,
            f"{100 * share:.0f}",
            ha="center",
            va="center",
            fontsize=6,
            color="white" if share > 0.6 else "black",
        )
    figure.colorbar(shown, ax=axes, label="share of the class's pixels", shrink=0.8)
    figure.savefig(str(path), dpi=150)
