"""The files of an export or of a built dataset: sizes, digests, and what kind of file each is."""

from collections.abc import Iterator, Sequence
import dataclasses
import os

from etils import epath

from voc_seg_tfrecord import sums

TREES = ("voc", "coco-panoptic")
"""Layouts of many files."""

SUMS = "SHA256SUMS"
"""The file of digests in a tree of many files, as `sha256sum -c` reads it."""

_KINDS = {
    ".parquet": "application/x-parquet",
    ".txt": "text/plain",
    ".json": "application/json",
    ".jpg": "image/jpeg",
    ".jpeg": "image/jpeg",
    ".png": "image/png",
    ".bmp": "image/bmp",
}
_OTHER = "application/octet-stream"


@dataclasses.dataclass(frozen=True)
class DataFile:
    """A file.

    Attributes:
      path: below the folder, with `/`.
      size: in bytes.
      sha256: of its bytes.
    """

    path: str
    size: int
    sha256: str

    @property
    def kind(self) -> str:
        """The media type, by the ending of the name."""
        return _KINDS.get(os.path.splitext(self.path)[1].lower(), _OTHER)  # noqa: PTH122 - no path


def find(folder: epath.Path) -> list[DataFile]:
    """Returns all files below a folder, sorted by path."""
    return [read(path, folder) for path in sorted(_walk(folder))]


def read(path: epath.Path, folder: epath.Path) -> DataFile:
    """Returns a file below a folder."""
    digest, size = sums.digest_of(path)
    return DataFile(path.relative_to(folder).as_posix(), size, digest)


def write_sums(folder: epath.Path, found: Sequence[DataFile]) -> DataFile:
    """Writes the digests of files beside them; returns the file that holds them."""
    path = folder / SUMS
    path.write_text("".join(f"{file.sha256}  {file.path}\n" for file in found))
    return read(path, folder)


def _walk(folder: epath.Path) -> Iterator[epath.Path]:
    for path in folder.iterdir():
        if path.is_dir():
            yield from _walk(path)
        else:
            yield path
