"""The reader of VOC's own releases: an unpacked devkit, the release's archives, or downloads.

Archives are found in the manual folder or downloaded, then checked and unpacked. Servers are not
trusted: TFDS's own downloader waits forever for one that stalls, and accepts a file of any size.
"""

import hashlib
import pathlib
import threading
from typing import Any
import uuid

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import checksums, download_manager, resource
from tqdm import tqdm

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import SourceError
from voc_seg_tfrecord.core.layout import find_release
from voc_seg_tfrecord.core.releases import VOC_SPLITS, Archive, Release
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


class NotDownloaded(Exception):  # noqa: N818 - `find_archive` turns it into an error with advice
    """No address gave an archive; the arguments say what went wrong at each."""


class Fetcher:
    """What readers of releases ask for folders and archives: TFDS's download manager.

    Attributes:
      verified: `filename` and `sha256` of each archive that was used and whose sha256 was verified;
        `find_archive` adds them.
    """

    def __init__(self, dl_manager: tfds.download.DownloadManager):
        self._manager = dl_manager
        self.verified: list[dict[str, str]] = []

    @property
    def manual_dir(self) -> epath.Path | None:
        """The folder that the user gave, None if there is none or it is empty."""
        try:
            return epath.Path(self._manager.manual_dir)
        except AssertionError:  # what TFDS raises for both
            return None

    def extract(self, path: epath.Path) -> epath.Path:
        """Returns the folder that an archive is unpacked into, now or before."""
        return epath.Path(self._manager.extract(path))

    def download(self, archive: Archive) -> epath.Path:
        """Returns the path of an archive, downloaded now or before, from the first address.

        Raises:
          NotDownloaded: if no address gives it.
        """
        if not archive.urls:
            raise NotDownloaded("its size is not known, so it cannot be registered for download")
        tried = []
        for url in archive.urls:
            try:
                self._transfer(url)
                return epath.Path(self._manager.download(url))
            except (
                TransferError,
                tfds.download.DownloadError,
                download_manager.NonMatchingChecksumError,
            ) as error:
                tried.append(f"{url}: {' '.join(str(error).split())}")
        raise NotDownloaded(*tried)

    def _transfer(self, url: str) -> None:
        """Puts a registered archive where TFDS keeps downloads, if it is not there."""
        # TFDS has no public question for what it keeps, nor for registered sizes and its flag.
        # pylint: disable=protected-access
        manager = self._manager
        target = resource.Resource(url=url)
        registered = manager._url_infos.get(url)
        if registered is None or manager._get_checksum_dl_result(target):
            return
        path = manager._get_dl_path(target, registered.checksum)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = pathlib.Path(path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex}"))
        try:
            size = int(registered.size)
            checksum = Transfer(url, part, size, verify=manager._verify_ssl).run()
            if checksum != registered.checksum:
                raise TransferError(f"has wrong checksum: sha256 {checksum}")
            resource.write_info_file(
                url=url,
                path=path,
                dataset_name=manager._dataset_name,
                original_fname=registered.filename or path.name,
                url_info=registered,
            )
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def find_archive(
    release: Release, archive: Archive, fetcher: Fetcher, what: str, tree: str
) -> epath.Path:
    """Returns the path of an archive: the one in the manual folder, else a download.

    Its sha256 is verified in both cases, because a download may be from an earlier build. Errors
    say what is opened, and which tree may be in the manual folder in place of the archive.

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
                found="\n    ".join([missing, *error.args]),
                expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}), or {tree}",
                remedy=f"get {archive.filename} from {release.page} by other means and put it into "
                f"{place}, or unpack it there",
            ) from None
    digest = checksums.compute_url_info(path)
    if digest.checksum not in archive.sha256s:
        raise SourceError(
            path,
            found=f"{int(digest.size)} bytes, sha256 {digest.checksum}",
            expected=f"sha256 {' or '.join(archive.sha256s)}",
            remedy="copy or download the archive again",
        )
    fetcher.verified.append({"filename": archive.filename, "sha256": str(digest.checksum)})
    return path


def manual_place(fetcher: Fetcher) -> str:
    """Returns the manual folder in words, for errors."""
    return str(fetcher.manual_dir or "a folder given with --manual_dir")


def open_trees(
    release: Release, config: VocSegConfig, fetcher: Fetcher
) -> dict[str, tuple[VocTree, str]]:
    """Returns the tree and the list of each split."""
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
    root = find_release(fetcher.extract(path), release.year)
    if root is None:
        raise SourceError(
            path,
            found=f"an archive without VOC{release.year}",
            expected=f"an archive that holds VOCdevkit/VOC{release.year}",
            remedy="get the release's own archive",
        )
    return VocTree(root)


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


PATIENCE = 30.0
"""Seconds in which a server has to send `LEAST` bytes, headers included."""

LEAST = 10_000
"""Bytes; also what a slow line brings in that time, and far more than a drip."""

_AGAIN = 2  # times that a server is asked again if it is busy or refuses the connection
_BUSY = (502, 503, 504)
_PAUSE = 1.0  # seconds before it is asked the third time; none before the second

_CHUNK = 1 << 16


class TransferError(Exception):
    """A file did not come as expected; the text says in what way."""


class Transfer:
    """Downloads one file of a known size in a thread, which is given up if the server is too slow.

    Redirects to other schemes than http and https are refused.
    """

    def __init__(self, url: str, path: pathlib.Path, size: int, *, verify: bool = True):
        self._url, self._path, self._size, self._verify = url, path, size, verify
        self._received = 0
        self._given_up = False
        self._digest = hashlib.sha256()
        self._error: Exception | None = None

    def run(self) -> str:
        """Downloads the file.

        Raises:
          TransferError: if the server does not answer, stalls, or sends another file.
          OSError: if the file cannot be written.
        """
        # A daemon, because a thread that waits for a server must not keep the process.
        thread = threading.Thread(target=self._work, daemon=True)
        thread.start()
        before = 0
        while thread.is_alive():
            thread.join(PATIENCE)
            if thread.is_alive() and self._received - before < LEAST:
                self._given_up = True
                got = self._received
                raise TransferError(f"given up: {got - before} bytes in {PATIENCE:g} seconds")
            before = self._received
        if self._error is not None:
            raise self._error
        if self._received != self._size:
            raise TransferError(f"{self._received} bytes instead of the archive's {self._size}")
        return self._digest.hexdigest()

    def _work(self) -> None:
        import requests  # here, to keep both out of `import voc_seg_tfrecord`
        import urllib3

        again = urllib3.Retry(
            connect=_AGAIN,
            read=0,
            status=_AGAIN,
            status_forcelist=_BUSY,
            backoff_factor=_PAUSE,
            raise_on_status=False,
            respect_retry_after_header=False,
        )
        headers = {"Accept-Encoding": "identity"}
        try:
            with requests.Session() as session:
                for scheme in ("http://", "https://"):
                    session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=again))
                with session.get(
                    self._url, stream=True, timeout=PATIENCE, verify=self._verify, headers=headers
                ) as response:
                    self._check(response)
                    with self._path.open("wb") as file:
                        self._copy(response, file)
        except requests.RequestException as error:
            # The cause of it, behind the addresses of objects in memory that urllib3 names.
            cause = getattr(error.args[0] if error.args else None, "reason", error)
            text = " ".join(str(cause).split()).rpartition(": ")[2]
            self._error = TransferError(f"no answer: {type(error).__name__}: {text[:100]}")
        except Exception as error:  # it goes to the caller's thread
            self._error = error

    def _check(self, response: Any) -> None:
        if response.status_code != 200:
            raise TransferError(f"HTTP {response.status_code}")
        length = response.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length) != self._size:
            kind = response.headers.get("Content-Type", "unknown type")
            raise TransferError(f"{length} bytes ({kind}) instead of the archive's {self._size}")

    def _copy(self, response: Any, file: Any) -> None:
        name = self._url.rpartition("/")[2]
        with tqdm(total=self._size, desc=name, unit="B", unit_scale=True, leave=False) as bar:
            for chunk in response.iter_content(_CHUNK):
                self._received += len(chunk)
                if self._given_up:
                    return
                if self._received > self._size:
                    raise TransferError(f"more than the archive's {self._size} bytes")
                self._digest.update(chunk)
                file.write(chunk)
                bar.update(len(chunk))
