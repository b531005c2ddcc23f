"""A folder of predictions: one PNG or NumPy file per image, named by its id."""

from collections.abc import Sequence
import dataclasses

from etils import epath
import numpy as np

from voc_seg_tfrecord.base import wording
from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.base.names import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.formats import array_files
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.masks.stored import Samples, read_samples
from voc_seg_tfrecord.trees.listing import Names, index_files

SUFFIXES = (".png", ".npy")

AXES = ("CHW", "HWC")
"""Orders of the axes of probabilities: classes first, or last."""

_SUM = 0.02  # by how much probabilities may miss 1 in sum: float16 has 3 digits


@dataclasses.dataclass(frozen=True)
class Predicted:
    """One prediction.

    Attributes:
      classes: integers `[H, W]`.
      probabilities: of each class, float32 `[H, W, C]`; None if only classes are known.
    """

    classes: np.ndarray
    probabilities: np.ndarray | None = None

    def part(self, window: tuple[slice, slice]) -> "Predicted":
        """Returns the prediction of a part of the image."""
        chances = self.probabilities
        return Predicted(self.classes[window], None if chances is None else chances[window])


class Predictions:
    """The predictions in a folder and its sub-folders.

    Args:
      folder: holds `ID.png` or `ID.npy` for each image id; ids may have sub-folders.
      classes: how many classes there are.
      probabilities: `CHW` or `HWC` if each `ID.npy` holds a probability per class and pixel, with
        the axes in this order. The most probable class is the prediction.

    Raises:
      ConfigError: if there is no such folder, or it holds no prediction, or two for one id.
    """

    def __init__(
        self, folder: PathLike, classes: int = len(VOC_CLASSES), probabilities: str | None = None
    ) -> None:
        self._classes = classes
        self.folder = epath.Path(folder).expanduser()
        self.probabilities = probabilities
        if probabilities not in (None, *AXES):
            expected = f"{' or '.join(AXES)}, the order of the axes"
            raise ConfigError("probabilities", found=repr(probabilities), expected=expected)
        if not self.folder.is_dir():
            raise ConfigError(
                self.folder,
                found="no such folder",
                expected="a folder of predictions, one ID.png or ID.npy per image",
                remedy="check the path",
            )
        self.names: Names = index_files(self.folder, SUFFIXES)
        if self.names.twins:
            image_id, files = next(iter(self.names.twins.items()))
            raise ConfigError(
                self.folder,
                found=f"{wording.counted(len(self.names.twins), 'id')} with more than one file, "
                f"such as {image_id}: {' and '.join(files)}",
                expected="one prediction per image",
                remedy="keep the file that is to be scored, and take the others out of the folder",
            )
        if not self.names:
            raise ConfigError(
                self.folder,
                found="no .png and no .npy file",
                expected="one ID.png or ID.npy per image",
                remedy="write the predictions there",
            )

    def read(self, image_id: str, size: Sequence[int] | None) -> Predicted:
        """Reads one prediction.

        Args:
          image_id: the image's id.
          size: height and width of its image; None if they are not known.

        Raises:
          MaskError: if there is none, or it has another size, or holds colours, or something
            else than probabilities where these are said to be.
        """
        if image_id not in self.names:
            raise MaskError(
                self.folder / f"{image_id}.png",
                found="no such file",
                expected=f"a prediction for the image {image_id}",
                remedy="predict all images of the split",
                kind="missing prediction",
            )
        path = self.path(image_id)
        file = File.read(path, MaskError)
        if self.probabilities is not None:
            chances = _read_probabilities(file, self.probabilities, self._classes)
            predicted = Predicted(chances.argmax(-1), chances)
        else:
            predicted = Predicted(_read_indices(file, self._classes))
        shape = predicted.classes.shape
        if size is not None and tuple(shape) != tuple(size):
            raise MaskError(
                path,
                found=f"a prediction of {shape[1]} x {shape[0]} pixels",
                expected=f"{size[1]} x {size[0]} (width x height), as its image has",
                remedy="resize the scores of the network to the size of the image before "
                "taking the class of each pixel",
                kind="size of prediction and image differ",
            )
        return predicted

    def path(self, image_id: str) -> epath.Path:
        """Returns the file of a prediction that is there."""
        return self.folder / self.names[image_id]

    def check_extra(self, ids: set[str]) -> None:
        """Checks that every prediction is of one of these images.

        Raises:
          MaskError: naming the first one that is not, and how many there are.
        """
        extra = sorted(self.names.keys() - ids)
        if extra:
            raise MaskError(
                self.folder / self.names[extra[0]],
                found=f"{len(extra)} of {len(self.names)} predictions are of no image of the "
                f"split, such as {', '.join(extra[:3])}",
                expected="one prediction per image of the split, and nothing else",
                remedy="name the split that was predicted, or take these files out",
                kind="extra prediction",
            )


