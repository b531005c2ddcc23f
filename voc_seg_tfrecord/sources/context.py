"""Pascal Context: VOC2010's images with labels of its own, which have to be at hand.

Its labels come as PNGs or as the original MATLAB files. What leaves this module has the values of
mmsegmentation's PNGs in both cases: 0 is none of the 59 classes, and 1 to 59 are the classes in
their order.

References:
  Mottaghi et al., The Role of Context for Object Detection and Semantic Segmentation in the
    Wild, CVPR 2014.
"""

from collections.abc import Collection, Sequence
import dataclasses
import functools

from etils import epath
import numpy as np

from voc_seg_tfrecord.core import releases, requirements
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ListError, MaskError, SourceError, counted
from voc_seg_tfrecord.core.example import RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import Layout
from voc_seg_tfrecord.core.releases import CONTEXT_LABELS, CONTEXT_NUMBERS, Release
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.folder.tree.names import index_files
from voc_seg_tfrecord.folder.tree.pairs import Pair
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.sources import matlab_files
from voc_seg_tfrecord.sources.devkit import ReleaseList, find_release, lists_in, open_archive
from voc_seg_tfrecord.sources.fetcher import Fetcher, describe_manual_dir

PNGS = "SegmentationClassContext"
MATS = ("trainval", "GroundTruth_trainval_mat")
"""Names of the folder of MATLAB files: the archive's own, and that of public copies."""

NAMES = "labels.txt"
"""The names of the 459 classes by number, which lies beside the folder of MATLAB files."""

_LISTS_OF_MMSEGMENTATION = "ImageSets/SegmentationContext"
_LISTS_OF_ALL_TASKS = "ImageSets/Main"


@dataclasses.dataclass(frozen=True)
class ContextPair(Pair):
    """One id's files; its mask may be a MATLAB file. See `pairs.Pair`."""

    def read(self) -> RawExample:
        """Reads each file once, and the mask as a PNG."""
        raw = super().read()
        if raw.mask is None:
            return raw
        return dataclasses.replace(raw, mask=_as_png(raw.mask))


def context_tree(root: epath.PathLike, folder: epath.Path) -> VocTree:
    """Returns the tree of a folder `VOC2010` with the labels of Pascal Context in another folder.

    Its lists are mmsegmentation's where they are there, and VOC2010's own for all its tasks
    where not.
    """
    root = epath.Path(root)
    lists = _LISTS_OF_ALL_TASKS
    if any((root / _LISTS_OF_MMSEGMENTATION / f"{name}.txt").exists() for name in ("train", "val")):
        lists = _LISTS_OF_MMSEGMENTATION
    ending = _ending_of_labels(folder)
    if ending == ".mat":
        requirements.require("scipy", f"{folder}: labels in MATLAB files")
    labels = Labels(folder, index_files(folder, (ending,)), ContextPair)
    return VocTree(root, Layout(lists=lists), given_labels=labels)


def check_names(labels: epath.Path) -> None:
    """Checks the numbers of the 59 classes by the names that lie beside MATLAB files, if any do.

    Raises:
      SourceError: if `labels.txt` gives a number another name.
    """
    if labels.name == PNGS:
        return
    paths = [path for path in (labels.parent / NAMES, labels / NAMES) if path.exists()]
    if not paths:
        return
    path = paths[0]
    text = File.read(path, SourceError).data.decode("utf-8", "replace")
    name_by_number: dict[str, str] = {}
    for line in text.splitlines():
        number_of_line, _, name_of_line = line.partition(":")
        name_by_number[number_of_line.strip()] = name_of_line.strip()
    for name, number in CONTEXT_NUMBERS.items():
        name_in_text = name_by_number.get(str(number), "no class")
        if name_in_text != name:
            raise SourceError(
                path,
                found=f"{number} is {name_in_text}",
                expected=f"{number} is {name}, as in the original labels of Pascal Context",
                remedy="unpack the archive of Pascal Context again; its labels cannot be read "
                "with other numbers",
            )


