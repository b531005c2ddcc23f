import numpy as np
from PIL import Image, ImageDraw
import pytest

from voc_seg_tfrecord.exports.outlines import trace_parts


def filled(polygons, size):
    """Returns the pixels of polygons as Pillow fills them, bool."""
    image = Image.new("L", size[::-1])
    for points in polygons:
        corners = np.resize(points, (max(3, len(points)), 2))
        ImageDraw.Draw(image).polygon(corners.ravel().tolist(), fill=1, outline=1)
    return np.asarray(image) > 0


def disc(size, center, radius):
    rows, columns = np.ogrid[: size[0], : size[1]]
    return (rows - center[0]) ** 2 + (columns - center[1]) ** 2 <= radius**2


def draw_rings(rng, size):
    """Returns rings within rings, which cross each other and the edge."""
    mask = np.zeros(size, bool)
    for _ in range(6):
        center = rng.integers(0, size)
        radius = rng.integers(2, 14)
        mask ^= disc(size, center, radius) & ~disc(size, center, radius - rng.integers(1, 3))
        mask ^= disc(size, rng.integers(0, size), rng.integers(0, 5))
    return mask


@pytest.mark.parametrize("share", [0.05, 0.3, 0.5, 0.7, 0.95])
def test_polygons_of_random_pixels_are_filled_to_these_pixels(share):
    rng = np.random.default_rng(int(100 * share))
    for _ in range(12):
        mask = rng.random(rng.integers(1, 24, 2)) < share
        assert (filled(trace_parts(mask), mask.shape) == mask).all()


@pytest.mark.parametrize("seed", range(12))
def test_polygons_of_rings_within_rings_are_filled_to_their_pixels(seed):
    rng = np.random.default_rng(seed)
    mask = draw_rings(rng, rng.integers(20, 50, 2))
    polygons = trace_parts(mask)
    assert (filled(polygons, mask.shape) == mask).all()
    # Each alone has pixels of its own, so that their order does not count.
    alone = [filled([points], mask.shape) for points in polygons]
    assert np.sum(alone, axis=0).max() == 1


@pytest.mark.parametrize(
    ("rows", "expected"),
    [
        (["#"], [[(0, 0)]]),
        (["###"], [[(0, 0), (2, 0), (1, 0)]]),
        (["##", "##"], [[(0, 0), (0, 1), (1, 1), (1, 0)]]),
        (["#.", ".#"], [[(0, 0), (1, 1)]]),
        (["#.#"], [[(0, 0)], [(2, 0)]]),
        (["..."], []),
    ],
)
def test_the_corners_of_small_shapes(rows, expected):
    mask = np.array([[character == "#" for character in row] for row in rows])
    assert [[*map(tuple, points.tolist())] for points in trace_parts(mask)] == expected


def test_a_ring_is_one_polygon_that_goes_to_its_hole_and_back():
    mask = np.ones((5, 5), bool)
    mask[2, 2] = False
    (points,) = trace_parts(mask)
    assert (filled([points], mask.shape) == mask).all()
    assert len(points) < 14
