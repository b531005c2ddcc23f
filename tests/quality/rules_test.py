import dataclasses

import numpy as np
import pytest
from support import planted

from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.formats.pillow import encode_png
from voc_seg_tfrecord.quality import evidence, finding, misfits, rules
from voc_seg_tfrecord.quality.evidence import MAX_SPECK_PIXELS, examine


def seen(number, mask, split="train", image=None):
    image = planted.draw(number).image if image is None else image
    file = File(encode_png(image), str(number))
    return examine(file, mask, image_id=str(number), split=split, measure_fit=False)


def square(side, at=20, label=1):
    mask = np.zeros(planted.SIZE, np.uint8)
    mask[at : at + side, at : at + side] = label
    return mask


@pytest.fixture(scope="module")
def usual():
    return [seen(number, square(40 + number)) for number in range(12)]


def found(evidence):
    return rules.find_all(evidence, planted.NAMES, 0)


def test_a_usual_set_has_no_findings(usual):
    assert found(usual) == []


def test_of_a_large_set_a_sample_is_measured_in_full_and_a_note_says_so(monkeypatch):
    ids = [f"2007_{number:06}" for number in range(5000)]
    assert all(evidence.is_fitted(image_id, len(ids)) for image_id in ids)
    monkeypatch.setattr(evidence, "MAX_FITTED_IMAGES", 500)
    sample = [image_id for image_id in ids if evidence.is_fitted(image_id, len(ids))]
    assert 430 < len(sample) < 570
    monkeypatch.setattr(evidence, "MAX_FITTED_IMAGES", 9)
    pairs = [planted.draw(number) for number in range(40)]
    pairs[39].image[:] = pairs[0].image  # a copy is found in all images
    examples = [
        examine(
            File(encode_png(pair.image), str(number)),
            pair.mask,
            image_id=str(number),
            split="train",
            measure_fit=evidence.is_fitted(str(number), len(pairs)),
        )
        for number, pair in enumerate(pairs)
    ]
    findings = found(examples)
    assert "same image, other mask" in {one.kind for one in findings}
    sampled = sum(evidence.is_fitted(str(number), 40) for number in range(40))
    assert 0 < sampled < 40
    assert f"A sample of {sampled} of 40 images was searched" in findings[-1].message
    assert findings[-1].kind == finding.NOTE


def test_a_rule_names_the_place_of_what_it_found(usual):
    mask = square(50)
    mask[100, 120:122] = 1
    (speck,) = found([*usual, seen(99, mask)])
    assert (speck.kind, speck.box, speck.ids, speck.split) == (
        "speck",
        (120, 100, 2, 1),
        ("99",),
        "train",
    )
    assert "a region of 2 pixels of coin, at x=120, y=100; other masks" in speck.message


def test_a_set_that_does_not_tell_comes_last_and_asks_for_no_correction(usual, monkeypatch):
    judgment = misfits.Judgment(notes=(misfits.INCONCLUSIVE,), is_conclusive=False)
    monkeypatch.setattr(rules, "find_misfits", lambda _: judgment)
    mask = square(50)
    mask[100, 120:122] = 1
    _, last = found([*usual, seen(99, mask)])
    assert last.kind == finding.ALL_MASKS
    assert "correct all masks" not in last.remedy


def test_a_class_that_is_often_tiny_has_no_specks(usual):
    dotted = []
    for number in range(3):
        mask = square(50)
        mask[100, 120:122] = 1
        dotted.append(seen(99 + number, mask))
    assert found([*usual, *dotted]) == []


@pytest.mark.parametrize(
    ("place", "value", "expected"),
    [
        # A class of few masks is compared with the regions of all classes.
        (np.s_[100, 120:122], 3, [("speck", (120, 100, 2, 1))]),
        (np.s_[30, 31], 255, []),  # void is no hole
        (np.s_[30, 31], 0, [("hole of one pixel", (31, 30, 1, 1))]),  # and no speck
    ],
)
def test_a_few_pixels_are_a_speck_a_hole_or_nothing(usual, place, value, expected):
    mask = square(50)
    mask[place] = value
    assert [(f.kind, f.box) for f in found([*usual, seen(99, mask)])] == expected


def test_holes_of_most_masks_are_how_the_tool_draws():
    masks = [square(40 + number) for number in range(12)]
    for mask in masks:
        mask[30, 31] = 0
    assert found([seen(n, mask) for n, mask in enumerate(masks)]) == []


def test_few_masks_of_background_are_named_and_many_are_not(usual):
    empty = [seen(50 + n, square(0)) for n in range(4)]
    assert [f.kind for f in found([*usual, empty[0]])] == ["all background"]
    assert found([*usual, *empty]) == []


