import contextlib
import dataclasses
import json
import pathlib
import pickle

import apache_beam
from etils import epath
import numpy as np
import pytest
from support.building import build, records, version_folders
from support.paths import DUMMY_DATA
from support.tfds_build import tfds_build_process
import tensorflow_datasets as tfds

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.build_from.memory import ArrayItem
from voc_seg_tfrecord.examples import beam
from voc_seg_tfrecord.masks.rule import index_rule
from voc_seg_tfrecord.trees.tree import VocTree

OWN = VocSegConfig(name="own")


def options(*flags):
    return apache_beam.options.pipeline_options.PipelineOptions(
        flags=["--runner=DirectRunner", *flags]
    )


def beam_build(data_dir, config, manual_dir, *flags, **kwargs):
    mode = flags or ("--direct_running_mode=in_memory",)
    return build(data_dir, config, manual_dir, beam_options=options(*mode), **kwargs)


def assert_same_records(left, right):
    assert list(left.info.splits) == list(right.info.splits)
    for split, info in left.info.splits.items():
        assert records(left, split) == records(right, split)
        assert (
            len(records(left, split)) == info.num_examples == right.info.splits[split].num_examples
        )


# A pipeline per split is most of the time of these tests.
TRAIN = VocSegConfig(name="own", splits={"train": "train"})


def test_beam_writes_the_generators_records_in_its_order_and_leaves_nothing_else(tmp_path):
    ours = build(tmp_path / "ours", OWN, DUMMY_DATA)
    beams = beam_build(tmp_path / "beam", OWN, DUMMY_DATA)
    assert_same_records(ours, beams)
    names = [{p.name for p in builder.data_path.iterdir()} for builder in (ours, beams)]
    assert names[0] == names[1]


def test_beam_writes_array_record_from_chunks_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(beam, "CHUNK", 1)
    ours = build(tmp_path / "ours", TRAIN, DUMMY_DATA, file_format="array_record")
    beams = beam_build(tmp_path / "beam", TRAIN, DUMMY_DATA, file_format="array_record")
    assert_same_records(ours, beams)


def test_beam_honours_the_number_of_shards_and_keeps_the_order(tmp_path):
    ours = build(tmp_path / "ours", TRAIN, DUMMY_DATA, num_shards=2)
    beams = beam_build(tmp_path / "beam", TRAIN, DUMMY_DATA, num_shards=2)
    assert len(beams.info.splits["train"].shard_lengths) == 2
    assert_same_records(ours, beams)


def test_beam_writes_the_generators_tiles(tmp_path):
    config = VocSegConfig(name="own", splits={"train": "train"}, tile=24, tile_overlap=3)
    ours = build(tmp_path / "ours", config, DUMMY_DATA)
    assert ours.info.splits["train"].num_examples > 4
    assert_same_records(ours, beam_build(tmp_path / "beam", config, DUMMY_DATA))


@pytest.mark.slow
def test_workers_in_processes_write_the_same_from_chunks_of_one(tmp_path, monkeypatch):
    monkeypatch.setattr(beam, "CHUNK", 1)
    ours = build(tmp_path / "ours", "sample")
    beams = beam_build(
        *(tmp_path / "beam", "sample", None),
        *("--direct_running_mode=multi_processing", "--direct_num_workers=2"),
    )
    assert_same_records(ours, beams)


def error_of(function, *args):
    with pytest.raises(voc_seg_tfrecord.VocSegError) as caught:
        function(*args)
    return type(caught.value), str(caught.value)


BAD_TREES = {
    "one bad file": ["JPEGImages/2008_000002.jpg"],
    "several bad files": ["SegmentationClass/2008_000002.png", "JPEGImages/2011_000005.jpg"],
    "no good file": [f"JPEGImages/{p.name}" for p in DUMMY_DATA.rglob("JPEGImages/*.jpg")],
}


@pytest.mark.parametrize("kind", BAD_TREES)
def test_a_bad_file_on_a_worker_ends_the_build_with_the_generators_error(
    kind, devkit, root, tmp_path
):
    for name in BAD_TREES[kind]:
        (root / name).write_bytes(b"")
    config = OWN if kind == "several bad files" else TRAIN
    expected = error_of(build, tmp_path / "data", config, devkit)
    assert error_of(beam_build, tmp_path / "data", config, devkit) == expected
    assert version_folders(tmp_path / "data") == []


def test_what_is_wrong_before_the_first_record_is_told_in_the_same_words(devkit, root, tmp_path):
    (root / "JPEGImages" / "2008_000002.jpg").unlink()
    expected = error_of(build, tmp_path / "data", OWN, devkit)
    assert error_of(beam_build, tmp_path / "data", OWN, devkit) == expected


SPLITS = {"train": "train", "validation": "val"}
PART = VocSegConfig(name="part", release="2012", strict=False, splits=SPLITS)

BAD_RELEASES = {
    "a missing image": ({"JPEGImages/2008_000002.jpg": None}, "no such file"),
    "a second mask of one id": (
        {"SegmentationClass/2008_000002.bmp": b"x"},
        "2 files for one id",
    ),
    "a file whose name only looks the same": (
        {"JPEGImages/2008_000002.jpg": None, "JPEGImages/2008_000002.JPEG": b"x"},
        "cannot be used",
    ),
    "a damaged image in train, and one missing in validation": (
        {"JPEGImages/2007_000001.jpg": b"", "JPEGImages/2010_000004.jpg": None},
        "split 'validation': 1 of ",
    ),
    "a damaged image and a missing one": (
        {"JPEGImages/2007_000001.jpg": b"", "JPEGImages/2008_000002.jpg": None},
        "split 'train': 1 of 3",
    ),
    "a name that cannot be an id": ({"JPEGImages/2008\n000002.jpg": b"x"}, "control characters"),
}


