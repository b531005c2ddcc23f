"""Exports of several annotators in one folder are asked about, and never read half right."""

import io
import json
import re
import shlex
import shutil

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports
from support.building import from_tree
from support.command_line import run_command
from support.folders import examples_of, pasted, plan_of, proposed, refused, said_by

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import VocSegError
from voc_seg_tfrecord.folder.splits.grouping import link_groups

CLASSES = {"background": (0, 0, 0), "apple": (250, 50, 83), "tree": (51, 221, 255)}
NO_NAMES = {"class_names": None}
FOLDERS_AND_IDS = {"anna": "ab", "ben": "cd", "cara": "ef"}


def save_photo(root, name, photo=""):
    """Saves a photo that differs by its name, or by the words that are given."""
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.picture(photo or path.stem).resize((64, 48), Image.Resampling.NEAREST).save(path)


def mask_of(image_id, shift=0):
    """Returns class indices of an image, uint8 `[48, 64]`, moved by some columns."""
    return np.roll(drawing.truth(image_id).repeat(4, 0).repeat(4, 1), shift, 1)


def put_list(root, ids, name="default"):
    text = "".join(f"{image_id}\n" for image_id in ids)
    drawing.put(root, f"ImageSets/Segmentation/{name}.txt", text)


def cvat(root, ids, *, classes=CLASSES, shift=0, photo=""):
    """Writes CVAT's masks; values 0, 1, 2 are the classes in their order."""
    lines = [f"{name}:{','.join(map(str, color))}::" for name, color in sorted(classes.items())]
    drawing.put(root, "labelmap.txt", "# label:color_rgb:parts:actions\n" + "\n".join(lines) + "\n")
    put_list(root, ids)
    for image_id in ids:
        save_photo(root, f"JPEGImages/{image_id}.jpg", photo and photo + image_id)
        mask = exports.rgb(mask_of(image_id, shift), classes)
        (root / "SegmentationClass").mkdir(exist_ok=True)
        mask.save(root / f"SegmentationClass/{image_id}.png")


def gray(root, ids, *, names=tuple(CLASSES), shift=0):
    """Writes gray masks as datumaro does, with labels of colors."""
    lines = [f"{name}:{','.join(map(str, CLASSES[name]))}::\n" for name in names]
    drawing.put(root, "labelmap.txt", "".join(lines))
    for image_id in ids:
        save_photo(root, f"JPEGImages/{image_id}.jpg")
        values = np.array([names.index(name) for name in CLASSES], np.uint8)
        mask = values[mask_of(image_id, shift)]
        drawing.put_mask(root, f"SegmentationClass/{image_id}.png", mask)


def labelme2voc(root, ids):
    drawing.put(root, "class_names.txt", "background\napple\ntree\n")
    for image_id in ids:
        save_photo(root, f"JPEGImages/{image_id}.jpg")
        drawing.put_mask(root, f"SegmentationClass/{image_id}.png", mask_of(image_id))


def roboflow(root, ids, *, classes=("background", "apple", "tree")):
    """Writes masks beside images, the last image in the folder of validation."""
    for split, ids_of_split in (("train", ids[:-1]), ("valid", ids[-1:])):
        lines = [f"{value}, {name}" for value, name in enumerate(classes)]
        drawing.put(root, f"{split}/_classes.csv", "\n".join(["Pixel Value, Class", *lines]))
        for image_id in ids_of_split:
            save_photo(root, f"{split}/{image_id}.jpg")
            drawing.put_mask(root, f"{split}/{image_id}_mask.png", mask_of(image_id))


def nested(root, ids):
    cvat(root / "task_7" / "export", ids)


def box_of(image_id, shift=0):
    left = 4 * (1 + sum(image_id.encode()) % 5) + shift
    return [[left, 8], [left + 20, 8], [left + 20, 24], [left, 24]]


def labelme(root, ids, *, label="apple", shift=0, photo=""):
    for image_id in ids:
        save_photo(root, f"{image_id}.jpg", photo and photo + image_id)
        shape = {"label": label, "points": box_of(image_id, shift), "shape_type": "polygon"}
        content = {"shapes": [shape], "imagePath": f"{image_id}.jpg", "imageData": None}
        content |= {"imageHeight": 48, "imageWidth": 64}
        drawing.put(root, f"{image_id}.json", json.dumps(content))


