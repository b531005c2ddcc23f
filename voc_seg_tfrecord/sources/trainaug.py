"""The reader of `2012_aug`: VOC2012's tree, and SBD's masks where it has none.

VOC's own mask is used wherever there is one: it has void borders, and SBD's masks have none. People
have SBD's masks in two forms, MATLAB files and PNGs, and both are read.
"""

from collections.abc import Sequence
import dataclasses
import functools

from etils import epath
import numpy as np

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.example import NeededFiles, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import VOC
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.releases import RELEASES, Release
from voc_seg_tfrecord.folder.tree.names import Names, index_files
from voc_seg_tfrecord.folder.tree.pairs import PartFiles
from voc_seg_tfrecord.folder.tree.voc_tree import MissingParts, VocTree
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.sources import sbd
from voc_seg_tfrecord.sources.devkit import ReleaseList, find_release, lists_in, open_archive
from voc_seg_tfrecord.sources.fetcher import Fetcher
from voc_seg_tfrecord.sources.sbd import SbdPair, SbdTree

MASKS = "SegmentationClassAug"
LISTS = ("trainaug", "train_aug")
"""Names that the list of 10582 ids goes by."""


@dataclasses.dataclass(frozen=True)
class TrainaugPair(SbdPair):
    """One id's files; masks may be SBD's MATLAB files. See `pairs.Pair`.

    Attributes:
      mask_source: who drew the mask, `voc` or `sbd`.
      wants_instances: whether an instance mask is needed, even if there is no file.
    """

    mask_source: str = "voc"
    wants_instances: bool = False

    def read(self) -> RawExample:
        """Reads each file once. An instance mask that does not exist becomes all void."""
        raw = dataclasses.replace(super().read(), mask_source=self.mask_source)
        if not self.wants_instances or raw.mask is None or raw.instances is not None:
            return raw
        header = png.read_header(raw.mask)
        void = np.full((header.height, header.width), VOID, np.uint8)
        return dataclasses.replace(raw, instances=File(pillow.encode_png(void), raw.mask.where))


