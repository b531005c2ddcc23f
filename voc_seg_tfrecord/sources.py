"""Where a build's tree comes from: an unpacked one, an archive at hand, or a download."""

from collections.abc import Iterator

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import checksums, download_manager, resource

from voc_seg_tfrecord import resources
from voc_seg_tfrecord.configs import RELEASES, SAMPLE, VOC_SPLITS, Archive, VocSegConfig
from voc_seg_tfrecord.errors import LayoutError, SourceError
from voc_seg_tfrecord.layout import (
    IMAGES,
    LISTS,
    MASKS,
    SplitList,
    VocTree,
    find_release,
    find_roots,
)

_TIMEOUT_SECONDS = 20

MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
With none of them, releases whose archive is registered are downloaded."""


def find_splits(
    config: VocSegConfig, dl_manager: tfds.download.DownloadManager
) -> dict[str, SplitList]:
    """Finds the list that each split of a config is read from, and the tree it is in.

    Args:
      config: the config to build.
      dl_manager: TFDS's, which knows the manual folder and downloads.

    Returns:
      A list a split, by the split's name.

    Raises:
      SourceError: if a release is neither at hand nor can be downloaded.
      LayoutError: if there is no tree, or more than one, for own data.
    """
    if config.name == SAMPLE:
        return _own_splits(config, resources.folder("dummy_data"))
    manual = manual_dir(dl_manager)
    if not config.release:
        if manual is None:
            raise LayoutError(
                f"config {config.name!r}",
                found="no --manual_dir, or an empty one",
                expected=f"a folder with {IMAGES}, {MASKS} and {LISTS}",
                remedy="give the folder with --manual_dir",
            )
        return _own_splits(config, manual)
    if not config.strict and manual is not None:
        root = find_release(manual, config.release)
        if root is not None:
            return _own_splits(config, root)
    trees: dict[str, VocTree] = {}
    wanted = config.split_lists
    for archive in RELEASES[config.release]:
        splits = [s for s in wanted if s in archive.splits or s not in VOC_SPLITS]
        if splits:
            tree = _release_tree(config, archive, manual, dl_manager)
            trees = dict.fromkeys(splits, tree) | trees
    return {split: SplitList(trees[split], name) for split, name in wanted.items()}


def manual_dir(dl_manager: tfds.download.DownloadManager) -> epath.Path | None:
    """Returns the manual folder, None where it is missing or empty."""
    try:
        return epath.Path(dl_manager.manual_dir)
    except AssertionError:  # what TFDS raises for both
        return None


def _own_splits(config: VocSegConfig, folder: epath.Path) -> dict[str, SplitList]:
    roots = find_roots(folder)
    if len(roots) != 1:
        found = f"{len(roots)} trees: {', '.join(map(str, roots))}" if roots else "no VOC tree"
        raise LayoutError(
            folder,
            found=found,
            expected=f"one folder with {IMAGES}, {MASKS} and {LISTS}",
            remedy="give that folder itself with --manual_dir",
        )
    tree = VocTree(roots[0])
    lists = config.splits
    if lists is None:
        lists = {s: name for s, name in VOC_SPLITS.items() if tree.list_path(name).exists()}
    if not lists:
        tree.read_ids("train")  # raises, naming the lists that are there
    return {split: SplitList(tree, name) for split, name in lists.items()}


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
            _check_sha256(path, archive)
            return _unpacked(path, config.release, dl_manager)
    tried: list[str] = []
    for path in _downloads(archive, dl_manager, tried):
        return _unpacked(path, config.release, dl_manager)
    folder = manual or "a folder given with --manual_dir"
    raise SourceError(
        f"VOC{config.release}, splits {' and '.join(archive.splits)}",
        found="; ".join([f"no tree and no {archive.filename} in {folder}", *tried]),
        expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}) or its tree",
        remedy=f"get {archive.filename} from {_official_page(config.release)} by other means "
        f"and put it into {folder}, or unpack it there",
    )


def _official_page(release: str) -> str:
    return f"http://host.robots.ox.ac.uk/pascal/VOC/voc{release}/"


def _holds(tree: VocTree, release: str, archive: Archive) -> bool:
    """Says whether a tree is where an archive's splits have to be read from.

    It is if it has one of their lists. It also is if it has no list of another archive of
    the release either: then the tree is broken, and reading it says so.
    """

    def has(splits: tuple[str, ...]) -> bool:
        return any(tree.list_path(VOC_SPLITS[split]).exists() for split in splits)

    others = [other for other in RELEASES[release] if other is not archive]
    return has(archive.splits) or not any(has(other.splits) for other in others)


def _check_sha256(path: epath.Path, archive: Archive) -> None:
    found = checksums.compute_url_info(path)
    if found.checksum not in archive.sha256s:
        raise SourceError(
            path,
            found=f"{int(found.size)} bytes, sha256 {found.checksum}",
            expected=f"sha256 {' or '.join(archive.sha256s)}",
            remedy="copy or download the archive again",
        )


def _unpacked(path: epath.Path, release: str, dl_manager: tfds.download.DownloadManager) -> VocTree:
    folder = epath.Path(dl_manager.extract(path))
    root = find_release(folder, release)
    if root is None:
        raise SourceError(
            path,
            found=f"an archive without VOC{release}",
            expected=f"VOCdevkit/VOC{release} in it",
            remedy="get the release's own archive",
        )
    return VocTree(root)


def _downloads(
    archive: Archive, dl_manager: tfds.download.DownloadManager, tried: list[str]
) -> Iterator[epath.Path]:
    """Yields the archive from the first address that gives it.

    Args:
      archive: what to download.
      dl_manager: TFDS's.
      tried: is filled with what went wrong at each address before.
    """
    import requests  # here, to keep it out of `import voc_seg_tfrecord`

    if not archive.urls:
        tried.append("its size is not known, so it cannot be registered for download")
    for url in archive.urls:
        # TFDS retries an address that is down for minutes; asking first takes seconds.
        problem = _unreachable(url, dl_manager)
        if not problem:
            try:
                yield epath.Path(dl_manager.download(url))
                return
            except (
                tfds.download.DownloadError,
                download_manager.NonMatchingChecksumError,
                requests.RequestException,
                OSError,
            ) as error:
                problem = " ".join(str(error).split())
        tried.append(f"{url}: {problem}")


def _unreachable(url: str, dl_manager: tfds.download.DownloadManager) -> str:
    """Asks an address for the archive's size; returns what is wrong with it, or nothing."""
    import requests

    # TFDS keeps downloads; with one kept, no address is asked. It has no public question
    # for that, nor for its flag and its registered sizes.
    # pylint: disable=protected-access
    if dl_manager._get_checksum_dl_result(resource.Resource(url=url)):
        return ""
    try:
        response = requests.head(
            url, allow_redirects=True, timeout=_TIMEOUT_SECONDS, verify=dl_manager._verify_ssl
        )
    except requests.RequestException as error:
        return f"no answer: {type(error).__name__}"
    if response.status_code in (403, 405, 501):  # a server that knows no HEAD
        return ""
    if response.status_code != 200:
        return f"HTTP {response.status_code}"
    registered = dl_manager._url_infos.get(url)
    size = response.headers.get("Content-Length")
    if registered and size and int(size) != int(registered.size):
        kind = response.headers.get("Content-Type", "unknown type")
        return f"{size} bytes ({kind}) instead of the archive's {int(registered.size)}"
    return ""