def cvat_xml(root, ids, *, labels=("apple", "tree"), shift=0):
    names = "".join(f"<label><name>{name}</name></label>" for name in labels)
    lines = [f"<annotations><meta><task><labels>{names}</labels></task></meta>"]
    for image_id in ids:
        save_photo(root, f"images/{image_id}.jpg")
        points = ";".join(f"{x}.00,{y}.00" for x, y in box_of(image_id, shift))
        polygon = f'<polygon label="{labels[0]}" points="{points}" z_order="0"/>'
        lines.append(f'<image name="{image_id}.jpg" width="64" height="48">{polygon}</image>')
    drawing.put(root, "annotations.xml", "\n".join([*lines, "</annotations>"]))


def put_all(root, write, folders_and_ids=FOLDERS_AND_IDS, **options):
    for name, ids in folders_and_ids.items():
        write(root / name, ids, **options)
    return root


def masks_of(root, **said):
    """Returns the masks of a build by the path of the image, with the numbers of CLASSES."""
    plan = plan_to_build(root, name="x", **said)
    names = [*plan.config.built_class_names]
    index = np.full(256, 255)
    index[[names.index(name) for name in CLASSES if name in names]] = [
        number for number, name in enumerate(CLASSES) if name in names
    ]
    found = examples_of(root, **said)
    masks = {}
    for name, example in found.items():
        values = np.asarray(Image.open(io.BytesIO(example["segmentation_mask"])))
        masks[name] = index[values]
    return masks


def check_masks(root, expected_ids, **said):
    """Checks that the masks of a build are those of the images."""
    masks = masks_of(root, **said)
    assert len(masks) == len(expected_ids)
    for name, mask in masks.items():
        image_id = name.rpartition("/")[2].partition(".")[0]
        np.testing.assert_array_equal(mask, mask_of(image_id), name)
    return masks


def splits_of(plan):
    return {split: sorted(ids) for split, ids in plan.splits.items()}


WRITERS = {
    "cvat": cvat,
    "gray": gray,
    "labelme2voc": labelme2voc,
    "roboflow": roboflow,
    "nested": nested,
}


PAIRS = {name: write for name, write in WRITERS.items() if name != "roboflow"}


def check_lines(root, text, ids):
    """Checks that each line of a question reads right masks, or that its build stops."""
    counts = []
    for count, options in proposed(text):
        said = said_by(shlex.join(pasted(options)))
        try:
            masks = masks_of(root, **said)
        except VocSegError:
            continue
        counts.append(len(masks))
        for name, mask in masks.items():
            image_id = name.rpartition("/")[2].partition(".")[0]
            np.testing.assert_array_equal(mask, mask_of(image_id), name)
        assert re.search(rf"(; |^){len(masks)} images(?! left)|train {len(masks)}\b", count)
    assert len(ids) in counts or len(ids) // 2 in counts


@pytest.mark.parametrize("write", PAIRS.values(), ids=PAIRS)
def test_exports_are_asked_about_and_each_line_reads_what_it_says(tmp_path, write):
    put_all(tmp_path, write, {"anna": "ab", "ben": "cd"})
    text = refused(tmp_path, "[34] ways to read", **NO_NAMES)
    check_lines(tmp_path, text, "abcd")


def test_each_export_is_divided_by_its_own_lists(tmp_path):
    put_all(tmp_path, cvat, {"anna": "ab", "ben": "ab"})
    for name, (train, val) in {"anna": "ab", "ben": "ba"}.items():
        save_photo(tmp_path, f"{name}/JPEGImages/a.jpg", f"{name} a")
        save_photo(tmp_path, f"{name}/JPEGImages/b.jpg", f"{name} b")
        (tmp_path / name / "ImageSets/Segmentation/default.txt").unlink()
        put_list(tmp_path / name, train, "train")
        put_list(tmp_path / name, val, "val")
    lines = proposed(refused(tmp_path, "2 ways to read", **NO_NAMES))
    plans = [plan_of(tmp_path, **NO_NAMES, **said_by(options)) for _, options in lines]
    assert [splits_of(plan) for plan in plans] == [
        {"train": ["a"], "validation": ["b"]},
        {"train": ["b"], "validation": ["a"]},
    ]


