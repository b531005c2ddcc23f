import csv
import dataclasses
import io
import json
import shutil

import numpy as np
from PIL import Image
import pytest
from support import doctoring
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VOC_CLASSES, VOID, stats
from voc_seg_tfrecord.audit import statistics
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.reading.dataset import open_built

TREE = DUMMY_DATA / "VOCdevkit" / "VOC2012"


@pytest.fixture(scope="module")
def found(sample):
    return stats.compute(sample)


def masks(split):
    ids = (TREE / "ImageSets" / "Segmentation" / f"{split}.txt").read_text().split()
    return [np.asarray(Image.open(TREE / "SegmentationClass" / f"{i}.png")) for i in ids]


def test_pixels_and_images_are_those_of_the_source(found):
    for split, name in (("train", "train"), ("validation", "val"), ("test", "test")):
        pixels = sum(np.bincount(m.ravel(), minlength=256) for m in masks(name))
        images = sum((np.bincount(m.ravel(), minlength=256) > 0).astype(int) for m in masks(name))
        assert found[split].pixels.tolist() == pixels[:21].tolist()
        assert found[split].images.tolist() == images[:21].tolist()
        assert found[split].void == pixels[VOID]


def test_objects_are_those_that_were_drawn(found):
    drawn = {"person": 1, "bottle": 1, "bus": 1, "car": 1}
    objects = dict(zip(VOC_CLASSES, found["validation"].objects.tolist(), strict=True))
    assert {n: c for n, c in objects.items() if c} == drawn
    assert found["test"].objects[VOC_CLASSES.index("sheep")] == 2


def test_an_object_is_of_the_class_of_most_of_its_pixels_and_void_is_none():
    mask = np.array([[0, 3, 3, 4, 255, 5, 255]], np.uint8)
    instances = np.array([[0, 1, 1, 1, 2, 255, 255]], np.uint8)
    counts = stats.count_objects(mask, instances)
    assert {int(c): int(counts[c]) for c in np.flatnonzero(counts)} == {3: 1}


def test_an_object_that_is_in_two_parts_counts_once():
    mask = np.array([[7, 0, 7], [8, 8, 0]], np.uint8)
    instances = np.array([[1, 0, 1], [2, 2, 0]], np.uint8)
    assert stats.count_objects(mask, instances)[[0, 7, 8]].tolist() == [0, 1, 1]


def one(pixels, images, image_pixels):
    return stats.Stats(
        ("background", "a", "b"),
        ("x",),
        *(np.array(values) for values in (pixels, images, image_pixels)),
        None,
        50,
        np.array([[10, 15]]),
    )


def test_median_frequency_weights_are_those_of_the_paper():
    # Frequencies 0.6, 0.3 and 0.2: their median is 0.3.
    weights = one([60, 30, 10], [1, 1, 1], [100, 100, 50]).median_frequency_weights()
    assert weights.dtype == np.float32
    assert weights == pytest.approx([0.5, 1.0, 1.5])


def test_a_class_of_one_pixel_has_a_weight_and_one_that_never_occurs_has_none():
    weights = one([99, 1, 0], [1, 1, 0], [100, 100, 0]).median_frequency_weights()
    assert weights == pytest.approx([0.5 / 0.99, 0.5 / 0.01, 0.0])


def test_inverse_log_weights_are_those_of_enet():
    weights = one([60, 40, 0], [1, 1, 0], [100, 100, 0]).inverse_log_weights()
    assert weights == pytest.approx([1 / np.log(1.62), 1 / np.log(1.42), 1 / np.log(1.02)])


def test_void_counts_for_no_class(found):
    assert found["train"].share.sum() == pytest.approx(1)
    assert one([60, 30, 10], [1, 1, 1], [1, 1, 1]).void_share == pytest.approx(50 / 150)


def test_splits_add_up(found):
    both = found["train"] + found["validation"]
    assert both.pixels.tolist() == (found["train"].pixels + found["validation"].pixels).tolist()
    assert len(both.ids) == len(both.sizes) == 5
    assert stats.total(found).void == sum(f.void for f in found.values())


def test_sizes_are_those_of_the_images(found):
    assert sorted(found["train"].most_common_sizes()) == [(48, 64, 1), (56, 56, 1), (60, 40, 1)]
    assert found["train"].size_percentiles()["height"][::2] == [48, 56, 60]


