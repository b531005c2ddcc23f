"""Downloads of archives by TFDS's own means, with an answer within seconds if a server is down."""

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import download_manager, resource

from voc_seg_tfrecord.facts.releases import Archive
from voc_seg_tfrecord.official.archives import NotDownloaded, Verified

_TIMEOUT_SECONDS = 20


class TfdsFetcher:
    """TFDS's download manager as a `Fetcher`.

    Args:
      dl_manager: TFDS's download manager.

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
        import requests  # here, to keep it out of `import voc_seg_tfrecord`

        if not archive.urls:
            raise NotDownloaded(["its size is not known, so it cannot be registered for download"])
        tried = []
        for url in archive.urls:
            # TFDS retries an address that is down for minutes; asking first takes seconds.
            problem = self._unreachable(url)
            if not problem:
                try:
                    return epath.Path(self._manager.download(url))
                except (
                    tfds.download.DownloadError,
                    download_manager.NonMatchingChecksumError,
                    requests.RequestException,
                    OSError,
                ) as error:
                    problem = " ".join(str(error).split())
            tried.append(f"{url}: {problem}")
        raise NotDownloaded(tried)

    def _unreachable(self, url: str) -> str:
        """Asks an address for the archive's size; returns what is wrong with it, or nothing."""
        import requests

        # TFDS keeps downloads; with one kept, no address is asked. It has no public question
        # for that, nor for its flag and its registered sizes.
        # pylint: disable=protected-access
        manager = self._manager
        if manager._get_checksum_dl_result(resource.Resource(url=url)):
            return ""
        try:
            response = requests.head(
                url, allow_redirects=True, timeout=_TIMEOUT_SECONDS, verify=manager._verify_ssl
            )
        except requests.RequestException as error:
            return f"no answer: {type(error).__name__}"
        if response.status_code in (403, 405, 501):  # a server that knows no HEAD
            return ""
        if response.status_code != 200:
            return f"HTTP {response.status_code}"
        registered = manager._url_infos.get(url)
        size = response.headers.get("Content-Length")
        if registered and size and int(size) != int(registered.size):
            kind = response.headers.get("Content-Type", "unknown type")
            return f"{size} bytes ({kind}) instead of the archive's {int(registered.size)}"
        return ""
