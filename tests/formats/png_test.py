import struct
import zlib

import numpy as np
import pytest
from support.png_writer import chunk, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import png, png_chunks, png_index
from voc_seg_tfrecord.formats.file import File

VALUES = np.arange(12).reshape(3, 4)
PNG = write_png(VALUES, palette=voc_palette())


def grey(data):
    file = File(data, "m.png")
    header = png.read_header(file)
    return png_index.grey_index_png(file, header, png_chunks.read(file, header))


def test_the_header_says_size_depth_and_kind():
    data = write_png(VALUES, depth=4, color=0, interlaced=True)
    header = png.read_header(File(data, "m.png"))
    assert header == png.Header(4, 3, 4, png.ColorType.GREY, True)
    assert header.describe() == "4-bit grey PNG"


def test_a_palette_png_becomes_grey_with_its_pixel_stream_untouched():
    extra = chunk(b"tRNS", b"\0") + chunk(b"tEXt", b"Comment\0hello")
    expected = write_png(VALUES, color=0)
    assert grey(write_png(VALUES, palette=voc_palette(), extra=extra)) == expected


def test_a_grey_png_comes_back_as_it_is():
    data = write_png(VALUES, color=0, extra=chunk(b"tEXt", b"Comment\0hello"))
    assert grey(data) is data


@pytest.mark.parametrize(("kind", "content"), [(b"tRNS", b"\0\1"), (b"gAMA", b"\0\0\xb1\x8f")])
def test_chunks_that_change_grey_values_are_dropped(kind, content):
    assert grey(write_png(VALUES, color=0, extra=chunk(kind, content))) == write_png(
        VALUES, color=0
    )


@pytest.mark.parametrize("length", [9, 20, 33, len(PNG) - 13, len(PNG) - 1])
def test_a_png_that_is_truncated_is_refused(length):
    with pytest.raises(MaskError, match="truncated"):
        grey(PNG[:length])


def test_a_flipped_bit_is_found_by_its_chunks_checksum():
    data = bytearray(PNG)
    data[-20] ^= 1
    with pytest.raises(MaskError, match=r"IDAT chunk at byte .* does not match"):
        grey(bytes(data))


def test_a_flipped_bit_in_the_header_is_found():
    data = bytearray(PNG)
    data[19] ^= 1
    with pytest.raises(MaskError, match="checksum"):
        png.read_header(File(bytes(data), "m.png"))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "0 bytes"),
        (b"\xff\xd8\xff\xe0", "a JPEG"),
        (b"version https://git-lfs.github.com/spec/v1", "git-lfs pointer"),
        (b"<!DOCTYPE html>", "HTML"),
        (b"something", "starts with b'somethin'"),
    ],
)
def test_a_file_that_is_not_a_png_is_named(data, words):
    with pytest.raises(MaskError, match=words):
        png.read_header(File(data, "m.png"))


@pytest.mark.parametrize(
    ("offset", "value"),
    [(16 + 8, 3), (16 + 9, 5), (16 + 10, 1), (16 + 11, 64), (16 + 12, 2), (16, 255), (16 + 3, 0)],
    ids=["depth", "colour", "compression", "filter", "interlace", "2 GB", "no width"],
)
def test_a_header_that_the_format_does_not_allow_is_refused(offset, value):
    data = bytearray(PNG)
    data[offset] = value
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    with pytest.raises(MaskError, match="impossible PNG header"):
        png.read_header(File(bytes(data), "m.png"))
