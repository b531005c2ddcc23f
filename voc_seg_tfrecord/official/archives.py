"""Archives of releases: found in the manual folder or downloaded, then checked and unpacked."""

from collections.abc import Sequence
from typing import Protocol

from etils import epath
from tensorflow_datasets.core.download import checksums

from voc_seg_tfrecord.errors import SourceError
from voc_seg_tfrecord.facts.releases import Archive


class NotDownloaded(Exception):  # noqa: N818 - a reader turns it into an error with advice
    """No address gave an archive.

    Attributes:
      tried: what went wrong at each address.
    """

    def __init__(self, tried: Sequence[str]):
        super().__init__("; ".join(tried))
        self.tried = tuple(tried)


class Fetcher(Protocol):
    """What readers of releases ask for folders and archives."""

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


def find(archive: Archive, fetcher: Fetcher) -> epath.Path:
    """Returns the path of an archive: the one in the manual folder, else a download.

    Raises:
      NotDownloaded: if it is not in the manual folder and no address gives it.
      SourceError: if the one in the manual folder is not the release's own.
    """
    if fetcher.manual_dir is not None:
        path = fetcher.manual_dir / archive.filename
        if path.exists():
            check_sha256(path, archive)
            return path
    return fetcher.download(archive)


def check_sha256(path: epath.Path, archive: Archive) -> None:
    """Checks an archive that the user put there.

    Raises:
      SourceError: if it is not the release's own.
    """
    found = checksums.compute_url_info(path)
    if found.checksum not in archive.sha256s:
        raise SourceError(
            path,
            found=f"{int(found.size)} bytes, sha256 {found.checksum}",
            expected=f"sha256 {' or '.join(archive.sha256s)}",
            remedy="copy or download the archive again",
        )


def place_of(fetcher: Fetcher) -> str:
    """Returns the manual folder in words, for errors."""
    return str(fetcher.manual_dir or "a folder given with --manual_dir")
