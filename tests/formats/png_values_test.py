import struct
import zlib

import numpy as np
import pytest
from support.encoding import decoded
from support.png_writer import chunk, png_around, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow, png, png_stream, png_values

VALUES = np.random.default_rng(3).integers(0, 256, (9, 14)).astype(np.uint8)


def decode(data):
    return png_values.decode_values(File(data, "m.png"))


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("palette", [None, voc_palette()])
def test_values_are_those_that_pillow_decodes(palette, interlaced):
    color = 0 if palette is None else 3
    data = write_png(VALUES, color=color, palette=palette, interlaced=interlaced)
    found = decode(data)
    assert (found.dtype, found.flags.c_contiguous) == (np.uint8, True)
    assert (found == VALUES).all()
    assert (decoded(data) == VALUES).all()


@pytest.mark.parametrize("kind", range(5))
def test_rows_of_every_filter_are_decoded(kind):
    rows = b"".join(bytes([kind]) + row.tobytes() for row in VALUES)
    data = png_around(zlib.compress(rows), *VALUES.shape[::-1])
    assert (decode(data) == decoded(data)).all()


@pytest.mark.parametrize(("height", "row_bytes"), [(1, 2), (255, 257), (256, 256), (510, 257)])
@pytest.mark.parametrize("color", [0, 3])
def test_rows_of_mixed_filters_of_any_number_of_bytes_are_decoded(height, row_bytes, color):
    """65,535 bytes are the largest block of a stream that is not compressed."""
    rng = np.random.default_rng(height)
    rows = rng.integers(0, 256, (height, row_bytes)).astype(np.uint8)
    rows[:, 0] = rng.integers(1, 5, height)
    palette = chunk(b"PLTE", voc_palette().tobytes()) if color == 3 else b""
    packed = zlib.compress(rows.tobytes())
    data = png_around(packed, row_bytes - 1, height, color=color, extra=palette)
    assert (decode(data) == decoded(data)).all()


def test_rows_without_filters_are_inflated_once(monkeypatch):
    monkeypatch.setattr(pillow, "decode", None)
    assert (decode(write_png(VALUES, color=0)) == VALUES).all()


@pytest.mark.parametrize("depth", [1, 2, 4, 16])
def test_other_depths_are_refused(depth):
    with pytest.raises(MaskError, match=f"{depth}-bit gray PNG"):
        decode(write_png(VALUES % 2, depth=depth, color=0))


@pytest.mark.parametrize("bytes_at_once", [1, 40, 100, 1000])
@pytest.mark.parametrize("color", [0, 2, 3])
def test_a_large_png_is_decoded_some_rows_at_a_time(color, bytes_at_once, monkeypatch):
    monkeypatch.setattr(png_stream, "_INFLATED_BYTES_AT_ONCE", bytes_at_once)
    rng = np.random.default_rng(bytes_at_once)
    channels = 3 if color == 2 else 1
    rows = rng.integers(0, 256, (40, 1 + 13 * channels)).astype(np.uint8)
    rows[:, 0] = rng.integers(0, 5, 40)
    rows[10:20, 0] = 0
    palette = chunk(b"PLTE", voc_palette().tobytes()) if color == 3 else b""
    data = png_around(zlib.compress(rows.tobytes()), 13, 40, color=color, extra=palette)
    file = File(data, "m.png")
    header = png.read_header(file)
    found = png_values.read_pixels(file, header, png.read_chunks(file, header))
    assert (found.array() == decoded(data)).all()
    if channels == 1:
        assert found.counts().sum() == found.array().size


@pytest.mark.parametrize("part_width", [3, 99])
def test_chunks_are_judged_by_pillow_as_those_of_the_whole_image(part_width):
    """Pillow refuses a frame (fcTL) that leaves the image, but not one that leaves one pixel."""
    frame = struct.pack(">IIIIIHHBB", 0, part_width, 2, 0, 0, 1, 10, 0, 0)
    data = png_around(zlib.compress(bytes(9 * 15)), 14, 9, extra=chunk(b"fcTL", frame))
    if part_width < 14:
        assert not decode(data).any()
        return
    with pytest.raises(MaskError, match="cannot be decoded"):
        decode(data)
