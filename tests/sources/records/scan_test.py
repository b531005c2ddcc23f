import gzip
import io
import json

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support import handwritten
from support.building import build

from voc_seg_tfrecord.build_from.tfrecords import divide_records
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ConfigError, RecordError, SourceError
from voc_seg_tfrecord.sources.records import features, layouts
from voc_seg_tfrecord.sources.records.files import find_files, read_records, unpack_gzip
from voc_seg_tfrecord.sources.records.scan import (
    RecordItem,
    ScannedRecord,
    make_items,
    scan_records,
)


@pytest.fixture
def records(tmp_path):
    made = [{"number": n, "text": b"x" * n} for n in range(3)]
    return epath.Path(handwritten.write(tmp_path / "a.tfrecord", made))


def test_a_name_a_folder_and_a_pattern_find_the_same_files_sorted(tmp_path):
    for name in ("b.tfrecord", "a.tfrecord-00000-of-00001", "notes.txt"):
        (tmp_path / name).touch()
    both = [tmp_path / "a.tfrecord-00000-of-00001", tmp_path / "b.tfrecord"]
    assert find_files([tmp_path]) == both
    assert find_files([tmp_path / "*.tfrecord*"]) == both
    assert find_files(both) == both
    (tmp_path / "C.TFRECORD").touch()
    assert find_files([tmp_path]) == [tmp_path / "C.TFRECORD", *both]


def test_a_file_that_several_names_match_is_read_once(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "a.tfrecord"
    path.touch()
    assert find_files([path, "a.tfrecord", tmp_path / "*.tfrecord"]) == [path]


@pytest.mark.parametrize("pattern", ["*/train.tfrecord", "one/trai?.tfrecord", "o*/[t]rain*"])
def test_patterns_may_be_in_folders_and_of_any_kind(tmp_path, pattern):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "train.tfrecord").touch()
    found = find_files([tmp_path / pattern])
    assert tmp_path / "one" / "train.tfrecord" in found


@pytest.mark.parametrize("name", ["nothing.tfrecord", "*.tfrecord"])
def test_a_name_that_matches_no_file_is_named(tmp_path, name):
    with pytest.raises(SourceError, match=f"{tmp_path}.*: no such file"):
        find_files([tmp_path / name])


def test_a_folder_without_records_is_called_so(tmp_path):
    (tmp_path / "notes.txt").touch()
    with pytest.raises(SourceError, match=f"{tmp_path}: a folder without a file named"):
        find_files([tmp_path])


def test_a_gzip_file_is_copied_uncompressed_and_others_are_left_where_they_are(records, tmp_path):
    (tmp_path / "copies").mkdir()
    packed = epath.Path(tmp_path / "b.tfrecord")
    packed.write_bytes(gzip.compress(records.read_bytes()))
    copy = unpack_gzip(packed, epath.Path(tmp_path / "copies"))
    assert copy.parent == tmp_path / "copies"
    assert copy.read_bytes() == records.read_bytes()
    assert unpack_gzip(records, epath.Path(tmp_path / "copies")) == records


def test_each_record_is_where_its_offset_says(records):
    data = records.read_bytes()
    found = list(read_records(records, records))
    assert [data[offset : offset + len(record)] for offset, record in found] == [
        record for _, record in found
    ]
    assert [features.parse(record, "")["number"] for _, record in found] == [[0], [1], [2]]


@pytest.mark.parametrize("serialized", [b"", b"\xff\xff", b"some text"])
def test_bytes_that_are_not_an_example_are_refused(serialized):
    with pytest.raises(RecordError, match=f"a record: {len(serialized)} bytes that are not"):
        features.parse(serialized, "a record")


def test_a_built_dataset_is_read_like_other_records(tmp_path):
    (path,) = build(tmp_path, "sample").info.splits["test"].filepaths
    ((_, record),) = read_records(path, path)
    assert features.parse(record, path)["image/filename"] == [b"2012_000006.jpg"]


def test_a_gzip_file_that_unpacks_to_far_more_than_its_size_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(storage, "max_unpacked_bytes", lambda packed: 100 * packed)
    (tmp_path / "out").mkdir()
    path = tmp_path / "bomb.tfrecord.gz"
    path.write_bytes(gzip.compress(bytes(1 << 20)))
    with pytest.raises(RecordError, match="more than 100 times its size"):
        unpack_gzip(epath.Path(path), epath.Path(tmp_path / "out"))


def scanned(path, keys=None):
    return scan_records([path], epath.Path(path.parent), keys)


def test_a_scan_gathers_the_mask_values_and_the_records_that_cannot_be_used(tmp_path):
    (image, mask), (other, _) = handwritten.pairs(2)
    wrong = handwritten.raw(other, mask[:3])
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, mask), wrong])
    found = scanned(path)
    assert found.name == "raw with label_raw"
    assert found.values == dict.fromkeys(np.unique(mask).tolist(), f"{path}, record 0")
    (problem,) = found.problems
    assert str(problem).startswith(f"{path}, record 1: ")


def test_an_unknown_layout_is_refused_with_the_option_that_describes_it(tmp_path):
    path = handwritten.write(tmp_path / "a.tfrecord", [{"pixels": b"abc"}])
    found = r"features pixels, which match no known layout(.|\n)*--keys image=FEATURE"
    with pytest.raises(RecordError, match=found):
        scanned(path)


