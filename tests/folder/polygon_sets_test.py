"""Folders of photos and polygons, built as folders of masks are."""

import base64
import functools
import hashlib
import io
import json
import os
import re
import shlex
import shutil
import tracemalloc

from apache_beam.options import pipeline_options
import numpy as np
from PIL import Image, ImageDraw
import pytest
from support import drawing, folders
from support.building import build, examples, from_tree
from support.streets import write_street

from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.class_entries import ClassEntry
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    ListError,
    MaskError,
    SplitError,
    VocSegError,
)
from voc_seg_tfrecord.tools.registry import SHAPE_TOOLS
from voc_seg_tfrecord.tools.shape_classes import number_names

pytest.importorskip("pycocotools")

MANY = [f"c{n}" for n in range(21)]  # names for the values of `write_masks`
TOOLS = {tool.name.lower(): tool for tool in SHAPE_TOOLS}
SIZE = 64, 48


@pytest.fixture
def street(tmp_path):
    def write(tool, name="street"):
        return write_street(tool, tmp_path / name)

    return write


SQUARE = "0 0.1 0.1 0.5 0.1 0.5 0.5\n"


def drawn(labels, *shapes):
    """Draws polygons in order, as labelme does: uint8 `[H, W]`."""
    mask = Image.new("L", SIZE)
    for label, points in shapes:
        ImageDraw.Draw(mask).polygon([tuple(p) for p in points], labels[label], labels[label])
    return np.array(mask)


def shapes_of(path):
    return [(s["label"], s["points"]) for s in json.loads(path.read_text())["shapes"]]


refused = functools.partial(folders.refused, class_names=None)


def notes(root, **options):
    return describe(plan_to_build(root, name="street", **options))


def change(path, **fields):
    path.write_text(json.dumps(json.loads(path.read_text()) | fields))


def replace(path, old, new):
    path.write_text(path.read_text().replace(old, new))


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
@pytest.mark.parametrize("tool", TOOLS)
def test_a_folder_of_polygons_builds_with_one_call_and_is_verified(street, tmp_path, tool, workers):
    root = street(tool)
    builder = from_tree(root, data_dir=tmp_path, instance_mask=True, workers=workers)
    names = tuple(builder.info.features["segmentation_mask"].names)
    class_list = TOOLS[tool].class_list
    is_sorted = class_list and not [*root.rglob(class_list.name)]
    order = ("car", "road", "tree") if is_sorted else ("road", "tree", "car")
    assert names == ("background", *order)
    has_splits = tool not in ("labelme", "supervisely")
    splits = {"train": 3, "validation": 1} if has_splits else {"train": 4}
    assert {s: i.num_examples for s, i in builder.info.splits.items()} == splits
    for split in splits:
        for example in examples(builder, split).values():
            mask, objects = example["segmentation_mask"], example["instance_mask"]
            assert len({*zip(mask.ravel().tolist(), objects.ravel().tolist(), strict=True)}) == 4
            assert set(np.unique(objects)) == {0, 1, 2, 3}
    words = ["verify", "voc_seg_tfrecord/mine", "--data_dir", str(tmp_path), "--source", str(root)]
    assert cli.main(words) == 0


@pytest.mark.slow
def test_the_same_on_beam(street, tmp_path):
    root = street("coco")
    first = from_tree(root)
    config = plan_to_build(root, name="street").config
    flags = ["--runner=DirectRunner", "--direct_running_mode=in_memory"]
    options = pipeline_options.PipelineOptions(flags=flags)
    second = build(tmp_path / "b", config, root, beam_options=options)
    for split in ("train", "validation"):
        for name, example in examples(first, split).items():
            other = examples(second, split)[name]
            np.testing.assert_array_equal(example["segmentation_mask"], other["segmentation_mask"])


def test_what_was_counted_of_a_drawn_mask_goes_with_its_bytes(street):
    tree = plan_to_build(street("coco"), name="street").tree
    for image_id in tree.masks:
        raw = tree.items()[image_id].read()
        assert raw.surveyed.sha256 == hashlib.sha256(raw.mask.data).hexdigest()


def test_two_images_of_one_id_without_polygons_are_refused_and_with_polygons_are_told_apart(street):
    root = street("labelme")
    Image.open(root / "street_1.jpg").rotate(90).save(root / "street_1.png")
    options = {"class_names": None, "missing_mask": "background"}
    plan = folders.plan_of(root, **options)
    assert root / "street_1.jpg" in folders.pairs_of(plan)["train"]  # which the polygons name
    (root / "street_1.json").unlink()
    with pytest.raises(SplitError, match=r"2 files for one id: street_1\.jpg and street_1\.png"):
        folders.pairs_of(folders.plan_of(root, **options))


def test_class_names_choose_the_order(street):
    names = ["background", "tree", "road", "car"]
    plan = plan_to_build(street("labelme"), name="street", class_names=names)
    assert {1, 2, 3} <= plan.mask_rule.values.keys()
    assert [plan.mask_rule.values[value] for value in (1, 2, 3)] == [3, 2, 1]


@pytest.mark.parametrize("objects", [False, True])
def test_masks_of_labelme_are_those_of_its_shapes_in_order_where_void_is_255(street, objects):
    root = street("labelme")
    replace(root / "street_1.json", '"tree"', '"__ignore__"')
    labels = {"car": 1, "road": 2, "tree": 3, "__ignore__": 255}
    found = examples(from_tree(root, instance_mask=objects), "train")
    assert len(found) == 4
    for name, example in found.items():
        expected = drawn(labels, *shapes_of((root / name).with_suffix(".json")))
        np.testing.assert_array_equal(example["segmentation_mask"][..., 0], expected)
        if objects:
            np.testing.assert_array_equal(example["instance_mask"][..., 0] == 255, expected == 255)
        assert (expected == 255).any() == (name == "street_1.jpg")


