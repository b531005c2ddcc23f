import csv
import itertools
import json
import os
import threading

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports
from support.building import examples, from_tree
from support.drawing import write
from support.folders import NAMES
from support.png_writer import write_png

from voc_seg_tfrecord.audit import check as check_module
from voc_seg_tfrecord.build_from.tree import FolderPlanner
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.quality import evidence


def check(root, capsys, *words):
    status = cli.main(["check", str(root), "--json", *words])
    return status, json.loads(capsys.readouterr().out)


def kinds(report):
    return {finding["kind"]: finding["count"] for finding in report["findings"]}


def cut(path, count=9):
    path.write_bytes(path.read_bytes()[:-count])


@pytest.fixture
def folders(cvat):
    return cvat / "JPEGImages", cvat / "SegmentationClass"


def put_list(root, name, text):
    drawing.put(root, f"ImageSets/Segmentation/{name}.txt", text)


def test_a_good_tree_passes_and_its_classes_are_counted(cvat, capsys):
    status, report = check(cvat, capsys)
    assert (status, report["ok"]) == (0, True)
    assert kinds(report) == {"no mask": 1, "note": 2}  # CVAT's list, and background
    assert [row["images"] for row in report["classes"]] == [3, 3, 3, 0]
    assert sum(row["pixels"] for row in report["classes"]) == 3 * 12 * 16
    assert cli.main(["check", str(cvat)]) == 0
    printed = capsys.readouterr().out
    assert "left out of a build: no mask (1)" in printed
    assert "images read; ready to build" in printed


def test_unused_json_files_are_listed_by_what_they_are(cvat, capsys):
    for name in ("photo.v1.2.json", "sub dir/img 2.JSON", "sub dir/img 3.json"):
        drawing.put(cvat, f"JPEGImages/{name}", "{}")
    _, report = check(cvat, capsys)
    found = {(row["folder"], row["kind"]): row["files"] for row in report["not_used"]}
    assert found["JPEGImages", "boxes"] == ["photo.v1.2.json"]
    assert found["JPEGImages/sub dir", "boxes"] == ["img 2.JSON"]
    assert found["JPEGImages/sub dir", "texts"] == ["img 3.json"]


def test_every_problem_is_found_in_one_go(cvat, folders, capsys):
    images, masks = folders
    Image.new("RGB", (5, 5)).save(masks / "000032.png")
    cut(images / "photo.v1.2.jpeg")
    (masks / "extra.png").write_bytes(write_png(drawing.truth("a"), color=0))
    drawing.put_image(cvat, "JPEGImages/unlisted.jpg")
    put_list(cvat, "train", "gone\nunlisted\n")
    status, report = check(cvat, capsys)
    assert status == 1
    once = ("size of mask and image differ", "damaged file", "missing image")
    once += ("mask without an image", "class without images")
    assert kinds(report) == {**dict.fromkeys(once, 1), "no mask": 2, "note": 3}
    effects = [finding["effect"] for finding in report["findings"]]
    assert effects == sorted(effects, key="stops".__ne__)
    words = "extra.png belongs to no image", "JPEGImages/gone: no such file", "mask of 5 x 5 pixels"
    assert all(text in json.dumps(report) for text in (*words, "JPEG truncated"))


def test_a_photo_with_bytes_that_no_pixel_needs_is_named_and_stops_no_build(cvat, capsys):
    photo = cvat / "JPEGImages" / "photo.v1.2.jpeg"
    photo.write_bytes(photo.read_bytes()[:-2] + bytes(9) + b"\xff\xd9")
    status, report = check(cvat, capsys)
    (named,) = [f for f in report["findings"] if f["kind"] == "image that may be damaged"]
    assert (status, named["effect"], named["where"]) == (0, "ignored", [str(photo)])


def test_the_same_image_in_two_splits_is_told(cvat, folders, capsys):
    images, masks = folders
    name = "photo.v1.2 copy"
    (images / f"{name}.jpeg").write_bytes((images / "photo.v1.2.jpeg").read_bytes())
    (masks / f"{name}.png").write_bytes((masks / "photo.v1.2.png").read_bytes())
    put_list(cvat, "val", f"{name}\n")
    _, report = check(cvat, capsys)
    assert kinds(report)["same image in two splits"] == 1


