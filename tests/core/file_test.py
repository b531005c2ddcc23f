import io
import os
import pathlib
import socket
import struct
import subprocess
import sys

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded, two_frames
from support.paths import REPOSITORY

from voc_seg_tfrecord.core import file as formats_file
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import (
    AnnotationError,
    ListError,
    MaskError,
    RecordError,
    StorageError,
    VocSegError,
)
from voc_seg_tfrecord.core.file import (
    IMAGE_KINDS,
    MAX_PIXELS,
    File,
    Kind,
    check_pixels,
    check_webp,
    describe_kind,
    kind_of,
    name_fault,
    show_file_name,
)
from voc_seg_tfrecord.formats import archives, frames, images, mask_samples, pillow
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.sources.records.files import unpack_gzip


def read(path):
    return File.read(epath.Path(path), MaskError)


def test_a_file_is_its_bytes_and_its_path(tmp_path):
    (tmp_path / "a.png").write_bytes(b"x")
    assert read(tmp_path / "a.png") == File(b"x", f"{tmp_path}/a.png")


def bind(path):
    with socket.socket(socket.AF_UNIX) as server:
        server.bind(path.name)  # the path of a socket has at most 100 letters


NO_FILES = {
    "nothing": (lambda _: None, "there is no such file"),
    "a link to nowhere": (lambda path: path.symlink_to("../annex/objects/gone"), "it is a link"),
    "a folder": (pathlib.Path.mkdir, "it is a folder"),
    "a socket": (bind, "it is a socket"),
    "a pipe": (os.mkfifo, "it is a named pipe"),
    "a device": (lambda path: path.symlink_to("/dev/zero"), "or a device"),
}


@pytest.mark.parametrize("name", NO_FILES)
def test_what_is_no_regular_file_is_refused_by_name_and_not_waited_for(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    make, words = NO_FILES[name]
    make(tmp_path / "a.png")
    with pytest.raises(MaskError, match=rf"a\.png: this file cannot be read: .*{words}"):
        read(tmp_path / "a.png")


@pytest.mark.parametrize("kind", sorted(IMAGE_KINDS, key=lambda kind: kind.name))
def test_an_image_that_pillow_writes_is_of_its_kind(kind):
    data = encoded(Image.new("RGB", (3, 2)), kind.name)
    assert kind_of(data) is kind_of(data[:24]) is kind


def test_an_array_that_numpy_saves_is_of_its_kind():
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((2, 2)))
    assert kind_of(buffer.getvalue()) is Kind.NUMPY


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file of 0 bytes"),
        (b"<!DOCTYPE html>", "an HTML or XML page"),
        (b"version https://git-lfs.github.com/spec/v1", "a git-lfs pointer"),
        (b"RIFF\0\0\0\0WAVEfmt ", "a file of an unknown kind that starts with b'RIFF"),
    ],
)
def test_what_is_no_image_is_described(data, words):
    assert kind_of(data) not in IMAGE_KINDS
    assert describe_kind(File(data, "a")).startswith(words)


@pytest.mark.parametrize(
    "change", [(b"\r\n", b"\n"), (b"\n", b"\r\n"), (b"\r\n", b"\r"), (b"\n", b"")]
)
def test_a_png_whose_line_ends_were_changed_says_so_and_that_jpegs_are_damaged_too(change):
    damaged = File(encoded(Image.new("L", (3, 2))).replace(*change), "a.png")
    assert kind_of(damaged.data) is Kind.PNG_AS_TEXT
    for read in (images.open_image, mask_samples.read_samples):
        with pytest.raises(VocSegError, match=r"copied as if it were text.*the JPEGs are damaged"):
            read(damaged)
    with pytest.raises(VocSegError, match="put the mask as it was exported in its place") as caught:
        mask_samples.read_samples(damaged)
    assert "compression" not in str(caught.value)


