import dataclasses

import numpy as np
import pytest

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.quality import evidence, regions

IMAGE = File(pillow.encode_png(np.zeros((4, 4, 3), np.uint8)), "a.png")


def examined(mask):
    found = evidence.examine(IMAGE, mask, image_id="a", split="train", measure_fit=False)
    arrays = found.signs, found.mask_sample.tolist()
    return dataclasses.replace(found, signs=None, packed_mask_sample=b""), arrays


def drawn(rng, kind):
    height, width = rng.integers(1, 40, 2)
    if kind == "noise":
        return rng.choice(np.array([0, 1, 2, 255], np.uint8), (height, width))
    mask = np.zeros((height, width), np.uint8)
    for value in rng.choice([0, 1, 2, 255], 8):
        top, left = rng.integers(0, height), rng.integers(0, width)
        mask[top : top + rng.integers(1, 20), left : left + rng.integers(1, 20)] = value
    return mask


@pytest.mark.slow_but_first
@pytest.mark.parametrize("kind", ["noise", "boxes"])
@pytest.mark.parametrize("kept", [1, 1000])
def test_regions_that_are_looked_for_in_bands_are_those_of_the_whole_mask(kind, kept, monkeypatch):
    rng = np.random.default_rng(7)
    masks = [drawn(rng, kind) for _ in range(20)]
    whole = [repr(examined(mask)) for mask in masks]
    monkeypatch.setattr(regions, "_MAX_KEPT_REGIONS", kept)
    for pixels in (1, 100):
        monkeypatch.setattr(regions, "_BAND_PIXELS", pixels)
        assert [repr(examined(mask)) for mask in masks] == whole


def test_a_region_that_winds_through_all_bands_is_one(monkeypatch):
    monkeypatch.setattr(regions, "_BAND_PIXELS", 1)
    mask = np.full((9, 9), 255, np.uint8)
    mask[:, ::2] = 1  # five columns, which the last row joins
    mask[8] = 1
    (region,) = examined(mask)[0].largest_regions
    assert (region.pixels, region.box) == (49, (0, 0, 9, 9))