def test_a_tree_with_overlapping_lists_is_still_read_by_their_names(cvat, capsys):
    put_list(cvat, "val", "000032\nunannotated\n")
    status, report = check(cvat, capsys)
    assert (status, kinds(report)["wrong id list"], report["examined"]) == (1, 1, 3)
    assert "unannotated: this image has no mask" in json.dumps(report)
    assert report["splits"] == {"train": 3, "validation": 1}


def test_images_of_wrong_lists_are_not_said_to_be_in_train(cvat, capsys):
    put_list(cvat, "test", "no\x01body\n")
    status, report = check(cvat, capsys)
    assert (status, kinds(report)) == (1, {"wrong id list": 1, "note": 2, "no mask": 1})
    text = json.dumps(report)
    told = "unannotated: this image has no mask", "splits are not decided, so all images were read"
    assert (report["examined"], [words in text for words in (*told, "train")]) == (3, [1, 1, 0])


def test_an_error_about_the_meaning_of_masks_hides_no_damaged_file(cvat, folders, capsys):
    images, masks = folders
    (cvat / "labelmap.txt").unlink()
    drawing.put(cvat, "class_names.txt", "apple\nbackground\ntree\n")
    cut(images / "photo.v1.2.jpeg")
    cut(masks / "000032.png", 20)
    Image.new("RGB", (5, 5), (1, 2, 3)).save(masks / "extra.png")
    drawing.put_image(cvat, "JPEGImages/extra.jpg")
    put_list(cvat, "train", "extra\n")
    status, report = check(cvat, capsys)
    assert status == 1
    once = dict.fromkeys(("meaning of masks", "size of mask and image differ", "no mask"), 1)
    assert kinds(report) == {**once, "damaged file": 2, "note": 2}
    assert "it was not checked whether their values are classes" in json.dumps(report)
    assert all(row["pixels"] == 0 for row in report["classes"])


@pytest.mark.parametrize("content", [b"", b"\xff\xd8\xff", b"\x89PNG\r\n\x1a\n" + b"\0" * 40])
def test_no_file_and_no_missing_names_stop_the_check(cvat, capsys, content):
    for path in [*cvat.rglob("*.png"), *cvat.rglob("*.jpg"), *cvat.rglob("*.JPG")]:
        path.write_bytes(content)
    status, report = check(cvat, capsys)
    assert (status, report["examined"]) == (1, 3)
    other = cvat.parent / "other"
    exports.mmsegmentation(other)
    assert check(other, capsys)[0] == 0
    for path in other.rglob("*.png"):
        drawing.put_mask(path.parent, path.name, drawing.truth(path.stem) * 7)
    status, report = check(other, capsys)
    assert (status, kinds(report)["no class names"]) == (1, 1)


def test_what_is_no_file_is_named_and_stops_no_check(cvat, folders, capsys):
    images, masks = folders
    (images / "000032.JPG").unlink()
    (images / "000032.JPG").symlink_to("../.git/annex/objects/gone")
    (masks / "photo.v1.2.png").unlink()
    os.mkfifo(masks / "photo.v1.2.png")
    (images / "again").symlink_to(".")
    status, report = check(cvat, capsys)
    assert (status, kinds(report)) == (1, {"unreadable file": 2, "note": 3, "no mask": 1})
    text = json.dumps(report)
    assert "000032.JPG: this file cannot be read: it is a link" in text
    assert "photo.v1.2.png: this file cannot be read: it is a named pipe" in text
    assert "The link JPEGImages/again leads to" in text


def test_a_line_that_a_list_repeats_stops_check_as_little_as_a_build(cvat, capsys):
    status, before = check(cvat, capsys)
    lists = cvat / "ImageSets/Segmentation"
    (name,) = (path.name for path in lists.iterdir())
    ids = (lists / name).read_text().splitlines()
    (lists / name).write_text("\n".join([*ids, ids[0]]))
    again, report = check(cvat, capsys)
    assert (again, report["splits"]) == (status, before["splits"])
    assert kinds(report)["note"] == kinds(before)["note"] + 1
    put_list(cvat, "val", "gone\ngone\n")
    status, report = check(cvat, capsys)
    assert status == 1
    assert "gone" in json.dumps(report["findings"])
    assert report["examined"] == before["examined"]


def test_labels_of_large_images_are_examined_one_at_a_time(cvat, capsys, monkeypatch):
    monkeypatch.setattr(images, "LARGE", 10)
    turn = threading.RLock()
    monkeypatch.setattr(images, "in_turn", lambda: turn)
    examined = []

    def examine(*args, **options):
        examined.append(turn._is_owned())
        return evidence.examine(*args, **options)

    monkeypatch.setattr(check_module, "examine", examine)
    assert check(cvat, capsys)[0] == 0
    assert examined == [True] * 3


