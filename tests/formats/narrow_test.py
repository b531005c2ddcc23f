import io

import imagecodecs
import numpy as np
from PIL import Image
import pytest
import tifffile

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.narrow import WOULD_BE_LOST

RNG = np.random.default_rng(11)
BYTES = RNG.integers(0, 256, (9, 12, 13), np.uint8)
DEEP = RNG.integers(0, 60_000, (9, 12, 13), np.uint16)
FLOATS = RNG.random((9, 12, 13), np.float32)
OPAQUE = np.dstack([BYTES[..., :3], np.full((9, 12), 255, np.uint8)])


def tiff(pixels, *, photometric="minisblack", planar="contig", **options):
    """Returns a TIFF of `[H, W, N]`."""
    if pixels.shape[2] == 1:
        pixels, planar = pixels[..., 0], None
    elif planar == "separate":
        pixels = np.moveaxis(pixels, 2, 0)
    data = io.BytesIO()
    tifffile.imwrite(data, pixels, photometric=photometric, planarconfig=planar, **options)
    return data.getvalue()


def with_smaller_copy(pixels):
    """Returns a TIFF with an overview, as cloud-optimized GeoTIFFs have."""
    data = io.BytesIO()
    with tifffile.TiffWriter(data) as writer:
        options = {"photometric": "rgb", "tile": (16, 16), "compression": "zlib"}
        writer.write(pixels, **options)
        writer.write(np.ascontiguousarray(pixels[::2, ::2]), subfiletype=1, **options)
    return data.getvalue()


def png(pixels):
    return imagecodecs.png_encode(np.ascontiguousarray(np.squeeze(pixels)))


def webp(pixels):
    data = io.BytesIO()
    Image.fromarray(pixels).save(data, "WEBP", lossless=True, exact=True)
    return data.getvalue()


def opened(data, **options):
    """Returns the pixels that are stored of an image, `[H, W, 3]`."""
    stored = images.open_image(File(data, "a"), **options).stored()
    pixels = np.asarray(Image.open(io.BytesIO(stored)).convert("RGB"))
    return pixels


NOTHING_LOST = {
    "three bands called gray": (tiff(BYTES[..., :3]), BYTES[..., :3]),
    "the same, planar and compressed": (
        tiff(BYTES[..., :3], planar="separate", compression="zlib"),
        BYTES[..., :3],
    ),
    "RGB with an overview": (with_smaller_copy(BYTES[..., :3]), BYTES[..., :3]),
    "RGB in a BigTIFF": (tiff(BYTES[..., :3], photometric="rgb", bigtiff=True), BYTES[..., :3]),
    "RGB compressed as WebP": (
        tiff(
            BYTES[..., :3],
            photometric="rgb",
            compression="webp",
            compressionargs={"lossless": True},
        ),
        BYTES[..., :3],
    ),
    "gray, 0 is white": (tiff(BYTES[..., :1], photometric="miniswhite"), 255 - BYTES[..., :1]),
    "16 bits with values up to 255, 0 is white, big-endian": (
        tiff(65535 - BYTES[..., :1].astype(np.uint16), photometric="miniswhite", byteorder=">"),
        BYTES[..., :1],
    ),
    "opaque alpha": (tiff(OPAQUE, photometric="rgb", extrasamples=["unassalpha"]), OPAQUE),
    "opaque alpha in a WebP": (webp(OPAQUE), OPAQUE),
    "16 bits with values up to 255": (
        tiff(BYTES[..., :1].astype(np.uint16)),
        BYTES[..., :1],
    ),
    "a PNG of these": (png(BYTES[..., :3].astype(np.uint16)), BYTES[..., :3]),
    "16 bits that repeat a byte": (png(BYTES[..., :3] * np.uint16(257)), BYTES[..., :3]),
    "16 bits whose low byte is 0": (tiff(BYTES[..., :1] * np.uint16(256)), BYTES[..., :1]),
    "whole floats": (tiff(BYTES[..., :3].astype(np.float32), photometric="rgb"), BYTES[..., :3]),
}


@pytest.mark.parametrize("name", NOTHING_LOST)
def test_an_image_that_8_bits_hold_is_stored_as_it_is(name):
    data, pixels = NOTHING_LOST[name]
    np.testing.assert_array_equal(opened(data), np.broadcast_to(pixels[..., :3], (9, 12, 3)))


def with_opaque_edge(colors):
    """Returns 16-bit colors and alpha: transparent in the first row, opaque elsewhere."""
    alpha = np.full((*colors.shape[:2], 1), 65535, np.uint16)
    alpha[0] = 0
    return np.concatenate([colors, alpha], axis=2)


