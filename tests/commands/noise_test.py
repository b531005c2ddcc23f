"""No command shows what TensorFlow, absl or another library writes about itself."""

import os
import re
import subprocess
import sys

from PIL import Image
import pytest
from support import handwritten
from support.paths import DUMMY_DATA, REPOSITORY

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.trees.tree import VocTree

# Each module of a command, as `cli.COMMANDS` names it.
WORDS = {
    "check": ["check {tree} --class_names voc"],
    "build": ["build {tree} --name own --class_names voc"],
    "import_": ["import {records} --name old --class_names voc --data_dir {out}"],
    "list_": ["list"],
    "verify": ["verify {folder} --source {tree}"],
    "stats": ["stats {folder}"],
    "leaks": ["leaks {folder}@train {folder}@validation"],
    "preview": ["preview {folder} --out {out}/sheet.png"],
    "report": ["report {folder} --out {out}/report.html"],
    "evaluate": ["evaluate {folder}@train --predictions {predictions}"],
    "submission": ["submission --predictions {predictions} --out {out}/results.tgz"],
    "export": [
        "export {folder} --layout raw --out {out}/raw",
        "export {folder} --layout parquet --out {out}/parquet",
    ],
}

NOISE = re.compile(
    r"tensorflow/|absl::|cuda|onednn|port\.cc|apitools|^[IWEF]\d{4} |^WARNING|Warning: |Traceback",
    re.IGNORECASE | re.MULTILINE,
)


@pytest.fixture(scope="module")
def places(sample, tmp_path_factory):
    """What stands for the words in braces."""
    folder = tmp_path_factory.mktemp("noise")
    root = next(DUMMY_DATA.rglob("VOC2012"))
    predictions = folder / "predictions"
    predictions.mkdir()
    for image_id in VocTree(root).read_ids("train"):
        mask = Image.open(root / "SegmentationClass" / f"{image_id}.png")
        mask.point(lambda value: value % 255).save(predictions / f"{image_id}.png")
    made = [handwritten.raw(*pair) for pair in handwritten.pairs(2)]
    records = handwritten.write(folder / "train.tfrecord", made)
    return {
        "tree": DUMMY_DATA,
        "folder": sample.data_dir,
        "records": records,
        "predictions": predictions,
    }


def test_each_command_is_among_these():
    assert WORDS.keys() == set(cli.COMMANDS)


# They load most of what writes lines: TensorFlow, PyArrow, Matplotlib.
LOADING = ("build", "export", "report")
EACH = [
    pytest.param(words, marks=[] if command in LOADING else pytest.mark.slow)
    for command, several in WORDS.items()
    for words in several
]


@pytest.mark.parametrize("words", EACH)
def test_a_command_shows_no_line_of_a_library(places, tmp_path, words):
    made = [word.format(**places, out=tmp_path) for word in words.split()]
    hidden = ("TF_CPP_MIN_LOG_LEVEL", "PYTHONWARNINGS")
    env = {name: value for name, value in os.environ.items() if name not in hidden}
    result = subprocess.run(
        [sys.executable, "-m", "voc_seg_tfrecord", *made],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**env, "PYTHONPATH": str(REPOSITORY), "TFDS_DATA_DIR": str(tmp_path / "data")},
    )
    refused = made[0] == "submission"  # of three images, which are not those of VOC's test
    assert result.returncode == refused, result.stdout + result.stderr
    assert not NOISE.findall(result.stderr), result.stderr


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: All log messages before absl::InitializeLog() is called are written to STDERR",
        "I0000 00:00:1795277666.815317   16152 cudart_stub.cc:31] Could not find cuda drivers.",
        "WARNING:root:apitools not found, and bigquery client libraries are not available",
        "/x/y.py:3: FutureWarning: this will change",
    ],
)
def test_the_lines_looked_for_are_found(line):
    assert NOISE.search(f"Reading train examples\n{line}\n")
