import importlib.util
import json
import os
import subprocess
import sys

import pytest
from support.building import build, examples
from support.paths import DUMMY_DATA
from support.tfds_build import tfds_build_process

from voc_seg_tfrecord import VocSegConfig

fake_gs = pytest.importorskip("support.fake_gs")

FOLDER = "datasets/voc_seg_tfrecord/sample/1.0.0"


@pytest.fixture
def bucket(tmp_path_factory):
    """An empty bucket `voc` on this machine."""
    with fake_gs.serve(tmp_path_factory.mktemp("gs")) as bucket:
        yield bucket


@pytest.fixture
def way():
    """By what the command line reaches the bucket, if the user says nothing."""
    return "gcsfs" if importlib.util.find_spec("gcsfs") else "TensorFlow"


BOTH_WAYS = pytest.mark.parametrize("way", ["TensorFlow", "gcsfs"])


@pytest.fixture
def command(bucket, way):
    """Runs the command line; returns what it says."""
    if way == "gcsfs" and importlib.util.find_spec("gcsfs") is None:
        pytest.skip("gcsfs is not installed")
    said = {"EPATH_USE_TF": "true"} if way == "TensorFlow" else {}

    def run(*words, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "voc_seg_tfrecord", *map(str, words)],
            env={**os.environ, **bucket.environment, **said},
            capture_output=True,
            text=True,
        )
        assert done.returncode == status, done.stderr
        assert "WARNING:gcsfs" not in done.stderr
        return done.stdout + done.stderr if status else done.stdout

    return run


@pytest.fixture
def upload(bucket, tmp_path):
    """Builds the sample on a disk, and copies it by a tool that knows nothing of datasets."""

    def upload():
        built = build(tmp_path / "built", "sample")
        for path in built.data_path.iterdir():
            bucket.write(f"{FOLDER}/{path.name}", path.read_bytes())
        return built

    return upload


@BOTH_WAYS
def test_a_dataset_copied_to_a_bucket_is_read_there(command, upload):
    built = upload()
    assert command("verify", f"gs://voc/{FOLDER}") == command("verify", built.data_path)
    assert command("stats", "sample", "--data_dir", "gs://voc/datasets") == command(
        "stats", built.data_path
    )


def test_what_a_copier_did_not_finish_is_named(command, bucket, upload):
    upload()
    shard = next(name for name in bucket.names(FOLDER) if "train" in name)
    bucket.write(f"{FOLDER}/{shard}", b"half")
    assert f"train: {shard}: the file's sha256 is" in command(
        "verify", f"gs://voc/{FOLDER}", status=1
    )
    bucket.remove(f"{FOLDER}/dataset_info.json")
    assert "no such dataset" in command("verify", f"gs://voc/{FOLDER}", status=2)


def test_the_command_line_builds_into_a_bucket(command, bucket, tmp_path):
    command("build", "--release", "sample", "--data_dir", "gs://voc/datasets")
    built = build(tmp_path / "built", "sample")
    for path in built.data_path.iterdir():
        assert bucket.read(f"{FOLDER}/{path.name}") == path.read_bytes()


def test_tfds_builds_a_tree_of_a_bucket_into_the_bucket_and_loads_it(bucket, tmp_path):
    for path in DUMMY_DATA.rglob("*"):
        if path.is_file():
            bucket.write(f"devkit/{path.relative_to(DUMMY_DATA)}", path.read_bytes())
    tfds_build_process(
        *("--manual_dir", "gs://voc/devkit", "--data_dir", "gs://voc/datasets"),
        *("--config", json.dumps({"name": "own"})),
        **bucket.environment,
    )
    local = build(tmp_path, VocSegConfig(name="own"), DUMMY_DATA)
    for path in local.data_path.glob("*tfrecord*"):
        there = bucket.read(f"datasets/voc_seg_tfrecord/own/1.0.0/{path.name}")
        assert there == path.read_bytes()
    done = subprocess.run(
        [sys.executable, "-c", LOADED],
        env={**os.environ, **bucket.environment},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.splitlines() == list(examples(local, "train"))


LOADED = """
import tensorflow_datasets as tfds

builder = tfds.builder_from_directory("gs://voc/datasets/voc_seg_tfrecord/own/1.0.0")
for example in builder.as_dataset(split="train"):
    print(example["image/filename"].numpy().decode())
"""
