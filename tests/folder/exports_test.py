"""Exports of several annotators in one folder are read as one set, or asked about."""

import io
import json
import pathlib
import re
import shlex
import shutil

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports
from support.building import build, files, from_tree
from support.command_line import run_command
from support.folders import examples_of, pasted, plan_of, proposed, refused, said_by

from voc_seg_tfrecord.audit.check import check_plan
from voc_seg_tfrecord.build_from.tree import describe, plan_to_build
from voc_seg_tfrecord.core.errors import ConfigError, ListError, VocSegError
from voc_seg_tfrecord.core.grouping import link_groups

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
    drawing.put_lists(root, **{name: ids})


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


@pytest.mark.parametrize("count", [2, 3])
@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_exports_with_class_files_that_agree_are_one_set(tmp_path, write, count):
    folders = dict(list(FOLDERS_AND_IDS.items())[:count])
    put_all(tmp_path, write, folders)
    plan = plan_to_build(tmp_path, name="x")
    assert {one.partition("/")[0] for ids in plan.splits.values() for one in ids} == {*folders}
    check_masks(tmp_path, "".join(folders.values()))
    assert not any("lass" in str(group.kind) for group in plan.unused)
    if write is roboflow:
        assert [len(ids) for ids in plan.splits.values()] == [count, count]


def test_exports_in_a_folder_of_their_own_are_found(tmp_path):
    put_all(tmp_path / "download" / "all", cvat)
    drawing.put(tmp_path, "download/README.md", "from CVAT")
    plan = plan_to_build(tmp_path, name="x")
    assert splits_of(plan) == {"train": ["anna/a", "anna/b", "ben/c", "ben/d", "cara/e", "cara/f"]}


def test_an_export_that_has_more_classes_adds_them(tmp_path):
    cvat(tmp_path / "anna", "ab", classes={**CLASSES, "zebra": (1, 2, 3)})
    cvat(tmp_path / "ben", "cd")
    names = plan_to_build(tmp_path, name="x").config.built_class_names
    assert sorted(names) == ["apple", "background", "tree", "zebra"]
    check_masks(tmp_path, "abcd")


def test_each_export_is_divided_by_its_own_lists(tmp_path):
    put_all(tmp_path, cvat, {"anna": "ab", "ben": "ab", "cara": "ef"}, photo="")
    for name in ("anna", "ben"):
        save_photo(tmp_path, f"{name}/JPEGImages/a.jpg", f"{name} a")
        save_photo(tmp_path, f"{name}/JPEGImages/b.jpg", f"{name} b")
        (tmp_path / name / "ImageSets/Segmentation/default.txt").unlink()
    for name, (train, val) in {"anna": "ab", "ben": "ba"}.items():
        put_list(tmp_path / name, train, "train")
        put_list(tmp_path / name, val, "val")
    assert splits_of(plan_to_build(tmp_path, name="x")) == {
        "train": ["anna/a", "ben/b", "cara/e", "cara/f"],
        "validation": ["anna/b", "ben/a"],
    }


def test_lists_of_an_export_may_name_its_masks(tmp_path):
    put_lists_of_two(tmp_path, {"train": "ab", "val": "cd"}, {"train": "cd", "val": "ab"})
    for name in ("anna", "ben"):
        for image_id in "abcd":
            mask = tmp_path / name / "masks" / f"{image_id}.png"
            mask.rename(mask.with_name(f"{image_id}_mask.png"))
        for split_list in (tmp_path / name).glob("*.txt"):
            if split_list.stem in ("train", "val"):
                ids = split_list.read_text().split()
                split_list.write_text("".join(f"{image_id}_mask.png\n" for image_id in ids))
    assert splits_of(plan_to_build(tmp_path, name="x")) == {
        "train": ["anna/a", "anna/b", "ben/c", "ben/d"],
        "validation": ["anna/c", "anna/d", "ben/a", "ben/b"],
    }


