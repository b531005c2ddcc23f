import io
import pathlib
import struct
import subprocess
import sys

import numpy as np
from PIL import Image
import pytest
from support.frames import two_frames

from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import limits, pillow, webp
from voc_seg_tfrecord.formats.file import File


def saved(image, kind, **kwargs):
    buffer = io.BytesIO()
    image.save(buffer, kind, **kwargs)
    return File(buffer.getvalue(), "m")


def test_a_small_file_that_claims_more_pixels_than_bytes_can_hold_is_a_bomb():
    small, large = File(b"II*\0" + bytes(100), "m.tif"), File(b"II*\0" + bytes(20_000), "m.tif")
    limits.check_pixels(4000, 4000, small, MaskError)
    limits.check_pixels(13_000, 13_000, large, MaskError)
    with pytest.raises(MaskError, match="bomb"):
        limits.check_pixels(13_000, 13_000, small, MaskError)


def test_a_file_with_longer_rows_or_columns_than_libpng_reads_is_refused():
    file = File(b"II*\0" + bytes(200), "m.tif")
    limits.check_pixels(3, 1_000_000, file, MaskError)
    for size in ((3, 1_000_001), (1_000_001, 3)):
        with pytest.raises(MaskError, match="at most 1000000 pixels in a row or a column"):
            limits.check_pixels(*size, file, MaskError)


@pytest.mark.parametrize("mode", ["RGB", "RGBA"])
@pytest.mark.parametrize("lossless", [False, True])
def test_a_still_webp_of_a_common_size_passes(mode, lossless):
    file = saved(Image.new(mode, (500, 375), (1, 2, 3)), "WEBP", lossless=lossless)
    webp.check(file, MaskError)
    assert pillow.decode(file, MaskError).width == 500


@pytest.mark.parametrize("lossless", [False, True])
def test_a_large_webp_is_refused_before_it_is_decoded(lossless, monkeypatch):
    file = saved(Image.new("RGB", (300, 200)), "WEBP", lossless=lossless)
    monkeypatch.setattr(limits, "_MAX_PIXELS_OF", {limits.Kind.WEBP: 300 * 200 - 1})
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
    data = saved(Image.fromarray(np.zeros((5, 7, 3), np.uint8)), "WEBP").data[:length]
    with pytest.raises(MaskError):
        pillow.decode(File(data, "m"), MaskError)


def test_a_webp_canvas_of_2_gb_is_refused_at_its_header():
    canvas = b"VP8X" + struct.pack("<I", 10) + bytes(4) + b"\xff\xff\0" + b"\xff\xff\0"
    file = File(b"RIFF\x16\0\0\0WEBP" + canvas, "m")
    with pytest.raises(MaskError, match="65536 x 65536"):
        webp.check(file, MaskError)


MEMORY_AFTER = """
import concurrent.futures, io, threading
from PIL import Image
from voc_seg_tfrecord.errors import MaskError
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File

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


@pytest.mark.skipif(not pathlib.Path("/proc/self/status").exists(), reason="it needs Linux")
def test_threads_keep_no_memory_of_the_large_images_that_they_decoded():
    done = subprocess.run([sys.executable, "-c", MEMORY_AFTER], capture_output=True, check=True)
    assert int(done.stdout) < 60_000  # kB; one such image takes 65,000
