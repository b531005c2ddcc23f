"""A folder of predictions: one PNG or NumPy file per image, named by its id."""

from collections.abc import Sequence

from etils import epath
import numpy as np

from voc_seg_tfrecord.base import wording
from voc_seg_tfrecord.base.errors import ConfigError, MaskError
from voc_seg_tfrecord.base.names import VOC_CLASSES, voc_palette
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.formats.file import File, Kind
from voc_seg_tfrecord.masks.stored import Samples, read_samples
from voc_seg_tfrecord.trees.listing import Names, index_files

SUFFIXES = (".png", ".npy")


class Predictions:
    """The predictions in a folder and its sub-folders.

    Args:
      folder: holds `ID.png` or `ID.npy` for each image id; ids may have sub-folders.
      classes: how many classes there are.

    Raises:
      ConfigError: if there is no such folder, or it holds no prediction, or two for one id.
    """

    def __init__(self, folder: PathLike, classes: int = len(VOC_CLASSES)) -> None:
        self._classes = classes
        self.folder = epath.Path(folder).expanduser()
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

    def read(self, image_id: str, size: Sequence[int] | None) -> np.ndarray:
        """Reads one prediction.

        Args:
          image_id: the image's id.
          size: height and width of its image; None if they are not known.

        Returns:
          What was predicted, integers `[H, W]`.

        Raises:
          MaskError: if there is none, or it has another size, or holds colours.
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
        samples = read_samples(file)
        _check_indices(samples, path)
        if self._classes > 2 and file.kind is Kind.NUMPY and b"'|b1'" in file.data[:128]:
            raise MaskError(
                path,
                found=f"true and false, for {self._classes} classes",
                expected="one class index per pixel",
                remedy="save the index of the class with the highest score (argmax)",
            )
        found = samples.values.shape[:2]
        if size is not None and tuple(found) != tuple(size):
            raise MaskError(
                path,
                found=f"a prediction of {found[1]} x {found[0]} pixels",
                expected=f"{size[1]} x {size[0]} (width x height), as its image has",
                remedy="resize the scores of the network to the size of the image before "
                "taking the class of each pixel",
                kind="size of prediction and image differ",
            )
        return samples.values

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


def _check_indices(samples: Samples, path: epath.Path) -> None:
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
