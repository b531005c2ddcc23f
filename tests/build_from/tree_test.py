import collections
import hashlib
import json
import pathlib
import re
import shlex
import shutil

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports
from support.building import examples, tfds_build
from support.command_line import run_command

from voc_seg_tfrecord import VOID, VocSegError
from voc_seg_tfrecord.build_from.tree import MAX_CHECKED_FILES, builder_from_tree, plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ConfigError

# Tool, arguments, class names, examples a split, void rows.
TOOLS = {
    "cvat": ({}, ("apple", "background", "tree"), {"train": 3}, False),
    "datumaro_gray": ({}, ("background", "apple", "tree"), {"train": 1, "validation": 1}, True),
    "labelme_old": ({}, ("_background_", "apple", "tree/bush"), {"train": 2}, True),
    "supervisely": ({}, ("background", "kiwi fruit", "lemon"), {"train": 2}, True),
    "roboflow": ({}, ("background", "apple", "tree"), {"train": 1, "validation": 1}, False),
    "mmsegmentation": (
        {"class_names": ["road", "walk", "building"]},
        ("road", "walk", "building"),
        {"train": 1, "validation": 1},
        False,
    ),
    "sixteen_bits": ({"class_names": ["sky", "hull", "panel"]}, None, {"train": 1}, False),
}


@pytest.fixture
def export(tmp_path):
    def write(tool):
        root = tmp_path / "export"
        root.mkdir()
        getattr(exports, tool)(root)
        return root

    return write


def test_train_at_the_top_and_val_in_a_folder_below_build(tmp_path):
    root = tmp_path / "folder"
    for name in ("a", "b", "c", "d", "val/e", "val/f"):
        drawing.put_image(root, f"{name}.jpg")
        drawing.put_mask(root, f"{name}_mask.png", drawing.truth(name[-1]))
    names = ["background", "apple", "tree"]
    builder = builder_from_tree(root, name="mine", class_names=names, data_dir=tmp_path / "data")
    stored = {split: sorted(examples(builder, split)) for split in builder.info.splits}
    assert stored == {
        "train": ["a.jpg", "b.jpg", "c.jpg", "d.jpg"],
        "validation": ["val/e.jpg", "val/f.jpg"],
    }


@pytest.mark.parametrize("tool", TOOLS)
def test_a_tools_export_builds_with_one_call(export, tmp_path, tool):
    said, names, splits, void = TOOLS[tool]
    builder = builder_from_tree(export(tool), name="mine", data_dir=tmp_path / "data", **said)
    found = tuple(builder.info.features["segmentation_mask"].names)
    assert found == (names or tuple(said["class_names"]))
    assert {s: i.num_examples for s, i in builder.info.splits.items()} == splits
    order = [1, 0, 2] if tool == "cvat" else [0, 1, 2]
    for split in splits:
        for name, example in examples(builder, split).items():
            stem = pathlib.Path(name).stem.removesuffix("_img")
            expected = np.array(order, np.uint8)[drawing.truth(stem)]
            if void:
                expected[0] = VOID
            assert (example["segmentation_mask"][..., 0] == expected).all()
            assert example["image"].shape == (*drawing.SIZE, 3)


def test_tfds_build_with_the_printed_config_gives_the_same_bytes(export, tmp_path, capsys):
    root = export("cvat")
    data_dir = tmp_path / "data"
    assert cli.main(["build", str(root), "--name", "mine", "--data_dir", str(data_dir)]) == 0
    printed = capsys.readouterr().out
    assert "1 apple" not in printed
    assert "0 apple, 1 background, 2 tree" in printed
    assert "by color, from the class file" in printed
    assert "1 left out, without a mask" in printed
    config = json.loads(printed.partition("--config '")[2].partition("'")[0])
    for number, said in enumerate((config, {"name": "mine", "class_names": config["class_names"]})):
        said["missing_mask"] = "skip"
        tfds_build(
            *("--config", json.dumps(said), "--manual_dir", root),
            *("--data_dir", tmp_path / f"tfds{number}"),
        )
        assert shards(tmp_path / f"tfds{number}") == shards(data_dir)


@pytest.mark.parametrize("by_command", [True, False])
def test_each_mask_is_opened_once_to_decide_once_to_build_and_a_few_for_their_size(
    export, tmp_path, monkeypatch, by_command
):
    root, data_dir = export("cvat"), tmp_path / "data"  # its masks are read by color
    opened = []
    read = storage.read_bytes

    def noted(path, *most):
        opened.append(pathlib.Path(path))
        return read(path, *most)

    monkeypatch.setattr(storage, "read_bytes", noted)
    if by_command:
        assert cli.main(["build", str(root), "--name", "mine", "--data_dir", str(data_dir)]) == 0
    else:
        builder_from_tree(root, name="mine", data_dir=data_dir)
    masks = [path.name for path in opened if path.parent.name == "SegmentationClass"]
    assert masks
    count_by_mask = collections.Counter(masks)
    opened_for_size = [mask for mask, count in count_by_mask.items() if count == 3]
    assert len(opened_for_size) <= MAX_CHECKED_FILES
    assert {*count_by_mask.values()} <= {2, 3}


