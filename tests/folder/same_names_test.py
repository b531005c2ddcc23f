"""Pictures of one name in two formats or two folders: which are the images, and which the masks."""

import json
import pathlib

import numpy as np
from PIL import Image
import pytest
from support.folders import plan_of

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.core.errors import LayoutError, MaskError
from voc_seg_tfrecord.folder.files import given_layout
from voc_seg_tfrecord.folder.question import QuestionError

IDS = ("1", "2", "3", "4")


def photo(number: int) -> Image.Image:
    pixels = np.random.default_rng(number).integers(0, 256, (24, 32, 3), np.uint8)
    return Image.fromarray(pixels)


def mask(number: int) -> Image.Image:
    pixels = np.zeros((24, 32), np.uint8)
    pixels[4:12, 4 : 10 + number] = 1
    pixels[14:20, 12:28] = 2
    return Image.fromarray(pixels)


def save(picture: Image.Image, path: pathlib.Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    picture.save(path)


def draw(root: pathlib.Path, **draw_by_pattern) -> pathlib.Path:
    """Draws four files of each pattern, such as `jpg_in_images`."""
    for pattern, draw_one in draw_by_pattern.items():
        name, _, folder = pattern.partition("_in_")
        for number in IDS:
            save(draw_one(int(number)), root / folder / f"{number}.{name}")
    return root


@pytest.mark.parametrize(
    ("image", "label"), [("jpg", "png"), ("tif", "png"), ("bmp", "png"), ("png", "tif")]
)
@pytest.mark.parametrize("folder", ["", "_in_train"])
def test_a_flat_folder_of_two_formats_is_read_by_what_looks_like_masks(
    image, label, folder, tmp_path
):
    plan = plan_of(draw(tmp_path, **{image + folder: photo, label + folder: mask}))
    pairs = plan.items.of_split("train", plan.splits["train"])
    names = {(pathlib.Path(pair.image).name, pathlib.Path(pair.mask).name) for pair in pairs}
    assert names == {(f"{number}.{image}", f"{number}.{label}") for number in IDS}


@pytest.mark.parametrize(
    "copy",
    [
        photo,
        lambda number: photo(number).convert("L"),
        lambda number: photo(number).resize((8, 6)),
    ],
    ids=["copy", "gray", "thumbnail"],
)
@pytest.mark.parametrize("formats", [("jpg", "png"), ("tif", "png"), ("tif", "jpg")])
def test_a_copy_of_an_image_in_another_format_is_never_its_mask(copy, formats, tmp_path):
    first, second = formats
    draw(tmp_path, **{first: photo, second: copy})
    with pytest.raises(LayoutError, match="no masks among"):
        plan_of(tmp_path)


def test_a_copy_of_few_colors_is_no_mask_either(tmp_path):
    draw(tmp_path, tif=photo, png=lambda number: photo(number).quantize(16))
    with pytest.raises(MaskError, match="no class for"):
        plan_of(tmp_path)


def test_two_formats_that_both_look_like_masks_ask(tmp_path):
    with pytest.raises(QuestionError, match="2 ways to read images and masks"):
        plan_of(draw(tmp_path, tif=mask, png=mask))


def test_images_in_two_formats_beside_masks_do_not_ask(tmp_path):
    plan = plan_of(draw(tmp_path, tif_in_images=photo, png_in_images=photo, png_in_masks=mask))
    assert len(plan.splits["train"]) == len(IDS)
    assert ["1.tif", "2.tif", "3.tif", "4.tif"] in [*map(list, plan.unused.values())]


def polygons_of(name: str) -> str:
    shape = {"label": "apple", "points": [[4, 4], [20, 4], [12, 16]], "shape_type": "polygon"}
    size = {"imageHeight": 24, "imageWidth": 32}
    shapes = {"version": "5.0", "shapes": [shape], "imagePath": name, "imageData": None}
    return json.dumps({**shapes, **size})


def voc_beside(root: pathlib.Path, folder: str) -> None:
    """Draws VOC's folders, and a folder with images of the same names, saved again."""
    draw(root, jpg_in_JPEGImages=photo, png_in_SegmentationClass=mask)
    draw(root, **{f"jpg_in_{folder}": lambda number: photo(number).rotate(180)})


@pytest.mark.parametrize("folder", ["before", "images"])
@pytest.mark.parametrize("has_polygons", [False, True])
def test_vocs_folders_win_over_the_same_images_saved_again(folder, has_polygons, tmp_path):
    voc_beside(tmp_path, folder)
    if has_polygons:
        for number in IDS:
            (tmp_path / folder / f"{number}.json").write_text(polygons_of(f"{number}.jpg"))
    plan = plan_of(tmp_path)
    assert plan.tree.layout.images == "JPEGImages"
    assert plan.tree.layout.masks == "SegmentationClass"
    assert folder in [group.folder for group in plan.unused]


def test_polygons_of_an_image_without_a_mask_still_ask(tmp_path):
    voc_beside(tmp_path, "before")
    save(photo(5), tmp_path / "before" / "5.jpg")
    for number in (*IDS, "5"):
        (tmp_path / "before" / f"{number}.json").write_text(polygons_of(f"{number}.jpg"))
    with pytest.raises(QuestionError, match="masks in SegmentationClass"):
        plan_of(tmp_path)


def test_drawings_in_the_place_of_masks_are_refused_before_their_classes_are_asked(tmp_path):
    def large_photo(number: int) -> Image.Image:
        return photo(number).resize((96, 72))

    draw(tmp_path, png_in_rgb=large_photo, png_in_gt=lambda number: large_photo(number + 9))
    for fold, validated in enumerate(IDS):
        lists = tmp_path / "img_list" / str(fold)
        lists.mkdir(parents=True)
        (lists / "train.txt").write_text("".join(f"{n}.png\n" for n in IDS if n != validated))
        (lists / "val.txt").write_text(f"{validated}.png\n")
    with pytest.raises(LayoutError, match=r"no masks: pictures in gt, such as gt/1\.png"):
        plan_to_build(tmp_path, name="x")


def test_sets_of_files_are_found_once_for_all_lines_of_a_question(tmp_path, monkeypatch):
    for scene in range(5):
        draw(
            tmp_path,
            **{f"jpg_in_s{scene}/images": photo},
            **{f"png_in_s{scene}/masks_a": mask},
            **{f"png_in_s{scene}/masks_b": lambda number: mask(number + 5)},
        )
    count = 0
    find = given_layout.list_file_sets

    def count_calls(*args):
        nonlocal count
        count += 1
        return find(*args)

    monkeypatch.setattr(given_layout, "list_file_sets", count_calls)
    with pytest.raises(QuestionError):
        plan_of(tmp_path)
    assert count == 1
