import json
import os
import subprocess
import sys

import pytest
from support.building import build, records
from support.paths import DUMMY_DATA
from support.tfds_build import tfds_build_process
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig

moto_server = pytest.importorskip("moto.server")
s3fs = pytest.importorskip("s3fs")


@pytest.fixture
def endpoint(monkeypatch):
    """A server of S3's protocol on loopback, with dummy_data in the bucket `voc`."""
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    # In this process the endpoint is given by hand; the build finds it in its environment.
    files = s3fs.S3FileSystem(endpoint_url=f"http://{host}:{port}", skip_instance_cache=True)
    files.mkdir("voc")
    files.put(f"{DUMMY_DATA}/", "voc/devkit/", recursive=True)
    yield f"http://{host}:{port}"
    files.rm("voc", recursive=True)  # the buckets of a process are those of all its servers
    server.stop()


def command(endpoint, *words, status=0):
    """Runs the command line in a process of its own; returns its report, or its errors."""
    done = subprocess.run(
        [sys.executable, "-m", "voc_seg_tfrecord", *map(str, words)],
        env={**os.environ, "AWS_ENDPOINT_URL": endpoint},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    return done.stdout + done.stderr if status else done.stdout


@pytest.fixture
def bucket(endpoint):
    """The server as a file system of this process."""
    return s3fs.S3FileSystem(endpoint_url=endpoint, skip_instance_cache=True)


FOLDER = "voc/datasets/voc_seg_tfrecord/sample/1.0.0"


@pytest.fixture
def upload(bucket, tmp_path):
    """Builds the sample on a disk, and copies it by a tool that knows nothing of datasets."""

    def upload():
        built = build(tmp_path / "built", "sample")
        bucket.put(f"{built.data_path}/", f"{FOLDER}/", recursive=True)
        return built

    return upload


def test_a_dataset_copied_to_a_bucket_is_read_there(endpoint, upload):
    built = upload()
    assert command(endpoint, "verify", f"s3://{FOLDER}") == command(
        endpoint, "verify", built.data_path
    )
    assert command(endpoint, "stats", "sample", "--data_dir", "s3://voc/datasets") == command(
        endpoint, "stats", built.data_path
    )


def test_what_a_copier_did_not_finish_is_named(endpoint, bucket, upload):
    upload()
    shard = next(path for path in bucket.ls(FOLDER) if "train" in path)
    bucket.pipe(shard, b"half")
    assert f"train: {shard.rpartition('/')[2]}: the file's sha256 is" in command(
        endpoint, "verify", f"s3://{FOLDER}", status=1
    )
    bucket.rm(f"{FOLDER}/dataset_info.json")
    assert "no such dataset" in command(endpoint, "verify", f"s3://{FOLDER}", status=2)


IN_PYTHON = f"""
import tensorflow_datasets as tfds

builder = tfds.builder_from_directory("s3://{FOLDER}")
print(builder.info.splits["train"].num_examples)
try:
    next(iter(builder.as_dataset(split="train")))
except Exception as error:
    print(error)
"""


def test_tfds_reads_what_a_bucket_says_of_a_dataset_and_none_of_its_records(endpoint, upload):
    upload()
    done = subprocess.run(
        [sys.executable, "-c", IN_PYTHON],
        env={**os.environ, "AWS_ENDPOINT_URL": endpoint, "EPATH_USE_TF": "false"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("3\n")
    assert "File system scheme 's3' not implemented" in done.stdout


def test_a_build_into_a_bucket_says_how_to_get_there(endpoint):
    said = command(endpoint, "build", "--release", "sample", "--data_dir", "s3://voc/d", status=1)
    assert "aws s3 sync" in said


def test_a_tree_in_a_bucket_builds_the_same_records(endpoint, tmp_path):
    tfds_build_process(
        *("--data_dir", tmp_path, "--manual_dir", "s3://voc/devkit"),
        *("--config", json.dumps({"name": "own"})),
        EPATH_USE_TF="false",
        AWS_ENDPOINT_URL=endpoint,
    )
    bucket = tfds.builder("voc_seg_tfrecord/own", data_dir=tmp_path)
    local = build(tmp_path / "local", VocSegConfig(name="own"), DUMMY_DATA)
    for split in local.info.splits:
        assert records(bucket, split) == records(local, split)
