import os

import pytest

from voc_seg_tfrecord import _tfds
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.errors import MissingPackageError


@pytest.fixture(autouse=True)
def _only_one_is_installed(monkeypatch, installed):
    monkeypatch.setattr(requirements, "is_installed", lambda module: module == installed)
    monkeypatch.setenv("TF_CPP_MIN_LOG_LEVEL", "3")
    monkeypatch.setenv("EPATH_USE_TF", "")
    monkeypatch.delenv("EPATH_USE_TF")
    monkeypatch.delenv("TFDS_DATA_DIR", raising=False)


@pytest.mark.parametrize(("installed", "missing"), [("s3fs", "gcsfs"), ("gcsfs", "s3fs")])
def test_addresses_of_two_stores_need_the_libraries_of_both(missing):
    with pytest.raises(MissingPackageError, match=f"pip install {missing}"):
        cli.prepare_bucket_access(["leaks", "gs://a/voc_seg_tfrecord/sample/1.0.0", "s3://b"])


@pytest.mark.parametrize(
    ("installed", "command", "place"),
    [("gcsfs", "verify", "gs://a"), ("s3fs", "verify", "s3://a"), ("s3fs", "build", "s3://a")],
)
def test_a_command_reaches_a_bucket_without_tensorflow(command, place):
    cli.prepare_bucket_access([command, "--data_dir", place])
    assert os.environ["EPATH_USE_TF"] == "false"


@pytest.mark.parametrize("command", ["build", "import"])
@pytest.mark.parametrize("installed", ["tensorflow"])
def test_what_writes_records_leaves_a_bucket_of_google_to_tensorflow(command):
    cli.prepare_bucket_access([command, "--data_dir", "gs://a"])
    assert "EPATH_USE_TF" not in os.environ


@pytest.mark.parametrize("installed", ["gcsfs"])
def test_without_tensorflow_nothing_is_built_in_a_bucket_of_google():
    with pytest.raises(MissingPackageError, match="copy the dataset"):
        _tfds._check_bucket("gs://bucket/datasets")


@pytest.mark.parametrize("installed", [""])
def test_a_data_dir_in_the_environment_needs_its_library_too(monkeypatch):
    monkeypatch.setenv("TFDS_DATA_DIR", "gs://bucket/datasets")
    with pytest.raises(MissingPackageError, match="pip install gcsfs"):
        cli.prepare_bucket_access(["list"])
