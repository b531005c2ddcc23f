"""The reader of VOC's own releases: an unpacked devkit, the release's archives, or downloads."""

from etils import epath

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import SourceError
from voc_seg_tfrecord.facts.releases import VOC_SPLITS, Archive, Release
from voc_seg_tfrecord.official import archives
from voc_seg_tfrecord.official.archives import Fetcher, NotDownloaded
from voc_seg_tfrecord.trees.layout import find_release
from voc_seg_tfrecord.trees.tree import VocTree


def open_trees(
    release: Release, config: VocSegConfig, fetcher: Fetcher
) -> dict[str, tuple[VocTree, str]]:
    """Returns the tree and the list of each split; see `open.release_trees`."""
    wanted = config.split_lists
    if not config.strict and fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None:
            return _part(VocTree(root), release, config)
    trees: dict[str, VocTree] = {}
    for archive in release.archives:
        splits = [s for s in wanted if s in archive.splits or s not in VOC_SPLITS]
        if splits:
            tree = open_archive(release, archive, fetcher)
            trees = dict.fromkeys(splits, tree) | trees
    return {split: (trees[split], name) for split, name in wanted.items()}


def open_archive(release: Release, archive: Archive, fetcher: Fetcher) -> VocTree:
    """Returns the tree that holds an archive's splits; the first place that has it wins.

    Raises:
      SourceError: if there is neither a tree nor an archive, or it holds something else.
    """
    if fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None and _holds(VocTree(root), release, archive):
            return VocTree(root)
    try:
        path = archives.find(archive, fetcher)
    except NotDownloaded as error:
        place = archives.place_of(fetcher)
        raise SourceError(
            f"VOC{release.year}, splits {' and '.join(archive.splits)}",
            found="; ".join([f"no tree and no {archive.filename} in {place}", *error.tried]),
            expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}) or its tree",
            remedy=f"get {archive.filename} from {release.page} by other means "
            f"and put it into {place}, or unpack it there",
        ) from None
    return VocTree(_root_in(path, release, fetcher))


def _root_in(path: epath.Path, release: Release, fetcher: Fetcher) -> epath.Path:
    """Returns the root of a release in its archive."""
    root = find_release(fetcher.extract(path), release.year)
    if root is None:
        raise SourceError(
            path,
            found=f"an archive without VOC{release.year}",
            expected=f"an archive that holds VOCdevkit/VOC{release.year}",
            remedy="get the release's own archive",
        )
    return root


def _part(tree: VocTree, release: Release, config: VocSegConfig) -> dict[str, tuple[VocTree, str]]:
    """Returns what a tree has of a release, where not all of it is needed."""
    wanted = config.split_lists
    if config.splits is None:
        there = set(tree.list_names())
        known = VOC_SPLITS if release.masks else release.splits
        wanted = {split: name for split, name in known.items() if name in there}
    if not wanted:
        tree.read_ids("train")  # raises, naming the lists that are there
    return {split: (tree, name) for split, name in wanted.items()}


def _holds(tree: VocTree, release: Release, archive: Archive) -> bool:
    """Says whether a tree is where an archive's splits have to be read from.

    It is if it has one of their lists. It also is if it has no list of another archive of
    the release either: then the tree is broken, and reading it says so.
    """

    def has(splits: tuple[str, ...]) -> bool:
        return any(tree.list_path(VOC_SPLITS[split]).exists() for split in splits)

    others = [other for other in release.archives if other is not archive]
    return has(archive.splits) or not any(has(other.splits) for other in others)
