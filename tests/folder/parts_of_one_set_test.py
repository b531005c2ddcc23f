"""Folders that differ in a number alone are parts of one set, unless images may be there twice."""

import numpy as np
import pytest
from support import drawing

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder.question import QuestionError

OPTIONS = {"class_names": ["a", "b", "c"]}
NUMBERED = ("abcd imgs/{}.jpg masks/{}.png", "ef imgs2/{}.jpg masks2/{}.png")
DAYS = tuple(
    f"{ids} {day}/cam/{day}_cam_{{}}.jpg {day}/label/{day}_label_{{}}.png"
    for day, ids in (("20180807", "abc"), ("20180925", "def"))
)


def plan(root, **options):
    return plan_to_build(root, name="mine", **OPTIONS, **options)


@pytest.mark.parametrize(("sets", "first"), [(NUMBERED, "imgs"), (DAYS, "20180807/cam")])
def test_folders_that_differ_in_a_number_are_one_set(tmp_path, sets, first):
    built = plan(drawing.write(tmp_path, *sets))
    assert len(built.splits["train"]) == 6
    assert any("are read as one set" in note and first in note for note in built.notes)


SIZES = [f"abc images_{size}/{{}}_{size}.jpg masks_{size}/{{}}_{size}.png" for size in (256, 512)]
ASKED = {
    "sizes": SIZES,
    "two other folders": ("abc x/imgs/{}.jpg x/masks/{}.png", "de y/imgs/{}.jpg y/masks/{}.png"),
    "versions": [
        f"{ids} v{n}/cam/v{n}_cam_{{}}.jpg v{n}/label/v{n}_label_{{}}.png"
        for n, ids in ((1, "abc"), (2, "def"))
    ],
    "class files of each day": (
        *DAYS,
        ("20180807/classes.txt", "a\nb\nc\n"),
        ("20180925/classes.txt", "a\nc\nb\n"),
    ),
}


@pytest.mark.parametrize("kind", ASKED)
def test_folders_that_may_be_two_sets_are_asked(tmp_path, kind):
    with pytest.raises(QuestionError, match="ways to read"):
        plan(drawing.write(tmp_path, *ASKED[kind]))


def test_folders_with_the_same_ids_are_asked(tmp_path):
    drawing.write(tmp_path, NUMBERED[0], "ab imgs2/{}.jpg masks2/{}.png")
    for name in "ab":
        drawing.put(tmp_path, f"imgs2/{name}.jpg", drawing.picture(f"other {name}"))
    with pytest.raises(QuestionError, match="ways to read"):
        plan(tmp_path)


def test_images_of_a_second_day_that_are_those_of_the_first_are_asked(tmp_path):
    for number in range(60):
        for day, shift in (("20180807", 0), ("20180925", 1)):
            image = drawing.picture(f"{number}")
            mask = np.roll(drawing.truth(f"{number}"), shift)
            drawing.put(tmp_path, f"{day}/cam/{day}_cam_{number}.png", image)
            drawing.put_mask(tmp_path, f"{day}/label/{day}_label_{number}.png", mask)
    with pytest.raises(QuestionError, match="ways to read"):
        plan(tmp_path)


def test_images_of_train_with_masks_of_validation_are_no_set(tmp_path):
    root = drawing.write(tmp_path, "abc train/images/{}.jpg val/masks/{}.png")
    with pytest.raises(LayoutError, match="found one way to read images and masks; confirm it"):
        plan(root)
