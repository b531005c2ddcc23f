"""A folder of predictions: one PNG or NumPy file per image, named by its id.

Scores read it, and the archive that VOC's evaluation server takes is made of it.
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
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, SplitError, VocSegError, counted
from voc_seg_tfrecord.core.file import File, Kind
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.names import IMAGE, VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.tree.listing import Names, index_files
from voc_seg_tfrecord.formats import array_files, pillow, png
from voc_seg_tfrecord.formats.mask_samples import read_samples
from voc_seg_tfrecord.reading import records
from voc_seg_tfrecord.reading.dataset import check_splits
from voc_seg_tfrecord.reading.records import Record

AXES = ("CHW", "HWC")  # of probabilities: classes first, or last
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
        names = index_files(self.folder, (".png", ".npy")) if self.folder.is_dir() else None
        if not names:
            raise ConfigError(
                self.folder,
                found="no such folder" if names is None else "no .png and no .npy file",
                expected="a folder of predictions, one ID.png or ID.npy per image",
                remedy="check the path, or write the predictions there",
            )
        self.names: Names = names
        if self.names.twins:
            image_id, files = next(iter(self.names.twins.items()))
            raise ConfigError(
                self.folder,
                found=f"{counted(len(self.names.twins), 'id')} with more than one file, "
                f"such as {image_id}: {' and '.join(files)}",
                expected="one prediction per image",
                remedy="keep the file that is to be scored, and take the others out of the folder",
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
    if samples.kind == "rgb":
        raise MaskError(
            file.where,
            found="colours",
            expected="class indices, in a greyscale or palette PNG or a NumPy file",
            remedy="write the index of the class, not its colour",
        )
    if samples.palette is not None:
        used = np.unique(samples.values)
        colors = samples.palette[used[used < len(samples.palette)]]
        if not np.array_equal(colors, voc_palette()[used]):
            raise MaskError(
                file.where,
                found="a palette that is not VOC's, so values may not be classes",
                expected="VOC's palette, or a greyscale PNG",
                remedy="write the class indices as greyscale, or with "
                "voc_seg_tfrecord.voc_palette()",
            )
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
    weights = np.exp((1 - given.astype(np.float64)) / 0.1)  # the temperature
    return float((weights * given).sum() / weights.sum())


Sizes = Mapping[str, tuple[int, ...]]
"""Height and width of each image, by id."""


def submission(
    predictions: PathLike, out: epath.Path, *, sizes: Sizes | None = None, comp: int = 6
) -> int:
    """Writes `results/VOC2012/Segmentation/comp6_test_cls/ID.png` for all images of the test.

    Returns how many they are. The same predictions give the same bytes. An archive that cannot be
    completed is not there. The competition is 5 for what was trained on VOC2012's own train and val
    alone, 6 for what was trained on anything but the test images. Without sizes none is checked.

    Raises:
      ConfigError: if the call is wrong.
      SplitError: if predictions are missing, of another size than their images, or have
        values that are no class. All of them are counted, and the first few are named.
      MaskError: if there are predictions of images that are not in the test.

    References:
      Everingham et al., The PASCAL Visual Object Classes Challenge 2012 Development Kit.
    """
    ids = list_ids("voc2012_test")
    if sizes is not None and sizes.keys() != set(ids):
        raise ConfigError(
            "sizes",
            found=f"{len(sizes)} images, of which {len(sizes.keys() & set(ids))} are in the test",
            expected=f"the {len(ids)} images of VOC2012's test",
            remedy="give the test split of the config 2012_test",
        )
    readable = Predictions(predictions)
    readable.check_extra(set(ids))
    with staging.staged_file(out) as incomplete:
        with incomplete.open("wb") as stream:
            made = ordered_map(functools.partial(_png, readable, sizes), ids)
            problems = _write(stream, made, f"results/VOC2012/Segmentation/comp{comp}_test_cls")
        if problems:
            raise SplitError("test", problems, len(ids))
    return len(ids)


def sizes_of(builder: tfds.core.DatasetBuilder, split: str = "test") -> Sizes:
    """Reads the sizes of a split's images from a built dataset, without decoding an image."""
    check_splits(builder, [split])

    def size(record: Record) -> tuple[str, tuple[int, ...]]:
        image = File(record.bytes(IMAGE), f"{record.id}, {IMAGE}")
        return record.id, record.size or records.image_size(image)

    return dict(records.scan(builder, split, size))


def _png(predictions: Predictions, sizes: Sizes | None, image_id: str) -> bytes | VocSegError:
    """Returns a prediction as a PNG with VOC's palette, or what is wrong with it."""
    try:
        values = predictions.read(image_id, sizes[image_id] if sizes else None).classes
        wrong = np.unique(values[(values < 0) | (values >= len(VOC_CLASSES))])
        if len(wrong):
            raise MaskError(
                predictions.path(image_id),
                found=f"the values {', '.join(map(str, wrong[:5]))}",
                expected=f"0 to {len(VOC_CLASSES) - 1}; {VOID} is no prediction",
                remedy="predict one of the classes for every pixel",
                kind="unknown prediction value",
            )
    except VocSegError as error:
        return error
    grey = File(pillow.encode_png(values.astype(np.uint8)), image_id)
    return png.palette_png(grey, voc_palette().tobytes())


def _write(
    stream: BinaryIO, made: Iterable[tuple[str, bytes | VocSegError]], folder: str
) -> list[VocSegError]:
    """Writes the archive; after a first problem it only looks for more of them."""
    problems: list[VocSegError] = []
    # No name and no time in the headers, so that the same predictions give the same bytes.
    with (
        gzip.GzipFile("", "wb", compresslevel=1, fileobj=stream, mtime=0) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.USTAR_FORMAT) as archive,
    ):
        for image_id, result in made:
            if isinstance(result, VocSegError):
                problems.append(result)
            elif not problems:
                entry = tarfile.TarInfo(f"{folder}/{image_id}.png")
                entry.size, entry.mode = len(result), 0o644
                archive.addfile(entry, io.BytesIO(result))
    return problems