def test_lists_beside_the_images_of_each_export_divide_these_alone(tmp_path):
    splits = {"anna": {"train": "ab", "val": "cd"}, "ben": {"trainval": "abc", "test": "d"}}
    for name, lists in splits.items():
        plain(tmp_path / name, "abcd", ["background", "apple", "tree"])
        for image_id in "abcd":
            save_photo(tmp_path, f"{name}/images/{image_id}.jpg", f"{name} {image_id}")
        for split, ids in lists.items():
            drawing.put(tmp_path, f"{name}/{split}.txt", "".join(f"{one}\n" for one in ids))
    lines = proposed(refused(tmp_path, "2 ways to read", **NO_NAMES))
    plans = [plan_of(tmp_path, **NO_NAMES, **said_by(options)) for _, options in lines]
    assert [splits_of(plan) for plan in plans] == [
        {"train": ["a", "b"], "validation": ["c", "d"]},
        {"trainval": ["a", "b", "c"], "test": ["d"]},
    ]


def test_exports_of_folders_of_splits_are_one_set_if_their_class_files_agree(tmp_path):
    put_all(tmp_path, roboflow, {"anna": "abc", "ben": "def"})
    plan = plan_to_build(tmp_path, name="x")
    assert [len(ids) for ids in plan.splits.values()] == [4, 2]
    check_masks(tmp_path, "abcdef")
    assert not any("lass" in str(group.kind) for group in plan.unused)


def test_a_value_that_means_two_classes_stops_the_build(tmp_path):
    roboflow(tmp_path / "anna", "abc")
    roboflow(tmp_path / "ben", "def", classes=("background", "tree", "apple"))
    refused(tmp_path, "value 1 is 'tree'.*, but 'apple'", **NO_NAMES)


def test_an_export_without_a_class_file_beside_others_is_refused(tmp_path):
    put_all(tmp_path, roboflow, {"anna": "abc", "ben": "def"})
    for path in tmp_path.glob("ben/*/_classes.csv"):
        path.unlink()
    refused(tmp_path, "no class file, and anna/train/_classes.csv", **NO_NAMES)


def plain(root, ids, names):
    """Writes masks of the values 0 to 2, with a text that names these in their order."""
    drawing.put(root, "labels.txt", "".join(f"{name}\n" for name in names))
    for image_id in ids:
        save_photo(root, f"images/{image_id}.jpg")
        drawing.put_mask(root, f"masks/{image_id}.png", mask_of(image_id))


OTHER_CLASSES = {
    "another order": ["background", "tree", "apple"],
    "a void class": ["background", "apple", "ignore"],
    "another spelling": ["background", "Apple", "tree"],
}


@pytest.mark.parametrize("names", OTHER_CLASSES.values(), ids=OTHER_CLASSES)
@pytest.mark.parametrize("classes", [None, ["background", "apple", "tree"]])
def test_class_files_that_contradict_are_never_read_together(tmp_path, names, classes):
    plain(tmp_path / "anna", "ab", ["background", "apple", "tree"])
    plain(tmp_path / "ben", "cd", names)
    refused(tmp_path, "ways to read", class_names=classes)
    both = {
        "images": "anna=anna/images,ben=ben/images",
        "masks": "anna=anna/masks,ben=ben/masks",
    }
    refused(tmp_path, "the same value and color of each class", class_names=classes, **both)


def test_two_plain_sets_are_a_question_whose_parts_are_named_after_their_folders(tmp_path):
    for name, ids in {"anna": "ab", "ben": "cd"}.items():
        drawing.put_pairs(tmp_path, ids, f"{name}/images/{{}}.jpg", f"{name}/masks/{{}}.png")
    text = refused(tmp_path, "3 ways to read")
    assert "part1" not in text
    (*_, (_, together)) = proposed(text)
    plan = plan_of(tmp_path, **said_by(together))
    assert splits_of(plan) == {"train": ["anna/a", "anna/b", "ben/c", "ben/d"]}


