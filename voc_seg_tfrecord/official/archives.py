"""Archives of releases: found in the manual folder or downloaded, then checked and unpacked."""

from collections.abc import Sequence
import dataclasses
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


@dataclasses.dataclass(frozen=True)
class Verified:
    """An archive whose sha256 is one of those that its release was published with."""

    filename: str
    sha256: str


class Fetcher(Protocol):
    """What readers of releases ask for folders and archives.

    Attributes:
      verified: the archives that were used and whose sha256 was verified; `find` adds them.
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


def find(archive: Archive, fetcher: Fetcher) -> epath.Path:
    """Returns the path of an archive: the one in the manual folder, else a download.

    Its sha256 is verified in both cases, because a download may lie on this disk since long.

    Raises:
      NotDownloaded: if it is not in the manual folder and no address gives it.
      SourceError: if it is not the release's own.
    """
    path = fetcher.manual_dir / archive.filename if fetcher.manual_dir is not None else None
    if path is None or not path.exists():
        path = fetcher.download(archive)
    fetcher.verified.append(Verified(archive.filename, check_sha256(path, archive)))
    return path


def check_sha256(path: epath.Path, archive: Archive) -> str:
    """Returns the sha256 of an archive, which is one of those it was published with.

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
    return found.checksum


def place_of(fetcher: Fetcher) -> str:
    """Returns the manual folder in words, for errors."""
    return str(fetcher.manual_dir or "a folder given with --manual_dir")