def test_an_export_without_lists_beside_others_is_asked_about(tmp_path):
    put_all(tmp_path, cvat, {"anna": "ab", "ben": "cd"})
    (tmp_path / "ben/ImageSets/Segmentation/default.txt").unlink()
    text = refused(tmp_path, "no list names those of ben", **NO_NAMES)
    counts = [count for count, _ in proposed(text)]
    assert counts == ["train 4", "train 2"]
    for count, options in proposed(text):
        plan = plan_of(tmp_path, **NO_NAMES, **said_by(shlex.join(pasted(options))))
        assert f"train {len(plan.splits['train'])}" == count


def put_lists_of_two(root, lists_of_anna, lists_of_ben):
    """Writes images of the same names, `a` to `d`, of two annotators, with lists of each."""
    for name, lists in {"anna": lists_of_anna, "ben": lists_of_ben}.items():
        plain(root / name, "abcd", ["background", "apple", "tree"])
        for image_id in "abcd":
            save_photo(root, f"{name}/images/{image_id}.jpg", f"{name} {image_id}")
        for split, ids in lists.items():
            drawing.put(root, f"{name}/{split}.txt", "".join(f"{one}\n" for one in ids))


def test_a_wrong_name_in_a_list_of_an_export_is_an_error_and_not_the_end_of_its_list(tmp_path):
    put_lists_of_two(tmp_path, {"train": "abx", "val": "cd"}, {"train": "ab", "val": "cd"})
    with pytest.raises(VocSegError, match=r"1 of .* ids ha.* no image|x"):
        from_tree(tmp_path)
    plan = plan_to_build(tmp_path, name="x", missing_image="skip")
    assert splits_of(plan) == {
        "train": ["anna/a", "anna/b", "ben/a", "ben/b"],
        "validation": ["anna/c", "anna/d", "ben/c", "ben/d"],
    }


def test_exports_that_train_on_splits_of_other_names_are_asked_about(tmp_path):
    put_lists_of_two(tmp_path, {"train": "ab", "val": "cd"}, {"trainval": "abc", "test": "d"})
    text = refused(tmp_path, "because anna has train and validation, ben has test and", **NO_NAMES)
    together, _ = proposed(text)
    plan = plan_of(tmp_path, **NO_NAMES, **said_by(shlex.join(pasted(together[1]))))
    assert splits_of(plan) == {
        "train": ["anna/a", "anna/b", "ben/a", "ben/b", "ben/c"],
        "validation": ["anna/c", "anna/d"],
        "test": ["ben/d"],
    }


def test_an_export_that_is_only_tested_on_is_no_question(tmp_path):
    put_lists_of_two(tmp_path, {"train": "abcd"}, {"test": "abcd"})
    assert {
        split: len(ids) for split, ids in splits_of(plan_to_build(tmp_path, name="x")).items()
    } == {
        "train": 4,
        "test": 4,
    }


def test_labels_in_another_order_are_one_class_by_their_colors_and_never_by_their_values(tmp_path):
    cvat(tmp_path / "anna", "ab", classes={**CLASSES, "aardvark": (9, 9, 9)})
    cvat(tmp_path / "ben", "cd")
    check_masks(tmp_path, "abcd")
    gray(tmp_path / "cara", "ef", names=("tree", "background", "apple"))
    put_list(tmp_path / "cara", "ef")
    with pytest.raises(VocSegError, match=r"SegmentationClass/e\.png"):
        from_tree(tmp_path)


OTHER_CLASSES = {
    "two colors": {**CLASSES, "apple": (9, 9, 9)},
    "another spelling": {"Background": (0, 0, 0), "Apple": (250, 50, 83), "tree": (51, 221, 255)},
}


@pytest.mark.parametrize("classes", OTHER_CLASSES.values(), ids=OTHER_CLASSES)
def test_a_class_of_two_colors_or_spellings_is_asked_about(tmp_path, classes):
    cvat(tmp_path / "anna", "ab")
    cvat(tmp_path / "ben", "cd", classes=classes)
    text = refused(tmp_path, "name the classes of several exports, because", **NO_NAMES)
    for _, together in proposed(text):
        check_masks(tmp_path, "abcd", **said_by(shlex.join(pasted(together))))
    check_alone(text, {"anna": 2, "ben": 2})


