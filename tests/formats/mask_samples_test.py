from concurrent import futures
import gc
import io
import re
import struct
import sys
import tracemalloc
import zlib

import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded, two_frames
from support.png_writer import chunk, write_png
import tifffile

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.formats import bands, mask_samples, pillow
from voc_seg_tfrecord.formats import index_masks as masks_read
from voc_seg_tfrecord.formats.mask_samples import ColorSamples

RNG = np.random.default_rng(11)
COLORS = RNG.integers(0, 256, (5, 7, 3), np.uint8)
GRAYS = RNG.integers(0, 1 << 16, (5, 7, 1))
INDICES = (GRAYS[..., 0] % 3).astype(np.uint8)
NPY = "{{'descr': '{}', 'fortran_order': False, 'shape': {}, }}"


def read(data):
    return mask_samples.read_samples(File(data, "m.png"))


@pytest.mark.parametrize("depth", [1, 2, 4, 8, 16])
def test_gray_values_are_read_as_stored_at_every_depth(depth):
    values = RNG.integers(0, 1 << depth, (5, 7))
    samples = read(write_png(values, depth=depth, color=0))
    assert samples.kind == "gray"
    assert (samples.values == values).all()


def test_a_palette_mask_gives_indices_and_colors():
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
def test_colors_are_read_whatever_the_format(kind):
    samples = read(encoded(COLORS, kind))
    assert samples.kind == "rgb"
    assert (samples.values == COLORS).all()


@pytest.mark.parametrize(("mode", "kind"), [("RGBA", "rgb"), ("LA", "gray")])
def test_an_opaque_alpha_channel_is_dropped(mode, kind):
    image = Image.fromarray(COLORS).convert(mode)
    samples = read(encoded(image))
    assert samples.kind == kind
    assert (samples.values == np.asarray(image.convert(mode[:-1]))).all()


def png16(samples):
    """Returns a PNG of 16 bits, whatever its channels."""
    return write_png(samples, depth=16, color={2: 4, 3: 2, 4: 6}[samples.shape[2]])


def tiff(samples, **options):
    """Returns a TIFF; three channels are colors."""
    buffer, order = io.BytesIO(), samples.dtype.str[0].replace("|", "<")
    options = {"photometric": "rgb" if samples.ndim == 3 else "minisblack"} | options
    tifffile.imwrite(buffer, samples, byteorder=order, **options)
    return buffer.getvalue()


@pytest.mark.parametrize("opaque", [False, True])
@pytest.mark.parametrize(
    ("samples", "kind", "expected"),
    [
        (COLORS.astype(int), "rgb", COLORS),
        (COLORS.astype(int) * 257, "rgb", COLORS),
        (COLORS.astype(int) << 8, "rgb", COLORS),
        (np.repeat(GRAYS % 3, 3, 2), "rgb", np.repeat(GRAYS % 3, 3, 2)),
        (np.repeat(GRAYS, 3, 2), "gray", GRAYS[..., 0]),
        (np.repeat(GRAYS % 3 * 257, 3, 2), "gray", GRAYS[..., 0] % 3 * 257),
    ],
    ids=["small", "times 257", "times 256", "equal and small", "equal", "equal times 257"],
)
def test_16_bits_are_colors_of_8_bits_or_if_all_are_equal_values_as_stored(
    samples, kind, expected, opaque
):
    files = [tiff(samples.astype(order)) for order in ("<u2", ">u2")]
    if opaque:
        alpha = np.full((5, 7, 1), 0xFFFF)
        files = [png16(np.append(samples, alpha, 2))]
        files += [png16(np.append(samples[..., :1], alpha, 2))] * (kind == "gray")
    else:
        files.append(png16(samples))
    for data in files:
        read_ones = read(data)
        assert read_ones.kind == kind
        assert (read_ones.values == expected).all()


