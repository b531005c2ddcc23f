import re
import runpy
import sys
import types

import pytest
from support.building import examples
from support.paths import REPOSITORY

from voc_seg_tfrecord import VOC_CLASSES, evaluation

EXAMPLE = REPOSITORY / "docs" / "tutorials" / "train_keras.py"


@pytest.mark.slow
def test_validation_is_on_whole_images_and_counted_as_the_command_counts(sample):
    example = types.SimpleNamespace(**runpy.run_path(str(EXAMPLE)))
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
    assert float(metric.result()) == pytest.approx(counted.result().miou, rel=1e-6)


@pytest.mark.slow
def test_the_example_trains_on_the_sample_and_its_loss_falls(sample, monkeypatch, capsys):
    """In this process, in which every warning is an error."""
    words = [str(EXAMPLE), "--data_dir", str(sample.data_dir_root), "--epochs", "3"]
    monkeypatch.setattr(sys, "argv", words)
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out
    losses, scores = (
        [float(found) for found in re.findall(rf" {name}: ([\d.]+)", printed)]
        for name in ("loss", "miou")
    )
    assert len(losses) == 3
    assert losses[-1] < losses[0] / 1.5
    assert scores[-1] > scores[0]
    assert len(re.findall(r"val_miou: 0\.\d+", printed)) == 3