def test_a_value_that_means_two_classes_is_asked_about_and_never_one_of_them(tmp_path):
    roboflow(tmp_path / "anna", "abc")
    roboflow(tmp_path / "ben", "def", classes=("background", "tree", "apple"))
    text = refused(tmp_path, "because 'tree' has the value 2 in .* and 1 in", **NO_NAMES)
    assert not proposed(text)
    check_alone(text, {"anna": 3, "ben": 3})


def plain(root, ids, names):
    """Writes masks of the values 0 to 2, with a text that names these in their order."""
    drawing.put(root, "labels.txt", "".join(f"{name}\n" for name in names))
    for image_id in ids:
        save_photo(root, f"images/{image_id}.jpg")
        drawing.put_mask(root, f"masks/{image_id}.png", mask_of(image_id))


@pytest.mark.parametrize("first_is_void", [True, False])
def test_a_value_that_is_void_in_one_export_and_a_class_in_another_is_asked_about(
    tmp_path, first_is_void
):
    classes = (["background", "apple", "ignore"], ["background", "apple", "tree"])
    anna, ben = classes if first_is_void else classes[::-1]
    plain(tmp_path / "anna", "ab", anna)
    plain(tmp_path / "ben", "cd", ben)
    text = refused(tmp_path, "because the value 2 is .*void in", **NO_NAMES)
    assert not proposed(text)


def test_a_class_file_beside_exports_that_contradicts_one_of_them_is_asked_about(tmp_path):
    plain(tmp_path / "anna", "ab", ["background", "apple", "tree"])
    plain(tmp_path / "ben", "cd", ["background", "apple", "tree"])
    drawing.put(tmp_path, "labels.txt", "background\napple\ntree\n")
    check_masks(tmp_path, "abcd")
    drawing.put(tmp_path, "ben/labels.txt", "background\ntree\napple\n")
    refused(tmp_path, r"'tree' has the value 2 in labels\.txt and 1 in ben", **NO_NAMES)


def check_alone(text, count_by_export):
    """Checks that a question says how each export is built alone, and that it can be."""
    for name, count in count_by_export.items():
        (words,) = re.findall(rf"^    {name} alone: (voc-seg-tfrecord build .*)", text, re.M)
        folder = pasted(words)[2]
        assert len(masks_of(pathlib.Path(folder))) == count


def test_an_export_without_a_class_file_beside_others_is_refused(tmp_path):
    put_all(tmp_path, roboflow, {"anna": "abc", "ben": "def"})
    for path in tmp_path.glob("ben/*/_classes.csv"):
        path.unlink()
    text = refused(tmp_path, "no class file, and anna/train/_classes.csv", **NO_NAMES)
    command = re.search(r"cp .*", text)[0]
    source, target = shlex.split(command)[1:]
    drawing.put(tmp_path, f"{target}/_classes.csv", (tmp_path / source).read_bytes())
    check_masks(tmp_path, "abcdef")


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


SHARED = {"cvat": cvat, "labelme": labelme, "cvat_xml": cvat_xml}


@pytest.mark.parametrize("write", SHARED.values(), ids=SHARED)
def test_images_that_two_drew_are_asked_about_and_taken_as_the_answer_says(tmp_path, write):
    put_shared(tmp_path, write)
    text = refused(tmp_path, "choose a mask for 2 images that several exports", **NO_NAMES)
    counts = {command: count for count, command in proposed(text)}
    assert [*counts] == ["--prefer anna", "--prefer ben", "--prefer none"]
    for command, count in counts.items():
        masks = masks_of(tmp_path, **said_by(command))
        assert f"; {len(masks)} images" in count
        kept = {name.partition("/")[0] for name in masks if not name.endswith("z.jpg")}
        assert kept == ({"anna", "ben"} if "none" in command else {command.split()[1]})
    taken = masks_of(tmp_path, prefer="ben")
    both = masks_of(tmp_path, prefer="none")
    assert all((both[name] == mask).all() for name, mask in taken.items())


@pytest.mark.parametrize("command", ["check", "build"])
def test_commands_ask_the_same_and_take_the_option(tmp_path, command):
    root = put_shared(tmp_path / "set")
    words = [command, root] + (["--name", "x", "--dry_run"] if command == "build" else [])
    ended = run_command(*words)
    assert ended.status != 0
    assert "--prefer anna" in ended.text
    ended = run_command(*words, "--prefer", "anna")
    assert ended.status == 0
    assert "The mask of anna counts, so 2 examples of others are left out" in " ".join(
        ended.text.split()
    )


