import json

import numpy as np
import pytest
from support import drawing

from voc_seg_tfrecord.commands import cli


def write_splits(root, **ids_by_split):
    """Writes images of noise, their masks, and lists of their ids."""
    rng = np.random.default_rng(0)
    for split, ids in ids_by_split.items():
        for image_id in ids:
            noise = rng.integers(0, 255, (16, 16), np.uint8)
            drawing.put_mask(root, f"JPEGImages/{image_id}.png", noise)
            mask = rng.integers(0, 2, (16, 16), np.uint8)
            drawing.put_mask(root, f"SegmentationClass/{image_id}.png", mask)
        text = "".join(f"{image_id}\n" for image_id in ids)
        drawing.put(root, f"ImageSets/Segmentation/{split}.txt", text)


def copies_in(root, capsys):
    """Returns which copies `check` names by their ids."""
    cli.main(["check", str(root), "--json", "--class_names", "background,crack"])
    report = json.loads(capsys.readouterr().out)
    messages = {finding["kind"]: finding["messages"] for finding in report["findings"]}
    return messages.get("near-duplicate ids in two splits", [])


def test_frames_that_many_folders_have_are_no_copies_of_each_other(tmp_path, capsys):
    write_splits(tmp_path / "films", train=["a/0", "b/0", "d/1"], val=["c/0", "e/1"])
    assert copies_in(tmp_path / "films", capsys) == ["d/1 (train) and e/1 (validation)"]


def test_folders_of_splits_that_number_their_images_from_1_have_no_copies(tmp_path, capsys):
    train = [f"train/{number:04}" for number in range(1, 9)]
    val = [f"val/{number:04}" for number in range(1, 4)]
    test = [f"test/{number:04}" for number in range(1, 4)]
    write_splits(tmp_path / "films", train=train, val=val, test=test)
    assert copies_in(tmp_path / "films", capsys) == []


def test_a_name_that_is_in_two_folders_of_splits_beside_other_names_is_a_copy(tmp_path, capsys):
    train = [f"train/IMG_{number}" for number in range(4711, 4716)]
    val = [f"val/IMG_{number}" for number in range(4715, 4719)]
    write_splits(tmp_path / "films", train=train, val=val)
    assert copies_in(tmp_path / "films", capsys) == [
        "train/IMG_4715 (train) and val/IMG_4715 (validation)"
    ]


@pytest.mark.parametrize(
    "copy",
    [
        "cat - Copy",
        "cat - Copy (2)",
        "cat copy",
        "cat copy 2",
        "cat_copy2",
        "cat (copy)",
        "cat (another copy)",
        "cat (3rd copy)",
        "cat (1)",
        "Cat.rf.0123456789abcdef0123456789abcdef",
    ],
)
def test_the_marks_of_copies_by_systems_and_tools_are_recognized(tmp_path, capsys, copy):
    write_splits(tmp_path / "set", train=["cat", "dog"], val=[copy, "copycat", "dog - (day)"])
    assert copies_in(tmp_path / "set", capsys) == [f"cat (train) and {copy} (validation)"]
