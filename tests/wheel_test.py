import email
import importlib.metadata
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile

from packaging.requirements import Requirement
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
    """Both wheels and the sdist, made of a copy of the checkout."""
    pytest.importorskip("build")
    source, out = tmp_path_factory.mktemp("source") / "copy", tmp_path_factory.mktemp("dist")
    no_part = shutil.ignore_patterns(".*", "__pycache__", "build", "dist", "site", "*.egg-info")
    shutil.copytree(REPOSITORY, source, ignore=no_part)
    run(sys.executable, "-m", "build", "--outdir", out, cwd=source)
    run(sys.executable, "-m", "build", "--wheel", "--outdir", out, "lite", cwd=source)
    return out


@pytest.mark.slow
def test_twine_finds_nothing_wrong_with_the_files_of_a_release(dist):
    pytest.importorskip("twine")
    printed = run(sys.executable, "-m", "twine", "check", "--strict", *dist.iterdir(), cwd=dist)
    assert printed.count("PASSED") == 3


@pytest.mark.slow
def test_the_wheel_holds_the_package_and_its_data_and_the_sdist_the_tests_too(dist):
    (wheel,) = dist.glob("voc_seg_tfrecord-*.whl")
    (sdist,) = dist.glob("*.tar.gz")
    names = zipfile.ZipFile(wheel).namelist()
    tops = {name.partition("/")[0] for name in names}
    assert tops == {"voc_seg_tfrecord", f"{wheel.name.rpartition('-py3')[0]}.dist-info"}
    for folder in ("checksums", "dummy_data", "core/facts", "report/templates"):
        assert any(name.startswith(f"voc_seg_tfrecord/{folder}/") for name in names)
    with tarfile.open(sdist) as archive:
        packed = {pathlib.PurePath(*pathlib.PurePath(n).parts[1:]) for n in archive.getnames()}
    assert {pathlib.PurePath(n) for n in ("tests/wheel_test.py", "mkdocs.yml", "LICENSE")} <= packed


@pytest.mark.slow
def test_both_wheels_hold_the_same_files_of_the_package(dist):
    full, lite = map(checksums_in_package, sorted(dist.glob("*.whl")))
    assert full == lite


def checksums_in_package(wheel):
    files = zipfile.ZipFile(wheel).infolist()
    return {file.filename: file.CRC for file in files if ".dist-info/" not in file.filename}


@pytest.mark.slow
def test_the_wheel_builds_the_sample_where_no_checkout_is(dist, tmp_path):
    """An environment with nothing but the wheel and what it says it needs, in an empty folder."""
    (wheel,) = dist.glob("voc_seg_tfrecord-*.whl")
    run(sys.executable, "-m", "venv", "environment", cwd=tmp_path)
    (programs,) = (path.parent for path in tmp_path.glob("environment/*/activate"))
    (site,) = tmp_path.glob("environment/**/site-packages")
    link_what_is_needed(wheel, site)
    tfds = f"#!{programs / 'python'}\nfrom tensorflow_datasets.scripts.cli.main import launch_cli\n"
    (programs / "tfds").write_text(f"{tfds}launch_cli()\n")
    (programs / "tfds").chmod(0o755)
    run(programs / "python", "-m", "pip", "install", "-q", "--no-index", wheel, cwd=tmp_path)
    (tmp_path / "empty").mkdir()
    shutil.copy(REPOSITORY / ".ci" / "smoke.py", tmp_path / "empty")
    run(programs / "python", "-I", "smoke.py", cwd=tmp_path / "empty")


def link_what_is_needed(wheel, site):
    """Links the files of all distributions that a wheel needs, as `pip install` takes minutes."""
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
        metadata = email.message_from_bytes(archive.read(name))
    todo = [(metadata.get_all("Requires-Dist"), {""})]
    done = set()
    while todo:
        requirements, extras = todo.pop()
        for needed in map(Requirement, requirements):
            wanted = not needed.marker or any(needed.marker.evaluate({"extra": e}) for e in extras)
            if not wanted or (needed.name, *sorted(needed.extras)) in done:
                continue
            done.add((needed.name, *sorted(needed.extras)))
            distribution = importlib.metadata.distribution(needed.name)
            todo.append((distribution.requires or [], {"", *needed.extras}))
            link(distribution, site)


def link(distribution, site):
    """Links the files of a distribution that is installed here into another environment."""
    for file in distribution.files:
        if ".." not in file.parts and not (site / file).exists():
            (site / file).parent.mkdir(parents=True, exist_ok=True)
            (site / file).symlink_to(file.locate())
