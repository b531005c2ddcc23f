"""Lists of folds: the user says which one validates, wherever the lists lie."""

import json

import pytest
from support.drawing import write
from support.folders import images_of, plan_of, proposed, refused, said_by

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.exports import writers
from voc_seg_tfrecord.reading.dataset import open_built

IDS = "abcdefghij"
FOLDS = {f"fold_{k}": [*IDS[k::5]] for k in range(5)}
CLASSES = ["background", "apple", "tree"]
QUESTION = "6 ways to divide"


def lists(place, name="fold_{}.txt", first=0):
    texts = []
    for number, ids in enumerate(FOLDS.values(), first):
        path = f"{place}/{name.format(number)}".removeprefix("./")
        texts.append((path, "".join(f"{image_id}\n" for image_id in ids)))
    return texts


def folder(root, *texts):
    return write(root, f"{IDS} JPEGImages/{{}}.jpg SegmentationClass/{{}}.png", *texts)


@pytest.mark.parametrize("place", [".", "lists", "folds", "splits", "ImageSets/Segmentation"])
def test_lists_of_folds_are_asked_about_in_every_place(tmp_path, place):
    root = folder(tmp_path, *lists(place))
    lines = proposed(refused(root, QUESTION, class_names=CLASSES))
    assert len(lines) == 6
    first = images_of(plan_of(root, **said_by(lines[0][1]), class_names=CLASSES))
    assert first == {"train": sorted({*IDS} - {*"af"}), "validation": ["a", "f"]}
    all_folds = images_of(plan_of(root, **said_by(lines[1][1]), class_names=CLASSES))
    assert all_folds == FOLDS
    last = images_of(plan_of(root, **said_by(lines[5][1]), class_names=CLASSES))
    assert last["validation"] == FOLDS["fold_4"]


@pytest.mark.parametrize("name", ["fold{}.txt", "Fold-{}.txt", "fold_{}_ids.csv", "kfold{}.lst"])
def test_lists_of_folds_have_several_names(tmp_path, name):
    refused(folder(tmp_path, *lists("lists", name, first=1)), QUESTION, class_names=CLASSES)


def test_folds_as_keys_are_asked_about(tmp_path):
    root = folder(tmp_path, ("folds.json", json.dumps(FOLDS)))
    lines = proposed(refused(root, QUESTION, class_names=CLASSES))
    assert images_of(plan_of(root, **said_by(lines[1][1]), class_names=CLASSES)) == FOLDS


def test_a_test_beside_folds_stays(tmp_path):
    root = folder(tmp_path, *lists("lists"), ("lists/test.txt", "x\n"))
    write(root, "x JPEGImages/{}.jpg SegmentationClass/{}.png")
    lines = proposed(refused(root, QUESTION, class_names=CLASSES))
    for _, options in lines:
        assert images_of(plan_of(root, **said_by(options), class_names=CLASSES))["test"] == ["x"]


def test_train_and_validation_beside_folds_are_taken(tmp_path):
    texts = [("lists/train.txt", "\n".join(IDS[:7])), ("lists/val.txt", "\n".join(IDS[7:]))]
    plan = plan_of(folder(tmp_path, *texts, *lists("lists")), class_names=CLASSES)
    assert images_of(plan) == {"train": [*IDS[:7]], "validation": [*IDS[7:]]}


def test_the_user_divides_train_into_other_folds(tmp_path):
    root = folder(tmp_path, *lists("lists"))
    plan = plan_of(root, class_names=CLASSES, folds=2)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"fold_0": 5, "fold_1": 5}


@pytest.mark.slow  # two builds and an export
def test_an_export_of_folds_is_built_with_the_same_folds(tmp_path):
    root = folder(tmp_path / "tree")
    data = ["--data_dir", str(tmp_path / "data")]
    classes = ["--class_names", ",".join(CLASSES)]
    build = ["build", str(root), "--name", "one", "--folds", "5", *classes]
    assert cli.main([*build, *data]) == 0
    out = tmp_path / "out"
    assert cli.main(["export", "one", "--layout", "voc", "--out", str(out), *data]) == 0
    assert cli.main(["build", str(out), "--name", "two", *data]) == 0
    splits = open_built("two", str(tmp_path / "data")).info.splits
    assert {name: split.num_examples for name, split in splits.items()} == dict.fromkeys(FOLDS, 2)
    built = images_of(plan_of(out))
    for split, ids in built.items():
        text = (out / "ImageSets/Segmentation" / f"{split}.txt").read_text()
        assert text.split() == ids


def test_an_export_without_folds_has_no_table_of_splits(tmp_path):
    assert writers.write_table_of_folds(None, tmp_path, ["train", "val"]) == []
    assert not any(tmp_path.iterdir())
