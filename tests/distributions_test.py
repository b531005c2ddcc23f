"""The two distributions are one package: `voc_seg_tfrecord`, and `lite/` without TensorFlow."""

import json
import os
import re
import subprocess
import tomllib

import numpy as np
from PIL import Image
import pytest
from support import every_source
from support.paths import REPOSITORY
from support.python import run_python
from support.streets import write_street

from voc_seg_tfrecord.commands import cli

FULL = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())
LITE = tomllib.loads((REPOSITORY / "lite" / "pyproject.toml").read_text())
TENSORFLOW_ONLY = {"tensorflow", "apache-beam", "mlcroissant"}
"""What only TensorFlow and `tfds build` need."""


def name_of(requirement):
    return re.match(r"[\w-]+", requirement)[0]


def test_both_have_the_same_dependencies_but_for_those_that_tensorflow_needs():
    full = FULL["project"]["dependencies"]
    expected = {line for line in full if name_of(line) not in TENSORFLOW_ONLY}
    assert {*LITE["project"]["dependencies"]} == expected
    assert {name_of(line) for line in full} >= TENSORFLOW_ONLY


def test_both_have_the_same_extras_for_users():
    extras = LITE["project"]["optional-dependencies"]
    assert {*extras} == {"bands", "coco", "gs", "leaks", "matlab", "quality", "s3", "torch"}
    for name, packages in extras.items():
        assert packages == FULL["project"]["optional-dependencies"][name]


@pytest.mark.parametrize("field", ["version", "license", "requires-python", "keywords", "scripts"])
def test_both_have_the_same_metadata(field):
    assert LITE["project"][field] == FULL["project"][field]


def test_each_dependency_has_its_reason():
    text = (REPOSITORY / "pyproject.toml").read_text()
    block = text[text.index("\ndependencies = [") : text.index("\n[project.optional-dependencies]")]
    for group in re.findall(r'((?: +#.*\n)*)((?: +"[^"]+",\n)+)', block):
        reason, packages = group
        assert reason, packages


@pytest.mark.slow
@pytest.mark.parametrize("installed", ["voc_seg_tfrecord", "voc_seg_tfrecord_lite"])
def test_the_version_names_the_distribution_that_is_installed(installed):
    printed = printed_version([installed])
    assert printed[0] == f"{installed} 5.4"
    assert not any(line.startswith("note:") for line in printed)


@pytest.mark.slow
def test_with_both_installed_the_version_says_so_and_what_to_do():
    printed = printed_version(["voc_seg_tfrecord", "voc_seg_tfrecord_lite"])
    assert printed[:2] == ["voc_seg_tfrecord 5.4", "voc_seg_tfrecord_lite 5.4"]
    assert "only one may be installed" in printed[-2]
    assert "pip uninstall voc_seg_tfrecord voc_seg_tfrecord_lite" in printed[-1]


def printed_version(installed):
    """Returns the lines of `--version` where these distributions are installed, not a checkout."""
    code = f"""
import pathlib
from importlib import metadata
from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.commands import cli

def version(name, real=metadata.version):
    if not name.startswith("voc_seg_tfrecord"):
        return real(name)
    if name in {installed!r}:
        return "5.4"
    raise metadata.PackageNotFoundError(name)

metadata.version = version
requirements._CHECKOUT = pathlib.Path("nowhere")
cli.main(["--version"])
"""
    return run_python("-c", code).splitlines()


# What follows runs in an environment with `lite`, whose interpreter `.ci/run` names.

PYTHON = os.environ.get("VOC_SEG_LITE_PYTHON")
needs_lite = pytest.mark.skipif(not PYTHON, reason="VOC_SEG_LITE_PYTHON names no interpreter")


