"""Where a release's tree comes from: an unpacked one, an archive at hand, or a download."""

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import SourceError
from voc_seg_tfrecord.facts.releases import RELEASES, SBD, VOC_SPLITS, Archive, page
from voc_seg_tfrecord.official import sbd
from voc_seg_tfrecord.official.archives import check_sha256, downloads, unpacked
from voc_seg_tfrecord.official.trainaug import AugmentedTree, has_augmented_masks
from voc_seg_tfrecord.trees.layout import find_release
from voc_seg_tfrecord.trees.tree import VocTree


def release_trees(
    config: VocSegConfig, manual: epath.Path | None, dl_manager: tfds.download.DownloadManager
) -> dict[str, tuple[VocTree, str]]:
    """Returns the tree and the list of each split of a release."""
    wanted = config.split_lists
    if config.augmented:
        tree = _augmented_tree(manual, dl_manager)
        return {split: (tree, name) for split, name in wanted.items()}
    if not config.strict and manual is not None:
        root = find_release(manual, config.release)
        if root is not None:
            tree = VocTree(root)
            if config.splits is None:
                names = set(tree.list_names())
                wanted = {s: n for s, n in VOC_SPLITS.items() if n in names}
            if not wanted:
                tree.read_ids("train")  # raises, naming the lists that are there
            return {split: (tree, name) for split, name in wanted.items()}
    trees: dict[str, VocTree] = {}
    for archive in RELEASES[config.release]:
        splits = [s for s in wanted if s in archive.splits or s not in VOC_SPLITS]
        if splits:
            tree = _release_tree(config, archive, manual, dl_manager)
            trees = dict.fromkeys(splits, tree) | trees
    return {split: (trees[split], name) for split, name in wanted.items()}


def _release_tree(
    config: VocSegConfig,
    archive: Archive,
    manual: epath.Path | None,
    dl_manager: tfds.download.DownloadManager,
) -> VocTree:
    """Returns the tree that holds an archive's splits; the first way that is there wins."""
    if manual is not None:
        root = find_release(manual, config.release)
        if root is not None and _holds(VocTree(root), config.release, archive):
            return VocTree(root)
        path = manual / archive.filename
        if path.exists():
            check_sha256(path, archive)
            return unpacked(path, config.release, dl_manager)
    tried: list[str] = []
    for path in downloads(archive, dl_manager, tried):
        return unpacked(path, config.release, dl_manager)
    folder = manual or "a folder given with --manual_dir"
    raise SourceError(
        f"VOC{config.release}, splits {' and '.join(archive.splits)}",
        found="; ".join([f"no tree and no {archive.filename} in {folder}", *tried]),
        expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}) or its tree",
        remedy=f"get {archive.filename} from {page(config.release)} by other means "
        f"and put it into {folder}, or unpack it there",
    )


def _augmented_tree(
    manual: epath.Path | None, dl_manager: tfds.download.DownloadManager
) -> AugmentedTree:
    """Returns VOC2012's tree with SBD's masks; the first way that is there wins."""
    root = find_release(manual, "2012") if manual is not None else None
    if root is not None and has_augmented_masks(root):
        return AugmentedTree(root)
    (archive,) = RELEASES["2012"]
    voc = VocSegConfig(name="2012", release="2012")
    tree = _release_tree(voc, archive, manual, dl_manager)
    return AugmentedTree(tree.root, _sbd_folder(manual, dl_manager))


def _sbd_folder(manual: epath.Path | None, dl_manager: tfds.download.DownloadManager) -> epath.Path:
    tried: list[str] = []
    if manual is not None:
        folder = sbd.find(manual)
        if folder is not None:
            return folder
        path = manual / SBD.filename
        if path.exists():
            check_sha256(path, SBD)
            return sbd.find_unpacked(path, epath.Path(dl_manager.extract(path)))
    for path in downloads(SBD, dl_manager, tried):
        return sbd.find_unpacked(path, epath.Path(dl_manager.extract(path)))
    place = manual or "a folder given with --manual_dir"
    raise SourceError(
        "SBD, for the masks that VOC2012 has not",
        found="; ".join(
            [f"no SegmentationClassAug, no SBD and no {SBD.filename} in {place}", *tried]
        ),
        expected=f"{SBD.filename} (sha256 {SBD.sha256s[0]}), its folder dataset with cls, inst "
        "and img, or a VOC2012 tree with SegmentationClassAug and the list trainaug.txt",
        remedy=f"put one of them into {place}",
    )


def _holds(tree: VocTree, release: str, archive: Archive) -> bool:
    """Says whether a tree is where an archive's splits have to be read from.

    It is if it has one of their lists. It also is if it has no list of another archive of
    the release either: then the tree is broken, and reading it says so.
    """

    def has(splits: tuple[str, ...]) -> bool:
        return any(tree.list_path(VOC_SPLITS[split]).exists() for split in splits)

    others = [other for other in RELEASES[release] if other is not archive]
    return has(archive.splits) or not any(has(other.splits) for other in others)