def test_16_bits_that_are_no_colors_of_8_or_not_opaque_are_refused():
    with pytest.raises(MaskError, match="colors of 16 bits"):
        read(png16(COLORS.astype(int) * 257 + np.eye(3, dtype=int)[0]))
    for channels in (2, 4):
        with pytest.raises(MaskError, match="35 pixels that are partly transparent"):
            read(png16(np.full((5, 7, channels), 0xFFFE)))


def tagged(tag, value, samples=bytes(35), bits=8):
    """Returns a TIFF whose directory has one more, or another, entry."""
    tags = {256: 7, 257: 5, 258: bits, 259: 1, 262: 1, 273: 8, 277: 1, 278: 5, 279: len(samples)}
    entries = sorted((tags | {tag: value}).items())
    packed = (struct.pack("<HHII", number, 4, 1, content) for number, content in entries)
    head = b"II*\0" + struct.pack("<I", 8 + len(samples)) + samples
    return head + struct.pack("<H", len(entries)) + b"".join(packed) + bytes(4)


def bits_of(values, bits):
    return np.packbits(np.unpackbits(values[..., None], 2)[..., -bits:].reshape(5, -1), 1)


@pytest.mark.parametrize("bits", [1, 2, 4])
@pytest.mark.parametrize("fill_order", [1, 2])
def test_a_tiff_of_few_bits_has_its_values_as_stored(bits, fill_order):
    values = RNG.integers(0, 1 << bits, (5, 7), np.uint8)
    packed = bits_of(values, bits)
    if fill_order == 2:
        packed = np.packbits(np.unpackbits(packed, bitorder="little"))
    assert (read(tagged(266, fill_order, packed.tobytes(), bits)).values == values).all()


@pytest.mark.parametrize(
    "dtype", ["i1", "u1", "<u2", ">u2", "<i2", ">i2", "<u4", "<i4", ">i4", "<f4", ">f4"]
)
def test_a_tiff_of_whole_numbers_of_any_dtype_has_its_values_as_stored(dtype):
    kind = np.iinfo(dtype) if dtype[-2] != "f" else np.iinfo("i2")
    values = RNG.integers(kind.min, kind.max, (5, 7), endpoint=True).astype(dtype)
    for compression in (None, "deflate"):
        samples = read(tiff(values, compression=compression))
        assert samples.kind == "gray"
        assert (samples.values == values).all()


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.5, -1e20])
def test_a_float_that_is_no_whole_number_is_refused(value):
    values = INDICES.astype(np.float32)
    values[2, 3:5] = value
    with pytest.raises(MaskError, match=rf"2 pixels .* such as {re.escape(f'{value:g}')}"):
        read(tiff(values))


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (encoded(COLORS, "TIFF", compression="jpeg"), "compression 7"),
        (tiff(INDICES, photometric="miniswhite"), "photometric interpretation 0"),
        (tagged(262, 0, bits=1), "photometric interpretation 0"),
        (encoded(Image.fromarray(COLORS).convert("CMYK"), "TIFF"), "photometric interpretation 5"),
        *((tagged(274, turn), f"orientation {turn}") for turn in range(2, 9)),
        (encoded(COLORS, "WEBP", quality=100), "compression VP8"),
        (encoded(COLORS, "WEBP", xmp=b"VP8L"), "compression VP8"),
    ],
)
def test_a_file_from_which_programs_read_different_values_is_refused(data, words):
    with pytest.raises(MaskError, match=rf"(?s)m\.png: a .* the {words}, .*expected: {words[:6]}"):
        read(data)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (tagged(32997, 2), "2 slices"),
        (
            tiff(
                np.stack([INDICES] * 4),
                photometric="minisblack",
                planarconfig="separate",
                compression="zlib",
            ),
            "4 bands",
        ),
        (tagged(278, 4), "1 of 2 strips"),
        (tagged(279, 30), "1 of 1 strips outside of the file, or truncated"),
        (tagged(273, 0), "1 of 1 strips outside of the file, or truncated"),
    ],
)
def test_a_tiff_that_lacks_pixels_or_has_too_many_is_refused(data, words):
    with pytest.raises(MaskError, match=words):
        read(data)