def shards(data_dir):
    paths = (data_dir / "voc_seg_tfrecord" / "mine" / "1.0.0").glob("*.tfrecord-*")
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in paths}


def test_a_listed_image_without_a_mask_may_be_background(export, tmp_path):
    builder = builder_from_tree(
        export("cvat"), name="mine", data_dir=tmp_path / "data", missing_mask="background"
    )
    example = examples(builder, "train")["unannotated.jpg"]
    assert set(np.unique(example["segmentation_mask"])) == {1}  # background's own index
    assert list(example["labels"]) == []


def test_a_foreground_of_255_beside_a_third_class_is_refused_until_it_is_said(tmp_path):
    root = tmp_path / "tree"
    mask = np.where(drawing.truth("a") > 0, 255, 0)
    drawing.put_pair(root, "a", mask)
    said = {"class_names": ["background", "crack", "dust"], "data_dir": tmp_path / "data"}
    with pytest.raises(VocSegError, match="255 may be void or a class"):
        builder_from_tree(root, name="crack", **said)
    builder = builder_from_tree(root, name="crack", classes={255: "crack"}, **said)
    (example,) = examples(builder, "train").values()
    assert (example["segmentation_mask"][..., 0] == mask // 255).all()


def test_an_unknown_color_is_an_error_with_file_color_and_count(export, tmp_path):
    root = export("cvat")
    path = root / "SegmentationClass" / "000032.png"
    values = np.array(Image.open(path))
    values[0, :3] = (250, 50, 84)
    drawing.put(root, "SegmentationClass/000032.png", values)
    with pytest.raises(VocSegError, match=r"000032\.png: colors without a class: #fa3254 on 3 "):
        builder_from_tree(root, name="mine", data_dir=tmp_path / "data")


def test_ratios_share_out_what_no_list_does(tmp_path):
    root = tmp_path / "tree"
    for n in range(40):
        drawing.put_pair(root, str(n))
    splits = {"train": 0.6, "validation": 0.2, "test": 0.2}
    plan = plan_to_build(root, name="mine", class_names=["a", "b", "c"], splits=splits)
    assert sum(map(len, plan.splits.values())) == 40
    drawing.put_pair(root, "new")
    grown = plan_to_build(root, name="mine", class_names=["a", "b", "c"], splits=splits)
    for split in splits:
        assert set(plan.splits[split]) <= set(grown.splits[split])


def test_overlapping_lists_are_named_unless_allowed(export):
    root = export("cvat")
    drawing.put(root, "ImageSets/Segmentation/other.txt", "photo.v1.2\n000032\n")
    with pytest.raises(VocSegError, match=r"(?s)in common, such as .*000032.*allow_overlap"):
        plan_to_build(root, name="mine")
    plan = plan_to_build(root, name="mine", overlap=True)
    assert plan.splits["other"] == ["photo.v1.2", "000032"]


def test_a_list_whose_name_tfds_does_not_take_is_named(export):
    root = export("cvat")
    drawing.put(root, "ImageSets/Segmentation/my list.txt", "000032\n")
    with pytest.raises(VocSegError, match="the split name 'my list'"):
        plan_to_build(root, name="mine")


@pytest.mark.parametrize(
    ("files", "words"),
    [
        (("Annotations/a.xml", "JPEGImages/a.jpg"), "boxes alone"),
        (
            ("SegmentationClass/a.png",),
            "among 1 .png called masks, such as SegmentationClass/a.png",
        ),
        (("photos/a.jpg",), "no masks among 1 .jpg, such as photos/a.jpg"),
        (("task-1-annotation-2-by-1-tag-crack-0.png",), "1 files, the first is task-1"),
    ],
)
def test_what_cannot_be_built_is_named(tmp_path, files, words):
    for name in files:
        drawing.put(tmp_path, name, b"")
    with pytest.raises(VocSegError, match=words):
        plan_to_build(tmp_path, name="mine")


def test_a_string_is_not_taken_for_a_list_of_one_letter_names(export, tmp_path):
    with pytest.raises(ConfigError, match="option class_names: 'voc'"):
        builder_from_tree(export("cvat"), name="m", class_names="voc", data_dir=tmp_path / "d")


def test_a_tree_without_class_names_gets_default_names(tmp_path):
    exports.mmsegmentation(tmp_path)
    plan = plan_to_build(tmp_path, name="mine")
    assert plan.config.class_names == ("class_0", "class_1", "class_2")
    assert any("Nobody named the classes" in note for note in plan.notes)


def test_the_command_that_an_error_about_an_archive_proposes_works(tmp_path):
    root = tmp_path / "export"
    for image_id in "abc":
        drawing.put_image(root, f"images/{image_id}.jpg")
        drawing.put_mask(root, f"masks/{image_id}.png", drawing.truth(image_id) * 7)
    archive = shutil.make_archive(str(tmp_path / "my archives" / "set"), "zip", root)
    with pytest.raises(VocSegError, match=f"^{re.escape(archive)}: the masks use") as caught:
        builder_from_tree(archive, name="mine", data_dir=tmp_path / "data")
    proposed = re.search(r"voc-seg-tfrecord (check .* --write_classes) ", str(caught.value))
    table = tmp_path / "classes.csv"
    assert cli.main([*shlex.split(proposed[1]), str(table)]) == 0
    assert table.exists()


@pytest.mark.parametrize("name", ["2012", "sample", "a/b", ""])
def test_names_that_are_taken_or_impossible_are_refused(tmp_path, name):
    exports.cvat(tmp_path)
    with pytest.raises(VocSegError, match="choose another name"):
        plan_to_build(tmp_path, name=name)


def test_a_folder_given_with_a_dot_changes_no_word_of_the_report(tmp_path, monkeypatch, capsys):
    exports.roboflow(tmp_path / "a")
    monkeypatch.chdir(tmp_path)
    builder_from_tree("./a", name="mine", data_dir=tmp_path / "data")
    report = capsys.readouterr().out
    assert "0 background, 1 apple, 2 tree" in report
    assert "./" not in report


def test_a_layout_beside_the_options_that_make_it_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="give masks='Masks'"):
        plan_to_build(tmp_path, name="mine", layout={"masks": "Masks"})