def test_a_small_file_that_claims_more_pixels_than_bytes_can_hold_is_a_bomb():
    small, large = File(b"II*\0" + bytes(100), "m.tif"), File(b"II*\0" + bytes(20_000), "m.tif")
    check_pixels(4000, 4000, small, MaskError)
    check_pixels(13_000, 13_000, large, MaskError)
    with pytest.raises(MaskError, match="bomb"):
        check_pixels(13_000, 13_000, small, MaskError)


def test_a_file_with_longer_rows_or_columns_than_libpng_reads_is_refused():
    file = File(b"II*\0" + bytes(200), "m.tif")
    check_pixels(3, 1_000_000, file, MaskError)
    for size in ((3, 1_000_001), (1_000_001, 3)):
        with pytest.raises(MaskError, match="at most 1000000 pixels in a row or a column"):
            check_pixels(*size, file, MaskError)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("lossless", [False, True])
def test_a_still_webp_of_a_common_size_passes(mode, lossless):
    file = File(encoded(Image.new(mode, (500, 375), (1, 2, 3)), "WEBP", lossless=lossless), "m")
    check_webp(file, MaskError)
    assert pillow.decode(file, MaskError).width == 500


@pytest.mark.parametrize("lossless", [False, True])
def test_a_large_webp_is_refused_before_it_is_decoded(lossless, monkeypatch):
    file = File(encoded(Image.new("RGB", (300, 200)), "WEBP", lossless=lossless), "m")
    monkeypatch.setattr(formats_file, "_MAX_WEBP_PIXELS", 300 * 200 - 1)
    monkeypatch.setattr(Image, "open", None)
    with pytest.raises(MaskError, match="300 x 200"):
        pillow.decode(file, MaskError)


def test_an_animated_webp_is_refused_before_it_is_decoded(monkeypatch):
    data = two_frames("WEBP")
    monkeypatch.setattr(Image, "open", None)
    with pytest.raises(MaskError, match="animated"):
        pillow.decode(File(data, "m"), MaskError)


@pytest.mark.parametrize("length", [12, 16, 20, 25])
def test_a_webp_cut_in_its_header_is_refused(length):
    data = encoded(np.zeros((5, 7, 3), np.uint8), "WEBP")[:length]
    with pytest.raises(MaskError):
        pillow.decode(File(data, "m"), MaskError)


def test_a_webp_canvas_of_2_gb_is_refused_at_its_header():
    canvas = b"VP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff\xff\0" + b"\xff\xff\0"
    file = File(b"RIFF\x16\0\0\0WEBP" + canvas, "m")
    with pytest.raises(MaskError, match="65536 x 65536"):
        check_webp(file, MaskError)


MEMORY_AFTER = """
import concurrent.futures, io, threading
from PIL import Image
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.core.file import File

buffer = io.BytesIO()
Image.new("RGB", (4000, 4100)).save(buffer, "PNG", compress_level=1)
together, alone = threading.Barrier(3), threading.Lock()


def memory():
    return int(open("/proc/self/status").read().partition("VmRSS:")[2].split()[0])


def decode(_):
    together.wait()
    with alone:
        pillow.decode(File(buffer.getvalue(), "m"), MaskError).height
    together.wait()
    return memory()


before = memory()
with concurrent.futures.ThreadPoolExecutor(3) as pool:
    print(max(pool.map(decode, range(3))) - before)
"""


@pytest.mark.slow
@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="it needs Linux")
def test_threads_keep_no_memory_of_the_large_images_that_they_decoded():
    done = subprocess.run([sys.executable, "-c", MEMORY_AFTER], capture_output=True, check=True)
    assert int(done.stdout) < 60_000  # kB; one such image takes 65,000


@pytest.fixture
def sparse(tmp_path):
    """Makes a file of 10 GB that takes no room on the disk."""

    def make(name, start=b""):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(start)
        os.truncate(path, 10 << 30)
        return path

    return make


