import argparse
import json

import pytest
from support import drawing

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.commands import arguments, cli
from voc_seg_tfrecord.core.errors import ConfigError

# Calls that are wrong whatever the tree holds, and words of their message.
WRONG_CALLS = [
    ("--splits train=0.8,validation=0.3", "train=0.8, validation=0.3, together 1.1"),
    ("--splits train=0.5,validation=0.4", "train=0.5, validation=0.4, together 0.9"),
    ("--splits train=0.5,train=0.5", "each name once"),
    ("--splits train=0.8,validation=val", "lists for all splits, or ratios for all"),
    ("--splits train=nowhere", "train=nowhere, but there is no such list"),
    ("--splits train=80,validation=20", "train=80, but there is no such list"),
    ("--splits train=nowhere/", "train=nowhere/, but there is no such folder"),
    ("--splits all=0.5,rest=0.5", "the split name 'all'"),
    ("--splits train", "NAME=VALUE"),
    ("--classes 1=2", "the class 2 for '1'"),
    ("--classes 0=a,0=b", "the key 0 in two places"),
    ("--classes 0", "no pair"),
    ("--classes x.csv", "no such file"),
    ("--missing_mask bogus", "invalid choice: 'bogus' (choose from"),
    ("--exif bogus", "invalid choice: 'bogus' (choose from"),
    ("--seed x", "invalid int value: 'x'"),
    ("--class_names a,a,b", "option class_names: the name 'a' twice"),
    ("--class_names a,b,,", "option class_names"),
    ("--class_names background,apple", "option class_names: 2 names: background, apple"),
    ("--images nowhere", "option images: no folder 'nowhere'"),
    ("--masks nowhere", "option masks: no folder 'nowhere'"),
]


def outcome(capsys, words):
    """Returns status and message of a call, without the usage that argparse prints first."""
    try:
        status = cli.main([str(word) for word in words])
    except SystemExit as caught:
        status = caught.code
    _, _, message = capsys.readouterr().err.rpartition("error: ")
    return status, message


def both(capsys, root, data_dir, *words):
    """Returns what `check` and `build` say to the same call."""
    build = ("--name", "mine", "--data_dir", data_dir)
    return (
        outcome(capsys, ["check", root, *words]),
        outcome(capsys, ["build", root, *build, *words]),
    )


@pytest.mark.parametrize(("words", "message"), WRONG_CALLS, ids=[call for call, _ in WRONG_CALLS])
def test_a_wrong_call_is_answered_alike_by_check_and_build(cvat, tmp_path, capsys, words, message):
    checked, built = both(capsys, cvat, tmp_path / "data", *words.split())
    assert checked == built
    status, said = built
    assert status == 2
    assert message in said
    assert "config" not in said
    assert not (tmp_path / "data").exists()


def test_a_wrong_call_is_told_before_what_the_tree_lacks_or_that_it_is_not_there(
    cvat, tmp_path, capsys
):
    (cvat / "labelmap.txt").unlink()
    (call, answer), *_ = WRONG_CALLS
    for root, words, message in (
        (cvat, call.split(), answer),
        (tmp_path / "nowhere", [], "no such folder"),
    ):
        checked, built = both(capsys, root, tmp_path / "data", *words)
        assert checked == built
        assert built[0] == 2
        assert message in built[1]


def put_binary_masks(root):
    for path in (root / "SegmentationClass").rglob("*.png"):
        drawing.put_mask(path.parent, path.name, drawing.truth(path.stem) % 2 * 255)
    (root / "labelmap.txt").write_text("background:::\ncrack:::\ndust:::\n")


# What is wrong with a tree, and not with the call.
WRONG_DATA = {
    "no class names": lambda root: (root / "labelmap.txt").unlink(),
    "overlapping lists": lambda root: drawing.put(
        root, "ImageSets/Segmentation/other.txt", "000032\n"
    ),
    "a list name that TFDS refuses": lambda root: drawing.put(
        root, "ImageSets/Segmentation/my list.txt", "000032\n"
    ),
    "only 0 and 255": put_binary_masks,
    "an empty image": lambda root: drawing.put(root, "JPEGImages/000032.jpg", b""),
}


@pytest.mark.parametrize("kind", WRONG_DATA)
def test_wrong_data_exits_with_1_from_check_and_build(cvat, tmp_path, capsys, kind):
    WRONG_DATA[kind](cvat)
    (checked, _), (built, _) = both(capsys, cvat, tmp_path / "data")
    assert (checked, built) == (1, 1)


def test_classes_takes_pairs_or_a_file(tmp_path):
    parser = argparse.ArgumentParser()
    arguments.add_tree(parser)
    (tmp_path / "t.csv").write_text("value,class\n0,a\n")
    for text, rows in {
        "255=a,#0A0B0C=b,c=void": ((255, "a"), ("#0a0b0c", "b"), ("c", "void")),
        f"{tmp_path}/t.csv": ((0, "a"),),
    }.items():
        args = parser.parse_args(["ROOT", "--classes", text])
        assert arguments.tree_fields(args)["classes"] == rows


def test_a_whole_number_above_1_is_a_list_and_not_a_ratio(tmp_path, capsys):
    assert cli.main(["example", "cracks", "--out", str(tmp_path / "t")]) == 0
    lists = tmp_path / "t" / "ImageSets" / "Segmentation"
    (lists / "train.txt").rename(lists / "2007.txt")
    (lists / "val.txt").rename(lists / "2008.txt")
    words = ["check", str(tmp_path / "t"), "--splits", "train=2007,test=2008", "--json"]
    capsys.readouterr()
    assert cli.main(words) == 0
    assert json.loads(capsys.readouterr().out)["splits"] == {"train": 3, "test": 2}


@pytest.mark.parametrize("option", ["class_names", "classes", "splits"])
def test_an_option_without_a_value_is_refused_and_not_ignored(option):
    parser = argparse.ArgumentParser()
    arguments.add_tree(parser)
    with pytest.raises(ConfigError, match=f"--{option}: an empty text"):
        arguments.tree_fields(parser.parse_args(["ROOT", f"--{option}", " "]))


def test_an_error_about_an_option_is_no_longer_than_a_few_lines(cvat, capsys):
    words = ["build", str(cvat), "--name", "x", "--class_names", "a,b", "--dry_run"]
    assert cli.main([*words, f"--classes={'9' * 5000}"]) == 2
    assert len(capsys.readouterr().err) < 1000


@pytest.mark.parametrize("word", ["9" * 5000, "²", "1,²,3", "--5", "-"])
def test_what_only_looks_like_a_value_is_a_key_that_is_refused(word):
    parser = argparse.ArgumentParser()
    arguments.add_tree(parser)
    args = parser.parse_args(["root", "--class_names", "voc", f"--classes={word}=void"])
    with pytest.raises(ConfigError, match="option classes"):
        VocSegConfig(name="a", classes=arguments.tree_fields(args)["classes"])
