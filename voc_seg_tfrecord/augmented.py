"""VOC2012 with SBD's masks: the tree behind the config `2012_aug`, whatever it is made of.

Wherever VOC has a mask of its own it is used: it has void borders, SBD's masks have none.
"""

from collections.abc import Sequence
import dataclasses
import functools

from etils import epath
import numpy as np

from voc_seg_tfrecord import layout, named, png, sbd
from voc_seg_tfrecord.errors import SplitError, VocSegError
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.layout import RawExample, SplitList, VocTree
from voc_seg_tfrecord.lists import IMAGE_SUFFIXES

RELEASE = "2012_aug"
MASKS = "SegmentationClassAug"
LISTS = ("trainaug", "train_aug")
"""Names that the list of 10582 ids goes by."""

SOURCES = ("voc", "sbd")
"""The values of `mask_source`."""


@dataclasses.dataclass(frozen=True)
class AugmentedPair:
    """One id's files; see `layout.Pair`.

    Attributes:
      id: the image id.
      filename: the image's name below its folder.
      image: the image's path.
      mask: the mask's path, a PNG or SBD's MATLAB file.
      mask_source: one of `SOURCES`.
      wants_instances: whether an instance mask is needed.
      instances: its path, a PNG or SBD's; None where no one made one.
      annotation: the XML's path, where asked for.
    """

    id: str
    filename: str
    image: epath.Path
    mask: epath.Path
    mask_source: str
    wants_instances: bool = False
    instances: epath.Path | None = None
    annotation: epath.Path | None = None

    def read(self) -> RawExample:
        """Reads each file once. Objects that no one has numbered are void everywhere."""
        mask = _read(self.mask)
        instances = _read(self.instances) if self.instances else None
        if self.wants_instances and instances is None:
            header = png.read_header(mask, self.mask)
            instances = sbd.as_png(np.full((header.height, header.width), VOID, np.uint8))
        return RawExample(
            image=self.image.read_bytes(),
            filename=self.filename,
            image_where=str(self.image),
            mask=mask,
            mask_where=str(self.mask),
            mask_source=self.mask_source,
            instances=instances,
            instances_where=str(self.instances or ""),
            annotation=self.annotation and self.annotation.read_bytes(),
            annotation_where=str(self.annotation or ""),
        )


class AugmentedTree(VocTree):
    """VOC2012's tree, and SBD's masks in one of two forms.

    Args:
      root: the folder `VOC2012`.
      sbd_root: SBD's folder `dataset`. Without it, the tree itself has the masks in
        SegmentationClassAug.
    """

    def __init__(self, root: epath.PathLike, sbd_root: epath.Path | None = None):
        super().__init__(root)
        self.sbd_root = sbd_root

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of a list; that of train is the one of trainaug, if there is one."""
        if name == "train" and self.sbd_root is None:
            paths = [super(AugmentedTree, self).list_path(aug) for aug in LISTS]
            return next((path for path in paths if path.exists()), paths[0])
        return super().list_path(name)

    def read_ids(self, name: str) -> list[str]:
        """Returns the ids of a list; see `VocTree.read_ids`.

        `train` is (VOC2012 train, SBD train, SBD val) without VOC2012 val.
        """
        if name != "train":
            return super().read_ids(name)
        if self.sbd_root is None:
            return super().read_ids(self.list_path("train").stem)
        ids = set(super().read_ids("train"))
        for part in sbd.LISTS:
            ids.update(sbd.read_ids(self.sbd_root, part))
        return sorted(ids.difference(super().read_ids("val")))

    def pairs(
        self,
        split: str,
        ids: Sequence[str],
        *,
        instances: bool = False,
        annotations: bool = False,
    ) -> list[AugmentedPair]:
        """Finds the files of ids; see `VocTree.pairs`."""
        official = frozenset(named.ids("voc2012_trainval"))
        missing: list[VocSegError] = []
        found = []
        for image_id in ids:
            image = self._images_at.get(image_id)
            mask = self._masks_at.get(image_id)
            of_voc = image_id in official or mask in self._voc_masks
            objects = self._instances_at.get(image_id) if instances else None
            annotation = self._annotations_at.get(image_id) if annotations else None
            needed = [(layout.IMAGES, image), (MASKS, mask)]
            needed += [(layout.INSTANCES, objects)] if instances and of_voc else []
            needed += [(layout.ANNOTATIONS, annotation)] if annotations else []
            lacking = [folder for folder, path in needed if path is None]
            missing += [self._missing(folder, image_id) for folder in lacking]
            if image and mask and not lacking:
                filename = f"{image_id}{image.suffix}"
                source = SOURCES[0] if of_voc else SOURCES[1]
                found.append(
                    AugmentedPair(
                        image_id, filename, image, mask, source, instances, objects, annotation
                    )
                )
        if missing:
            raise SplitError(split, missing, len(ids))
        return found

    # Of two folders that have an id the later one counts.

    @functools.cached_property
    def _images_at(self) -> dict[str, epath.Path]:
        of_sbd = _index(self.sbd_root, sbd.IMAGES, IMAGE_SUFFIXES)
        return of_sbd | _index(self.root, layout.IMAGES, IMAGE_SUFFIXES)

    @functools.cached_property
    def _masks_at(self) -> dict[str, epath.Path]:
        if self.sbd_root is None:
            others = _index(self.root, MASKS, (".png",))
        else:
            others = _index(self.sbd_root, sbd.MASKS, (".mat",))
        return others | _index(self.root, layout.MASKS, (".png",))

    @functools.cached_property
    def _voc_masks(self) -> frozenset[epath.Path]:
        return frozenset(_index(self.root, layout.MASKS, (".png",)).values())

    @functools.cached_property
    def _instances_at(self) -> dict[str, epath.Path]:
        of_sbd = _index(self.sbd_root, sbd.INSTANCES, (".mat",))
        return of_sbd | _index(self.root, layout.INSTANCES, (".png",))

    @functools.cached_property
    def _annotations_at(self) -> dict[str, epath.Path]:
        return _index(self.root, layout.ANNOTATIONS, (".xml",))


def has_augmented_masks(root: epath.Path) -> bool:
    """Says whether a VOC2012 tree has SBD's masks as PNGs, and their list."""
    tree = VocTree(root)
    return (root / MASKS).is_dir() and any(tree.list_path(name).exists() for name in LISTS)


def split_lists(tree: AugmentedTree) -> dict[str, SplitList]:
    """Returns the list of each split."""
    return {"train": SplitList(tree, "train"), "validation": SplitList(tree, "val")}


def _index(root: epath.Path | None, folder: str, suffixes: Sequence[str]) -> dict[str, epath.Path]:
    if root is None:
        return {}
    names = layout.index_files(root / folder, suffixes)
    return {image_id: root / folder / name for image_id, name in names.items()}


def _read(path: epath.Path) -> bytes:
    data = path.read_bytes()
    return sbd.as_png(sbd.read_mask(data, path)) if path.suffix == ".mat" else data
