"""The files of hand-written records: found, unpacked, read, and the splits that their names say."""

from collections.abc import Iterator, Sequence
import gzip
import os
import posixpath
from typing import IO, BinaryIO
import zlib

from etils import epath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ConfigError, RecordError, SourceError, several
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import list_splits_in
from voc_seg_tfrecord.formats import frames

_GZIP_SIGNATURE = b"\x1f\x8b"
_PIECE_BYTES = 1 << 20
_WILDCARDS = frozenset("*?[")


def find_files(names: Sequence[epath.PathLike]) -> list[epath.Path]:
    """Returns the files that names, folders and patterns match, each once.

    The files of one name are sorted.

    Args:
      names: files, folders of files named `*tfrecord*`, and patterns such as `*/train-?.tfrecord`.

    Raises:
      SourceError: if a name matches no file.
    """
    file_by_resolved_path: dict[epath.Path, epath.Path] = {}
    for name in names:
        path = epath.Path(name).expanduser()
        paths = _list_matches(path)
        if not paths:
            raise _no_files_error(path)
        for file in sorted(paths):
            file_by_resolved_path.setdefault(file.resolve(), file)
    return list(file_by_resolved_path.values())


def _no_files_error(path: epath.Path) -> SourceError:
    """Returns the error about a name that matches no file."""
    expected = "a TFRecord file, or a folder of files named *tfrecord*"
    if not path.is_dir():
        return SourceError(path, found="no such file", expected=expected, remedy="check the path")
    build = command("voc-seg-tfrecord", "build", path, name="NAME")
    return SourceError(
        path,
        found="a folder without a file named *tfrecord*",
        expected=expected,
        remedy=f"check the path; a folder of images and masks is built with {build}",
    )


def _list_matches(path: epath.Path) -> list[epath.Path]:
    """Returns the files that one name, folder or pattern matches."""
    if path.is_file():
        return [path]
    if path.is_dir():
        paths = [file for file in path.iterdir() if "tfrecord" in file.name.lower()]
        return [file for file in paths if file.is_file()]
    has_wildcard = not _WILDCARDS.isdisjoint(os.fspath(path))
    if not has_wildcard:
        return []
    return [file for file in path.parent.glob(path.name) if file.is_file()]


def unpack_gzip(path: epath.Path, folder: epath.Path) -> epath.Path:
    """Returns an uncompressed copy of a gzip file in a folder; the path itself for other files.

    Raises:
      RecordError: if the compressed file is truncated or damaged, or unpacks to far more than its
        size.
      SourceError: if the copy cannot be written.
    """
    with _open_file(path) as file:
        if file.read(len(_GZIP_SIGNATURE)) != _GZIP_SIGNATURE:
            return path
    copy = folder / f"{len(list(folder.iterdir()))}-{path.name}"
    try:
        with _open_file(path) as packed, gzip.open(packed) as file, copy.open("wb") as out:
            _copy_limited(path, file, out)
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise RecordError(
            path,
            found=f"a gzip file that is damaged: {error}",
            expected="a complete gzip file",
            remedy="copy it again",
        ) from None
    except OSError as error:
        raise SourceError(
            path,
            found=f"it cannot be unpacked into {folder}: {error.strerror or error}",
            expected="a folder for temporary files with room for the unpacked file",
            remedy="set TMPDIR to a folder that has more room",
        ) from None
    return copy


def _copy_limited(path: epath.Path, file: gzip.GzipFile, out: IO[bytes]) -> None:
    """Copies the unpacked bytes of a gzip file, unless they are far more than its size.

    Raises:
      RecordError: if they are.
    """
    bytes_left = storage.max_unpacked_bytes(storage.size(path))
    while True:
        piece = file.read(_PIECE_BYTES)
        if not piece:
            return
        bytes_left -= out.write(piece)
        if bytes_left <= 0:
            raise RecordError(
                path,
                found=f"a gzip file that unpacks to more than {out.tell()} bytes, more than "
                "100 times its size",
                expected="compressed TFRecords, which are rarely much smaller than unpacked ones",
                remedy="unpack it yourself with gunzip if you trust it, and name that file",
            )


def _open_file(path: epath.Path) -> BinaryIO:
    try:
        return storage.open_file(path)
    except OSError as error:
        raise SourceError(
            path,
            found=f"it cannot be read: {error.strerror or error}",
            expected="a regular file that can be read",
            remedy="check the path",
        ) from None


def read_records(path: epath.Path, where: object) -> Iterator[tuple[int, bytes]]:
    """Yields the offset of each record's data in an uncompressed file, and the data itself.

    Raises:
      RecordError: naming the file and the number, from 0, of the first damaged record.
    """
    number = 0
    try:
        for record in frames.read(path):
            yield record
            number += 1
    except frames.FrameError as error:
        if number:
            remedy = (
                "copy the file again; the records before this one can be saved with "
                f"tf.data.TFRecordDataset(...).take({number})"
            )
        else:
            remedy = "check that it is a TFRecord file, and copy it again"
        raise RecordError(
            f"{where}, record {number}",
            found=str(error),
            expected="a TFRecord file whose checksums match",
            remedy=remedy,
        ) from None


def splits_of_files(files: Sequence[str]) -> dict[str, str]:
    """Returns the split of each file; `train` if no name of a file or folder says a split.

    The name of a file counts, or else that of its folder if the files lie in several:
    `test-00000.tfrecord` holds the test split, and so does `test/data.tfrecord` beside
    `train/data.tfrecord`.

    Raises:
      ConfigError: if a name says two splits, or one file has a split and another has none.
    """
    are_in_several_folders = len({posixpath.dirname(file) for file in files}) > 1
    splits = {}
    for file in files:
        names = [posixpath.basename(file)]
        if are_in_several_folders:
            names.append(posixpath.basename(posixpath.dirname(file)))
        splits[file] = _split_of(file, names)
    unknown = [file for file, split in splits.items() if not split]
    if len(unknown) == len(files):
        return dict.fromkeys(files, "train")
    if unknown:
        known = sorted({split for split in splits.values() if split})
        raise ConfigError(
            several(unknown),
            found=f"no split in the name, although other files are named after {', '.join(known)}",
            expected="a name with a word such as train, val or test in each file or its folder",
            remedy="rename it, such as train-00000.tfrecord, or import it by itself",
        )
    return splits


def _split_of(file: str, names: Sequence[str]) -> str:
    """Returns the split of a file by the first name that says one; empty if none does.

    Raises:
      ConfigError: if that name says several.
    """
    for name in names:
        found = list_splits_in(name)
        if len(found) > 1:
            raise ConfigError(
                file,
                found=f"a name with several splits in it: {', '.join(sorted(found))}",
                expected="a name with one split in it",
                remedy="rename it, such as train-00000.tfrecord, or divide the records of all "
                "files with --splits train=0.8,validation=0.2",
            )
        if found:
            return found[0]
    return ""
