import io
import struct
import zlib

import numpy as np
from PIL import Image
import pytest
from support.png_writer import chunk, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import png

VALUES = np.arange(12).reshape(3, 4)
PNG = write_png(VALUES, palette=voc_palette())


def gray(data):
    file = File(data, "m.png")
    header = png.read_header(file)
    return png.gray_index_png(file, header, png.read_chunks(file, header))


def test_the_header_says_size_depth_and_kind():
    data = write_png(VALUES, depth=4, color=0, interlaced=True)
    header = png.read_header(File(data, "m.png"))
    assert header == png.PngHeader(4, 3, 4, png.ColorType.GRAY, True)
    assert header.describe() == "4-bit gray PNG"


def test_a_palette_png_becomes_gray_with_its_pixel_stream_untouched():
    extra = chunk(b"tRNS", b"\0") + chunk(b"tEXt", b"Comment\0hello")
    expected = write_png(VALUES, color=0)
    assert gray(write_png(VALUES, palette=voc_palette(), extra=extra)) == expected


def test_entries_of_a_palette_can_be_transparent():
    data = write_png(VALUES, color=0)
    colors = bytes(range(3)) * 16
    shown = png.palette_png(File(data, "m.png"), colors, alpha=b"\0\x80")
    with Image.open(io.BytesIO(shown)) as image:
        alpha = np.asarray(image.convert("RGBA"))[..., 3]
    assert (alpha == np.array([0, 128, *[255] * 254])[VALUES]).all()


def test_a_gray_png_comes_back_as_it_is():
    data = write_png(VALUES, color=0, extra=chunk(b"tEXt", b"Comment\0hello"))
    assert gray(data) is data


@pytest.mark.parametrize(("kind", "content"), [(b"tRNS", b"\0\1"), (b"gAMA", b"\0\0\xb1\x8f")])
def test_chunks_that_change_gray_values_are_dropped(kind, content):
    assert gray(write_png(VALUES, color=0, extra=chunk(kind, content))) == write_png(
        VALUES, color=0
    )


@pytest.mark.parametrize("length", [9, 20, 33, len(PNG) - 13, len(PNG) - 1])
def test_a_png_that_is_truncated_is_refused(length):
    with pytest.raises(MaskError, match="truncated"):
        gray(PNG[:length])


@pytest.mark.parametrize(("place", "words"), [(-20, "IDAT chunk at byte .*"), (19, "checksum")])
def test_a_flipped_bit_is_found_by_its_chunks_checksum(place, words):
    data = bytearray(PNG)
    data[place] ^= 1
    with pytest.raises(MaskError, match=f"{words} does not match"):
        gray(bytes(data))


def test_a_file_that_is_not_a_png_is_named():
    with pytest.raises(MaskError, match="a JPEG"):
        png.read_header(File(b"\xff\xd8\xff\xe0", "m.png"))


@pytest.mark.parametrize(
    ("offset", "value"),
    [(16 + 8, 3), (16 + 9, 5), (16 + 10, 1), (16 + 11, 64), (16 + 12, 2), (16, 255), (16 + 3, 0)],
    ids=["depth", "color", "compression", "filter", "interlace", "2 GB", "no width"],
)
def test_a_header_that_the_format_does_not_allow_is_refused(offset, value):
    data = bytearray(PNG)
    data[offset] = value
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    with pytest.raises(MaskError, match="impossible PNG header"):
        png.read_header(File(bytes(data), "m.png"))


def ihdr(depth=8, color=3):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, depth, color, 0, 0, 0))


PLTE = chunk(b"PLTE", bytes(12))
TRNS = chunk(b"tRNS", b"\0")
IDAT = chunk(b"IDAT", zlib.compress(b"\0\1\2"))
IEND = chunk(b"IEND", b"")
TEXT = chunk(b"tEXt", b"Comment\0hello")


def read(*parts):
    file = File(b"\x89PNG\r\n\x1a\n" + b"".join(parts), "m.png")
    return png.read_chunks(file, png.read_header(file))


RULES_KEPT = {
    "palette": (ihdr(), PLTE, IDAT, IEND),
    "palette with transparency": (ihdr(), PLTE, TRNS, IDAT, IEND),
    "gray with a text behind the pixels": (ihdr(color=0), IDAT, TEXT, IEND),
    "pixels in two chunks": (ihdr(), PLTE, IDAT, IDAT, IEND),
    "bytes behind the end": (ihdr(), PLTE, IDAT, IEND, b"more"),
    "colors with a proposed palette": (ihdr(color=2), PLTE, IDAT, IEND),
    "gray with a transparent value": (ihdr(color=0), chunk(b"tRNS", b"\0\1"), IDAT, IEND),
}

RULES_BROKEN = {
    "second header": (ihdr(), ihdr(), PLTE, IDAT, IEND),
    "unknown critical chunk": (ihdr(color=0), chunk(b"ABCD", b""), IDAT, IEND),
    "chunk type that is no word": (ihdr(color=0), chunk(b"a\0b1", b""), IDAT, IEND),
    "no pixels": (ihdr(), PLTE, IEND),
    "other chunk among the pixels": (ihdr(), PLTE, IDAT, TEXT, IDAT, IEND),
    "end with content": (ihdr(), PLTE, IDAT, chunk(b"IEND", b"x")),
    "palette image without palette": (ihdr(), IDAT, IEND),
    "palette behind the pixels": (ihdr(), IDAT, PLTE, IEND),
    "two palettes": (ihdr(), PLTE, PLTE, IDAT, IEND),
    "empty palette": (ihdr(), chunk(b"PLTE", b""), IDAT, IEND),
    "third of a color": (ihdr(), chunk(b"PLTE", bytes(13)), IDAT, IEND),
    "more colors than indices": (ihdr(depth=1), PLTE, IDAT, IEND),
    "palette of a gray image": (ihdr(color=0), PLTE, IDAT, IEND),
    "transparency in front of the palette": (ihdr(), TRNS, PLTE, IDAT, IEND),
    "transparency behind the pixels": (ihdr(), PLTE, IDAT, TRNS, IEND),
    "transparency for more than the palette": (
        ihdr(),
        PLTE,
        chunk(b"tRNS", bytes(5)),
        IDAT,
        IEND,
    ),
    "transparency beside alpha": (ihdr(color=6), chunk(b"tRNS", bytes(6)), IDAT, IEND),
}


@pytest.mark.parametrize("name", RULES_KEPT)
def test_a_png_that_keeps_the_rules_gives_its_chunks(name):
    parts = [part for part in RULES_KEPT[name] if part != b"more"]
    assert [c.raw for c in read(*RULES_KEPT[name])] == parts


@pytest.mark.parametrize("name", RULES_BROKEN)
def test_a_png_that_breaks_a_rule_is_refused_as_damaged(name):
    with pytest.raises(MaskError) as caught:
        read(*RULES_BROKEN[name])
    assert (caught.value.where, caught.value.kind) == ("m.png", "damaged file")


def test_only_what_decoders_need_is_critical():
    chunks = read(ihdr(), TEXT, PLTE, TRNS, IDAT, TEXT, IEND)
    assert png.critical_chunks(chunks) == b"\x89PNG\r\n\x1a\n" + ihdr() + PLTE + IDAT + IEND
