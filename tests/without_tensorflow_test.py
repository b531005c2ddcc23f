"""What reads a built dataset works where TensorFlow is not installed, so it never loads it."""

import json
import os
import pathlib

import pytest
from support.building import build
from support.paths import DUMMY_DATA, REPOSITORY
from support.python import run_python
from support.scoring import write_predictions
import tensorflow as tf

BEGIN = "from support import no_tensorflow\n"


def run(code, *words, **options):
    """Runs Python code in a process that cannot import TensorFlow; returns its output."""
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])
    return run_python("-c", BEGIN + code, *words, PYTHONPATH=path, **options)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The version folder of the sample."""
    data_dir = tmp_path_factory.mktemp("data")
    return pathlib.Path(build(data_dir, "sample").data_dir)


def test_tensorflow_is_hidden_here_as_if_it_were_not_installed():
    code = "import importlib.util as u; print(u.find_spec('tensorflow'), bool(u.find_spec('PIL')))"
    assert run(code) == "None True\n"


COMMANDS = [
    "check {source} --class_names voc",
    "verify {folder}",
    "verify {folder} --source {source}",
    "stats {folder}",
    "diff {folder} {folder}",
    "leaks {folder}@train {folder}@validation",
    "preview {folder} --out {out}/sheet.png --split train[1:]",
    "preview {folder} --out {out}/sheet.jpg --by_class --seed 1",
    "report {folder} --out {out}/report.html",
    "export {folder} --layout voc --out {out}/tree",
    "export {folder} --layout raw --out {out}/raw",
    "export {folder} --layout deeplab --out {out}/records",
    "export {folder} --layout parquet --out {out}/parquet",
    "report {folder} --card {out}/card",
    "evaluate {folder}@train --predictions {predictions}",
]

RUN = """
import contextlib, io, json, sys
from voc_seg_tfrecord.commands import cli

for words in json.load(sys.stdin):
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        status = cli.main(words)
    print(json.dumps([status, out.getvalue(), err.getvalue()]))
"""


@pytest.fixture(scope="module")
def ran(folder, sample, tmp_path_factory):
    """The status, the output and the errors of each command; one process runs them all."""
    predictions = write_predictions(sample, tmp_path_factory.mktemp("made") / "predictions")
    called = []
    for words in COMMANDS:
        out = tmp_path_factory.mktemp("out")
        names = {"folder": folder, "predictions": predictions, "out": out, "source": DUMMY_DATA}
        called.append([word.format(**names) for word in words.split()])
    printed = run(RUN, standard_input=json.dumps(called))
    return dict(zip(COMMANDS, map(json.loads, printed.splitlines()), strict=True))


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_that_read_a_built_dataset_do_not_need_it(ran, words):
    status, output, error = ran[words]
    assert status == 0, error
    assert output or words.startswith("export")
    assert "tensorflow" not in error.lower()


def test_a_serialised_tensor_is_read_without_it():
    code = """
import sys
from voc_seg_tfrecord.imports import layouts

print(layouts.tensor_pixels(bytes.fromhex(sys.argv[1])).tolist())
"""
    assert run(code, tf.io.serialize_tensor([[1, 2, 3], [4, 5, 255]]).numpy().hex()) == (
        "[[1, 2, 3], [4, 5, 255]]\n"
    )


def test_arrays_evaluation_and_data_sources_do_not_need_it(tmp_path):
    build(tmp_path, "sample")
    code = """
import sys
import numpy as np
from voc_seg_tfrecord import arrays, data_source, evaluation, splits, stats

source = data_source("voc_seg_tfrecord/sample", split="train", data_dir=sys.argv[1])
confusion = evaluation.Confusion([str(n) for n in range(21)])
rng = np.random.default_rng(0)
for example in splits.only(source, ["2007_000001", "2008_000002"]):
    crop = arrays.random_scaled_crop(example, 32, rng)
    mask = crop["segmentation_mask"]
    confusion.update(mask[None], np.where(mask == 255, 0, mask)[None])
print(len(source), confusion.result().miou)
"""
    assert run(code, tmp_path) == "3 1.0\n"
