import csv
import json

import numpy as np
import pytest
from support.building import examples
from support.scoring import write_predictions

from voc_seg_tfrecord import VOID
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.evaluation import evaluate as evaluate_split


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
    assert "not in the mean, absent from masks and predictions: bicycle" in table
    evaluate(sample, predictions, "--json")
    result = json.loads(capsys.readouterr().out)
    assert f"mIoU                     {100 * result['miou']:.2f}" in table
    assert result["fingerprint"] in table
    assert result["classes"]["bicycle"]["iou"] is None


@pytest.mark.parametrize(
    ("words", "split", "message"),
    [
        ((), "", "no split"),
        ((), "@nothing", "no such split"),
        (("--boundary", "0"), "@train", "above 0 and at most 1"),
        (("--rgb", "0"), "@train", "--rgb: no --html"),
        (("--decisions", "d.json"), "@train", "--decisions: no --html"),
        (("--ids", "scores.csv[5:]"), "@train", "FILE[:20]"),
    ],
)
def test_a_wrong_call_is_named(sample, predictions, capsys, words, split, message):
    assert evaluate(sample, predictions, *words, split=split) == 2
    assert message in capsys.readouterr().err


def test_a_missing_prediction_ends_with_1(sample, predictions, capsys):
    next(predictions.iterdir()).unlink()
    assert evaluate(sample, predictions) == 1
    assert "no such file" in capsys.readouterr().err


def read_rows(table):
    return list(csv.DictReader(table.read_text().splitlines()))


def ids_by_miou(sample, predictions):
    """Returns the ids of train by the mIoU of each image alone, the lowest first."""
    result = evaluate_split(sample, "train", predictions, per_image=True)
    miou = {image.id: image.result(result.class_names).miou for image in result.per_image}
    return sorted(miou, key=lambda image_id: (miou[image_id], image_id))


def test_the_csv_has_the_lowest_score_first(sample, predictions, tmp_path, capsys):
    expected = ids_by_miou(sample, predictions)
    table = tmp_path / "scores.csv"
    assert evaluate(sample, predictions, "--per_image", str(table)) == 0
    assert [row["id"] for row in read_rows(table)] == expected
    assert evaluate(sample, predictions, "--ids", f"{table}[:1]") == 0
    assert "@scores.csv[:1]: 1 image" in capsys.readouterr().out


def test_the_largest_confusion_of_an_image_is_named(sample, tmp_path):
    """One image is right, one has 3 pixels of void's class and 2 of another."""
    folder = tmp_path / "predicted"
    folder.mkdir()
    masks = {}
    for name, example in examples(sample, "train").items():
        mask = example["segmentation_mask"][..., 0]
        masks[name.removesuffix(".jpg")] = np.where(mask == VOID, 0, mask)
    changed = "2008_000002"
    is_background = examples(sample, "train")[f"{changed}.jpg"]["segmentation_mask"][..., 0] == 0
    places = np.argwhere(is_background)[:5]
    for number, (row, column) in enumerate(places):
        masks[changed][row, column] = 3 if number < 3 else 4
    for image_id, mask in masks.items():
        np.save(folder / f"{image_id}.npy", mask)
    table = tmp_path / "scores.csv"
    assert evaluate(sample, folder, "--per_image", str(table)) == 0
    first, *others = read_rows(table)
    assert (first["id"], first["wrong pixels"]) == (changed, "5")
    assert first["largest confusion"] == "background as bird: 3"
    for row in others:
        assert (row["wrong pixels"], row["largest confusion"]) == ("0", "")
