"""Keeps what TensorFlow writes while it is imported out of a command's answer.

TensorFlow writes some lines before it reads TF_CPP_MIN_LOG_LEVEL, straight to the file descriptor
of standard error. So the descriptor is moved during the import, and everything that is no log
line is written to standard error afterwards.
"""

from collections.abc import Iterator
import contextlib
import faulthandler
from importlib import machinery
import os
import re
import sys
import tempfile
from types import ModuleType
from typing import Any
import warnings

from voc_seg_tfrecord.staging.signals import Held

_TENSORFLOW = "tensorflow"
_LEVEL = "TF_CPP_MIN_LOG_LEVEL"

# `I0000 00:00:1795277666.815317   16152 cudart_stub.cc:31] ...` in TensorFlow 2.21, before it
# `2026-11-21 16:14:12.815317: I tensorflow/core/util/port.cc:153] ...`.
_LOG = rb"(?:%s\d{4} [\d:.]+\s+\d+ \S+:\d+\]|\d{4}-\d\d-\d\d [\d:.]+: %s )"
_PREAMBLE = rb"WARNING: All log messages before absl::InitializeLog|To enable the following instr"
_NOTES = re.compile(rb"%s|%s" % (_LOG % (b"[IW]", b"[IW]"), _PREAMBLE))
_NOTES_AND_ERRORS = re.compile(rb"%s|%s" % (_LOG % (b"[IWE]", b"[IWE]"), _PREAMBLE))


def quiet_tensorflow() -> None:
    """Lets TensorFlow write no logs, whenever and by whomever it is imported in this process."""
    # Not its errors either: it raises what matters, and reports each missing GPU as one.
    os.environ.setdefault(_LEVEL, "3")
    # TensorFlow 2.20 was made by protobuf 5, and works with 6.
    warnings.filterwarnings("ignore", "Protobuf gencode version", UserWarning)
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


class _Finder:
    """Finds TensorFlow as Python does, and lets it be loaded quietly."""

    def find_spec(self, name: str, path: Any = None, target: Any = None) -> Any:
        if name != _TENSORFLOW:
            return None
        spec = machinery.PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Loader(spec.loader)
        return spec


class _Loader:
    def __init__(self, loader: Any):
        self._loader = loader

    def create_module(self, spec: machinery.ModuleSpec) -> ModuleType | None:
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__.loader = module.__loader__ = self._loader
        # A signal in the middle of it would become another error, or end the process.
        with Held(), _without_logs():
            self._loader.exec_module(module)


@contextlib.contextmanager
def _without_logs() -> Iterator[None]:
    """Moves standard error away, and gives back what is no log line.

    Errors in the log are given back only if an exception is raised. If the process dies, Python
    says where.
    """
    noise = _NOTES
    with contextlib.ExitStack() as stack:
        try:
            kept = os.dup(2)
            stack.callback(os.close, kept)
            file = stack.enter_context(tempfile.TemporaryFile())
        except OSError:  # no standard error, or nowhere to keep what is written to it
            yield
            return
        if not faulthandler.is_enabled():
            faulthandler.enable(kept)
            stack.callback(faulthandler.disable)
        _flush()
        os.dup2(file.fileno(), 2)
        try:
            yield
            noise = _NOTES_AND_ERRORS
        finally:
            _flush()
            os.dup2(kept, 2)
            file.seek(0)
            for line in file:
                if not noise.match(line):
                    os.write(2, line)


def _flush() -> None:
    if sys.stderr is not None:
        sys.stderr.flush()
