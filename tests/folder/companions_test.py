"""What lies beside the data of a folder: each row explains its example, and says so."""

import pathlib
import shutil

import numpy as np
import pytest
from support import drawing
from support.folders import NAMES, plan_of, proposed, said_by

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder import unused_files
from voc_seg_tfrecord.folder.companions import COMPANIONS, LEFTOVERS
from voc_seg_tfrecord.quality.finding import STOPS
from voc_seg_tfrecord.report.label_errors import check_folder

IDS = "12345678"


def put_data(root: pathlib.Path) -> None:
    """Writes 8 images with masks, and lists that leave out one of them."""
    drawing.put_pairs(root, IDS, "images/{}.jpg", "masks/{}.png")
    drawing.put(root, "train.txt", "\n".join(IDS[:-1]))


def put_example(root: pathlib.Path, path: str) -> None:
    """Writes the example of a row: a picture, a copy or a text."""
    if (root / path).exists():
        return
    if path == "more/copy.jpg":
        (root / "more").mkdir()
        shutil.copy(root / "images/1.jpg", root / path)
    elif path.endswith(".png"):
        drawing.put_mask(root, path, np.eye(48, 64, dtype=int))
    elif path.endswith(".jpg"):
        drawing.put(root, path, drawing.picture(path))
    else:
        drawing.put(root, path, "1 2 3\n")


def kinds_of(plan, path: str) -> list[str]:
    """Returns the names of the rows that have a file."""
    folder, _, name = path.rpartition("/")
    return [
        group.kind.name
        for group, names in plan.unused.items()
        if group.folder == folder and name in names
    ]


@pytest.mark.parametrize("row", COMPANIONS, ids=lambda row: row.name)
def test_a_row_explains_its_example_and_says_what_it_is(tmp_path, row, monkeypatch):
    put_data(tmp_path)
    put_example(tmp_path, row.example)
    plan = plan_of(tmp_path)
    assert [len(ids) for ids in plan.splits.values()] == [7]
    assert kinds_of(plan, row.example) == [row.name]
    shown = f"1 {row.one}: {row.example}"
    if row.name == "in no split":  # the image and its mask
        shown = f"2 {row.many}, in 2 folders, such as {row.example}"
    if row.option:
        shown += f"; to use such files, give {row.option}"
    assert f"not used:         {shown}\n" in f"{describe(plan)}\n"
    assert not [note for note in plan.notes if note.startswith("Not used: ")]
    # Without the row the file is a leftover: no other row has it.
    others = [other for other in COMPANIONS if other != row]
    monkeypatch.setattr(unused_files, "COMPANIONS", others)
    assert {*kinds_of(plan_of(tmp_path), row.example)} <= {left.name for left in LEFTOVERS}


def test_images_that_findings_name_have_no_line_beside_them(tmp_path):
    put_data(tmp_path)
    drawing.put_image(tmp_path, "images/9.jpg")
    drawing.put(tmp_path, "train.txt", "\n".join([*IDS, "9"]))
    line = "not used:         1 image without a mask: images/9.jpg"
    assert line in describe(plan_of(tmp_path))
    assert line not in describe(plan_of(tmp_path), has_findings=True)
    drawing.put_image(tmp_path, "images/10.jpg")  # in no list
    assert "2 images without a mask" in describe(plan_of(tmp_path))
    assert "images without a mask" not in describe(plan_of(tmp_path), has_findings=True)


def test_paths_of_unused_files_begin_at_the_tree_that_is_read(tmp_path):
    drawing.put_pairs(tmp_path, "123", "VOC/JPEGImages/{}.jpg", "VOC/SegmentationClass/{}.png")
    drawing.put(tmp_path, "VOC/Annotations/1.xml", "<a/>")
    drawing.put(tmp_path, "README.md", "# Walls")
    text = describe(plan_of(tmp_path)) + "\n"
    assert f"folder:           {tmp_path}/VOC\n" in text
    assert "1 annotation file of one image: Annotations/1.xml\n" in text
    assert ": ../README.md\n" in text


def test_pictures_that_no_row_explains_are_asked_about_and_then_the_first_notes(tmp_path):
    put_data(tmp_path)
    drawing.put(tmp_path, "scene.blend", "1")
    line = "not used:         1 file of another kind: scene.blend"
    assert line in describe(plan_to_build(tmp_path, name="mine", class_names=NAMES))
    drawing.put_image(tmp_path, "else/view.jpg")
    drawing.put_mask(tmp_path, "masks/77.png", np.eye(48, 64, dtype=int))
    lines = (
        "1 mask without an image: masks/77.png",
        "1 picture: else/view.jpg",
    )
    with pytest.raises(LayoutError, match="\n +nothing explains ".join(lines)) as asked:
        plan_to_build(tmp_path, name="mine", class_names=NAMES)
    ((words, answer),) = proposed(str(asked.value))
    assert words == "leave these out; 1 image left out"
    plan = plan_to_build(tmp_path, name="mine", **{"class_names": NAMES} | said_by(answer))
    assert [len(ids) for ids in plan.splits.values()] == [7]
    assert plan.notes[:2] == tuple(f"Not used: {line}." for line in lines)


def test_pictures_in_the_folder_of_a_split_that_is_not_built_are_only_noted(tmp_path):
    drawing.put_pairs(tmp_path, "123", "test/{}.jpg", "truth/{}.png")
    drawing.put_image(tmp_path, "train/view.jpg")
    plan = plan_to_build(tmp_path, name="mine", class_names=NAMES)
    assert plan.notes[0] == "Not used: 1 picture: train/view.jpg."


def test_a_drawing_in_the_folder_of_one_image_is_explained(tmp_path):
    drawing.put_pairs(tmp_path, "abcd", "{}/image.jpg", "{}/mask.png")
    drawing.put_mask(tmp_path, "a/overlay.png", np.eye(12, 16, dtype=int))
    plan = plan_to_build(tmp_path, name="mine", class_names=NAMES)
    assert kinds_of(plan, "a/overlay.png") == ["drawings"]


def test_files_that_an_ending_explains_say_neither_splits_nor_classes(tmp_path):
    drawing.put_pairs(tmp_path, IDS, "images/{}.jpg", "masks/{}.png")
    for name in ("splits.tfw", "train.tfw", "classes.tfw"):
        drawing.put(tmp_path, name, "1 2 3\n")
    plan = plan_to_build(tmp_path, name="mine")
    assert [*plan.splits] == ["train"]
    assert kinds_of(plan, "train.tfw") == ["sidecars"]


def test_many_images_without_a_mask_are_a_first_note(tmp_path):
    drawing.put_pairs(tmp_path, "123", "images/{}.jpg", "masks/{}.png")
    drawing.put_image(tmp_path, "images/7.jpg")
    assert not any("are left out" in note for note in plan_of(tmp_path).notes)
    drawing.put_image(tmp_path, "images/8.jpg")
    assert plan_of(tmp_path).notes[0] == "2 of 5 images have no mask and are left out."


def test_a_problem_beside_the_question_about_leftovers_is_one_finding(tmp_path):
    for number in range(10):
        drawing.put_image(tmp_path, f"images/00{number}.jpg")
        drawing.put_mask(tmp_path, f"masks/00{number}.png", drawing.truth(str(number)))
    for number in range(4):
        drawing.put_mask(tmp_path, f"masks/00{number}_2.png", drawing.truth("5"))
    _, report = check_folder(tmp_path, class_names=["a", "b", "c"])
    problems = [str(finding.message) for finding in report.findings if finding.effect == STOPS]
    assert len(problems) == len({*problems}) == 1
    assert "2 masks for the image images/00" in problems[0]
