"""Downloads of archives from servers that are not trusted: no more bytes than expected, no waiting.

TFDS's own downloader waits forever for a server that stalls, and accepts a file of any size.
"""

import hashlib
import pathlib
import threading
from typing import Any
import uuid

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import download_manager, resource
from tqdm import tqdm

from voc_seg_tfrecord.facts.releases import Archive
from voc_seg_tfrecord.sources.devkit import NotDownloaded, Verified


class TfdsFetcher:
    """TFDS's download manager as a `Fetcher`.

    Attributes:
      verified: the archives that were used and whose sha256 was verified.
    """

    def __init__(self, dl_manager: tfds.download.DownloadManager):
        self._manager = dl_manager
        self.verified: list[Verified] = []

    @property
    def manual_dir(self) -> epath.Path | None:
        """The manual folder, None if there is none or it is empty."""
        try:
            return epath.Path(self._manager.manual_dir)
        except AssertionError:  # what TFDS raises for both
            return None

    def extract(self, path: epath.Path) -> epath.Path:
        """Returns the folder that an archive is unpacked into, now or before."""
        return epath.Path(self._manager.extract(path))

    def download(self, archive: Archive) -> epath.Path:
        """Returns an archive from the first address that gives it; see `Fetcher`."""
        if not archive.urls:
            raise NotDownloaded(["its size is not known, so it cannot be registered for download"])
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
        raise NotDownloaded(tried)

    def _transfer(self, url: str) -> None:
        """Puts a registered archive where TFDS keeps downloads, if it is not there.

        Raises:
          TransferError: if the server does not give it.
        """
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
    """Downloads one file in a thread, which is given up if the server is too slow.

    Args:
      url: the address, http or https; redirects to other schemes are refused.
      path: where to write.
      size: how many bytes the file has.
      verify: whether to verify the server's certificate.
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
