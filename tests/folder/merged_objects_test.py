"""Masks of which each shows one object become one index mask, and an object mask if asked."""

import io
import json
import pathlib
import re
import shutil

import numpy as np
from PIL import Image
import pytest
from support import building, drawing
from support.folders import plan_of, said_by

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, VocSegError
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.writing.examples import try_examples

IDS = ["1000", "1001", "cell_2", "cell_2_1"]
SHAPES = {0: "square", 1: "circle", 2: "square"}


def object_of(number: int) -> np.ndarray:
    """Returns where an object is, bool `[12, 16]`; the third one overlaps the first."""
    pixels = np.zeros(drawing.SIZE, bool)
    top, left = {0: (1, 1), 1: (7, 2), 2: (2, 4)}[number]
    pixels[top : top + 4, left : left + 5] = True
    return pixels


def put_set(root: pathlib.Path, image: str, mask: str) -> pathlib.Path:
    """Writes three objects of each image; the patterns have `id`, `shape`, `number` and `hash`."""
    for image_id in IDS:
        drawing.put_image(root, image.format(id=image_id))
        for number, shape in SHAPES.items():
            hashed = f"{number}f{image_id.replace('_', '')}e"
            name = mask.format(id=image_id, shape=shape, number=number, hash=hashed)
            drawing.put_mask(root, name, object_of(number).astype(np.uint8) * 255)
    return root


def read(root: pathlib.Path, **said) -> FolderPlan:
    return plan_of(root, class_names=None, **said)


def ask(root: pathlib.Path) -> dict:
    """Returns the options by which the error about several masks of an image merges them."""
    with pytest.raises(LayoutError, match="several masks for one image") as caught:
        read(root)
    return said_by(re.search(r"merge them with (.*?)\. If each", str(caught.value))[1])


OPTIONS = {
    "shapes in the names": "--mask_name 'square={id}_square_*.png,circle={id}_circle_*.png'",
    "numbers beside the images": "--mask_name 'object={id}_obj*.png'",
}
"""The options of layouts whose error has no command that merges the masks."""


