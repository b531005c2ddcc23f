"""Groups that stay together: which folders make some, and what ratios of few of them reach."""

import itertools

import numpy as np
from PIL import Image
import pytest
from support.drawing import write
from support.folders import plan_of, refused

from voc_seg_tfrecord.core.errors import ConfigError, ListError
from voc_seg_tfrecord.folder.splits.grouping import Grouping

CLASSES = ["background", "apple", "tree"]


def patients(root, count=6):
    """Writes eight slices of noise of each of some patients, and their masks."""
    random = np.random.default_rng(0)
    mask = np.zeros((24, 24), np.uint8)
    mask[4:12, 4:12] = 1
    for number, each in itertools.product(range(count), range(8)):
        for folder, pixels in (("images", random.integers(0, 256, mask.shape)), ("masks", mask)):
            path = root / folder / f"P{number:02}" / f"{each}.png"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels.astype(np.uint8)).save(path)
    return root


def sizes(plan):
    return {split: len(ids) for split, ids in plan.splits.items()}


def divided(root, ratios, **said):
    return plan_of(root, class_names=CLASSES, splits=ratios, group_by="folder", **said)


def test_ratios_of_few_groups_say_what_they_reach_and_what_is_possible(tmp_path):
    root = patients(tmp_path)
    ratios = {"train": 0.7, "validation": 0.3}
    by_hash = divided(root, ratios)
    assert sizes(by_hash) == {"train": 24, "validation": 24}
    (note,) = [note for note in by_hash.notes if "groups" in note]
    assert "train 24, validation 24 of 48 images" in note
    assert "--split_by stratified gives about train 32, validation 16" in note
    assert sizes(divided(root, ratios, split_by="stratified")) == {"train": 32, "validation": 16}


def test_ratios_that_groups_reach_need_no_note(tmp_path):
    plan = divided(patients(tmp_path), {"train": 0.5, "validation": 0.5})
    assert sizes(plan) == {"train": 24, "validation": 24}
    assert not [note for note in plan.notes if "groups" in note]


def test_an_empty_split_of_few_groups_names_what_fills_it(tmp_path):
    root = patients(tmp_path)
    ratios = {"train": 0.8, "validation": 0.1, "test": 0.1}
    said = {"class_names": CLASSES, "splits": ratios, "group_by": "folder"}
    assert "--split_by stratified" in refused(root, "no image", ListError, **said)
    filled = divided(root, ratios, split_by="stratified")
    assert sizes(filled) == {"train": 32, "validation": 8, "test": 8}


@pytest.mark.parametrize("split", ["train", "valid", "test", "Val", "train2017"])
def test_a_folder_of_a_split_is_no_group(split):
    with pytest.raises(ConfigError, match="have no group"):
        Grouping.parse("folder").groups([f"{split}/a", "rome/b"])
    ids = [f"{split}/rome/a", "train/rome/b", f"rome/{split}/c", f"{split}/bonn/d"]
    groups = Grouping.parse("folder").groups(ids)
    assert [*groups.values()] == ["rome", "rome", "rome", "bonn"]


def test_folders_without_splits_keep_their_names_as_groups():
    ids = ["rome/images/a", "images/b", "tests_of_rome/c"]
    groups = Grouping.parse("folder").groups(ids)
    assert [*groups.values()] == ["rome/images", "images", "tests_of_rome"]


def test_folders_of_splits_are_not_proposed_as_groups(tmp_path):
    names = ["film_{}0", "film_{}1", "film_{}2", "film_{}3"]
    sets = []
    for split, film in (("train", 1), ("train", 2), ("valid", 1), ("valid", 3), ("test", 4)):
        for name in names:
            file = name.format(f"{film}_frame")
            sets.append(f"a {split}/images/{file}{{}}.png {split}/masks/{file}{{}}.png")
    text = refused(
        write(tmp_path, *sets), "belong together", class_names=CLASSES, splits={"a": 0.5, "b": 0.5}
    )
    assert "--group_by folder" not in text


@pytest.mark.parametrize(
    "ids",
    [
        ["rome_patient_3_a", "rome_patient_3_b", "bonn_patient_3_c"],
        ["x/Patient 07/a", "x/Patient 07/b", "x/Patient 08/a"],
    ],
)
def test_a_word_and_its_number_end_a_group(ids):
    groups = [*Grouping.parse("word:patient").groups(ids).values()]
    assert groups[0] == groups[1] != groups[2]
    with pytest.raises(ConfigError, match="have no group"):
        Grouping.parse("word:patient").groups(["outpatient3_a", "patient_x"])


def test_a_word_is_proposed_in_place_of_a_regular_expression(tmp_path):
    sets = [
        "abcd images/{}.png masks/{}.png".replace("{}", f"site_{n % 2}_patient_{n:02}_{{}}")
        for n in range(6)
    ]
    said = {"class_names": CLASSES, "splits": {"train": 0.5, "validation": 0.5}}
    root = write(tmp_path, *sets)
    assert "--group_by word:patient" in refused(root, "belong together", **said)
    by_word = plan_of(root, **said, group_by="word:patient")
    pattern = r"regex:(?i)^(.*?(?<![a-z])(?:patient)[_ -]?\d+)"
    assert by_word.splits == plan_of(root, **said, group_by=pattern).splits
