"""Downloads of archives into TFDS's own folder of downloads, from servers that are not trusted."""

import pathlib
import uuid

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import download_manager, resource

from voc_seg_tfrecord.facts.releases import Archive
from voc_seg_tfrecord.official.archives import NotDownloaded, Verified
from voc_seg_tfrecord.official.transfer import Transfer, TransferError


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
        kept = resource.Resource(url=url)
        registered = manager._url_infos.get(url)
        if registered is None or manager._get_checksum_dl_result(kept):
            return
        path = manager._get_dl_path(kept, registered.checksum)
        path.parent.mkdir(parents=True, exist_ok=True)
        part = pathlib.Path(path.with_name(f"{path.name}.tmp.{uuid.uuid4().hex}"))
        try:
            size = int(registered.size)
            found = Transfer(url, part, size, verify=manager._verify_ssl).run()
            if found != registered.checksum:
                raise TransferError(f"has wrong checksum: sha256 {found}")
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
