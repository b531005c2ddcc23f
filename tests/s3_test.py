import json

import pytest
from support.building import build, records
from support.paths import DUMMY_DATA
from support.tfds_build import tfds_build
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
    server.stop()


def test_a_tree_in_a_bucket_builds_the_same_records(endpoint, tmp_path):
    tfds_build(
        *("--data_dir", tmp_path, "--manual_dir", "s3://voc/devkit"),
        *("--config", json.dumps({"name": "own"})),
        EPATH_USE_TF="false",
        AWS_ENDPOINT_URL=endpoint,
    )
    bucket = tfds.builder("voc_seg_tfrecord/own", data_dir=tmp_path)
    local = build(tmp_path / "local", VocSegConfig(name="own"), DUMMY_DATA)
    for split in local.info.splits:
        assert records(bucket, split) == records(local, split)
