import tracemalloc
import zlib

import numpy as np
import pytest
from support.png_writer import png_around, write_png

from voc_seg_tfrecord.core import file
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import png, png_stream

ROWS = b"\0\1\2\0\3\4"  # two rows of two pixels


def inflate(data):
    file = File(data, "m.png")
    header = png.read_header(file)
    return png_stream.inflate(file, header, png.read_chunks(file, header)), header


def around(packed, width=2, height=2):
    return png_around(packed, width, height)


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (9, 2)])
def test_every_depth_and_interlacing_has_the_length_that_its_header_says(depth, shape):
    for interlaced in (False, True):
        values = np.zeros(shape, int)
        inflate(write_png(values, depth=depth, color=0, interlaced=interlaced))


def test_unfiltered_rows_are_the_samples():
    rows, header = inflate(around(zlib.compress(ROWS)))
    assert rows == ROWS
    assert png_stream.rows_are_unfiltered(rows, header)
    assert not png_stream.rows_are_unfiltered(b"\0\1\2\1\3\4", header)


@pytest.mark.parametrize(
    ("packed", "words"),
    [
        (zlib.compress(ROWS[:3]), "3 of 6 bytes"),
        (zlib.compress(ROWS + b"\0"), "more than 6 bytes"),
        (zlib.compress(ROWS)[:-4] + bytes(4), "cannot be inflated"),
        (zlib.compress(ROWS)[:-2], "whose end is missing"),
        (zlib.compress(ROWS) + b"junk", "behind their end"),
        (b"junk", "cannot be inflated"),
        (b"", "0 of 6 bytes"),
        (zlib.compress(b"\5" + ROWS[1:]), "row filter 5"),
    ],
)
def test_pixels_that_are_damaged_are_refused(packed, words):
    with pytest.raises(MaskError, match=words) as caught:
        inflate(around(packed))
    assert caught.value.kind == "damaged file"


def test_a_window_smaller_than_the_stream_needs_is_refused():
    rows = b"".join(b"\0" + row for row in [bytes(range(200)), bytes(200), bytes(range(200))])
    packed = bytearray(zlib.compress(rows, 9))
    assert inflate(around(bytes(packed), 200, 3))[0] == rows
    # The header now promises 256 bytes; the third row refers to the first, 402 bytes back.
    packed[0] = 0x08
    packed[1] = packed[1] & 0xE0
    packed[1] += 31 - (packed[0] * 256 + packed[1]) % 31
    with pytest.raises(MaskError, match="cannot be inflated"):
        inflate(around(bytes(packed), 200, 3))


def test_a_small_window_that_is_large_enough_is_read():
    rows = b"".join(b"\0" + bytes([n]) * 200 for n in range(100))
    packer = zlib.compressobj(wbits=9)
    packed = packer.compress(rows) + packer.flush()
    assert inflate(around(packed, 200, 100))[0] == rows


def test_a_decompression_bomb_is_not_inflated(monkeypatch):
    monkeypatch.setattr(file, "MAX_PIXELS", 3)
    with pytest.raises(MaskError, match="bomb"):
        inflate(around(zlib.compress(ROWS)))


def test_a_large_png_is_checked_piece_by_piece():
    """All rows were in memory, and the bytes of the chunks three times."""
    file = File(around(zlib.compress(bytes(500 * 40_001)), 40_000, 500), "m.png")
    header = png.read_header(file)
    tracemalloc.start()
    png_stream.check(file, header, png.read_chunks(file, header))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 10_000_000  # of 20 million


def test_bytes_behind_the_end_of_a_stream_are_refused_wherever_they_are():
    for behind in (1, 10, 1 << 17, 1 << 20):
        with pytest.raises(MaskError, match="bytes behind their end"):
            inflate(around(zlib.compress(ROWS) + bytes(behind)))
