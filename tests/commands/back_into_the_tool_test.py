"""The way from findings back to the tool that wrote the data: --csv, --ids, --copy_to."""

import csv
import io
import json
import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import planted
from support.building import from_tree
from support.paths import DUMMY_DATA
from support.streets import write_street

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.id_lists import IdsOfImages
from voc_seg_tfrecord.reading.chosen_ids import read_chosen_ids

VOC = DUMMY_DATA / "VOCdevkit" / "VOC2012"


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    planted.write(root, [planted.draw(number) for number in range(10)])
    return root


def decisions(path, **of):
    rows = [
        {"kind": "speck", "ids": [image_id], "sha256": "", "decision": decision}
        for image_id, decision in of.items()
    ]
    path.write_text(json.dumps({"decisions": rows}))
    return str(path)


def files(folder):
    found = sorted(path for path in folder.rglob("*") if path.is_file())
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def copy(root, tmp_path, ids, status=0, *words):
    chosen = tmp_path / "ids.txt"
    chosen.write_text(ids)
    out = tmp_path / "out"
    words = ["check", str(root), "--ids", str(chosen), "--copy_to", str(out), *words]
    assert cli.main(words) == status
    return files(out) if out.exists() else {}


def test_the_files_of_chosen_images_are_copied_byte_for_byte_with_their_lines(tree, tmp_path):
    copied = copy(tree, tmp_path, "004\n003\n")
    source = files(tree)
    lists = {f"ImageSets/Segmentation/{name}.txt" for name in ("train", "val")}
    names = [f"{folder}.{i}" for folder in ("JPEGImages", "SegmentationClass") for i in (3, 4)]
    assert len(copied) == len(names) + len(lists) + 1  # and the class file
    assert all(source[name] == data for name, data in copied.items() if name not in lists)
    assert copied["ImageSets/Segmentation/train.txt"] == b"003\n"
    assert copied["ImageSets/Segmentation/val.txt"] == b"004\n"
    assert cli.main(["check", str(tmp_path / "out")]) == 0


def test_masks_that_come_back_are_copied_over_the_source_by_the_command_that_is_shown(
    tree, tmp_path, capsys
):
    copy(tree, tmp_path, "004\n")
    masks = tmp_path / "out" / "SegmentationClass"
    Image.fromarray(np.zeros(planted.SIZE, np.uint8)).save(masks / "004.png")
    command = capsys.readouterr().out.splitlines()[-1].split()
    before = files(tree)
    assert command[:2] == ["cp", "-r"]
    shutil.copytree(command[2].removesuffix("/."), command[3], dirs_exist_ok=True)
    after = files(tree)
    assert {name for name in before if before[name] != after[name]} == {"SegmentationClass/004.png"}
    assert before.keys() == after.keys()


def test_of_images_without_masks_no_way_back_is_shown(tree, tmp_path, capsys):
    (tree / "SegmentationClass/004.png").unlink()
    assert "JPEGImages/004.jpg" in copy(tree, tmp_path, "004\n")
    assert "cp -r" not in capsys.readouterr().out


def test_instance_masks_and_boxes_are_copied_too(tmp_path):
    copied = copy(VOC, tmp_path, "2007_000001\n")
    folders = "Annotations ImageSets JPEGImages SegmentationClass SegmentationObject"
    assert {name.partition("/")[0] for name in copied} == {*folders.split()}


def test_a_tree_that_check_stops_at_is_copied_all_the_same(tree, tmp_path):
    (tree / "class_names.txt").unlink()
    (tree / "SegmentationClass/003.png").write_bytes(b"damaged")
    (tree / "SegmentationClass/004.png").unlink()
    copied = copy(tree, tmp_path, "003\n004\n")
    assert copied["SegmentationClass/003.png"] == b"damaged"
    assert "JPEGImages/004.jpg" in copied


def test_an_archive_is_copied_out_of(tree, tmp_path, capsys):
    archive = shutil.make_archive(str(tmp_path / "packed"), "zip", tree)
    assert "JPEGImages/001.jpg" in copy(archive, tmp_path, "001\n")
    assert "cp -r" not in capsys.readouterr().out


