"""`export --layout ultralytics` and `yolo`, as this package and our readers of YOLO see them.

`ultralytics_reads_test.py` has Ultralytics itself read them.
"""

import numpy as np
import pytest
from support import drawing
from support.building import ODD_NAMES, examples, holes_and_void, odd_names
import yaml

from voc_seg_tfrecord.build_from.run import from_arrays
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, RecordError
from voc_seg_tfrecord.exports import ultralytics
from voc_seg_tfrecord.exports.export import export
from voc_seg_tfrecord.reading.dataset import open_built


def masks_of(builder, split):
    return {name: e["segmentation_mask"][..., 0] for name, e in examples(builder, split).items()}


def build_again(folder, tmp_path):
    return builder_from_tree(folder, name="again", data_dir=tmp_path / "again", verbose=False)


def test_the_masks_are_those_of_the_dataset_and_void_stays(tmp_path):
    built = holes_and_void(tmp_path / "data")
    assert export(built, tmp_path / "out", layout="ultralytics", with_card=True) == []
    again = build_again(tmp_path / "out", tmp_path)
    names = ["crack", "background", "road", "hole: deep"]
    assert again.info.features["segmentation_mask"].names == names
    for split, folder in (("train", "train"), ("validation", "val")):
        masks = masks_of(again, split)
        expected = masks_of(built, split)
        assert len(masks) == len(expected) > 0
        for name, mask in expected.items():
            assert (masks[f"{folder}/{name}"] == mask).all()
            assert (tmp_path / "out/images" / folder / name).is_file()


def test_the_polygons_are_drawn_to_the_masks_of_the_dataset_but_for_void(tmp_path):
    built = holes_and_void(tmp_path / "data", 8)
    notes = export(built, tmp_path / "out", layout="yolo", with_card=True)
    assert [note.partition(":")[0] for note in notes] == ["train", "validation"]
    again = build_again(tmp_path / "out", tmp_path)
    assert again.info.features["segmentation_mask"].names == [
        *("background", "crack", "road", "hole: deep")
    ]
    numbers_in_yolo = np.zeros(256, np.uint8)
    numbers_in_yolo[[0, 3]] = (1, 3)  # background and void are 0
    for split, folder in (("train", "train"), ("validation", "val")):
        masks = masks_of(again, split)
        for name, mask in masks_of(built, split).items():
            assert (masks[f"{folder}/{name}"] == numbers_in_yolo[mask]).all()


def test_each_part_of_an_object_is_a_line_and_said(sample, tmp_path):
    notes = export(sample, tmp_path / "out", layout="yolo")
    again = build_again(tmp_path / "out", tmp_path)
    for split, folder in (("train", "train"), ("validation", "val"), ("test", "test")):
        masks = masks_of(again, split)
        for name, mask in masks_of(sample, split).items():
            assert (masks[f"{folder}/{name}"] == np.where(mask == 255, 0, mask)).all()
    assert any("of void in" in note for note in notes)


@pytest.mark.parametrize("to_pixels", [np.trunc, np.round], ids=["truncated", "rounded"])
def test_a_program_that_truncates_and_one_that_rounds_fill_the_same_pixels(tmp_path, to_pixels):
    cv2 = pytest.importorskip("cv2", reason="the programs fill polygons by OpenCV")
    built = holes_and_void(tmp_path / "data", 8)
    export(built, tmp_path / "out", layout="yolo")
    is_class = np.array([1, 0, 1, 1], bool)  # background has no polygons
    for split, folder in (("train", "train"), ("validation", "val")):
        for name, mask in masks_of(built, split).items():
            height, width = mask.shape
            filled = np.zeros((height, width), np.uint8)
            text = tmp_path / "out/labels" / folder / name
            for line in text.with_suffix(".txt").read_text().splitlines():
                points = np.array(line.split()[1:], np.float32).reshape(-1, 2) * (width, height)
                cv2.fillPoly(filled, [to_pixels(points).astype(np.int32)], 1)
            assert (filled == (is_class[mask % 255] & (mask != 255))).all()