@pytest.mark.parametrize(
    ("values", "layout", "words"),
    [
        (INDICES.astype(np.float64), {}, "1 band of float64"),
        (np.dstack([INDICES] * 13), {"planarconfig": "contig"}, "13 bands of uint8"),
    ],
)
def test_a_tiff_that_pillow_does_not_read_is_not_called_damaged(values, layout, words, capfd):
    with pytest.raises(MaskError, match=f"a TIFF of {words}, which Pillow does not read"):
        read(tiff(values, photometric="minisblack", **layout))
    assert capfd.readouterr().err == ""


def test_a_webp_without_loss_is_read():
    samples = read(encoded(COLORS, "WEBP", lossless=True, xmp=b"VP8 "))
    assert (samples.values == COLORS).all()


@pytest.mark.parametrize("most", [255, 65_280, 65_535])
def test_the_colors_of_a_tiff_may_have_8_or_16_bits(most):
    table = np.zeros((3, 256), np.uint16)
    table[:, :21] = voc_palette()[:21].T * np.uint16(most // 255)
    samples = read(tiff(INDICES, photometric="palette", colormap=table))
    assert (samples.values == INDICES).all()
    assert (samples.palette == table.T // (most // 255)).all()


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_a_bmp_of_two_colors_has_its_values_as_stored(bits):
    values = RNG.integers(0, 2, (5, 7), np.uint8)
    rows = bits_of(values[::-1], bits)
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4)))
    header = struct.pack("<IiiHHIIiiII", 40, 7, 5, 1, bits, 0, rows.size, 0, 0, 2, 0)
    colors = bytes(4) + b"\xff\xff\xff\0"
    data = b"BM" + struct.pack("<III", 62 + rows.size, 0, 62) + header + colors + rows.tobytes()
    assert (read(data).values == values).all()
    assert (pillow.decode(File(data, "a.bmp"), MaskError).rgb()[..., 1] == values * 255).all()


@pytest.mark.parametrize("bits", [1, 4, 8])
def test_a_bmp_of_two_colors_with_the_header_of_os_2_is_read(bits):
    values = RNG.integers(0, 2, (5, 7), np.uint8)
    rows = bits_of(values[::-1], bits)
    rows = np.pad(rows, ((0, 0), (0, -rows.shape[1] % 4)))
    header = struct.pack("<IHHHH", 12, 7, 5, 1, bits)
    colors = bytes(3) + b"\xff\xff\xff" + bytes(3 * (2**bits - 2))
    start = 26 + len(colors)
    data = b"BM" + struct.pack("<III", start + rows.size, 0, start) + header + colors
    image = pillow.decode(File(data + rows.tobytes(), "a.bmp"), MaskError).rgb()
    assert (image[..., 1] == values * 255).all()


def test_a_text_that_pillow_refuses_does_no_harm_to_a_mask():
    values = RNG.integers(0, 16, (5, 7))
    text = chunk(b"zTXt", b"a\0\0" + zlib.compress(bytes(3_000_000)))
    samples = read(write_png(values, depth=4, palette=voc_palette()[:16], extra=text))
    assert (samples.values == values).all()


@pytest.mark.parametrize("shape", [(5, 7), (5, 7, 1)])
def test_an_array_in_memory_comes_back_through_its_file(shape):
    values = RNG.integers(-1, 300, shape)
    samples = mask_samples.read_samples(bands.as_file(values, "m"))
    assert samples.kind == "gray"
    assert (samples.values == values.reshape(5, 7)).all()


@pytest.mark.parametrize(
    "array", [np.zeros((2, 2)), np.zeros((2, 2, 3), int), np.zeros((0, 2), int)]
)
def test_arrays_that_are_no_mask_are_refused(array):
    with pytest.raises(MaskError, match=r"expected: integers \[H, W\](?s:.*)convert the array"):
        mask_samples.read_samples(bands.as_file(array, "m"))


