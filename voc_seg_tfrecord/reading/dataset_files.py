"""The files of a built dataset: whether they are complete, and still those that were opened.

SHA256SUMS lists every file of a dataset with its sha256, so that a copy can be verified whatever
made it: by `verify`, or by `sha256sum -c SHA256SUMS` in the dataset's folder. The small files are
compared whenever a dataset is opened, because one wrong bit in `features.json` may change a class
name. The shards are compared by `verify` alone; each of their records has a checksum of its own.

A build may replace a dataset that is open, as in a notebook or a training. Its new records would be
read with the old names of classes. So whoever opens a dataset takes a `Snapshot` of its files, and
compares it after reading, in each process that opens the dataset again, and while `tf.data` reads.
"""

from collections.abc import Iterable, Iterator, Mapping
import dataclasses
import hashlib
import json
import os
import re
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core.errors import RecordError, StorageError
from voc_seg_tfrecord.core.names import LABEL, LABELS, MASK
from voc_seg_tfrecord.core.storage import MAX_FILE_BYTES, MAX_SUMS_BYTES, open_file, read_bytes

INFO = "dataset_info.json"
"""The file that makes a folder a dataset."""

METADATA = "metadata.json"
"""The file with what this package notes about a build."""

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


REPLACED = "another dataset than when it was opened: a build has replaced it"
OPEN_AGAIN = "open it again, in all processes that read it"


@dataclasses.dataclass(frozen=True)
class Snapshot:
    """The files that differ if a build has replaced a dataset, as they were when it was opened.

    Attributes:
      folder: of the dataset.
      paths: SHA256SUMS, which has the sha256 of all others; if it was removed, the files that
        describe the dataset.
      contents: what these files held, one after the other.
    """

    folder: str
    paths: tuple[str, ...]
    contents: bytes

    @classmethod
    def take(cls, builder: tfds.core.DatasetBuilder) -> "Snapshot":
        """Reads the files of a dataset that a builder has opened.

        Raises:
          RecordError: if a build has replaced the dataset since then.
        """
        snapshot = cls._read(builder.data_path)
        # After the files were read: one of the two sees any new dataset.
        if _describe_opened(builder) != _describe_files(builder):
            raise snapshot._replaced_error()
        return snapshot

    def check(self) -> None:
        """Reads the files again.

        Raises:
          RecordError: if a build has replaced the dataset.
        """
        try:
            is_same = self._read(epath.Path(self.folder)) == self
        except OSError:  # a build removes the old files
            is_same = False
        if not is_same:
            raise self._replaced_error()

    @classmethod
    def _read(cls, folder: epath.Path) -> "Snapshot":
        if (folder / SUMS).exists():
            files = [folder / SUMS]
        else:
            names_of_classes = sorted(folder.glob("*.labels.txt"))
            described = [folder / INFO, folder / METADATA, *names_of_classes]
            files = [file for file in described if file.exists()]
        paths = tuple(os.fspath(file) for file in files)
        contents = b"".join(file.read_bytes() for file in files)
        return cls(os.fspath(folder), paths, contents)

    def _replaced_error(self) -> RecordError:
        return RecordError(
            self.folder,
            found=REPLACED,
            expected="the dataset that was opened",
            remedy=OPEN_AGAIN,
        )


def names_of_classes(builder: tfds.core.DatasetBuilder) -> dict[str, list[str]]:
    """Returns the names of classes by feature, as a builder has them."""
    features = builder.info.features
    names = {}
    for name in (LABELS, MASK, LABEL):
        if name in features:
            feature = features[name].feature if name == LABELS else features[name]
            names[name] = list(feature.names)
    return names


def _describe_opened(builder: tfds.core.DatasetBuilder) -> dict[str, Any]:
    """Returns what tells a dataset from another one, as its builder has it in memory."""
    splits = {}
    for name, split in builder.info.splits.items():
        lengths = [int(length) for length in split.shard_lengths]
        splits[name] = {"lengths": lengths, "bytes": int(split.num_bytes)}
    # As in a file, where a tuple is a list: a builder that has built holds what it was given.
    metadata = json.loads(json.dumps(builder.info.metadata or {}))
    return {"splits": splits, "metadata": metadata, "names": names_of_classes(builder)}


def _describe_files(builder: tfds.core.DatasetBuilder) -> dict[str, Any] | None:
    """Returns the same as `_describe_opened` by the files of the folder; None if they are damaged.

    Raises:
      RecordError: if a file cannot be read.
    """
    folder = builder.data_path
    names = {}
    for name in names_of_classes(builder):
        names[name] = _read_names(folder / f"{name}.labels.txt")
    metadata_file = folder / METADATA
    try:
        info = json.loads(read_small(folder / INFO))
        metadata = json.loads(read_small(metadata_file)) if metadata_file.exists() else {}
    except ValueError:
        return None
    splits = {}
    for split in info.get("splits", ()):
        lengths = [int(length) for length in split.get("shardLengths", ())]
        splits[split["name"]] = {"lengths": lengths, "bytes": int(split.get("numBytes", 0))}
    return {"splits": splits, "metadata": metadata, "names": names}


def _read_names(path: epath.Path) -> list[str]:
    """Returns the names of classes in a file as TFDS reads them; none if it is not there."""
    if not path.exists():  # the dataset has other features now
        return []
    lines = read_small(path).decode(errors="replace").split("\n")
    return [line.strip() for line in lines if line.strip()]
