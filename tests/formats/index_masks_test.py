from collections import Counter
import struct
import zlib

from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
import numpy as np
from PIL import Image, ImageFile
import pytest
from support.encoding import decode_mask, decoded, encoded
from support.png_writer import write_png

from voc_seg_tfrecord import VOID, voc_palette
from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.formats import index_masks as masks_read
from voc_seg_tfrecord.formats.index_masks import read_mask
from voc_seg_tfrecord.formats.mask_samples import ColorSamples, GraySamples, PaletteSamples

VOC = index_rule(21)
ANY = index_rule(VOID)

RNG = np.random.default_rng(7)


def random_values(depth, size=(13, 21)):
    values = RNG.integers(0, 1 << depth, size)
    values[0, 0] = (1 << depth) - 1
    return values


def read(data, where, rule=ANY, size=None):
    return read_mask(File(data, where), rule, size, official=True)


def tf_decode(data):
    import tensorflow as tf

    return tf.io.decode_png(data, channels=1)[..., 0].numpy()


@pytest.mark.parametrize("interlaced", [False, True])
@pytest.mark.parametrize("depth", [1, 2, 4, 8])
def test_palette_pngs_give_the_indices_that_pillow_gives(depth, interlaced):
    values = random_values(depth)
    source = write_png(
        values, depth=depth, palette=voc_palette()[: 1 << depth], interlaced=interlaced
    )
    mask = read(source, "m.png")
    assert (decoded(source) == values).all()
    assert (tf_decode(mask.png) == values).all()
    assert (decoded(mask.png) == values).all()
    assert (decode_mask(File(source, "m.png")) == values).all()
    assert mask.counts == Counter(values.ravel().tolist())


def test_gray_masks_pass_untouched():
    source = write_png(random_values(8), color=0)
    assert read(source, "m.png").png is source


def test_values_present_are_ascending_and_without_void():
    values = np.array([[20, 3, 255], [0, 3, 20]])
    mask = read(write_png(values, palette=voc_palette()), "m.png")
    assert mask.present() == [0, 3, 20]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        *((write_png(random_values(d), depth=d, color=0), f"{d}-bit gray PNG") for d in (1, 4, 16)),
        (encoded(Image.new("RGB", (4, 4))), "8-bit rgb PNG"),
        (encoded(Image.new("RGBA", (4, 4))), "8-bit rgba"),
        (encoded(Image.new("LA", (4, 4))), r"8-bit gray\+alpha"),
    ],
)
def test_what_no_release_has_is_refused(data, words):
    with pytest.raises(MaskError, match=rf"m\.png: {words}"):
        read(data, "m.png")


