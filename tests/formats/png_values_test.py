import io
import struct
import zlib

import numpy as np
from PIL import Image
import pytest
from support.png_writer import chunk, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import pillow, png_values
from voc_seg_tfrecord.formats.file import File

VALUES = np.random.default_rng(3).integers(0, 256, (9, 14)).astype(np.uint8)


def decode(data):
    return png_values.decode(File(data, "m.png"))


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("palette", [None, voc_palette()])
def test_values_are_those_that_pillow_decodes(palette, interlaced):
    color = 0 if palette is None else 3
    data = write_png(VALUES, color=color, palette=palette, interlaced=interlaced)
    found = decode(data)
    assert (found.dtype, found.flags.c_contiguous) == (np.uint8, True)
    assert (found == VALUES).all()
    assert (np.asarray(Image.open(io.BytesIO(data))) == VALUES).all()


@pytest.mark.parametrize("kind", range(5))
def test_rows_of_every_filter_are_decoded(kind):
    rows = b"".join(bytes([kind]) + row.tobytes() for row in VALUES)
    header = struct.pack(">IIBBBBB", *VALUES.shape[::-1], 8, 0, 0, 0, 0)
    data = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(rows))
    data += chunk(b"IEND", b"")
    assert (decode(data) == np.asarray(Image.open(io.BytesIO(data)))).all()


def test_rows_without_filters_are_inflated_once(monkeypatch):
    monkeypatch.setattr(pillow, "decode", None)
    assert (decode(write_png(VALUES, color=0)) == VALUES).all()


@pytest.mark.parametrize("depth", [1, 2, 4, 16])
def test_other_depths_are_refused(depth):
    with pytest.raises(MaskError, match=f"{depth}-bit grey PNG"):
        decode(write_png(VALUES % 2, depth=depth, color=0))
