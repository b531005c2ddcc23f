"""Exports as archives: built as their folders are, and hostile ones refused."""

import bz2
import gzip
import io
import lzma
import pathlib
import stat
import struct
import tarfile
import tempfile
import zipfile
import zlib

import pytest
from support.building import files

from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.formats.archives import FolderNaming, unpacked

ENDINGS = {".zip": "zip", ".tar": "tar", ".tar.gz": "gztar"}


@pytest.fixture(autouse=True)
def temporary(tmp_path, monkeypatch):
    """Where temporary folders are made, of which a test must leave none."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield folder
    assert not [*folder.iterdir()]


def packed(root, ending):
    path = root.with_name(f"export{ending}")
    files = sorted(p for p in root.rglob("*") if p.is_file())
    if ending == ".zip":
        with zipfile.ZipFile(path, "w") as archive:
            for file in files:
                archive.write(file, file.relative_to(root))
    else:
        with tarfile.open(path, "w:gz" if ending.endswith("gz") else "w") as archive:
            archive.add(root, "export")
    return path


def records(builder):
    return {name: digest for name, digest in files(builder).items() if ".tfrecord" in name}


@pytest.mark.parametrize("ending", ENDINGS)
def test_an_archive_builds_the_bytes_of_its_folder_and_leaves_nothing_behind(
    cvat, tmp_path, ending, capsys
):
    plain = builder_from_tree(cvat, name="mine", data_dir=tmp_path / "plain", verbose=False)
    archive = packed(cvat, ending)
    builder = builder_from_tree(archive, name="mine", data_dir=tmp_path / "packed")
    assert records(builder) == records(plain) != {}
    assert f"folder:           {archive}" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["check"], ["build", "--name", "mine", "--dry_run"]])
def test_commands_read_an_archive_and_leave_nothing_behind(cvat, temporary, command, capsys):
    archive = packed(cvat, ".zip")
    assert cli.main([command[0], str(archive), *command[1:]]) == 0
    printed = capsys.readouterr().out
    assert str(archive) in printed
    assert str(temporary) not in printed


def put_tar(path, *members):
    """Writes a tar of members without content; one that is a text is the name of a file."""
    with tarfile.open(path, "w") as archive:
        for member in members:
            info = tarfile.TarInfo(member) if isinstance(member, str) else member
            archive.addfile(info, io.BytesIO())
    return path


def put_zip(path, name, content=b"x", method=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", method) as archive:
        archive.writestr(name, content)
    return path


def tar_header(kind, size):
    info = tarfile.TarInfo("JPEGImages/1.jpg")
    info.type, info.size = kind, size
    return info.tobuf(tarfile.GNU_FORMAT)


def assert_refused(path, words):
    with pytest.raises(LayoutError, match=words), unpacked(path):
        pass


@pytest.mark.parametrize(
    "name", ["../x.png", "/etc/x.png", "a/../../x.png", "..\\x.png", "C:/x.png"]
)
@pytest.mark.parametrize(("ending", "put"), [(".zip", put_zip), (".tar", put_tar)])
def test_names_that_leave_the_folder_are_refused(tmp_path, name, ending, put):
    assert_refused(put(tmp_path / f"hostile{ending}", name), "leaves the folder")


@pytest.mark.parametrize("kind", [tarfile.SYMTYPE, tarfile.LNKTYPE, tarfile.FIFOTYPE])
def test_links_and_devices_are_refused(tmp_path, kind):
    info = tarfile.TarInfo("JPEGImages")
    info.type, info.linkname = kind, "/etc"
    assert_refused(put_tar(tmp_path / "hostile.tar", info), "'JPEGImages', which is no file")


def test_a_link_in_a_zip_is_refused(tmp_path):
    info = zipfile.ZipInfo("JPEGImages")
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    assert_refused(put_zip(tmp_path / "hostile.zip", info, "/etc"), "which is no file")


def test_two_files_of_one_name_are_refused_because_either_may_be_the_mask(tmp_path):
    path = put_tar(tmp_path / "twice.tar", "a/1.png", "./a//1.png")
    assert_refused(path, r"two files of the name 'a/1\.png'")


def test_a_file_that_lost_its_name_is_not_left_out(tmp_path):
    assert_refused(put_tar(tmp_path / "hostile.tar", ""), "a file without a name")


@pytest.mark.parametrize("ending", ENDINGS)
def test_a_damaged_archive_is_one_error_that_names_it(cvat, ending):
    path = packed(cvat, ending)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert_refused(path, f"export{ending}: an archive that cannot be unpacked")


@pytest.mark.parametrize("ending", [".tar", ".tar.gz"])
def test_a_tar_that_is_cut_or_damaged_between_two_files_is_refused(cvat, ending):
    path = packed(cvat, ending)
    opened = gzip.open if ending.endswith("gz") else open
    with opened(path, "rb") as file:
        data = file.read()
    with tarfile.open(path) as archive:
        place = archive.getmembers()[-2].offset
    for part in (data[:place], data[:place] + b"x" + data[place + 1 :]):
        with opened(path, "wb") as file:
            file.write(part)
        assert_refused(path, f"truncated or damaged at byte {place}")


def test_more_bytes_than_the_disk_has_are_refused_before_any_is_written(tmp_path):
    path = tmp_path / "bomb.tar"
    path.write_bytes(tar_header(tarfile.REGTYPE, 1 << 60))
    assert_refused(path, "bytes")


def test_what_macos_adds_is_left_out(cvat):
    path = packed(cvat, ".zip")
    with zipfile.ZipFile(path, "a") as archive:
        archive.writestr("__MACOSX/JPEGImages/._1.jpg", b"x")
    with unpacked(path) as folder:
        assert not (folder / "__MACOSX").exists()
        assert (folder / "JPEGImages").is_dir()


@pytest.mark.parametrize("kind", [tarfile.XHDTYPE, tarfile.GNUTYPE_LONGNAME])
@pytest.mark.parametrize("is_first", [True, False])
def test_a_long_header_in_an_archive_is_not_read(tmp_path, kind, is_first):
    path = tmp_path / "bomb.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        if not is_first:
            file.write(tar_header(tarfile.REGTYPE, 0))
        file.write(tar_header(kind, 1500 << 20))
        file.write(bytes(1 << 20))
    assert_refused(path, "a header of more than 1048576")


def test_a_name_with_a_zero_byte_is_refused(tmp_path):
    path = zip_with_name(tmp_path / "a.zip", "a.png#.txt", "cp437")
    path.write_bytes(path.read_bytes().replace(b"#", b"\0"))
    assert_refused(path, "leaves the folder")


def test_a_packed_tar_is_not_unpacked_for_ever_to_find_its_next_file(tmp_path):
    path = tmp_path / "bomb.tar.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(tar_header(tarfile.REGTYPE, 10 << 30))
    assert_refused(path, "more than 100 times its size")


def test_an_archive_with_a_file_of_more_than_a_hundred_times_its_size_is_refused(tmp_path):
    path = put_zip(tmp_path / "bomb.zip", "a.png")
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\1\2") + 24  # of the size in the index
    data[place : place + 4] = struct.pack("<I", 3 << 30)
    path.write_bytes(data)
    assert_refused(path, "more than 100 times its size")


def test_an_archive_of_too_many_files_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "MAX_ARCHIVE_MEMBERS", 3)
    for ending in ENDINGS:
        root = tmp_path / ending / "export"
        root.mkdir(parents=True)
        for number in range(4):
            (root / f"{number}.png").touch()
        assert_refused(packed(root, ending), "more than 3 files")


def test_a_damaged_member_of_any_compression_is_one_error(tmp_path):
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        path = put_zip(tmp_path / "damaged.zip", "a.png", bytes(range(256)) * 8, method)
        data = bytearray(path.read_bytes())
        data[45:60] = bytes(15)
        path.write_bytes(data)
        assert_refused(path, "cannot be unpacked")


def test_a_name_that_is_not_the_utf_8_that_it_claims_to_be_is_one_error(tmp_path):
    path = put_zip(tmp_path / "damaged.zip", "ä.png")
    path.write_bytes(path.read_bytes().replace("ä".encode(), b"\xff\xfe"))
    assert_refused(path, "cannot be unpacked")


@pytest.mark.parametrize("mode", ["gz", "bz2", "xz"])
def test_a_cut_tar_inside_a_complete_compressed_stream_is_refused(cvat, mode):
    tar = packed(cvat, ".tar")
    opener = {"gz": gzip, "bz2": bz2, "xz": lzma}[mode].open
    for blocks in (3, 4, 7, 9):
        path = cvat.with_name(f"cut.tar.{mode}")
        with opener(path, "wb") as file:
            file.write(tar.read_bytes()[: 512 * blocks])
        assert_refused(path, "cannot be unpacked")


def test_a_tar_that_lost_a_few_bytes_is_refused_and_not_taken_for_one_that_ends_there(cvat):
    path = packed(cvat, ".tar")
    data = path.read_bytes()
    for place in range(0, len(data) - 10_240, 499):
        path.write_bytes(data[:place] + data[place + 9 :])
        assert_refused(path, "cannot be unpacked")


class _OtherEncoding(zipfile.ZipInfo):
    """A member whose name is written in an encoding that the archive does not say."""

    encoding = "utf-8"

    def _encodeFilenameFlags(self):  # noqa: N802 - the name that `zipfile` calls
        return self.filename.encode(self.encoding), self.flag_bits & ~0x800


def zip_with_name(path, name, encoding, extra=b""):
    with zipfile.ZipFile(path, "w") as archive:
        info = _OtherEncoding(name)
        info.encoding = encoding
        info.extra = extra
        archive.writestr(info, b"content")
    return path


def test_names_in_utf_8_are_read_without_the_flag_that_says_so(tmp_path):
    archive = zip_with_name(tmp_path / "a.zip", "JPEGImages/裂缝1.jpg", "utf-8")
    with unpacked(archive) as folder:
        (file,) = (folder / "JPEGImages").iterdir()
        assert file.name == "裂缝1.jpg"
        assert file.read_bytes() == b"content"


@pytest.mark.parametrize(
    ("name", "encoding"), [("裂缝1.jpg", "gbk"), ("é.jpg", "cp437"), ("é.jpg", "latin-1")]
)
def test_names_of_which_nobody_says_the_encoding_are_refused(tmp_path, name, encoding):
    archive = zip_with_name(tmp_path / "a.zip", f"JPEGImages/{name}", encoding)
    with (
        pytest.raises(LayoutError, match="in an unknown encoding"),
        unpacked(archive),
    ):
        pass


def unicode_path(stored_name, name, version=1):
    """Returns the extra field of a zip with a name in UTF-8, as Info-ZIP and 7-Zip write it."""
    content = struct.pack("<BI", version, zlib.crc32(stored_name)) + name.encode()
    return struct.pack("<HH", 0x7075, len(content)) + content


@pytest.mark.parametrize("name", ["café.jpg", "写真.jpg"])
def test_a_name_in_the_field_for_names_in_unicode_is_read(tmp_path, name):
    other_field = struct.pack("<HHI", 0x4242, 4, 0)
    field = unicode_path(b"caf\x82.jpg", name)
    path = zip_with_name(tmp_path / "a.zip", "café.jpg", "cp437", other_field + field)
    with unpacked(path) as folder:
        assert [file.name for file in folder.iterdir()] == [name]


@pytest.mark.parametrize(
    "field",
    [unicode_path(b"another name", "a.jpg"), unicode_path(b"caf\x82.jpg", "a.jpg", version=2)],
)
def test_a_field_of_another_name_or_version_does_not_give_the_name(tmp_path, field):
    path = zip_with_name(tmp_path / "a.zip", "café.jpg", "cp437", field)
    assert_refused(path, "in an unknown encoding")


def test_a_name_in_unicode_that_leaves_the_folder_is_refused(tmp_path):
    field = unicode_path(b"a.jpg", "../a.jpg")
    path = zip_with_name(tmp_path / "a.zip", "a.jpg", "cp437", field)
    assert_refused(path, "which leaves the folder")


def test_a_tar_that_ends_with_one_block_of_zeros_is_complete(cvat):
    path = packed(cvat, ".tar")
    data = path.read_bytes()
    with tarfile.open(path) as archive:
        last = archive.getmembers()[-1]
    end = last.offset_data + 512 * -(-last.size // 512)
    path.write_bytes(data[: end + 512])
    with unpacked(path) as folder:
        found = [*pathlib.Path(folder).rglob("*.png")]
    assert len(found) == len([*cvat.rglob("*.png")]) > 0


def test_an_unpacked_folder_gets_the_name_of_its_archive():
    naming = FolderNaming("/tmp/unpacked/c", "c.zip")
    assert naming.rename("/tmp/unpacked/c/a.png: a crack") == "c.zip/a.png: a crack"


def test_a_short_name_of_a_folder_is_not_replaced_in_other_words():
    naming = FolderNaming("c", "./c")
    assert naming.rename("c/abc/1.png: a crack") == "c/abc/1.png: a crack"
    assert naming.shorten("c/abc/1.png: see c/2.png") == "abc/1.png: see 2.png"
