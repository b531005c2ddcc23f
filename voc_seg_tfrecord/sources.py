"""Where a build's tree comes from: an unpacked one, an archive at hand, or a download."""

from collections.abc import Iterable, Mapping
import dataclasses

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.configs import SAMPLE, VocSegConfig
from voc_seg_tfrecord.errors import LayoutError, SourceError
from voc_seg_tfrecord.examples.make import ExampleSpec
from voc_seg_tfrecord.examples.raw import Item
from voc_seg_tfrecord.facts import official_splits, tables
from voc_seg_tfrecord.facts.releases import RELEASES, SBD, VOC_SPLITS, Archive, page
from voc_seg_tfrecord.masks.rule import index_rule
from voc_seg_tfrecord.official import sbd
from voc_seg_tfrecord.official.archives import check_sha256, downloads, unpacked
from voc_seg_tfrecord.official.trainaug import AugmentedTree, has_augmented_masks
from voc_seg_tfrecord.own_data.plan import Plan, open_tree, plan
from voc_seg_tfrecord.trees.tree import IMAGES, LISTS, MASKS, VocTree, find_release

MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
With none of them, releases whose archive is registered are downloaded."""


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a dataset comes from: the items of each split, and what to make of them.

    Attributes:
      splits: items by split name. Under Apache Beam they have to be lists.
      spec: what examples are to hold and how masks are read.
    """

    splits: Mapping[str, Iterable[Item]]
    spec: ExampleSpec


def open_source(config: VocSegConfig, dl_manager: tfds.download.DownloadManager) -> Source:
    """Finds the files of every split of a config, and checks its lists.

    Args:
      config: the config to build.
      dl_manager: TFDS's, which knows the manual folder and downloads.

    Returns:
      The source. No image or mask has been decoded for it but those of own data, if what
      its masks mean had to be found out.

    Raises:
      SourceError: if a release is neither at hand nor can be downloaded.
      LayoutError: if there is no tree, or more than one, for own data.
      ListError: if the lists of a strict config are not the official ones.
      SplitError: if files are missing.
    """
    manual = manual_dir(dl_manager)
    if config.name == SAMPLE:
        manual = tables.folder("dummy_data")
    elif not config.release and manual is None:
        raise LayoutError(
            f"config {config.name!r}",
            found="no --manual_dir, or an empty one",
            expected=f"a folder with {IMAGES}, {MASKS} and {LISTS}",
            remedy="give the folder with --manual_dir",
        )
    if not config.release:
        return own_source(plan(open_tree(manual, config), config), config)
    trees = _release_trees(config, manual, dl_manager)
    rule = index_rule(len(config.class_names), official=True)
    splits = {}
    for split, (tree, name) in trees.items():
        ids = tree.read_ids(name)
        if config.strict:
            official_splits.check_ids(config.release, split, ids, tree.list_path(name))
        splits[split] = tree.pairs(
            split, ids, instances=config.instance_mask, annotations=config.objects
        )
    return Source(splits, ExampleSpec.of(config, rule))


def own_source(decided: Plan, config: VocSegConfig) -> Source:
    """Returns the source that a plan describes.

    Raises:
      SplitError: if files are missing.
    """
    splits = {
        split: decided.tree.pairs(
            split,
            ids,
            instances=config.instance_mask,
            annotations=config.objects,
            background=config.missing_mask == "background",
        )
        for split, ids in decided.splits.items()
    }
    return Source(splits, ExampleSpec.of(config, decided.rule))


def _release_trees(
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


def manual_dir(dl_manager: tfds.download.DownloadManager) -> epath.Path | None:
    """Returns the manual folder, None where it is missing or empty."""
    try:
        return epath.Path(dl_manager.manual_dir)
    except AssertionError:  # what TFDS raises for both
        return None


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
