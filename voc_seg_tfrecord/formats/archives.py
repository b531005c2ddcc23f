"""An export as a tool hands it over: a `.zip` or `.tar`, unpacked into a temporary folder.

An archive may come from anybody, so nothing in it is believed. Names that leave the folder, links,
devices and two files of one name are refused. `zipfile` and `tarfile`'s data filter would change
such names, follow links inside the folder, and let the last file of a name win.
"""

from collections.abc import Callable, Iterator
import contextlib
import dataclasses
import functools
import pathlib
import re
import shutil
import stat
import struct
import tarfile
from typing import Any, BinaryIO
import zipfile
import zlib

from etils import epath

from voc_seg_tfrecord.core import staging, storage
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, raise_if_out_of_memory

SUFFIXES = (".zip", ".tar", ".tar.gz", ".tgz", ".tar.bz2", ".tar.xz")
"""How names of archives end."""

_MACOS = "__MACOSX"  # macOS puts a second tree of attributes beside the first


@contextlib.contextmanager
def unpacked(root: epath.PathLike) -> Iterator[epath.Path]:
    """Yields the folder of an export.

    Args:
      root: a folder, or an archive whose name ends with one of `SUFFIXES`.

    Yields:
      The folder itself, or a temporary one of the archive's name with what the archive holds. It
      is removed at the end of the block, also after an error or SIGTERM. Errors of the block name
      the archive in place of the temporary folder.

    Raises:
      LayoutError: if the archive is damaged, or holds what no export does.
    """
    path = epath.Path(root).expanduser()
    if path.is_dir() or not is_archive(path) or not path.exists():
        yield path
        return
    with staging.temporary_folder() as temporary:
        folder = pathlib.Path(temporary) / path.name
        folder.mkdir()
        try:
            with storage.open_file(path) as file:
                _unpack(file, path, folder)
        except VocSegError:
            raise
        except Exception as error:  # the libraries let out whatever their parsers raise
            raise_if_out_of_memory(error, path)
            found = str(error) or type(error).__name__
            raise _refused(path, f"an archive that cannot be unpacked: {found[:200]}") from None
        try:
            yield epath.Path(folder)
        except VocSegError as error:
            error.rename_folder(str(folder), str(root))
            raise


def is_archive(root: epath.PathLike) -> bool:
    """Says whether a path has the name of an archive."""
    return str(root).lower().endswith(SUFFIXES)


@dataclasses.dataclass(frozen=True)
class FolderNaming:
    """Names a folder in texts as the user did, even if it was unpacked elsewhere.

    Attributes:
      path: where the folder lies; empty if texts stay as they are.
      given: what the user called it.
    """

    path: str
    given: str

    def rename(self, text: str) -> str:
        """Returns a text with the user's name of the folder.

        The text stays as it is if both names differ in spelling alone, as `./c` and `c` do: `c` may
        stand in any other word, too.
        """
        if not self.path or epath.Path(self.given) == epath.Path(self.path):
            return text
        return text.replace(self.path, self.given)

    def shorten(self, text: str) -> str:
        """Returns a text with the paths of files as seen from the folder."""
        if not self.path:
            return text
        # The folder `c` is not the end of the folder `abc` in `c/abc/1.png`.
        return re.sub(rf"(?<![\w.\-/\\]){re.escape(self.path)}/", "", text)


@dataclasses.dataclass(frozen=True)
class _Member:
    """A member of an archive.

    Attributes:
      name: its path in the archive.
      size: its bytes, unpacked.
      is_folder: whether it is a folder.
      is_file: whether it is a regular file; a link or a device is neither.
      open: opens a file to read its bytes.
    """

    name: str
    size: int
    is_folder: bool
    is_file: bool
    open: Callable[[], Any]


def _unpack(file: BinaryIO, where: epath.Path, folder: pathlib.Path) -> None:
    """Unpacks an open archive into a folder, and checks each member before it is written."""
    max_bytes = storage.max_unpacked_bytes(storage.size(where))
    free_bytes = shutil.disk_usage(folder).free
    unpacked_bytes = 0
    names: set[str] = set()
    list_members = _list_zip if where.name.lower().endswith(".zip") else _list_tar
    for count, member in enumerate(list_members(file, where), start=1):
        if count > storage.MAX_ARCHIVE_MEMBERS:
            raise _refused(where, f"more than {storage.MAX_ARCHIVE_MEMBERS} files and folders")
        unpacked_bytes += member.size
        if unpacked_bytes > max_bytes:
            raise _refused(where, f"{unpacked_bytes} bytes, which is more than 100 times its size")
        if unpacked_bytes > free_bytes:
            found = f"{unpacked_bytes} bytes, and {free_bytes} bytes are free in {folder.parent}"
            raise _refused(where, found)
        name = _check_name(member, where)
        if not name or member.is_folder:
            continue
        if name in names:
            raise _refused(where, f"two files of the name {name!r}")
        names.add(name)
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        with member.open() as source, path.open("xb") as target:
            shutil.copyfileobj(source, target)


def _list_zip(file: BinaryIO, where: epath.Path) -> Iterator[_Member]:
    with zipfile.ZipFile(file) as archive:
        for info in archive.infolist():
            is_file = stat.S_IFMT(info.external_attr >> 16) in (0, stat.S_IFREG)
            open_member = functools.partial(archive.open, info)
            name = _name_in_zip(info, where)
            yield _Member(name, info.file_size, info.is_dir(), is_file, open_member)


