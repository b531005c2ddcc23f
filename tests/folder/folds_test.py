"""Folds for cross-validation: who is in which, by groups and classes, in every command."""

import collections
import itertools
import json

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.building import files, tfds_build
from support.command_line import run_command
from support.folders import plan_of, refused

from voc_seg_tfrecord import VocSegConfig, splits
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.reading.dataset import open_built

CLASSES = "--class_names=background,apple,tree"


@pytest.fixture
def tree(tmp_path):
    """Four scans of each of ten patients; tree is in the scans of patients 0 to 4."""
    root = tmp_path / "tree"
    for number in range(40):
        patient = number // 4
        mask = np.zeros(drawing.SIZE, np.uint8)
        mask[2] = 1
        mask[3, : number + 1] = 2 * (patient < 5)
        put_pair(root, f"patient{patient:02}_slice{number % 4}", mask)
    return root


def put_pair(root, image_id, mask):
    """Writes a mask and an image that no other one has the bytes of."""
    drawing.put_mask(root, f"SegmentationClass/{image_id}.png", mask)
    some = np.random.default_rng([*image_id.encode()])
    path = root / f"JPEGImages/{image_id}.png"
    path.parent.mkdir(exist_ok=True)
    Image.fromarray(some.integers(0, 256, (*drawing.SIZE, 3), np.uint8)).save(path)


def scans(*patients):
    return [f"patient{patient:02}_slice{scan}" for patient in patients for scan in range(4)]


def patients(ids):
    return {image_id.partition("_")[0] for image_id in ids}


def test_folds_keep_patients_together_and_have_the_same_size_and_classes(tree):
    plan = plan_of(tree, folds=5, group_by="prefix:_")
    assert [*plan.splits] == [f"fold_{number}" for number in range(5)]
    assert sorted(itertools.chain(*plan.splits.values())) == sorted(scans(*range(10)))
    for ids in plan.splits.values():
        assert len(ids) == 8
        assert len(patients(ids)) == 2
        assert len(patients(ids) & patients(scans(*range(5)))) == 1
    assert (
        plan.sources["fold_0"] == "0.2 of 40 in 10 groups, stratified as far as whole groups allow"
    )


@pytest.mark.parametrize("split_by", ["hash", "stratified"])
def test_a_list_of_test_stays_and_its_images_are_in_no_fold(tree, split_by):
    drawing.put_lists(tree, train=scans(*range(8)), test=scans(8, 9))
    plan = plan_of(tree, folds=3, group_by="none", split_by=split_by, seed=3)
    assert {*plan.splits} == {"fold_0", "fold_1", "fold_2", "test"}
    assert sorted(plan.splits["test"]) == scans(8, 9)
    folded = [image_id for name, ids in plan.splits.items() if name != "test" for image_id in ids]
    assert sorted(folded) == scans(*range(8))


def test_ratios_hold_a_test_out_and_folds_divide_the_rest(tree):
    ratios = {"train": 0.8, "test": 0.2}
    plan = plan_of(tree, folds=4, group_by="prefix:_", splits=ratios)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {
        **dict.fromkeys(["fold_0", "fold_1", "fold_2", "fold_3"], 8),
        "test": 8,
    }
    all_patients = [patients(ids) for ids in plan.splits.values()]
    assert sum(map(len, all_patients)) == 10


@pytest.mark.parametrize("lists", [False, True])
def test_folds_that_would_tear_patients_apart_are_a_question(tree, lists):
    if lists:
        drawing.put_lists(tree, train=scans(*range(8)), test=scans(8, 9))
    text = refused(tree, "Folds may put these into several splits", LayoutError, folds=4)
    assert "--group_by prefix:_" in text
    assert "split_by" not in text


@pytest.mark.parametrize("seed", range(12))
def test_folds_are_a_partition_whatever_the_groups_and_classes(tmp_path, seed):
    """Group sizes, classes, masks that are missing and the number of folds are random."""
    some = np.random.default_rng(seed)
    group_of = {}
    for group in range(int(some.integers(6, 12))):
        for number in range(int(some.integers(1, 6))):
            image_id = f"g{group}x{number}"
            group_of[image_id] = group
            mask = np.zeros(drawing.SIZE, np.uint8)
            mask[0] = some.integers(0, 3)
            put_pair(tmp_path, image_id, mask)
    missing = [*group_of][int(some.integers(len(group_of)))]
    (tmp_path / "SegmentationClass" / f"{missing}.png").unlink()
    folds = int(some.integers(2, 6))
    grouped = bool(seed % 2)
    rule = r"regex:^g\d+" if grouped else "none"
    plan = plan_of(tmp_path, folds=folds, group_by=rule, seed=seed)
    found = [*itertools.chain(*plan.splits.values())]
    assert sorted(found) == sorted({*group_of} - {missing})
    assert len(plan.splits) == folds
    sizes = [len(ids) for ids in plan.splits.values()]
    assert min(sizes) > 0
    if grouped:
        folds_of_group = collections.defaultdict(set)
        for fold, ids in plan.splits.items():
            for image_id in ids:
                folds_of_group[group_of[image_id]].add(fold)
        assert {len(folds_of) for folds_of in folds_of_group.values()} == {1}
    else:
        assert max(sizes) - min(sizes) <= 1


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"folds": 1}, "2 to 100"),
        ({"folds": True}, "2 to 100"),
        ({"folds": "5"}, "2 to 100"),
        ({"folds": 5, "release": "2012"}, "the splits of a release are fixed"),
        ({"folds": 5, "splits": {"train": 0.8, "validation": 0.2}}, "and the split validation"),
        ({"folds": 5, "splits": {"train": "a", "val": "b", "test": "c"}}, "and the split val"),
        ({"folds": 5, "splits": {"train": "a", "test": "b", "fold_0": "c"}}, "fold_0"),
        ({"folds": 5, "splits": {"test": 1.0}}, "a split train"),
        ({"folds": 5, "splits": {"train": 0.5, "test": 0.4}}, "sum to 1"),
    ],
)
def test_options_that_do_not_go_with_folds_are_refused(fields, words):
    with pytest.raises(ConfigError, match=words):
        VocSegConfig(name="mine", **fields)


