"""The file SHA256SUMS of a dataset: the digests of its small files, which carry no checksums.

Each record of a shard has a checksum of its own. What says which records there are, and what they
mean, has none: one wrong bit in `features.json` may change a class name. `sha256sum -c SHA256SUMS`
in the dataset's folder checks the same.
"""

import hashlib
import re

from etils import epath

from voc_seg_tfrecord.errors import RecordError

NAME = "SHA256SUMS"
"""The name of the file."""

_PIECE = 1 << 20  # bytes of a large file that are read at once
_ENDINGS = (".json", ".txt")  # info, features, metadata and class names
_INFO = "dataset_info.json"
# `tfds convert_format` adds files in another format, and says so here.
_OTHER_FORMATS = re.compile(rb'  "alternativeFileFormats": \[[^\]]*\],\n')
_WRITTEN_LATER = ("croissant.json",)  # by `report --card`, again and again


def write(folder: epath.Path) -> None:
    """Writes the digests of a dataset's small files."""
    paths = (
        path
        for path in folder.iterdir()
        if path.name.endswith(_ENDINGS) and path.name not in _WRITTEN_LATER
    )
    lines = [f"{digest_of(path)[0]}  {path.name}\n" for path in sorted(paths)]
    (folder / NAME).write_text("".join(lines))


def check(folder: epath.Path) -> None:
    """Compares a dataset's small files with their digests, if it has any.

    Raises:
      RecordError: naming the first file that is missing or was changed.
    """
    sums = folder / NAME
    if not sums.exists():
        return
    for line in sums.read_bytes().splitlines():
        digest, _, name = line.decode("utf-8", "replace").partition("  ")
        path = folder / name
        found = digest_of(path)[0] if name and "/" not in name and path.exists() else ""
        if found != digest and not (name == _INFO and _without_formats(path) == digest):
            raise RecordError(
                path,
                found=f"a file with the sha256 {found}" if found else "no such file",
                expected=f"the sha256 {digest}, as {NAME} says",
                remedy="copy the dataset again, or build it again; if you changed the file "
                f"yourself, remove {sums}",
                kind="damaged dataset",
            )


def _without_formats(path: epath.Path) -> str:
    """Returns the digest that the dataset's info had before other formats were added."""
    data = path.read_bytes() if path.exists() else b""
    return hashlib.sha256(_OTHER_FORMATS.sub(b"", data, count=1)).hexdigest()


def digest_of(path: epath.Path) -> tuple[str, int]:
    """Returns the sha256 of a file and its size in bytes, read in pieces."""
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while piece := file.read(_PIECE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size