def test_what_is_copied_is_counted(tree, tmp_path, capsys):
    copied = copy(tree, tmp_path, "004\n003\n", 0, "--json")
    counts = json.loads(capsys.readouterr().out)["files"]
    assert counts == {"image": 2, "mask": 2, "class file": 1, "list": 2}
    assert sum(counts.values()) == len(copied)


@pytest.mark.parametrize("tool", ["labelme", "coco", "yolo", "cvat"])
def test_polygons_are_copied_with_all_that_their_tool_needs(tool, tmp_path, capsys):
    root = tmp_path / tool
    write_street(tool, root)
    source = files(root)
    train, val = ("", "") if tool == "labelme" else ("train/", "val/")
    copied = copy(root, tmp_path, f"{train}street_2\n{val}street_4\n")
    assert all(source[name] == data for name, data in copied.items())
    images = {pathlib.Path(name).stem for name in copied if name.endswith(".jpg")}
    assert images == {"street_2", "street_4"}
    one_per_image = tool in ("labelme", "yolo")
    others = {name for name in source if not name.endswith(".jpg") and name not in copied}
    assert len(others) == (2 if one_per_image else 0)
    # A file with the shapes of these two images alone would replace that of all.
    assert ("cp -r" in capsys.readouterr().out) == one_per_image


@pytest.mark.parametrize("place", ["tree/out", "tree", "full"])
def test_what_is_in_the_way_is_refused(tree, tmp_path, place):
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    (tmp_path / "ids.txt").write_text("001\n")
    before = files(tmp_path)
    words = ["--ids", str(tmp_path / "ids.txt"), "--copy_to", str(tmp_path / place)]
    assert cli.main(["check", str(tree), *words]) == 2
    assert files(tmp_path) == before


def test_ids_that_are_not_in_the_data_are_named_and_nothing_is_copied(tree, tmp_path, capsys):
    assert copy(tree, tmp_path, "001\nnobody\n", 1) == {}
    assert "nobody" in capsys.readouterr().err
    assert cli.main(["check", str(tree), "--ids", str(tmp_path / "ids.txt")]) == 2
    assert cli.main(["check", str(tree), "--copy_to", str(tmp_path / "out")]) == 2


@pytest.mark.parametrize(
    "text",
    [
        "{}",
        '{"decisions": 3}',
        '{"decisions": [{"kind": "speck", "ids": ["1"], "sha256": "", "decision": "maybe"}]}',
        '{"decisions": [{"kind": "speck", "ids": "1", "decision": "wrong"}]}',
        '{"decisions": [{"kind": "", "ids": "xyz", "sha256": "", "decision": "wrong"}]}',
        '{"decisions": []}',
        '{"decisions": [{"kind": "", "ids": ["../1"], "sha256": "", "decision": "wrong"}]}',
        "id,file\n",
        "id,file\n/etc/passwd,x\n",
        "",
    ],
)
def test_a_file_that_chooses_nothing_is_refused(text):
    with pytest.raises(ListError):
        read_chosen_ids(text.encode(), "file")


def test_decisions_choose_what_was_called_wrong_and_a_csv_by_its_column_of_ids(tmp_path):
    path = decisions(tmp_path / "d", **{"001": "right", "002": "wrong", "003": "not sure"})
    assert read_chosen_ids(pathlib.Path(path).read_bytes(), "file") == ["002"]
    assert read_chosen_ids(b"\xef\xbb\xbf" + pathlib.Path(path).read_bytes(), "file") == ["002"]
    assert read_chosen_ids(b"id\na\nb\n", "file") == ["a", "b"]
    assert read_chosen_ids(b"id\na\n", "file", IdsOfImages({"id", "a"})) == ["id", "a"]
    text = '﻿kind,id,found\nspeck,a b,x\nspeck,\'=1,"two\nlines"\nspeck,a b,x\n'
    assert read_chosen_ids(text.encode(), "file") == ["a b", "=1"]


