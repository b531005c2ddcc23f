"""Addresses of object stores on the command line, which TensorFlow's file system may not know."""

from collections.abc import Sequence
import importlib.util
import os

from etils.epath import gpath

from voc_seg_tfrecord.errors import ConfigError

_S3 = "s3://"
_VARIABLE = "EPATH_USE_TF"


def reach_s3(words: Sequence[str]) -> None:
    """Lets s3fs read and write `s3://` in this process, if a word of the call has such an address.

    TFDS, whose paths are the same, reads and writes by s3fs then too.

    Raises:
      ConfigError: if s3fs is not installed.
    """
    words = [*words, os.environ.get("TFDS_DATA_DIR", "")]
    found = next((word for word in words if _S3 in word), None)
    if found is None:
        return
    if importlib.util.find_spec("s3fs") is None:
        raise ConfigError(
            found,
            found="an address of an object store, and no s3fs in this environment",
            expected="the package s3fs, which reads and writes s3://",
            remedy="install it: pip install s3fs",
        )
    os.environ.setdefault(_VARIABLE, "false")
    # epath has read the variable already, when TFDS was imported, and keeps what it said.
    if hasattr(gpath, "_is_tf_installed"):
        gpath._is_tf_installed.cache_clear()
