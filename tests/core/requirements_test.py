from importlib import metadata
import shutil
import tomllib

import pytest
from support.paths import REPOSITORY
from support.python import run_python

import voc_seg_tfrecord
from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.requirements import all_versions, package_version

PROJECT = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]


def test_the_version_is_the_project_s():
    assert voc_seg_tfrecord.__version__ == PROJECT["version"]
    assert "__version__" in dir(voc_seg_tfrecord)


@pytest.mark.slow
def test_a_checkout_says_its_own_version_though_another_one_is_installed(tmp_path):
    shutil.copytree(REPOSITORY / "voc_seg_tfrecord", tmp_path / "voc_seg_tfrecord")
    text = (REPOSITORY / "pyproject.toml").read_text()
    old = f'version = "{PROJECT["version"]}"'
    (tmp_path / "pyproject.toml").write_text(text.replace(old, 'version = "99.1"'))
    code = "import voc_seg_tfrecord; print(voc_seg_tfrecord.__version__)"
    assert run_python("-c", code, cwd=tmp_path) == "99.1\n"


def test_a_stranger_s_project_file_beside_an_installed_package_is_not_read(monkeypatch, tmp_path):
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "other"\nversion = "7"\n')
    monkeypatch.setattr(requirements, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(metadata, "version", lambda _: "5.4")
    assert package_version() == "5.4"


def test_what_is_not_installed_is_told_and_nothing_raises(monkeypatch, tmp_path):
    def missing(name):
        raise metadata.PackageNotFoundError(name)

    monkeypatch.setattr(requirements, "_CHECKOUT", tmp_path)
    monkeypatch.setattr(metadata, "version", missing)
    found = all_versions()
    assert found["voc_seg_tfrecord"] == "unknown"
    assert found["tensorflow"] == "not installed"


@pytest.mark.slow
def test_the_command_line_prints_versions_without_loading_tensorflow():
    code = (
        "import sys\nfrom voc_seg_tfrecord.commands import cli\n"
        "try: cli.main(['--version'])\n"
        "except SystemExit as done: print(done.code, 'tensorflow' in sys.modules)\n"
    )
    first, *others, last = run_python("-c", code).splitlines()
    assert first == f"voc_seg_tfrecord {PROJECT['version']}"
    assert [line.split()[0] for line in others] == [
        *("tensorflow-datasets", "tensorflow", "numpy", "pillow", "python")
    ]
    assert last == "0 False"
