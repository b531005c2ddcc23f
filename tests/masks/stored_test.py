from concurrent import futures
import gc
import io
import struct
import sys
import zlib

import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded
from support.frames import two_frames
from support.png_writer import chunk, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.base.errors import MaskError
from voc_seg_tfrecord.formats import bands, pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks import stored

RNG = np.random.default_rng(11)
COLORS = RNG.integers(0, 256, (5, 7, 3), np.uint8)


def read(data):
    return stored.read_samples(File(data, "m.png"))


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_grey_values_are_read_as_stored_at_every_depth(depth):
    values = RNG.integers(0, 1 << depth, (5, 7))
    samples = read(write_png(values, depth=depth, color=0))
    assert samples.kind == "grey"
    assert (samples.values == values).all()


def test_a_palette_mask_gives_indices_and_colours():
    values = RNG.integers(0, 256, (5, 7))
    samples = read(write_png(values, palette=voc_palette()))
    assert samples.kind == "palette"
    assert (samples.values == values).all()
    assert (samples.palette == voc_palette()).all()


@pytest.mark.parametrize("colors", [1, 5, 255])
def test_a_short_palette_is_as_long_as_in_the_file(colors):
    data = write_png(RNG.integers(0, colors, (5, 7)), palette=voc_palette()[:colors])
    assert (read(data).palette == voc_palette()[:colors]).all()
    assert (read(data).palette == pillow.decode(File(data, "m.png"), MaskError).palette()).all()


def test_an_unfiltered_mask_of_8_bits_is_inflated_once(monkeypatch):
    values = RNG.integers(0, 256, (5, 7))
    monkeypatch.setattr(pillow, "decode", None)
    for data in (write_png(values, color=0), write_png(values, palette=voc_palette())):
        assert (read(data).values == values).all()


@pytest.mark.parametrize("kind", ["PNG", "BMP", "TIFF"])
def test_colours_are_read_whatever_the_format(kind):
    samples = read(encoded(COLORS, kind))
    assert samples.kind == "rgb"
    assert (samples.values == COLORS).all()


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "rgb"), ("LA", "grey")])
def test_an_opaque_alpha_channel_is_dropped_and_any_other_refused(mode, kind):
    image = Image.fromarray(COLORS).convert(mode)
    samples = read(encoded(image))
    assert samples.kind == kind
    assert (samples.values == np.asarray(image.convert(mode[:-1]))).all()
    image.putalpha(Image.fromarray((np.arange(35) > 2).astype(np.uint8).reshape(5, 7) * 255))
    with pytest.raises(MaskError, match="3 pixels that are not opaque"):
        read(encoded(image))


def test_16_bits_with_alpha_are_colours_of_their_high_bytes_or_an_error():
    values = RNG.integers(0, 1 << 16, (5, 7, 4))
    values[..., -1] = 0xFFFF
    samples = read(write_png(values, depth=16, color=6))
    assert samples.kind == "rgb"
    assert (samples.values == values[..., :3] >> 8).all()
    with pytest.raises(MaskError, match="16-bit grey"):
        read(write_png(values[..., 2:], depth=16, color=4))


def test_a_text_that_pillow_refuses_does_no_harm_to_a_mask():
    values = RNG.integers(0, 16, (5, 7))
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(3_000_000)))
    samples = read(write_png(values, depth=4, palette=voc_palette()[:16], extra=text))
    assert (samples.values == values).all()


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1)])
def test_an_array_in_memory_comes_back_through_its_file(shape):
    values = RNG.integers(-1, 300, shape)
    samples = stored.read_samples(bands.as_file(values, "m"))
    assert samples.kind == "grey"
    assert (samples.values == values.reshape(5, 7)).all()


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2)), np.zeros((2, 2, 3), int), np.zeros((0, 2), int)]
)
def test_arrays_that_are_no_mask_are_refused(array):
    with pytest.raises(MaskError, match=r"expected: integers \[H, W\](?s:.*)convert the array"):
        stored.read_samples(bands.as_file(array, "m"))


@pytest.mark.parametrize(
    "header",
    [
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (",
        b"{'descr': '<i8', 'fortran_order': False, 'shape': (9999999999, 9999999), }",
    ],
)
def test_a_numpy_file_with_a_false_header_is_refused(header):
    header = header.ljust(117) + b"\n"
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header
    with pytest.raises(
        MaskError,
        match=r"m\.png: a(n array .* in 0 bytes| NumPy file that cannot be read)",
    ):
        read(data)


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP", "TIFF"])
def test_a_mask_of_two_frames_is_refused(kind):
    with pytest.raises(MaskError, match=r"animated|several pages"):
        read(two_frames(kind))


def test_a_palette_mask_without_its_palette_is_refused():
    header = chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 4, 3, 0, 0, 0))
    data = header + chunk(b"IDAT", zlib.compress(b"\0\0")) + chunk(b"IEND", b"")
    with pytest.raises(MaskError, match="a palette image without its palette"):
        read(b"\x89PNG\r\n\x1a\n" + data)


def test_a_jpeg_is_no_mask():
    with pytest.raises(MaskError, match=r"(?s)not a PNG, but a JPEG.*would change class indices"):
        read(encoded(COLORS, "JPEG"))


def test_the_size_of_a_png_is_read_from_its_header_alone():
    data = write_png(np.zeros((5, 7), int), color=0)
    assert stored.size_of(File(data[:33], "m.png")) == (5, 7)
    assert stored.size_of(File(encoded(COLORS, "BMP"), "m.bmp")) == (5, 7)


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
@pytest.mark.parametrize("order", ["C", "F"])
def test_numpy_files_of_every_version_and_order_are_read(version, order):
    values = np.array(RNG.integers(0, 21, (5, 7)), np.uint8, order=order)
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, values, version=version)
    assert (read(buffer.getvalue()).values == values).all()


@pytest.fixture
def switches():
    """Lets threads take turns within each call of Python's parser: it collects garbage there."""
    thresholds, interval = gc.get_threshold(), sys.getswitchinterval()
    gc.callbacks.append(lambda *_: sum(range(20)))
    gc.set_threshold(1, 1 << 30)
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*thresholds)
    gc.callbacks.pop()


@pytest.mark.usefixtures("switches")
def test_threads_read_numpy_files_side_by_side():
    files = [bands.as_file(np.full((2, 2), number % 7), "m.npy") for number in range(500)]
    with futures.ThreadPoolExecutor(4) as pool:
        read_ones = list(pool.map(stored.read_samples, files))
    assert [samples.values[0, 0] for samples in read_ones] == [n % 7 for n in range(500)]


def test_a_numpy_file_that_holds_more_than_its_header_says_is_refused():
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((5, 7), np.uint8))
    with pytest.raises(MaskError, match=r"uint8\[5, 7\] in 36 bytes"):
        stored.read_samples(File(buffer.getvalue() + b"\0", "m.npy"))


@pytest.mark.parametrize("shape", [(60_000, 60_000), (-1, 3), (1 << 40, 1), (5, 8)])
def test_a_numpy_header_that_claims_more_than_the_file_holds_asks_for_no_memory(shape):
    header = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {shape}, }}".encode()
    header = header.ljust(117) + b"\n"
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(35)
    with pytest.raises(MaskError, match=r"an array uint8.* in 35 bytes"):
        read(data)
