import struct
import zlib

import pytest
from support.png_writer import chunk

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import png, png_chunks
from voc_seg_tfrecord.formats.file import File


def ihdr(depth=8, color=3):
    return chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 1, depth, color, 0, 0, 0))


PLTE = chunk(b"PLTE", bytes(12))
TRNS = chunk(b"tRNS", b"\0")
IDAT = chunk(b"IDAT", zlib.compress(b"\0\1\2"))
IEND = chunk(b"IEND", b"")
TEXT = chunk(b"tEXt", b"Comment\0hello")


def read(*parts):
    file = File(b"\x89PNG\r\n\x1a\n" + b"".join(parts), "m.png")
    return png_chunks.read(file, png.read_header(file))


RULES_KEPT = {
    "palette": (ihdr(), PLTE, IDAT, IEND),
    "palette with transparency": (ihdr(), PLTE, TRNS, IDAT, IEND),
    "grey with a text behind the pixels": (ihdr(color=0), IDAT, TEXT, IEND),
    "pixels in two chunks": (ihdr(), PLTE, IDAT, IDAT, IEND),
    "bytes behind the end": (ihdr(), PLTE, IDAT, IEND, b"more"),
    "colours with a proposed palette": (ihdr(color=2), PLTE, IDAT, IEND),
    "grey with a transparent value": (ihdr(color=0), chunk(b"tRNS", b"\0\1"), IDAT, IEND),
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
    "third of a colour": (ihdr(), chunk(b"PLTE", bytes(13)), IDAT, IEND),
    "more colours than indices": (ihdr(depth=1), PLTE, IDAT, IEND),
    "palette of a grey image": (ihdr(color=0), PLTE, IDAT, IEND),
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
    assert png_chunks.critical(chunks) == b"\x89PNG\r\n\x1a\n" + ihdr() + PLTE + IDAT + IEND
