"""The files of a built dataset: small ones read within limits, and SHA256SUMS.

SHA256SUMS lists every file of a dataset with its sha256, so that a copy can be verified whatever
made it: by `verify`, or by `sha256sum -c SHA256SUMS` in the dataset's folder. The small files are
compared whenever a dataset is opened, because one wrong bit in `features.json` may change a class
name. The shards are compared by `verify` alone; each of their records has a checksum of its own.
"""

from collections.abc import Iterable, Iterator, Mapping
import hashlib
import re

from etils import epath

from voc_seg_tfrecord.core.errors import RecordError, StorageError
from voc_seg_tfrecord.core.storage import MAX_FILE_BYTES, MAX_SUMS_BYTES, open_file, read_bytes

INFO = "dataset_info.json"
"""The file that makes a folder a dataset."""

SUMS = "SHA256SUMS"
"""The file with the sha256 of every file of a dataset, as `sha256sum -c` reads it."""

_LINE = re.compile(r"([0-9a-f]{64}) [ *]([^/\0]+)")
_BYTES_AT_ONCE = 1 << 20
_ENDINGS_OF_SMALL_FILES = (".json", ".txt")
"""Of info, features, metadata and class names, which are read at every opening."""

WRITTEN_LATER = (SUMS, "README.md")
"""Files that SHA256SUMS does not list: itself, and the card."""


def write_sums(folder: epath.Path, *, known: Mapping[str, str] | None = None) -> None:
    """Writes the sha256 of every file below a folder into SHA256SUMS.

    Only `sha256sum -c` reads that of an exported tree, whose files lie in folders; `read_sums`
    reads that of a dataset.

    Args:
      folder: of a dataset's version, or of an exported tree, in which all other files are complete.
      known: sha256 of shards by name, which are not read again.
    """
    digests = {}
    for name, digest in (known or {}).items():
        if not _is_small(name):
            digests[name] = digest
    folders = [folder]
    while folders:
        for path in folders.pop().iterdir():
            name = path.relative_to(folder).as_posix()
            if path.is_dir():
                folders.append(path)
            elif name not in digests and name not in WRITTEN_LATER:
                digests[name], _ = digest_of(path)
    lines = [f"{digest}  {name}\n" for name, digest in sorted(digests.items())]
    (folder / SUMS).write_text("".join(lines))


def read_sums(folder: epath.Path) -> dict[str, str]:
    """Returns the sha256 of each file of a dataset by name; none if SHA256SUMS is missing.

    Raises:
      RecordError: if the file is empty, a line is not a sha256 and a file's name in the folder, or
        two lines have the same name.
    """
    path = folder / SUMS
    if not path.exists():
        return {}
    digests = {}
    text = read_small(path).decode("utf-8", "surrogateescape").removesuffix("\n")
    if not text.strip("\n"):
        raise _damaged_error(path, "an empty file", "the sha256 of every file of the dataset")
    for number, line in enumerate(text.split("\n"), start=1):
        match = _LINE.fullmatch(line)
        if not match or match[2] in (".", "..") or match[2] in digests:
            expected = "a sha256 and the name of a file in this folder, each name once"
            raise _damaged_error(path, f"line {number}: {line[:80]!a}", expected)
        digests[match[2]] = match[1]
    return digests


def check_sums(folder: epath.Path) -> None:
    """Reads a dataset's small files, and compares them with SHA256SUMS, if it is there.

    Raises:
      RecordError: naming the first file that is missing, was changed, or cannot be read.
    """
    digests = {}
    for path in folder.iterdir():
        if _is_small(path.name):
            digests[path.name] = hashlib.sha256(read_small(path)).hexdigest()
    for name, expected in read_sums(folder).items():
        if not _is_small(name) or digests.get(name) == expected:
            continue
        found = f"a file with the sha256 {digests[name]}" if name in digests else "no such file"
        raise _damaged_error(folder / name, found, f"the sha256 {expected}, as {SUMS} says")


def compare_sums(folder: epath.Path, sums: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Yields name and problem of each file that is not the one which SHA256SUMS lists."""
    for name, expected in sums.items():
        path = folder / name
        try:
            actual, _ = digest_of(path)
        except OSError as error:
            yield name, f"{SUMS} lists it, and it cannot be read: {error.strerror or error}"
            continue
        if actual != expected:
            yield name, f"the file's sha256 is {actual}, {SUMS} says {expected}"


def check_listed(folder: epath.Path, names: Iterable[str]) -> None:
    """Checks that SHA256SUMS, if it is there, lists files.

    Raises:
      RecordError: naming the first file that it does not list.
    """
    sums = read_sums(folder)
    if not sums:
        return
    for name in names:
        if name not in sums:
            found = f"{len(sums)} files, and not {name}"
            raise _damaged_error(folder / SUMS, found, "every file of the dataset")


def read_small(path: epath.Path) -> bytes:
    """Returns the bytes of a file that describes a built dataset.

    Raises:
      RecordError: if it cannot be read, or is far larger than any such file.
    """
    max_bytes = MAX_SUMS_BYTES if path.name == SUMS else MAX_FILE_BYTES[StorageError]
    try:
        return read_bytes(path, max_bytes)
    except OSError as error:
        found = error.strerror or str(error)
        raise _damaged_error(
            path, found, f"a regular file of at most {max_bytes >> 20} MiB"
        ) from None


def _damaged_error(path: epath.Path, found: str, expected: str) -> RecordError:
    return RecordError(
        path,
        found=found,
        expected=expected,
        remedy="copy the dataset again, or build it again; if you changed a file yourself, "
        f"remove {path.parent / SUMS}",
        kind="damaged dataset",
    )


def _is_small(name: str) -> bool:
    return name.endswith(_ENDINGS_OF_SMALL_FILES)


def digest_of(path: epath.Path) -> tuple[str, int]:
    """Returns the sha256 of a file and its size in bytes."""
    digest = hashlib.sha256()
    size = 0
    with open_file(path) as file:
        while piece := file.read(_BYTES_AT_ONCE):
            digest.update(piece)
            size += len(piece)
    return digest.hexdigest(), size