def test_lists_of_validation_are_refused_with_a_command_that_works(tree):
    drawing.put_lists(tree, train=scans(*range(6)), val=scans(6, 7), test=scans(8, 9))
    said = {"folds": 4, "group_by": "prefix:_"}
    text = refused(tree, "4 folds and the split validation", ConfigError, **said)
    assert "--splits train=train.txt+val.txt" in text
    merged = {"train": "train.txt+val.txt", "test": "test.txt"}
    plan = plan_of(tree, **said, splits=merged)
    assert {len(ids) for ids in plan.splits.values()} == {8}
    assert sorted(plan.splits["test"]) == scans(8, 9)


def test_fewer_groups_than_folds_and_an_empty_fold_are_refused(tree):
    drawing.put_lists(tree, train=scans(0, 1))
    refused(tree, "3 splits for 2 groups", ConfigError, folds=3, group_by="prefix:_")
    fields = {"folds": 8, "group_by": "prefix:_", "split_by": "hash"}
    refused(tree, "8 splits for 2 groups", ConfigError, **fields)


@pytest.mark.slow
def test_every_command_reads_the_same_folds(tree, tmp_path):
    drawing.put_lists(tree, train=scans(*range(8)), test=scans(8, 9))
    words = [CLASSES, "--folds=4", "--group_by=prefix:_"]
    checked = json.loads(run_command("check", tree, *words, "--json").output)
    built = run_command(
        "build", tree, *words, "--name=mine", f"--data_dir={tmp_path / 'd'}", "--json"
    )
    document = json.loads(built.output)
    assert document["splits"] == checked["splits"] == dict.fromkeys(checked["splits"], 8)
    name = "voc_seg_tfrecord/mine"
    assert cli.main(["verify", name, f"--data_dir={tmp_path / 'd'}", f"--source={tree}"]) == 0
    assert cli.main(["diff", name, f"{tree}/", f"--data_dir={tmp_path / 'd'}"]) == 0
    said = json.dumps(document["config"])
    tfds_build("--config", said, "--manual_dir", tree, "--data_dir", tmp_path / "e")
    first = files(open_built(name, tmp_path / "d"))
    assert files(open_built(name, tmp_path / "e")) == first


def test_the_rounds_of_a_dataset_train_on_all_other_folds(tree, tmp_path, sample):
    words = [CLASSES, "--folds=3", "--group_by=none", "--name=mine", f"--data_dir={tmp_path / 'd'}"]
    assert run_command("build", tree, *words).status == 0
    rounds = splits.cross_validation("mine", data_dir=tmp_path / "d")
    assert [(one.number, one.train, one.validation) for one in rounds] == [
        (0, "fold_1+fold_2", "fold_0"),
        (1, "fold_0+fold_2", "fold_1"),
        (2, "fold_0+fold_1", "fold_2"),
    ]
    with pytest.raises(ConfigError, match="no folds, but the splits test, train, validation"):
        splits.cross_validation(sample)


def test_the_lists_of_an_exported_dataset_build_each_round(tree, tmp_path):
    drawing.put_lists(tree, train=scans(*range(8)), test=scans(8, 9))
    words = ["build", tree, CLASSES, "--folds=4", "--group_by=prefix:_", "--name=mine"]
    data_dir = f"--data_dir={tmp_path / 'd'}"
    assert run_command(*words, data_dir).status == 0
    out = tmp_path / "exported"
    assert run_command("export", "mine", data_dir, "--layout=voc", f"--out={out}").status == 0
    (out / "ImageSets" / "Segmentation").rename(tree / "folds")
    plan = plan_of(tree, folds=4, group_by="prefix:_")
    folds = [f"fold_{number}" for number in range(4)]
    for fold in folds:
        others = "+".join(other for other in folds if other != fold)
        given = {"train": others, "validation": fold, "test": "test"}
        again = plan_of(tree, lists="folds", splits=given)
        assert sorted(again.splits["validation"]) == sorted(plan.splits[fold])
        assert sorted(again.splits["test"]) == scans(8, 9)
        assert {*again.splits["train"]} == {*scans(*range(8))} - {*plan.splits[fold]}