def test_of_many_ids_without_an_image_the_first_are_named_and_the_others_counted(
    cvat, capsys, monkeypatch
):
    """A list of a million unknown ids took 87 seconds, for as many messages."""
    monkeypatch.setattr(check_module, "_MAX_NAMED_ABSENT_IDS", 2)
    ids = "".join(f"gone_{number}\n" for number in range(5))
    lines = "000032\n" + ids
    put_list(cvat, "train", lines)
    status, report = check(cvat, capsys)
    assert status == 1
    (missing,) = (finding for finding in report["findings"] if finding["kind"] == "missing image")
    assert missing["count"] == 3
    named, _, others = missing["messages"]
    assert "gone_0: no such file" in named
    assert (
        "3 more ids of the split 'train' without an image: add the images to the folder" in others
    )


def test_questions_about_splits_and_class_files_hide_no_damaged_file(tmp_path, capsys):
    pairs = write(tmp_path, "abcdef images/{}.png masks/{}.png")
    names = [*NAMES]
    (pairs / "images" / "d.png").write_bytes(b"\x89PNG\r\n\x1a\n")
    drawing.put(pairs, "class_names.txt", "\n".join(names))
    lines = (f"{name}:{value},0,0::\n" for value, name in enumerate(names[::-1]))
    drawing.put(pairs, "labelmap.txt", "".join(lines))
    for said in ([], ["--class_names", ",".join(names[1:] + names[:1])]):
        status, report = check(pairs, capsys, *said)
        assert (status, report["examined"]) == (1, 6)
        assert kinds(report)["damaged file"] == kinds(report)["class files that contradict"] == 1
    (pairs / "labelmap.txt").unlink()
    for fold in range(2):
        drawing.put(pairs, f"fold{fold}/train.txt", "b\nc\nd\n")
        drawing.put(pairs, f"fold{fold}/val.txt", "ef"[fold])
    status, report = check(pairs, capsys)
    assert (status, report["examined"], report["splits"]) == (1, 6, {})
    assert kinds(report)["several ways to divide"] == kinds(report)["damaged file"] == 1


SAME_IDS = {
    "folders of splits": "train/images/{}.jpg train/masks/{}.png",
    "words around ids": "images/image_{}.jpg masks/gt_{}.png",
    "one folder": "{}.jpg {}_mask.png",
}


@pytest.mark.parametrize("name", SAME_IDS)
def test_check_calls_images_as_the_dataset_does_and_lists_read_these_ids(tmp_path, name):
    root = write(tmp_path / "tree", f"abcd {SAME_IDS[name]}")
    if "train" in SAME_IDS[name]:
        write(root, "ef val/images/{}.jpg val/masks/{}.png")
    builder = from_tree(root, class_names=NAMES)
    files = [file for split in builder.info.splits for file in examples(builder, split)]
    built = set(map(id_lists.id_of_file, files))
    plan = FolderPlanner(root, name="mine", class_names=NAMES).plan(reads_on=True)
    report = check_module.check_plan(plan, labels=False)
    ids = {plan.tree.record_id(i) for of_split in plan.splits.values() for i in of_split}
    assert ids == built
    assert {report.ids.tree_id(i) for i in ids} == {*itertools.chain(*plan.splits.values())}
    drawing.put(root, "mine.txt", "\n".join(sorted(built)))
    splits = {"train": "mine.txt"}
    again = FolderPlanner(root, name="mine", class_names=NAMES, splits=splits).plan()
    assert {again.tree.record_id(i) for i in again.splits["train"]} == built


def test_findings_and_the_csv_have_the_ids_of_the_dataset(tmp_path, capsys):
    root = write(tmp_path / "tree", "abc train/images/{}.jpg train/masks/{}.png")
    write(root, "de val/images/{}.jpg val/masks/{}.png")
    drawing.put_mask(root, "val/masks/d.png", np.full(drawing.SIZE, 9, np.uint8))
    out = tmp_path / "fixes.csv"
    words = ["check", str(root), "--class_names", ",".join(NAMES), "--csv", str(out)]
    assert cli.main(words) == 1
    capsys.readouterr()
    with out.open() as lines:
        rows = list(csv.DictReader(lines))
    (row,) = [row for row in rows if row["kind"].startswith("unknown")]
    assert row["id"] == "val/images/d"
    assert row["file"] == "val/masks/d.png"
    assert row["split"] == "validation"


