"""The reader of `sbd`: SBD's own split, images, masks and instance masks, without VOC's."""

from collections.abc import Collection, Mapping
import dataclasses
import functools

from etils import epath

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ListError, SourceError
from voc_seg_tfrecord.examples.raw import RawExample
from voc_seg_tfrecord.facts import named_lists
from voc_seg_tfrecord.facts.releases import Archive, Release
from voc_seg_tfrecord.official import archives, sbd
from voc_seg_tfrecord.official.archives import Fetcher, NotDownloaded
from voc_seg_tfrecord.trees.layout import Layout
from voc_seg_tfrecord.trees.listing import index_files
from voc_seg_tfrecord.trees.names import Names
from voc_seg_tfrecord.trees.pair import Pair, Parts
from voc_seg_tfrecord.trees.place import Place
from voc_seg_tfrecord.trees.tree import VocTree


@dataclasses.dataclass(frozen=True)
class SbdPair(Pair):
    """One id's files, its masks in MATLAB files. See `pair.Pair`."""

    def read(self) -> RawExample:
        """Reads each file once, and masks as PNGs of their values."""
        raw = super().read()
        return dataclasses.replace(
            raw,
            mask=raw.mask and sbd.as_png(raw.mask),
            instances=raw.instances and sbd.as_png(raw.instances),
        )


class SbdTree(VocTree):
    """SBD's folder `dataset`.

    Args:
      root: the folder, which holds `train.txt`, `val.txt`, `img`, `cls` and `inst`.
    """

    def __init__(self, root: epath.PathLike):
        super().__init__(root, Layout(images=sbd.IMAGES, lists=""))

    def places(self, image_id: str, parts: Parts) -> dict[str, Place]:
        """Returns where each part of an id has to lie; see `VocTree.places`."""
        del image_id  # all ids lie in the same folders
        places = {
            "image": Place(self.root / sbd.IMAGES, self.images),
            "mask": Place(self.root / sbd.MASKS, self.masks),
        }
        if parts.instances:
            places["instances"] = Place(self.root / sbd.INSTANCES, self.instances)
        return places

    def make_pair(self, image_id: str, places: Mapping[str, Place], parts: Parts) -> SbdPair:
        """Returns the pair of an id; see `VocTree.make_pair`."""
        return SbdPair(**vars(super().make_pair(image_id, places, parts)))

    @functools.cached_property
    def masks(self) -> Names:
        """The masks' names below their folder, by id."""
        return index_files(self.root / sbd.MASKS, (".mat",))

    @functools.cached_property
    def instances(self) -> Names:
        """The instance masks' names below their folder, by id."""
        return index_files(self.root / sbd.INSTANCES, (".mat",))


def open_trees(
    release: Release, config: VocSegConfig, fetcher: Fetcher
) -> dict[str, tuple[SbdTree, str]]:
    """Returns the tree and the list of each split; see `open.release_trees`."""
    (archive,) = release.archives
    tree = SbdTree(_folder(release, archive, fetcher))
    if config.strict:
        check_lists(tree.read_ids("train"), tree.read_ids("val"), tree.root)
    return {split: (tree, name) for split, name in config.split_lists.items()}


def check_lists(train: Collection[str], val: Collection[str], where: object) -> None:
    """Checks SBD's lists by what is published of them: trainaug is made from them.

    No source gives the hash of either list. But trainaug is VOC2012 train, SBD train and SBD val
    without VOC2012 val, and its hash is known.

    Raises:
      ListError: if the lists share ids, or do not make trainaug.
    """
    of_train, of_val, aug = (
        set(named_lists.ids(name)) for name in ("voc2012_train", "voc2012_val", "trainaug")
    )
    both = set(train) & set(val)
    made = (of_train | set(train) | set(val)) - of_val
    if both or made != aug:
        raise ListError(
            where,
            found=f"train.txt and val.txt, which share {len(both)} ids and from which, with "
            f"VOC2012 train and without VOC2012 val, come {len(made)} ids, "
            f"{len(made & aug)} of them in trainaug",
            expected=f"lists that share no id and make the {len(aug)} ids of trainaug",
            remedy="unpack SBD's archive again, or build this folder as a part of SBD under "
            'another name: --config \'{"name": "part", "release": "sbd", "strict": false}\'',
        )


def _folder(release: Release, archive: Archive, fetcher: Fetcher) -> epath.Path:
    found = sbd.find(fetcher.manual_dir) if fetcher.manual_dir is not None else None
    if found is not None:
        return found
    try:
        path = archives.find(archive, fetcher)
    except NotDownloaded as error:
        place = archives.place_of(fetcher)
        raise SourceError(
            "SBD",
            found="; ".join([f"no SBD and no {archive.filename} in {place}", *error.tried]),
            expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}), or its folder "
            "dataset with cls, inst and img",
            remedy=f"get {archive.filename} from {release.page} by other means and put it into "
            f"{place}, or unpack it there",
        ) from None
    return sbd.find_unpacked(path, fetcher.extract(path))
