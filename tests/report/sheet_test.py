import io

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord import VOC_CLASSES, voc_palette
from voc_seg_tfrecord.report.figure import draw_sheet
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.sheet_example import PANEL_SIDE_PX, ExampleGroup, make_sheet_example

VOC = ClassStyle(VOC_CLASSES, class_colors(0), 0)


def example(mask, name="a", shade=100):
    return make_sheet_example(name, np.full((*mask.shape, 3), shade, np.uint8), mask)


def drawn(*masks, style=VOC, **options):
    examples = [example(mask, str(n)) for n, mask in enumerate(masks)]
    return pixels_of([ExampleGroup(None, examples)], style, **options)


def pixels_of(groups, style, **options):
    shown = draw_sheet("title", groups, style, **options)._repr_png_()
    return np.asarray(Image.open(io.BytesIO(shown)).convert("RGB"))


def count(pixels, color):
    return int((pixels == np.asarray(color, np.uint8)).all(-1).sum())


def stripes(*values):
    return np.repeat(np.array(values, np.uint8)[None], 30, 0).repeat(30 // len(values), 1)


@pytest.mark.slow
def test_masks_and_legend_have_the_exact_colors_of_the_classes():
    rng = np.random.default_rng(0)
    for _ in range(3):
        palette = rng.integers(0, 255, (256, 3), dtype=np.uint8)
        style = ClassStyle(tuple(f"class {i}" for i in range(21)), palette, 0)
        pixels = drawn(stripes(3, 11, 20), style=style)
        panel = PANEL_SIDE_PX * PANEL_SIDE_PX // 3
        for value in (3, 11, 20):
            # The mask, a field of the legend, and the outline.
            assert panel < count(pixels, palette[value]) < 1.1 * panel
        assert count(pixels, palette[4]) == 0


def test_the_legend_has_a_field_for_each_class_in_use():
    legend = (slice(40, 75), slice(20, 900))
    one = drawn(stripes(1), style=VOC)[legend]
    two = drawn(stripes(1, 2), style=VOC)[legend]
    assert count(one, voc_palette()[1]) == count(two, voc_palette()[1]) > 50
    assert count(one, voc_palette()[2]) == 0
    assert count(two, voc_palette()[2]) > 50


def test_void_is_in_the_legend_only_where_there_is_void():
    assert count(drawn(stripes(1)), voc_palette()[255]) == 0
    assert count(drawn(stripes(1, 255)), voc_palette()[255]) > PANEL_SIDE_PX * PANEL_SIDE_PX // 4


@pytest.mark.slow
def test_more_than_three_examples_stand_side_by_side():
    shapes = {count: drawn(*[stripes(1)] * count).shape for count in (1, 2, 3, 4, 5)}
    assert shapes[1][1] == shapes[3][1] < shapes[4][1] == shapes[5][1]
    assert shapes[1][0] < shapes[2][0] == shapes[4][0] < shapes[3][0] == shapes[5][0]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("size", [(1, 1), (3, 2000), (2000, 3), (1, 5)])
def test_an_odd_size_makes_a_sheet_of_the_usual_width(size):
    pixels = drawn(np.ones(size, np.uint8))
    assert pixels.shape[1] == drawn(stripes(1)).shape[1]
    assert 90 < pixels.shape[0] < 500
    assert count(pixels, voc_palette()[1]) > PANEL_SIDE_PX * 20  # a strip that is seen


@pytest.mark.slow
def test_254_classes_and_names_in_any_script_are_drawn():
    names = ("猫", "ёж", "קקטוס", "नमस्ते", "\u202eabc", "a" * 500, " ", "<b>&amp;")
    names += tuple(f"class {i}" for i in range(len(names), 254))
    mask = np.arange(256, dtype=np.uint8).reshape(16, 16)
    mask[mask == 254] = 255
    mask = mask.repeat(8, 0).repeat(8, 1)
    pixels = drawn(mask, style=ClassStyle(names, class_colors(None), None))
    for value in (0, 100, 253):
        assert count(pixels, class_colors(None)[value]) > 200


@pytest.mark.slow
def test_an_object_of_one_pixel_in_a_large_image_is_seen():
    mask = np.zeros((1500, 2000), np.uint8)
    mask[700, 901] = 1
    without = drawn(np.zeros((1500, 2000), np.uint8))
    pixels = drawn(mask)
    assert count(pixels[120:], voc_palette()[1]) == 2  # in the mask, and laid over
    assert count(without, voc_palette()[1]) == 0


def test_images_without_masks_are_one_panel_wide_and_may_have_a_class():
    image = np.full((30, 40, 3), 77, np.uint8)
    style = ClassStyle(("cat", "dog"), class_colors(None), None)
    only = pixels_of([ExampleGroup(None, [make_sheet_example("a", image)])], style)
    labeled = pixels_of([ExampleGroup(None, [make_sheet_example("a", image, label=1)])], style)
    assert only.shape[1] < 2 * PANEL_SIDE_PX
    panel = PANEL_SIDE_PX * PANEL_SIDE_PX * 3 // 4
    assert panel <= count(only, (77, 77, 77)) < panel + 20  # and some pixels of text
    assert (labeled[-60:] != only[-60:]).any()  # the name of the class


def test_of_a_large_example_only_what_is_drawn_is_kept():
    mask = np.zeros((1400, 2600), np.uint8)
    mask[700, 901] = 1
    one = example(mask)
    assert max(one.image.size, one.mask.size) < mask.size
    assert one.size == mask.shape
    assert one.shares == {0: 1 - 1 / mask.size, 1: 1 / mask.size}