def nothing(root):
    """Leaves a folder as it is."""


def removed(name):
    return lambda root: (root / name).unlink()


def written(name, text):
    return lambda root: (root / name).write_text(text)


def changed(name, **fields):
    return lambda root: change(root / name, **fields)


def replaced(name, old, new):
    return lambda root: replace(root / name, old, new)


def labelme_apart(root):
    for name in ("photos", "polygons"):
        (root / name).mkdir()
    for path in [*root.glob("*.jpg"), *root.glob("*.json")]:
        path.rename(root / ("photos" if path.suffix == ".jpg" else "polygons") / path.name)
    for path in (root / "polygons").iterdir():
        change(path, imagePath=f"..\\photos\\{path.stem}.jpg")


def boxes(root):
    corners = {"label": "car", "points": [[1, 1], [9, 9]], "shape_type": "rectangle"}
    spot = {"label": "car", "points": [[20, 20]], "shape_type": "point"}
    change(root / "street_1.json", shapes=[corners, spot, spot])


def yolo_without_labels(root):
    labels = root / "labels" / "train"
    (labels / "street_1.txt").unlink()
    (labels / "street_2.txt").write_text("\n")
    (labels / "street_3.txt").write_text("9 0 0 1 1 0 1\n")  # stops a build


def as_roboflow_writes(root):
    for split, name in (("train", "train"), ("val", "valid")):
        for kind in ("images", "labels"):
            (root / name).mkdir(exist_ok=True)
            (root / kind / split).rename(root / name / kind)


def coco_with_one_folder(root):
    (root / "images").mkdir()
    for path in root.glob("*/*.jpg"):
        path.rename(root / "images" / path.name)


def keypoints(root):
    data = json.loads((root / "annotations" / "instances_val.json").read_text())
    data["categories"][0]["keypoints"] = ["nose"]
    (root / "annotations" / "person_keypoints_val.json").write_text(json.dumps(data))


def keypoints_alone(root):
    for path in root.glob("annotations/*.json"):
        data = json.loads(path.read_text())
        data["categories"][0]["keypoints"] = ["nose"]
        path.write_text(json.dumps(data))


def points_of_cvat(root):
    spots = '<points label="car" points="1,1"/>' * 2
    path = root / "annotations.xml"
    path.write_text(path.read_text().replace("</image>", f"{spots}</image>", 1))


def write_masks(root, *, wrong=0):
    (root / "masks").mkdir()
    for path in root.glob("street_*.json"):
        mask = drawn({"car": 9, "road": 3, "tree": 20}, *shapes_of(path))
        mask[0, :wrong] = 3
        Image.fromarray(mask).save(root / "masks" / f"{path.stem}.png")


def masks_beside_texts(root):
    write_masks(root)
    for path in root.glob("*.json"):
        path.unlink()
        path.with_suffix(".txt").write_text("0 0.1 0.1 0.2 0.2 0.1 0.2\n")


def list_of_names_alone(root):
    list_of_names(root)
    (root / "data.yaml").unlink()


list_of_names = written("classes.txt", "road\ntree\ncar\n")
labels = written("labels.txt", "__ignore__\n_background_\ntree\nbus\nroad\ncar\n")
other_labels = written("labels.txt", "wheat\nmaize\n")
other_ending = changed("street_1.json", imagePath="street_1.png")
elsewhere = changed("street_1.json", imagePath="IMG_0001.JPG")
in_two_cases = replaced("street_2.json", '"car"', '"Car "')
gone = removed("train/street_1.jpg")

# Tool, what is changed in its folder, and what is said then; what stands behind `!` is not.
TOLD = [
    ("labelme", nothing, "masks:            4 drawn from the polygons of labelme"),
    (
        "labelme",
        nothing,
        "labelme does not number classes: they are sorted by name, unless --class_names is given.",
    ),
    (
        "labelme",
        nothing,
        "516 pixels in shapes of several classes. The later one in the file lies above",
    ),
    ("labelme", labelme_apart, "images:           4 in photos\nmasks:            4 drawn"),
    ("labelme", removed("street_1.json"), "3 of 4 ids, all images; 1 left out, without a mask"),
    ("labelme", elsewhere, "such as IMG_0001.JPG, read from street_1.jpg."),
    (
        "labelme",
        boxes,
        "1 shape drawn as a box. If its object does not fill it, draw an outline.",
    ),
    ("labelme", boxes, "2 points drawn as a disc with a radius of 5 pixels."),
    ("labelme", in_two_cases, "Car and car are classes that differ only in spelling."),
    ("labelme", written("street_2.json", ""), "street_2.json is not labelme's."),
    ("labelme", labels, "5 from labels.txt: 0 _background_, 1 tree, 2 bus, 3 road, 4 car"),
    ("labelme", labels, "!sorted by name"),
    ("labelme", other_labels, "0 background, 1 car, 2 road, 3 tree"),
    (
        "labelme",
        other_labels,
        "labels.txt has none of the labels, so it does not number the classes.",
    ),
    ("labelme", other_ending, "!other places"),
    ("labelme", write_masks, "masks:            4 in masks"),
    ("labelme", write_masks, "The masks are read. labelme's polygons have the same pixels."),
    (
        "labelme",
        masks_beside_texts,
        "street_1.txt is not read: polygons of YOLO, without a file that",
    ),
    ("yolo", list_of_names, "0 background, 1 road, 2 tree, 3 car"),
    ("yolo", list_of_names_alone, "0 background, 1 road, 2 tree, 3 car"),
    ("yolo", yolo_without_labels, "2 images without a shape: background everywhere."),
    ("yolo", as_roboflow_writes, "split train:      3 ids"),
    ("yolo", as_roboflow_writes, "split validation: 1 id"),
    ("coco", coco_with_one_folder, "images:           4 in images"),
    ("coco", coco_with_one_folder, "split train:      3 ids, annotations/instances_train.json"),
    ("coco", coco_with_one_folder, "split validation: 1 id"),
    ("coco", keypoints, "person_keypoints_val.json is not read: keypoints."),
    ("coco", keypoints_alone, "split train:      3 ids, annotations/instances_train.json"),
    ("coco", keypoints_alone, "!not read"),
    ("cvat", points_of_cvat, "2 shapes of the kind points, which is not drawn."),
    ("cvat", gone, "1 image is in CVAT's files and not here: train/street_1.jpg."),
]


