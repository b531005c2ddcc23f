import json
import shutil

import numpy as np
from PIL import Image
import pytest
from support import doctoring, drawing, planted
from support.building import from_tree
from support.encoding import decoded, encoded

from voc_seg_tfrecord import from_arrays
from voc_seg_tfrecord.audit import diff
from voc_seg_tfrecord.audit.diff import Change, MaskChange
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import SplitError

NAMES = list(planted.NAMES)
SPLITS = {"train": ["a", "b", "c"], "validation": ["d", "e"], "test": ["f"]}


def put(root, image_id, number, mask=None):
    drawn = planted.draw(number)
    drawing.put(root, f"JPEGImages/{image_id}.jpg", drawn.image)
    drawing.put(root, f"SegmentationClass/{image_id}.png", drawn.mask if mask is None else mask)


def build(root, name="mine", **options):
    return from_tree(root, name=name, **{"class_names": NAMES, **options})


@pytest.fixture
def tree(tmp_path):
    root = tmp_path / "tree"
    for number, image_id in enumerate("abcdef"):
        put(root, image_id, number)
    drawing.put_lists(root, **SPLITS)
    return root


def grow(root):
    """Changes a tree in every way; returns what must be found."""
    mask = planted.draw(1).mask.copy()
    mask[:2, :3] = 2
    Image.fromarray(mask).save(root / "SegmentationClass/b.png")
    before = planted.draw(1).mask[:2, :3]
    classes = tuple(
        (NAMES[value], NAMES[2], int((before == value).sum())) for value in np.unique(before)
    )
    put(root, "e", 40, planted.draw(4).mask)
    put(root, "g", 41)
    drawing.put_lists(root, train=["a", "b", "d", "g"], validation=["e"])
    return [
        Change("f", "test", ""),
        Change("b", "train", "train", mask=MaskChange(6, classes)),
        Change("c", "train", ""),
        Change("g", "", "train"),
        Change("d", "validation", "train"),
        Change("e", "validation", "validation", image=True),
    ]


@pytest.mark.parametrize("as_folder", [True, False])
def test_each_kind_of_change_is_found_and_what_breaks_a_benchmark(tree, as_folder):
    before = build(tree)
    same = diff.compare(before, tree if as_folder else before)
    assert (same.changes, same.broken) == ([], {})
    expected = grow(tree)
    (tree / "ImageSets/Segmentation/test.txt").write_text("h\n")
    put(tree, "h", 42)
    found = diff.compare(before, tree if as_folder else build(tree, "next"))
    assert found.changes == [expected[0], Change("h", "", "test"), *expected[1:]]
    assert found.broken == {"test": ["f", "h"], "validation": ["d", "e"]}
    assert found.after.counts == {"train": 4, "validation": 1, "test": 1}


def test_classes_are_compared_by_name_and_not_by_number(tree):
    before = build(tree)
    order = [0, 3, 1, 2]  # the new number of each class
    for path in (tree / "SegmentationClass").iterdir():
        Image.fromarray(np.array(order, np.uint8)[np.array(Image.open(path))]).save(path)
    names = [NAMES[order.index(n)] for n in range(4)]
    assert diff.compare(before, build(tree, "next", class_names=names)).changes == []
    swapped = diff.compare(before, build(tree, "wrong", class_names=NAMES))
    assert {change.id for change in swapped.changes} == set("abcdef")
    more = diff.compare(before, build(tree, "more", class_names=[*names, "new"]))
    assert more.changes == []


def test_masks_that_are_only_compressed_in_another_way_are_the_same(tree):
    before = build(tree)
    for path in (tree / "SegmentationClass").iterdir():
        Image.open(path).save(path, compress_level=0)
    assert diff.compare(before, build(tree, "next")).changes == []


def test_a_mask_of_another_size_is_another_mask(tree):
    before = build(tree)
    put(tree, "a", 0, np.zeros(planted.SIZE, np.uint8))
    image = Image.open(tree / "JPEGImages/a.jpg").crop((0, 0, 50, 60))
    image.save(tree / "JPEGImages/a.jpg")
    Image.fromarray(np.zeros((60, 50), np.uint8)).save(tree / "SegmentationClass/a.png")
    (change,) = diff.compare(before, build(tree, "next")).changes
    assert change == Change(
        "a", "train", "train", True, MaskChange(), ("image/height", "image/width")
    )


