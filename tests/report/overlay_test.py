import numpy as np
import pytest

from voc_seg_tfrecord import voc_palette
from voc_seg_tfrecord.report.overlay import class_colors, draw_layer, paint_mask

COLORS = class_colors(0)


def blank(height, width, value=0):
    return np.full((height, width), value, np.uint8)


def overlay(image, mask, palette, background):
    layer = draw_layer(mask, palette, background)
    drawn = layer.entries[layer.numbers] / 255
    laid = image * (1 - drawn[..., 3:]) + 255 * drawn[..., :3] * drawn[..., 3:]
    return laid.round().astype(np.uint8)


def test_own_colors_are_left_as_they_are_and_vocs_move_with_background():
    own = voc_palette().copy()
    own[2] = (1, 2, 3)
    assert (class_colors(1, own) == own).all()
    moved = class_colors(1, voc_palette())
    assert moved[1].tolist() == [0, 0, 0]
    assert moved[0].tolist() == voc_palette()[1].tolist()
    assert (moved[2:] == voc_palette()[2:]).all()


def test_background_shows_the_image_whichever_class_it_is():
    image = np.full((20, 20, 3), 100, np.uint8)
    mask = blank(20, 20, 1)
    assert (overlay(image, mask, class_colors(1), 1) == 100).all()
    assert (overlay(image, mask, COLORS, 0) != 100).any()


def test_no_known_background_means_that_every_class_is_laid_over_the_image():
    image = np.full((20, 20, 3), 100, np.uint8)
    laid = overlay(image, blank(20, 20), COLORS, None)
    assert laid[10, 10].tolist() == [50, 50, 50]
    assert laid[0, 0].tolist() == [0, 0, 0]


def test_a_dark_region_has_a_white_line_around_it_and_a_bright_one_a_black_line():
    for color, line in (((64, 0, 0), 255), ((0, 0, 192), 255), ((0, 192, 0), 0), ((255,) * 3, 0)):
        palette = COLORS.copy()
        palette[1] = color
        mask = blank(20, 20)
        mask[5:15, 5:15] = 1
        laid = overlay(np.full((20, 20, 3), 100, np.uint8), mask, palette, 0)
        assert laid[10, 4].tolist() == [line] * 3


def test_a_region_has_an_outline_in_its_color_and_another_one_around_it():
    image = np.full((20, 20, 3), 100, np.uint8)
    mask = blank(20, 20)
    mask[5:15, 5:15] = 15
    laid = overlay(image, mask, COLORS, 0)
    assert laid[10, 10].tolist() == (50 + COLORS[15] // 2).tolist()
    assert laid[10, 5].tolist() == COLORS[15].tolist()
    assert laid[10, 4].tolist() == [0, 0, 0]
    assert laid[10, 3].tolist() == [100, 100, 100]


def test_a_line_divides_classes_of_one_color():
    palette = COLORS.copy()
    palette[2] = palette[1]
    mask = blank(20, 20, 1)
    mask[:, :8] = 2
    laid = overlay(np.zeros((20, 20, 3), np.uint8), mask, palette, 0)
    assert (laid[:, 8] == 255).all()
    assert (laid[1:-1, 7] == palette[1]).all()


@pytest.mark.parametrize("under", [0, 3, 255])
def test_an_object_of_one_pixel_keeps_its_color_and_is_ringed(under):
    mask = blank(9, 9, under)
    mask[4, 4] = 1
    laid = overlay(np.full((9, 9, 3), 100, np.uint8), mask, COLORS, 0)
    assert laid[4, 4].tolist() == COLORS[1].tolist()
    assert (laid[3, 3:6] == 255).all()


def test_void_has_its_color_and_dark_lines_over_it():
    colored = paint_mask(blank(60, 60, 255), COLORS)
    found = {tuple(c) for c in np.unique(colored.reshape(-1, 3), axis=0).tolist()}
    assert tuple(COLORS[255].tolist()) in found
    assert len(found) == 2
    share = (colored == COLORS[255]).all(-1).mean()
    assert 0.5 < share < 0.8
    laid = overlay(np.full((60, 60, 3), 100, np.uint8), blank(60, 60, 255), COLORS, 0)
    assert (laid != 100).all()
