"""A picture of a confusion matrix, with the names of the classes."""

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.evaluation.result import Result

SUFFIXES = (".png", ".pdf", ".svg")


def save_confusion(result: Result, path: PathLike) -> None:
    """Draws which share of each class's pixels was predicted as which class.

    Args:
      result: the score.
      path: the file to write; its ending, .png, .pdf or .svg, tells the format.

    Raises:
      ConfigError: if Matplotlib is not installed, or the ending is another.
    """
    check_path(path)
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
    figure.savefig(str(epath.Path(path).expanduser()), dpi=150)


def check_path(path: PathLike) -> None:
    """Checks that a picture can be drawn and written; see `save_confusion`."""
    out = epath.Path(path).expanduser()
    if out.suffix.lower() not in SUFFIXES:
        raise ConfigError(
            out,
            found=f"the ending {out.suffix!r}",
            expected=f"one of {', '.join(SUFFIXES)}",
            remedy="name the file so",
        )
    if not out.parent.is_dir():
        raise ConfigError(out, found=f"no folder {out.parent}", expected="an existing folder")
    try:
        import matplotlib  # noqa: F401  (asked for here, so that it fails before any work)
    except ImportError:
        raise ConfigError(
            path,
            found="Matplotlib is not installed, which draws the matrix",
            expected="Matplotlib",
            remedy="pip install matplotlib",
        ) from None
