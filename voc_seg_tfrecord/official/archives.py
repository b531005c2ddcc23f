"""Archives of releases: downloading, checking and unpacking them, by TFDS's own means."""

from collections.abc import Iterator

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.core.download import checksums, download_manager, resource

from voc_seg_tfrecord.errors import SourceError
from voc_seg_tfrecord.facts.releases import Archive
from voc_seg_tfrecord.trees.layout import find_release
from voc_seg_tfrecord.trees.tree import VocTree

_TIMEOUT_SECONDS = 20


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


def unpacked(path: epath.Path, release: str, dl_manager: tfds.download.DownloadManager) -> VocTree:
    """Unpacks an archive, or finds it unpacked already; returns the release's tree in it.

    Raises:
      SourceError: if there is none in it.
    """
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


def downloads(
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
