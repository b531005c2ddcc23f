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


@pytest.fixture(params=["check_readable", "check_alike"])
def check(request):
    return lambda data: getattr(decoders, request.param)(File(data, "i.jpg"), 40, 56)


@pytest.mark.parametrize("quality", [1, 30, 95, 100])
@pytest.mark.parametrize("progressive", [False, True])
def test_whole_jpegs_of_any_quality_pass(quality, progressive, check):
    check(jpeg(quality=quality, progressive=progressive))


@pytest.mark.parametrize("mode", ["RGB", "L"])
@pytest.mark.parametrize("kind", ["JPEG", "PNG"])
def test_whole_images_with_and_without_colours_pass(mode, kind, check):
    buffer = io.BytesIO()
    Image.fromarray(NOISE).convert(mode).save(buffer, kind)
    check(buffer.getvalue())


@pytest.mark.parametrize("check", [decoders.check_readable, decoders.check_alike])
def test_a_jpeg_whose_header_says_another_size_is_refused(check):
    with pytest.raises(ImageError, match=r"different sizes"):
        check(File(jpeg(), "i.jpg"), 56, 40)


def without_tables(data):
    table = data.index(b"\xff\xdb")
    return data[:table] + data[table + 2 + int.from_bytes(data[table + 2 : table + 4]) :]


def test_a_jpeg_without_a_table_that_its_pixels_need_is_refused(check):
    with pytest.raises(ImageError, match="decode") as caught:
        check(without_tables(jpeg()))
    assert (caught.value.where, caught.value.kind) == ("i.jpg", "damaged file")


@pytest.mark.parametrize("progressive", [False, True])
def test_a_jpeg_whose_pixels_end_early_is_refused(progressive, check):
    data = jpeg(progressive=progressive)
    with pytest.raises(ImageError, match="decode"):
        check(data[: len(data) // 2])


def test_a_jpeg_that_tensorflow_alone_cannot_decode_is_refused(monkeypatch, check):
    monkeypatch.setattr(decoders.pillow, "decode", lambda *_: Read(NOISE))
    monkeypatch.setattr(decoders.pillow, "read_size", lambda *_: (40, 56))
    with pytest.raises(ImageError, match="TensorFlow cannot decode it: "):
        check(jpeg()[:200])


def running_over():
    data = bytearray(jpeg(quality=100))
    table = data.index(b"\xff\xdb") + 5
    data[table : table + 64] = b"\xff" * 64  # each frequency is now 255 times as strong
    return File(bytes(data), "i.jpg")


def test_a_jpeg_whose_values_run_over_is_refused_if_the_pixels_are_compared():
    with pytest.raises(ImageError, match=r"decode it \d+ of 255 apart"):
        decoders.check_alike(running_over(), 40, 56)


def test_whether_decoders_read_it_alike_is_not_tried_by_the_cheaper_check():
    decoders.check_readable(running_over(), 40, 56)


class Read:
    def __init__(self, pixels):
        self._pixels = pixels

    def values(self):
        return self._pixels