def test_each_row_of_the_csv_is_one_line_and_it_chooses_images(tree, tmp_path):
    for number in (1, 2):
        mask = np.full(planted.SIZE, 9, np.uint8)
        Image.fromarray(mask).save(tree / f"SegmentationClass/00{number}.png")
    (tree / "JPEGImages/006.jpg").write_bytes((tree / "JPEGImages/006.jpg").read_bytes()[:900])
    table = tmp_path / "fixes.csv"
    assert cli.main(["check", str(tree), "--csv", str(table)]) == 1
    rows = list(csv.DictReader(io.StringIO(table.read_text())))
    assert len(table.read_text().splitlines()) == len(rows) + 1
    assert {"001", "002", "006"} <= {row["id"] for row in rows}
    copied = copy(tree, tmp_path, table.read_text())
    assert {"JPEGImages/001.jpg", "JPEGImages/006.jpg"} <= copied.keys()


def test_an_export_of_chosen_images_has_the_datasets_numbers(tree, tmp_path, capsys):
    builder = from_tree(tree, class_names=list(planted.NAMES))
    chosen, out = tmp_path / "ids.txt", tmp_path / "out"
    chosen.write_text("004\n003\n001\n")
    words = ["export", str(builder.data_path), "--layout=voc", f"--out={out}", f"--ids={chosen}"]
    assert cli.main(words) == 0
    assert "train: 2 examples\nvalidation: 1 example\n" in capsys.readouterr().out
    said = "".join(path.read_text() for path in out.glob("*[lm]a*.*"))  # labelmap, class_names
    assert all(name in said for name in planted.NAMES)
    assert sorted(p.stem for p in (out / "SegmentationClass").iterdir()) == ["001", "003", "004"]
    mask = np.array(Image.open(out / "SegmentationClass/004.png"))
    assert np.array_equal(mask, planted.draw(4).mask)
    assert (out / "JPEGImages/004.jpg").read_bytes() == (tree / "JPEGImages/004.jpg").read_bytes()
    assert not (out / "README.md").exists()  # a card is of a complete dataset
    chosen.write_text("004\nnobody\n")
    words[3] = f"--out={tmp_path / 'other'}"
    assert cli.main(words) == 1
    assert "nobody" in capsys.readouterr().err
    assert not (tmp_path / "other").exists()


def test_an_export_of_tiles_is_chosen_by_their_images(tree, tmp_path):
    builder = from_tree(tree, class_names=list(planted.NAMES), tile=128)
    (tmp_path / "ids.txt").write_text("004\n")
    words = ["--layout=voc", f"--out={tmp_path / 'out'}", f"--ids={tmp_path / 'ids.txt'}"]
    assert cli.main(["export", str(builder.data_path), *words]) == 0
    names = [path.stem for path in (tmp_path / "out" / "JPEGImages").iterdir()]
    assert len(names) == 4
    assert all(name.startswith("004") for name in names)


@pytest.mark.parametrize("beside", ["--copy_to", "--write_classes"])
@pytest.mark.parametrize("option", ["html", "csv", "decisions", "no_fit", "write_classes"])
def test_an_option_of_a_check_is_refused_where_nothing_is_checked(
    tree, tmp_path, capsys, option, beside
):
    if beside == f"--{option}":
        return
    (tmp_path / "ids.txt").write_text("001\n")
    words = ["check", str(tree), f"--{option}", beside, str(tmp_path / "y")]
    if option != "no_fit":
        words.insert(3, str(tmp_path / "x"))
    words += ["--ids", str(tmp_path / "ids.txt")] if beside == "--copy_to" else []
    assert cli.main(words) == 2
    assert f"error: --{option}: given with {beside}" in capsys.readouterr().err
    assert not (tmp_path / "y").exists()


def test_decisions_about_a_score_need_its_page(sample, tmp_path, capsys):
    words = ["--predictions", str(tmp_path), "--decisions", decisions(tmp_path / "d", a="right")]
    assert cli.main(["evaluate", f"{sample.data_path}@train", *words]) == 2
    assert "add --html FILE" in capsys.readouterr().err
