"""Finds and opens VOC's own releases: an unpacked devkit, or the release's archives."""

from collections.abc import Sequence
import dataclasses

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, SourceError
from voc_seg_tfrecord.core.layout import IMAGES, LISTS, MASKS
from voc_seg_tfrecord.core.releases import VOC_SPLITS, Archive, Release
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.sources.fetcher import Fetcher, find_archive

_DEVKITS = ("", "VOCdevkit", "TrainVal/VOCdevkit")
"""Where releases put VOC<year> below the folder that they are unpacked into; 2011's tar alone has
TrainVal."""


@dataclasses.dataclass(frozen=True)
class ReleaseList:
    """The list of a split of a release.

    Attributes:
      tree: the tree that has the list and its images.
      name: the list, as `VocTree.read_ids` takes it.
    """

    tree: VocTree
    name: str


def lists_in(tree: VocTree, config: VocSegConfig) -> dict[str, ReleaseList]:
    """Returns the list of each split of a config, if one tree has all of them."""
    return {split: ReleaseList(tree, name) for split, name in config.split_lists.items()}


def open_trees(release: Release, config: VocSegConfig, fetcher: Fetcher) -> dict[str, ReleaseList]:
    """Returns the list of each split.

    An unpacked tree is enough if the config is not strict. Otherwise each split is read from its
    own archive.
    """
    if not config.strict and fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None:
            return _lists_of_unpacked_tree(VocTree(root), release, config)
    archive_by_split: dict[str, Archive] = {}
    for split, name in config.split_lists.items():
        archive = _find_archive_with(release, split, name)
        if archive is None:
            raise _absent_split_error(release, config, split)
        archive_by_split[split] = archive
    tree_by_archive: dict[Archive, VocTree] = {}
    for archive in release.archives:
        if archive in archive_by_split.values():
            tree_by_archive[archive] = open_archive(release, archive, fetcher)
    lists: dict[str, ReleaseList] = {}
    for split, name in config.split_lists.items():
        lists[split] = ReleaseList(tree_by_archive[archive_by_split[split]], name)
    return lists


def _find_archive_with(release: Release, split: str, name: str) -> Archive | None:
    """Returns the archive of a release that has a split.

    | the split | the archive |
    | --- | --- |
    | one of VOC's, such as `test` | that with this split; None if there is none |
    | the user's own, of a list of VOC's such as `test` | that with this list |
    | the user's own, of another list | the first one |

    Args:
      release: the release.
      split: the split.
      name: its list.
    """
    for archive in release.archives:
        if split in archive.splits:
            return archive
    if split in VOC_SPLITS:
        return None
    for archive in release.archives:
        if name in [VOC_SPLITS[split_of_archive] for split_of_archive in archive.splits]:
            return archive
    return release.archives[0]


def _absent_split_error(release: Release, config: VocSegConfig, split: str) -> ConfigError:
    return ConfigError(
        f"config {config.name!r}, option splits",
        found=f"the split {split}, which no archive of VOC{release.year} has",
        expected=f"splits of the archives: {', '.join(release.list_by_split)}; or an "
        f"unpacked tree in --manual_dir that has the list {config.split_lists[split]}",
        remedy=f"leave {split} out, or unpack a VOC{release.year} with this list into --manual_dir",
    )


def open_archive(release: Release, archive: Archive, fetcher: Fetcher) -> VocTree:
    """Returns the tree that holds an archive's splits: in the manual folder, or unpacked.

    Raises:
      SourceError: if there is neither a tree nor an archive, or it holds something else.
    """
    if fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None and _holds_splits(VocTree(root), release, archive):
            return VocTree(root)
    what = f"VOC{release.year}, splits {' and '.join(archive.splits)}"
    path = find_archive(release, archive, fetcher, what=what, tree="its tree")
    root = find_release(fetcher.extract(path), release.year)
    if root is None:
        raise SourceError(
            path,
            found=f"an archive without VOC{release.year}",
            expected=f"an archive that holds VOCdevkit/VOC{release.year}",
            remedy="get the release's own archive",
        )
    return VocTree(root)


def find_release(folder: epath.Path, year: str) -> epath.Path | None:
    """Returns the root of VOC<year> at or below a folder; None if there is none.

    Args:
      folder: the devkit's parent, `VOCdevkit`, or `VOC<year>` itself.
      year: the release, such as `2012`.
    """
    candidates = [folder / devkit / f"VOC{year}" for devkit in _DEVKITS]
    candidates.append(folder)
    for candidate in candidates:
        if _is_root(candidate):
            return candidate
    return None


def _is_root(folder: epath.Path) -> bool:
    """Returns whether a folder is a VOC tree, perhaps a broken one."""
    return any((folder / name).is_dir() for name in (IMAGES, LISTS, MASKS))


def _lists_of_unpacked_tree(
    tree: VocTree, release: Release, config: VocSegConfig
) -> dict[str, ReleaseList]:
    """Returns the lists of an unpacked tree for a config that is not strict.

    If the user gave no splits, they are those of the release whose lists are in the tree: people
    keep a part of a release, such as train and val alone.

    Raises:
      LayoutError: if the tree has none of these lists.
    """
    lists = config.split_lists
    if config.splits is None:
        names_in_tree = set(tree.texts.list_names())
        usual_lists = VOC_SPLITS if release.masks else release.list_by_split
        lists = {split: name for split, name in usual_lists.items() if name in names_in_tree}
        if not lists:
            first_name = next(iter(usual_lists.values()))
            tree.read_ids(first_name)  # raises, and names the lists that are in the tree
    return {split: ReleaseList(tree, name) for split, name in lists.items()}


def _holds_splits(tree: VocTree, release: Release, archive: Archive) -> bool:
    """Says whether a tree is where an archive's splits have to be read from.

    It is if it has one of their lists. It also is if it has no list of another archive of
    the release either: then the tree is broken, and reading it says so.
    """
    if _has_list_of(tree, archive.splits):
        return True
    others = [other for other in release.archives if other is not archive]
    return not any(_has_list_of(tree, other.splits) for other in others)


def _has_list_of(tree: VocTree, splits: Sequence[str]) -> bool:
    """Says whether a tree has the list of one of some splits."""
    return any(tree.list_path(VOC_SPLITS[split]).exists() for split in splits)
