import io
import json

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support import handwritten

from voc_seg_tfrecord.errors import ConfigError, RecordError
from voc_seg_tfrecord.interop import items, layouts


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
    scan = items.scan_records([tmp_path / name for name in names], copies)
    splits = items.make_items(scan)
    assert {split: len(found) for split, found in splits.items()} == {
        "train": 2,
        "validation": 2,
        "test": 1,
    }


def test_ids_are_the_records_names_or_where_these_are_not_unique_their_numbers(tmp_path, copies):
    path = write(tmp_path / "a.tfrecord", 2, name=b"same.jpg")
    found = items.make_items(items.scan_records([path], copies))["train"]
    assert [item.id for item in found] == ["a.tfrecord-000000", "a.tfrecord-000001"]
    path = write(tmp_path / "b.tfrecord", 1, name=b"folder/one.jpg")
    (item,) = items.make_items(items.scan_records([path], copies))["train"]
    assert (item.id, item.filename) == ("folder/one", "folder/one.jpg")


def test_an_item_reads_its_own_record(tmp_path, copies):
    pairs = handwritten.pairs(3)
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*p) for p in pairs])
    found = items.make_items(items.scan_records([path], copies))["train"]
    image = Image.open(io.BytesIO(found[1].read().image.data))
    assert (np.asarray(image) == pairs[1][0]).all()


def test_a_scan_gathers_the_mask_values_and_the_records_that_cannot_be_used(tmp_path, copies):
    (image, mask), (other, _) = handwritten.pairs(2)
    wrong = handwritten.raw(other, mask[:3])
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, mask), wrong])
    scan = items.scan_records([path], copies)
    assert scan.name == "raw with label_raw"
    assert scan.values == set(np.unique(mask).tolist())
    (problem,) = scan.problems
    assert str(problem).startswith(f"{path}, record 1: ")


def test_an_unknown_layout_lists_the_known_ones_one_per_line(tmp_path, copies):
    path = handwritten.write(tmp_path / "a.tfrecord", [{"pixels": b"abc"}])
    with pytest.raises(RecordError, match="features pixels, which match no known") as caught:
        items.scan_records([path], copies)
    lines = str(caught.value).splitlines()
    assert lines[1] == "  expected: the features of one of these layouts:"
    assert [line.strip().partition(":")[0] for line in lines[2:-1]] == list(layouts.KNOWN)


@pytest.mark.parametrize("keys", [{"mask": "seg"}, {"image": "img", "picture": "x"}])
def test_keys_without_an_image_or_with_an_unknown_part_are_a_wrong_call(tmp_path, copies, keys):
    path = write(tmp_path / "a.tfrecord", 1)
    with pytest.raises(ConfigError, match="expected: image=KEY and others of channels, "):
        items.scan_records([path], copies, keys)


def test_a_file_without_records_is_refused(tmp_path, copies):
    path = handwritten.write(tmp_path / "a.tfrecord", [])
    with pytest.raises(RecordError, match=r"a\.tfrecord: no record"):
        items.scan_records([path], copies)


def test_a_record_item_can_be_sent_to_another_machine():
    layout = layouts.KNOWN["DeepLab"]
    item = items.RecordItem("a", "a.png", "/data/x.tfrecord", 12, 345, layout, "x, record 0")
    assert items.RecordItem.from_json(json.loads(json.dumps(item.to_json()))) == item


@pytest.mark.parametrize(
    "name", [b"../x.png", b"/etc/x.png", b".", b"/", b"a\0b", b"n" * 300, b"\xff"]
)
def test_a_name_that_is_no_files_name_is_refused_with_file_and_record(tmp_path, copies, name):
    path = write(tmp_path / "a.tfrecord", 2, name=name)
    first, second = items.scan_records([path], copies).problems
    assert first.where == f"{path}, record 0"
    assert second.where == f"{path}, record 1"
    keys = {"image": "image_raw", "mask": "label_raw", "height": "height", "width": "width"}
    scan = items.scan_records([path], copies, keys)
    assert [item.id for item in items.make_items(scan)["train"]] == [
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
    found = items.make_items(items.scan_records([path], copies))["train"]
    assert [item.filename for item in found] == ["a.tfrecord-000000", "a.tfrecord-000001"]


def test_files_of_one_name_in_two_folders_give_different_ids(tmp_path, copies):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "train.tfrecord", 1)
    found = items.make_items(items.scan_records([tmp_path / "one", tmp_path / "two"], copies))
    assert [item.id for item in found["train"]] == [
        "0-train.tfrecord-000000",
        "1-train.tfrecord-000000",
    ]


def test_a_packed_file_is_called_by_its_own_name(tmp_path, copies):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(1)]
    path = handwritten.write(tmp_path / "val.tfrecord.gz", made, "GZIP")
    (item,) = items.make_items(items.scan_records([path], copies))["validation"]
    assert (item.id, item.where) == ("val.tfrecord.gz-000000", f"{path}, record 0")


def test_an_error_about_a_name_keeps_the_number_of_the_record(tmp_path, copies):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    made[0]["height"] = 0
    scan = items.scan_records([handwritten.write(tmp_path / "a.tfrecord", made)], copies)
    assert [found.number for found in scan.records] == [1, 2]
