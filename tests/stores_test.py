"""Trees and datasets in buckets, of S3's protocol and of Google's, on servers of this machine."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from support.building import build, examples, records, tfds_build_process
from support.paths import DUMMY_DATA
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig

FOLDER = "datasets/voc_seg_tfrecord/sample/1.0.0"


@pytest.fixture
def gs(tmp_path_factory):
    """An empty bucket of Google's protocol."""
    fake_gs = pytest.importorskip("support.fake_gs")
    with fake_gs.serve(tmp_path_factory.mktemp("gs")) as bucket:
        yield bucket


class S3:
    """An empty bucket of S3's protocol, as a file system of this process."""

    url = "s3://voc"

    def __init__(self, files, endpoint):
        self.files = files
        self.environment = {"AWS_ENDPOINT_URL": endpoint}

    def names(self, folder):
        return [path.rpartition("/")[2] for path in self.files.ls(f"voc/{folder}")]

    def write(self, name, content):
        self.files.pipe(f"voc/{name}", content)

    def remove(self, name):
        self.files.rm(f"voc/{name}")


@pytest.fixture
def s3(monkeypatch):
    moto_server, s3fs = map(pytest.importorskip, ("moto.server", "s3fs"))
    server = moto_server.ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_DEFAULT_REGION"):
        monkeypatch.setenv(name, "us-east-1")
    # In this process the endpoint is given by hand; others find it in their environment.
    endpoint = f"http://{host}:{port}"
    files = s3fs.S3FileSystem(endpoint_url=endpoint, skip_instance_cache=True)
    files.mkdir("voc")
    yield S3(files, endpoint)
    files.rm("voc", recursive=True)  # the buckets of a process are those of all its servers
    server.stop()


def start(bucket, *words, status=0, **environment):
    """Runs Python in a process that reaches a bucket; returns its report, or its errors too."""
    done = subprocess.run(
        [sys.executable, *map(str, words)],
        env={**os.environ, **bucket.environment, **environment},
        capture_output=True,
        text=True,
    )
    assert done.returncode == status, done.stderr
    assert "WARNING:gcsfs" not in done.stderr
    return done.stdout + done.stderr if status else done.stdout


def command(bucket, *words, **options):
    return start(bucket, "-m", "voc_seg_tfrecord", *words, **options)


def upload(bucket, folder, prefix):
    """Copies a folder by a tool that knows nothing of datasets."""
    for path in pathlib.Path(folder).rglob("*"):
        if path.is_file():
            bucket.write(f"{prefix}/{path.relative_to(folder)}", path.read_bytes())


STORES = pytest.mark.parametrize("store", ["gs", "s3"])


@STORES
def test_a_dataset_copied_to_a_bucket_is_read_there(request, sample, store):
    bucket = request.getfixturevalue(store)
    upload(bucket, sample.data_path, FOLDER)
    for there, here in (
        (["verify", f"{bucket.url}/{FOLDER}"], "verify"),
        (["stats", "sample", "--data_dir", f"{bucket.url}/datasets"], "stats"),
    ):
        assert command(bucket, *there) == command(bucket, here, sample.data_path)


@STORES
def test_what_a_copier_did_not_finish_is_named(request, sample, store):
    bucket = request.getfixturevalue(store)
    upload(bucket, sample.data_path, FOLDER)
    shard = next(name for name in bucket.names(FOLDER) if "train" in name)
    bucket.write(f"{FOLDER}/{shard}", b"half")
    words = ("verify", f"{bucket.url}/{FOLDER}")
    assert f"train: {shard}: the file's sha256 is" in command(bucket, *words, status=1)
    bucket.remove(f"{FOLDER}/dataset_info.json")
    assert "no such dataset" in command(bucket, *words, status=2)


def test_the_command_line_builds_into_a_bucket_of_google(gs, sample):
    command(gs, "build", "--release", "sample", "--data_dir", f"{gs.url}/datasets")
    for path in sample.data_path.iterdir():
        assert gs.read(f"{FOLDER}/{path.name}") == path.read_bytes()


def test_a_build_into_a_bucket_of_amazon_says_how_to_get_there(s3):
    words = ("build", "--release", "sample", "--data_dir", "s3://voc/d")
    assert "aws s3 sync" in command(s3, *words, status=2)


LOADED = """
import tensorflow_datasets as tfds

builder = tfds.builder_from_directory("gs://voc/datasets/voc_seg_tfrecord/own/1.0.0")
for example in builder.as_dataset(split="train"):
    print(example["image/filename"].numpy().decode())
"""


@STORES
def test_a_tree_in_a_bucket_builds_the_same_records(request, store, tmp_path):
    bucket = request.getfixturevalue(store)
    upload(bucket, DUMMY_DATA, "devkit")
    into = "gs://voc/datasets" if store == "gs" else tmp_path
    tfds_build_process(
        *("--manual_dir", f"{bucket.url}/devkit", "--data_dir", into),
        *("--config", json.dumps({"name": "own"})),
        **bucket.environment,
        **({} if store == "gs" else {"EPATH_USE_TF": "false"}),
    )
    local = build(tmp_path / "local", VocSegConfig(name="own"), DUMMY_DATA)
    if store == "gs":
        for path in local.data_path.glob("*tfrecord*"):
            there = bucket.read(f"datasets/voc_seg_tfrecord/own/1.0.0/{path.name}")
            assert there == path.read_bytes()
        assert start(bucket, "-c", LOADED).splitlines() == list(examples(local, "train"))
    else:
        built = tfds.builder("voc_seg_tfrecord/own", data_dir=tmp_path)
        assert all(records(built, s) == records(local, s) for s in local.info.splits)


@STORES
def test_images_of_a_tree_in_a_bucket_are_copied_and_no_cp_is_proposed(request, store, tmp_path):
    bucket = request.getfixturevalue(store)
    voc = DUMMY_DATA / "VOCdevkit" / "VOC2012"
    upload(bucket, voc, "tree")
    chosen = tmp_path / "ids.txt"
    chosen.write_text("2007_000001\n")
    out = tmp_path / "out"
    words = ("check", f"{bucket.url}/tree", "--ids", chosen, "--copy_to", out)
    assert "cp -r" not in command(bucket, *words)
    mask = "SegmentationClass/2007_000001.png"
    assert (out / mask).read_bytes() == (voc / mask).read_bytes()


IN_PYTHON = f"""
import tensorflow_datasets as tfds

builder = tfds.builder_from_directory("s3://voc/{FOLDER}")
print(builder.info.splits["train"].num_examples)
try:
    next(iter(builder.as_dataset(split="train")))
except Exception as error:
    print(error)
"""


def test_tfds_reads_what_a_bucket_of_amazon_says_of_a_dataset_and_none_of_its_records(s3, sample):
    upload(s3, sample.data_path, FOLDER)
    said = start(s3, "-c", IN_PYTHON, EPATH_USE_TF="false")
    assert said.startswith("3\n")
    assert "File system scheme 's3' not implemented" in said
