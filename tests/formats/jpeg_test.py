import io

import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images, jpeg


def picture(mode="RGB", size=(31, 17), **kwargs):
    noise = np.random.default_rng(0).integers(0, 256, (*size[::-1], 3), np.uint8)
    return encoded(Image.fromarray(noise).convert(mode), "JPEG", **kwargs)


@pytest.mark.parametrize(("mode", "components"), [("L", 1), ("RGB", 3), ("CMYK", 4)])
@pytest.mark.parametrize("progressive", [False, True])
def test_the_header_has_size_and_components(mode, components, progressive):
    header = jpeg.read_header(File(picture(mode, progressive=progressive), "i.jpg"))
    assert header == jpeg.JpegHeader(31, 17, components, 8)


@pytest.mark.parametrize("keep", [2, 10, 200, 700, -2])
def test_an_image_that_is_truncated_is_refused(keep):
    with pytest.raises(ImageError, match=r"i\.jpg: JPEG truncated"):
        jpeg.read_header(File(picture()[:keep], "i.jpg"))


def test_the_end_of_a_thumbnail_is_not_taken_for_the_images():
    exif = Image.Exif()
    exif[0x010E] = "\xff\xd9 thumbnail's end"
    data = picture(exif=exif.tobytes() + b"\xff\xd9")
    assert b"\xff\xd9" in data[:200]
    with pytest.raises(ImageError, match="truncated"):
        jpeg.read_header(File(data[:-2], "i.jpg"))


def test_bytes_after_the_end_do_no_harm():
    assert jpeg.read_header(File(picture() + b"camera's own", "i.jpg")).width == 31


@pytest.mark.parametrize("data", [b"", b"\x89PNG\r\n\x1a\n", b"<html>"])
def test_what_is_not_a_jpeg_is_refused(data):
    with pytest.raises(ImageError, match="expected: a complete JPEG"):
        jpeg.read_header(File(data, "i.jpg"))


def test_a_damaged_header_is_refused():
    data = bytearray(picture())
    data[20] = 0
    with pytest.raises(ImageError, match=r"no marker|truncated"):
        jpeg.read_header(File(bytes(data), "i.jpg"))


def test_a_fill_byte_before_a_segment_does_not_end_the_segments():
    exif = Image.Exif()
    exif[0x0112] = 3
    turned = picture(exif=exif.tobytes())
    at = turned.index(b"\xff\xe1")
    upright = images.without_rotation(File(turned[:at] + b"\xff" + turned[at:], "i.jpg"))
    assert b"Exif" not in upright
    plain, upright = (Image.open(io.BytesIO(data)) for data in (picture(), upright))
    assert np.array_equal(np.asarray(upright), np.asarray(plain))
