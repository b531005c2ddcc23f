import os

import pytest

from voc_seg_tfrecord.base.errors import ConfigError
from voc_seg_tfrecord.commands import cli


@pytest.fixture(autouse=True)
def _only_one_is_installed(monkeypatch, installed):
    monkeypatch.setattr(cli, "_is_installed", lambda library: library == installed)
    monkeypatch.delenv("EPATH_USE_TF", raising=False)
    monkeypatch.delenv("TFDS_DATA_DIR", raising=False)


@pytest.mark.parametrize(("installed", "lacks"), [("s3fs", "gcsfs"), ("gcsfs", "s3fs")])
def test_addresses_of_two_stores_need_the_libraries_of_both(lacks):
    with pytest.raises(ConfigError, match=f"pip install {lacks}"):
        cli.reach_buckets(["leaks", "gs://a/voc_seg_tfrecord/sample/1.0.0", "s3://b"])


@pytest.mark.parametrize("installed", ["gcsfs"])
@pytest.mark.parametrize("command", ["build", "import"])
def test_what_writes_records_leaves_a_bucket_to_tensorflow(command):
    cli.reach_buckets([command, "--data_dir", "gs://a"])
    assert "EPATH_USE_TF" not in os.environ


@pytest.mark.parametrize("installed", [None])
def test_without_gcsfs_a_bucket_is_reached_by_tensorflow():
    cli.reach_buckets(["verify", "gs://a/voc_seg_tfrecord/sample/1.0.0"])
    assert "EPATH_USE_TF" not in os.environ