def test_same_files_under_other_names_are_one_image_and_other_photos_of_a_name_are_not(tmp_path):
    cvat(tmp_path / "anna", "ab")
    cvat(tmp_path / "ben", "ab", photo="another ", shift=4)
    check = plan_to_build(tmp_path, name="x")
    assert sum(map(len, check.splits.values())) == 4
    (tmp_path / "ben/JPEGImages/b.jpg").write_bytes(
        (tmp_path / "anna/JPEGImages/a.jpg").read_bytes()
    )
    refused(tmp_path, "1 image that several exports have, such as anna/a and ben/b", **NO_NAMES)


def test_a_picture_that_was_saved_again_under_its_name_is_one_image(tmp_path):
    put_shared(tmp_path)
    for name in "ab":
        path = tmp_path / f"ben/JPEGImages/{name}.jpg"
        Image.open(path).save(path, quality=60)
    refused(tmp_path, "2 images that several exports have", **NO_NAMES)


ORIGINAL = None
SAVED_AGAIN = {
    "the third": {"anna": ORIGINAL, "ben": ORIGINAL, "cara": 60},
    "the second and the third": {"anna": ORIGINAL, "ben": 75, "cara": 60},
    "two by one tool": {"anna": ORIGINAL, "ben": ORIGINAL, "cara": 60, "dan": 60},
    "but the first has other photos": {"ben": ORIGINAL, "cara": 60},
}
"""The quality with which annotators saved the photos again; one who is left out has others."""


def put_saved_again(root, quality_by_name):
    """Writes exports of the images a to f, whose masks differ.

    Returns the photo of each id: that of its name, or one of its own.
    """
    names = sorted({"anna", *quality_by_name})
    photo_by_id = {}
    for number, name in enumerate(names):
        has_other_photos = name not in quality_by_name
        cvat(root / name, "abcdef", shift=4 * number, photo="another " if has_other_photos else "")
        for image_id in "abcdef":
            own_id = f"{name}/{image_id}"
            photo_by_id[own_id] = own_id if has_other_photos else image_id
            if quality_by_name.get(name):
                path = root / name / f"JPEGImages/{image_id}.jpg"
                Image.open(path).save(path, quality=quality_by_name[name])
    return photo_by_id


@pytest.mark.parametrize("quality_by_name", SAVED_AGAIN.values(), ids=SAVED_AGAIN)
def test_photos_that_were_saved_again_by_some_of_several_are_in_one_split(
    tmp_path, quality_by_name
):
    photo_by_id = put_saved_again(tmp_path, quality_by_name)
    ratios = {"train": 0.5, "validation": 0.5}
    for seed in range(4):
        plan = plan_of(
            tmp_path, **NO_NAMES, prefer="none", splits=ratios, group_by="none", seed=seed
        )
        assert sum(map(len, plan.splits.values())) == len(photo_by_id)
        train, validation = (
            {photo_by_id[image_id] for image_id in ids} for ids in plan.splits.values()
        )
        assert not train & validation


@pytest.mark.parametrize("quality_by_name", SAVED_AGAIN.values(), ids=SAVED_AGAIN)
def test_photos_that_were_saved_again_by_some_of_several_have_one_preferred_mask(
    tmp_path, quality_by_name
):
    photo_by_id = put_saved_again(tmp_path, quality_by_name)
    first = min(quality_by_name)
    (ids,) = plan_of(tmp_path, **NO_NAMES, prefer=first).splits.values()
    photos = [photo_by_id[image_id] for image_id in ids]
    assert sorted(photos) == sorted({*photo_by_id.values()})
    assert {f"{first}/{name}" for name in "abcdef"} <= {*ids}


