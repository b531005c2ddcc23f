"""Addresses of object stores on the command line, and which library reaches them.

1. `s3://` is reached by s3fs. TensorFlow's own file system, which TFDS takes otherwise, does not
   know it.
2. `gs://` is reached by gcsfs where it is installed, because then a command need not load
   TensorFlow; otherwise by TensorFlow. Commands that write records leave it to TensorFlow, which
   writes them: what another library remembers of a folder would be out of date.
"""

from collections.abc import Sequence
import importlib.util
import logging
import os

from etils.epath import gpath

from voc_seg_tfrecord.errors import ConfigError

_GS, _S3 = "gs://", "s3://"
_LIBRARIES = {_GS: "gcsfs", _S3: "s3fs"}
_WRITERS = ("build", "import")
_VARIABLE = "EPATH_USE_TF"


def reach(words: Sequence[str]) -> None:
    """Chooses by what this process reads and writes the addresses in a call, TFDS included.

    Args:
      words: the command and its arguments.

    Raises:
      ConfigError: if a library is needed that is not installed.
    """
    words = [*words, os.environ.get("TFDS_DATA_DIR", "")]
    found = {scheme: word for scheme in _LIBRARIES for word in words if scheme in word}
    if _S3 in found:  # epath has one way for both
        for scheme, word in found.items():
            if not _is_installed(_LIBRARIES[scheme]):
                raise _lacks(word, _LIBRARIES[scheme], scheme)
        _do_without_tensorflow()
    elif _GS in found and words[0] not in _WRITERS and _is_installed(_LIBRARIES[_GS]):
        # Without credentials it says of each folder that it cannot find out a bucket's kind.
        logging.getLogger("gcsfs").setLevel(logging.ERROR)
        _do_without_tensorflow()


def _do_without_tensorflow() -> None:
    os.environ.setdefault(_VARIABLE, "false")
    # epath has read the variable already, when TFDS was imported, and keeps what it said.
    if hasattr(gpath, "_is_tf_installed"):
        gpath._is_tf_installed.cache_clear()


def _is_installed(library: str) -> bool:
    return importlib.util.find_spec(library) is not None


def _lacks(word: str, library: str, scheme: str) -> ConfigError:
    return ConfigError(
        word,
        found=f"an address of an object store, and no {library} in this environment",
        expected=f"the package {library}, which reads and writes {scheme}",
        remedy=f"install it: pip install {library}",
    )
