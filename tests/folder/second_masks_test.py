"""What becomes of an image with several masks: nobody's is taken silently."""

import numpy as np
import pytest
from support import drawing
from support.drawing import write
from support.folders import images_of, pairs_of, plan_of, proposed, refused, said_by

IDS = ["hall", "pool", "lake", "roof"]

ANOTHER_MASK = {
    "a number behind the first one's name": ("{}.png", "{}_mask.png", "{}_mask_1.png"),
    "a number in brackets": ("images/{}.jpg", "masks/{}.png", "masks/{} (1).png"),
    "a version": ("images/{}.jpg", "masks/{}.png", "masks/{}-v2.png"),
    "a version in one folder": ("{}.jpg", "{}.png", "{}-v2.png"),
    "a word": ("images/{}.jpg", "masks/{}_mask.png", "masks/{}_mask_corrected.png"),
    "a number behind the word for masks": ("{}.png", "{}_mask.png", "{}_mask2.png"),
    "a word before": ("images/{}.jpg", "masks/{}.png", "masks/second_{}.png"),
    "another person": ("images/{}.jpg", "masks/{}_anna.png", "masks/{}_ben.png"),
    "another object": ("images/{}.jpg", "masks/{}_obj0.png", "masks/{}_obj1.png"),
}


def put(root, image, mask, ids=IDS):
    for image_id in ids:
        drawing.put_image(root, image.format(image_id))
        drawing.put_mask(root, mask.format(image_id), drawing.truth(image_id))


def put_another(root, pattern, ids):
    for image_id in ids:
        drawing.put_mask(root, pattern.format(image_id), np.roll(drawing.truth(image_id), 2, 1))


@pytest.mark.parametrize("name", ANOTHER_MASK)
def test_a_second_mask_of_one_image_stops_a_build_and_is_named(tmp_path, name):
    image, first, second = ANOTHER_MASK[name]
    put(tmp_path, image, first)
    put_another(tmp_path, second, IDS[:1])
    text = refused(tmp_path, "masks for the image (images/)?hall|several masks, such as hall_mask")
    assert first.format("hall") in text
    assert second.format("hall") in text


def test_the_option_that_the_error_gives_reads_only_masks_named_so(tmp_path):
    put(tmp_path, "images/{}.jpg", "masks/{}_mask.png")
    put_another(tmp_path, "masks/{}_mask_1.png", IDS[:2])
    text = refused(tmp_path, "and several for 1 other image")
    option = text[text.index("--mask_name") :]
    plan = plan_of(tmp_path, **said_by(option))
    assert images_of(plan) == {"train": sorted(IDS)}
    assert {len(names) for names in plan.unused.values()} == {2}


def test_the_option_for_one_person_names_the_folder_and_no_number_within_another(tmp_path):
    for image_id in ("1", "2", "3"):
        drawing.put_image(tmp_path, f"images/{image_id}.jpg")
        for person in ("10", "11"):
            mask = f"masks/{image_id}/object_{person}.png"
            drawing.put_mask(tmp_path, mask, drawing.truth("abc"[int(image_id) - 1]))
    text = refused(tmp_path, "several masks for one image")
    option = text[text.rindex("--images") :]
    assert "{id}/object_10.png" in option
    plan = plan_of(tmp_path, **said_by(option))
    assert images_of(plan) == {"train": ["1", "2", "3"]}


def test_a_second_mask_behind_many_pictures_is_found(tmp_path):
    ids = [f"x{n:02}" for n in range(20)]
    put(tmp_path, "images/{}.jpg", "masks/{}.png", ids)
    for image_id in ids:
        drawing.put_image(tmp_path, f"masks/{image_id}_a.png")
    put_another(tmp_path, "masks/{}_b.png", ids[-1:])
    assert "x19_b.png" in refused(tmp_path, "2 masks for the image images/x19.jpg")


SEVERAL_MASKS = {
    "two people beside their images": ("{}.jpg", "{}_1stHO.png", "{}_2ndHO.png"),
    "two people in one folder of PNG": ("{}.png", "{}_1stHO.png", "{}_2ndHO.png"),
    "two people": ("images/{}.jpg", "masks/{}_1stHO.png", "masks/{}_2ndHO.png"),
    "two versions": ("{}.jpg", "{}.png", "{}-v2.png"),
}


@pytest.mark.parametrize("name", SEVERAL_MASKS)
def test_masks_of_two_people_are_never_read_before_the_user_says_whose(tmp_path, name):
    image, first, second = SEVERAL_MASKS[name]
    put(tmp_path, image, first)
    put_another(tmp_path, second, IDS)
    refused(tmp_path, "mask")
    for pattern in (first, second):
        options = {"mask_name": pattern.removeprefix("masks/").format("{id}")}
        if image.endswith("jpg"):
            options["image_name"] = "{id}.jpg"
        plan = plan_of(tmp_path, **options)
        assert images_of(plan) == {"train": sorted(IDS)}
        assert {mask.name for mask in pairs_of(plan)["train"].values()} == {
            pattern.rpartition("/")[2].format(image_id) for image_id in IDS
        }


def test_the_number_of_a_person_is_not_taken_for_that_of_an_image(tmp_path):
    for image in "123":
        drawing.put_image(tmp_path, f"images/{image}.jpg")
        for person in "12":
            drawing.put_mask(tmp_path, f"masks/person{person}_{image}.png", drawing.truth(person))
    refused(tmp_path, "no mask fits an image by its name")
    for person in (1, 2):
        pairs = pairs_of(plan_of(tmp_path, mask_name=f"person{person}_{{id}}.png"))["train"]
        assert {image.stem: pair.name for image, pair in pairs.items()} == {
            image: f"person{person}_{image}.png" for image in "123"
        }