@pytest.mark.parametrize(("tool", "edit", "text"), TOLD)
def test_what_is_left_out_added_or_drawn_in_a_certain_way_is_said(street, tool, edit, text):
    root = street(tool)
    edit(root)
    names = {"class_names": MANY} if (root / "masks").exists() else {}
    assert (text.strip("!") in notes(root, **names)) != text.startswith("!")


def boxes_alone(root):
    for path in (root / "annotations").iterdir():
        shapes = json.loads(path.read_text())["annotations"]
        change(path, annotations=[shape | {"segmentation": []} for shape in shapes])


def no_images(root):
    for split in ("train", "val"):
        shutil.rmtree(root / split)


def two_lists_of_names(root):
    list_of_names(root)
    (root / "data.yaml").write_text("names: [car, road, tree]\n")


renamed = changed("street_1.json", imagePath="street_2.jpg")
with_control_character = replaced("street_1.json", '"tree"', '"tr\\u0007ee"')
without_a_name = written("data.yaml", "names: {0: road, 2: car}\n")


def with_a_box(root):
    with (root / "labels" / "train" / "street_2.txt").open("a") as file:
        file.write("\n1 0.5 0.5 0.5 0.6\n")


def with_a_wrong_number_of_classes(root):
    drawing.put(root, "data.yaml", "nc: 3\nnames: [car, road]\n")
    drawing.put(root, "classes.txt", "road\ncar\n")


def cut_short(root):
    os.truncate(path := root / "street_2.json", path.stat().st_size - 9)


wider = changed("street_2.json", imageWidth=80)
huge = changed("street_2.json", imageWidth=900_000, imageHeight=900_000)


# Tool, what is changed in its folder, and the error: of a plan, or of shapes that cannot be drawn.
REFUSED = [
    ("labelme", renamed, VocSegError, r"street_2\.jpg, and street_1\.jpg has the name of the file"),
    ("labelme", with_control_character, ConfigError, "names without control characters"),
    ("yolo", removed("data.yaml"), LayoutError, "without a file that names their classes"),
    ("yolo", with_a_wrong_number_of_classes, LayoutError, r"data\.yaml"),
    ("yolo", two_lists_of_names, LayoutError, r"2 files that name their classes classes\.txt and"),
    ("yolo", without_a_name, LayoutError, r"data\.yaml: no '1'"),
    ("coco", boxes_alone, VocSegError, "boxes alone"),
    ("cvat", no_images, LayoutError, r"annotations\.xml, but no image train/street_1\.jpg"),
    ("yolo", with_a_box, SplitError, r"street_2\.txt, line 4: a box"),
    ("labelme", wider, SplitError, r"street_2\.json, image street_2\.jpg: mask of 80 x 48"),
    ("labelme", huge, SplitError, "900000 x 900000 pixels for the image"),
    ("labelme", cut_short, SplitError, r"street_2\.json"),
]


@pytest.mark.parametrize(("tool", "edit", "error", "words"), REFUSED)
def test_polygons_that_cannot_be_used_stop_the_build(street, tool, edit, error, words):
    root = street(tool)
    edit(root)
    with pytest.raises(error, match=words):
        from_tree(root)
    assert cli.main(["check", str(root)]) == (2 if error is ConfigError else 1)


def rotated(path, orientation=6):
    image = Image.open(path)
    exif = image.getexif()
    exif[274] = orientation
    image.rotate(90, expand=True).save(path, exif=exif)


def test_an_image_is_rotated_as_its_tool_showed_it_or_as_the_user_says(street, tmp_path):
    root = street("labelme", "other")
    rotated(root / "street_1.jpg")
    assert examples(from_tree(root), "train")["street_1.jpg"]["image"].shape == (48, 64, 3)
    root = street("yolo")
    rotated(root / "images" / "train" / "street_1.jpg")
    with pytest.raises(SplitError, match="give --exif apply"):
        from_tree(root)
    for exif, shape in (("apply", (48, 64)), ("ignore", (64, 48))):
        found = examples(from_tree(root, data_dir=tmp_path / exif, exif=exif), "train")
        assert found["train/street_1.jpg"]["segmentation_mask"].shape[:2] == shape


def test_two_files_with_other_shapes_of_their_images_are_asked_about(street):
    root = street("coco")
    data = json.loads((root / "annotations" / "instances_val.json").read_text())
    text = json.dumps(data | {"annotations": data["annotations"][:1]})
    (root / "annotations" / "other_val.json").write_text(text)
    refused(
        root,
        "1 image .validation 1.; 3 images left out: --masks annotations/other_val.json",
    )
    assert "images:           1 in val" in notes(root, masks="annotations/instances_val.json")


def test_polygons_of_two_tools_are_asked_about_and_chosen_with_one_option(street):
    root = street("coco")
    shutil.copy(street("cvat", "other") / "annotations.xml", root)
    refused(root, "polygons of several tools\n    2 ways to read the labels:\n    CVAT's")
    assert "polygons of CVAT" in notes(root, masks="annotations.xml")
    root = street("labelme", "third")
    coco_file(root / "all.json", "street_1.jpg")
    refused(root, r"--masks all\.json\n    labelme's .*: --mask_name '\{id")
    assert "4 drawn from the polygons of labelme" in notes(root, mask_name="{id}.json")
    assert "1 drawn from the polygons of COCO" in notes(root, masks="all.json")


