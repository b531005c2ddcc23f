"""Reads a folder of predictions: one PNG or NumPy file per image, named by its id.

A PNG holds the class index of each pixel. NumPy files hold class indices too, or, if the user says
so, the probability of each class in each pixel.

`Predictions` reads one prediction after the other, for scores. `write_submission` packs all of them
into the archive that VOC's evaluation server takes.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import functools
import gzip
import io
import tarfile
from typing import BinaryIO

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    MaskError,
    SplitError,
    VocSegError,
    counted,
    several,
)
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.names import IMAGE, VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.tree.listing import files_below
from voc_seg_tfrecord.folder.tree.names import Names, index_files
from voc_seg_tfrecord.formats import numpy_files, pillow, png
from voc_seg_tfrecord.formats.mask_samples import read_samples_on_black
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import check_splits
from voc_seg_tfrecord.reading.records import Record

AXES = ("CHW", "HWC")
"""Orders of the axes of probabilities: classes first, or last."""

_MAX_SHOWN_FILES = 3

_SUM_TOLERANCE = 0.02
"""How far the sum of probabilities may be from 1: float16 has 3 digits."""


@dataclasses.dataclass(frozen=True)
class Prediction:
    """The prediction of one image.

    Attributes:
      classes: integers `[H, W]`.
      probabilities: of each class, float32 `[H, W, C]`; None if only classes are known.
    """

    classes: np.ndarray
    probabilities: np.ndarray | None = None

    def crop(self, window: tuple[slice, slice]) -> "Prediction":
        """Returns the prediction of a part of the image."""
        if self.probabilities is None:
            return Prediction(self.classes[window])
        return Prediction(self.classes[window], self.probabilities[window])


class Predictions:
    """The predictions in a folder and its sub-folders.

    Attributes:
      folder: the folder.
      file_names: the path of each id's file in the folder.

    Args:
      folder: holds `ID.png` or `ID.npy` for each image id; ids may have sub-folders.
      class_count: how many classes there are.
      axes_of_probabilities: `CHW` or `HWC` if each `ID.npy` holds the probability of each class in
        each pixel, with the axes in this order. The most probable class is the prediction. None if
        the files hold class indices.

    Raises:
      ConfigError: if there is no such folder, or it holds no prediction, or two for one id.
    """

    def __init__(
        self,
        folder: PathLike,
        class_count: int = len(VOC_CLASSES),
        axes_of_probabilities: str | None = None,
    ) -> None:
        self.folder = epath.Path(folder).expanduser()
        self._class_count = class_count
        self._axes_of_probabilities = axes_of_probabilities
        if axes_of_probabilities not in (None, *AXES):
            raise ConfigError(
                "probabilities",
                found=repr(axes_of_probabilities),
                expected=f"{' or '.join(AXES)}, the order of the axes",
            )
        if not self.folder.is_dir():
            raise _no_predictions_error(self.folder, "no such folder")
        self.file_names: Names = index_files(self.folder, (".png", ".npy"))
        if not self.file_names:
            found = sorted(files_below(self.folder))
            others = f" among {several(found)}" if found else ""
            raise _no_predictions_error(self.folder, f"no .png and no .npy file{others}")
        ambiguous = self.file_names.names_by_ambiguous_id
        if ambiguous:
            image_id, files = next(iter(ambiguous.items()))
            raise ConfigError(
                self.folder,
                found=f"{counted(len(ambiguous), 'id')} with more than one file, "
                f"such as {image_id}: {' and '.join(files)}",
                expected="one prediction per image",
                remedy="keep the file to score, and remove the others from the folder",
            )

    def read(self, image_id: str, size: Sequence[int] | None) -> Prediction:
        """Reads one prediction.

        Args:
          image_id: the image's id.
          size: height and width of its image; None if they are not known.

        Raises:
          MaskError: if there is none, or it has another size, or holds something else than class
            indices, or probabilities if it should hold these.
        """
        if image_id not in self.file_names:
            raise self._missing_error(image_id)
        path = self.path(image_id)
        file = File.read(path, MaskError)
        if self._axes_of_probabilities is None:
            prediction = Prediction(_read_indices(file, self._class_count))
        else:
            chances = _read_probabilities(file, self._axes_of_probabilities, self._class_count)
            prediction = Prediction(chances.argmax(-1), chances)
        height, width = prediction.classes.shape
        if size is not None and (height, width) != tuple(size):
            raise MaskError(
                path,
                found=f"a prediction of {width} x {height} pixels",
                expected=f"{size[1]} x {size[0]} (width x height), as its image has",
                remedy="resize the scores of the network to the size of the image before "
                "taking the class of each pixel",
                kind="size of prediction and image differ",
            )
        return prediction

    def _missing_error(self, image_id: str) -> MaskError:
        """Returns the error about an image without a prediction of its name."""
        count = counted(len(self.file_names), "prediction")
        found = f"no such file among {count}, such as {next(iter(self.file_names.values()))}"
        remedy = "predict all images of the split, and name each prediction as its image"
        named_alike = [file for name, file in self.file_names.items() if image_id in name]
        if named_alike:
            found = f"no such file, but {several(named_alike, _MAX_SHOWN_FILES)}"
            remedy = f"name the prediction {image_id}.png or {image_id}.npy"
        return MaskError(
            self.folder / f"{image_id}.png",
            found=found,
            expected=f"a prediction for the image {image_id}",
            remedy=remedy,
            kind="missing prediction",
        )

    def path(self, image_id: str) -> epath.Path:
        """Returns the file of a prediction that is there."""
        return self.folder / self.file_names[image_id]

    def check_extra(self, ids: set[str], images: str, remedy: str) -> None:
        """Checks that every prediction is of one of these images.

        Args:
          ids: of the images.
          images: what the images are, for the error.
          remedy: what to do if some predictions are of others.

        Raises:
          MaskError: naming the first ones that are not, and how many there are.
        """
        extra = sorted(self.file_names.keys() - ids)
        if extra:
            first_files = [self.file_names[image_id] for image_id in extra[:3]]
            raise MaskError(
                self.folder,
                found=f"{len(extra)} of {counted(len(self.file_names), 'prediction')} are not of "
                f"{images}, such as {', '.join(first_files)}",
                expected=f"one prediction for each of {images}, and nothing else",
                remedy=f"{remedy}, or take these files out",
                kind="extra prediction",
            )


def _no_predictions_error(folder: epath.Path, found: str) -> ConfigError:
    return ConfigError(
        folder,
        found=found,
        expected="a folder of predictions, one ID.png or ID.npy per image",
        remedy="check the path, or write the predictions there",
    )


def _read_indices(file: File, class_count: int) -> np.ndarray:
    """Returns class indices, integers `[H, W]`."""
    try:
        samples = read_samples_on_black(file)
    except MaskError as error:
        if file.kind is not Kind.NUMPY or numpy_files.read_dtype(file).kind != "f":
            raise
        expected = "one class index per pixel"
        scores = numpy_files.read_numpy(file, "f", expected)
        remedy = _advise_on_scores(scores, class_count)
        raise error.changed(expected=expected, remedy=remedy) from None
    if samples.kind == "rgb":
        raise MaskError(
            file.where,
            found="an RGB picture",
            expected="class indices, in a grayscale or palette PNG or a NumPy file",
            remedy="write the index of the class, not its color",
        )
    if samples.kind == "palette":
        used = np.unique(samples.values)
        colors = samples.palette[used[used < len(samples.palette)]]
        if not np.array_equal(colors, voc_palette()[used]):
            raise MaskError(
                file.where,
                found="a palette that is not VOC's, so values may not be classes",
                expected="VOC's palette, or a grayscale PNG",
                remedy="write the class indices as grayscale, or with "
                "voc_seg_tfrecord.voc_palette()",
            )
    if class_count > 2 and file.kind is Kind.NUMPY and b"'|b1'" in file.data[:128]:
        raise MaskError(
            file.where,
            found=f"true and false, but there are {class_count} classes",
            expected="one class index per pixel",
            remedy="save the index of the class with the highest score (argmax)",
        )
    return samples.values


def _advise_on_scores(scores: np.ndarray, class_count: int) -> str:
    """Returns what to save in place of floats, as their shape tells."""
    if scores.ndim == 2:
        return "save class indices as integers: .astype('uint8')"
    classes_are_last = scores.shape[-1] == class_count and scores.shape[0] != class_count
    axes = "HWC" if classes_are_last else "CHW"
    return (
        "save the class with the highest score (argmax), or save the softmax of the scores and "
        f"give --probabilities {axes}"
    )


def _read_probabilities(file: File, axes: str, class_count: int) -> np.ndarray:
    """Returns probabilities, float32 `[H, W, C]`."""
    expected = f"float probabilities {list(axes)} in a .npy file, which add up to 1 in each pixel"
    remedy = "save the softmax of the scores of the network"
    if file.kind is not Kind.NUMPY:
        found = "a file that is not NumPy"
        raise MaskError(file.where, found=found, expected=expected, remedy=remedy)
    array = numpy_files.read_numpy(file, "f", expected)
    if array.ndim != 3 or not array.size:
        raise MaskError(file.where, found=f"an array {list(array.shape)}", expected=expected)
    chances = np.moveaxis(array, 0, -1) if axes == "CHW" else array
    if chances.shape[-1] != class_count:
        raise MaskError(
            file.where,
            found=f"an array {list(array.shape)}: {counted(chances.shape[-1], 'class')}, read as "
            f"{axes}",
            expected=f"{class_count} classes, as the dataset has",
            remedy="save one probability per class, background included, or give the right order "
            "of the axes",
        )
    chances = chances.astype(np.float32)
    sums = chances.sum(-1)
    add_up = (np.abs(sums - 1) <= _SUM_TOLERANCE).all()  # false for NaN too
    if not add_up or chances.min() < 0:
        raise MaskError(
            file.where,
            found=f"values from {chances.min():.3g} to {chances.max():.3g}, whose sums go from "
            f"{sums.min():.3g} to {sums.max():.3g}",
            expected=expected,
            remedy=f"{remedy}, or give the right order of the axes",
            kind="no probabilities",
        )
    return chances


_SOFTMIN_TEMPERATURE = 0.1


def label_quality(mask: np.ndarray, probabilities: np.ndarray) -> float:
    """Returns how likely a mask is right: a soft minimum of the probabilities of its classes.

    The soft minimum of p is the mean of p with the weights exp((1 - p) / temperature).

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
    is_known = mask != VOID
    if not is_known.any():
        return 1.0
    class_of_pixel = mask[is_known].astype(int)
    chances_of_pixel = probabilities[is_known]
    chances = np.take_along_axis(chances_of_pixel, class_of_pixel[:, np.newaxis], axis=1)[:, 0]
    weights = np.exp((1 - chances.astype(np.float64)) / _SOFTMIN_TEMPERATURE)
    return float((weights * chances).sum() / weights.sum())