def put_kitti_road(root, *, lanes):
    """Writes KITTI's road set: scenes um, umm and uu, and masks of lanes in um alone."""
    for scene, images in {"um": "abc", "umm": "de", "uu": "f"}.items():
        put(root, f"image_2/{scene}_{{}}.png", f"gt_image_2/{scene}_road_{{}}.png", images)
    if lanes:
        put_another(root, "gt_image_2/um_lane_{}.png", "abc")


@pytest.mark.parametrize("lanes", [True, False])
def test_masks_with_a_word_within_the_names_of_images_need_a_pattern(tmp_path, lanes):
    put_kitti_road(tmp_path, lanes=lanes)
    refused(tmp_path, "no mask fits an image by its name")
    pairs = pairs_of(plan_of(tmp_path, mask_name="{a}_road_{b}.png"))["train"]
    assert {image.name: mask.name for image, mask in pairs.items()} == {
        "um_a.png": "um_road_a.png",
        "um_b.png": "um_road_b.png",
        "um_c.png": "um_road_c.png",
        "umm_d.png": "umm_road_d.png",
        "umm_e.png": "umm_road_e.png",
        "uu_f.png": "uu_road_f.png",
    }


def test_numbers_that_give_few_of_the_masks_to_images_are_asked_about(tmp_path):
    drawing.put_pairs(tmp_path, "01234", "photos/im{}.jpg", "masks/{}.png")
    for number in range(5, 15):
        drawing.put_mask(tmp_path, f"masks/{number}.png", drawing.truth(str(number)))
    text = refused(tmp_path, "masks of which most have the number of an image")
    ((_, options),) = proposed(text)
    plan = plan_of(tmp_path, **said_by(options))
    assert images_of(plan)["train"] == [f"im{number}" for number in range(5)]


def test_a_folder_of_masks_for_each_image_is_refused_as_such(tmp_path):
    for image_id in IDS:
        drawing.put_image(tmp_path, f"{image_id}/images/{image_id}.png")
        for name in ("5f2a", "90bc"):
            drawing.put_mask(
                tmp_path, f"{image_id}/masks/{image_id[0]}{name}.png", drawing.truth("a")
            )
    text = refused(tmp_path, "several masks for one image, such as hall/masks/h5f2a.png and")
    assert "--image_name '{id}/images/{id}.png' --mask_name 'object={id}/masks/*.png'" in text


def test_folders_of_objects_are_no_images_of_one_another(tmp_path):
    for image_id in IDS:
        drawing.put_image(tmp_path, f"images/{image_id}.png")
        for name in ("0", "1", "2"):
            drawing.put_mask(tmp_path, f"masks/{image_id}/{name}.png", drawing.truth(image_id))
    text = refused(tmp_path, "several masks for one image, such as masks/hall/0.png and masks/hall")
    assert "for images/hall.png" in text
    options = "--images images --masks masks --mask_name '{id}/0.png'"
    assert options in text
    assert images_of(plan_of(tmp_path, **said_by(options))) == {"train": sorted(IDS)}


def test_frames_beside_pictures_of_their_films_are_read(tmp_path):
    for film in ("hall", "pool"):
        drawing.put_image(tmp_path, f"posters/{film}.jpg")
        for frame in ("0", "1", "2"):
            drawing.put_image(tmp_path, f"frames/{film}/{film}{frame}.jpg")
            drawing.put_mask(tmp_path, f"masks/{film}/{film}{frame}.png", drawing.truth(frame))
    assert len(images_of(plan_of(tmp_path))["train"]) == 6


NO_MASKS = {
    "drawings": "masks/{}_overlay.png",
    "colors": "masks/{}_color.png",
    "numbers of objects": "masks/{}_instances.png",
}


@pytest.mark.parametrize("name", NO_MASKS)
def test_drawings_of_masks_are_no_second_masks(tmp_path, name):
    put(tmp_path, "images/{}.jpg", "masks/{}.png")
    put_another(tmp_path, NO_MASKS[name], IDS)
    assert images_of(plan_of(tmp_path)) == {"train": sorted(IDS)}


def test_a_copy_of_the_mask_a_photo_and_a_mask_of_another_size_are_no_second_masks(tmp_path):
    put(tmp_path, "images/{}.jpg", "masks/{}.png")
    drawing.put_mask(tmp_path, "masks/hall (1).png", drawing.truth("hall"))
    drawing.put_image(tmp_path, "masks/pool_2.png")
    drawing.put_mask(tmp_path, "masks/lake_2.png", np.zeros((3, 5), np.uint8))
    assert images_of(plan_of(tmp_path)) == {"train": sorted(IDS)}


def test_the_mask_of_an_image_that_is_not_there_is_no_second_mask(tmp_path):
    write(tmp_path, "abc images/{}.png masks/{}.png", "abc images/{}_2.png masks/{}_2.png")
    drawing.put_image(tmp_path, "images/d.png")
    drawing.put_mask(tmp_path, "masks/d.png", drawing.truth("d"))
    drawing.put_mask(tmp_path, "masks/d_2.png", drawing.truth("e"))
    assert len(images_of(plan_of(tmp_path))["train"]) == 7
