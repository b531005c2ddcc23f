import itertools
import json

from etils import epath
import numpy as np
import pytest
from support import exports
from support.tfds_build import tfds_build

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.build_from.tree import find_config
from voc_seg_tfrecord.built.dataset import open_built
from voc_seg_tfrecord.commands import cli

RATIOS = {"train": 0.6, "val": 0.2, "test": 0.2}
SAID = {"class_names": ["background", "apple", "tree"], "splits": RATIOS}


@pytest.fixture
def tree(tmp_path):
    """Twenty images of five videos; three images, of three videos, have class 2."""
    root = tmp_path / "tree"
    for n in range(20):
        name = f"v{n % 5}_{n}"
        mask = np.zeros(exports.SIZE, np.uint8)
        mask[2] = n % 2
        mask[3] = 2 * (n in (0, 1, 2))
        exports.put_pair(root, name, mask)
    return root


def plan(tree, **fields):
    return find_config(tree, name="mine", **SAID | fields)[1]


def with_tree(ids):
    return sum(image_id in ("v0_0", "v1_1", "v2_2") for image_id in ids)


def test_each_split_has_its_number_of_images_and_a_rare_class(tree):
    found = plan(tree, split_by="stratified")
    sizes = {name: len(ids) for name, ids in found.splits.items()}
    assert sizes == {"train": 12, "validation": 4, "test": 4}
    assert [with_tree(ids) for ids in found.splits.values()] == [1, 1, 1]
    assert found.sources["test"] == "0.2 of 20, stratified"


def test_classes_are_those_that_the_dataset_will_have(tree):
    found = plan(tree, split_by="stratified", classes={"tree": "void"})
    assert {with_tree(ids) for ids in found.splits.values()} != {1}


@pytest.mark.parametrize("split_by", ["hash", "stratified"])
@pytest.mark.parametrize("rule", ["prefix:_", r"regex:^v\d"])
def test_frames_of_one_video_stay_together(tree, split_by, rule):
    splits = {"train": 0.5, "test": 0.5}
    found = plan(tree, split_by=split_by, group_by=rule, splits=splits)
    of_split = ({i.partition("_")[0] for i in ids} for ids in found.splits.values())
    assert sorted(itertools.chain(*of_split)) == [f"v{n}" for n in range(5)]
    assert "in 5 groups" in found.sources["train"]


def test_images_without_a_mask_are_left_out_before_the_numbers_are_made(tree):
    for n in (3, 4, 5, 6, 7):
        (tree / "SegmentationClass" / f"v{n % 5}_{n}.png").unlink()
    found = plan(tree, split_by="stratified")
    assert [len(ids) for ids in found.splits.values()] == [9, 3, 3]
    assert sum(map(len, found.left_out.values())) == 5


def test_a_wrong_mask_is_told_by_the_build_and_not_before(tree, tmp_path, capsys):
    (tree / "SegmentationClass" / "v3_3.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    words = [str(tree), "--class_names=background,apple,tree", "--split_by=stratified"]
    words += ["--splits=train=0.5,val=0.5"]
    assert cli.main(["check", *words]) == 1
    assert "v3_3.png" in capsys.readouterr().out
    assert cli.main(["build", *words, "--name=x", f"--data_dir={tmp_path / 'd'}"]) == 1
    assert "v3_3.png" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        ({"split_by": "stratified", "splits": None}, "ratios with it"),
        ({"group_by": "folder", "splits": {"train": "train"}}, "ratios with it"),
        ({"layout": {"lists": "lists"}}, "lists or ratios, and not both"),
        ({"split_by": "random"}, "one of hash, stratified"),
        ({"group_by": "video"}, "prefix:CHARACTERS"),
        ({"splits": {"val": 0.5, "validation": 0.5}}, "two ratios for the split 'validation'"),
    ],
)
def test_options_that_do_not_go_together_are_refused(fields, words):
    with pytest.raises(ConfigError, match=words):
        VocSegConfig(name="mine", **SAID | fields)


def test_fewer_groups_than_splits_are_refused(tree):
    with pytest.raises(ConfigError, match="3 splits for 1 groups"):
        plan(tree, split_by="stratified", group_by="regex:^v")


def test_the_command_prints_classes_by_split_and_a_config_that_builds_the_same(
    tree, tmp_path, capsys
):
    words = ["--class_names=background,apple,tree", "--split_by=stratified", "--group_by=prefix:_"]
    words += ["--splits=train=0.6,val=0.2,test=0.2"]
    data = tmp_path / "data"
    assert cli.main(["build", str(tree), "--name=mine", f"--data_dir={data}", *words]) == 0
    printed = capsys.readouterr().out
    assert "split validation: 4 ids, 0.2 of 20 in 5 groups, stratified" in printed
    row = next(line.split() for line in printed.splitlines() if line.startswith("    2  tree"))
    assert row[2:4] == ["3", "48"]
    assert [int(number) for number in row[5:]] == [1, 16, 1, 16, 1, 16]
    config = printed.partition("--config '")[2].partition("'")[0]
    tfds_build("--config", config, "--manual_dir", tree, "--data_dir", tmp_path / "tfds")
    for split in ("train", "validation", "test"):
        paths = [
            open_built("voc_seg_tfrecord/mine", epath.Path(folder)).info.splits[split].filepaths
            for folder in (data, tmp_path / "tfds")
        ]
        assert [p.read_bytes() for p in paths[0]] == [p.read_bytes() for p in paths[1]]


def test_a_class_that_a_split_lacks_is_named(tree, capsys):
    words = ["--class_names=background,apple,tree,river", "--splits=train=0.9,val=0.1"]
    assert cli.main(["check", str(tree), *words, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    (found,) = [f for f in report["findings"] if f["kind"] == "class missing in a split"]
    assert found["effect"] == "ignored"
    assert found["messages"][0] == "no image has 1 of 4 classes: river"
    by_split = report["classes"][2]["splits"]
    lacking = [split for split, counts in by_split.items() if not counts["images"]]
    assert found["messages"][1:] == [f"{s} has no image of 1 of 4 classes: tree" for s in lacking]
    assert sum(counts["pixels"] for counts in by_split.values()) == report["classes"][2]["pixels"]
