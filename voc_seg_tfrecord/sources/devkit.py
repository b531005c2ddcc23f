"""The reader of VOC's own releases: an unpacked devkit, the release's archives, or downloads.

Archives are found in the manual folder or downloaded, then checked and unpacked.
"""

from collections.abc import Sequence
import dataclasses
from typing import Protocol

from etils import epath
from tensorflow_datasets.core.download import checksums

from voc_seg_tfrecord.base.errors import SourceError
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.facts.releases import VOC_SPLITS, Archive, Release
from voc_seg_tfrecord.trees.layout import find_release
from voc_seg_tfrecord.trees.tree import VocTree


class NotDownloaded(Exception):  # noqa: N818 - `find_archive` turns it into an error with advice
    """No address gave an archive.

    Attributes:
      tried: what went wrong at each address.
    """

    def __init__(self, tried: Sequence[str]):
        super().__init__("; ".join(tried))
        self.tried = tuple(tried)


@dataclasses.dataclass(frozen=True)
class Verified:
    """An archive whose sha256 is one of those that its release was published with."""

    filename: str
    sha256: str


class Fetcher(Protocol):
    """What readers of releases ask for folders and archives.

    Attributes:
      verified: the archives that were used and whose sha256 was verified; `find_archive` adds them.
    """

    verified: list[Verified]

    @property
    def manual_dir(self) -> epath.Path | None:
        """The folder that the user gave, None if there is none or it is empty."""
        ...

    def download(self, archive: Archive) -> epath.Path:
        """Returns the path of an archive, downloaded now or before.

        Raises:
          NotDownloaded: if no address gives it.
        """
        ...

    def extract(self, path: epath.Path) -> epath.Path:
        """Returns the folder that an archive is unpacked into, now or before."""
        ...


def find_archive(
    release: Release, archive: Archive, fetcher: Fetcher, what: str, tree: str
) -> epath.Path:
    """Returns the path of an archive: the one in the manual folder, else a download.

    Its sha256 is verified in both cases, because a download may be from an earlier build.

    Args:
      release: the release, whose page the error names.
      archive: the archive.
      fetcher: knows the manual folder, and downloads.
      what: what is opened, for the error.
      tree: what may be in the manual folder in place of the archive, for the error.

    Raises:
      SourceError: if it is not in the manual folder and no address gives it, or if it is not the
        release's own.
    """
    path = fetcher.manual_dir / archive.filename if fetcher.manual_dir is not None else None
    if path is None or not path.exists():
        try:
            path = fetcher.download(archive)
        except NotDownloaded as error:
            place = manual_place(fetcher)
            missing = f"neither {tree} nor {archive.filename} in {place}"
            raise SourceError(
                what,
                found="\n    ".join([missing, *error.tried]),
                expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}), or {tree}",
                remedy=f"get {archive.filename} from {release.page} by other means and put it into "
                f"{place}, or unpack it there",
            ) from None
    fetcher.verified.append(Verified(archive.filename, check_sha256(path, archive)))
    return path


def check_sha256(path: epath.Path, archive: Archive) -> str:
    """Returns the sha256 of an archive, which is one of those it was published with.

    Raises:
      SourceError: if it is not the release's own.
    """
    digest = checksums.compute_url_info(path)
    if digest.checksum not in archive.sha256s:
        raise SourceError(
            path,
            found=f"{int(digest.size)} bytes, sha256 {digest.checksum}",
            expected=f"sha256 {' or '.join(archive.sha256s)}",
            remedy="copy or download the archive again",
        )
    return str(digest.checksum)


def manual_place(fetcher: Fetcher) -> str:
    """Returns the manual folder in words, for errors."""
    return str(fetcher.manual_dir or "a folder given with --manual_dir")


def open_trees(
    release: Release, config: VocSegConfig, fetcher: Fetcher
) -> dict[str, tuple[VocTree, str]]:
    """Returns the tree and the list of each split; see `open.release_trees`."""
    list_of = config.split_lists
    if not config.strict and fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None:
            return _part(VocTree(root), release, config)
    trees: dict[str, VocTree] = {}
    for archive in release.archives:
        splits = [s for s in list_of if s in archive.splits or s not in VOC_SPLITS]
        if splits:
            tree = open_archive(release, archive, fetcher)
            trees = dict.fromkeys(splits, tree) | trees
    return {split: (trees[split], name) for split, name in list_of.items()}


def open_archive(release: Release, archive: Archive, fetcher: Fetcher) -> VocTree:
    """Returns the tree that holds an archive's splits; the first place that has it wins.

    Raises:
      SourceError: if there is neither a tree nor an archive, or it holds something else.
    """
    if fetcher.manual_dir is not None:
        root = find_release(fetcher.manual_dir, release.year)
        if root is not None and _holds(VocTree(root), release, archive):
            return VocTree(root)
    what = f"VOC{release.year}, splits {' and '.join(archive.splits)}"
    path = find_archive(release, archive, fetcher, what, "its tree")
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
    list_of = config.split_lists
    if config.splits is None:
        there = set(tree.list_names())
        lists = VOC_SPLITS if release.masks else release.splits
        list_of = {split: name for split, name in lists.items() if name in there}
    if not list_of:
        tree.read_ids("train")  # raises, naming the lists that are there
    return {split: (tree, name) for split, name in list_of.items()}


def _holds(tree: VocTree, release: Release, archive: Archive) -> bool:
    """Says whether a tree is where an archive's splits have to be read from.

    It is if it has one of their lists. It also is if it has no list of another archive of
    the release either: then the tree is broken, and reading it says so.
    """

    def has(splits: tuple[str, ...]) -> bool:
        return any(tree.list_path(VOC_SPLITS[split]).exists() for split in splits)

    others = [other for other in release.archives if other is not archive]
    return has(archive.splits) or not any(has(other.splits) for other in others)