KEEP = "--bands all --dtype"
LOST = {
    "two bands": (tiff(BYTES[..., :2]), f"{KEEP} uint8", BYTES[..., :1]),
    "four bands": (
        tiff(BYTES[..., :4], photometric="rgb", extrasamples=["unspecified"]),
        f"{KEEP} uint8",
        BYTES[..., :3],
    ),
    "13 bands": (tiff(BYTES), f"{KEEP} uint8", BYTES[..., :3]),
    "13 deep bands": (tiff(DEEP), f"{KEEP} uint16", DEEP[..., :3] >> 8),
    "near infrared called alpha": (
        tiff(BYTES[..., :4], photometric="rgb", extrasamples=["unassalpha"]),
        "--bands all",
        BYTES[..., :3],
    ),
    "near infrared as a PNG's alpha": (png(BYTES[..., :4]), "--bands all", BYTES[..., :3]),
    "near infrared as a WebP's alpha": (webp(BYTES[..., :4]), "--bands all", BYTES[..., :3]),
    "deep gray": (tiff(DEEP[..., :1]), f"{KEEP} uint16", DEEP[..., :1] >> 8),
    "deep gray, 0 is white": (
        tiff(DEEP[..., :1], photometric="miniswhite"),
        f"{KEEP} uint16",
        (65535 - DEEP[..., :1]) >> 8,
    ),
    "deep RGB": (tiff(DEEP[..., :3], photometric="rgb"), f"{KEEP} uint16", DEEP[..., :3] >> 8),
    "deep planar RGB": (
        tiff(DEEP[..., :3], photometric="rgb", planar="separate"),
        f"{KEEP} uint16",
        DEEP[..., :3] >> 8,
    ),
    "a deep PNG": (png(DEEP[..., :3]), f"{KEEP} uint16", DEEP[..., :3] >> 8),
    "a deep PNG with alpha": (
        png(with_opaque_edge(DEEP[..., :3])),
        "--bands 0,1,2 --dtype uint16",
        DEEP[..., :3] >> 8,
    ),
    "a deep TIFF with alpha": (
        tiff(with_opaque_edge(DEEP[..., :3]), photometric="rgb", extrasamples=["unassalpha"]),
        "--bands 0,1,2 --dtype uint16",
        DEEP[..., :3] >> 8,
    ),
    "near infrared as a deep PNG's alpha": (
        png(DEEP[..., :4]),
        f"{KEEP} uint16",
        DEEP[..., :3] >> 8,
    ),
    "near infrared called alpha, 16 bits": (
        tiff(DEEP[..., :4], photometric="rgb", extrasamples=["unassalpha"]),
        f"{KEEP} uint16",
        DEEP[..., :3] >> 8,
    ),
    "near infrared called alpha, floats": (
        tiff(FLOATS[..., :4], photometric="rgb", extrasamples=["unassalpha"]),
        f"{KEEP} float32",
        None,
    ),
    "floats": (tiff(FLOATS[..., :1]), f"{KEEP} float32", None),
    "floats of three bands": (tiff(FLOATS[..., :3], photometric="rgb"), f"{KEEP} float32", None),
    "floats of 0 and 1": (tiff(np.round(FLOATS[..., :1])), f"{KEEP} float32", None),
    "floats with NaN": (
        tiff(np.where(FLOATS[..., :1] > 0.9, np.float32("nan"), 7)),
        f"{KEEP} float32",
        None,
    ),
    "numbers with a sign": (tiff(BYTES[..., :1].astype(np.int16) - 9), f"{KEEP} float32", None),
    "bytes with a sign": (tiff(BYTES[..., :1].view(np.int8)), f"{KEEP} float32", None),
    "32 bits": (tiff(DEEP[..., :1].astype(np.uint32) * 9), f"{KEEP} float32", None),
}


@pytest.mark.parametrize("name", LOST)
def test_an_image_that_would_lose_bands_or_bits_is_refused_with_what_keeps_them(name):
    data, keep, as_rgb = LOST[name]
    with pytest.raises(ImageError) as caught:
        opened(data)
    error = caught.value
    assert error.kind == WOULD_BE_LOST
    assert f"with {keep}; or" in error.remedy
    assert ("--bands rgb" in error.remedy) == (as_rgb is not None)


@pytest.mark.parametrize("name", LOST)
def test_the_user_may_say_that_it_becomes_rgb(name):
    data, keep, as_rgb = LOST[name]
    if as_rgb is None:
        with pytest.raises(ImageError, match=keep):
            opened(data, user_wants_rgb=True)
    else:
        pixels = opened(data, user_wants_rgb=True)
        np.testing.assert_array_equal(pixels, np.broadcast_to(as_rgb, (9, 12, 3)))


NO_OPTION_KEEPS = {
    "complex numbers": (tiff(FLOATS[..., :3].astype(np.complex64)), "3 bands of complex64"),
    "a band of complex numbers": (tiff(FLOATS[..., :1] * 1j), "1 band of complex64"),
    "32 bits that float32 rounds": (
        tiff(DEEP[..., :1] * np.uint32(65537)),
        "1 band of uint32 with values from",
    ),
    "floats that float32 does not hold": (
        tiff(FLOATS[..., :1].astype(np.float64) * 1e300),
        "1 band of float64 with values from",
    ),
}