_UTF_8_FLAG = 0x800  # of a member of a zip, whose name is UTF-8 then
_UNICODE_PATH_FIELD = 0x7075  # an extra field of a member with its name in UTF-8


def _name_in_zip(info: zipfile.ZipInfo, where: epath.Path) -> str:
    """Returns the name of a member: UTF-8 by its flag, in a field of its own, or without either.

    Raises:
      LayoutError: if its bytes are no UTF-8: programs on Windows write them in the encoding of
        their language, and nothing in the archive says which.
    """
    if "\0" in info.orig_filename:
        return info.orig_filename  # `zipfile` cuts it there; `_check_name` refuses it
    if info.flag_bits & _UTF_8_FLAG:
        return info.filename
    name = info.orig_filename.encode("cp437")  # by which `zipfile` has decoded it
    unicode_name = _read_unicode_path(info.extra, name)
    if unicode_name:
        return unicode_name
    try:
        return name.decode("utf-8")
    except UnicodeDecodeError:
        raise LayoutError(
            where,
            found=f"the name {name!r} in an unknown encoding",
            expected="names in UTF-8",
            remedy="unpack it on the system that it was made on, or with the encoding of its "
            "language (unzip -O GBK), and give the folder",
        ) from None


def _read_unicode_path(extra: bytes, name: bytes) -> str:
    """Returns the name in the Unicode path field of a member; empty if it has none for this name.

    The field holds a version, 1; the CRC-32 of the name that it belongs to; and the name in UTF-8.
    `zipfile` reads it from Python 3.12 on.

    References:
      APPNOTE.TXT, .ZIP File Format Specification, section 4.6.9.
    """
    field_start = 0
    while field_start + 4 <= len(extra):
        field, length = struct.unpack_from("<HH", extra, field_start)
        start = field_start + 4
        field_start = start + length
        content = extra[start:field_start]
        if field != _UNICODE_PATH_FIELD or len(content) < 5:
            continue
        version, crc = struct.unpack_from("<BI", content)
        if version == 1 and crc == zlib.crc32(name):
            return content[5:].decode("utf-8")
    return ""


_LONG_HEADERS = {
    tarfile.GNUTYPE_LONGLINK,
    tarfile.GNUTYPE_LONGNAME,
    tarfile.SOLARIS_XHDTYPE,
    tarfile.XGLTYPE,
    tarfile.XHDTYPE,
}
"""The types of headers that `tarfile` reads whole: long names, and facts about members."""


class _BoundedTarInfo(tarfile.TarInfo):
    """A header of a tar that is refused before more of it is read than a header has."""

    @classmethod
    def frombuf(cls, *args: Any, **kwargs: Any) -> "_BoundedTarInfo":
        """Reads the first block of a header; see `tarfile.TarInfo.frombuf`."""
        info = super().frombuf(*args, **kwargs)
        if info.type in _LONG_HEADERS and info.size > storage.MAX_ARCHIVE_HEADER_BYTES:
            raise ValueError(f"a header of more than {storage.MAX_ARCHIVE_HEADER_BYTES} bytes")
        return info


def _list_tar(file: BinaryIO, _: epath.Path) -> Iterator[_Member]:
    with tarfile.open(fileobj=file, mode="r:*", tarinfo=_BoundedTarInfo) as archive:
        for info in archive:
            open_member = functools.partial(archive.extractfile, info)
            yield _Member(info.name, info.size, info.isdir(), info.isreg(), open_member)
        _check_end_of_tar(archive)


def _check_end_of_tar(archive: tarfile.TarFile) -> None:
    """Checks that a tar of which all members were listed is complete.

    `tarfile` takes a tar that is cut for complete, and a damaged header for the end. At the end
    there are two blocks of zeros, or one, as some programs write it.

    Raises:
      tarfile.ReadError: if something else stands there.
    """
    stream: Any = archive.fileobj
    stream.seek(archive.offset)
    end = stream.read(2 * tarfile.BLOCKSIZE)
    if len(end) < tarfile.BLOCKSIZE or any(end):
        raise tarfile.ReadError(f"truncated or damaged at byte {archive.offset}")


def _check_name(member: _Member, where: epath.Path) -> str:
    """Returns the path of a member, with / between folders; empty if it is to be left out.

    Raises:
      LayoutError: for a name or a member that no export has.
    """
    name = member.name.replace("\\", "/")  # written on Windows
    parts = [part for part in name.split("/") if part not in ("", ".")]
    if not parts:
        if member.is_folder:
            return ""
        raise _refused(where, "a file without a name")
    top = parts[0]
    if top == _MACOS:
        return ""
    is_absolute = name.startswith("/") or ":" in top
    if is_absolute or ".." in parts or "\0" in name:
        raise _refused(where, f"the name {member.name!r}, which leaves the folder")
    if not member.is_folder and not member.is_file:
        raise _refused(where, f"{member.name!r}, which is no file but a link or device")
    return "/".join(parts)


def _refused(where: epath.Path, found: str) -> LayoutError:
    return LayoutError(
        where,
        found=found,
        expected="a complete archive of files and folders, each name once",
        remedy="export again; or, if you trust it, unpack it yourself and give the folder",
    )
