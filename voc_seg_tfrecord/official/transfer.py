"""One file over HTTP from a server that is not trusted: no more bytes than expected, no waiting.

TFDS's own downloader waits for ever for a server that stalls, and takes whatever size comes.
"""

import hashlib
import pathlib
import threading

from tqdm import tqdm

PATIENCE = 30.0
"""Seconds in which a server has to send `LEAST` bytes, headers included."""

LEAST = 10_000
"""Bytes; also what a slow line brings in that time, and far more than a drip."""

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

        Returns:
          Its sha256.

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
        import requests  # here, to keep it out of `import voc_seg_tfrecord`

        try:
            with requests.get(
                self._url,
                stream=True,
                timeout=PATIENCE,
                verify=self._verify,
                headers={"Accept-Encoding": "identity"},
            ) as response:
                self._check(response)
                with self._path.open("wb") as file:
                    self._copy(response, file)
        except requests.RequestException as error:
            text = " ".join(str(error).split())
            self._error = TransferError(f"no answer: {type(error).__name__}: {text[:200]}")
        except Exception as error:  # it goes to the caller's thread
            self._error = error

    def _check(self, response) -> None:
        if response.status_code != 200:
            raise TransferError(f"HTTP {response.status_code}")
        length = response.headers.get("Content-Length", "")
        if length.isascii() and length.isdigit() and int(length) != self._size:
            kind = response.headers.get("Content-Type", "unknown type")
            raise TransferError(f"{length} bytes ({kind}) instead of the archive's {self._size}")

    def _copy(self, response, file) -> None:
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
