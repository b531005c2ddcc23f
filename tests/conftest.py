import os
import pathlib
import shutil

import pytest
from support.paths import DUMMY_DATA

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")


@pytest.fixture(scope="session")
def sample(tmp_path_factory):
    """The builder of the sample, built once for all tests: change only copies of it."""
    from support.building import build  # imports TensorFlow, which reads the variable above

    return build(tmp_path_factory.mktemp("sample"), "sample")


@pytest.fixture
def devkit(tmp_path):
    """A copy of dummy_data that a test may break."""
    return pathlib.Path(shutil.copytree(DUMMY_DATA, tmp_path / "devkit"))


@pytest.fixture
def root(devkit):
    """The VOC2012 folder in the copy."""
    return devkit / "VOCdevkit" / "VOC2012"


@pytest.fixture
def real_data():
    """The folder of real pairs, exports and odd files, where the machine has one."""
    folder = os.environ.get("VOC_SEG_REAL_DATA")
    if not folder:
        pytest.skip("VOC_SEG_REAL_DATA is not set")
    return pathlib.Path(folder)
