"""SBD, the Semantic Boundaries Dataset: masks of VOC's images in MATLAB files.

References:
  Hariharan et al., Semantic Contours from Inverse Detectors, ICCV 2011.
"""

from collections.abc import Sequence

from etils import epath
import numpy as np

from voc_seg_tfrecord.errors import ListError, SourceError
from voc_seg_tfrecord.formats import encode, mat_files
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import parse_ids

MASKS = "cls"
INSTANCES = "inst"
IMAGES = "img"
LISTS = ("train", "val")

# Where the folder is below the one that the archive was unpacked into.
_BELOW = ("", "dataset", "benchmark_RELEASE/dataset", "SBD", "SBD/dataset")


def find(folder: epath.Path) -> epath.Path | None:
    """Returns SBD's folder `dataset` at or below a folder, None if there is none."""
    roots = (folder / below for below in _BELOW)
    return next((root for root in roots if (root / MASKS).is_dir()), None)


def find_unpacked(archive: epath.Path, folder: epath.Path) -> epath.Path:
    """Returns SBD's folder `dataset` in its unpacked archive.

    Raises:
      SourceError: if there is none in it.
    """
    found = find(folder)
    if found is None:
        raise SourceError(
            archive,
            found="an archive without SBD",
            expected="an archive that holds benchmark_RELEASE/dataset/cls",
            remedy="get the archive from SBD's own page",
        )
    return found


def read_ids(folder: epath.PathLike, name: str) -> Sequence[str]:
    """Returns the ids of one of SBD's lists, in its order.

    Args:
      folder: SBD's folder `dataset`, or one above it, or the list itself.
      name: one of `LISTS`.

    Raises:
      SourceError: if the list is not there.
      ListError: if the list cannot be used.
    """
    path = epath.Path(folder).expanduser()
    if path.suffix != ".txt":
        path = (find(path) or path) / f"{name}.txt"
    if not path.exists():
        raise SourceError(
            path,
            found="no such file",
            expected=f"SBD's list {name}.txt",
            remedy="give SBD's folder dataset, which holds train.txt and val.txt",
        )
    return parse_ids(File.read(path, ListError).data, path, ())


def read_mask(data: bytes, where: object) -> np.ndarray:
    """Reads the segmentation of one of SBD's files.

    Args:
      data: the bytes of `cls/ID.mat` or `inst/ID.mat`.
      where: the file, for errors.

    Returns:
      Class indices, 0 to 20, or object numbers, 0 for none; uint8 `[H, W]`. There is no
      void in SBD.

    Raises:
      ConfigError: if SciPy is not installed.
      MaskError: if the file is no MATLAB file of SBD's structure, or SciPy fails on it.
    """
    return mat_files.read(File(data, str(where)), "SBD")


def as_png(file: File) -> File:
    """Returns one of SBD's MATLAB files as a PNG of its values, any other file as it is.

    Raises:
      ConfigError: if SciPy is not installed.
      MaskError: if the file is no MATLAB file of SBD's structure, or SciPy fails on it.
    """
    if not file.where.endswith(".mat"):
        return file
    return File(encode.png(read_mask(file.data, file.where)), file.where)