# Images that several annotators drew.


def put_shared(root, write=cvat, ids="ab", shift=4):
    """Writes exports of anna and ben; the images of both are the same, and ben's masks moved."""
    write(root / "anna", ids)
    write(root / "ben", f"{ids}z", shift=shift)
    return root


SHARED = {"cvat": cvat, "gray": gray, "labelme": labelme, "cvat_xml": cvat_xml}


@pytest.mark.parametrize("write", SHARED.values(), ids=SHARED)
def test_images_that_two_drew_are_asked_about_with_a_line_for_each(tmp_path, write):
    put_shared(tmp_path, write)
    text = refused(tmp_path, "ways to read", **NO_NAMES)
    alone = [options for _, options in proposed(text) if ("anna" in options) != ("ben" in options)]
    masks = [masks_of(tmp_path, **said_by(options)) for options in alone]
    masks.sort(key=len)
    assert [len(found) for found in masks] == [2, 3]
    anna, ben = ({name.rpartition("/")[2]: mask for name, mask in m.items()} for m in masks)
    for name in ("a.jpg", "b.jpg"):
        np.testing.assert_array_equal(np.roll(anna[name], 4, 1), ben[name])


@pytest.mark.parametrize("write", [labelme, cvat_xml])
def test_a_line_for_all_of_several_annotators_keeps_each_with_a_note(tmp_path, write):
    put_shared(tmp_path, write)
    (*_, (_, options)) = proposed(refused(tmp_path, "ways to read", **NO_NAMES))
    plan = plan_of(tmp_path, **NO_NAMES, **said_by(options))
    assert sum(map(len, plan.splits.values())) == 5
    assert any("have 2 images with other labels" in note for note in plan.notes)


@pytest.mark.parametrize("write", [labelme, cvat_xml])
def test_images_with_the_same_labels_in_two_folders_have_a_note(tmp_path, write):
    put_shared(tmp_path, write, shift=0)
    plan = plan_to_build(tmp_path, name="x")
    assert "Several folders have 2 images with the same labels" in describe(plan)


@pytest.mark.parametrize("seed", range(6))
def test_ratios_never_divide_an_image_that_lies_in_two_folders(tmp_path, seed):
    put_shared(tmp_path, labelme, ids="abcdef", shift=0)
    ratios = {"train": 0.5, "validation": 0.5}
    plan = plan_of(tmp_path, **NO_NAMES, splits=ratios, group_by="none", seed=seed)
    split_by_id = {one: split for split, ids in plan.splits.items() for one in ids}
    assert len(split_by_id) == 13
    assert all(split_by_id[f"anna/{name}"] == split_by_id[f"ben/{name}"] for name in "abcdef")


def test_same_files_under_other_names_are_one_image_and_other_photos_of_a_name_are_not(tmp_path):
    labelme(tmp_path / "anna", "ab")
    labelme(tmp_path / "ben", "ab", photo="another ", shift=4)
    assert sum(map(len, plan_to_build(tmp_path, name="x").splits.values())) == 4
    (tmp_path / "ben/b.jpg").write_bytes((tmp_path / "anna/a.jpg").read_bytes())
    refused(tmp_path, "1 image with other labels in another folder", **NO_NAMES)


def test_an_image_in_the_folders_of_two_splits_is_no_question(tmp_path):
    put_all(tmp_path, labelme, {"train": "ab", "val": "ac"})
    labelme(tmp_path / "val", "a", shift=4)
    assert [len(ids) for ids in plan_to_build(tmp_path, name="x").splits.values()] == [2, 2]