def official(name, **changes):
    """Statistics that have exactly the published figures of a list."""
    table = statistics._TABLES[name]
    year, split = table.year, table.split
    pixels, images, objects = np.zeros((3, 21), np.int64)
    void = 0
    for row in statistics._read_table(f"voc{year}_pixels"):
        if row["index"] == "255":
            void = int(row[split])
        else:
            pixels[int(row["index"])] = int(row[split])
    prefix = statistics._COLUMN_PREFIX[year]
    for row in statistics._read_table(f"voc{year}_images_objects"):
        if row["class"] != "total" and f"{prefix}{split}_images" in row:
            images[VOC_CLASSES.index(row["class"])] = int(row[f"{prefix}{split}_images"])
            objects[VOC_CLASSES.index(row["class"])] = int(row[f"{prefix}{split}_objects"])
    ids = list_ids(name)
    fields = {"pixels": pixels, "images": images, "objects": objects, "void": void} | changes
    return stats.Stats(
        VOC_CLASSES,
        ids,
        fields["pixels"],
        fields["images"],
        fields["pixels"],
        fields["objects"],
        fields["void"],
        np.zeros((len(ids), 2), np.int64),
    )


@pytest.mark.parametrize("name", statistics._TABLES)
def test_published_figures_agree_with_themselves(name):
    comparison = statistics.compare(official(name))
    assert comparison.differences == comparison.doubtful == ()
    assert comparison.compared == (22 if name == "trainaug" else 62)


@pytest.mark.parametrize(
    ("name", "split", "figure", "value"),
    [
        ("voc2012_train", "pixels", 1, 1780580),
        ("voc2012_val", "pixels", 20, 1771754),
        ("trainaug", "pixels", 15, 146345875),
        ("voc2007_test", "pixels", 0, 25161858),
        ("voc2012_train", "objects", 15, 870),
        ("voc2007_val", "images", 15, 79),
    ],
)
def test_published_figures_are_the_known_ones(name, split, figure, value):
    assert getattr(official(name), split)[figure] == value


def test_a_figure_that_differs_is_named():
    wrong = official("voc2012_val", void=14232844)
    (difference,) = statistics.compare(wrong).differences
    assert difference == "pixels of void255: 14232844, published 14232845"


def test_ids_of_no_published_table_are_not_compared(found):
    assert statistics.compare(found["train"]) is None


@pytest.mark.parametrize(
    ("splits", "titles"),
    [
        (
            "",
            [
                "test: 1 image",
                "train: 3 images",
                "validation: 2 images",
                "test+train+validation: 6 images",
            ],
        ),
        ("@train+test", ["train: 3 images", "test: 1 image", "train+test: 4 images"]),
    ],
)
def test_the_command_prints_a_table_of_each_split_and_their_sum(sample, capsys, splits, titles):
    assert cli.main(["stats", f"{sample.data_dir}{splits}"]) == 0
    out = capsys.readouterr().out
    assert [line for line in out.splitlines() if line.endswith((" image", " images"))] == titles
    assert "most common sizes, width x height: " in out


def test_the_command_prints_json_and_writes_csv_of_one_split(sample, tmp_path, capsys):
    name = f"{sample.data_dir}@train"
    assert cli.main(["stats", name, "--json"]) == 0
    (split,) = json.loads(capsys.readouterr().out)["splits"].values()
    assert split["classes"]["cat"]["images"] == 1
    table = tmp_path / "classes.csv"
    assert cli.main(["stats", name, "--csv", str(table)]) == 0
    assert capsys.readouterr().out.endswith(f"table in {table}\n")
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert len(rows) == 22
    assert rows[8]["class"] == "cat"
    assert rows[8]["pixels"] == str(split["classes"]["cat"]["pixels"])
    assert rows[21]["pixels"] == str(split["void"]["pixels"])


def test_a_mask_that_tensorflow_would_misread_is_no_statistic(sample, tmp_path, capsys):
    copy = open_built(shutil.copytree(sample.data_dir, tmp_path / "1.0.0"))

    def change(examples):
        palette = (TREE / "SegmentationClass" / "2007_000001.png").read_bytes()
        doctoring.values(examples[0], "segmentation_mask")[0] = palette
        return examples

    doctoring.rewrite(copy, "train", change)
    assert cli.main(["stats", str(copy.data_dir)]) == 1
    assert "2007_000001, segmentation_mask: 8-bit palette PNG" in capsys.readouterr().err


def test_classes_that_are_not_vocs_are_compared_with_no_table():
    names = (*VOC_CLASSES[:-1], "screen")
    assert (
        statistics.compare(dataclasses.replace(official("voc2012_val"), class_names=names)) is None
    )
