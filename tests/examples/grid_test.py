from hypothesis import given
from hypothesis import strategies as st
import numpy as np
import pytest

from voc_seg_tfrecord.errors import ConfigError
from voc_seg_tfrecord.examples.grid import Tiling, image_of


@st.composite
def grids(draw):
    size = draw(st.integers(1, 12))
    overlap = draw(st.integers(0, size - 1))
    return Tiling(size, overlap), draw(st.integers(1, 40)), draw(st.integers(1, 40))


@given(grids())
def test_tiles_lie_inside_cover_all_and_have_one_size(grid):
    tiling, height, width = grid
    covered = np.zeros((height, width), int)
    for tile in tiling.tiles(height, width):
        assert tile.height == min(tiling.size, height)
        assert tile.width == min(tiling.size, width)
        assert 0 <= tile.top <= height - tile.height
        assert 0 <= tile.left <= width - tile.width
        covered[tile.window] += 1
    assert (covered > 0).all()


@given(grids())
def test_owned_parts_cover_each_pixel_once_and_belong_to_the_first_tile(grid):
    tiling, height, width = grid
    first = np.full((height, width), -1)
    owner = np.full((height, width), -1)
    for number, tile in enumerate(tiling.tiles(height, width)):
        seen = first[tile.window]
        seen[seen < 0] = number
        part = owner[tile.window][tile.own]
        assert (part < 0).all()
        part[:] = number
    assert (owner == first).all()


@given(grids())
def test_no_tile_is_there_twice_and_neighbours_share_at_least_the_overlap(grid):
    tiling, height, _ = grid
    starts = tiling.starts(height)
    gaps = np.diff(starts)
    assert (gaps > 0).all()
    assert (gaps <= tiling.size - tiling.overlap).all()
    assert (gaps[:-1] == tiling.size - tiling.overlap).all()


def test_the_last_tiles_are_moved_inside():
    assert Tiling(512).starts(1200) == [0, 512, 688]
    assert Tiling(512, 64).starts(1408) == [0, 448, 896]
    assert Tiling(512).starts(512) == Tiling(512).starts(3) == [0]


def test_the_name_of_a_tile_tells_its_image_even_if_that_looks_like_a_tile():
    tile = list(Tiling(4).tiles(8, 12))[5]
    assert tile.name("a/b_r1_c2") == "a/b_r1_c2_r1_c2"
    assert image_of(tile.name("a/b_r1_c2")) == "a/b_r1_c2"
    assert image_of("a_r1") is None


@pytest.mark.parametrize(
    ("said", "found"),
    [
        ({"size": 0}, "option tile: 0"),
        ({"size": 2.0}, "option tile: 2.0"),
        ({"size": 8, "overlap": 8}, "option tile_overlap: 8\n  expected: 0 to 7"),
        ({"size": 8, "overlap": -1}, "option tile_overlap: -1"),
        ({"size": 8, "quality": 101}, "option tile_quality: 101"),
        ({"size": 8, "format": "webp"}, "option tile_format: 'webp'\n  expected: one of png"),
    ],
)
def test_numbers_out_of_range_are_refused_by_name(said, found):
    with pytest.raises(ConfigError) as refused:
        Tiling(**said)
    assert found in str(refused.value)
