import os
import subprocess
import sys

import pytest
from support.paths import REPOSITORY

LOGS = """\
WARNING: All log messages before absl::InitializeLog() is called are written to STDERR
I0000 00:00:1795277666.815317   16152 cudart_stub.cc:31] Could not find cuda drivers.
2026-11-21 16:14:12.815317: W tensorflow/core/util/port.cc:153] oneDNN operations are on.
To enable the following instructions: AVX2, in other operations, rebuild TensorFlow.
E0000 00:00:1795277966.585948    5636 cuda_dnn.cc:8] Unable to register cuDNN factory
"""

MAKE = """
import os, sys
sys.path.insert(0, sys.argv[1])
from voc_seg_tfrecord.commands.process import quiet_tensorflow
quiet_tensorflow()
quiet_tensorflow()
print("before", file=sys.stderr)
import tensorflow
print(tensorflow.answer, os.environ["TF_CPP_MIN_LOG_LEVEL"], file=sys.stderr)
"""


@pytest.fixture
def import_one(tmp_path):
    """Imports a package called tensorflow that consists of some lines of Python."""

    def importing(lines):
        (tmp_path / "tensorflow").mkdir()
        code = f"import os\nos.write(2, {LOGS.encode()!r})\nanswer = 42\n{lines}\n"
        (tmp_path / "tensorflow" / "__init__.py").write_text(code)
        env = {name: value for name, value in os.environ.items() if name != "TF_CPP_MIN_LOG_LEVEL"}
        words = [sys.executable, "-c", MAKE, str(tmp_path)]
        env["PYTHONPATH"] = str(REPOSITORY)
        return subprocess.run(words, capture_output=True, text=True, check=False, env=env)

    return importing


def test_log_lines_are_left_out_and_all_others_kept(import_one):
    result = import_one("os.write(2, b'Something else')")
    assert result.stderr == "before\nSomething else42 3\n"


def test_protobufs_warning_of_tensorflow_2_20_is_left_out_and_other_warnings_are_kept(import_one):
    said = "Protobuf gencode version 5.28.3 is exactly one major version older than the runtime"
    result = import_one(
        f"import warnings\nwarnings.warn({said!r})\nwarnings.warn('Something else')"
    )
    assert "Protobuf" not in result.stderr
    assert "Something else" in result.stderr


def test_an_import_that_fails_says_why_and_gives_back_logged_errors(import_one):
    error = import_one("raise ImportError('no libcuda')").stderr
    assert "ImportError: no libcuda" in error
    assert "Unable to register cuDNN factory" in error
    assert "oneDNN" not in error


def test_an_import_that_kills_the_process_says_where(import_one):
    result = import_one("os.abort()")
    assert result.returncode < 0
    assert "Fatal Python error: Aborted" in result.stderr
    assert "tensorflow/__init__.py" in result.stderr
