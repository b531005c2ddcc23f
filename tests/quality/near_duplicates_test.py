"""Which images are found to show the same picture, from drawn images with known copies."""

import numpy as np
import pytest
from support import pictures

from voc_seg_tfrecord.core.errors import ImageError
from voc_seg_tfrecord.folder import picture_signs
from voc_seg_tfrecord.formats.stills import as_still
from voc_seg_tfrecord.quality import near_duplicates

DRAWINGS = (pictures.draw_photo, pictures.draw_texture, pictures.draw_chart)


def signs_of(images):
    stills = [as_still(np.ascontiguousarray(image), "image", ImageError) for image in images]
    signs = [picture_signs.compute_signs(still) for still in stills]
    return np.array(signs, np.uint8).reshape(-1, 32)


def random_signs(count, seed=0):
    bits = np.random.default_rng(seed).integers(0, 2, (count, 256), np.uint8)
    bits[:, 0] = 0
    return picture_signs.pack_signs(bits)


def flip_bits(signs, count, seed=0):
    """Returns signs, uint8 `[32]`, of which so many differ."""
    bits = picture_signs.unpack_signs(signs)
    places = 1 + np.random.default_rng(seed).permutation(255)[:count]
    bits[places] ^= 1
    return picture_signs.pack_signs(bits)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", pictures.CHANGES)
def test_copies_are_found_with_what_was_done_to_them_and_nothing_else(name):
    images = [draw(seed) for draw in DRAWINGS for seed in range(12)]
    copies = [pictures.CHANGES[name](image) for image in images[::2]]
    found = near_duplicates.find_nearest(signs_of(images), signs_of(copies))
    assert list(zip(found.first, found.second, strict=True)) == [
        (2 * number, number) for number in range(len(copies))
    ]
    turned = name if "mirrored" in name or "rotated" in name else "upright"
    names = {picture_signs.ORIENTATIONS[number].name for number in found.orientation}
    assert names == {turned}


@pytest.mark.slow
@pytest.mark.parametrize("draw", DRAWINGS)
def test_different_images_are_never_neighbors(draw):
    signs = signs_of([draw(seed) for seed in range(1000)])
    assert near_duplicates.find_near_duplicates(signs, 9) == near_duplicates.NearDuplicates(
        [], [], []
    )


@pytest.mark.parametrize("orientation", range(8))
@pytest.mark.parametrize("bits", [0, 1, 8, 9, 11])
def test_every_pair_with_few_different_signs_is_found(bits, orientation):
    first = random_signs(60)
    turned = picture_signs.ORIENTATIONS[orientation].apply_to_signs(first)
    second = np.array([flip_bits(signs, bits, seed) for seed, signs in enumerate(turned)])
    found = near_duplicates.find_nearest(first, second)
    expected = [(number, number, bits, orientation) for number in range(60)]
    assert found.as_rows() == expected


def test_most_pairs_with_more_different_signs_are_found_up_to_48():
    first = random_signs(200)
    count_of_bits = {}
    for bits in (24, 48, 49):
        second = np.array([flip_bits(signs, bits, seed) for seed, signs in enumerate(first)])
        count_of_bits[bits] = len(near_duplicates.find_nearest(first, second))
    assert count_of_bits[24] >= 198
    assert 50 < count_of_bits[48] < count_of_bits[24]
    assert count_of_bits[49] == 0


@pytest.mark.parametrize(
    ("bits", "level"),
    [
        (0, "same picture"),
        (8, "same picture"),
        (9, "same picture or neighbor"),
        (48, "same picture or neighbor"),
    ],
)
def test_a_pair_is_called_a_copy_up_to_8_bits(bits, level):
    assert near_duplicates.level_of(bits) == level


def test_a_copy_among_very_many_neighbors_is_found():
    one = random_signs(1)[0]
    film = np.array([flip_bits(one, 20, seed) for seed in range(2000)])
    found = near_duplicates.find_nearest(film, film[[7, 1234]])
    exact = [row for row in found.as_rows() if row[2] == 0]
    assert exact == [(7, 0, 0, 0), (1234, 1, 0, 0)]


def test_groups_are_what_all_pairs_connect_also_where_few_pairs_are_kept():
    film = [random_signs(1, seed=5)[0]]
    for frame in range(9):  # each frame is like the next ones alone
        film.append(flip_bits(film[-1], 20, seed=frame))
    others = random_signs(3, seed=6)
    signs = np.array([others[0], *film[::2], others[1], *film[1::2], film[0], others[2], others[0]])
    found = near_duplicates.find_near_duplicates(signs, 1)
    assert found.same_pictures == [[0, 14], [1, 12]]
    assert found.neighbors == [[1, 2, 3, 4, 5, 7, 8, 9, 10, 11]]
    assert found.same_upright_pairs in ([(0, 14)], [(1, 12)])


def test_a_mirrored_copy_is_in_a_group_and_in_no_upright_pair():
    photo = pictures.draw_photo(0)
    found = near_duplicates.find_near_duplicates(signs_of([photo, photo[:, ::-1]]), 9)
    assert found == near_duplicates.NearDuplicates([], [[0, 1]], [])


def test_a_set_without_images_has_no_near_duplicates():
    nothing = np.zeros((0, 32), np.uint8)
    assert len(near_duplicates.find_nearest(nothing, random_signs(3))) == 0
    assert near_duplicates.find_near_duplicates(nothing, 9) == near_duplicates.NearDuplicates(
        [], [], []
    )