@pytest.mark.parametrize("quality_by_name", SAVED_AGAIN.values(), ids=SAVED_AGAIN)
def test_lists_that_divide_photos_that_were_saved_again_stop_the_build(tmp_path, quality_by_name):
    put_saved_again(tmp_path, quality_by_name)
    for name in {"anna", *quality_by_name}:
        (tmp_path / name / "ImageSets/Segmentation/default.txt").unlink()
        train, val = ("abcd", "ef") if name < "cara" else ("cdef", "ab")
        put_list(tmp_path / name, train, "train")
        put_list(tmp_path / name, val, "val")
    refused(tmp_path, "4 images in several splits", ListError, **NO_NAMES, prefer="none")


@pytest.mark.slow
def test_a_photo_under_another_name_and_one_that_was_saved_again_are_one_image(tmp_path):
    put_saved_again(tmp_path, {"anna": ORIGINAL, "ben": 60})
    cvat(tmp_path / "cara", "g", shift=8)
    photo = tmp_path / "anna/JPEGImages/a.jpg"
    shutil.copy(photo, tmp_path / "cara/JPEGImages/g.jpg")
    refused(tmp_path, "6 images that several exports have, such as anna/a and ben/a and cara/g")
    # Ben's own folder has the photo twice, so one of the two is no part of the image.
    cvat(tmp_path / "ben", "abcdefz", shift=4)
    for image_id in "abcdef":
        path = tmp_path / f"ben/JPEGImages/{image_id}.jpg"
        Image.open(path).save(path, quality=60)
    shutil.copy(photo, tmp_path / "ben/JPEGImages/z.jpg")
    refused(tmp_path, "6 images that several exports have, such as anna/a and ben/z and cara/g")


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
    assert not plan.division.evidence.shared_images


def test_images_of_one_color_are_no_photo_that_two_drew(tmp_path):
    put_shared(tmp_path)
    for path in tmp_path.glob("*/JPEGImages/*"):
        with Image.open(path) as photo:
            size = photo.size
        Image.new("RGB", size).save(path)
    assert sum(map(len, plan_of(tmp_path, **NO_NAMES).splits.values())) == 5


def test_the_same_masks_are_no_question_but_for_ratios(tmp_path):
    put_shared(tmp_path, shift=0)
    cvat(tmp_path / "anna", "aby")
    plan = plan_to_build(tmp_path, name="x")
    assert "each is an example with its own mask" in describe(plan)
    ratios = {"splits": {"train": 0.5, "validation": 0.5}, "group_by": "none"}
    refused(tmp_path, "choose a mask", **NO_NAMES, **ratios)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize("split_by", ["hash", "stratified"])
def test_ratios_never_divide_the_masks_of_one_image(tmp_path, seed, split_by):
    put_shared(tmp_path, ids="abcdef")
    plan = plan_to_build(
        tmp_path,
        name="x",
        prefer="none",
        splits={"train": 0.5, "validation": 0.5},
        group_by="none",
        split_by=split_by,
        seed=seed,
    )
    split_by_id = {one: split for split, ids in plan.splits.items() for one in ids}
    assert len(split_by_id) == 13
    assert all(split_by_id[f"anna/{name}"] == split_by_id[f"ben/{name}"] for name in "abcdef")


def test_lists_that_divide_the_masks_of_one_image_stop_the_build(tmp_path):
    put_shared(tmp_path)
    for name, (train, val) in {"anna": "ab", "ben": "ba"}.items():
        (tmp_path / name / "ImageSets/Segmentation/default.txt").unlink()
        put_list(tmp_path / name, [train], "train")
        put_list(tmp_path / name, [val], "val")
    words = r"2 images in several splits, such as anna/a \(train\) and ben/a \(validation\)"
    refused(tmp_path, words, ListError, **NO_NAMES, prefer="none")
    plan = plan_of(tmp_path, **NO_NAMES, prefer="anna")
    assert splits_of(plan) == {"train": ["anna/a"], "validation": ["anna/b"]}


def test_a_preferred_mask_in_no_split_gives_way_to_one_in_a_split(tmp_path):
    put_shared(tmp_path)
    put_list(tmp_path / "anna", "a")
    plan = plan_of(tmp_path, **NO_NAMES, prefer="anna")
    assert splits_of(plan) == {"train": ["anna/a", "ben/b", "ben/z"]}


