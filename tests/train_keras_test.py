import importlib.util
import re
import subprocess
import sys

from support.building import build, examples
from support.paths import REPOSITORY

from voc_seg_tfrecord import VOC_CLASSES, evaluation

EXAMPLE = REPOSITORY / "docs" / "tutorials" / "train_keras.py"


def test_validation_is_on_whole_images_and_counted_as_the_command_counts(sample):
    spec = importlib.util.spec_from_file_location("train_keras", EXAMPLE)
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    _, validation = example.batches(sample, 32, 2)
    network = example.network(21, 4)
    metric, counted = evaluation.keras_metric(21), evaluation.Confusion(VOC_CLASSES)
    for images, masks in validation:
        scores = network(images)
        metric.update_state(masks, scores)
        counted.update(masks.numpy(), scores.numpy().argmax(-1))
    pixels = sum(
        int((e["segmentation_mask"] != 255).sum()) for e in examples(sample, "validation").values()
    )
    assert counted.result().pixels == pixels
    assert float(metric.result()) == counted.result().miou


def test_the_example_trains_on_the_sample_and_its_loss_falls(tmp_path):
    build(tmp_path, "sample")
    result = subprocess.run(
        [sys.executable, EXAMPLE, "--data_dir", tmp_path, "--epochs", "3"],
        check=True,
        capture_output=True,
        text=True,
    )
    losses, scores = (
        [float(found) for found in re.findall(rf" {name}: ([\d.]+)", result.stdout)]
        for name in ("loss", "miou")
    )
    assert len(losses) == 3
    assert losses[-1] < losses[0] / 1.5
    assert scores[-1] > scores[0]
    assert len(re.findall(r"val_miou: 0\.\d+", result.stdout)) == 3
    # TensorFlow 2.20 is told that its protobuf is old.
    others = re.sub("DeprecationWarning|UserWarning: Protobuf gencode", "", result.stderr)
    assert "Warning" not in others