def test_a_folder_of_polygons_is_chosen_beside_masks(tmp_path):
    root = photos(tmp_path, "images/a.jpg", "images/b.jpg", "masks/a.png", "masks/b.png")
    for name, image in (("train", "a.jpg"), ("val", "b.jpg")):
        coco_file(root / "annotations" / f"{name}.json", image)
    text = notes(root, masks="annotations")
    assert "2 drawn from the polygons of COCO" in text
    assert "split validation: 1 id, annotations/val.json" in text


def test_masks_with_other_pixels_than_the_polygons_are_asked_about(street):
    root = street("labelme")
    write_masks(root, wrong=1)
    assert "street_1.jpg" in refused(root, r": --masks masks .*\n    labelme's .*: --mask_name")
    assert "labelme" in notes(root, mask_name="{id}.json")
    text = notes(root, masks="masks", class_names=MANY)
    assert "4 in masks" in text
    assert "4 annotation files of one image each, such as street_1.json" in text


@pytest.mark.parametrize("pattern", ["{id}_mask", "{id}_mask.png"])
def test_a_pattern_of_masks_is_obeyed_beside_polygons(street, pattern):
    root = street("labelme")
    refused(root, "no masks among", mask_name=pattern)
    for path in root.glob("*.json"):
        drawing.put_mask(root, f"{path.stem}_mask.png", np.ones(SIZE[::-1], np.uint8))
    text = notes(root, mask_name=pattern, class_names=MANY)
    assert "masks:            4 in the folder itself, " in text
    assert "drawn" not in text


@pytest.mark.parametrize("tool", TOOLS)
def test_splits_by_class_read_the_drawn_masks(street, tool):
    root = street(tool)
    options = {"splits": {"train": 0.5, "validation": 0.5}, "split_by": "stratified"}
    plan = plan_to_build(root, name="street", **options)
    assert [len(ids) for ids in plan.splits.values()] == [2, 2]
    if tool == "labelme":
        for name in ("street_1", "street_2"):
            replace(root / f"{name}.json", '"tree"', '"car"')
        plan = plan_to_build(root, name="street", **options)
        with_tree = {"street_3", "street_4"}
        assert [len(with_tree & {*ids}) for ids in plan.splits.values()] == [1, 1]


@pytest.mark.slow
def test_the_page_of_a_check_is_written(street, tmp_path):
    root = street("labelme")
    change(root / "street_1.json", shapes=[])
    assert cli.main(["check", str(root), "--html", str(tmp_path / "a.html")]) == 0
    assert (tmp_path / "a.html").stat().st_size > 10_000


FORMS_OF_PATHS = ["{}", "..\\imgs\\{}", "C:\\d\\{}", "/home/x/{}", "../imgs/{}", "file:///d/{}"]


OTHER_SPELLINGS = ["street_2.png", "street_2.JPG", "Street_2.jpg", " street_2.jpg "]
OTHER_SPELLINGS += ["C:street_2.jpg", "file:street_2.jpg", "file:///D:/x/street%5f2.jpg"]
OTHER_SPELLINGS += ["imgs/street%5F2.jpg", "\u200bstreet_2.jpg", "street_2\\", "street_2.png.jpg"]


@pytest.mark.parametrize("name", OTHER_SPELLINGS)
def test_a_file_that_names_another_image_by_another_ending_or_spelling_is_an_error(street, name):
    root = street("labelme")
    change(root / "street_1.json", imagePath=name)
    refused(root, r"street_1\.json: the shapes of .*treet(_|%5[fF])2", MaskError)


@pytest.mark.parametrize("apart", [False, True], ids=["beside", "in a folder"])
@pytest.mark.parametrize("form", FORMS_OF_PATHS)
def test_a_file_that_names_another_image_of_the_folder_is_an_error_however_it_names_it(
    street, form, apart
):
    root = street("labelme")
    if apart:
        labelme_apart(root)
    path = root / ("polygons" if apart else ".") / "street_1.json"
    change(path, imagePath=form.format("street_2.jpg"))
    refused(root, r"street_1\.json: the shapes of .*street_2\.jpg, and .*street_1\.jpg", MaskError)


@pytest.mark.parametrize("form", FORMS_OF_PATHS)
def test_a_file_that_was_renamed_with_its_image_means_that_image(street, form):
    root = street("labelme")
    for number in range(1, 5):
        change(root / f"street_{number}.json", imagePath=form.format(f"IMG_{number}.jpg"))
    assert "4 drawn from the polygons of labelme" in notes(root)
    assert sizes_of_shapes(root).keys() == {f"street_{number}.jpg" for number in range(1, 5)}


def moved_inside(photo, **fields):
    content = photo.read_bytes()
    data = base64.b64encode(content).decode()
    change(photo.with_suffix(".json"), imageData=data, **fields)
    photo.unlink()
    return content


@pytest.mark.parametrize("name", ["", "C:\\work\\photo 1"])
def test_an_image_in_labelmes_file_is_called_as_the_file_if_no_ending_is_said(street, name):
    root = street("labelme")
    photo = root / "street_1.jpg"
    content = moved_inside(photo, imagePath=name)
    plan = plan_to_build(root, name="street")
    (pair,) = plan.items.of_split("train", ["street_1"])
    assert (pair.filename, pair.read().image.data) == ("street_1.jpg", content)


