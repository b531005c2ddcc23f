"""Finds the archives of releases: in the manual folder, or downloaded; each is verified.

Files are downloaded here, as TFDS's own downloader waits forever for a server that stalls, and
accepts a file of any size.
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

from voc_seg_tfrecord.core.errors import SourceError
from voc_seg_tfrecord.core.releases import Archive, Release

STALL_SECONDS = 30.0
"""Seconds in which a server has to send `MIN_BYTES_PER_STALL`, headers included."""

MIN_BYTES_PER_STALL = 10_000
"""Bytes that a slow line brings in that time, too, and far more than a server sends that drips."""

_MAX_RETRIES = 2
"""Times that a server is asked again if it is busy or refuses the connection."""

_STATUSES_OF_BUSY_SERVERS = (502, 503, 504)

_PAUSE_SECONDS = 1.0
"""Seconds before a server is asked the third time; there is no pause before the second."""

_CHUNK_BYTES = 1 << 16
_MAX_CAUSE_CHARACTERS = 100


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
        failures = []
        for url in archive.urls:
            try:
                self._transfer(url)
                return epath.Path(self._manager.download(url))
            except (
                TransferError,
                tfds.download.DownloadError,
                download_manager.NonMatchingChecksumError,
            ) as error:
                failures.append(f"{url}: {' '.join(str(error).split())}")
        raise NotDownloaded(*failures)

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
    release: Release, archive: Archive, fetcher: Fetcher, *, what: str, tree: str
) -> epath.Path:
    """Returns the path of an archive: the one in the manual folder, else a download.

    Its sha256 is verified in both cases, because a download may be from an earlier build.

    Args:
      release: the release that the archive belongs to.
      archive: the archive.
      fetcher: finds it.
      what: what is opened, for errors.
      tree: which tree may be in the manual folder in place of the archive, for errors.

    Raises:
      SourceError: if it is not in the manual folder and no address gives it, or if it is not the
        release's own.
    """
    path = _find_or_download(release, archive, fetcher, what=what, tree=tree)
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


def _find_or_download(
    release: Release, archive: Archive, fetcher: Fetcher, *, what: str, tree: str
) -> epath.Path:
    """Returns the path of an archive that is not verified; see `find_archive`."""
    if fetcher.manual_dir is not None:
        path = fetcher.manual_dir / archive.filename
        if path.exists():
            return path
    try:
        return fetcher.download(archive)
    except NotDownloaded as error:
        folder = describe_manual_dir(fetcher)
        missing = f"neither {tree} nor {archive.filename} in {folder}"
        raise SourceError(
            what,
            found="\n    ".join([missing, *error.args]),
            expected=f"{archive.filename} (sha256 {' or '.join(archive.sha256s)}), or {tree}",
            remedy=f"get {archive.filename} from {release.page} by other means and put it into "
            f"{folder}, or unpack it there",
        ) from None


def describe_manual_dir(fetcher: Fetcher) -> str:
    """Returns the manual folder in words, for errors."""
    return str(fetcher.manual_dir or "a folder given with --manual_dir")


class TransferError(Exception):
    """A file did not come as expected; the text says in what way."""


class Transfer:
    """Downloads one file in a thread, which is given up if the server is too slow.

    Redirects to other schemes than http and https are refused.

    Args:
      url: the address.
      path: the file to write.
      size: its size in bytes.
      verify: whether the server's certificate is verified.
    """

    def __init__(self, url: str, path: pathlib.Path, size: int, *, verify: bool = True):
        self._url = url
        self._path = path
        self._size = size
        self._verify = verify
        self._received = 0
        self._is_given_up = False
        self._digest = hashlib.sha256()
        self._error: Exception | None = None

    def run(self) -> str:
        """Downloads the file, and returns its sha256.

        Raises:
          TransferError: if the server does not answer, stalls, or sends another file.
          OSError: if the file cannot be written.
        """
        # A daemon, because a thread that waits for a server must not keep the process.
        thread = threading.Thread(target=self._download, daemon=True)
        thread.start()
        received_before = 0
        while thread.is_alive():
            thread.join(STALL_SECONDS)
            new_bytes = self._received - received_before
            if thread.is_alive() and new_bytes < MIN_BYTES_PER_STALL:
                self._is_given_up = True
                raise TransferError(f"given up: {new_bytes} bytes in {STALL_SECONDS:g} seconds")
            received_before += new_bytes
        if self._error is not None:
            raise self._error
        if self._received != self._size:
            raise TransferError(f"{self._received} bytes instead of the archive's {self._size}")
        return self._digest.hexdigest()

    def _download(self) -> None:
        """Downloads the file in the thread; `_error` has what went wrong."""
        import requests  # here, to keep both out of `import voc_seg_tfrecord`
        import urllib3

        retry = urllib3.Retry(
            connect=_MAX_RETRIES,
            read=0,
            status=_MAX_RETRIES,
            status_forcelist=_STATUSES_OF_BUSY_SERVERS,
            backoff_factor=_PAUSE_SECONDS,
            raise_on_status=False,
            respect_retry_after_header=False,
        )
        try:
            with requests.Session() as session:
                for scheme in ("http://", "https://"):
                    session.mount(scheme, requests.adapters.HTTPAdapter(max_retries=retry))
                with session.get(
                    self._url,
                    stream=True,
                    timeout=STALL_SECONDS,
                    verify=self._verify,
                    headers={"Accept-Encoding": "identity"},
                ) as response:
                    self._check_head(response)
                    self._write_body(response)
        except requests.RequestException as error:
            cause = _describe_cause(error)
            self._error = TransferError(f"no answer: {type(error).__name__}: {cause}")
        except Exception as error:  # it goes to the caller's thread
            self._error = error

    def _check_head(self, response: Any) -> None:
        """Checks the status of an answer, and the size that it announces, if it does."""
        if response.status_code != 200:
            raise TransferError(f"HTTP {response.status_code}")
        length = response.headers.get("Content-Length", "")
        is_number = length.isascii() and length.isdigit()
        if is_number and int(length) != self._size:
            kind = response.headers.get("Content-Type", "unknown type")
            raise TransferError(f"{length} bytes ({kind}) instead of the archive's {self._size}")

    def _write_body(self, response: Any) -> None:
        """Writes the file, until all of it is there or the transfer is given up."""
        name = self._url.rpartition("/")[2]
        with (
            self._path.open("wb") as file,
            tqdm(total=self._size, desc=name, unit="B", unit_scale=True, leave=False) as bar,
        ):
            for chunk in response.iter_content(_CHUNK_BYTES):
                self._received += len(chunk)
                if self._is_given_up:
                    return
                if self._received > self._size:
                    raise TransferError(f"more than the archive's {self._size} bytes")
                self._digest.update(chunk)
                file.write(chunk)
                bar.update(len(chunk))


def _describe_cause(error: Exception) -> str:
    """Returns the cause of an error of requests, in few words.

    Its text names objects in memory. The cause stands behind them, in urllib3's own error if there
    is one. Example: `<urllib3.connection.HTTPConnection object at 0x7f>: Failed to establish a new
    connection: [Errno 111] Connection refused` gives `[Errno 111] Connection refused`.
    """
    cause: object = error
    if error.args:
        cause = getattr(error.args[0], "reason", error)
    text = " ".join(str(cause).split())
    return text.rpartition(": ")[2][:_MAX_CAUSE_CHARACTERS]
