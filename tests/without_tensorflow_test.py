"""What reads a built dataset works where TensorFlow is not installed, so it never loads it."""

import json
import os

import pytest
from support.paths import DUMMY_DATA, REPOSITORY
from support.python import run_python
from support.scoring import write_predictions
import tensorflow as tf

BEGIN = "from support import no_tensorflow\n"


def run(code, *words, **options):
    """Runs Python code in a process that cannot import TensorFlow; returns its output."""
    path = os.pathsep.join([str(REPOSITORY), str(REPOSITORY / "tests")])
    return run_python("-c", BEGIN + code, *words, PYTHONPATH=path, **options)


COMMANDS = [
    "check {source} --class_names voc",
    "verify {folder}",
    "verify {folder} --source {source}",
    "stats {folder}",
    "diff {folder} {folder}",
    "leaks {folder}@train {folder}@validation",
    "preview {folder}@train[1:] --out {out}/sheet.png",
    "preview {folder} --out {out}/sheet.jpg --by_class --seed 1",
    "report {folder} --out {out}/report.html",
    "export {folder} --layout voc --out {out}/tree",
    "export {folder} --layout raw --out {out}/raw",
    "export {folder} --layout deeplab --out {out}/records",
    "export {folder} --layout parquet --out {out}/parquet",
    "export {folder} --layout ultralytics --out {out}/ultralytics",
    "export {folder} --layout yolo --out {out}/yolo",
    "export {folder} --layout coco --out {out}/coco",
    "evaluate {folder}@train --predictions {predictions}",
]


@pytest.mark.slow
def test_commands_that_read_a_built_dataset_do_not_need_it(sample, tmp_path, subtests):
    names = {"folder": sample.data_dir, "out": tmp_path, "source": DUMMY_DATA}
    names["predictions"] = write_predictions(sample, tmp_path / "predictions")
    called = [[word.format(**names) for word in words.split()] for words in COMMANDS]
    code = "from support import many_commands\nmany_commands.main()\n"
    printed = run(code, standard_input=json.dumps(called))
    for words, line in zip(COMMANDS, printed.splitlines(), strict=True):
        with subtests.test(words):
            status, output, error = json.loads(line)
            assert status == 0, error
            assert output or words.startswith("export")
            assert "tensorflow" not in error.lower()


@pytest.mark.slow
def test_arrays_and_their_builds_evaluation_and_data_sources_do_not_need_it(sample, tmp_path):
    code = """
import importlib.util, sys
import numpy as np
from voc_seg_tfrecord import arrays, data_source, evaluation, from_arrays, splits, stats
from voc_seg_tfrecord.sources.records import features

print(importlib.util.find_spec("tensorflow"), importlib.util.find_spec("PIL") is not None)
print(features.read_tensor(bytes.fromhex(sys.argv[2])).tolist())
source = data_source("voc_seg_tfrecord/sample", split="train", data_dir=sys.argv[1])
confusion = evaluation.Confusion([str(n) for n in range(21)])
rng = np.random.default_rng(0)
for example in splits.only(source, ["2007_000001", "2008_000002"]):
    crop = arrays.random_scaled_crop(example, 32, rng)
    mask = crop["segmentation_mask"]
    confusion.update(mask[None], np.where(mask == 255, 0, mask)[None])
print(len(source), confusion.result().miou)

image, mask = np.zeros((4, 5, 3), np.uint8), np.eye(4, 5, dtype=np.uint8)
said = {"name": "own", "class_names": ["a", "b", "c"], "data_dir": sys.argv[3]}
from_arrays([image], [mask], **said)
(example,) = data_source("own", split="train", data_dir=sys.argv[3])
assert np.array_equal(example["segmentation_mask"][..., 0], mask)
"""
    tensor = tf.io.serialize_tensor([[1, 2, 3], [4, 5, 255]]).numpy().hex()
    said = run(code, sample.data_dir_root, tensor, tmp_path).splitlines()
    assert said[:3] == ["None True", "[[1, 2, 3], [4, 5, 255]]", "3 1.0"]
