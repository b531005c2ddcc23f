"""VOC2012 with SBD's masks: the tree behind the config `2012_aug`, whatever it is made of.

Wherever VOC has a mask of its own it is used: it has void borders, SBD's masks have none.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from etils import epath
import numpy as np

from voc_seg_tfrecord.errors import SplitError, VocSegError
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.facts import named_lists
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.labels import VOID
from voc_seg_tfrecord.official import sbd
from voc_seg_tfrecord.trees.layout import VOC, index_files
from voc_seg_tfrecord.trees.pair import Pair
from voc_seg_tfrecord.trees.tree import VocTree

MASKS = "SegmentationClassAug"
LISTS = ("trainaug", "train_aug")
"""Names that the list of 10582 ids goes by."""

SOURCES = ("voc", "sbd")
"""The values of `mask_source`."""


@dataclasses.dataclass(frozen=True)
class AugmentedPair(Pair):
    """One id's files; masks may be SBD's MATLAB files. See `pairs.Pair`.

    Attributes:
      mask_source: one of `SOURCES`.
      wants_instances: whether an instance mask is needed, be there a file or not.
    """

    mask_source: str = SOURCES[0]
    wants_instances: bool = False

    def read(self) -> RawExample:
        """Reads each file once. Objects that no one has numbered are void everywhere."""
        raw = super().read()
        mask = _as_png(raw.mask, self.mask)
        instances = raw.instances and _as_png(raw.instances, self.instances)
        if self.wants_instances and instances is None:
            header = png.read_header(mask, self.mask)
            instances = sbd.as_png(np.full((header.height, header.width), VOID, np.uint8))
        return dataclasses.replace(
            raw, mask=mask, instances=instances, mask_source=self.mask_source
        )


@dataclasses.dataclass(frozen=True)
class _Place:
    """A folder, and the names of its files by id."""

    folder: epath.Path
    names: Mapping[str, str]

    def path(self, image_id: str) -> epath.Path | None:
        return self.folder / self.names[image_id] if image_id in self.names else None


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
        missing: list[VocSegError] = []
        found = []
        for image_id in ids:
            of_voc = self._is_of_voc(image_id)
            parts = {"image": self._image(image_id), "mask": self._mask(image_id, of_voc)}
            if instances and (of_voc or image_id in self._sbd_instances):
                parts["instances"] = self._instances(of_voc)
            if annotations:
                parts["annotation"] = _Place(self.root / VOC.annotations, self.annotations)
            paths = {part: place.path(image_id) for part, place in parts.items()}
            lacking = [place for part, place in parts.items() if paths[part] is None]
            missing += [self._missing(str(place.folder), image_id) for place in lacking]
            if not missing:
                filename = f"{image_id}{paths['image'].suffix}"
                found.append(
                    AugmentedPair(
                        id=image_id,
                        filename=filename,
                        mask_source=SOURCES[0] if of_voc else SOURCES[1],
                        wants_instances=instances,
                        **paths,
                    )
                )
        if missing:
            raise SplitError(split, missing, len(ids))
        return found

    def _is_of_voc(self, image_id: str) -> bool:
        """Says whether VOC has a mask of its own.

        The lists know; people have put SBD's masks into SegmentationClass. Only an id that
        no list knows is judged by the folder.
        """
        official, augmented = _known()
        return image_id in official or (image_id in self.masks and image_id not in augmented)

    def _image(self, image_id: str) -> _Place:
        if image_id in self._sbd_images and image_id not in self.images:
            return _Place(self.sbd_root / sbd.IMAGES, self._sbd_images)
        return _Place(self.root / VOC.images, self.images)

    def _mask(self, image_id: str, of_voc: bool) -> _Place:
        """Returns where a mask has to be; one of VOC's never comes from SBD's own folder."""
        if self.sbd_root is not None and not of_voc:
            return _Place(self.sbd_root / sbd.MASKS, self._sbd_masks)
        in_both = image_id in self.masks and image_id in self._png_masks
        if self.sbd_root is None and (image_id not in self.masks or (in_both and not of_voc)):
            return _Place(self.root / MASKS, self._png_masks)
        return _Place(self.root / VOC.masks, self.masks)

    def _instances(self, of_voc: bool) -> _Place:
        if of_voc:
            return _Place(self.root / VOC.instances, self.instances)
        return _Place(self.sbd_root / sbd.INSTANCES, self._sbd_instances)

    @functools.cached_property
    def _png_masks(self) -> dict[str, str]:
        return index_files(self.root / MASKS, (".png",))

    @functools.cached_property
    def _sbd_images(self) -> dict[str, str]:
        return self._of_sbd(sbd.IMAGES, IMAGE_SUFFIXES)

    @functools.cached_property
    def _sbd_masks(self) -> dict[str, str]:
        return self._of_sbd(sbd.MASKS, (".mat",))

    @functools.cached_property
    def _sbd_instances(self) -> dict[str, str]:
        return self._of_sbd(sbd.INSTANCES, (".mat",))

    def _of_sbd(self, folder: str, endings: Sequence[str]) -> dict[str, str]:
        return index_files(self.sbd_root / folder, endings) if self.sbd_root else {}


def has_augmented_masks(root: epath.Path) -> bool:
    """Says whether a VOC2012 tree has SBD's masks as PNGs, and their list."""
    tree = VocTree(root)
    return (root / MASKS).is_dir() and any(tree.list_path(name).exists() for name in LISTS)


@functools.cache
def _known() -> tuple[frozenset[str], frozenset[str]]:
    return frozenset(named_lists.ids("voc2012_trainval")), frozenset(named_lists.ids("trainaug"))


def _as_png(data: bytes, path: epath.Path) -> bytes:
    return sbd.as_png(sbd.read_mask(data, path)) if path.suffix == ".mat" else data
