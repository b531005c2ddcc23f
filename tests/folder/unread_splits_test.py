"""Files that may say the splits of a folder, in a form that is not read."""

import pytest
from support import drawing
from support.folders import plan_of, refused

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.folder.question import QuestionError

IDS = [f"a{number:02}" for number in range(8)]
TEXT = "train: a00, a01, a02\nval: a03, a04\n"
MAKEFILE = "TRAIN = a00 a01\nVAL = a02 a03\n"
RANGES = 'TRAIN = [f"a{n:02}" for n in range(6)]\n'
BINARY = b"\0\1\2\xff"


@pytest.fixture
def flat(tmp_path):
    drawing.put_pairs(tmp_path, IDS, "images/{}.jpg", "masks/{}.png")
    return tmp_path


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("splits.xlsx", BINARY),
        ("splits.py", RANGES),
        ("split.npz", BINARY),
        ("meta/train.tsv.gz", BINARY),
        ("train.npy", BINARY),
        ("val.mat", BINARY),
        ("partition.pkl", BINARY),
        ("fold_1.parquet", BINARY),
        ("test.ods", BINARY),
        ("splits.sqlite", BINARY),
        ("split.docx", BINARY),
        ("split.xml", "<a/>"),
        ("split.json5", TEXT),
        ("split.R", RANGES),
        ("split.log", TEXT),
        ("README.md", TEXT),
        ("docs/data.rst", TEXT),
        ("page.html", "<p>train</p><li>a00</li><li>a01</li><li>a02</li>"),
        ("train.py", MAKEFILE),
        ("Makefile", MAKEFILE),
    ],
)
def test_a_file_that_may_say_splits_and_is_not_read_is_a_question(flat, name, content):
    drawing.put(flat, name, content)
    message = refused(flat, "not read, and may say the splits", QuestionError)
    assert name in message
    assert "--splits train=1" in message
    assert [*plan_of(flat, splits={"train": 1.0}).splits] == ["train"]


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("README.md", "Train with `train.py`. Images such as a00 and a01.\n"),
        ("LICENSE", "All rights reserved.\n"),
        ("requirements.in", "numpy\n"),
        ("weights.pth", BINARY),
        ("notes.xlsx", BINARY),
        ("notes.html", "<p>a00 a01 a02 a03</p>"),
    ],
)
def test_other_files_that_are_not_read_leave_all_images_in_train(flat, name, content):
    drawing.put(flat, name, content)
    assert "There are no lists, so all images are in train." in plan_of(flat).notes


@pytest.mark.parametrize(
    "name", ["train.py", "split_data.py", "best_val.pth", "train.zip", "test_results.xlsx"]
)
def test_code_that_is_named_after_a_split_is_named_in_a_note(flat, name):
    drawing.put(flat, name, RANGES if name.endswith(".py") else BINARY)
    note = f"No list assigns images to splits, so all images are in train. Not read: {name}."
    assert note in plan_of(flat).notes


@pytest.mark.parametrize("cohorts", [("development", "tuning", "external"), ("tuning", "test")])
def test_a_column_of_cohorts_is_not_understood(flat, cohorts):
    rows = [f"{name},{cohorts[number % len(cohorts)]}\n" for number, name in enumerate(IDS)]
    drawing.put(flat, "meta.csv", "image,cohort\n" + "".join(rows))
    refused(flat, "a column cohort with", ListError)


def test_a_column_of_places_is_no_split(flat):
    rows = [
        f"{name},{'external' if number % 2 else 'internal'}\n" for number, name in enumerate(IDS)
    ]
    drawing.put(flat, "meta.csv", "image,view\n" + "".join(rows))
    assert [*plan_of(flat).splits] == ["train"]


@pytest.mark.parametrize("line", ["a06,a07", "a06, a07", "a06;a07", "a06 a07"])
def test_a_list_of_ids_in_one_line_names_each_of_them(flat, line):
    drawing.put(flat, "train.txt", "".join(f"{name}\n" for name in IDS[:6]))
    drawing.put(flat, "val.txt", f"{line}\n")
    assert [*plan_of(flat).splits["validation"]] == ["a06", "a07"]


def test_a_list_of_names_of_masks_in_one_line_names_their_images(tmp_path):
    drawing.put_pairs(tmp_path, IDS, "images/{}.jpg", "masks/{}_gt.png")
    drawing.put(tmp_path, "train.txt", "".join(f"{name}\n" for name in IDS[:6]))
    drawing.put(tmp_path, "val.txt", "a06_gt a07_gt\n")
    assert [*plan_of(tmp_path).splits["validation"]] == ["a06", "a07"]


@pytest.mark.parametrize("split", ["val", "test"])
def test_a_list_of_val_alone_in_the_folder_of_voc_is_a_question(tmp_path, split):
    drawing.put_pairs(tmp_path, IDS, "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    drawing.put_lists(tmp_path, **{split: IDS[6:]})
    message = refused(tmp_path, "leaves 6 labeled images out", QuestionError)
    assert "train=rest" in message
    plan = plan_of(tmp_path, lists="ImageSets/Segmentation")
    assert [len(ids) for ids in plan.splits.values()] == [2]


def test_a_list_of_trainval_in_the_folder_of_voc_may_leave_images_out(tmp_path):
    drawing.put_pairs(tmp_path, IDS, "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    drawing.put_lists(tmp_path, trainval=IDS[:6])
    assert [*plan_of(tmp_path).splits] == ["trainval"]