@pytest.mark.slow
def test_images_that_only_labelmes_files_hold_are_built_from_them(street):
    root = street("labelme")
    other = street("labelme", "other")
    for photo in root.glob("*.jpg"):
        moved_inside(photo)
    first, second = (examples(from_tree(of, workers=2), "train") for of in (root, other))
    assert first.keys() == second.keys()
    for name, example in first.items():
        for feature in ("image", "segmentation_mask"):
            np.testing.assert_array_equal(example[feature], second[name][feature])
    words = ["--data_dir", str(root.with_name(f"{root.name}.data")), "--source", str(root)]
    assert cli.main(["verify", "voc_seg_tfrecord/mine", *words]) == 0
    assert cli.main(["check", str(root)]) == 0


def test_the_table_of_classes_has_their_names(street, tmp_path, capsys):
    root = street("labelme")
    table = tmp_path / "classes.csv"
    assert cli.main(["check", str(root), "--write_classes", str(table)]) == 0
    assert table.read_text().splitlines()[:3] == [
        "name,class,pixels,masks",
        "background,background,6421,4",
        "car,car,1704,4",
    ]
    table.write_text(table.read_text().replace("tree,tree,", "tree,void,"))
    words = ["build", str(root), "--name", "street", "--dry_run", "--classes"]
    names = "classes:          3 from labelme's files: 0 background; 1 car; 2 road; void from tree"
    for classes in (str(table), "tree=void"):
        capsys.readouterr()
        assert cli.main([*words, classes]) == 0
        assert names in capsys.readouterr().out
    assert cli.main([*words[:-1], "--class_names", "background,road,car,tree"]) == 0
    as_given = "classes:          4 as given: 0 background, 1 road, 2 car, 3 tree"
    assert as_given in capsys.readouterr().out


def test_a_group_of_categories_is_no_class_if_no_shape_of_the_set_has_it(street):
    root = street("coco")
    group = {"id": 1, "name": "traffic", "supercategory": "none"}
    for path in (root / "annotations").iterdir():
        categories = json.loads(path.read_text())["categories"]
        change(path, categories=[group, *(c | {"supercategory": "car"} for c in categories)])
    change(root / "annotations" / "instances_val.json", annotations=[])
    assert "0 background, 1 traffic, 2 road, 3 tree, 4 car" in notes(root)
    for path in (root / "annotations").iterdir():
        replace(path, '"supercategory": "car"', '"supercategory": "traffic"')
    text = notes(root)
    assert "0 background, 1 road, 2 tree, 3 car" in text
    assert "traffic only groups other classes, so it is not a class." in text


@pytest.mark.slow_but_first
@pytest.mark.parametrize("tool", TOOLS)
def test_polygons_behind_many_other_files_are_found(street, tool):
    root = street(tool)
    for number in range(60):
        for ending in ("json", "xml"):
            for folder in {path.parent for path in root.rglob(f"*.{ending}")}:
                (folder / f"0{number:02}.{ending}").write_text('{"flags": "<annotation>"}')
        if tool == "yolo":
            photo = root / "images" / "train" / "street_1.jpg"
            shutil.copy(photo, photo.with_stem(f"0{number:02}"))
            (root / "labels" / "train" / f"0{number:02}.txt").write_text("")
    text = notes(root)
    assert f"masks:            {64 if tool == 'yolo' else 4} drawn from the polygons" in text
    assert tool == "yolo" or re.search(r"\b(60|120) files such as ", text)


def coco_file(path, *names):
    """Writes a file with a square in each image, which is larger from image to image."""
    images = [
        {"id": n, "file_name": name, "width": 64, "height": 48} for n, name in enumerate(names, 1)
    ]
    shapes = [
        {
            "id": n,
            "image_id": n,
            "category_id": 1,
            "segmentation": [[0, 0, 9 + n, 0, 9 + n, 10, 0, 10]],
        }
        for n in range(1, 1 + len(names))
    ]
    data = {"images": images, "categories": [{"id": 1, "name": "road"}], "annotations": shapes}
    drawing.put(path.parent, path.name, json.dumps(data))
    return path


def photos(root, *names):
    for name in names:
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        Image.new("RGB", SIZE).save(root / name)
    return root


def of_coco(root, names, **files):
    """Writes photos, and COCO's files, each with the photos that it names."""
    for name, images in files.items():
        coco_file(root / f"{name}.json", *images.split())
    return photos(root, *names.split())


def test_photos_of_few_colors_that_coco_names_are_no_masks_of_one_another(tmp_path):
    for number, split in enumerate(("train", "valid", "test")):
        for name in ("1.png", "2.png"):
            path = tmp_path / split / name
            path.parent.mkdir(exist_ok=True)
            Image.new("RGB", SIZE, (90, 40 * number, int(name[0]))).save(path)
        coco_file(tmp_path / split / "_annotations.coco.json", "1.png", "2.png")
    plan = plan_to_build(tmp_path, name="street")
    assert {split: len(ids) for split, ids in plan.splits.items()} == {
        "train": 2,
        "validation": 2,
        "test": 2,
    }
    assert plan.tree.labels.tool == "COCO"


def sizes_of_shapes(root):
    """Returns how many pixels the shapes of each image have, by its path."""
    tree = plan_to_build(root, name="street").tree
    read = {tree.filename_of(i): tree.items()[i].read() for i in tree.masks}
    return {
        name: int(np.count_nonzero(Image.open(io.BytesIO(r.mask.data)))) for name, r in read.items()
    }


def test_images_of_one_name_in_two_folders_have_their_own_shapes(tmp_path):
    names = "C:\\work\\night\\a.jpg night/b.jpg /home/me/day/a.jpg"
    of_coco(tmp_path, "day/a.jpg night/a.jpg night/b.jpg", all=names)
    assert sizes_of_shapes(tmp_path) == {"night/a.jpg": 100, "night/b.jpg": 110, "day/a.jpg": 120}
    words = "2 images in other places than COCO's files say, such as /home/me/day/a"
    assert words in notes(tmp_path)