@pytest.fixture
def bounded():
    """Lets this process have 1 GB more of memory than it has now."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_AS)
    pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
    resource.setrlimit(resource.RLIMIT_AS, (pages * resource.getpagesize() + (1 << 30), before[1]))
    yield
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("error", storage.MAX_FILE_BYTES)
def test_a_huge_file_of_any_kind_is_refused_by_its_size(sparse, error):
    path = sparse("huge", b"\x93NUMPY")
    if error is StorageError:
        with pytest.raises(RecordError, match="huge: it has 10737418240 bytes, more than 4194304"):
            dataset_files.read_small(path)
        return
    with pytest.raises(
        error, match=f"it has 10737418240 bytes, more than {storage.MAX_FILE_BYTES[error]}"
    ):
        File.read(path, error)


@pytest.mark.usefixtures("bounded")
@pytest.mark.parametrize("name", ["SHA256SUMS", "dataset_info.json", "features.json", "x.txt"])
def test_a_dataset_with_a_huge_small_file_is_refused(sparse, name):
    folder = sparse(f"d/{name}", b"{}").parent
    with pytest.raises(RecordError, match=rf"{name}: it has 10737418240 bytes"):
        dataset_files.check_sums(folder)


def test_the_page_on_reliability_shows_the_limits():
    page = (REPOSITORY / "docs" / "background" / "reliability.md").read_text()
    rows = [
        ("image, mask, record", storage.MAX_FILE_BYTES[MaskError]),
        ("id list", storage.MAX_FILE_BYTES[ListError]),
        ("annotation", storage.MAX_FILE_BYTES[AnnotationError]),
    ]
    for what, most in rows:
        assert f"| {what} | {most >> 20} MiB |" in page
    assert f"| files and folders in an archive | {storage.MAX_ARCHIVE_MEMBERS:,} |" in page
    assert f"| pixels of an image | {MAX_PIXELS:,} |" in page


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_and_a_device_are_not_opened(tmp_path, make):
    for name in ("x.zip", "x.tar", "x.tfrecord", "SHA256SUMS"):
        make(tmp_path / name)
    openers = [
        lambda: archives.unpacked(tmp_path / "x.zip").__enter__(),
        lambda: archives.unpacked(tmp_path / "x.tar").__enter__(),
        lambda: unpack_gzip(epath.Path(tmp_path / "x.tfrecord"), epath.Path(tmp_path)),
        lambda: dataset_files.read_sums(epath.Path(tmp_path)),
    ]
    for opener in openers:
        with pytest.raises(VocSegError, match="it is a named pipe or a device"):
            opener()
    with pytest.raises(OSError, match="it is a named pipe or a device"):
        list(frames.read(epath.Path(tmp_path / "x.tfrecord")))
    with pytest.raises(OSError, match="it is a named pipe or a device"):
        dataset_files.digest_of(epath.Path(tmp_path / "x.tfrecord"))


def test_a_files_bytes_do_not_fill_the_screen():
    assert "9999" not in repr(File(b"9" * 4000, "a.jpg"))
    assert "a.jpg" in repr(File(b"9" * 4000, "a.jpg"))


@pytest.mark.parametrize("name", ["a.jpg", "folder/a.jpg", "..a..jpg", "\xe9.png", "a b.png", "a"])
def test_a_name_below_a_folder_is_fine(name):
    assert name_fault(name) == ""


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../x.png", "leaves the folder"),
        ("a/../../x.png", "leaves the folder"),
        ("/etc/passwd", "leaves the folder"),
        ("C:/x.png", "leaves the folder"),
        ("a:b.png", "begins as the letter of a drive does on Windows"),
        ("a\\x.png", "has a backslash"),
        (".", "names no file"),
        ("a//b", "names no file"),
        ("a/", "names no file"),
        ("a\0b", "has a control character"),
        ("a\nb", "has a control character"),
        ("a\u2028b", "has a control character"),
        ("n" * 300, "has 300 bytes"),
        ("\xe9" * 200, "has 400 bytes"),
        ("/".join(["folder"] * 200), "has 1399 bytes"),
    ],
)
def test_a_name_that_can_be_no_file_below_a_folder_is_told_why(name, words):
    assert name_fault(name) == words


def test_a_name_is_shown_with_nothing_hidden_and_not_at_full_length():
    assert show_file_name("a\0b") == r"'a\x00b'"
    assert len(show_file_name("n" * 300)) < 80