def _read_indices(file: File, classes: int) -> np.ndarray:
    """Returns class indices, integers `[H, W]`."""
    samples = read_samples(file)
    _check_indices(samples, file.where)
    if classes > 2 and file.kind is Kind.NUMPY and b"'|b1'" in file.data[:128]:
        raise MaskError(
            file.where,
            found=f"true and false, for {classes} classes",
            expected="one class index per pixel",
            remedy="save the index of the class with the highest score (argmax)",
        )
    return samples.values


def _read_probabilities(file: File, axes: str, classes: int) -> np.ndarray:
    """Returns probabilities, float32 `[H, W, C]`."""
    expected = f"float probabilities {list(axes)} in a .npy file, which add up to 1 in each pixel"
    remedy = "save the softmax of the scores of the network"
    if file.kind is not Kind.NUMPY:
        raise MaskError(file.where, found="no NumPy file", expected=expected, remedy=remedy)
    array = array_files.read_numpy(file, "f", expected)
    if array.ndim != 3 or not array.size:
        raise MaskError(file.where, found=f"an array {list(array.shape)}", expected=expected)
    chances = np.moveaxis(array, 0, -1) if axes == "CHW" else array
    if chances.shape[-1] != classes:
        raise MaskError(
            file.where,
            found=f"an array {list(array.shape)}, which as {axes} has {chances.shape[-1]} classes",
            expected=f"{classes} classes, as the dataset has",
            remedy="save one probability per class, background included, or name the order of "
            "the axes as it is",
        )
    chances = chances.astype(np.float32)
    sums = chances.sum(-1)
    if not (np.abs(sums - 1) <= _SUM).all() or chances.min() < 0:
        ranges = f"values from {chances.min():.3g} to {chances.max():.3g}, "
        ranges += f"whose sums go from {sums.min():.3g} to {sums.max():.3g}"
        raise MaskError(
            file.where,
            found=ranges,
            expected=expected,
            remedy=f"{remedy}, or name the order of the axes as it is",
            kind="no probabilities",
        )
    return chances


_TEMPERATURE = 0.1


def label_quality(mask: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns how likely a mask is right: a soft minimum of the probabilities of its classes.

    Args:
      mask: class indices, uint8 `[H, W]`; void pixels do not count.
      probabilities: of each class, float `[H, W, C]`.

    Returns:
      0 to 1: near 0 if the network is sure of other classes in a part of the mask; 1 if all of
      the mask is void.

    References:
      Lad and Mueller, Estimating label quality and errors in semantic segmentation data via any
      model, arXiv:2307.05080, section 3 (softmin).
    """
    known = mask != VOID
    if not known.any():
        return 1.0
    given = np.take_along_axis(probabilities[known], mask[known][:, None].astype(int), 1)[:, 0]
    weights = np.exp((1 - given.astype(np.float64)) / _TEMPERATURE)
    return float((weights * given).sum() / weights.sum())


def _check_indices(samples: Samples, path: str) -> None:
    """Refuses files whose values may be something else than class indices."""
    if samples.kind == "rgb":
        raise MaskError(
            path,
            found="colours",
            expected="class indices, in a greyscale or palette PNG or a NumPy file",
            remedy="write the index of the class, not its colour",
        )
    if samples.palette is not None:
        used = np.unique(samples.values)
        colors = samples.palette[used[used < len(samples.palette)]]
        if not np.array_equal(colors, voc_palette()[used]):
            raise MaskError(
                path,
                found="a palette that is not VOC's, so values may not be classes",
                expected="VOC's palette, or a greyscale PNG",
                remedy="write the class indices as greyscale, or with "
                "voc_seg_tfrecord.voc_palette()",
            )
