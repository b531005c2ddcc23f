import json

import pytest
from support.scoring import write_predictions

from voc_seg_tfrecord.commands import cli


@pytest.fixture
def predictions(sample, tmp_path):
    return write_predictions(sample, tmp_path / "predictions")


def evaluate(sample, predictions, *words, split="@train"):
    return cli.main(
        ["evaluate", f"{sample.data_dir}{split}", "--predictions", str(predictions), *words]
    )


def test_the_table_names_absent_classes_and_the_mean(sample, predictions, capsys):
    assert evaluate(sample, predictions) == 0
    out = capsys.readouterr().out
    assert "@train: 3 images" in out
    assert "mIoU" in out
    assert "absent from masks and predictions, not in the mean: bicycle" in out


def test_json_holds_the_same_numbers(sample, predictions, capsys):
    evaluate(sample, predictions)
    table = capsys.readouterr().out
    evaluate(sample, predictions, "--json")
    result = json.loads(capsys.readouterr().out)
    assert f"mIoU            {100 * result['miou']:.2f}" in table
    assert result["fingerprint"] in table
    assert result["classes"]["bicycle"]["iou"] is None


@pytest.mark.parametrize(
    ("words", "split", "message"),
    [
        ((), "", "no split"),
        ((), "@nothing", "no such split"),
        (("--boundary", "0"), "@train", "above 0 and at most 1"),
    ],
)
def test_a_wrong_call_is_named(sample, predictions, capsys, words, split, message):
    assert evaluate(sample, predictions, *words, split=split) == 2
    assert message in capsys.readouterr().err


def test_a_missing_prediction_ends_with_1(sample, predictions, capsys):
    next(predictions.iterdir()).unlink()
    assert evaluate(sample, predictions) == 1
    assert "no such file" in capsys.readouterr().err
