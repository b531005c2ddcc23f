import io
import json

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support import handwritten

from voc_seg_tfrecord.imports import layouts
from voc_seg_tfrecord.imports.scan import RecordItem, make_items, scan_records


@pytest.fixture
def copies(tmp_path):
    folder = epath.Path(tmp_path / "copies")
    folder.mkdir()
    return folder


def write(path, count, **more):
    return handwritten.write(path, [handwritten.raw(*p) | more for p in handwritten.pairs(count)])


def test_the_split_is_the_word_in_the_files_name(tmp_path, copies):
    for name in ("voc_train.tfrecord", "val-0.tfrecord", "TEST.tfrecord", "eval2.tfrecord", "x"):
        write(tmp_path / name, 1)
    names = ["voc_train.tfrecord", "val-0.tfrecord", "TEST.tfrecord", "eval2.tfrecord", "x"]
    scan = scan_records([tmp_path / name for name in names], copies)
    splits = make_items(scan)
    assert {split: len(found) for split, found in splits.items()} == {
        "train": 2,
        "validation": 2,
        "test": 1,
    }


def test_ids_are_the_records_names_or_where_these_are_not_unique_their_numbers(tmp_path, copies):
    path = write(tmp_path / "a.tfrecord", 2, name=b"same.jpg")
    found = make_items(scan_records([path], copies))["train"]
    assert [item.id for item in found] == ["a.tfrecord-000000", "a.tfrecord-000001"]
    path = write(tmp_path / "b.tfrecord", 1, name=b"folder/one.jpg")
    (item,) = make_items(scan_records([path], copies))["train"]
    assert (item.id, item.filename) == ("folder/one", "folder/one.jpg")


def test_an_item_reads_its_own_record(tmp_path, copies):
    pairs = handwritten.pairs(3)
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*p) for p in pairs])
    found = make_items(scan_records([path], copies))["train"]
    image = Image.open(io.BytesIO(found[1].read().image.data))
    assert (np.asarray(image) == pairs[1][0]).all()


def test_a_record_item_can_be_sent_to_another_machine():
    layout = layouts.KNOWN["DeepLab"]
    item = RecordItem("a", "a.png", "x", 0, "/data/x.tfrecord", 12, 345, layout)
    assert RecordItem.from_json(json.loads(json.dumps(item.to_json()))) == item


@pytest.mark.parametrize(
    "name", [b"../x.png", b"/etc/x.png", b".", b"/", b"a\0b", b"n" * 300, b"\xff"]
)
def test_a_name_that_is_no_files_name_is_refused_with_file_and_record(tmp_path, copies, name):
    path = write(tmp_path / "a.tfrecord", 2, name=name)
    first, second = scan_records([path], copies).problems
    assert first.where == f"{path}, record 0"
    assert second.where == f"{path}, record 1"
    keys = {"image": "image_raw", "mask": "label_raw", "height": "height", "width": "width"}
    scan = scan_records([path], copies, keys)
    assert [item.id for item in make_items(scan)["train"]] == [
        "a.tfrecord-000000",
        "a.tfrecord-000001",
    ]


def test_names_that_differ_in_their_endings_alone_are_replaced_by_numbers(tmp_path, copies):
    (one, two) = handwritten.pairs(2)
    records = [
        handwritten.raw(*one) | {"name": b"a.png"},
        handwritten.raw(*two) | {"name": b"a.jpg"},
    ]
    path = handwritten.write(tmp_path / "a.tfrecord", records)
    found = make_items(scan_records([path], copies))["train"]
    assert [item.filename for item in found] == ["a.tfrecord-000000", "a.tfrecord-000001"]


def test_files_of_one_name_in_two_folders_give_different_ids(tmp_path, copies):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "train.tfrecord", 1)
    found = make_items(scan_records([tmp_path / "one", tmp_path / "two"], copies))
    assert [item.id for item in found["train"]] == [
        "0-train.tfrecord-000000",
        "1-train.tfrecord-000000",
    ]


def test_a_packed_file_is_called_by_its_own_name(tmp_path, copies):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(1)]
    path = handwritten.write(tmp_path / "val.tfrecord.gz", made, "GZIP")
    (item,) = make_items(scan_records([path], copies))["validation"]
    assert (item.id, item.where) == ("val.tfrecord.gz-000000", f"{path}, record 0")
