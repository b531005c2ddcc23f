"""The reader of `2012_aug`: VOC2012's tree, and SBD's masks where it has none."""

from etils import epath

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import SourceError
from voc_seg_tfrecord.facts.releases import Archive, Release
from voc_seg_tfrecord.official import archives, devkit, sbd
from voc_seg_tfrecord.official.archives import Fetcher, NotDownloaded
from voc_seg_tfrecord.official.trainaug_tree import TrainaugTree, has_png_masks
from voc_seg_tfrecord.trees.layout import find_release


def open_trees(
    release: Release, config: VocSegConfig, fetcher: Fetcher
) -> dict[str, tuple[TrainaugTree, str]]:
    """Returns the tree and the list of each split; see `open.release_trees`."""
    tree = _tree(release, fetcher)
    return {split: (tree, name) for split, name in config.split_lists.items()}


def _tree(release: Release, fetcher: Fetcher) -> TrainaugTree:
    """Returns VOC2012's tree with SBD's masks; the first place that has them wins."""
    if fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None and has_png_masks(root):
            return TrainaugTree(root)
    of_voc, of_sbd = release.archives
    voc = devkit.open_archive(release, of_voc, fetcher)
    return TrainaugTree(voc.root, _sbd_folder(of_sbd, fetcher))


def _sbd_folder(archive: Archive, fetcher: Fetcher) -> epath.Path:
    if fetcher.manual_dir is not None:
        folder = sbd.find(fetcher.manual_dir)
        if folder is not None:
            return folder
    try:
        path = archives.find(archive, fetcher)
    except NotDownloaded as error:
        place = archives.place_of(fetcher)
        missing = f"no SegmentationClassAug, no SBD and no {archive.filename} in {place}"
        raise SourceError(
            "SBD, for the masks that VOC2012 does not have",
            found="; ".join([missing, *error.tried]),
            expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}), its folder "
            "dataset with cls, inst and img, or a VOC2012 tree with SegmentationClassAug and the "
            "list trainaug.txt",
            remedy=f"put one of them into {place}",
        ) from None
    return sbd.find_unpacked(path, fetcher.extract(path))