Sizes = Mapping[str, tuple[int, ...]]
"""Height and width of each image, by id."""


def write_submission(
    predictions: PathLike, out: epath.Path, *, sizes: Sizes | None = None, comp: int = 6
) -> int:
    """Writes `results/VOC2012/Segmentation/comp6_test_cls/ID.png` for all images of the test.

    The same predictions give the same bytes. An archive that cannot be completed is not written.

    Args:
      predictions: the folder of predictions.
      out: the archive.
      sizes: of the test's images; None to check no size.
      comp: the competition: 5 if only VOC2012's own train and val were used for training, 6 if
        anything but the test images was.

    Returns:
      The number of images.

    Raises:
      ConfigError: if the call is wrong.
      SplitError: if predictions are missing, differ in size from their images, or have values that
        are not classes. It counts all such predictions and names the first five.
      MaskError: if there are predictions of images that are not in the test.

    References:
      Everingham et al., The PASCAL Visual Object Classes Challenge 2012 Development Kit.
    """
    ids = list_ids("voc2012_test")
    if sizes is not None and sizes.keys() != set(ids):
        raise ConfigError(
            "sizes of images",
            found=f"{counted(len(sizes), 'image')}, {len(sizes.keys() & set(ids))} of them in "
            "VOC2012's test set",
            expected=f"all {len(ids)} images of VOC2012's test set, and no others",
            remedy="name the dataset 2012_test@test, or none: then sizes are not checked",
        )
    readable = Predictions(predictions)
    images = f"the {len(ids)} test images of VOC2012"
    readable.check_extra(set(ids), images, "predict 2012_test@test")
    with staging.staged_file(out) as incomplete:
        with incomplete.open("wb") as stream:
            encode = functools.partial(_encode_prediction, readable, sizes)
            results = ordered_map(encode, ids)
            folder = f"results/VOC2012/Segmentation/comp{comp}_test_cls"
            problems = _write_archive(stream, results, folder)
        if problems:
            raise SplitError("test", problems, len(ids))
    return len(ids)