@dataclasses.dataclass(frozen=True, eq=False)
class TrainaugTree(VocTree):
    """VOC2012's tree, in which the masks that VOC does not have are SBD's.

    `TrainaugTreeOfPngs` and `TrainaugTreeWithSbd` are the two forms of SBD's masks.
    """

    def find_missing(self, parts: NeededFiles, list_names: Sequence[str] = ()) -> MissingParts:
        """Returns the folders and lists that are missing.

        Folders of masks are not checked here: a mask may lie in one of several, of which none has
        to be there. `files_by_part` says where.
        """
        parts_in_one_folder = dataclasses.replace(parts, masks=False, instances=False)
        return super().find_missing(parts_in_one_folder, list_names)

    def make_pair(self, image_id: str, parts: NeededFiles) -> TrainaugPair:
        """Returns the pair of an id, which says whose its mask is."""
        return TrainaugPair(
            **vars(super().make_pair(image_id, parts)),
            mask_source="voc" if self._has_mask_by_voc(image_id) else "sbd",
            wants_instances=parts.instances,
        )

    def files_by_part(self, image_id: str, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part of an id has to lie; see `VocTree.files_by_part`."""
        files = super().files_by_part(image_id, parts)
        files["mask"] = dataclasses.replace(self._find_masks(image_id), needed=not parts.background)
        if parts.instances and not self._has_mask_by_voc(image_id):
            files["instances"] = self._sbd_instances
        return files

    def _find_masks(self, image_id: str) -> PartFiles:
        """Returns the masks among which an id's mask must be."""
        raise NotImplementedError

    @property
    def _sbd_instances(self) -> PartFiles:
        """The instance masks of the images whose masks are SBD's; these may have none."""
        raise NotImplementedError

    def _has_mask_by_voc(self, image_id: str) -> bool:
        """Says whether VOC drew a mask of an image.

        The lists decide, because people have put SBD's masks into SegmentationClass. Only for
        an id that is in no list does the folder decide.
        """
        if image_id in _ids_of_voc():
            return True
        return image_id in self.masks and image_id not in _ids_of_trainaug()

    @property
    def _masks_of_voc(self) -> PartFiles:
        return PartFiles(self.root, self.masks, VOC.masks)


@dataclasses.dataclass(frozen=True, eq=False)
class TrainaugTreeOfPngs(TrainaugTree):
    """VOC2012's tree that has SBD's masks itself, as PNGs in SegmentationClassAug, and their list.

    The list `train` is trainaug's. There are no instance masks by SBD.
    """

    def list_path(self, name: str) -> epath.Path:
        """Returns the path of a list, whether it exists or not."""
        return super().list_path(self._name_in_tree(name))

    def read_ids(self, name: str) -> Sequence[str]:
        """Returns the ids of a list; see `VocTree.read_ids`."""
        return super().read_ids(self._name_in_tree(name))

    def _name_in_tree(self, name: str) -> str:
        """Returns the name of a list in the tree: for `train`, the name of trainaug's list.

        If trainaug has no list, it is the name that it should have.
        """
        if name != "train":
            return name
        for list_name in LISTS:
            if super().list_path(list_name).exists():
                return list_name
        return LISTS[0]

    def _find_masks(self, image_id: str) -> PartFiles:
        """Returns the masks among which an id's mask must be.

        | the id has a mask in | VOC drew a mask | the mask is in |
        | --- | --- | --- |
        | SegmentationClass alone | either | SegmentationClass |
        | SegmentationClassAug alone, or none | either | SegmentationClassAug |
        | both | yes | SegmentationClass |
        | both | no | SegmentationClassAug |
        """
        masks_in_aug_folder = PartFiles(self.root / MASKS, self._names_in_aug_folder)
        if image_id not in self.masks:
            return masks_in_aug_folder
        if self._has_mask_by_voc(image_id) or image_id not in self._names_in_aug_folder:
            return self._masks_of_voc
        return masks_in_aug_folder

    @functools.cached_property
    def _names_in_aug_folder(self) -> Names:
        return index_files(self.root / MASKS, (".png",))

    @property
    def _sbd_instances(self) -> PartFiles:
        return PartFiles(self.root, Names(), sbd.INSTANCES, needed=False)


@dataclasses.dataclass(frozen=True, eq=False)
class TrainaugTreeWithSbd(TrainaugTree):
    """VOC2012's tree, and SBD's own folder, whose masks are MATLAB files.

    Attributes:
      sbd_tree: SBD's folder `dataset`.
    """

    sbd_tree: SbdTree = dataclasses.field(kw_only=True)

    def read_ids(self, name: str) -> Sequence[str]:
        """Returns the ids of a list; see `VocTree.read_ids`.

        The list `train` is the union of VOC2012 train, SBD train and SBD val, minus VOC2012 val.
        """
        if name != "train":
            return super().read_ids(name)
        ids = set(super().read_ids("train"))
        for part in sbd.LISTS:
            ids.update(sbd.read_sbd_ids(self.sbd_tree.root, part))
        return sorted(ids.difference(super().read_ids("val")))

    def files_by_part(self, image_id: str, parts: NeededFiles) -> dict[str, PartFiles]:
        """Returns where each part of an id has to lie; an image may be SBD's alone."""
        files = super().files_by_part(image_id, parts)
        if image_id in self.sbd_tree.images and image_id not in self.images:
            files["image"] = PartFiles(self.sbd_tree.root, self.sbd_tree.images, sbd.IMAGES)
        return files

    def image_folders(self, ids: Sequence[str]) -> list[epath.Path]:
        """Returns the folders in which the images of ids lie: VOC's, and SBD's if it is needed."""
        folders = super().image_folders(ids)
        if not all(image_id in self.images for image_id in ids):
            folders.append(self.sbd_tree.root / sbd.IMAGES)
        return folders

    def _find_masks(self, image_id: str) -> PartFiles:
        """Returns the masks among which an id's mask must be: VOC's if it drew one, or SBD's."""
        if self._has_mask_by_voc(image_id):
            return self._masks_of_voc
        return PartFiles(self.sbd_tree.root, self.sbd_tree.masks, sbd.MASKS)

    @property
    def _sbd_instances(self) -> PartFiles:
        return PartFiles(self.sbd_tree.root, self.sbd_tree.instances, sbd.INSTANCES, needed=False)


def has_png_masks(root: epath.Path) -> bool:
    """Says whether a VOC2012 tree has SBD's masks as PNGs, and their list."""
    tree = VocTree(root)
    return (root / MASKS).is_dir() and any(tree.list_path(name).exists() for name in LISTS)


@functools.cache
def _ids_of_voc() -> frozenset[str]:
    """The ids whose masks VOC2012 has."""
    return frozenset(list_ids("voc2012_trainval"))


@functools.cache
def _ids_of_trainaug() -> frozenset[str]:
    """The ids of the split `train`, most of whose masks only SBD has."""
    return frozenset(list_ids("trainaug"))


def open_trees(release: Release, config: VocSegConfig, fetcher: Fetcher) -> dict[str, ReleaseList]:
    """Returns the list of each split."""
    return lists_in(_find_tree(release, fetcher), config)


def _find_tree(release: Release, fetcher: Fetcher) -> TrainaugTree:
    """Returns VOC2012's tree with SBD's masks: as PNGs in the manual folder, or else SBD's own."""
    if fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None and has_png_masks(root):
            return TrainaugTreeOfPngs(root)
    sbd.require_reader()  # before VOC2012 is downloaded
    archive_of_voc, archive_of_sbd = release.archives
    voc = open_archive(release, archive_of_voc, fetcher)
    sbd_root = sbd.open_folder(
        RELEASES["sbd"],
        archive_of_sbd,
        fetcher,
        what="SBD, for the masks that VOC2012 does not have",
        tree=f"its folder dataset with cls, inst and img, or {MASKS} and trainaug.txt in VOC2012",
    )
    return TrainaugTreeWithSbd(voc.root, sbd_tree=SbdTree(sbd_root))
