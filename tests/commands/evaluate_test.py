import json

from etils import epath
import numpy as np
import pytest
from support.scoring import write_predictions

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.evaluation.result import Result, save_confusion


@pytest.fixture
def predictions(sample, tmp_path):
    return write_predictions(sample, tmp_path / "predictions")


def evaluate(sample, predictions, *words, split="@train"):
    return cli.main(
        ["evaluate", f"{sample.data_dir}{split}", "--predictions", str(predictions), *words]
    )


def test_the_table_names_absent_classes_and_the_mean_and_json_has_its_numbers(
    sample, predictions, capsys
):
    assert evaluate(sample, predictions) == 0
    table = capsys.readouterr().out
    assert "@train: 3 images" in table
    assert "absent from masks and predictions, not in the mean: bicycle" in table
    evaluate(sample, predictions, "--json")
    result = json.loads(capsys.readouterr().out)
    assert f"mIoU            {100 * result['miou']:.2f}" in table
    assert result["fingerprint"] in table
    assert result["classes"]["bicycle"]["iou"] is None


def test_the_matrix_is_drawn_with_the_names_of_classes_as_they_are(sample, predictions, tmp_path):
    path = tmp_path / "matrix.png"
    assert evaluate(sample, predictions, "--confusion", str(path)) == 0
    assert path.read_bytes().startswith(b"\x89PNG")
    path = tmp_path / "matrix.svg"
    save_confusion(Result((r"$\frac{x}$", "$x$"), np.eye(2, dtype=np.int64)), epath.Path(path))
    assert r"1 $x$" in path.read_text()


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_a_drawn_matrix_is_the_same_each_time_and_replaces_links(tmp_path, ending):
    result = Result(("a", "b"), np.eye(2, dtype=np.int64))
    other, path = tmp_path / "other", tmp_path / f"matrix.{ending}"
    other.write_text("mine")
    path.symlink_to(other)
    save_confusion(result, epath.Path(path))
    first = path.read_bytes()
    save_confusion(result, epath.Path(path))
    assert path.read_bytes() == first
    assert not path.is_symlink()
    assert other.read_text() == "mine"


@pytest.mark.parametrize(
    ("words", "split", "message"),
    [
        ((), "", "no split"),
        ((), "@nothing", "no such split"),
        (("--boundary", "0"), "@train", "above 0 and at most 1"),
        (("--confusion", "matrix.xyz"), "@train", "the ending '.xyz'"),
    ],
)
def test_a_wrong_call_is_named(sample, predictions, capsys, words, split, message):
    assert evaluate(sample, predictions, *words, split=split) == 2
    assert message in capsys.readouterr().err


def test_a_missing_prediction_ends_with_1(sample, predictions, capsys):
    next(predictions.iterdir()).unlink()
    assert evaluate(sample, predictions) == 1
    assert "no such file" in capsys.readouterr().err