IDLE_OPTIONS = {
    "--allow_overlap": "No image is in several splits, so --allow_overlap changes nothing.",
    "--missing_image skip": "Each listed id has an image, so --missing_image skip changes nothing.",
    "--resize_masks nearest": "masks of another size are scaled to their images (nearest)",
    "--exif apply": "images with an EXIF orientation are stored upright (apply)",
}


@pytest.mark.parametrize("option", IDLE_OPTIONS)
def test_an_option_that_changes_nothing_in_a_folder_is_said_to(tmp_path, option):
    drawing.write(tmp_path / "set", "abcd images/{}.jpg masks/{}.png")
    drawing.put_lists(tmp_path / "set", train="ab", val="cd")
    call = ["build", tmp_path / "set", "--name=x", "--dry_run", f"--data_dir={tmp_path}"]
    assert IDLE_OPTIONS[option] in run_command(*call, *option.split()).output
    assert IDLE_OPTIONS[option] not in run_command(*call).output


@pytest.mark.parametrize("option", ["--allow_overlap", "--missing_image skip"])
def test_an_option_about_lists_that_changes_something_is_not_said_to_be_idle(tmp_path, option):
    drawing.write(tmp_path / "set", "abcd images/{}.jpg masks/{}.png")
    drawing.put_lists(tmp_path / "set", train="abc", val="cdx")
    call = ["build", tmp_path / "set", "--name=x", "--dry_run", f"--data_dir={tmp_path}"]
    both = ["--allow_overlap", "--missing_image", "skip"]
    result = run_command(*call, *both)
    assert result.status == 0, result.text
    assert "changes nothing" not in result.output
    last_line = result.output.splitlines()[-1]
    assert last_line == "nothing was built; a build would write train 3, validation 2"
    assert run_command(*call, *option.split()).status == 1


def test_split_by_hash_is_refused_where_lists_make_the_splits(tmp_path):
    drawing.write(tmp_path / "set", "abcd images/{}.jpg masks/{}.png")
    drawing.put_lists(tmp_path / "set", train="ab", val="cd")
    call = ["build", tmp_path / "set", "--name=x", "--dry_run", "--split_by=hash"]
    assert "option split_by: 'hash'" in run_command(*call).errors
    ratios = "--splits=train=0.5,validation=0.5"
    built = run_command(*call[:3], f"--data_dir={tmp_path}")
    like = ["build", tmp_path / "set", "--like=x", "--version=1.1.0", f"--data_dir={tmp_path}"]
    assert (built.status, run_command(*like, "--dry_run").status) == (0, 0)
    assert run_command(*call, ratios, f"--data_dir={tmp_path / 'other'}").status == 0


def test_copies_of_a_photo_that_roboflow_puts_into_two_splits_are_noted_by_their_names(tmp_path):
    exports.roboflow(tmp_path / "a")
    call = ["build", tmp_path / "a", "--name=x", "--dry_run", f"--data_dir={tmp_path}"]
    assert "copies of a photo" not in run_command(*call).output
    drawing.put_image(tmp_path / "a", "valid/x_jpg.rf.77aa30b.jpg")
    drawing.put_mask(tmp_path / "a", "valid/x_jpg.rf.77aa30b_mask.png", drawing.truth("z"))
    note = re.search(r"note: +(1 photo may be in .*)", run_command(*call).output)[1]
    assert "x_jpg.rf.* in train and validation" in note
    built = run_command(*call[:3], call[-1])
    assert built.status == 0, built.text
    words = shlex.split(note.partition("look with ")[2])
    assert run_command(*words[1:]).status == 0  # these differ