@pytest.mark.parametrize(
    ("names", "files", "sizes"),
    [
        ("train/a.jpg val/a.jpg val/b.jpg", {"train": "a.jpg"}, {"a.jpg": 100}),
        ("train/a.jpg val/a.jpg val/b.jpg", {"train/a": "a.jpg"}, {"a.jpg": 100}),
        ("val/a.jpg train/b.jpg", {"all": "train/a.jpg train/b.jpg"}, {"b.jpg": 110}),
        ("f_01.png f_02.png", {"all": "f_01 f_02"}, {"f_01.png": 100, "f_02.png": 110}),
    ],
)
def test_a_name_without_folder_or_ending_means_the_image_of_the_files_split(
    tmp_path, names, files, sizes
):
    assert sizes_of_shapes(of_coco(tmp_path, names, **files)) == sizes
    lost = "1 image is in COCO's files and not here: train/a.jpg"
    assert (lost in notes(tmp_path)) == ("all" in files and "train/b.jpg" in names)


def test_a_folder_that_says_no_split_is_not_nearer_to_a_file_that_says_none(tmp_path):
    of_coco(tmp_path, "train/1.jpg train/2.jpg extra/1.jpg", all="1.jpg 2.jpg")
    expected = [("2", "train"), ("1", "extra")]
    assert sorted(lines_of_question(tmp_path)) == sorted(expected)


@pytest.mark.parametrize("name", ["../imgs/\u00e9.jpg", "/home/me/imgs/\u00e9.jpg"])
def test_a_name_means_the_image_that_macos_writes_with_marks_apart(tmp_path, name):
    of_coco(tmp_path, "imgs/e\u0301.jpg other/\u00e9.jpg", **{"ann/all": name})
    assert sizes_of_shapes(tmp_path) == {"e\u0301.jpg": 100}


def test_an_image_that_lies_in_the_folder_of_another_split_is_refused(tmp_path):
    of_coco(tmp_path, "val/a.jpg train/b.jpg", all="train/b.jpg", instances_train="a.jpg")
    refused(tmp_path, r"a\.jpg, and val/a\.jpg, which lies in the folder of another", MaskError)


@pytest.mark.parametrize(
    ("names", "files", "error", "words"),
    [
        ("day/a.jpg night/a.jpg", ["all"], LayoutError, r"may be day/a\.jpg or night/a\.jpg"),
        ("a.jpg b.jpg", ["train", "val"], ListError, "have 1 id in common, such as a"),
    ],
)
def test_an_image_that_may_be_one_of_two_or_is_in_two_splits_is_an_error(
    tmp_path, names, files, error, words
):
    refused(of_coco(tmp_path, names, **dict.fromkeys(files, "a.jpg")), words, error)


def lines_of_question(root):
    return re.findall(r"\n    (\d) images?.*: --images (.+)", refused(root, "--images"))


@pytest.mark.parametrize("tops", [("true color", "false"), ("x/images/true", "x/images/false")])
def test_folders_with_images_of_one_file_are_a_question_with_a_line_for_each(tmp_path, tops):
    whole, part = tops
    photos(tmp_path, *(f"{whole}/t/{i}.jpg" for i in "ab"), f"{whole}/v/c.jpg", f"{part}/t/b.jpg")
    coco_file(tmp_path / "all.json", "a.jpg", "b.jpg", "c.jpg")
    lines = lines_of_question(tmp_path)
    assert {shlex.split(words)[0]: int(number) for number, words in lines} == {whole: 3, part: 1}
    for number, words in lines:
        (folder,) = shlex.split(words)
        plan = plan_to_build(tmp_path, name="mine", images=folder)
        config = plan.config
        images = [pair.image for pair in plan.items.of_split("train", plan.splits["train"])]
        assert len(images) == int(number)
        assert all(str(image).startswith(f"{tmp_path}/{folder}/") for image in images)
        assert config.class_names


def test_no_line_proposes_a_folder_in_which_an_image_is_there_twice(tmp_path):
    names = "x/t/a.jpg x/v/a.jpg y/a.jpg y/t/b.jpg y/v/b.jpg a.jpg"
    of_coco(tmp_path, names, all="a.jpg b.jpg")
    expected = [("1", folder) for folder in ("x/t", "x/v", "y/t", "y/v")]
    assert sorted(lines_of_question(tmp_path)) == expected


def test_folders_of_one_name_in_each_split_may_be_said(tmp_path):
    photos(tmp_path, *(f"{s}/{c}/{s}.jpg" for s in ("train", "val") for c in ("rgb", "nir")))
    for split in ("train", "val"):
        coco_file(tmp_path / split / f"{split}.json", f"{split}.jpg")
    text = notes(tmp_path, images="rgb")
    assert "split train:      1 id" in text
    assert "split validation: 1 id" in text


@pytest.mark.parametrize("tool", ["labelme", "coco"])
def test_of_images_of_one_name_that_nearest_to_the_file_is_meant(street, tmp_path, tool):
    root = photos(tmp_path / "set", "old/photos/street_1.jpg", "new/photos/street_1.jpg")
    if tool == "labelme":
        (root / "new" / "shapes").mkdir()
        shutil.copy(street("labelme") / "street_1.json", root / "new" / "shapes")
    else:
        coco_file(root / "new" / "shapes" / "all.json", "street_1.jpg")
    assert "images:           1 in new/photos" in notes(root)


@pytest.mark.parametrize("tool", ["coco", "yolo"])
def test_two_images_whose_names_differ_in_the_ending_are_an_error(street, tmp_path, tool):
    if tool == "coco":
        root = photos(tmp_path / "new", "a.jpg", "a.png")
        coco_file(root / "all.json", "a.jpg", "a.png")
    else:
        root = street("yolo")
        photos(root, "images/train/street_1.png")
    refused(root, r"\.png: polygons of two images with the same id: this one and \w+\.jpg")


