import errno
import os

import pytest
import tensorflow as tf

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import MaskError, StorageError


def told(error, cause=None):
    with pytest.raises(StorageError) as caught, storage.as_storage_error("the place"):
        raise error from cause
    return caught.value


def test_the_systems_own_words_and_file_are_told_with_advice():
    error = told(OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/a/shard"))
    assert (error.where, error.found) == ("/a/shard", "No space left on device")
    assert "free space" in error.remedy


def test_an_error_that_names_no_file_is_told_with_the_place():
    error = told(OSError(errno.EMFILE, os.strerror(errno.EMFILE)))
    assert error.where == "the place"
    assert "ulimit -n" in error.remedy


def test_an_error_of_tensorflow_about_files_is_told_likewise():
    error = told(tf.errors.ResourceExhaustedError(None, None, "/a; No space left on device"))
    assert "free space" in error.remedy


def test_what_another_exception_wraps_is_told():
    cause = OSError(errno.EROFS, os.strerror(errno.EROFS), "/a")
    assert told(RuntimeError("Failed to finalize"), cause).found == "Read-only file system"


def test_errors_about_the_data_and_mistakes_of_the_program_pass_through():
    with pytest.raises(MaskError), storage.as_storage_error("x"):
        raise MaskError("m", found="y") from OSError(errno.ENOSPC, "no")
    with pytest.raises(ZeroDivisionError), storage.as_storage_error("x"):
        raise ZeroDivisionError


@pytest.mark.parametrize(
    ("name", "fields"),
    [("EndpointConnectionError", {"endpoint_url": "http://x"}), ("NoCredentialsError", {})],
)
def test_an_error_about_a_bucket_speaks_of_no_disk(name, fields):
    exceptions = pytest.importorskip("botocore.exceptions")
    error = told(getattr(exceptions, name)(**fields))
    assert "disk" not in str(error)
    assert "the credentials, the network, and AWS_ENDPOINT_URL" in error.remedy


def test_a_bucket_that_is_not_there_is_no_disk():
    error = told(FileNotFoundError(errno.ENOENT, "The bucket does not exist", "s3://none/x"))
    assert (error.where, error.found) == ("s3://none/x", "The bucket does not exist")
    assert "disk" not in str(error)
