"""What `verify` says of a dataset that somebody else made: its records and its list of files."""

import functools
import json
import pathlib
import shutil
import subprocess

from etils import epath
import numpy as np
import pytest
from support import doctoring
from support.encoding import encoded
from tensorflow_datasets.proto import tf_example_pb2

from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.reading.dataset import open_built

SHARD = "voc_seg_tfrecord-train.tfrecord-00000-of-00001"


@pytest.fixture
def doctored(sample, tmp_path):
    """A function that changes the records of a copy's train split."""
    return functools.partial(doctoring.doctored, sample, tmp_path)


@pytest.fixture
def folder(sample, tmp_path):
    """A copy of the sample that a test may change."""
    return pathlib.Path(shutil.copytree(sample.data_dir, tmp_path / "1.0.0"))


def found(builder):
    return [str(fault) for fault in verify.verify(builder).faults]


def lose(name):
    def change(features):
        del features[name]

    return change


def put(name, kind, values):
    def change(features):
        features[name].Clear()
        getattr(features[name], kind).value.extend(values)

    return change


def image_in(kind):
    return put("image", "bytes_list", [encoded(np.zeros((48, 64, 3), np.uint8), kind)])


def cut_image(features):
    values = features["image"].bytes_list.value
    values[0] = values[0][:-200]


def called(*names):
    return put("image/filename", "bytes_list", names)


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        (lose("objects/pose"), "objects/pose: missing"),
        (put("image/height", "float_list", [48]), "image/height: float_list, expected a int64"),
        (called(b"a.jpg", b"b.jpg"), "image/filename: 2 values, expected 1"),
        (put("label", "int64_list", [1]), "label: a feature that features.json does not have"),
        (put("objects/bbox", "float_list", [0, 0, 1]), "3 values, expected groups of 4"),
        (put("objects/bbox", "float_list", [0.9, 0, 0.1, 1]), "which ends before it begins"),
        (put("objects/bbox", "float_list", [0, 0, 1, float("nan")]), "nan, expected 0 to 1"),
        (put("objects/pose", "int64_list", [5]), "objects/pose: 5, expected 0 to 4"),
        (put("objects/pose", "int64_list", [1, 1, 1]), "objects: lists of"),
        (image_in("GIF"), "image: a GIF"),
        (image_in("TIFF"), "image: a TIFF"),
        (cut_image, "image: "),
        (called(b"../x.jpg"), "'../x.jpg', which leaves the folder"),
        (called(b"a\0b.jpg"), "which has a control character"),
        (called(b"a\x1b[31m.jpg"), "which has a control character"),
        (called(b"a\nb.jpg"), "which has a control character"),
        (called(b"\xff.jpg"), "can't decode byte"),
    ],
)
def test_what_a_reader_could_not_read_is_a_fault(doctored, change, fault):
    def change_first(examples):
        change(examples[0].features.feature)
        return examples

    assert fault in "\n".join(found(doctored(change_first)))


def test_a_feature_that_is_there_twice_is_a_fault(folder):
    """Parsers differ in which one they take; Python's keeps the last."""
    first, *others = [record for _, record in frames.read(epath.Path(folder / SHARD))]
    again = tf_example_pb2.Example()
    again.features.feature["labels"].int64_list.value.append(1)
    changed = [again.SerializeToString() + first, *others]
    (folder / SHARD).write_bytes(b"".join(map(frames.frame, changed)))
    assert "bytes that belong to no feature" in "\n".join(found(open_built(folder)))


def test_a_size_that_the_features_do_not_allow_is_a_fault(folder):
    features = folder / "features.json"
    text = features.read_text()
    features.write_text(text.replace('"-1"', '"48"', 1))
    dataset_files.write_sums(epath.Path(folder))
    assert "the feature's shape is (48, None, 3)" in "\n".join(found(open_built(folder)))


def change_info(folder, **fields):
    info = json.loads((folder / "dataset_info.json").read_text())
    info["splits"][0] |= fields
    (folder / "dataset_info.json").write_text(json.dumps(info))
    dataset_files.write_sums(epath.Path(folder))


def test_a_size_that_stats_would_refuse_is_a_fault(folder):
    change_info(folder, numBytes="272")
    assert "test: shards of 2201 bytes, dataset_info.json says 288" in found(open_built(folder))


def test_a_split_without_records_is_a_fault(folder):
    change_info(folder, shardLengths=[], numBytes="0")
    assert "test: no records, which tfds.load cannot read" in found(open_built(folder))


def test_a_record_in_two_splits_is_a_fault(folder):
    shutil.copy(folder / SHARD, folder / SHARD.replace("train", "validation"))
    faults = "\n".join(found(open_built(folder)))
    assert "validation 2007_000001: a record with this id is in the split train too" in faults


def by_sha256sum(folder):
    words = ["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"]
    return subprocess.run(words, cwd=folder, capture_output=True).returncode == 0


LINES = {
    "as it was built": (lambda text: text, True),
    "a line with another name": (lambda text: text.replace("features.json", "feature.json"), False),
    "metadata under another name": (lambda text: text.replace("metadata.", "metadat."), False),
    "a line of a folder above": (lambda text: f"{'0' * 64}  ..\n{text}", False),
    "a line of a path": (lambda text: f"{'0' * 64}  ../x\n{text}", False),
    "a line of this folder": (lambda text: f"{'0' * 64}  .\n{text}", False),
    "a file that is not there": (lambda text: f"{'0' * 64}  x.txt\n{text}", False),
    "a file of no kind that is not there": (lambda text: f"{'0' * 64}  x\n{text}", False),
    "another hash": (lambda text: text.replace(text[:8], "00000000", 1), False),
    "no end of the last line": (lambda text: text.removesuffix("\n"), True),
    "written in binary mode": (lambda text: text.replace("  ", " *"), True),
}


@pytest.mark.skipif(shutil.which("sha256sum") is None, reason="coreutils are not installed")
@pytest.mark.parametrize("case", LINES)
def test_sha256sum_and_verify_agree(folder, case):
    change, is_right = LINES[case]
    sums = folder / "SHA256SUMS"
    sums.write_text(change(sums.read_text()))
    assert (cli.main(["verify", str(folder)]) == 0) == is_right
    assert by_sha256sum(folder) == is_right


def test_two_lines_with_one_name_are_refused(folder, capsys):
    sums = folder / "SHA256SUMS"
    sums.write_text(f"{'0' * 64}  metadata.json\n{sums.read_text()}")
    assert cli.main(["verify", str(folder)]) == 1
    assert "each name once" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["x.json", "x", "voc_seg_tfrecord-train.tfrecord-00001-of-00002"])
def test_a_file_without_a_line_is_a_fault(folder, name):
    (folder / name).write_text("{}")
    assert found(open_built(folder)) == [f"{name}: SHA256SUMS has no line for it"]


def test_a_card_needs_no_line(folder):
    (folder / "README.md").write_text("a card")
    assert found(open_built(folder)) == []