def test_frames_of_a_camera_that_stands_still_are_no_photo_that_two_drew(tmp_path):
    drawing.put(tmp_path, "labels.txt", "background\ncar\n")
    street = np.kron(np.arange(48).reshape(6, 8) * 5 % 251, np.ones((40, 40))).astype(np.uint8)
    for number, day in enumerate(["monday", "tuesday"]):
        for frame in range(3):
            columns = slice(40 * (2 * frame + number), 40 * (2 * frame + number) + 40)
            picture, mask = street.copy(), np.zeros_like(street)
            picture[100:140, columns] = 255
            mask[100:140, columns] = 1
            path = tmp_path / f"images/{day}/{frame}.jpg"
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(picture).convert("RGB").save(path)
            drawing.put_mask(tmp_path, f"masks/{day}/{frame}.png", mask)
    plan = plan_to_build(tmp_path, name="x")
    assert len(plan.splits["train"]) == 6
    assert not plan.chosen_splits.evidence.repeated_images


def test_images_of_one_color_are_no_photo_that_two_drew(tmp_path):
    put_shared(tmp_path, labelme)
    for path in tmp_path.glob("*/*.jpg"):
        Image.new("RGB", (64, 48)).save(path)
    assert sum(map(len, plan_to_build(tmp_path, name="x").splits.values())) == 5


def test_spellings_of_two_annotators_are_asked_about(tmp_path):
    labelme(tmp_path / "anna", "ab")
    labelme(tmp_path / "ben", "cd", label="Apple")
    text = refused(tmp_path, "differ in spelling alone", **NO_NAMES)
    names = [
        {*plan_to_build(tmp_path, name="x", **said_by(options)).config.built_class_names}
        for _, options in proposed(text)
    ]
    assert names == [
        {"background", "Apple"},
        {"background", "apple"},
        {"background", "Apple", "apple"},
    ]


def test_linked_ids_are_one_group_however_they_are_chained():
    groups = {"a/1": "a", "b/1": "b", "c/1": "c", "d/1": "d"}
    linked = [["c/1", "b/1"], ["b/1", "a/1"], ["x/1", "d/1"]]
    assert link_groups(groups, linked) == {"a/1": "a", "b/1": "a", "c/1": "a", "d/1": "d"}


# One folder of images, and a folder of shapes for each annotator.


def without_images(write):
    """Returns a writer of shapes whose images lie in a folder beside all annotators."""

    def write_shapes(root, ids, **options):
        write(root, ids, **options)
        for path in [*root.rglob("*.jpg")]:
            (root.parent / "images").mkdir(exist_ok=True)
            path.rename(root.parent / "images" / path.name)
        for path in root.glob("*.json"):
            content = json.loads(path.read_text()) | {"imagePath": f"../images/{path.stem}.jpg"}
            path.write_text(json.dumps(content))

    return write_shapes


@pytest.mark.slow_but_first
@pytest.mark.parametrize("write", [labelme, cvat_xml])
def test_shapes_of_two_annotators_on_one_file_are_asked_about(tmp_path, write):
    put_shared(tmp_path, without_images(write), ids="abc")
    text = refused(
        tmp_path, "3 images with other shapes in another folder, such as images/a.jpg", **NO_NAMES
    )
    assert [command for _, command in proposed(text)] == ["--masks anna", "--masks ben"]
    masks = {name: masks_of(tmp_path, masks=name) for name in ("anna", "ben")}
    assert [len(found) for found in masks.values()] == [3, 4]
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        np.testing.assert_array_equal(np.roll(masks["anna"][name], 4, 1), masks["ben"][name])


def test_yolo_numbers_the_classes_of_each_annotator_by_their_own_list(tmp_path):
    for name, names in {
        "anna": "[apple, tree]",
        "ben": "[tree, apple]",
        "cara": "[apple, tree]",
    }.items():
        image_id = name[0]
        save_photo(tmp_path, f"{name}/images/{image_id}.jpg")
        drawing.put(tmp_path, f"{name}/data.yaml", f"names: {names}\n")
        text = " ".join(f"{x / 64:.5f} {y / 48:.5f}" for x, y in box_of(image_id))
        drawing.put(tmp_path, f"{name}/labels/{image_id}.txt", f"0 {text}\n")
    classes = {
        name.partition("/")[0]: np.unique(mask).tolist()
        for name, mask in masks_of(tmp_path).items()
    }
    assert classes == {"anna": [0, 1], "ben": [0, 2], "cara": [0, 1]}