def test_files_that_a_build_refuses_are_named_with_the_reason(tree, capsys):
    before = build(tree)
    Image.fromarray(np.full(planted.SIZE, 9, np.uint8)).save(tree / "SegmentationClass/d.png")
    (change,) = diff.compare(before, tree).changes
    assert (change.id, change.before) == ("d", "validation")
    assert "9" in change.unusable
    assert cli.main(["diff", str(before.data_path), str(tree)]) == 1
    assert "cannot be used in a build: 1" in capsys.readouterr().out


@pytest.mark.parametrize("as_folder", [True, False])
def test_an_image_that_moved_to_the_folder_of_another_split_is_moved(tmp_path, capsys, as_folder):
    root = tmp_path / "tree"
    for number in range(6):
        drawn, split = planted.draw(number), ("train", "val")[number % 2]
        for part, pixels, ending in (("images", drawn.image, "jpg"), ("masks", drawn.mask, "png")):
            (root / split / part).mkdir(parents=True, exist_ok=True)
            Image.fromarray(pixels).save(root / split / part / f"i{number}.{ending}")

    def move(number, before, after):
        for part, ending in (("images", "jpg"), ("masks", "png")):
            path = f"{part}/i{number}.{ending}"
            shutil.move(root / before / path, root / after / path)

    def compare(before, name):
        return diff.compare(before, root if as_folder else build(root, name))

    before = build(root)
    move(2, "train", "val")
    found = compare(before, "next")
    moved = Change("train/images/i2", "train", "validation", id_after="val/images/i2")
    assert (found.changes, found.broken) == ([moved], {"validation": ["train/images/i2"]})
    move(3, "val", "train")
    mask = planted.draw(3).mask.copy()
    mask[:] = 1
    Image.fromarray(mask).save(root / "train/masks/i3.png")
    found = compare(before, "last")
    assert found.broken == {"validation": ["train/images/i2", "val/images/i3"]}
    first, second = found.changes
    assert first == moved
    assert (second.id, second.id_after) == ("val/images/i3", "train/images/i3")
    assert (second.image, second.mask.pixels, second.others) == (
        False,
        int((planted.draw(3).mask != 1).sum()),
        (),
    )
    assert cli.main(["diff", str(before.data_path), str(root)]) == 1
    out = capsys.readouterr().out
    assert "moved to another split: 2\n" in out
    assert "  val/images/i3 (validation) -> train/images/i3 (train)\n" in out
    assert "mask changed: 1\n  val/images/i3 (validation): " in out
    assert "added" not in out.partition("moved to")[2]


def test_a_label_in_place_of_a_mask_is_compared_too(tmp_path):
    image = planted.draw(0).image

    def classified(name, label, names):
        return from_arrays([image], labels=[label], name=name, class_names=names, data_dir=tmp_path)

    before = classified("one", 0, ["cat", "dog"])
    same = classified("two", 1, ["dog", "cat"])
    assert diff.compare(before, same).changes == []
    (change,) = diff.compare(before, classified("three", 1, ["cat", "dog"])).changes
    assert change.mask == MaskChange(None, (("cat", "dog", 0),))


@pytest.mark.slow
def test_tiles_are_compared_with_the_images_that_they_would_be_cut_from(tree):
    before = build(tree, tile=128)
    assert diff.compare(before, tree).changes == []
    put(tree, "a", 50)
    changed = {change.id.partition("_")[0] for change in diff.compare(before, tree).changes}
    assert changed == {"a"}


def test_a_listed_image_that_the_folder_does_not_have_is_an_error(tree):
    before = build(tree)
    image = tree / "JPEGImages/e.jpg"
    data = image.read_bytes()
    image.unlink()
    with pytest.raises(SplitError, match="JPEGImages/e"):
        diff.compare(before, tree)
    image.write_bytes(data)
    drawing.put_lists(tree, **{**SPLITS, "train": [*SPLITS["train"], "ghost"]})
    with pytest.raises(SplitError, match="JPEGImages/ghost"):
        diff.compare(before, tree)