LAYOUTS = {
    "shapes in the names": ("images/{id}.png", "masks/{id}_{shape}_{number}.png"),
    "numbers beside the images": ("{id}.jpg", "{id}_obj{number}.png"),
    "a folder for each image": ("images/{id}.png", "masks/{id}/{number}.png"),
    "DSB 2018": ("stage1_train/{id}/images/{id}.png", "stage1_train/{id}/masks/{hash}.png"),
    "DSB 2018, from within": ("{id}/images/{id}.png", "{id}/masks/{hash}.png"),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_objects_are_merged_by_the_command_of_the_error_or_by_options(tmp_path, layout):
    put_set(tmp_path, *LAYOUTS[layout])
    if layout in OPTIONS:
        with pytest.raises(LayoutError):
            read(tmp_path)
        said = said_by(OPTIONS[layout])
    else:
        said = ask(tmp_path)
    plan = read(tmp_path, **said, instance_mask=True)
    names = plan.config.built_class_names
    union = object_of(0) | object_of(1) | object_of(2)
    wanted = np.where(union, 1, 0)
    if layout == "shapes in the names":
        assert set(names) == {"background", "circle", "square"}
        wanted[union] = names.index("square")
        wanted[object_of(1)] = names.index("circle")
    else:
        assert len(names) == 2
    examples = examples_of(plan)
    assert len(examples) == len(IDS)
    for features in examples.values():
        np.testing.assert_array_equal(features["segmentation_mask"], wanted)
        np.testing.assert_array_equal(features["instance_mask"] > 0, union)
        assert sorted(np.unique(features["instance_mask"])) == [0, 1, 2, 3]
    assert not plan.unused


def examples_of(plan: FolderPlan) -> dict[str, dict[str, np.ndarray]]:
    """Returns the masks and object masks that a build would store, by id."""
    spec = plan.config.example_spec(plan.mask_rule)
    found = {}
    for split, ids in plan.splits.items():
        for pair in plan.items.of_split(split, ids):
            copy = type(pair).from_json(json.loads(json.dumps(pair.to_json())))
            examples = try_examples(spec, copy)
            if isinstance(examples, VocSegError):
                raise examples
            found[pair.id] = {
                name: np.array(Image.open(io.BytesIO(png)))
                for name, png in examples[0].features.items()
                if name in ("segmentation_mask", "instance_mask")
            }
    return found


OBJECTS = {"mask_name": "square={id}_square_*.png,circle={id}_circle_*.png"}


def add_other_size(root):
    drawing.put_mask(root, "masks/1000_square_7.png", np.ones((5, 5), np.uint8))


def add_upper_case(root):
    shutil.copy(root / "masks/cell_2_square_0.png", root / "masks/Cell_2_square_5.png")


def add_jpeg(root):
    drawing.put_image(root, "masks/1000_square_9.jpg")


def take_all_of_one(root):
    for path in (root / "masks").glob("1001_*"):
        path.unlink()


def leave(root):
    del root


WRONG = {
    "another size": (add_other_size, OBJECTS, "1000_square_7.png: mask of 5 x 5"),
    "upper case": (add_upper_case, OBJECTS, "Cell_2_square_5.png.*the id cell_2 is similar"),
    "a JPEG": (add_jpeg, OBJECTS, "1000_square_9.jpg: a JPEG"),
    "no object": (take_all_of_one, OBJECTS, "no mask of any class for 1 image.*1001.png"),
    "an unclear id": (
        leave,
        {"mask_name": "thing={id}_*.png"},
        "fits several images.*cell_2 and cell_2_1",
    ),
    "two classes": (leave, {"mask_name": "a={id}_*0.png,b={id}_*_0.png"}, "images|classes a and b"),
    "no class": (leave, {"mask_name": "{id}_*.png"}, "NAME={id}_"),
    "no id": (leave, {"mask_name": "a=x_*.png"}, "option mask_name"),
    "other names": (leave, {"mask_name": "a={id}-*.png"}, "no mask of a for an image"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_would_give_wrong_labels_is_refused(tmp_path, name):
    change, said, words = WRONG[name]
    change(put_set(tmp_path, *LAYOUTS["shapes in the names"]))
    with pytest.raises(VocSegError, match=f"(?s){words}"):
        examples_of(read(tmp_path, images="images", masks="masks", **said))


def test_an_image_may_have_no_object_if_the_user_says_so(tmp_path):
    take_all_of_one(put_set(tmp_path, *LAYOUTS["shapes in the names"]))
    plan = read(tmp_path, missing_mask="background", instance_mask=True, **OBJECTS)
    assert not examples_of(plan)["1001"]["segmentation_mask"].any()
    assert not examples_of(plan)["1001"]["instance_mask"].any()


def test_a_folder_of_masks_may_be_called_as_images_are(tmp_path):
    for image_id in ("img_1", "img_2"):
        drawing.put_image(tmp_path, f"images/{image_id}.png")
        for number in SHAPES:
            mask = object_of(number).astype(np.uint8)
            drawing.put_mask(tmp_path, f"masks/{image_id}/{number}.png", mask)
    plan = read(tmp_path, mask_name="cell={id}/*.png")
    assert sorted(examples_of(plan)) == ["img_1", "img_2"]


@pytest.mark.slow
def test_more_objects_than_an_object_mask_can_number_are_refused(tmp_path):
    put_set(tmp_path, *LAYOUTS["shapes in the names"])
    mask = (tmp_path / "masks/1000_circle_1.png").read_bytes()
    for number in range(300):
        drawing.put(tmp_path, f"masks/1000_circle_{number}.png", mask)
    assert len(examples_of(read(tmp_path, **OBJECTS))) == len(IDS)
    with pytest.raises(VocSegError, match=r"(?s)302 masks of objects for one image.*at most 254"):
        examples_of(read(tmp_path, instance_mask=True, **OBJECTS))


def test_the_id_may_stand_twice_in_the_path_of_an_image_and_nothing_else(tmp_path):
    put_set(tmp_path, *LAYOUTS["DSB 2018, from within"])
    said = {"image_name": "{id}/images/{id}.png", "mask_name": "nucleus={id}/masks/*.png"}
    assert len(examples_of(read(tmp_path, **said))) == len(IDS)
    drawing.put_image(tmp_path, "1000/images/other.png")
    plan = read(tmp_path, **said)
    assert ["other.png"] in list(plan.unused.values())
    with pytest.raises(ConfigError, match="image_name"):
        read(tmp_path, image_name="{id}_{id}.png", mask_name=said["mask_name"])


@pytest.mark.slow
def test_a_build_of_objects_is_verified_against_their_files(tmp_path):
    root = put_set(tmp_path / "set", *LAYOUTS["DSB 2018"])
    said = {**ask(root), "instance_mask": True}
    builder = building.from_tree(root, **said)
    words = ["verify", str(builder.data_path), "--source", str(root)]
    assert cli.main(words) == 0
    changed = object_of(1).astype(np.uint8) * 255
    drawing.put_mask(root, "stage1_train/1000/masks/0f1000e.png", changed)
    assert cli.main(words) == 1