def run_lite(*words, **options):
    """Runs the interpreter of that environment outside of the checkout; returns what it prints."""
    environment = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "TFDS_DATA_DIR")}
    done = subprocess.run(
        [PYTHON, "-I", *map(str, words)],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
        **options,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


COMMANDS = [
    "example cracks --out cracks",
    "example old --out old",
    "check cracks",
    "build cracks --name own --data_dir data",
    "import old/train.tfrecord --name old --class_names voc --data_dir data",
    "list --data_dir data",
    "verify own --data_dir data --source cracks",
    "diff own own --data_dir data",
    "stats own --data_dir data",
    "leaks own@train own@validation --data_dir data",
    "preview own --data_dir data --out sheet.png",
    "report own --data_dir data --out report.html",
    "evaluate own@validation --data_dir data --predictions predictions",
    "submission 2012_test@test --predictions predictions --out results.tgz",
    "export own --data_dir data --layout voc --out voc",
    "export own --data_dir data --layout parquet --out parquet",
]


@needs_lite
@pytest.mark.slow
def test_every_command_runs_without_tensorflow(tmp_path):
    called = {words.split()[0] for words in COMMANDS}
    assert called == {name.rstrip("_") for name in cli.COMMANDS}
    (tmp_path / "predictions").mkdir()
    for number in (5, 6):
        Image.fromarray(np.zeros((48, 64), np.uint8)).save(
            tmp_path / "predictions" / f"wall_{number}.png"
        )
    lines = [words.split() for words in COMMANDS]
    helps = [[name, "--help"] for name in sorted(called)]
    script = REPOSITORY / "tests" / "support" / "many_commands.py"
    printed = run_lite(script, input=json.dumps([*lines, *helps]), cwd=tmp_path).splitlines()
    for (name, *_), line in zip([*lines, *helps], printed, strict=True):
        status, output, error = json.loads(line)
        is_refused = name == "submission" and "--help" not in output  # its test set is not built
        assert status == (2 if is_refused else 0), (name, output, error)
        assert is_refused == ("error: " in error)
    for place in ("sheet.png", "report.html", "voc/JPEGImages", "parquet"):
        assert (tmp_path / place).exists()


@needs_lite
@pytest.mark.slow
def test_each_kind_of_source_builds_the_same_bytes_without_tensorflow(tmp_path):
    script = REPOSITORY / "tests" / "support" / "every_source.py"
    for place in ("full", "lite"):
        for tool in every_source.STREETS:
            write_street(tool, tmp_path / place / "examples" / tool)
    lite = run_lite(script, tmp_path / "lite", cwd=tmp_path)
    assert lite == run_python(script, tmp_path / "full", cwd=tmp_path)
    assert lite.count("SHA256SUMS") == 12


SENTENCES = """
import json, pathlib, sys
import tensorflow_datasets as tfds
import voc_seg_tfrecord
from voc_seg_tfrecord import VocSegConfig, evaluation

def pipeline():
    from voc_seg_tfrecord.pipeline import training_batches

def load():
    tfds.load("voc_seg_tfrecord/sample", data_dir="data")

def beam():
    config = tfds.download.DownloadConfig(beam_runner="DirectRunner")
    builder = voc_seg_tfrecord.Builder(data_dir="beam", config="sample")
    builder.download_and_prepare(download_config=config)

def keras():
    evaluation.keras_metric

voc_seg_tfrecord.Builder(data_dir="data", config="sample").download_and_prepare()
for call in (pipeline, load, beam, keras):
    try:
        call()
    except ImportError as error:
        print(" ".join(str(error).split()))
assert not list(pathlib.Path("beam").rglob("*.tfrecord*"))
"""


@needs_lite
@pytest.mark.slow
def test_what_needs_tensorflow_says_so_in_one_sentence_with_the_command(tmp_path):
    printed = run_lite("-c", SENTENCES, cwd=tmp_path)
    lines = [line for line in printed.splitlines() if "which is not installed" in line]
    assert [line.partition(":")[0] for line in lines] == [
        *("voc_seg_tfrecord.pipeline", "tfds.load", "a build with Beam options", "keras_metric")
    ]
    packages = ("tensorflow>=2.20", "tensorflow>=2.20", "apache-beam>=2.69", "keras")
    for line, package in zip(lines, packages, strict=True):
        assert "pip install" in line
        assert package in line


TRAINED = """
import importlib.util, sys
import numpy as np
from voc_seg_tfrecord import arrays, data_source, evaluation

for name in ("tensorflow", "apache_beam"):
    assert importlib.util.find_spec(name) is None, name
source = data_source("own", "train", data_dir="data")
rng = np.random.default_rng(0)
weights = np.zeros((4, len(source.class_names)))  # of red, green, blue and one


def scores(image):
    return np.concatenate([image / 255 - 0.5, np.ones_like(image[..., :1])], axis=-1) @ weights


for step in range(300):
    crop = arrays.random_scaled_crop(source[step % len(source)], 32, rng)
    mask = crop["segmentation_mask"][..., 0]
    known = crop["image"][mask != 255], mask[mask != 255]
    shares = np.exp(scores(known[0]))
    shares /= shares.sum(axis=-1, keepdims=True)
    shares[np.arange(len(shares)), known[1]] -= 1
    inputs = np.concatenate([known[0] / 255 - 0.5, np.ones((len(shares), 1))], axis=-1)
    weights -= 2 * inputs.T @ shares / max(1, len(shares))
counted = evaluation.Confusion(source.class_names)
for example in data_source("own", "validation", data_dir="data"):
    counted.update(example["segmentation_mask"][None], scores(example["image"]).argmax(-1)[None])
print(counted.result().miou > 0.6)
"""


@needs_lite
@pytest.mark.slow
def test_a_model_trains_and_is_scored_without_tensorflow(tmp_path):
    run_lite("-m", "voc_seg_tfrecord", "example", "cracks", "--out", "cracks", cwd=tmp_path)
    words = ("build", "cracks", "--name", "own", "--data_dir", "data")
    run_lite("-m", "voc_seg_tfrecord", *words, cwd=tmp_path)
    assert run_lite("-c", TRAINED, cwd=tmp_path).endswith("True\n")
