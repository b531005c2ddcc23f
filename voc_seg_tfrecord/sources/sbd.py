"""SBD, the Semantic Boundaries Dataset: its MATLAB files, and the reader of the config `sbd`.

The config has SBD's own split, images, masks and instance masks, without VOC's.

References:
  Hariharan et al., Semantic Contours from Inverse Detectors, ICCV 2011.
"""

from collections.abc import Collection, Sequence
import dataclasses
import functools

from etils import epath

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ListError, SourceError, counted
from voc_seg_tfrecord.core.example import RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.layout import Layout
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.releases import Archive, Release, advise_part
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.names import Names, index_files
from voc_seg_tfrecord.folder.tree.pairs import Pair
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.sources import matlab_files
from voc_seg_tfrecord.sources.devkit import ReleaseList, lists_in
from voc_seg_tfrecord.sources.fetcher import Fetcher, find_archive

MASKS = "cls"
INSTANCES = "inst"
IMAGES = "img"
LISTS = ("train", "val")

_FOLDERS_OF_DATASET = ("", "dataset", "benchmark_RELEASE/dataset", "SBD", "SBD/dataset")
"""Where the folder `dataset` may be below the one that the archive was unpacked into."""


def find_sbd(folder: epath.Path) -> epath.Path | None:
    """Returns SBD's folder `dataset` at or below a folder, None if there is none."""
    for below in _FOLDERS_OF_DATASET:
        root = folder / below
        if (root / MASKS).is_dir():
            return root
    return None


def read_sbd_ids(folder: epath.PathLike, name: str) -> Sequence[str]:
    """Returns the ids of one of SBD's `LISTS`, in its order.

    The folder is SBD's `dataset`, or one above it, or the list itself.

    Raises:
      SourceError: if the list is missing.
      ListError: if the list cannot be used.
    """
    path = epath.Path(folder).expanduser()
    if path.suffix != ".txt":
        path = (find_sbd(path) or path) / f"{name}.txt"
    if not path.exists():
        raise SourceError(
            path,
            found="no such file",
            expected=f"SBD's list {name}.txt",
            remedy="give SBD's folder dataset, which holds train.txt and val.txt",
        )
    return parse_ids(File.read(path, ListError).data, path)


def require_reader() -> None:
    """Checks that what reads SBD's masks is installed, before anything is downloaded.

    Raises:
      MissingPackageError: if SciPy is not installed.
    """
    requirements.require("scipy", "SBD's masks, which are MATLAB files")


def as_png(file: File) -> File:
    """Returns one of SBD's MATLAB files as a PNG of its values, any other file as it is.

    The values are class indices, 0 to 20, or object numbers, 0 for none. There is no void in SBD.

    Raises:
      MaskError: if the file is no MATLAB file of SBD's structure, or is damaged.
    """
    if not file.where.endswith(".mat"):
        return file
    return File(pillow.encode_png(matlab_files.read_matlab(file, "SBD")), file.where)


@dataclasses.dataclass(frozen=True)
class SbdPair(Pair):
    """One id's files, its masks in MATLAB files. See `pairs.Pair`."""

    def read(self) -> RawExample:
        """Reads each file once, and masks as PNGs of their values."""
        raw = super().read()
        mask = raw.mask
        if mask is not None:
            mask = as_png(mask)
        instances = raw.instances
        if instances is not None:
            instances = as_png(instances)
        return dataclasses.replace(raw, mask=mask, instances=instances)


_LAYOUT = Layout(images=IMAGES, masks=MASKS, instances=INSTANCES, lists="")


@dataclasses.dataclass(frozen=True, eq=False)
class SbdTree(VocTree):
    """SBD's folder `dataset`, which holds `train.txt`, `val.txt`, `img`, `cls` and `inst`."""

    layout: Layout = _LAYOUT

    @functools.cached_property
    def labels(self) -> Labels:
        """The masks, in MATLAB files."""
        return Labels(self.root, index_files(self.root, (".mat",), folder=MASKS), SbdPair)

    @functools.cached_property
    def instances(self) -> Names:
        """The instance masks' paths below the root, by id."""
        return index_files(self.root, (".mat",), folder=INSTANCES)


def open_trees(release: Release, config: VocSegConfig, fetcher: Fetcher) -> dict[str, ReleaseList]:
    """Returns the list of each split."""
    require_reader()
    (archive,) = release.archives
    tree = SbdTree(open_folder(release, archive, fetcher))
    if config.strict:
        train = tree.read_ids("train")
        val = tree.read_ids("val")
        check_lists(train, val, tree.root, fetcher.manual_dir)
    return lists_in(tree, config)


def check_lists(
    train: Collection[str],
    val: Collection[str],
    where: object,
    manual_dir: epath.Path | None = None,
) -> None:
    """Checks SBD's lists by what is published of them: trainaug is made from them.

    No source gives the hash of either list. But trainaug is VOC2012 train, SBD train and SBD val
    without VOC2012 val, and its hash is known.

    Raises:
      ListError: if the lists share ids, or do not make trainaug.
    """
    train_of_voc = set(list_ids("voc2012_train"))
    val_of_voc = set(list_ids("voc2012_val"))
    trainaug = set(list_ids("trainaug"))
    shared = set(train) & set(val)
    combined = (train_of_voc | set(train) | set(val)) - val_of_voc
    if shared or combined != trainaug:
        raise ListError(
            where,
            found=f"train.txt and val.txt that share {counted(len(shared), 'id')}. With VOC2012 "
            f"train, and without VOC2012 val, they make {counted(len(combined), 'id')}, "
            f"{len(combined & trainaug):,} of them in trainaug",
            expected=f"lists that share no ids and make the {len(trainaug):,} ids of trainaug",
            remedy=f"unpack SBD's archive again, or {advise_part('sbd', manual_dir)}",
        )


def open_folder(
    release: Release,
    archive: Archive,
    fetcher: Fetcher,
    *,
    what: str = "SBD",
    tree: str = "its folder dataset with cls, inst and img",
) -> epath.Path:
    """Returns SBD's folder `dataset`: in the manual folder, or unpacked; see `find_archive`.

    Raises:
      SourceError: if it is not in its archive.
    """
    if fetcher.manual_dir is not None:
        folder = find_sbd(fetcher.manual_dir)
        if folder is not None:
            return folder
    path = find_archive(release, archive, fetcher, what=what, tree=tree)
    folder = find_sbd(fetcher.extract(path))
    if folder is None:
        raise SourceError(
            path,
            found="an archive without SBD",
            expected="an archive that holds benchmark_RELEASE/dataset/cls",
            remedy="get the archive from SBD's own page",
        )
    return folder