def test_a_file_of_all_images_beside_those_of_splits_changes_nothing(tmp_path):
    of_coco(tmp_path, "a.jpg b.jpg", train="a.jpg", val="b.jpg", trainval="a.jpg b.jpg")
    shapes = json.loads((tmp_path / "trainval.json").read_text())["annotations"]
    shapes[1]["segmentation"] = shapes[0]["segmentation"]  # as in val.json
    change(tmp_path / "trainval.json", annotations=shapes)
    text = notes(tmp_path)
    assert "split train:      1 id" in text
    assert "split validation: 1 id" in text
    (tmp_path / "train.json").unlink()
    refused(tmp_path, r"--splits validation=val\.json\n.*--splits train=rest,validation=val\.json")


def test_a_name_for_a_folder_of_images_beside_polygons_is_refused(street):
    root = street("labelme")
    labelme_apart(root)
    assert "4 in photos" in notes(root, images="photos")
    words = r"(?s)polygons/street_1\.json: .*train=photos.*--images photos"
    with pytest.raises(LayoutError, match=words):
        notes(root, images="train=photos")


def test_several_labels_that_mean_void_are_one_note(street):
    root = street("labelme")
    replace(root / "street_2.json", '"car"', '"void"')
    replace(root / "street_2.json", '"road"', '"ignore"')
    assert "ignore, void mean void, 255, unless --classes gives them classes." in notes(root)


@pytest.mark.parametrize("apart", [False, True], ids=["beside", "in a folder"])
@pytest.mark.parametrize("text", ["{", '{"version": "5.4.1", "flags": {}, "sha', "\0" * 9])
def test_a_label_that_ends_before_labelmes_words_stops_the_build(street, capsys, text, apart):
    root = street("labelme")
    path = root / "street_1.json"
    path.write_text(text)
    (root / "classes.json").write_text(text)  # has no image's name
    (root / "street_2.json").rename(root / "street_2.txt")
    (root / "street_2.json").write_text('{"camera": 3}')
    if apart:
        (root / "shapes").mkdir()
        for file in root.glob("*.json"):
            file.rename(root / "shapes" / file.name)
        path = root / "shapes" / path.name
    with pytest.raises(SplitError, match=r"street_1\.json: .*: line 1 column"):
        from_tree(root)
    assert "2 files such as" in notes(root)
    capsys.readouterr()
    assert cli.main(["check", str(root), "--json"]) == 1
    report = json.loads(capsys.readouterr().out)
    stopping = [f["where"] for f in report["findings"] if f["effect"] == "stops"]
    assert (stopping, report["examined"]) == ([[str(path)]], 3)


def test_json_of_another_tool_is_named_beside_masks_and_beside_polygons(street):
    root = street("labelme")
    (root / "export.json").write_text('[{"original_width": 9}]')
    note = "export.json is not read: Label Studio's JSON."
    assert note in notes(root)
    write_masks(root)
    assert note in notes(root, mask_name="{id}.json")
    for path in root.glob("street_*.json"):
        path.unlink()
    assert note in notes(root, class_names=MANY)


def one_of_yolo(root, text):
    photos(root, "a.jpg")
    (root / "data.yaml").write_text("names: [road]\n")
    (root / "a.txt").write_text(text)


@pytest.mark.parametrize(
    "text",
    [
        "\ufeff0 0.1 0.1 0.5 0.1 0.5 0.5\r\n",
        "0 1E-1 .1 5.0e-01 1e-1 0.5 5e-1\n",
        "1" + " " * 5000 + "x\n" + "\n" * 50_000 + SQUARE,
    ],
)
def test_lines_of_yolo_are_found_however_they_are_written(tmp_path, text):
    one_of_yolo(tmp_path, text)
    assert "polygons of YOLO" in notes(tmp_path)


@pytest.mark.slow
def test_a_line_of_a_megabyte_takes_memory_in_proportion(tmp_path):
    one_of_yolo(tmp_path, "0" + " 0.250 0.750 0.500 0.125" * 50_000)
    tracemalloc.start()
    try:
        assert "polygons of YOLO" in notes(tmp_path)
        assert tracemalloc.get_traced_memory()[1] < 20 * (tmp_path / "a.txt").stat().st_size
    finally:
        tracemalloc.stop()


OTHER = "all.json: other shapes of a.jpg as {1} than as {0}"
ONE_NAME = "all.json, image a.jpg: one file_name for the ids 1 and 2"
TWICE = [
    (("day/a.jpg", "night/a.jpg"), OTHER),
    (("a", "./a.jpg"), OTHER),
    (["a.jpg"] * 2, ONE_NAME),
]
SHAPED = [(*twice, shaped) for twice in TWICE for shaped in ([1, 2], [1], [2])]


@pytest.mark.parametrize(("names", "words", "shaped"), [*SHAPED, (*TWICE[2], [])])
def test_two_entries_of_an_image_in_one_file_stop_the_build(tmp_path, names, words, shaped):
    path = coco_file(tmp_path / "all.json", *names, "b.jpg")
    shapes = json.loads(path.read_text())["annotations"]
    change(path, annotations=[shape for shape in shapes if shape["id"] in [*shaped, 3]])
    photos(tmp_path, "a.jpg", "b.jpg")
    with pytest.raises(SplitError, match=re.escape(words.format(*names))) as caught:
        from_tree(tmp_path)
    assert "--masks" not in str(caught.value)