def test_a_list_without_images_is_named_beside_a_list_without_masks(tmp_path, capsys):
    write(tmp_path, "ab images/{}.jpg masks/{}.png", "c images/{}.jpg -")
    for split, ids in (("train", "a\nb\n"), ("val", "x\ny\n"), ("test", "c\n")):
        (tmp_path / f"{split}.txt").write_text(ids)
    options = ["--class_names", "background,a,b", "--missing_mask", "skip"]
    assert cli.main(["check", str(tmp_path), *options]) == 1
    output = capsys.readouterr().out
    assert "none of the 2 ids" in output
    assert "test.txt has no image with a mask, so it makes no split" in output


def test_a_share_is_one_number_in_check_build_and_stats(tmp_path, capsys):
    root = write(tmp_path / "set", "abc images/{}.jpg masks/{}.png")
    mask = drawing.truth("a").astype(np.uint8)
    mask[0] = 255
    drawing.put_mask(root, "masks/a.png", mask)
    data = f"--data_dir={tmp_path}"
    shares = []
    names = f"--class_names={','.join(NAMES)}"
    for words in (["check"], ["build", data, "--name=x"]):
        assert cli.main([*words, str(root), names]) == 0
        shares.append(shares_in(capsys.readouterr().out, column=-1))
    assert cli.main(["stats", "x", data]) == 0
    shares.append(shares_in(capsys.readouterr().out, column=3))
    assert shares[0] == shares[1] == shares[2]
    assert len(shares[0]) == len(NAMES) + 1


def shares_in(printed, *, column):
    """Returns the shares in a printed table of classes, by class."""
    shares = {}
    for line in printed.splitlines():
        cells = line.split()
        if cells and cells[0].isdecimal() and "%" in line:
            shares[cells[1]] = cells[column]
    return shares


def test_the_table_says_which_images_it_counts_and_counts_each_once(tmp_path, capsys):
    root = write(tmp_path, "abcd images/{}.jpg masks/{}.png")
    cut(root / "images" / "d.jpg")
    drawing.put(root, "train.txt", "a\nb\nd\n")
    drawing.put(root, "val.txt", "b\nc\n")
    words = ["check", str(root), "--class_names", ",".join(NAMES), "--allow_overlap"]
    assert cli.main(words) == 1
    printed = capsys.readouterr().out
    assert "\nclasses of the 3 of 4 images that can be used:\n" in printed
    (row,) = [line.split() for line in printed.splitlines() if line.startswith("    0 ")]
    assert [row[2], row[5], row[7]] == ["3", "2", "2"]  # total, train, validation


def test_files_that_no_split_has_are_named_once(tmp_path, capsys):
    root = write(tmp_path, "abcd images/{}.jpg masks/{}.png", "e images/{}.jpg -")
    drawing.put(root, "masks/f.png", (root / "masks" / "d.png").read_bytes())
    drawing.put(root, "train.txt", "a\nb\nc\n")
    _, report = check(root, capsys, "--class_names", ",".join(NAMES))
    messages = [text for found in report["findings"] for text in found["messages"]]
    for name, sentence in (
        ("images/d.jpg", "and its mask are in no split"),
        ("images/e.jpg", "is in no split, and has no mask"),
        ("masks/f.png", "belongs to no image"),
    ):
        assert messages.count(f"{root / name} {sentence}") == 1
    assert not [text for text in messages if "masks/d.png" in text]


def test_what_can_be_left_out_is_said_beside_other_problems(tmp_path, capsys):
    root = write(tmp_path, "abcd images/{}.jpg masks/{}.png")
    cut(root / "images" / "d.jpg")
    drawing.put(root, "train.txt", "a\nb\nd\ngone\n")
    words = [str(root), "--class_names", ",".join(NAMES)]
    assert cli.main(["check", *words]) == 1
    *_, advice, verdict = capsys.readouterr().out.splitlines()
    assert advice.startswith("leave this image out with --exclude d ")
    assert advice.endswith("; this does not solve 1 other problem")
    assert verdict == "3 images read; not ready to build: 2 problems, 1 warning"
    assert cli.main(["build", *words, "--name=x", f"--data_dir={tmp_path}"]) == 1
    last = capsys.readouterr().err.splitlines()[-1]
    assert f"see all problems with voc-seg-tfrecord check {root} " in last
