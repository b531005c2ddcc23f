"""Which images are found to share a part, from drawn scenes with known crops."""

import numpy as np
from PIL import Image
import pytest
from support.pictures import SCENE_SIZE, draw_scene, encode_again

from voc_seg_tfrecord.quality import keypoints, pixel_confirmation, shared_parts
from voc_seg_tfrecord.quality.similarity import Similarity

pytest.importorskip("cv2", reason="keypoints need OpenCV, of the extra leaks")

SCENES = 12


def crop(pixels, top, left, height, width):
    return pixels[top : top + height, left : left + width]


def turn_by_10_degrees(pixels):
    turned = Image.fromarray(pixels).rotate(10, Image.Resampling.BICUBIC)
    return crop(np.asarray(turned), 60, 80, 240, 320)


CHANGES = {
    "80 % of the area": lambda pixels: crop(pixels, 10, 40, 320, 430),
    "60 % of the area": lambda pixels: crop(pixels, 60, 90, 280, 370),
    "60 % of the area, mirrored": lambda pixels: crop(pixels, 60, 90, 280, 370)[:, ::-1],
    "60 % of the area, turned by 90 degrees": lambda pixels: np.rot90(
        crop(pixels, 60, 90, 280, 370)
    ),
    "the left half": lambda pixels: pixels[:, : SCENE_SIZE[1] // 2],
    "turned by 10 degrees": turn_by_10_degrees,
}


@pytest.fixture(scope="module")
def scenes():
    return [draw_scene(seed)[..., 0] for seed in range(SCENES)]


@pytest.fixture(scope="module")
def described(scenes):
    return np.stack([keypoints.describe(scene) for scene in scenes])


@pytest.mark.slow
@pytest.mark.parametrize("name", CHANGES)
def test_a_changed_part_is_found_in_its_image_alone_and_confirmed(name, scenes, described):
    parts = [encode_again(CHANGES[name](scene), 85) for scene in scenes]
    described_parts = np.stack([keypoints.describe(part) for part in parts])
    confirmed = []
    for pair in shared_parts.find_between(described, described_parts):
        confirmation = pixel_confirmation.confirm(
            scenes[pair.first], parts[pair.second], pair.similarity.matrix()
        )
        if confirmation.is_confirmed:
            confirmed.append((pair.first, pair.second))
    assert len(confirmed) >= SCENES - 2
    assert all(first == second for first, second in confirmed)


def test_tiles_that_overlap_share_a_part(scenes):
    left = np.stack([keypoints.describe(scene[:, :330]) for scene in scenes[:4]])
    right = np.stack([keypoints.describe(scene[:, 150:]) for scene in scenes[:4]])
    pairs = [(pair.first, pair.second) for pair in shared_parts.find_between(left, right)]
    assert pairs == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_the_similarity_says_where_the_part_lies(scenes, described):
    part = crop(scenes[0], 60, 90, 280, 360)
    (pair,) = shared_parts.find_between(described, keypoints.describe(part)[np.newaxis])
    # The middle of the part, whose long side is 360 pixels, in shares of the image's 480.
    x, y = pair.similarity.matrix() @ [180 / 360, 140 / 360, 1]
    assert pair.first == 0
    assert (x * 480, y * 480) == (pytest.approx(270, abs=8), pytest.approx(200, abs=8))
    assert pair.similarity.scale == pytest.approx(360 / 480, rel=0.05)


def test_different_scenes_share_nothing(described):
    assert list(shared_parts.find_between(described[:6], described[6:])) == []


@pytest.mark.parametrize(
    "pixels",
    [
        np.zeros((200, 300), np.uint8),
        np.full((1, 1), 7, np.uint8),
        np.tile(np.arange(256, dtype=np.uint8), (20, 1)),
        np.zeros((3, 4000), np.uint8),
    ],
    ids=["black", "one pixel", "a ramp", "a line"],
)
def test_an_image_without_structure_has_no_keypoints_and_shares_nothing(pixels):
    plain = keypoints.describe(pixels)[np.newaxis]
    assert not plain["exists"].any()
    assert list(shared_parts.find_between(plain, plain)) == []


def test_no_images_share_nothing():
    nothing = np.zeros((0, keypoints.KEYPOINTS_PER_IMAGE), keypoints.KEYPOINT)
    assert list(shared_parts.find_between(nothing, nothing)) == []


def test_a_bright_spot_off_the_middle_has_a_keypoint_at_its_center():
    y, x = np.mgrid[:160, :160]
    image = (60 + 150 * np.exp(-((x - 110) ** 2 + (y - 50) ** 2) / 200)).astype(np.uint8)
    described = keypoints.describe(image)
    found = described[described["exists"]]
    distance = np.hypot(found["x"] - 110 / 160, found["y"] - 50 / 160)
    assert distance.min() < 0.02


@pytest.mark.parametrize(
    ("similarity", "words"),
    [
        (Similarity(False, 1, 0, 0, 0), "upright"),
        (Similarity(False, 2, 0.02, 0, 0), "upright"),
        (Similarity(False, 0, -1, 0, 0), "rotated by 90 degrees"),
        (Similarity(True, -1, 0, 1, 0), "mirrored"),
        (Similarity(True, 1, 0, 0, 1), "mirrored, then rotated by 180 degrees"),
    ],
)
def test_a_similarity_is_described_in_words(similarity, words):
    assert similarity.describe() == words


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda pixels: pixels, "upright"),
        (lambda pixels: pixels[:, ::-1], "mirrored"),
        (lambda pixels: np.rot90(pixels, -1), "rotated by 90 degrees"),
        (lambda pixels: np.rot90(pixels[:, ::-1], -1), "mirrored, then rotated by 90 degrees"),
    ],
)
def test_what_was_done_to_an_image_is_said(scenes, described, change, words):
    changed = keypoints.describe(change(scenes[1]))[np.newaxis]
    (pair,) = shared_parts.find_between(described, changed)
    assert (pair.first, pair.similarity.describe()) == (1, words)


def test_pixels_of_another_scene_are_not_confirmed(scenes):
    whole = Similarity(False, 1, 0, 0, 0)
    for second in scenes[1:5]:
        confirmation = pixel_confirmation.confirm(scenes[0], second, whole.matrix())
        assert not confirmation.is_confirmed


def test_images_without_contrast_or_overlap_are_not_confirmed(scenes):
    plain = np.full(SCENE_SIZE, 128, np.uint8)
    whole = Similarity(False, 1, 0, 0, 0)
    beside = Similarity(False, 1, 0, 5, 5)
    assert not pixel_confirmation.confirm(plain, plain, whole.matrix()).is_confirmed
    assert not pixel_confirmation.confirm(scenes[0], scenes[0], beside.matrix()).is_confirmed
