import io
import struct
import sys

import imagecodecs
import numpy as np
import pytest
import tifffile

from voc_seg_tfrecord.core.errors import ImageError, MissingPackageError
from voc_seg_tfrecord.core.example import Bands
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import band_files, bands

DEEP = np.random.default_rng(7).integers(0, 60_000, (9, 12, 4)).astype(np.uint16)


def npy(array, **options):
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def tiff(array, **options):
    file = io.BytesIO()
    tifffile.imwrite(file, array, **{"photometric": "minisblack"} | options)
    return file.getvalue()


def npy_of(header, body=b""):
    """Returns a NumPy file with this text as its header."""
    text = header.encode().ljust(117) + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text + body


def shaped(shape, dtype="<u2", body=b""):
    return npy_of(f"{{'descr': '{dtype}', 'fortran_order': False, 'shape': {shape}, }}", body)


def patched(tag, value, kind=4):
    """Returns a TIFF of `DEEP` in which one entry of its directory has another value."""
    data = bytearray(tiff(DEEP, planarconfig="contig"))
    (at,) = struct.unpack_from("<I", data, 4)
    (count,) = struct.unpack_from("<H", data, at)
    for entry in range(at + 2, at + 2 + 12 * count, 12):
        if struct.unpack_from("<H", data, entry)[0] == tag:
            struct.pack_into("<HHII", data, entry, tag, kind, 1, value)
    return bytes(data)


def linked(count, *, back=False):
    """Returns a TIFF of directories with nothing in them; the last may lead to the first."""
    data = bytearray(b"II*\0" + struct.pack("<I", 8))
    for number in range(count):
        last = 8 if back else 0
        after = 8 + 18 * (number + 1) if number < count - 1 else last
        data += struct.pack("<HHHIII", 1, 256, 3, 1, 4, after)
    return bytes(data)


def linked_far():
    """Returns a BigTIFF whose directory is said to lie further than any index reaches."""
    data = bytearray(tiff(DEEP, planarconfig="contig", bigtiff=True))
    struct.pack_into("<Q", data, 8, (1 << 64) - 1)
    return bytes(data)


FILES = {
    "an array": npy(DEEP),
    "a column-major array": npy(np.asfortranarray(DEEP)),
    "a big-endian array": npy(DEEP.astype(">u2")),
    "a whole-numbered float64 array": npy(DEEP.astype(np.float64)),
    "a PNG": imagecodecs.png_encode(DEEP),
    "a TIFF": tiff(DEEP, planarconfig="contig"),
    "a planar TIFF": tiff(np.moveaxis(DEEP, 2, 0).copy(), planarconfig="separate"),
    "a big-endian TIFF": tiff(DEEP, planarconfig="contig", byteorder=">"),
    "an LZW TIFF": tiff(DEEP, planarconfig="contig", compression="lzw", predictor=True),
    "a Zstandard TIFF": tiff(DEEP, planarconfig="contig", compression="zstd"),
    "a tiled TIFF": tiff(DEEP, planarconfig="contig", tile=(16, 16), compression="zlib"),
}


@pytest.mark.parametrize("name", FILES)
def test_every_value_of_a_file_is_read(name):
    pixels = bands.read_chosen(File(FILES[name], name), Bands((0, 1, 2, 3), "uint16"))
    np.testing.assert_array_equal(pixels, DEEP)
    chosen = bands.read_chosen(File(FILES[name], name), Bands((3, 0), "uint16"))
    np.testing.assert_array_equal(chosen, DEEP[..., [3, 0]])


@pytest.mark.parametrize("channels", [1, 3, 4])
def test_png_of_16_bits_is_kept_or_written_anew_with_the_same_values(channels):
    pixels, file = DEEP[..., :channels], File(FILES["a PNG"], "a.png")
    wanted = Bands((*range(channels),), "uint16")
    stored = bands.as_stored(wanted, bands.read_chosen(file, wanted), file)
    assert (stored == file.data) == (channels == 4)
    np.testing.assert_array_equal(band_files.read(File(stored, "b.png")), pixels)
    decoded = imagecodecs.png_decode(stored)
    np.testing.assert_array_equal(decoded.reshape(pixels.shape), pixels)


@pytest.mark.parametrize(("module", "kind"), [("imagecodecs", "a PNG"), ("tifffile", "a TIFF")])
def test_a_library_that_is_not_installed_is_named_with_the_command_that_installs_it(
    monkeypatch, module, kind
):
    monkeypatch.setitem(sys.modules, module, None)
    with pytest.raises(MissingPackageError, match="pip install tifffile imagecodecs"):
        band_files.read(File(FILES[kind], "a.file"))


VALUES = {
    "uint8": (np.array([[[0, 255]]], np.uint16), np.array([[[0, 256]]], np.uint16), "uint16"),
    "uint16": (np.array([[[0, 9.0]]]), np.array([[[0, 0.5]]]), "float32"),
    "float32": (np.array([[[-1, 1 << 24]]]), np.array([[[0, (1 << 24) + 1]]]), ""),
}