def test_masks_of_void_alone_are_named_however_many_they_are(usual):
    void = [seen(50 + n, square(0) + np.uint8(255)) for n in range(14)]
    assert [f.kind for f in found([*usual, *void])] == ["all void"] * 14
    assert {f.kind for f in found(void)} == {"all void"}


def test_a_region_far_larger_than_the_others_of_its_class_is_named(usual):
    (finding,) = found([*usual, seen(99, np.ones(planted.SIZE, np.uint8))])
    assert finding.kind == "unusual size"
    assert "far larger than in other masks" in finding.message


def test_the_same_photo_with_other_masks_is_named_before_all_copies(usual):
    same = planted.draw(3).image
    copies = [seen(99, square(43), image=same), seen(98, square(60, at=80), "test", image=same)]
    kinds = [finding.kind for finding in found([*usual, *copies])]
    assert kinds == ["same image, other mask", "same image in two splits"]


def test_the_same_photo_twice_in_one_split_with_other_masks_is_one_finding(usual):
    copy = seen(98, square(60, at=80), image=planted.draw(3).image)
    (finding,) = found([*usual, copy])
    assert (finding.kind, finding.ids) == ("same image, other mask", ("3", "98"))


@pytest.mark.parametrize(
    ("contrast", "kind"), [(30, "same picture twice"), (90, "same picture or neighbor")]
)
def test_frames_of_a_film_in_which_an_object_moved_have_no_contradicting_masks(contrast, kind):
    checks = contrast * (np.indices((20, 20)).sum(0) % 2 * 2 - 1)[..., np.newaxis]
    frames = []
    for number, at in enumerate((20, 45)):
        image = planted.draw(3).image.astype(int)
        image[at : at + 20, at : at + 20] += checks
        file = File(encode_png(image.clip(0, 255).astype(np.uint8)), "frame")
        mask = square(20, at)
        frames.append(examine(file, mask, image_id=str(number), split="train", measure_fit=True))
    assert [finding.kind for finding in found(frames)] == [kind]


def test_files_of_one_picture_in_one_split_are_one_group(usual):
    lighter = planted.draw(3).image // 2 * 2
    (finding,) = found([*usual, seen(99, square(43), image=lighter)])
    assert (finding.kind, finding.ids) == ("same picture twice", ("3", "99"))


def test_images_without_masks_are_only_compared_with_each_other(usual):
    bare = [dataclasses.replace(one, packed_mask_sample=b"") for one in usual]
    assert found(bare) == []


def test_regions_touch_at_corners_and_void_has_none():
    mask = np.zeros(planted.SIZE, np.uint8)
    mask[10, 10] = mask[11, 11] = mask[40, 0] = mask[41, -1] = 1
    mask[60] = 255
    one = seen(0, mask)
    assert [(r.label, r.pixels, r.box) for r in one.specks] == [
        (1, 2, (10, 10, 2, 2)),
        (1, 1, (0, 40, 1, 1)),
        (1, 1, (199, 41, 1, 1)),
    ]
    assert all(region.pixels <= MAX_SPECK_PIXELS for region in one.specks)
    assert one.labels == (0, 1)


def test_a_mask_of_void_alone_has_no_regions():
    assert (
        seen(0, np.full((5, 4), 255, np.uint8), image=np.zeros((5, 4, 3), np.uint8)).largest_regions
        == ()
    )


@pytest.mark.parametrize("pixels", [(3, 3), (3, 4)])
def test_a_speck_is_found_where_void_surrounds_all_that_is_meant(pixels):
    def with_void(number, small):
        mask = square(46 + number, at=17, label=255)
        mask[20 : 60 + number, 20 : 60 + number] = 1
        if small:  # a small object that is meant
            mask[97:106, 97:106] = 255
            mask[100:103, 100:103] = 1
        return mask

    usual = [seen(number, with_void(number, number % 2)) for number in range(16)]
    mask = with_void(3, False)
    mask[110 : 110 + pixels[0], 120 : 120 + pixels[1]] = 1
    (speck,) = found([*usual, seen(99, mask)])
    assert (speck.kind, speck.box) == ("speck", (120, 110, pixels[1], pixels[0]))
    assert found(usual) == []


@pytest.mark.slow
def test_few_masks_of_one_class_everywhere_are_named_and_many_are_not():
    drawn = [square(50, label=n % 2 + 1) for n in range(30)]
    usual = [seen(n, mask) for n, mask in enumerate(drawn)]
    full = [seen(50 + n, np.full(planted.SIZE, 3, np.uint8)) for n in range(9)]
    findings = found([*usual, *full[:4]])
    assert [f.kind for f in findings] == ["one class everywhere"] * 4
    assert {f.box for f in findings} == {(0, 0, *full[0].size[::-1])}
    assert found([*usual, *full]) == []
