import os
import pathlib
import threading

import apache_beam
import flink_cluster
import pytest
from support.building import build, version_folders
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig

pytestmark = pytest.mark.flink

ONE_SPLIT = VocSegConfig(name="own", splits={"train": "train"})


@pytest.fixture
def flink(tmp_path):
    folder = os.environ.get("VOC_SEG_FLINK")
    if not folder:
        pytest.skip("VOC_SEG_FLINK is not set: a folder made by benchmarks/flink.sh --setup-only")
    if lacks := flink_cluster.missing(pathlib.Path(folder)):
        pytest.skip(f"Flink cannot be started: {lacks}")
    software, work = pathlib.Path(folder), tmp_path / "cluster"
    with flink_cluster.cluster(software, work) as cluster:
        yield cluster


def flink_build(flink, data_dir, manual_dir, **kwargs):
    options = apache_beam.options.pipeline_options.PipelineOptions(flags=list(flink.beam_flags))
    return build(data_dir, ONE_SPLIT, manual_dir, beam_options=options, **kwargs)


def files(builder):
    return {path.name: path.read_bytes() for path in builder.data_path.iterdir()}


def test_flink_writes_the_same_files_and_tells_its_errors(flink, devkit, root, tmp_path):
    ours = build(tmp_path / "ours", ONE_SPLIT, DUMMY_DATA)
    theirs = flink_build(flink, tmp_path / "flink", DUMMY_DATA)
    assert files(ours) == files(theirs)
    (root / "JPEGImages" / "2007_000001.jpg").write_bytes(b"")
    with pytest.raises(ValueError, match=r"(?s)1 of 3 examples.*2007_000001\.jpg: an empty file"):
        flink_build(flink, tmp_path / "bad", devkit)
    assert version_folders(tmp_path / "bad") == []


def test_with_a_task_manager_killed_the_build_is_right_or_leaves_nothing(flink, tmp_path):
    stop = threading.Event()

    def kill():
        while not list(tmp_path.rglob("*.json.gz")):
            if stop.wait(0.1):
                return
        flink.task_managers[0].kill()

    killer = threading.Thread(target=kill)
    killer.start()
    try:
        theirs = flink_build(flink, tmp_path / "flink", DUMMY_DATA)
    except RuntimeError:
        assert version_folders(tmp_path / "flink") == []
    else:
        ours = build(tmp_path / "ours", ONE_SPLIT, DUMMY_DATA)
        assert files(ours) == files(theirs)
    finally:
        stop.set()
        killer.join()
    assert flink.task_managers[0].poll() is not None
