import io

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.errors import ImageError
from voc_seg_tfrecord.formats import decoders
from voc_seg_tfrecord.formats.file import File

RNG = np.random.default_rng(5)
NOISE = RNG.integers(0, 256, (40, 56, 3), np.uint8)


def jpeg(**kwargs):
    buffer = io.BytesIO()
    Image.fromarray(NOISE).save(buffer, "JPEG", **kwargs)
    return buffer.getvalue()


def check(data):
    decoders.check(File(data, "i.jpg"), 40, 56)


@pytest.mark.parametrize("quality", [1, 30, 95, 100])
@pytest.mark.parametrize("progressive", [False, True])
def test_whole_jpegs_of_any_quality_pass(quality, progressive):
    check(jpeg(quality=quality, progressive=progressive))


def test_a_jpeg_whose_header_says_another_size_is_refused():
    with pytest.raises(ImageError, match=r"different sizes"):
        decoders.check(File(jpeg(), "i.jpg"), 56, 40)


def test_a_jpeg_without_a_table_that_its_pixels_need_is_refused():
    data = jpeg()
    table = data.index(b"\xff\xdb")
    without = data[:table] + data[table + 2 + int.from_bytes(data[table + 2 : table + 4]) :]
    with pytest.raises(ImageError, match="decode") as caught:
        check(without)
    assert (caught.value.where, caught.value.kind) == ("i.jpg", "damaged file")


def test_a_jpeg_that_tensorflow_alone_cannot_decode_is_refused(monkeypatch):
    monkeypatch.setattr(decoders.pillow, "decode", lambda *_: Read(NOISE))
    with pytest.raises(ImageError, match="TensorFlow cannot decode it: "):
        check(jpeg()[:200])


def test_a_jpeg_whose_values_run_over_is_refused():
    data = bytearray(jpeg(quality=100))
    table = data.index(b"\xff\xdb") + 5
    data[table : table + 64] = b"\xff" * 64  # each frequency is now 255 times as strong
    with pytest.raises(ImageError, match=r"decode it \d+ of 255 apart"):
        check(bytes(data))


class Read:
    def __init__(self, pixels):
        self._pixels = pixels

    def values(self):
        return self._pixels