@functools.cache
def _value_by_number() -> np.ndarray:
    """The value of each of the original numbers, uint8 `[460]`."""
    values = np.zeros(CONTEXT_LABELS + 1, np.uint8)
    for value, number in enumerate(CONTEXT_NUMBERS.values(), 1):
        values[number] = value
    return values


def _as_png(file: File) -> File:
    """Returns a MATLAB file of labels as a PNG of their values, any other file as it is."""
    if not file.where.endswith(".mat"):
        return file
    numbers = matlab_files.read_matlab(file, "Pascal Context")
    if numbers.max() > CONTEXT_LABELS:
        raise MaskError(
            file.where,
            found=f"the label {numbers.max()}",
            expected=f"labels from 1 to {CONTEXT_LABELS}, as LabelMap of Pascal Context has",
            remedy="unpack the archive of Pascal Context again",
        )
    return File(pillow.encode_png(_value_by_number()[numbers]), file.where)


def open_trees(release: Release, config: VocSegConfig, fetcher: Fetcher) -> dict[str, ReleaseList]:
    """Returns the list of each split."""
    tree = _find_tree(release, fetcher)
    check_names(tree.labels.folder)
    if config.strict:
        train = tree.read_ids(release.list_by_split["train"])
        val = tree.read_ids(release.list_by_split["validation"])
        lists = tree.list_path("train").parent
        check_lists(release.name, train, val, lists, fetcher.manual_dir)
    return lists_in(tree, config)


def check_lists(
    name: str,
    train: Collection[str],
    val: Collection[str],
    where: object,
    manual_dir: epath.Path | None = None,
) -> None:
    """Checks that two lists are published together, and share no id.

    Two versions of the split were published. No source gives a hash of either.

    Raises:
      ListError: if the lists share ids, or have the counts of two versions.
    """
    shared_ids = set(train) & set(val)
    train_counts = releases.official_splits()[name, "train"].counts
    val_counts = releases.official_splits()[name, "validation"].counts
    count_pairs = list(zip(train_counts, val_counts, strict=True))
    if shared_ids or (len(train), len(val)) not in count_pairs:
        counts = " or ".join(f"{t} and {v}" for t, v in count_pairs)
        raise ListError(
            where,
            found=f"train.txt with {len(train)} ids and val.txt with {len(val)}, "
            f"which share {counted(len(shared_ids), 'id')}",
            expected=f"lists of {counts} ids that share no ids",
            remedy=f"take both lists from one place, or {releases.advise_part(name, manual_dir)}",
        )


def _find_tree(release: Release, fetcher: Fetcher) -> VocTree:
    """Returns VOC2010's tree with the labels, which are searched for first: no server has them."""
    root = None
    folders: list[epath.Path] = []
    if fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None:
            folders += [root, root.parent]
        folders.append(fetcher.manual_dir)
    labels = _find_labels(folders)
    if labels is None:
        manual_dir = describe_manual_dir(fetcher)
        raise SourceError(
            "Pascal Context",
            found=f"no labels in {manual_dir}",
            expected=f"VOC{release.year}/{PNGS} with mmsegmentation's PNGs, or the "
            f"original MATLAB files in the folder {' or '.join(MATS)}",
            remedy=f"get the labels from {release.page}, and put them and VOC{release.year} "
            f"into {manual_dir}",
        )
    if root is None:
        (archive,) = release.archives
        root = open_archive(releases.RELEASES[release.year], archive, fetcher).root
    return context_tree(root, labels)


def _find_labels(folders: Sequence[epath.Path]) -> epath.Path | None:
    """Returns the first folder of labels in some folders; PNGs come before MATLAB files.

    A folder of the right name that has no such files is not it: `trainval` may be VOC's own archive
    unpacked.
    """
    paths = [folder / PNGS for folder in folders]
    paths += [folder / name for folder in folders for name in MATS]
    for path in paths:
        if path.is_dir() and any(path.glob(f"*{_ending_of_labels(path)}")):
            return path
    return None


def _ending_of_labels(folder: epath.Path) -> str:
    """Returns the ending of the files in a folder of labels, by its name."""
    return ".png" if folder.name == PNGS else ".mat"