def test_a_truncated_mask_is_refused_even_if_pillow_was_told_to_be_lenient(monkeypatch):
    monkeypatch.setattr(ImageFile, "LOAD_TRUNCATED_IMAGES", True)
    data = write_png(random_values(8), palette=voc_palette())
    with pytest.raises(MaskError, match="truncated"):
        read(data[: len(data) // 2], "m.png")


def test_a_decompression_bomb_is_stopped_at_its_header():
    data = bytearray(write_png(np.zeros((2, 2), int), palette=voc_palette()))
    data[16:24] = struct.pack(">II", 60000, 60000)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    with pytest.raises(MaskError, match="decompression bomb"):
        read(bytes(data), "m.png")


@pytest.mark.parametrize("value", [21, 254])
def test_the_gate_names_an_unknown_value_and_its_pixels(value):
    values = np.array([[*range(21), 255]])
    assert read(write_png(values, palette=voc_palette()), "m.png", VOC).counts[255] == 1
    values[0, 1:3] = value
    with pytest.raises(MaskError, match=rf"(?s)value {value} on 2 pixels.*0 to 20, or 255"):
        read(write_png(values, palette=voc_palette()), "m.png", VOC)


def test_another_size_than_the_images_is_refused_with_both():
    mask = write_png(np.zeros((3, 4), int), color=0)
    with pytest.raises(MaskError, match=r"(?s)mask of 4 x 3 pixels.*4 x 5"):
        read(mask, "m.png", size=(5, 4))


@pytest.mark.parametrize("color", [0, 3])
@pytest.mark.parametrize("depth", [4, 8])
def test_a_mask_with_half_its_rows_is_refused(depth, color):
    palette = voc_palette()[: 1 << depth] if color == 3 else None
    whole = write_png(random_values(depth), depth=depth, color=color, palette=palette)
    cut = bytearray(whole)
    cut[16 + 4 : 16 + 8] = struct.pack(">I", 26)  # the header says 26 rows; there are 13
    cut[29:33] = struct.pack(">I", zlib.crc32(cut[12:29]))
    assert read_mask(File(whole, "m.png"), ANY).height == 13
    with pytest.raises(MaskError, match=r"\d+ of \d+ bytes of pixels"):
        read_mask(File(bytes(cut), "m.png"), ANY)


@pytest.mark.parametrize("filtered", [False, True])
def test_histogram_and_classes_do_not_depend_on_row_filters(filtered):
    values = random_values(8) // 16
    # Pillow filters rows of gray images and leaves those of palette images as they are.
    image = Image.fromarray(values.astype(np.uint8))
    if not filtered:
        image.putpalette(voc_palette().tobytes())
    swapped = MaskRule({value: 15 - value for value in range(16)})
    for rule, expected in ((ANY, values), (swapped, 15 - values)):
        mask = read_mask(File(encoded(image), "m.png"), rule)
        assert (tf_decode(mask.png) == expected).all()
        assert mask.counts == Counter(expected.ravel().tolist())


RULE = MaskRule({0: 1, 7: 0, 255: VOID}, {(0, 0, 0): 0, (9, 9, 9): 1})


def test_values_become_the_classes_of_the_rule():
    found = masks_read.class_indices(GraySamples(np.array([[0, 7, 255]])), RULE, "m.png")
    assert found.dtype == np.uint8
    assert found.tolist() == [[1, 0, 255]]


def test_an_unknown_value_is_refused_with_its_count_and_what_is_known():
    known = r"(?s)value 3 on 2 pixels.*expected: 0, 7, or 255 for void.*with --classes"
    with pytest.raises(MaskError, match=known):
        masks_read.class_indices(GraySamples(np.array([[0, 3, 3]])), RULE, "m.png")


def test_colors_become_the_classes_of_the_rule():
    palette = np.array([(9, 9, 9), (0, 0, 0)], np.uint8)
    samples = PaletteSamples(np.array([[0, 1]]), palette)
    assert masks_read.class_indices(samples, RULE, "m.png").tolist() == [[1, 0]]


def test_the_most_frequent_unknown_colors_come_first():
    colors = np.array([[(1, 1, 1), (2, 2, 2), (2, 2, 2), (0, 0, 0)]], np.uint8)
    with pytest.raises(MaskError, match="#020202 on 2 pixels, #010101 on 1 pixel"):
        masks_read.class_indices(ColorSamples(colors), RULE, "m.png")


def test_a_gray_mask_in_a_set_of_colors_is_read_by_value_unless_gray_is_a_color():
    samples = GraySamples(np.array([[0, 9]]))
    with pytest.raises(MaskError, match="value 9 on 1 pixel"):
        masks_read.class_indices(samples, RULE, "m.png")
    also_gray = MaskRule(RULE.values, RULE.colors, gray_is_color=True)
    assert masks_read.class_indices(samples, also_gray, "m.png").tolist() == [[0, 1]]


def rgb(*colors):
    return ColorSamples(np.array([colors], np.uint8))


def test_rgb_masks_with_equal_channels_are_values_where_values_count():
    rule = MaskRule({0: 1, 7: 0, 255: VOID})
    assert masks_read.class_indices(
        rgb((0, 0, 0), (7, 7, 7), (255, 255, 255)), rule, "m.png"
    ).tolist() == [[1, 0, 255]]
    with pytest.raises(MaskError, match=r"m.png: colors on 1 pixel, although the masks"):
        masks_read.class_indices(rgb((0, 0, 0), (7, 7, 8)), rule, "m.png")
    with pytest.raises(MaskError, match="value 3 on 1 pixel"):
        masks_read.class_indices(rgb((0, 0, 0), (3, 3, 3)), rule, "m.png")
    unknown = masks_read.unknown_pixels(rgb((0, 0, 0), (3, 3, 3)), rule)
    assert unknown.tolist() == [[False, True]]


def test_the_rows_of_the_user_win_in_a_mask_of_any_kind():
    said = MaskRule(RULE.values, RULE.colors, given_values={7: 5}, given_colors={(1, 2, 3): 6})
    assert masks_read.class_indices(rgb((1, 2, 3), (9, 9, 9)), said, "m").tolist() == [[6, 1]]
    assert masks_read.class_indices(rgb((7, 7, 7), (9, 9, 9)), said, "m").tolist() == [[5, 1]]
    palette = np.array([(9, 9, 9), (1, 2, 3), *[(0, 0, 0)] * 6], np.uint8)
    samples = PaletteSamples(np.array([[0, 1, 2, 7]]), palette)
    assert masks_read.class_indices(samples, said, "m").tolist() == [[1, 6, 0, 5]]
    both = MaskRule({}, given_values={1: 0}, given_colors={(1, 2, 3): 1})
    with pytest.raises(MaskError, match="1 pixel of value 1 and color #010203"):
        masks_read.class_indices(PaletteSamples(np.array([[1]]), palette), both, "m")


def test_values_up_to_65535_are_read():
    data = write_png(np.array([[1, 65535, 40000]]), depth=16, color=0)
    rule = MaskRule({1: 0, 65535: 1, 40000: VOID})
    assert decoded(read_mask(File(data, "m.png"), rule).png).tolist() == [[0, 1, 255]]


def test_a_value_beyond_the_palette_has_no_class_by_color():
    assert RULE.class_of("palette", 0, None) is None


SHAPES = hnp.array_shapes(min_dims=2, max_dims=2, min_side=1, max_side=40)


@given(st.data(), st.sampled_from([1, 2, 4, 8]), st.booleans(), st.sampled_from([0, 3]))
@settings(max_examples=60)
def test_any_index_array_comes_back_equal(data, depth, interlaced, color):
    values = data.draw(hnp.arrays(np.int64, SHAPES, elements=st.integers(0, (1 << depth) - 1)))
    palette = voc_palette()[: 1 << depth] if color == 3 else None
    png = write_png(values, depth=depth, color=color, palette=palette, interlaced=interlaced)
    mask = read_mask(File(png, "m.png"), ANY)
    assert (decoded(mask.png) == values).all()


@pytest.mark.filterwarnings("ignore:Corrupt EXIF")
@given(st.binary(max_size=300))
@settings(max_examples=120)
def test_any_bytes_are_a_mask_or_an_error(data):
    for prefix in (b"", b"\x89PNG\r\n\x1a\n", b"\x93NUMPY", b"BM", b"GIF89a", b"II*\0"):
        with pytest.raises(VocSegError):
            read_mask(File(prefix + data, "m.png"), ANY)
