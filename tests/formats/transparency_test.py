"""Masks with pixels with transparency, in each way in which files say it."""

import struct

import numpy as np
from PIL import Image
import pytest
from support import drawing, folders
from support.encoding import encoded
from support.png_writer import chunk, write_png

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule
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

NOT_OPAQUE = {
    "alpha": encoded(Image.fromarray(np.dstack([COLORS, 254 * BITS.astype(np.uint8)])), "PNG"),
    "first entry of a palette": with_trns(PALETTE_PNG, 0),
    "half of an entry of a palette": with_trns(PALETTE_PNG, 255, 127),
    "last entry of a palette": with_trns(PALETTE_PNG, 255, 255, 0),
    "palette of 2 bits": with_trns(write_png(VALUES, palette=PALETTE, depth=2), 0),
    "gray": with_trns(GRAY_PNG, 0, 1),
    "gray of 1 bit": with_trns(write_png(BITS.astype(np.uint8), color=0, depth=1), 0, 1),
    "gray of 16 bits": with_trns(write_png(VALUES.astype(np.uint16), color=0, depth=16), 0, 2),
    "a color": with_trns(RGB_PNG, *RED),
    "a color with bits that 8-bit samples do not have": with_trns(RGB_PNG, 1, 128, 2, 0, 3, 0),
    "a value of a GIF": encoded(palette_image(), "GIF", transparency=1),
    "a lossless WebP": encoded(
        Image.fromarray(np.dstack([COLORS, 255 * BITS.astype(np.uint8)])), "WEBP", lossless=True
    ),
}
OPAQUE = {
    "palette": with_trns(PALETTE_PNG, 255, 255, 255),
    "a value that no pixel has": with_trns(GRAY_PNG, 0, 3),
    "a color that no pixel has": with_trns(RGB_PNG, 0, 128, 0, 0, 0, 1),
    "a GIF": encoded(palette_image(), "GIF", transparency=7),
}


@pytest.mark.parametrize("form", NOT_OPAQUE)
def test_a_pixel_that_is_not_opaque_is_refused_however_the_file_says_it(form):
    file = File(NOT_OPAQUE[form], "m.png")
    with pytest.raises(MaskError, match=r"\d+ pixels with transparency"):
        read_samples(file)
    with pytest.raises(MaskError, match=r"\d+ pixels with transparency"):
        read_mask(file, RULE)


@pytest.mark.parametrize("form", OPAQUE)
def test_transparency_of_what_no_pixel_has_does_no_harm(form):
    file = File(OPAQUE[form], "m.png")
    mask = read_mask(file, RULE)
    assert mask.counts == {0: 36, 1: 8, 2: 4}


def test_a_folder_of_voc_palettes_with_a_transparent_background_is_refused(tmp_path):
    drawing.write(tmp_path, "ab JPEGImages/{}.jpg SegmentationClass/{}.png")
    for name in "ab":
        mask = write_png(drawing.truth(name), palette=voc_palette())
        drawing.put(tmp_path, f"SegmentationClass/{name}.png", with_trns(mask, 0))
    with pytest.raises(MaskError, match="with transparency"):
        read_mask(File((tmp_path / "SegmentationClass/a.png").read_bytes(), "a.png"), RULE)
    assert folders.plan_of(tmp_path).meaning.by == "value"
