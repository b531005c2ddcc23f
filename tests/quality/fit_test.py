import dataclasses
import re

import numpy as np
import pytest
from support import planted

from voc_seg_tfrecord.quality import fit
from voc_seg_tfrecord.quality.misfits import INCONCLUSIVE, Judgment, describe_shift, find_misfits


@pytest.fixture(scope="module")
def drawn():
    found = [planted.draw(number) for number in range(400, 430)]
    for one in found:  # an image that no transform leaves alike
        one.image, one.mask = one.image.copy(), one.mask.copy()
        one.image[20:60, 10:40], one.mask[20:60, 10:40] = (250, 20, 20), 1
        one.image[90:99, 150:190], one.mask[90:99, 150:190] = (20, 20, 250), 2
    return found


def judged(drawn, change=lambda mask: mask, numbers=()):
    masks = [change(o.mask) if n in numbers else o.mask for n, o in enumerate(drawn)]
    return find_misfits([fit.measure(o.image, m) for o, m in zip(drawn, masks, strict=True)])


def moved_right(mask):
    return planted.moved(mask, 20, 0)


CHANGES = {
    "mirrored": lambda mask: mask[:, ::-1],
    "flipped upside down": lambda mask: mask[::-1],
    "rotated by 180 degrees": lambda mask: mask[::-1, ::-1],
    "20 px too far right": moved_right,
}


def test_masks_that_fit_are_not_named(drawn):
    assert judged(drawn) == Judgment()


@pytest.mark.parametrize("way", CHANGES)
def test_a_mask_that_does_not_fit_is_named_with_what_is_wrong(drawn, way):
    misfits = judged(drawn, CHANGES[way], {3, 17}).misfits
    assert [(m.number, m.description, m.other_image) for m in misfits] == [
        (3, way, None),
        (17, way, None),
    ]


def test_a_shift_in_both_directions_is_told_to_two_pixels(drawn):
    (misfit,) = judged(drawn, lambda m: planted.moved(m, -14, 9), {3}).misfits
    words = r"(\d+) px too far left and (\d+) px too low"
    left, down = map(int, re.fullmatch(words, misfit.description).groups())
    assert abs(left - 14) <= 2
    assert abs(down - 9) <= 2


@pytest.mark.parametrize(
    ("correction", "words"),
    [
        ((1, 0), "1 px too far left"),
        ((-1, 2), "1 px too far right and 2 px too high"),
        ((0, -1), "1 px too low"),
    ],
)
def test_a_shift_is_told_as_the_opposite_of_its_correction(correction, words):
    assert describe_shift(fit.Shift(*correction)) == words


def test_the_mask_of_another_image_is_named_with_that_image():
    drawn = [planted.draw(number) for number in range(400, 430)]
    (misfit,) = judged(drawn, lambda _: drawn[9].mask, {3}).misfits
    assert (misfit.number, misfit.description) == (3, "that of another image")
    assert misfit.other_image == 9


@pytest.mark.slow_but_first
@pytest.mark.parametrize("exchanged_count", [10, 15, 24, 30])
@pytest.mark.parametrize("seed", [0, 1])
def test_masks_that_are_exchanged_are_named_at_any_share(exchanged_count, seed):
    drawn = [planted.draw(number) for number in range(400, 430)]
    random = np.random.default_rng(seed)
    exchanged = random.permutation(len(drawn))[:exchanged_count]
    masks = [one.mask for one in drawn]
    for number, other in zip(exchanged, np.roll(exchanged, 1), strict=True):
        masks[number] = drawn[other].mask
    fits = [fit.measure(one.image, mask) for one, mask in zip(drawn, masks, strict=True)]
    misfits = find_misfits(fits).misfits
    named = {misfit.number for misfit in misfits}
    assert len(named & {*exchanged.tolist()}) >= 0.85 * exchanged_count
    assert len(named - {*exchanged.tolist()}) <= 1
    other_by_number = dict(zip(exchanged.tolist(), np.roll(exchanged, 1).tolist(), strict=True))
    right = [misfit.other_image == other_by_number.get(misfit.number) for misfit in misfits]
    assert sum(right) >= 0.8 * len(named)


@pytest.mark.parametrize("way", ["mirrored", "flipped upside down", "20 px too far right"])
def test_what_is_wrong_with_all_masks_is_said_once(drawn, way):
    found = judged(drawn, CHANGES[way], range(len(drawn)))
    assert not found.misfits
    assert f"all masks may be {way}" in found.notes[0]


def test_masks_that_are_all_those_of_the_next_image_are_said_to_be_out_of_step():
    drawn = [planted.draw(number) for number in range(400, 430)]
    masks = [one.mask for one in drawn]
    fits = [fit.measure(o.image, m) for o, m in zip(drawn, masks[1:] + masks[:1], strict=True)]
    (note,) = find_misfits(fits).notes
    assert "fit the image after theirs better" in note


def test_a_set_whose_borders_lie_on_no_edges_says_that_it_does_not_tell(drawn):
    noise = np.random.default_rng(0).integers(0, 256, (40, *planted.SIZE, 3), np.uint8)
    fits = [fit.measure(image, one.mask) for image, one in zip(noise, drawn, strict=False)]
    found = find_misfits(fits)
    assert not found.misfits
    assert found.notes == (INCONCLUSIVE,)
    assert not found.is_conclusive


def test_small_sets_and_masks_without_borders_are_not_judged(drawn):
    assert find_misfits([fit.measure(one.image, one.mask[::-1]) for one in drawn[:5]]).notes == ()
    assert fit.measure(drawn[0].image, np.zeros(planted.SIZE, np.uint8)) is None
    assert fit.measure(drawn[0].image[:9], drawn[0].mask[:9]) is None


def test_a_line_of_void_around_objects_is_one_border(drawn):
    mask = drawn[0].mask.copy()
    around = np.zeros(mask.shape, bool)
    around[1:-1, 1:-1] = (mask[2:, 1:-1] != mask[:-2, 1:-1]) | (mask[1:-1, 2:] != mask[1:-1, :-2])
    mask[around] = 255
    with_void = fit.measure(drawn[0].image, mask)
    assert with_void.in_place == pytest.approx(
        fit.measure(drawn[0].image, drawn[0].mask).in_place, abs=0.1
    )
    assert max(*with_void.transform_gains, with_void.shift_gain) < 0


def fits_like(drawn, **fields):
    """Returns how masks fit that are right, with other values of some fields."""
    fits = [fit.measure(one.image, one.mask) for one in drawn]
    return [dataclasses.replace(one, **fields) for one in fits]


def test_masks_that_are_shifted_to_both_sides_are_not_said_to_have_one_shift(drawn):
    gains = {"transform_gains": (-0.1, -0.1, -0.1), "shift_gain": 0.3}
    left = fits_like(drawn[::2], shift=fit.Shift(4, 0), **gains)
    right = fits_like(drawn[1::2], shift=fit.Shift(-4, 0), **gains)
    assert not any("all masks" in note for note in find_misfits([*left, *right]).notes)
    (note,) = find_misfits([*left, *left]).notes
    assert "all masks may be 4 px too far left" in note


def test_a_shift_that_gains_no_more_than_usual_is_not_named_in_place_of_a_transform(drawn):
    fits = fits_like(drawn, transform_gains=(-0.1, -0.1, -0.1), shift_gain=-0.1)
    fits[3] = dataclasses.replace(fits[3], transform_gains=(-0.1, 0.05, -0.1), shift_gain=0.11)
    (misfit,) = find_misfits(fits).misfits
    assert (misfit.number, misfit.description) == (3, "flipped upside down")