def test_an_error_about_an_image_outlives_a_later_entry_that_agrees_with_the_last(tmp_path):
    path = coco_file(tmp_path / "all.json", "x/a.jpg", "y/a.jpg", "z/a.jpg")
    first, second, third = json.loads(path.read_text())["annotations"]
    photos(tmp_path, "a.jpg")
    change(path, annotations=[first, second, third | {"segmentation": second["segmentation"]}])
    with pytest.raises(MaskError, match=r"as y/a\.jpg than as x/a\.jpg"):
        sizes_of_shapes(tmp_path)
    change(path, annotations=[first | {"category_id": 9}])
    with pytest.raises(MaskError, match="the category_id 9"):
        sizes_of_shapes(tmp_path)


@pytest.mark.parametrize(
    ("image", "text"),
    [
        ("A.jpg", "a.txt"),
        ("a.jpg", "a.TXT"),
        ("u\u0308.jpg", "\u00fc.txt"),  # as macOS and as others write it
    ],
)
def test_names_of_yolo_that_differ_in_case_or_unicode_form_alone_are_the_same(
    tmp_path, image, text
):
    photos(tmp_path, f"images/{image}", "images/other.jpg", "images/none.jpg")
    drawing.put(tmp_path, "data.yaml", "names: [road]\n")
    for name in (text, "other.txt"):
        drawing.put(tmp_path, f"labels/{name}", SQUARE)
    sizes = sizes_of_shapes(tmp_path)
    assert sizes[image] == sizes["other.jpg"] > sizes["none.jpg"] == 0


def test_the_same_shapes_of_an_image_in_two_files_are_no_contradiction(tmp_path):
    photos(tmp_path, "a.jpg", "b.jpg")
    path = coco_file(tmp_path / "job_1.json", "a.jpg", "b.jpg")
    data = json.loads(path.read_text())
    change(path, annotations=[{**a, "id": 7} for a in data["annotations"]])
    coco_file(tmp_path / "job_2.json", "a.jpg")
    assert sizes_of_shapes(tmp_path) == {"a.jpg": 100, "b.jpg": 110}


def write_yolo(root, text):
    photos(root, "images/one/a.jpg", "images/two/b.jpg")
    for name in ("one/a", "two/b"):
        drawing.put(root, f"labels/{name}.txt", SQUARE)
    drawing.put(root, "data.yaml", f"names: [road]\n{text}\n")


def test_a_yaml_whose_folder_of_train_is_not_there_is_a_question(tmp_path):
    write_yolo(tmp_path, "train: images/three\nval: images/one")
    refused(tmp_path, r"validation 1: --splits .*:val\n *train 2")


@pytest.mark.parametrize(
    ("text", "splits"),
    [
        ("train: images/one\nval: [images/two]", {"train": ["one/a"], "validation": ["two/b"]}),
        (
            "train: ../x/images/two\nval: /y/images/one/",
            {"train": ["two/b"], "validation": ["one/a"]},
        ),
        ("train: images\nval: images", {"train": ["one/a", "two/b"]}),
        ("train: train.txt\nval: 7", {"train": ["one/a", "two/b"]}),
    ],
)
def test_folders_that_yolos_yaml_names_for_splits_are_those(tmp_path, text, splits):
    write_yolo(tmp_path, text)
    plan = plan_to_build(tmp_path, name="own")
    assert {split: sorted(ids) for split, ids in plan.splits.items()} == splits
    assert ("names the same images" in str(plan.notes)) == text.endswith("val: images")


def test_a_mask_holds_253_classes_beside_background(tmp_path):
    names = [f"class {number}" for number in range(254)]
    entries = number_names(names[:253], tmp_path)
    assert (len(entries), entries[253]) == (254, ClassEntry(253, "class 252"))
    with pytest.raises(LayoutError, match="254 classes"):
        number_names(names, tmp_path)


def cvat_of_subsets(root, folder, *images):
    """Writes CVAT's XML, and photos; an image is its name and subset."""
    rows = []
    for number, (name, subset) in enumerate(images):
        path = root / folder.format(subset=subset) / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.effect_noise(SIZE, 60 + number).convert("RGB").save(path)
        rows.append(
            f'<image id="{number}" name="{name}" subset="{subset}" width="{SIZE[0]}" '
            f'height="{SIZE[1]}"><polygon label="road" points="1,1;20,1;10,{10 + number}"/></image>'
        )
    labels = "<meta><project><labels><label><name>road</name></label></labels></project></meta>"
    text = f"<annotations><version>1.1</version>{labels}{''.join(rows)}</annotations>"
    (root / "annotations.xml").write_text(text)
    return root


@pytest.mark.parametrize(
    ("subsets", "splits"),
    [
        ("Train Validation Test", "train validation test"),
        ("Training dev holdout", "train validation test"),
        ("Train test1 test2", "train test1 test2"),
        ("default Test Test", "train test test"),
        ("default default default", "train train train"),
        ("Train default Test", "train default test"),
    ],
)
def test_subsets_of_cvat_are_splits(tmp_path, subsets, splits):
    images = [(f"{name}.png", subset) for name, subset in zip("abc", subsets.split(), strict=True)]
    root = cvat_of_subsets(tmp_path, "images", *images)
    plan = folders.plan_of(root, class_names=("background", "road"))
    split_by_id = {i: split for split, ids in plan.splits.items() for i in ids}
    assert [split_by_id[name] for name in "abc"] == splits.split()


def test_images_of_one_name_in_two_subsets_of_cvat_are_told_apart(tmp_path):
    images = [("a.png", "Train"), ("b.png", "Train"), ("a.png", "Test")]
    root = cvat_of_subsets(tmp_path, "images/{subset}", *images)
    plan = folders.plan_of(root, class_names=("background", "road"))
    assert plan.splits == {"train": ["Train/a", "Train/b"], "test": ["Test/a"]}
    (root / "images" / "Train" / "b.png").rename(root / "images" / "Test" / "b.png")
    words = "b.png of the subset Train, and images/Test/b.png"
    refused(root, words, MaskError, class_names=("background", "road"))
