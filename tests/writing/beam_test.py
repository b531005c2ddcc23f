import dataclasses
import gzip
import json
import pathlib
import pickle
import shutil

import apache_beam
from etils import epath
import numpy as np
import pytest
from support.building import build, tfds_build_process, version_folders
from support.paths import DUMMY_DATA, REPOSITORY
import tensorflow_datasets as tfds

import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.example import Source
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.sources.arrays import ArrayItem
from voc_seg_tfrecord.writing import engines
from voc_seg_tfrecord.writing.tasks import ShardCutter, ShardTask

EXAMPLES = REPOSITORY / "voc_seg_tfrecord" / "commands" / "examples"
OWN = VocSegConfig(name="own")


def options(*flags):
    return apache_beam.options.pipeline_options.PipelineOptions(
        flags=["--runner=DirectRunner", *flags]
    )


def beam_build(data_dir, config, manual_dir, *flags, **kwargs):
    mode = flags or ("--direct_running_mode=in_memory",)
    return build(data_dir, config, manual_dir, beam_options=options(*mode), **kwargs)


# A pipeline per split is most of the time of these tests.
TRAIN = VocSegConfig(name="own", splits={"train": "train"})


@pytest.mark.slow
def test_workers_in_processes_write_the_same_files(tmp_path):
    ours = build(tmp_path / "ours", "sample")
    beams = beam_build(
        *(tmp_path / "beam", "sample", None),
        *("--direct_running_mode=multi_processing", "--direct_num_workers=2"),
    )
    files = [{p.name: p.read_bytes() for p in b.data_path.iterdir()} for b in (ours, beams)]
    assert files[0] == files[1]


@pytest.mark.slow
def test_shapes_stand_beside_images_without_any(tmp_path):
    root = tmp_path / "streets"
    shutil.copytree(EXAMPLES / "labelme", root)
    (root / "street_1.json").unlink()
    config = VocSegConfig(
        name="streets",
        class_names=["background", "car", "road", "tree"],
        missing_mask="background",
    )
    ours = build(tmp_path / "ours", config, root)
    beams = beam_build(tmp_path / "beam", config, root)
    assert sorted(shards_of(ours)) == sorted(shards_of(beams))


def shards_of(builder):
    return [path.read_bytes() for path in builder.data_path.glob("*.tfrecord*")]


def error_of(function, *args):
    with pytest.raises(voc_seg_tfrecord.VocSegError) as caught:
        function(*args)
    return type(caught.value), str(caught.value)


BAD_TREES = {
    "one bad file": ["JPEGImages/2008_000002.jpg"],
    "several bad files": ["SegmentationClass/2008_000002.png", "JPEGImages/2011_000005.jpg"],
    "no good file": [f"JPEGImages/{p.name}" for p in DUMMY_DATA.rglob("JPEGImages/*.jpg")],
}


@pytest.mark.slow_but_first
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
    "a name that cannot be an id": ({"JPEGImages/2008\n000002.jpg": b"x"}, "control character"),
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


def test_an_error_that_is_not_the_datas_comes_through(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_run_task", lambda *_: 1 / 0)
    with pytest.raises((ZeroDivisionError, RuntimeError), match="division by zero"):
        beam_build(tmp_path / "data", TRAIN, DUMMY_DATA)
    assert version_folders(tmp_path / "data") == []


def test_a_task_without_a_result_is_an_error_and_no_hole(tmp_path, monkeypatch):
    monkeypatch.setattr(engines, "_run_task", lambda *_: None)
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="no result of this task"):
        beam_build(tmp_path / "data", TRAIN, DUMMY_DATA)
    assert version_folders(tmp_path / "data") == []


def test_progress_on_beam_counts_examples(tmp_path):
    chunk = tmp_path / "chunk"
    chunk.write_bytes(b"abcde")
    letters = [(0, offset, 1) for offset in range(5)]
    tasks = [
        ShardTask(str(tmp_path / "shard0"), [str(chunk)], letters[:3]),
        ShardTask(str(tmp_path / "shard1"), [str(chunk)], letters[3:]),
    ]
    beam = tfds.download.DownloadConfig(beam_options=options("--direct_running_mode=in_memory"))
    counts = []
    engine = engines.BeamEngine(epath.Path(tmp_path / "tasks"), beam)
    assert len(list(engine.run(ShardCutter(), tasks, counts.append))) == len(tasks)
    assert counts == [3, 2]


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


def test_a_task_that_was_done_is_not_done_again(tmp_path):
    path = str(tmp_path / "000000.json.gz")
    engines._write_json(engines._result_path(path), 1)
    engines._run_task(path, None)
    assert engines._read_json(engines._result_path(path)) == 1


class Touching:
    """Creates a file when it is unpickled."""

    def __init__(self, path):
        self.path = path

    def __reduce__(self):
        return pathlib.Path.touch, (self.path,)


def test_a_pickle_in_the_shared_folder_is_refused_and_not_run(tmp_path, monkeypatch):
    planted = pickle.dumps(Touching(tmp_path / "touched"), protocol=0)

    def plant(path, _):
        pathlib.Path(engines._result_path(path)).write_bytes(gzip.compress(planted))

    monkeypatch.setattr(engines, "_run_task", plant)
    with pytest.raises((json.JSONDecodeError, UnicodeDecodeError)):
        beam_build(tmp_path / "data", TRAIN, DUMMY_DATA)
    assert not (tmp_path / "touched").exists()
    pickle.loads(planted)
    assert (tmp_path / "touched").exists()


@pytest.mark.parametrize("option", ["beam_options", "workers"])
def test_arrays_in_memory_are_refused_where_they_cannot_be(option, tmp_path):
    image, mask = np.zeros((2, 2, 3), np.uint8), np.zeros((2, 2), np.uint8)
    item = ArrayItem("a", "a.png", image, mask, None)
    config = VocSegConfig(name="own", class_names=("background", "a"))
    builder = voc_seg_tfrecord.Builder(data_dir=tmp_path, config=config)
    builder.source = Source({"train": [item]}, config.example_spec(index_rule(2)))
    beams = {"beam_options": options()} if option == "beam_options" else {}
    with pytest.raises(ConfigError, match="without Beam options and without workers"):
        builder.download_and_prepare(
            workers=None if beams else 2, download_config=tfds.download.DownloadConfig(**beams)
        )
