"""What turns one image of a pair into the other, in words, and where both show the same."""

import numpy as np
import pytest

from voc_seg_tfrecord.quality.similarity import fit_similarity
from voc_seg_tfrecord.report.leak_changes import describe_change, describe_part, outline_part


@pytest.mark.parametrize(
    ("transformation", "first", "second", "words"),
    [
        ("upright", (240, 320), (240, 320), "same size and orientation"),
        ("upright", (240, 320), (120, 160), "scaled to 50 %"),
        ("upright", (240, 320), (241, 321), "same size and orientation"),
        ("mirrored", (240, 320), (240, 320), "mirrored"),
        ("mirrored", (240, 320), (480, 640), "mirrored, scaled to 200 %"),
        ("rotated by 90 degrees", (240, 320), (320, 240), "rotated by 90 degrees"),
        ("rotated by 90 degrees", (240, 320), (160, 120), "rotated by 90 degrees, scaled to 50 %"),
        ("upright", (240, 320), (256, 256), "scaled to 80 % of the width and 107 % of the height"),
        ("mirrored", None, (240, 320), "mirrored"),
        ("upright", (240, 320), None, "not turned"),
    ],
)
def test_a_change_of_a_whole_image_is_said_in_words(transformation, first, second, words):
    assert describe_change(transformation, first, second) == words


def fit(first_points, second_points, first_size, second_size, *, is_mirrored=False):
    """Returns the similarity that carries points, (x, y) in pixels, onto others."""
    first = np.array([complex(*point) for point in first_points]) / max(first_size)
    second = np.array([complex(*point) for point in second_points]) / max(second_size)
    if is_mirrored:
        second = np.conj(second)
    return fit_similarity(first, second, is_mirrored=is_mirrored)


def bounds(outline):
    points = np.array(outline)
    return [*points.min(axis=0).round(3), *points.max(axis=0).round(3)]


def describe(similarity, first_size, second_size):
    outline = outline_part(similarity, first_size, second_size)
    transformation = similarity.describe()
    return describe_part(transformation, similarity, outline, first_size, second_size)


def test_a_crop_is_outlined_in_the_image_that_it_is_of():
    first_size, second_size = (240, 320), (120, 160)
    crop = fit([(80, 60), (240, 180)], [(0, 0), (160, 120)], first_size, second_size)
    outline = outline_part(crop, first_size, second_size)
    assert bounds(outline.first) == [80, 60, 240, 180]
    assert bounds(outline.second) == [0, 0, 160, 120]
    assert describe(crop, first_size, second_size) == "the right image is 25 % of the left one"


def test_an_image_that_is_a_crop_of_the_other_is_outlined_there():
    first_size, second_size = (120, 160), (240, 320)
    crop = fit([(0, 0), (160, 120)], [(80, 60), (240, 180)], first_size, second_size)
    outline = outline_part(crop, first_size, second_size)
    assert bounds(outline.first) == [0, 0, 160, 120]
    assert bounds(outline.second) == [80, 60, 240, 180]
    assert describe(crop, first_size, second_size) == "the left image is 25 % of the right one"


def test_of_tiles_that_overlap_the_overlap_is_outlined_in_both():
    size = (100, 200)
    shifted = fit([(120, 0), (200, 100)], [(0, 0), (80, 100)], size, size)
    outline = outline_part(shifted, size, size)
    assert bounds(outline.first) == [120, 0, 200, 100]
    assert bounds(outline.second) == [0, 0, 80, 100]
    words = describe(shifted, size, size)
    assert words == "the images share 40 % of the left one and 40 % of the right one"


def test_a_crop_that_was_mirrored_and_scaled_says_so():
    first_size, second_size = (240, 320), (240, 320)
    # The crop from (0, 0) to (160, 120), mirrored and twice as large.
    first_points = [(0, 0), (160, 120), (0, 120)]
    second_points = [(320, 0), (0, 240), (320, 240)]
    crop = fit(first_points, second_points, first_size, second_size, is_mirrored=True)
    outline = outline_part(crop, first_size, second_size)
    assert bounds(outline.first) == [0, 0, 160, 120]
    words = describe(crop, first_size, second_size)
    assert words == "the right image is 25 % of the left one, mirrored, scaled to 200 %"


def test_images_whose_frames_do_not_meet_have_no_outline():
    size = (100, 100)
    apart = fit([(200, 0), (300, 100)], [(0, 0), (100, 100)], size, size)
    outline = outline_part(apart, size, size)
    assert (outline.first, outline.second) == ([], [])
    assert (outline.share_of_first, outline.share_of_second) == (0, 0)


@pytest.mark.parametrize("seed", range(60))
def test_an_outline_has_the_points_that_lie_in_both_images(seed):
    rng = np.random.default_rng(seed)
    first_size = tuple(rng.integers(50, 400, 2).tolist())
    second_size = tuple(rng.integers(50, 400, 2).tolist())
    is_mirrored = bool(rng.integers(0, 2))
    turn = rng.uniform(0.3, 1.5) * np.exp(1j * rng.uniform(0, 2 * np.pi))
    shift = complex(*rng.uniform(-0.3, 1.3, 2))
    second = rng.uniform(0, 1, 20) + 1j * rng.uniform(0, 1, 20)
    similarity = fit_similarity(turn * second + shift, second, is_mirrored=is_mirrored)
    outline = outline_part(similarity, first_size, second_size)

    # Points of the first image, which are in the second one too or not.
    height, width = first_size
    points = rng.uniform(0, 1, (4000, 2)) * (width, height)
    matrix = np.vstack([similarity.matrix(), [0, 0, 1]])
    with_ones = np.column_stack([points / max(first_size), np.ones(len(points))])
    on_second = (with_ones @ np.linalg.inv(matrix).T)[:, :2] * max(second_size)
    is_inside = ((on_second >= 0) & (on_second <= second_size[::-1])).all(axis=1)
    assert abs(is_inside.mean() - outline.share_of_first) < 0.04
    for x, y in outline.first:
        assert -1e-6 <= x <= width + 1e-6
        assert -1e-6 <= y <= height + 1e-6
    for x, y in outline.second:
        assert -1e-6 <= x <= second_size[1] + 1e-6
        assert -1e-6 <= y <= second_size[0] + 1e-6