@pytest.mark.parametrize("user_wants_rgb", [False, True])
@pytest.mark.parametrize("name", NO_OPTION_KEEPS)
def test_no_option_is_proposed_for_values_that_none_keeps(name, user_wants_rgb):
    data, found = NO_OPTION_KEEPS[name]
    with pytest.raises(ImageError) as caught:
        opened(data, user_wants_rgb=user_wants_rgb)
    if user_wants_rgb:  # the values were not read
        found = found.removesuffix(" with values from")
    assert found in caught.value.found
    if "complex" in name or not user_wants_rgb:
        assert "--" not in caught.value.remedy


@pytest.mark.parametrize("bands", [1, 2, 3, 5])
def test_the_high_byte_is_not_proposed_where_it_is_the_same_everywhere(bands):
    dark = 700 + BYTES[..., :bands].astype(np.uint16) // 4
    with pytest.raises(ImageError, match="--bands all --dtype uint16") as caught:
        opened(tiff(dark))
    assert "an image of one color" in caught.value.remedy
    assert "--bands rgb" not in caught.value.remedy


def test_a_color_model_that_is_not_read_is_named():
    lab = Image.merge("LAB", Image.fromarray(BYTES[..., :3]).split())
    data = io.BytesIO()
    lab.save(data, "TIFF")
    with pytest.raises(ImageError, match="the color model CIELab"):
        opened(data.getvalue())


def test_several_pages_are_refused():
    data = io.BytesIO()
    tifffile.imwrite(data, np.stack([BYTES[..., :3]] * 2), photometric="rgb")
    with pytest.raises(ImageError, match="of several pages"):
        opened(data.getvalue())


@pytest.mark.parametrize("compression", ["zlib", "lzw", "lzma"])
def test_damage_of_a_tiff_is_an_error_that_names_the_file_and_nothing_else_is_printed(
    compression, capfd
):
    photo = RNG.integers(0, 256, (60, 80, 3), np.uint8)
    data = bytearray(tiff(photo, photometric="rgb", compression=compression))
    for place in range(len(data) // 3, len(data), 997):
        data[place] ^= 0x55
    with pytest.raises(ImageError, match=r"^a: it cannot be decoded"):
        opened(bytes(data))
    assert capfd.readouterr() == ("", "")


NEAR_INFRARED = {
    "TIFF of 16 bits that hold bytes": tiff(
        BYTES[..., :4].astype(np.uint16), photometric="rgb", extrasamples=["unassalpha"]
    ),
    "TIFF of 16 bits that repeat bytes": tiff(
        BYTES[..., :4] * np.uint16(257), photometric="rgb", extrasamples=["unassalpha"]
    ),
    "TIFF of gray": tiff(BYTES[..., :2] * np.uint16(257), extrasamples=["unassalpha"]),
    "TIFF of floats": tiff(
        BYTES[..., :4].astype(np.float32), photometric="rgb", extrasamples=["unassalpha"]
    ),
    "PNG of 16 bits that hold bytes": png(BYTES[..., :4].astype(np.uint16)),
    "PNG of 16 bits that repeat bytes": png(BYTES[..., :4] * np.uint16(257)),
}


@pytest.mark.parametrize("name", NEAR_INFRARED)
def test_a_band_called_alpha_is_not_dropped_where_8_bits_hold_the_colors(name):
    with pytest.raises(ImageError, match="looks like data and not like transparency") as caught:
        opened(NEAR_INFRARED[name])
    assert caught.value.kind == WOULD_BE_LOST
    assert "--bands all" in caught.value.remedy


@pytest.mark.parametrize("opaque", [255, 65535])
def test_alpha_of_16_bits_that_is_opaque_is_dropped(opaque):
    alpha = np.full((9, 12), opaque, np.uint16)
    alpha[0, :4] = 100
    pixels = np.dstack([BYTES[..., :3].astype(np.uint16), alpha])
    for data in (png(pixels), tiff(pixels, photometric="rgb", extrasamples=["unassalpha"])):
        np.testing.assert_array_equal(opened(data), BYTES[..., :3])


def test_deep_colors_of_another_model_are_not_taken_for_rgb():
    cmyk = tiff(BYTES[..., :4] * np.uint16(257), photometric="separated")
    with pytest.raises(ImageError, match="4 bands of uint16"):
        opened(cmyk)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
def test_a_gray_tiff_that_does_not_say_whether_0_is_white_is_refused(dtype):
    data = tiff(BYTES[..., :1].astype(dtype))
    with tifffile.TiffFile(io.BytesIO(data)) as file:
        tag = file.pages.first.tags["PhotometricInterpretation"]
    without_tag = bytearray(data)
    without_tag[tag.offset : tag.offset + 2] = (32768).to_bytes(2, "little")  # a private tag
    with pytest.raises(ImageError, match="without the tag PhotometricInterpretation"):
        opened(bytes(without_tag))
