"""Finds the archives of releases: in the manual folder, or downloaded; each is verified."""

import pathlib
import uuid

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import checksums, download_manager, resource

from voc_seg_tfrecord.core.errors import SourceError
from voc_seg_tfrecord.core.releases import Archive, Release
from voc_seg_tfrecord.sources.transfer import Transfer, TransferError


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
