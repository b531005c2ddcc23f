import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

import pytest
from support.paths import REPOSITORY


def test_the_citation_names_the_version_of_the_package():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["project"]
    assert f"\nversion: {project['version']}\n" in (REPOSITORY / "CITATION.cff").read_text()


def run(*command, cwd):
    result = subprocess.run([*map(str, command)], cwd=cwd, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def dist(tmp_path_factory):
    """The wheel and the sdist, made of a copy of the checkout."""
    pytest.importorskip("build")
    source, out = tmp_path_factory.mktemp("source") / "copy", tmp_path_factory.mktemp("dist")
    no_part = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site", "*.egg-info")
    shutil.copytree(REPOSITORY, source, ignore=no_part)
    run(sys.executable, "-m", "build", "--outdir", out, cwd=source)
    return out


@pytest.mark.slow
def test_twine_finds_nothing_wrong_with_the_files_of_a_release(dist):
    pytest.importorskip("twine")
    printed = run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir(), cwd=dist)
    assert printed.count("PASSED") == 2


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_data_and_the_sdist_the_tests_too(dist):
    (wheel,), (sdist,) = dist.glob("*.whl"), dist.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"voc_seg_tfrecord", f"{wheel.name.rpartition('-py3')[0]}.dist-info"}
    for folder in ("checksums", "dummy_data", "facts", "report/templates"):
        assert any(name.startswith(f"voc_seg_tfrecord/{folder}/") for name in names)
    with tarfile.open(sdist) as archive:
        packed = {pathlib.PurePath(*pathlib.PurePath(n).parts[1:]) for n in archive.getnames()}
    assert {pathlib.PurePath(n) for n in ("tests/wheel_test.py", "mkdocs.yml", "LICENSE")} <= packed


@pytest.mark.slow
def test_the_wheel_builds_the_sample_where_no_checkout_is(dist, tmp_path):
    """An environment with nothing but the wheel and what it needs, in an empty folder."""
    (wheel,) = dist.glob("*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "environment", cwd=tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty" / "smoke.py").write_bytes((REPOSITORY / ".ci" / "smoke.py").read_bytes())
    programs = tmp_path / "environment" / ("Scripts" if sys.platform == "win32" else "bin")
    constraints = ("-c", REPOSITORY / "constraints.txt")
    run(
        programs / "python",
        "-m",
        "pip",
        "install",
        "-q",
        "--no-compile",
        *constraints,
        wheel,
        cwd=tmp_path,
    )
    run(programs / "python", "-I", "smoke.py", cwd=tmp_path / "empty")