def test_a_question_about_a_folder_is_one_for_a_build(tree, tmp_path, capsys):
    before = build(tree)
    for name in ("masks", "others"):
        shutil.copytree(tree / "SegmentationClass", tmp_path / "set" / name)
    shutil.copytree(tree / "JPEGImages", tmp_path / "set/images")
    (tmp_path / "set/images/e.jpg").unlink()
    assert cli.main(["diff", str(before.data_path), str(tmp_path / "set")]) == 1
    said = capsys.readouterr().err
    build_command = f"build {tmp_path}/set --like {before.data_path} --name NAME"
    assert f"voc-seg-tfrecord {build_command}; voc-seg-tfrecord diff" in said
    assert "add the options" not in said


@pytest.mark.slow
def test_the_command_says_what_changed_and_exits_with_1_if_a_test_split_did(tree, capsys):
    before = build(tree)
    assert cli.main(["diff", str(before.data_path), str(tree)]) == 0
    assert "nothing changed" in capsys.readouterr().out
    put(tree, "g", 41)
    drawing.put_lists(tree, train=["a", "b", "c", "g"])
    assert cli.main(["diff", str(before.data_path), str(tree)]) == 0
    capsys.readouterr()
    grow(tree)
    archive = shutil.make_archive(str(tree), "zip", tree)
    assert cli.main(["diff", str(before.data_path), archive]) == 1
    out = capsys.readouterr().out
    assert f"-> {archive}\n" in out
    assert "moved to another split: 1\n  d: validation -> train\n" in out
    assert "b (train): 6 pixels: " in out
    assert "validation: 2 examples new, moved, removed or changed (d, e); do not compare" in out
    assert cli.main(["diff", str(before.data_path), str(tree), "--json"]) == 1
    document = json.loads(capsys.readouterr().out)
    assert [c["id"] for c in document["changes"]] == list("bcgde")