def read_sizes(builder: tfds.core.DatasetBuilder, split: str = "test") -> Sizes:
    """Reads the sizes of a split's images from a built dataset, without decoding an image."""
    check_splits(builder, [split])
    return dict(records.scan(builder, split, _id_and_size))


def _id_and_size(record: Record) -> tuple[str, tuple[int, ...]]:
    image = File(record.bytes(IMAGE), f"{record.id}, {IMAGE}")
    return record.id, record.size or records.image_size(image)


def _encode_prediction(
    predictions: Predictions, sizes: Sizes | None, image_id: str
) -> bytes | VocSegError:
    """Returns a prediction as a PNG with VOC's palette, or what is wrong with it."""
    try:
        size = None if sizes is None else sizes[image_id]
        values = predictions.read(image_id, size).classes
    except VocSegError as error:
        return error
    unknown = np.unique(values[(values < 0) | (values >= len(VOC_CLASSES))])
    if len(unknown):
        return MaskError(
            predictions.path(image_id),
            found=f"the values {', '.join(map(str, unknown[:5]))}",
            expected=f"0 to {len(VOC_CLASSES) - 1}; {VOID} (void) cannot be predicted",
            remedy="write the index of a class for every pixel, not a color or a scaled index",
            kind="unknown prediction value",
        )
    grayscale = File(pillow.encode_png(values.astype(np.uint8)), image_id)
    return png.palette_png(grayscale, voc_palette().tobytes())


def _write_archive(
    stream: BinaryIO, results: Iterable[tuple[str, bytes | VocSegError]], folder: str
) -> list[VocSegError]:
    """Writes the archive; after a first problem it only looks for more problems.

    Args:
      stream: the archive.
      results: each image id with its PNG, or with what is wrong with it.
      folder: the folder of the PNGs in the archive.

    Returns:
      What is wrong.
    """
    problems: list[VocSegError] = []
    # No name and no time in the headers, so that the same predictions give the same bytes.
    with (
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for image_id, result in results:
            if isinstance(result, VocSegError):
                problems.append(result)
            elif not problems:
                entry = tarfile.TarInfo(f"{folder}/{image_id}.png")
                entry.size = len(result)
                entry.mode = 0o644
                archive.addfile(entry, io.BytesIO(result))
    return problems
