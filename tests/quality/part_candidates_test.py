"""Which pairs of images are proposed, from drawn keypoints of which some are planted copies."""

import numpy as np
import pytest

from voc_seg_tfrecord.quality import part_candidates, shared_parts
from voc_seg_tfrecord.quality.keypoints import KEYPOINT, KEYPOINTS_PER_IMAGE, SIGN_BITS
from voc_seg_tfrecord.quality.similarity import Similarity

PLANTED = 6
"""How many keypoints a copy shares with its image."""


def draw(rng, images):
    """Returns keypoints that have nothing in common, `KEYPOINT` `[N, 24]`."""
    drawn = np.zeros((images, KEYPOINTS_PER_IMAGE), KEYPOINT)
    for field in ("x", "y"):
        drawn[field] = rng.random(drawn.shape)
    drawn["log_size"] = rng.uniform(-5, 0, drawn.shape)
    drawn["direction"] = rng.uniform(0, 2 * np.pi, drawn.shape)
    drawn["signs"] = rng.integers(0, 1 << SIGN_BITS, drawn.shape, np.uint64)
    drawn["exists"] = True
    return drawn


def plant(rng, originals, copies, flipped_signs):
    """Gives copies some keypoints of the originals, with so many signs inverted in each."""
    copies[:, -PLANTED:] = originals[:, -PLANTED:]
    for signs in copies["signs"][:, -PLANTED:]:
        for number in range(PLANTED):
            for bit in rng.permutation(SIGN_BITS)[:flipped_signs].tolist():
                signs[number] ^= np.uint64(1 << bit)


def noise(rng, shape, share):
    """Returns signs of which a share is inverted, uint64."""
    bits = rng.random((*shape, SIGN_BITS)) < share
    return (bits * (np.uint64(1) << np.arange(SIGN_BITS, dtype=np.uint64))).sum(-1, dtype=np.uint64)


WHOLE = Similarity(False, 1, 0, 0, 0)


def pairs_of(parts):
    return [(part.first, part.second) for part in parts]


@pytest.mark.parametrize("flipped_signs", [0, 2, 4])
@pytest.mark.parametrize(("first_images", "second_images"), [(2048, 65536), (7, 65536), (50, 33)])
def test_planted_copies_are_found_and_nothing_else_whatever_the_size_of_the_blocks(
    flipped_signs, first_images, second_images, monkeypatch
):
    monkeypatch.setattr(part_candidates, "_MAX_FIRST_IMAGES", first_images)
    monkeypatch.setattr(part_candidates, "_MAX_SECOND_IMAGES", second_images)
    rng = np.random.default_rng(flipped_signs)
    first, second = draw(rng, 60), draw(rng, 80)
    plant(rng, first[::2], second[10:40], flipped_signs)
    expected = [(2 * number, 10 + number) for number in range(30)]
    assert pairs_of(shared_parts.find_between(first, second)) == expected


@pytest.mark.slow
def test_a_keypoint_that_all_images_have_hides_no_copy():
    """Round dark spots have nearly equal signs in any image."""
    rng = np.random.default_rng(0)
    first, second = draw(rng, 200), draw(rng, 200)
    for images in (first, second):
        images["signs"][:, :8] = np.uint64(0x555555555555) ^ noise(rng, (200, 8), 0.1)
    plant(rng, first[::10], second[::10], 2)
    found = pairs_of(shared_parts.find_between(first, second))
    planted = {(number, number) for number in range(0, 200, 10)}
    assert planted <= set(found)


def test_a_film_has_a_few_candidates_for_each_frame():
    rng = np.random.default_rng(2)
    frame = draw(rng, 1)
    film = np.repeat(frame, 300, axis=0)
    film["signs"] ^= noise(rng, film.shape, 0.02)
    pairs = part_candidates.propose_pairs(film, film)
    of_first = np.bincount(pairs.first, minlength=300)
    assert of_first.min() >= part_candidates.MAX_CANDIDATES_PER_IMAGE
    assert len(pairs) <= 2 * 300 * part_candidates.MAX_CANDIDATES_PER_IMAGE


def test_of_many_parts_of_an_image_the_best_are_kept_and_those_of_other_images():
    """An image and its tiles: each tile has the image as its best."""
    tiles = [shared_parts.SharedPart(0, number, 9 - number, WHOLE) for number in range(6)]
    frames = [
        shared_parts.SharedPart(first, second, 20 - abs(first - second), WHOLE)
        for first in range(10, 20)
        for second in range(10, 20)
    ]
    kept = shared_parts.keep_best([*tiles, *frames])
    assert kept[:6] == tiles
    assert {(n, n) for n in range(10, 20)} <= set(pairs_of(kept))
    assert len(kept) < 6 + 6 * 10
    assert shared_parts.keep_best([]) == []