@pytest.mark.parametrize(
    ("listed", "words"),
    [
        ("abz", "The mask of anna counts, so 2 examples of others are left out."),
        ("az", "The mask of anna counts, so 1 example of others is left out."),
        ("z", "The mask of anna counts, and no split has another one."),
    ],
)
def test_masks_that_no_list_names_are_not_counted_as_left_out(tmp_path, listed, words):
    put_shared(tmp_path)
    put_list(tmp_path / "ben", listed)
    plan = plan_to_build(tmp_path, name="x", prefer="anna")
    assert splits_of(plan) == {"train": ["anna/a", "anna/b", "ben/z"]}
    assert words in " ".join(describe(plan).split())
    assert "image in no split" not in {finding.kind for finding in check_plan(plan).findings}


def test_three_annotators_are_preferred_in_order(tmp_path):
    cvat(tmp_path / "anna", "a")
    cvat(tmp_path / "ben", "ab", shift=4)
    cvat(tmp_path / "cara", "bc", shift=8)
    text = refused(tmp_path, "choose a mask for 2 images", **NO_NAMES)
    assert [command for _, command in proposed(text)] == [
        "--prefer anna,ben",
        "--prefer ben",
        "--prefer cara,anna",
        "--prefer none",
    ]
    plan = plan_of(tmp_path, **NO_NAMES, prefer="cara,anna")
    assert splits_of(plan) == {"train": ["anna/a", "cara/b", "cara/c"]}


def test_a_preference_that_has_no_effect_yet_is_noted(tmp_path):
    put_all(tmp_path, cvat)
    text = describe(plan_to_build(tmp_path, name="x", prefer="anna"))
    assert "No image is in several exports, so --prefer anna has no effect." in text


@pytest.mark.parametrize(
    ("prefer", "words"), [("bne", "did you mean 'ben'"), ("anna,anna", "each once")]
)
def test_a_preference_for_no_export_is_refused(tmp_path, prefer, words):
    put_shared(tmp_path)
    refused(tmp_path, words, ConfigError, **NO_NAMES, prefer=prefer)


def test_a_preference_without_exports_is_refused(tmp_path):
    cvat(tmp_path, "ab")
    refused(tmp_path, "no such option", ConfigError, **NO_NAMES, prefer="anna")


def test_spellings_of_two_annotators_are_asked_about(tmp_path):
    labelme(tmp_path / "anna", "ab")
    labelme(tmp_path / "ben", "cd", label="Apple")
    text = refused(tmp_path, "which differ in spelling alone", **NO_NAMES)
    names = [
        {*plan_to_build(tmp_path, name="x", **said_by(options)).config.built_class_names}
        for _, options in proposed(text)
    ]
    assert names == [
        {"background", "Apple"},
        {"background", "apple"},
        {"background", "Apple", "apple"},
    ]


def test_check_says_how_far_annotators_agree_the_worst_first(tmp_path):
    labelme(tmp_path / "anna", "abc")
    for image_id, shift in zip("abc", (10, 0, 5), strict=True):
        labelme(tmp_path / "ben", image_id, shift=shift)
    report = check_plan(plan_to_build(tmp_path, name="x", prefer="anna"))
    found = {finding.kind: finding for finding in report.findings}
    by_image = [f for f in report.findings if f.kind == "drawn twice, with other masks"]
    assert [finding.ids for finding in by_image] == [("anna/a", "ben/a"), ("anna/c", "ben/c")]
    # Boxes of 21 x 17 pixels, of which ben's are 10 and 5 pixels to the right.
    assert by_image[0].message.endswith(f"IoU {11 / 31:.2f} (apple {11 / 31:.2f})")
    assert by_image[1].message.endswith(f"IoU {16 / 26:.2f} (apple {16 / 26:.2f})")
    total = (11 + 21 + 16) / (31 + 21 + 26)
    assert found["agreement of annotators"].message == (
        f"anna and ben both drew 3 images: IoU {total:.2f} (apple {total:.2f})"
    )
    assert "same image, other mask" not in found
    assert "image in no split" not in found


def test_check_shows_the_agreement_before_the_question_is_answered(tmp_path):
    root = put_shared(tmp_path / "set")
    ended = run_command("check", root, "--html", tmp_path / "page.html")
    assert ended.status == 1
    assert "anna and ben both drew 2 images: IoU" in ended.output
    assert "drawn twice, with other masks" in ended.output
    assert "Drawn twice, with other masks" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