@pytest.mark.parametrize(
    ("header", "length", "words"),
    [
        ("{'descr': '<i8', 'fortran_order': False, 'shape': (", 0, "NumPy file that cannot be"),
        (NPY.format("<i8", (9999999999, 9999999)), 0, "n array .* in 0 bytes"),
        (NPY.format("|u1", (5, 7)), 36, r"n array uint8\[5, 7\] in 36 bytes"),
        *(
            (NPY.format("|u1", shape), 35, "n array uint8.* in 35 bytes")
            for shape in ((60_000, 60_000), (-1, 3), (1 << 40, 1), (5, 8))
        ),
    ],
)
def test_a_numpy_file_with_a_false_header_is_refused_and_asks_for_no_memory(header, length, words):
    header = header.encode().ljust(117) + b"\n"
    data = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(length)
    with pytest.raises(MaskError, match=rf"m\.png: a ?{words}"):
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
    assert mask_samples.size_of(File(data[:33], "m.png")) == (5, 7)
    assert mask_samples.size_of(File(encoded(COLORS, "BMP"), "m.bmp")) == (5, 7)


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
        read_ones = list(pool.map(mask_samples.read_samples, files))
    assert [samples.values[0, 0] for samples in read_ones] == [n % 7 for n in range(500)]


@pytest.fixture(params=[1 << 20, 10], ids=["at once", "by rows"])
def pieces(request, monkeypatch):
    monkeypatch.setattr(mask_samples, "_PIXELS_AT_A_TIME", request.param)
    monkeypatch.setattr(mask_samples, "_MAX_SORTED_PIXELS", request.param)


@pytest.mark.parametrize("dtype", ["u1", "i1", "u2", "i4", "i8", "u8", "?"])
@pytest.mark.usefixtures("pieces")
def test_values_are_counted_and_mapped_as_one_by_one(dtype):
    values = RNG.integers(-3 if dtype[0] == "i" else 0, 9, (13, 7)).astype(dtype)
    listed = values.astype(int).ravel().tolist()
    counts = mask_samples.counts_by_value(values)
    assert counts == {value: listed.count(value) for value in sorted(set(listed))}
    classes = {value: VOID if value < 0 else value * 2 for value in range(-3, 300)}
    classes = {value: index % 256 for value, index in classes.items()}
    found = mask_samples.map_values(values, classes)
    assert found.dtype == np.uint8
    assert found.ravel().tolist() == [classes[value] for value in listed]


@pytest.mark.usefixtures("pieces")
def test_colors_are_counted_and_mapped_as_one_by_one():
    known = np.array([0, 0x010203, 0xFFFFFF])
    classes = np.array([7, 0, VOID], np.uint8)
    packed = np.append(known, [5, 0xFFFFFE])[RNG.integers(0, 5, (13, 7))]
    colors = np.stack([packed >> 16, packed >> 8 & 255, packed & 255], -1).astype(np.uint8)
    counts = mask_samples.counts_by_color(colors)
    numbers = counts.numbers.tolist()
    assert numbers == np.unique(packed).tolist()
    assert counts.pixels.tolist() == [int((packed == color).sum()) for color in numbers]
    mapped = mask_samples.map_colors(colors, known, classes)
    assert mapped.unknown.by_color() == {
        (0, 0, 5): int((packed == 5).sum()),
        (255, 255, 254): int((packed == 0xFFFFFE).sum()),
    }
    for color, index in zip(known, classes, strict=True):
        assert (mapped.classes[packed == color] == index).all()


def test_colors_of_a_large_mask_become_classes_in_a_few_bytes_per_pixel():
    colors = np.full((4000, 4000, 3), 9, np.uint8)
    rule = MaskRule({0: 0}, {(9, 9, 9): 1})
    tracemalloc.start()
    try:
        masks_read.class_indices(ColorSamples(colors), rule, "m.png")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 6 * 4000 * 4000