@pytest.mark.parametrize("kind", BAD_RELEASES)
def test_what_workers_find_wrong_with_a_release_is_told_as_a_build_without_beam_would(
    kind, devkit, root, tmp_path
):
    files, words = BAD_RELEASES[kind]
    for name, data in files.items():
        (root / name).unlink() if data is None else (root / name).write_bytes(data)
    config = PART if "validation" in kind else dataclasses.replace(PART, splits=TRAIN.splits)
    expected = error_of(build, tmp_path / "data", config, devkit)
    assert words in expected[1]
    assert error_of(beam_build, tmp_path / "data", config, devkit) == expected
    assert version_folders(tmp_path / "data") == []


def test_workers_find_the_files_of_a_release(tmp_path):
    ours = build(tmp_path / "ours", PART, DUMMY_DATA)
    assert_same_records(ours, beam_build(tmp_path / "beam", PART, DUMMY_DATA))


def test_an_error_that_is_not_the_datas_comes_through(tmp_path, monkeypatch):
    monkeypatch.setattr(beam.MakeExamples, "expand", lambda *_: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        beam_build(tmp_path / "data", TRAIN, DUMMY_DATA)
    assert version_folders(tmp_path / "data") == []


def test_a_builder_goes_back_to_the_generator_after_a_build_under_beam(devkit, root, tmp_path):
    builder = voc_seg_tfrecord.Builder(data_dir=tmp_path, config=TRAIN)
    image = root / "JPEGImages" / "2008_000002.jpg"
    good, _ = image.read_bytes(), image.write_bytes(b"")
    with pytest.raises(voc_seg_tfrecord.VocSegError):
        builder.download_and_prepare(
            download_config=tfds.download.DownloadConfig(manual_dir=devkit, beam_options=options())
        )
    image.write_bytes(good)
    builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=devkit))
    assert builder.info.splits["train"].num_examples == 3


@pytest.mark.slow  # a process of its own; the error itself is that of the tests above
def test_tfds_build_with_beam_ends_with_the_error_and_a_status_that_is_not_0(
    devkit, root, tmp_path
):
    (root / "JPEGImages" / "2007_000001.jpg").write_bytes(b"")
    result = tfds_build_process(
        *("--data_dir", tmp_path / "data", "--manual_dir", devkit),
        *("--config", json.dumps({"name": "bad"})),
        *("--beam_pipeline_options", "runner=DirectRunner,direct_running_mode=in_memory"),
        check=False,
    )
    assert result.returncode != 0
    assert "SplitError: split 'train': 1 of 3 examples cannot be used" in result.stderr
    assert version_folders(tmp_path / "data") == []


def test_the_files_for_the_workers_are_lines_of_json(tmp_path):
    tree = VocTree(DUMMY_DATA / "VOCdevkit" / "VOC2012")
    pairs = tree.pairs("train", tree.read_ids("train"))
    beam.MakeExamples("train", pairs, OWN.example_spec(index_rule(21)), epath.Path(tmp_path))
    files = sorted(path for path in tmp_path.rglob("*") if path.is_file())
    assert [path.name for path in files] == ["items-000000000000.jsonl", "split.jsonl"]
    items, split = ([json.loads(x) for x in path.read_text().splitlines()] for path in files)
    assert [type(pairs[0]).from_json(data) for _, data in items] == list(pairs)
    assert split == [{"split": "train", "examined": len(pairs)}]


def test_items_are_spread_by_a_step_that_no_runner_leaves_out(tmp_path):
    tree = VocTree(DUMMY_DATA / "VOCdevkit" / "VOC2012")
    items = tree.pairs("train", tree.read_ids("train"))
    make = beam.MakeExamples("train", items, OWN.example_spec(index_rule(21)), epath.Path(tmp_path))
    pipeline = apache_beam.Pipeline()
    _ = pipeline | make
    steps = pipeline.to_runner_api().components.transforms.values()
    kinds = [step.spec.urn for step in steps if "Spread" in step.unique_name]
    assert "beam:transform:group_by_key:v1" in kinds
    assert "beam:transform:reshuffle:v1" not in kinds


class Touching:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


def test_a_pickle_in_the_shared_folder_is_refused_and_not_run(tmp_path):
    planted = pickle.dumps(Touching(tmp_path / "touched"), protocol=0)
    with contextlib.ExitStack() as stack:
        stack.enter_context(pytest.raises(json.JSONDecodeError))
        folder = stack.enter_context(beam.exchange(tmp_path))
        (folder / "000").mkdir()
        (folder / "000" / "problems-x.jsonl").write_bytes(planted)
    assert not (tmp_path / "touched").exists()
    pickle.loads(planted)
    assert (tmp_path / "touched").exists()


def test_arrays_in_memory_are_refused_under_beam(tmp_path):
    item = ArrayItem("a", "a.png", np.zeros((2, 2), np.uint8), np.zeros((2, 2), np.uint8), None)
    spec = OWN.example_spec(index_rule(21))
    with pytest.raises(ConfigError, match="build them without Beam"):
        beam.MakeExamples("train", [item], spec, epath.Path(tmp_path))
