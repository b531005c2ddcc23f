import io

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.quality import near_duplicates
from voc_seg_tfrecord.quality.evidence import examine


def photo(seed, size=(300, 400)):
    """An image of smooth, random colors."""
    coarse = np.random.default_rng(seed).integers(0, 256, (6, 8, 3), np.uint8)
    return Image.fromarray(coarse).resize(size[::-1], Image.Resampling.BICUBIC)


def look(image, form="PNG", **options):
    buffer = io.BytesIO()
    image.save(buffer, form, **options)
    image = File(buffer.getvalue(), "image")
    return examine(image, None, image_id="image", split="train", measure_fit=False).brightness


@pytest.mark.slow
def test_copies_that_were_scaled_or_encoded_again_are_found_and_nothing_else():
    looks = [look(photo(seed)) for seed in range(40)]
    copies = [
        look(photo(3), "JPEG", quality=40),
        look(photo(100)),
        look(photo(7).resize((160, 120))),
        look(photo(5).convert("L")),
        look(photo(11).transpose(Image.Transpose.FLIP_LEFT_RIGHT)),
    ]
    assert list(near_duplicates.find_pairs(np.stack(looks + copies))) == [(3, 40), (5, 43), (7, 42)]


def test_groups_are_what_all_pairs_connect_also_where_few_pairs_are_kept(monkeypatch):
    monkeypatch.setattr(near_duplicates, "_MAX_BLOCK_IMAGES", 8)
    film = look(photo(1)).astype(int)  # each frame is like the next ones alone
    looks = [(film + 2 * frame).clip(0, 255) for frame in range(9)]
    looks = np.array([look(photo(2)), *looks[::2], look(photo(3)), *looks[1::2]], np.uint8)
    found = near_duplicates.find_pairs_and_groups(looks, max_pairs=2)
    assert found.pairs == list(near_duplicates.find_pairs(looks))[:2]
    assert found.groups == [[1, 2, 3, 4, 5, 7, 8, 9, 10]]
    assert near_duplicates.find_pairs_and_groups(looks, max_pairs=99).groups == found.groups
    assert len(list(near_duplicates.find_pairs(looks))) < 9 * 8 / 2


def test_images_without_contrast_are_not_compared():
    plain = [look(Image.new("RGB", (64, 64), color)) for color in ("white", "white", "gray")]
    assert list(near_duplicates.find_pairs(np.stack(plain))) == []


def test_a_set_without_images_has_no_look_alikes():
    assert list(near_duplicates.find_pairs(np.zeros((0, 16, 18), np.uint8))) == []


def test_pairs_are_found_across_the_borders_of_blocks(monkeypatch):
    monkeypatch.setattr(near_duplicates, "_MAX_BLOCK_IMAGES", 2)
    looks = [look(photo(seed)) for seed in range(5)]
    pairs = near_duplicates.find_pairs(np.stack(looks + looks[::-1]))
    assert sorted(pairs) == [(n, 9 - n) for n in range(5)]