@pytest.mark.slow
def test_classes_that_swapped_numbers_are_no_unchanged_dataset(tree, capsys):
    before = build(tree)
    swap = np.array([0, 2, 1, 3], np.uint8)
    for path in (tree / "SegmentationClass").iterdir():
        Image.fromarray(swap[np.array(Image.open(path))]).save(path)
    after = build(tree, "next", class_names=[NAMES[number] for number in swap])
    words = ["diff", str(before.data_path), str(after.data_path)]
    assert cli.main(words) == 1
    out = capsys.readouterr().out
    assert "images and masks are the same; the class list changed\n" in out
    assert f"class numbers: {NAMES[1]} and {NAMES[2]} swapped numbers; networks" in out
    assert "keep the old order of classes, or retrain" in out
    assert "nothing changed" not in out
    assert cli.main([*words, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["renumbered"] == [
        {"name": NAMES[1], "before": 1, "after": 2},
        {"name": NAMES[2], "before": 2, "after": 1},
    ]


def test_classes_that_move_are_named_with_their_numbers_beside_other_changes(tree, capsys):
    before = build(tree)
    put(tree, "g", 41)
    drawing.put_lists(tree, train=["a", "b", "c", "g"])
    order = [0, 3, 1, 2]
    for path in (tree / "SegmentationClass").iterdir():
        Image.fromarray(np.array(order, np.uint8)[np.array(Image.open(path))]).save(path)
    after = build(tree, "next", class_names=[NAMES[order.index(n)] for n in range(4)])
    assert cli.main(["diff", str(before.data_path), str(after.data_path)]) == 1
    out = capsys.readouterr().out
    assert f"{NAMES[1]} was 1 and is 3, {NAMES[2]} was 2 and is 1" in out
    assert "added: 1\n" in out


def rename(root, image_id, new_id):
    for folder, ending in (("JPEGImages", "jpg"), ("SegmentationClass", "png")):
        (root / folder / f"{image_id}.{ending}").rename(root / folder / f"{new_id}.{ending}")


def test_images_that_were_renamed_are_known_by_their_bytes(tree, capsys):
    before = build(tree)
    for image_id in "abdf":
        rename(tree, image_id, f"{image_id}_rf_1")
    mask = planted.draw(1).mask.copy()
    mask[:2, :3] = 2
    Image.fromarray(mask).save(tree / "SegmentationClass/b_rf_1.png")
    drawing.put_lists(tree, train=["a_rf_1", "b_rf_1", "c", "d_rf_1"], validation=["e"])
    drawing.put_lists(tree, test=["f_rf_1"])
    after = build(tree, "next")
    for second in (after, tree):
        found = diff.compare(before, second)
        assert [(c.id, c.id_after, c.before, c.after, bool(c.mask)) for c in found.changes] == [
            ("f", "f_rf_1", "test", "test", False),
            ("a", "a_rf_1", "train", "train", False),
            ("b", "b_rf_1", "train", "train", True),
            ("d", "d_rf_1", "validation", "train", False),
        ]
        assert all(not change.others for change in found.changes)
        assert found.broken == {"validation": ["d"]}
    assert cli.main(["diff", str(before.data_path), str(after.data_path)]) == 1
    out = capsys.readouterr().out
    assert "renamed, with the same image: 3\n  f (test) -> f_rf_1\n" in out
    assert "d (validation) -> d_rf_1 (train)" in out


def test_copies_of_an_image_are_not_taken_for_renamed_ones(tree):
    shutil.copy(tree / "JPEGImages/a.jpg", tree / "JPEGImages/b.jpg")
    before = build(tree)
    for image_id in "ab":
        rename(tree, image_id, f"new_{image_id}")
    drawing.put_lists(tree, train=["new_a", "new_b", "c"])
    changes = diff.compare(before, build(tree, "next")).changes
    assert {(change.id, change.before, change.after) for change in changes} == {
        ("a", "train", ""),
        ("b", "train", ""),
        ("new_a", "", "train"),
        ("new_b", "", "train"),
    }


@pytest.mark.parametrize("second", ["nowhere", "missing.zip"])
def test_a_second_side_that_is_not_there_is_a_wrong_call(tree, second, tmp_path):
    before = build(tree)
    assert cli.main(["diff", str(before.data_path), str(tmp_path / second)]) == 2
    assert cli.main(["diff", str(tree), str(tree)]) == 2


def test_a_name_of_a_dataset_and_of_a_folder_is_asked_about(tree, monkeypatch, capsys):
    before = build(tree, "tree")  # a dataset called like its folder
    monkeypatch.chdir(tree.parent)
    data_dir = f"--data_dir={before.data_path.parents[2]}"
    assert cli.main(["diff", "tree", "tree", data_dir]) == 2
    error = capsys.readouterr().err
    assert "voc-seg-tfrecord diff tree ./tree" in error
    assert "voc-seg-tfrecord diff tree voc_seg_tfrecord/tree" in error
    assert cli.main(["diff", "tree", "./tree", data_dir]) == 0
    assert cli.main(["diff", "tree", "voc_seg_tfrecord/tree", data_dir]) == 0


def test_a_value_that_is_no_class_of_its_side_is_not_called_by_a_class_of_the_other(tree, tmp_path):
    def change(examples):
        mask = decoded(doctoring.values(examples[0], "segmentation_mask")[0]).copy()
        assert mask[0, 0] == 0
        mask[0, 0] = len(NAMES)
        doctoring.values(examples[0], "segmentation_mask")[0] = encoded(mask)
        return examples

    after = build(tree, "next", class_names=[*NAMES, "new"])
    damaged = doctoring.doctored(build(tree), tmp_path / "damaged", change)
    (changed,) = diff.compare(damaged, after).changes
    assert changed.mask == MaskChange(1, ((f"value {len(NAMES)}", NAMES[0], 1),))


def test_a_feature_with_another_name_is_a_change(tree, tmp_path):
    def rename(examples):
        features = examples[0].features.feature
        features["image/widths"].CopyFrom(features["image/width"])
        del features["image/width"]
        return examples

    before = build(tree)
    renamed = doctoring.doctored(before, tmp_path / "renamed", rename)
    (changed,) = diff.compare(before, renamed).changes
    assert changed.others == ("image/width", "image/widths")
