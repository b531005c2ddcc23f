"""Pascal Context: VOC2010's images with labels of its own, as PNGs or as the original MATLAB files.

What leaves this module has the values of mmsegmentation's PNGs in both cases: 0 is none of the 59
classes, and 1 to 59 are the classes in their order.

References:
  Mottaghi et al., The Role of Context for Object Detection and Semantic Segmentation in the
    Wild, CVPR 2014.
"""

from collections.abc import Mapping
import dataclasses
import functools
import re

from etils import epath
import numpy as np

from voc_seg_tfrecord.errors import MaskError, SourceError
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.facts import pascal_context
from voc_seg_tfrecord.formats import encode, mat_files
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.trees.layout import Layout
from voc_seg_tfrecord.trees.listing import index_files
from voc_seg_tfrecord.trees.names import Names
from voc_seg_tfrecord.trees.pair import Pair, Parts
from voc_seg_tfrecord.trees.place import Place
from voc_seg_tfrecord.trees.tree import VocTree

PNGS = "SegmentationClassContext"
MATS = ("trainval", "GroundTruth_trainval_mat")
"""Names of the folder of MATLAB files: the archive's own, and that of public copies."""

NAMES = "labels.txt"
"""The names of the 459 classes by number, which lies beside the folder of MATLAB files."""

_LISTS = ("ImageSets/SegmentationContext", "ImageSets/Main")


@dataclasses.dataclass(frozen=True)
class ContextPair(Pair):
    """One id's files; its mask may be a MATLAB file. See `pair.Pair`."""

    def read(self) -> RawExample:
        """Reads each file once, and the mask as a PNG."""
        raw = super().read()
        return dataclasses.replace(raw, mask=raw.mask and _as_png(raw.mask))


class ContextTree(VocTree):
    """VOC2010's tree with the labels of Pascal Context.

    Its lists are mmsegmentation's where they are there, and VOC2010's own for all its tasks
    where not.

    Args:
      root: the folder `VOC2010`.
      labels: the folder of labels, which may lie elsewhere.
    """

    def __init__(self, root: epath.PathLike, labels: epath.Path):
        root = epath.Path(root)
        own = any((root / _LISTS[0] / f"{name}.txt").exists() for name in ("train", "val"))
        super().__init__(root, Layout(lists=_LISTS[0] if own else _LISTS[1]))
        self.labels = labels

    def places(self, image_id: str, parts: Parts) -> dict[str, Place]:
        """Returns where each part of an id has to lie; see `VocTree.places`."""
        return super().places(image_id, parts) | {"mask": Place(self.labels, self.masks)}

    def make_pair(self, image_id: str, places: Mapping[str, Place], parts: Parts) -> ContextPair:
        """Returns the pair of an id; see `VocTree.make_pair`."""
        return ContextPair(**vars(super().make_pair(image_id, places, parts)))

    @functools.cached_property
    def masks(self) -> Names:
        """The labels' names below their folder, by id."""
        return index_files(self.labels, (".png",) if self.labels.name == PNGS else (".mat",))


def find_labels(folders: list[epath.Path]) -> epath.Path | None:
    """Returns the folder of labels in the first of some folders that has one, else None."""
    places = [folder / PNGS for folder in folders]
    places += [folder / name for folder in folders for name in MATS]
    return next((place for place in places if place.is_dir()), None)


def check_names(labels: epath.Path) -> None:
    """Checks the numbers of the 59 classes by the names that lie beside MATLAB files, if any do.

    Args:
      labels: the folder of labels.

    Raises:
      SourceError: if `labels.txt` gives a number another name.
    """
    if labels.name == PNGS:
        return
    path = next((p for p in (labels.parent / NAMES, labels / NAMES) if p.exists()), None)
    if path is None:
        return
    text = File.read(path, SourceError).data.decode("utf-8", "replace")
    lines = re.findall(r"^\s*(\d+)\s*:\s*(.*?)\s*$", text, re.M)
    found = {int(number): name for number, name in lines}
    for name, number in pascal_context.NUMBERS.items():
        if found.get(number) != name:
            raise SourceError(
                path,
                found=f"{number} is {found.get(number, 'no class')}",
                expected=f"{number} is {name}, as in the original labels of Pascal Context",
                remedy="unpack the archive of Pascal Context again; its labels cannot be read "
                "with other numbers",
            )


@functools.cache
def _values() -> np.ndarray:
    """The value of each of the original numbers, uint8 `[460]`."""
    values = np.zeros(pascal_context.LABELS + 1, np.uint8)
    for value, number in enumerate(pascal_context.NUMBERS.values(), 1):
        values[number] = value
    return values


def _as_png(file: File) -> File:
    if not file.where.endswith(".mat"):
        return file
    numbers = mat_files.read(file, "Pascal Context")
    if numbers.max() > pascal_context.LABELS:
        raise MaskError(
            file.where,
            found=f"the label {numbers.max()}",
            expected=f"labels from 1 to {pascal_context.LABELS}, as LabelMap of Pascal Context has",
            remedy="unpack the archive of Pascal Context again",
        )
    return File(encode.png(_values()[numbers]), file.where)