@pytest.mark.parametrize("keys", [{"mask": "seg"}, {"image": "img", "picture": "x"}])
def test_keys_without_an_image_or_with_an_unknown_part_are_a_wrong_call(tmp_path, keys):
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*handwritten.pairs(1)[0])])
    with pytest.raises(ConfigError, match="expected: image=KEY and others of channels, "):
        scanned(path, keys)


@pytest.mark.parametrize(
    ("role", "meant"),
    [
        ("name", "filename"),
        ("file_name", "filename"),
        ("segmentation", "mask"),
        ("hieght", "height"),
    ],
)
def test_a_role_of_another_name_is_pointed_to_the_one_that_is_meant(tmp_path, role, meant):
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*handwritten.pairs(1)[0])])
    with pytest.raises(ConfigError, match=f"unknown role '{role}'; did you mean '{meant}'"):
        scanned(path, {"image": "image_raw", role: "x"})


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        ({"height": "height"}, "one of height and width"),
        ({"shape": "s", "height": "height", "width": "width"}, "height and width beside shape"),
        ({"channels": "c"}, "channels without height and width"),
        ({"height": "height", "width": "width", "channels": "typo"}, "channels=typo, a feature"),
    ],
)
def test_keys_that_do_nothing_are_a_wrong_call(tmp_path, keys, words):
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*handwritten.pairs(1)[0])])
    with pytest.raises(ConfigError, match=words):
        scanned(path, {"image": "image_raw", **keys})


def test_an_error_about_a_name_keeps_the_number_of_the_record(tmp_path):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    made[0]["height"] = 0
    found = scanned(handwritten.write(tmp_path / "a.tfrecord", made))
    assert [found.number for found in found.records] == [1, 2]


@pytest.fixture
def copies(tmp_path):
    folder = epath.Path(tmp_path / "copies")
    folder.mkdir()
    return folder


def write(path, count, **more):
    return handwritten.write(path, [handwritten.raw(*p) | more for p in handwritten.pairs(count)])


def test_the_split_is_the_word_in_the_files_name(tmp_path, copies):
    names = ["voc_train.tfrecord", "val-0.tfrecord", "TEST.tfrecord", "eval2.tfrecord"]
    for name in names:
        write(tmp_path / name, 1)
    found = scan_records([tmp_path / name for name in names], copies)
    splits = divide_records(make_items(found), None, 0)
    assert {split: len(found) for split, found in splits.items()} == {
        "train": 1,
        "validation": 2,
        "test": 1,
    }


@pytest.mark.parametrize(
    ("names", "ids"),
    [
        (["one.jpg", "folder/two.jpg"], ["one", "folder/two"]),
        (["same.jpg", "same.jpg"], ["a.tfrecord-000000", "a.tfrecord-000001"]),
        (["a.png", "a.jpg"], ["a.tfrecord-000000", "a.tfrecord-000001"]),
    ],
)
def test_ids_are_the_records_names_or_where_these_are_not_unique_their_numbers(
    tmp_path, copies, names, ids
):
    pairs = zip(handwritten.pairs(2), names, strict=True)
    made = [handwritten.raw(*pair) | {"name": name.encode()} for pair, name in pairs]
    path = handwritten.write(tmp_path / "a.tfrecord", made)
    found = make_items(scan_records([path], copies))
    assert [item.id for item in found] == ids
    assert [item.filename for item in found] == (names if "folder/two" in ids else ids)


def test_an_item_reads_its_own_record(tmp_path, copies):
    pairs = handwritten.pairs(3)
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(*p) for p in pairs])
    found = make_items(scan_records([path], copies))
    image = Image.open(io.BytesIO(found[1].read().image.data))
    assert (np.asarray(image) == pairs[1][0]).all()


def test_a_record_item_can_be_sent_to_another_machine():
    layout = layouts.KNOWN["DeepLab"]
    record = ScannedRecord(
        image_name="a.png",
        file="x",
        number=0,
        path="/data/x.tfrecord",
        offset=12,
        length=345,
    )
    item = RecordItem(id="a", filename="a.png", record=record, layout=layout)
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
    found = scan_records([path], copies, keys)
    assert [item.id for item in make_items(found)] == [
        "a.tfrecord-000000",
        "a.tfrecord-000001",
    ]


def test_files_of_one_name_in_two_folders_give_different_ids(tmp_path, copies):
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        write(tmp_path / folder / "train.tfrecord", 1)
    found = make_items(scan_records([tmp_path / "one", tmp_path / "two"], copies))
    assert [item.id for item in found] == [
        "0-train.tfrecord-000000",
        "1-train.tfrecord-000000",
    ]


def test_a_packed_file_is_called_by_its_own_name(tmp_path, copies):
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(1)]
    path = handwritten.write(tmp_path / "val.tfrecord.gz", made, "GZIP")
    items = make_items(scan_records([path], copies))
    assert [*divide_records(items, None, 0)] == ["validation"]
    (item,) = items
    assert (item.id, item.where) == ("val.tfrecord.gz-000000", f"{path}, record 0")
