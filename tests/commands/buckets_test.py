import os

import pytest

from voc_seg_tfrecord.commands import buckets
from voc_seg_tfrecord.errors import ConfigError


@pytest.fixture(autouse=True)
def _only_one_is_installed(monkeypatch, installed):
    monkeypatch.setattr(buckets, "_is_installed", lambda library: library == installed)
    monkeypatch.delenv("EPATH_USE_TF", raising=False)
    monkeypatch.delenv("TFDS_DATA_DIR", raising=False)


@pytest.mark.parametrize(("installed", "lacks"), [("s3fs", "gcsfs"), ("gcsfs", "s3fs")])
def test_addresses_of_two_stores_need_the_libraries_of_both(lacks):
    with pytest.raises(ConfigError, match=f"pip install {lacks}"):
        buckets.reach(["copy", "gs://a/voc_seg_tfrecord/sample/1.0.0", "s3://b"])


@pytest.mark.parametrize("installed", ["gcsfs"])
@pytest.mark.parametrize("command", ["build", "import"])
def test_what_writes_records_leaves_a_bucket_to_tensorflow(command):
    buckets.reach([command, "--data_dir", "gs://a"])
    assert "EPATH_USE_TF" not in os.environ


@pytest.mark.parametrize("installed", [None])
def test_without_gcsfs_a_bucket_is_reached_by_tensorflow():
    buckets.reach(["verify", "gs://a/voc_seg_tfrecord/sample/1.0.0"])
    assert "EPATH_USE_TF" not in os.environ