@pytest.mark.parametrize("prefer", ["ben", "none"])
def test_verify_diff_and_tfds_read_exports_as_the_build_did(tmp_path, prefer):
    root = put_shared(tmp_path / "set")
    builder = from_tree(root, data_dir=tmp_path / "data", prefer=prefer)
    words = ["--data_dir", tmp_path / "data"]
    assert run_command("verify", "mine", "--source", root, *words).status == 0
    ended = run_command("diff", "mine", f"{root}/", *words)
    assert ended.status == 0
    assert "added" not in ended.output.partition("unusable")[2]
    config = plan_to_build(root, name="mine", prefer=prefer).config
    assert files(build(tmp_path / "again", config, root)) == files(builder)


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
    text = refused(tmp_path, "choose the shapes of 3 images that several annotators", **NO_NAMES)
    assert [command for _, command in proposed(text)] == ["--prefer anna", "--prefer ben"]
    masks = {name: masks_of(tmp_path, prefer=name) for name in ("anna", "ben")}
    assert [len(found) for found in masks.values()] == [4, 4]
    for name in ("a.jpg", "b.jpg", "c.jpg"):
        np.testing.assert_array_equal(np.roll(masks["anna"][name], 4, 1), masks["ben"][name])
    np.testing.assert_array_equal(masks["anna"]["z.jpg"], masks["ben"]["z.jpg"])
    report = check_plan(plan_to_build(tmp_path, name="x", prefer="ben"))
    found = [f.message for f in report.findings if "drawn by anna and by ben" in f.message]
    assert len(found) == 3
    iou = {labelme: 17 / 25, cvat_xml: 16 / 24}[write]  # labelme's polygons have their edges, too
    assert found[0].endswith(f"IoU {iou:.2f} (apple {iou:.2f})")
    refused(tmp_path, "an image file has one mask", ConfigError, prefer="none", **NO_NAMES)


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


# Real exports.


def copy_real(real_data, root, **folders):
    for name, export in folders.items():
        shutil.copytree(real_data / "producers" / export, root / name)
        (root / name / "PROVENANCE.txt").unlink(missing_ok=True)
    return root


@pytest.mark.slow
def test_real_exports_of_cvat_with_other_colors_are_united_by_the_proposed_table(
    real_data, tmp_path
):
    root = copy_real(
        real_data, tmp_path / "set", anna="cvat_pascalvoc_1.1", ben="cvat_segmask_1.1/with_images"
    )
    refused(root, "choose a mask for 3 images", **NO_NAMES)
    text = refused(root, "name the classes of several exports, because", prefer="anna", **NO_NAMES)
    table = said_by(shlex.join(pasted(proposed(text)[0][1])))
    table.pop("prefer", None)
    plan = plan_to_build(root, name="x", prefer="anna", **table)
    assert sorted(plan.config.built_class_names) == ["apple", "background", "person", "tree"]
    findings = check_plan(plan).findings
    (agreement,) = [f.message for f in findings if f.kind == "agreement of annotators"]
    assert re.search(r"both drew \d images: IoU 1.00", agreement)


REAL_EXPORTS = {
    "labelme": (
        {"one": "labelme_new/semantic", "two": "labelme_old/semantic"},
        "choose a mask for 1 image that several exports have",
    ),
    "roboflow": (
        {"one": "roboflow_semantic/kainat", "two": "roboflow_semantic/dhcn"},
        "the value 1 is 'Car' in one/train/_classes.csv and 'cabinet' in two",
    ),
    "cvat": (
        {"one": "cvat_real_kirchner", "two": "cvat_segmask_1.1/with_images"},
        "the color 250,50,83 is 'tool' in one/labelmap.txt and 'apple' in two/labelmap.txt",
    ),
}


@pytest.mark.parametrize(("folders", "words"), REAL_EXPORTS.values(), ids=REAL_EXPORTS)
def test_real_exports_that_differ_are_asked_about(real_data, tmp_path, folders, words):
    root = copy_real(real_data, tmp_path / "set", **folders)
    refused(root, words, **NO_NAMES)