@pytest.mark.parametrize("dtype", VALUES)
def test_a_value_that_the_dtype_cannot_hold_is_an_error_with_the_dtype_that_holds_it(dtype):
    good, bad, wider = VALUES[dtype]
    held = bands.read_chosen(File(npy(good), "a.npy"), Bands((0, 1), dtype))
    assert held.dtype == dtype
    np.testing.assert_array_equal(held, good)
    with pytest.raises(ImageError, match="in band 1 at row 0, column 0") as error:
        bands.read_chosen(File(npy(bad), "a.npy"), Bands((0, 1), dtype))
    assert (f"--dtype {wider}" if wider else "scale the images yourself") in str(error.value)


def test_negative_numbers_are_no_uint16_and_nan_is_a_float():
    with pytest.raises(ImageError, match="the value -5"):
        bands.read_chosen(File(npy(np.full((2, 2), -5, np.int16)), "a.npy"), Bands((0,), "uint16"))
    nan = np.full((2, 2), np.nan)
    assert np.isnan(bands.read_chosen(File(npy(nan), "a.npy"), Bands((0,), "float32"))).all()
    with pytest.raises(ImageError, match=r"the value 1e\+300"):
        bands.read_chosen(File(npy(np.full((2, 2), 1e300)), "a.npy"), Bands((0,), "float32"))


def test_the_masks_size_tells_which_axis_of_an_array_has_the_bands():
    first = File(npy(np.moveaxis(DEEP, 2, 0)), "a.npy")
    np.testing.assert_array_equal(band_files.read(first, (9, 12)), DEEP)
    with pytest.raises(ImageError, match=r"the shape \(4, 9, 12\) for a mask of 13 x 9"):
        band_files.read(first, (9, 13))


WRONG = {
    r"an array object\[2\]": npy(np.array([{}, []], object), allow_pickle=True),
    r"an array complex64\[9, 12, 4\]": npy(DEEP.astype(np.complex64)),
    r"an array <U4\[3, 3\]": shaped((3, 3), "<U4", bytes(144)),
    "NumPy file that cannot be read": npy_of("__import__('os').abort()"),
    "NumPy file that cannot be read ": npy_of("{'shape': (2, 2)}"),
    r"the shape \(3, 3, True\)": shaped("(3, 3, True)", body=bytes(18)),
    r"an array uint16\[100000, 100000, 100\] in 0 bytes": shaped((100_000, 100_000, 100)),
    r"an array uint16\[-1, 5, 3\] in 30 bytes": shaped((-1, 5, 3), body=bytes(30)),
    r"\[9, 12, 4\] in 857 bytes": npy(DEEP)[: 128 + 857],
    r"\[9, 12, 4\] in 865 bytes": npy(DEEP) + b"\0",
    r"shape \(1, 9, 12, 4\)": npy(DEEP[None]),
    "directory is cut off": tiff(DEEP, planarconfig="contig")[:20],
    "directory is cut off ": linked_far(),
    "1 of 1 strips outside": tiff(DEEP, planarconfig="contig")[:-3],
    "1 of 1 strips outside ": patched(273, 1 << 30),
    "1 of 1 strips outside  ": patched(279, 1 << 31),
    "2147483647 x 9 pixels": patched(256, (1 << 31) - 1),
    "12 x 9 pixels of 60000 bands": patched(277, 60_000, 3),
    "cannot be decoded": patched(259, 33_333, 3),
    "cannot be decoded ": patched(259, 5, 3),
    "several pages": linked(3),
    "several pages ": linked(2, back=True),
    "several pages  ": linked(100_000),
    "a TIFF with the orientation 3": tiff(DEEP[..., 0], extratags=[(274, 3, 1, 3, True)]),
    "truncated": FILES["a PNG"][:200],
}


@pytest.mark.parametrize("found", WRONG)
def test_hostile_and_damaged_files_are_errors_that_say_what_is_wrong(found):
    with pytest.raises(ImageError, match=found.strip()):
        band_files.read(File(WRONG[found], "a file"))


def test_an_array_of_a_record_has_the_bytes_of_its_shape():
    import zlib

    data = zlib.compress(DEEP.tobytes())
    np.testing.assert_array_equal(bands.inflate_array(data, DEEP.shape, "r"), DEEP)
    for shape in [(9, 12, 3), (0, 12, 4), (9, 12), (1 << 15, 1 << 15, 13)]:
        with pytest.raises(ImageError, match="an array"):
            bands.inflate_array(data, shape, "r")
    with pytest.raises(ImageError, match="cannot be inflated"):
        bands.inflate_array(b"no zlib", DEEP.shape, "r")


def test_people_see_each_band_from_its_2nd_to_its_98th_percentile():
    ramp = np.linspace(1000, 2000, 101).astype(np.uint16).reshape(1, 101, 1)
    shown = bands.stretch_for_display(ramp)
    assert shown.shape == (1, 101, 3)
    assert (shown[0, 2, 0], shown[0, 98, 0]) == (0, 255)
    assert bands.stretch_for_display(DEEP).shape == (9, 12, 3)
    assert bands.stretch_for_display(np.full((2, 2, 5), np.nan, np.float32)).max() == 0