def test_labels_of_labelme_are_united_in_the_order_that_their_lists_have(tmp_path):
    for name, label in {"anna": "dent", "ben": "hole"}.items():
        labelme(tmp_path / name, name[0], label=label)
        drawing.put(tmp_path, f"{name}/labels.txt", f"crack\n{label}\n")
    names = plan_to_build(tmp_path, name="x").config.built_class_names
    assert [*names] == ["background", "crack", "dent", "hole"]
    drawing.put(tmp_path, "ben/labels.txt", "hole\ncrack\n")
    refused(tmp_path, "the label 'dent'|the label 'hole'", **NO_NAMES)


@pytest.mark.slow
def test_a_dataset_that_was_built_with_the_option_prefer_is_read_and_rebuilt(tmp_path):
    labelme(tmp_path / "set", "ab")
    builder = from_tree(tmp_path / "set", data_dir=tmp_path / "data")
    for path in builder.data_path.glob("*.json"):
        text = path.read_text()
        path.write_text(text.replace('"name": "mine"', '"name": "mine", "prefer": "anna"'))
    (builder.data_path / "SHA256SUMS").unlink()
    words = ["--data_dir", tmp_path / "data"]
    assert run_command("verify", "mine", "--source", tmp_path / "set", *words).status == 0
    ended = run_command(
        "build", tmp_path / "set", "--like", "mine", "--version", "1.0.1", "--dry_run", *words
    )
    assert ended.status == 0


# Real exports.


def copy_real(real_data, root, **folders):
    for name, export in folders.items():
        shutil.copytree(real_data / "producers" / export, root / name)
        (root / name / "PROVENANCE.txt").unlink(missing_ok=True)
    return root


REAL_EXPORTS = {
    "labelme": {"one": "labelme_new/semantic", "two": "labelme_old/semantic"},
    "roboflow": {"one": "roboflow_semantic/kainat", "two": "roboflow_semantic/dhcn"},
    "cvat": {"one": "cvat_real_kirchner", "two": "cvat_segmask_1.1/with_images"},
    "cvat with other colors": {
        "one": "cvat_pascalvoc_1.1",
        "two": "cvat_segmask_1.1/with_images",
    },
}


@pytest.mark.slow_but_first
@pytest.mark.parametrize("folders", REAL_EXPORTS.values(), ids=REAL_EXPORTS)
def test_real_exports_that_differ_are_never_read_together(real_data, tmp_path, folders):
    root = copy_real(real_data, tmp_path / "set", **folders)
    refused(root, "ways? to read|the same value and color of each class", **NO_NAMES)


def test_exports_that_number_the_same_names_otherwise_are_built_alone_by_names(tmp_path):
    plain(tmp_path / "anna", "ab", ["background", "apple", "tree"])
    plain(tmp_path / "ben", "cd", ["background", "tree", "apple"])
    question = refused(tmp_path, "ways to read", **NO_NAMES)
    option = "--class_names background,apple,tree"
    assert f"Build a dataset of each folder, each with {option}" in question
    lines = proposed(question)
    assert len(lines) == 2
    for (_, line), numbers in zip(lines, ([0, 1, 2], [0, 2, 1]), strict=True):
        for name, example in examples_of(tmp_path, **said_by(f"{line} {option}")).items():
            mask = mask_of(name.removesuffix(".jpg")[-1])
            stored = np.asarray(Image.open(io.BytesIO(example["segmentation_mask"])))
            np.testing.assert_array_equal(stored, np.array(numbers, np.uint8)[mask])


def test_exports_that_spell_a_class_otherwise_are_asked_without_that_advice(tmp_path):
    plain(tmp_path / "anna", "ab", ["background", "apple", "tree"])
    plain(tmp_path / "ben", "cd", ["background", "Apple", "tree"])
    question = refused(tmp_path, "ways to read", **NO_NAMES)
    assert "value 1 is 'Apple', but 'apple' in anna/" in question
    assert "Build a dataset of each" not in question
