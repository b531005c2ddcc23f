"""Every command that takes some images of a dataset takes them from a file, a slice or a list."""

import csv

import numpy as np
import pytest
from support.command_line import run_command

from voc_seg_tfrecord.core import named_lists
from voc_seg_tfrecord.reading import dataset
from voc_seg_tfrecord.reading.data_source import data_source

IDS = ("2008_000002", "2007_000001")
"""Two of the three images of train in the sample."""

COMMANDS = {
    "stats": ("stats",),
    "stats --json": ("stats", "--json"),
    "report": ("report", "--out", "page.html"),
    "evaluate": ("evaluate", "--predictions", "predicted", "--per_image", "scores.csv"),
    "evaluate --html": ("evaluate", "--predictions", "predicted", "--html", "scores.html"),
    "export": ("export", "--out", "exported", "--layout", "voc"),
}


@pytest.fixture
def dataset_with_predictions(sample, tmp_path, monkeypatch):
    """The path of the sample; `predicted` in the working folder has other classes everywhere."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "predicted").mkdir()
    source = data_source(sample.data_dir, "train")
    for image_id, example in zip(source.ids, source, strict=True):
        mask = example["segmentation_mask"][..., 0]
        np.save(tmp_path / "predicted" / f"{image_id}.npy", (mask.astype(int) + 1) % 21)
    (tmp_path / "some.txt").write_text("".join(f"{image_id}\n" for image_id in IDS))
    rows = [("id", "score"), *((image_id, 1) for image_id in IDS), ("2009_000003", 2)]
    with (tmp_path / "some.csv").open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    return str(sample.data_dir)


OF_SPLITS = [name for name in COMMANDS if name != "export"]
"""The commands that take `DATASET@SPLIT`; an export has all splits."""


@pytest.mark.parametrize(
    ("command", "split"),
    [*((name, "") for name in COMMANDS), *((name, "@train") for name in OF_SPLITS)],
)
@pytest.mark.parametrize("ids", ["some.txt", "some.csv[:2]"])
def test_a_command_takes_the_images_of_a_file(dataset_with_predictions, command, split, ids):
    name, *options = COMMANDS[command]
    ended = run_command(name, f"{dataset_with_predictions}{split}", *options, "--ids", ids)
    assert ended.status == 0, ended.text


@pytest.mark.slow_but_first
@pytest.mark.parametrize("command", OF_SPLITS)
def test_a_command_takes_the_images_of_a_published_list(
    dataset_with_predictions, monkeypatch, command
):
    monkeypatch.setattr(dataset, "list_ids", {"semi_92": IDS}.__getitem__)
    assert "semi_92" in named_lists.named_lists()
    name, *options = COMMANDS[command]
    ended = run_command(name, f"{dataset_with_predictions}@semi_92", *options)
    assert ended.status == 0, ended.text


def test_the_page_shows_the_images_of_the_file_alone(dataset_with_predictions, tmp_path):
    run_command("report", dataset_with_predictions, "--out", "page.html", "--ids", "some.txt")
    page = (tmp_path / "page.html").read_text()
    assert all(image_id in page for image_id in IDS)
    assert "2009_000003" not in page
