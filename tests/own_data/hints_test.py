"""What a user is told about a tree beside errors: CVAT's list, background, releases, values."""

import numpy as np
import pytest
from support import exports
from support.folders import refused
from support.small_tree import write_small_tree

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.facts import releases
from voc_seg_tfrecord.formats.id_lists import id_list_sha256

BUILD = "build", "--name", "m"


def dry_run(root, capsys, *words):
    status = cli.main(["build", str(root), "--name", "mine", "--dry_run", *words])
    return status, capsys.readouterr()


@pytest.mark.parametrize(
    ("words", "lists", "lines"),
    [
        ([], {}, ["split train:      3 ids, default.txt"]),
        (["--splits", "default=default"], {}, ["split default:    3 ids"]),
        (
            [],
            {"train.txt": "000032\n", "default.txt": "photo.v1.2\n"},
            ["split train:      1 ids, train.txt", "split default:    1 ids, default.txt"],
        ),
    ],
)
def test_cvats_list_default_makes_train_unless_that_is_said(cvat, capsys, words, lists, lines):
    for name, text in lists.items():
        exports.put(cvat, f"ImageSets/Segmentation/{name}", text)
    status, printed = dry_run(cvat, capsys, *words)
    assert status == 0
    assert all(line in printed.out for line in lines)
    note = "CVAT calls the list of images without a subset default.txt"
    assert (note in printed.out) == (not words and not lists)
    assert ("CVAT calls" in printed.out) == (note in printed.out)


def test_background_that_is_not_class_0_gets_a_hint(cvat, capsys):
    _, printed = dry_run(cvat, capsys)
    hint = "With --classes background=background"
    assert f"Class 1 is background, and class 0 is apple. {hint}" in printed.out
    assert hint not in dry_run(cvat, capsys, "--classes", "background=background")[1].out


def test_without_class_names_the_error_lists_what_the_masks_hold(cvat, capsys):
    (cvat / "labelmap.txt").unlink()
    status, printed = dry_run(cvat, capsys)
    assert status == 1
    told = "no class names", "colour #000000 in 3 masks, 432 pixels"
    for words in (*told, f"check {cvat} --write_classes classes.csv"):
        assert words in printed.err


def test_smoothed_grey_masks_are_told_before_the_names_of_classes_are_asked_for(cvat, capsys):
    (cvat / "labelmap.txt").unlink()
    values = np.repeat(np.array([[0, 255]], np.uint8), 500, axis=0)
    values[:100, 0] = np.arange(100)
    for path in (cvat / "SegmentationClass").rglob("*.png"):
        exports.Image.fromarray(values).save(path)
    _, printed = dry_run(cvat, capsys)
    assert "they hold 101 values" in printed.err
    assert "the masks were smoothed" in printed.err


def test_masks_without_an_image_are_no_evidence_of_classes(cvat, capsys):
    (cvat / "labelmap.txt").unlink()
    for path in (cvat / "SegmentationClass").rglob("*.png"):
        exports.Image.fromarray(np.array([[0, 1]], np.uint8)).save(path)
    exports.put_mask(cvat, "SegmentationClass/old/x.png", np.array([[77]]))
    _, printed = dry_run(cvat, capsys)
    assert "value 1 in 3 masks" in printed.err
    assert "77" not in printed.err.replace(str(cvat), "")  # pytest numbers its folders


def test_a_dry_run_fails_where_the_build_would(cvat, tmp_path, capsys):
    image = cvat / "JPEGImages" / "000032.JPG"
    image.write_bytes(image.read_bytes()[:-40])
    status, printed = dry_run(cvat, capsys)
    assert status == 1
    assert "000032.JPG" in printed.out
    assert cli.main(["build", str(cvat), "--name", "m", "--data_dir", str(tmp_path / "d")]) == 1


def test_a_dry_run_says_that_a_dataset_is_in_the_way(cvat, tmp_path, capsys):
    words = ["--data_dir", str(tmp_path / "data")]
    assert cli.main(["build", str(cvat), "--name", "mine", *words]) == 0
    status, printed = dry_run(cvat, capsys, *words)
    assert status == 2
    assert "a dataset that exists already" in printed.err
    assert dry_run(cvat, capsys, *words, "--overwrite")[0] == 0


@pytest.mark.parametrize("words", [[], ["--class_names", "voc"]])
def test_a_tree_with_all_ids_of_a_release_is_told_which_it_is(tmp_path, capsys, monkeypatch, words):
    root = write_small_tree(tmp_path / "VOC2012", 8)
    ids = (root / "ImageSets" / "Segmentation" / "train.txt").read_text().split()
    for known, told in ((ids, True), (["other"], False)):
        split = releases.Split("2012", "train", (8,), id_list_sha256(known), "")
        monkeypatch.setattr(releases, "splits", lambda split=split: {("2012", "train"): split})
        printed = "".join(dry_run(root, capsys, *words)[1])
        assert ("The lists are those of VOC2012" in printed) == told
        assert (f"--config 2012 --manual_dir {root}" in printed) == told


def test_listed_ids_without_an_image_are_left_out_if_asked_and_counted(cvat, capsys):
    (cvat / "JPEGImages" / "000032.JPG").unlink()
    assert dry_run(cvat, capsys)[0] == 1
    status, printed = dry_run(cvat, capsys, "--missing_image", "skip")
    assert status == 0
    line = "2 ids, default.txt; 1 left out, without a mask; 1 left out, without an image"
    assert line in printed.out
    assert cli.main(["check", str(cvat), "--missing_image", "skip"]) == 0
    assert "000032: listed in split 'train', but it has no image" in capsys.readouterr().out
    exports.put(cvat, "ImageSets/Segmentation/default.txt", "elsewhere\n")
    status, printed = dry_run(cvat, capsys, "--missing_image", "skip")
    assert status == 1  # all images are missing
    assert "elsewhere" in printed.err


@pytest.mark.parametrize(
    ("lines", "advice"),
    [
        ("000032\ngone\n", "1 of 2 ids have no image in JPEGImages. --missing_image skip leaves"),
        ('{"a": [1, 2]}\n', "Without the list: --splits train=0.8,validation=0.2"),
    ],
)
def test_check_dry_run_and_build_say_what_to_do_about_absent_images(
    cvat, tmp_path, capsys, lines, advice
):
    (cvat / "ImageSets" / "Segmentation" / "default.txt").write_text(lines)
    data = ["--data_dir", str(tmp_path / "data")]
    for command, *words in (["check"], [*BUILD, *data], [*BUILD, "--dry_run"]):
        assert cli.main([command, str(cvat), *words]) == 1
        printed = capsys.readouterr()
        assert (printed.out + printed.err).count(advice) == 1


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("images/a{}.jpg", "masks/a{}_{}.png"),
        ("images/{}.jpg", "masks/{}_mask_{}.png"),
        ("images/a{}.jpg", "masks/a{}/{}.png"),
        ("images/{}.jpg", "masks/{}/{}.png"),
    ],
)
def test_a_mask_for_each_object_is_named_for_what_it_is(tmp_path, image, mask):
    for number in range(4):
        exports.put_image(tmp_path, image.format(number))
        for place in range(2):
            exports.put_mask(tmp_path, mask.format(number, place), exports.truth(str(number)))
    refused(tmp_path, "a mask for each object, such as")
