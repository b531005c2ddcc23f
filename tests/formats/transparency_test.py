"""Masks with transparent pixels, in each way in which files say it: no index changes."""

import struct

import numpy as np
from PIL import Image
import pytest
from support.encoding import encoded
from support.png_writer import chunk, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.folder.soft_masks import apply_threshold
from voc_seg_tfrecord.folder.tree.binary_masks import read_binary_mask
from voc_seg_tfrecord.formats.index_masks import read_mask
from voc_seg_tfrecord.formats.mask_samples import read_samples

VALUES = np.zeros((6, 8), np.uint8)
VALUES[1:3, 1:5] = 1
VALUES[4:6, 2:4] = 2
PALETTE = voc_palette()[:3]
COLORS = PALETTE[VALUES]
BITS = VALUES > 0
RULE = MaskRule({0: 0, 1: 1, 2: 2}, {tuple(c.tolist()): n for n, c in enumerate(PALETTE)})


def with_trns(data, *content):
    """Puts a chunk tRNS of bytes before the pixels of a PNG."""
    place = data.index(b"IDAT") - 4
    return data[:place] + chunk(b"tRNS", bytes(content)) + data[place:]


def palette_image():
    image = Image.fromarray(VALUES, "P")
    image.putpalette(PALETTE.tobytes())
    return image


PALETTE_PNG = write_png(VALUES, palette=PALETTE)
GRAY_PNG = write_png(VALUES, color=0)
RGB_PNG = encoded(Image.fromarray(COLORS), "PNG")
RED = struct.pack(">HHH", 128, 0, 0)

OPAQUE_WHERE_BIT = 255 * BITS.astype(np.uint8)
RGBA = np.dstack([COLORS, OPAQUE_WHERE_BIT])

# What lies under the transparent pixels, by how the file says it.
TRANSPARENT = {
    "alpha": (encoded(Image.fromarray(RGBA), "PNG"), (0, 0, 0)),
    "alpha beside gray": (
        encoded(Image.fromarray(np.dstack([VALUES, OPAQUE_WHERE_BIT])), "PNG"),
        0,
    ),
    "alpha of a TIFF": (encoded(Image.fromarray(RGBA), "TIFF"), (0, 0, 0)),
    "alpha of 16 bits": (write_png(RGBA.astype(np.uint16) * 257, color=6, depth=16), (0, 0, 0)),
    "first entry of a palette": (with_trns(PALETTE_PNG, 0), 0),
    "half of an entry of a palette": (with_trns(PALETTE_PNG, 255, 127), 1),
    "last entry of a palette": (with_trns(PALETTE_PNG, 255, 255, 0), 2),
    "palette of 2 bits": (with_trns(write_png(VALUES, palette=PALETTE, depth=2), 0), 0),
    "gray": (with_trns(GRAY_PNG, 0, 1), 1),
    "gray of 16 bits": (
        with_trns(write_png(VALUES.astype(np.uint16), color=0, depth=16), 0, 2),
        2,
    ),
    "a color": (with_trns(RGB_PNG, *RED), (128, 0, 0)),
    "a color with bits that 8-bit samples do not have": (
        with_trns(RGB_PNG, 1, 128, 2, 0, 3, 0),
        (128, 0, 0),
    ),
    "a value of a GIF": (encoded(palette_image(), "GIF", transparency=1), 1),
    "a lossless WebP": (encoded(Image.fromarray(RGBA), "WEBP", lossless=True), (0, 0, 0)),
}
OPAQUE = {
    "palette": with_trns(PALETTE_PNG, 255, 255, 255),
    "a color that no pixel has": with_trns(RGB_PNG, 0, 128, 0, 0, 0, 1),
    "alpha": encoded(Image.fromarray(COLORS).convert("RGBA"), "PNG"),
}

half = RGBA.copy()
half[1, 1, 3] = 254
several = RGBA.copy()
several[0, 0, :3] = 9
REFUSED = {
    "a soft edge": (half, "1 pixel"),
    "two colors": (several, "several colors under transparent pixels, such as #090909 and #000000"),
}


@pytest.mark.parametrize("form", TRANSPARENT)
def test_transparency_changes_no_index_however_the_file_says_it(form):
    data, under = TRANSPARENT[form]
    file = File(data, "m.png")
    assert read_samples(file).transparent == {under}
    assert read_mask(file, RULE).counts == {0: 36, 1: 8, 2: 4}


@pytest.mark.parametrize("form", OPAQUE)
def test_nothing_is_transparent_if_no_pixel_is(form):
    file = File(OPAQUE[form], "m.png")
    assert not read_samples(file).transparent
    assert read_mask(file, RULE).counts == {0: 36, 1: 8, 2: 4}


@pytest.mark.parametrize("form", REFUSED)
def test_soft_transparency_and_several_colors_under_it_are_refused(form):
    pixels, words = REFUSED[form]
    with pytest.raises(MaskError, match=f"^m.png: ({words})"):
        read_mask(File(encoded(Image.fromarray(pixels), "PNG"), "m.png"), RULE)


@pytest.mark.parametrize("read", [read_binary_mask, lambda file: apply_threshold(file, 128)])
def test_white_under_transparent_pixels_is_refused_where_white_is_the_class(read):
    around = np.dstack([np.where(BITS, 0, 255).astype(np.uint8)] * 3 + [OPAQUE_WHERE_BIT])
    with pytest.raises(MaskError, match="#ffffff under transparent pixels"):
        read(File(encoded(Image.fromarray(around), "PNG"), "m.png"))