def test_an_object_of_two_parts_is_two_polygons_and_a_note_says_so(tmp_path):
    mask = np.zeros((20, 20), np.uint8)
    mask[2:8, 2:8] = 1
    mask[12:18, 12:18] = 1
    drawing.put_mask(tmp_path / "tree", "SegmentationClass/a.png", mask)
    drawing.put_mask(tmp_path / "tree", "SegmentationObject/a.png", mask)  # both are object 1
    (tmp_path / "tree/JPEGImages").mkdir()
    drawing.picture("a").resize((20, 20)).save(tmp_path / "tree/JPEGImages/a.jpg")
    options = {"instance_mask": True, "data_dir": tmp_path / "data", "verbose": False}
    built = builder_from_tree(
        tmp_path / "tree", name="x", class_names=["background", "crack"], **options
    )
    notes = export(built, tmp_path / "out", layout="yolo")
    (polygons,) = (tmp_path / "out/labels").rglob("*.txt")
    assert [line.split()[0] for line in polygons.read_text().splitlines()] == ["0", "0"]
    assert any("1 object of several parts" in note for note in notes)


@pytest.mark.parametrize("layout", ["ultralytics", "yolo"])
def test_data_yaml_names_each_class_whatever_its_name_is(tmp_path, layout):
    built = odd_names(tmp_path / "data")
    notes = export(built, tmp_path / "out", layout=layout)
    data = yaml.safe_load((tmp_path / "out/data.yaml").read_text())
    names = [name.strip() for name in ODD_NAMES]  # TFDS reads them so
    assert data.pop("names") == dict(enumerate(names))
    masks = {"masks_dir": "masks"} if layout == "ultralytics" else {}
    assert data == {"train": "images/train", **masks}
    assert any("the export has no val" in note for note in notes)
    assert any("33 images with fewer than 10 rows or columns" in note for note in notes)


def small_dataset(tmp_path, filename="a.png", splits=None):
    image = np.zeros((12, 12, 3), np.uint8)
    mask = np.eye(12, dtype=np.uint8)
    options = {"class_names": ["background", "line"], "data_dir": tmp_path / "data"}
    if splits:
        options["splits"] = splits
    return from_arrays([image], [mask], filenames=[filename], name="x", **options)


@pytest.mark.parametrize("layout", ["ultralytics", "yolo"])
def test_an_id_whose_mask_ultralytics_would_not_find_is_refused(tmp_path, layout):
    built = small_dataset(tmp_path, "images/a.png")
    with pytest.raises(RecordError, match="a folder images in the id"):
        export(built, tmp_path / "out", layout=layout)
    assert not (tmp_path / "out").exists()
    export(built, tmp_path / "coco", layout="coco")


def test_splits_that_ultralytics_does_not_know_are_said(tmp_path):
    built = small_dataset(tmp_path, splits={"extra": 1.0})
    notes = export(built, tmp_path / "out", layout="ultralytics")
    assert (tmp_path / "out/images/extra/a.png").is_file()
    assert "such as train: images/extra" in notes[0]
    assert "no split extra, so it is not in data.yaml" in notes[2]
    with pytest.raises(ConfigError, match="reads as the folder of all images"):
        ultralytics.check_split("images", "x")


@pytest.mark.parametrize("layout", ["ultralytics", "yolo", "coco"])
def test_options_that_would_do_nothing_are_refused(sample, tmp_path, capsys, layout):
    words = ["export", str(sample.data_dir), "--layout", layout, "--out", str(tmp_path / "out")]
    assert cli.main([*words, "--palette"]) == 2
    assert cli.main([*words, "--num_shards", "2"]) == 2
    printed = capsys.readouterr().err
    assert "expected: --palette with --layout parquet alone" in printed
    assert "which writes one file per image" in printed
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("layout", ["ultralytics", "yolo", "coco"])
def test_a_list_of_ids_is_exported_alone(sample, tmp_path, layout):
    (tmp_path / "ids.txt").write_text("2010_000004\n")
    words = ["export", str(sample.data_dir), "--layout", layout, "--out", str(tmp_path / "out")]
    assert cli.main([*words, "--ids", str(tmp_path / "ids.txt")]) == 0
    assert [path.name for path in (tmp_path / "out").rglob("*.jpg")] == ["2010_000004.jpg"]
    assert not (tmp_path / "out" / "README.md").exists()


def test_a_card_says_what_became_of_masks(sample, tmp_path):
    built = open_built(str(sample.data_dir))
    for layout, words in (("yolo", "Masks are polygons"), ("coco", "run-length encodings")):
        export(built, tmp_path / layout, layout=layout, with_card=True)
        text = (tmp_path / layout / "README.md").read_text()
        assert words in text
        assert "readers take them as background" in text
        assert "ignore_index" not in text
