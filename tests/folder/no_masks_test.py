"""A folder without pairs is told what it holds: several masks for each image, or other pictures."""

import pytest
from support import drawing
from support.folders import images_of, plan_of, refused

IDS = ("cat", "dog", "cow")
OBJECTS = {
    "a folder of masks for each image": ("images/{}.jpg", "masks/{}/{}.png"),
    "a folder beside the images for each": ("images/{}.jpg", "{}/{}.png"),
    "image and masks in one folder": ("{}/photo.jpg", "{}/mask_{}.png"),
    "an image above its masks": ("{0}/{0}.jpg", "{}/masks/{}.png"),
    "an image with the name of its folder": ("{}/raw.tif", "{}/seg/object{}.png"),
}


def put(root, images, masks=(), count=3):
    for image_id in IDS:
        drawing.put_image(root, images.format(image_id))
        for number in range(count):
            for mask in [masks] if masks else []:
                drawing.put_mask(root, mask.format(image_id, number), drawing.truth(image_id))


@pytest.mark.parametrize("kind", OBJECTS)
def test_masks_of_the_objects_of_each_image_are_named_as_such(tmp_path, kind):
    put(tmp_path, *OBJECTS[kind])
    refused(tmp_path, r"several masks for one image, such as .*1\.png for ")


@pytest.mark.parametrize("folder", ["thumbnails", "color", "predictions", "overlays"])
def test_pictures_in_a_folder_of_another_kind_are_not_called_no_image(tmp_path, folder):
    put(tmp_path, folder + "/{}.jpg", "masks/{}.png", count=1)
    text = refused(tmp_path, rf"3 \.jpg.*, such as {folder}/cat\.jpg")
    assert "3 .png called masks, such as masks/cat.png" in text
    assert f"--images {folder}" in text


def test_masks_without_any_picture_are_told_that_there_is_no_image(tmp_path):
    for image_id in IDS:
        drawing.put_mask(tmp_path, f"masks/{image_id}.png", drawing.truth(image_id))
    refused(tmp_path, "no image with a mask among 3 .png called masks")


def test_a_folder_for_the_one_mask_of_each_image_is_not_called_several_masks(tmp_path):
    put(tmp_path, "pictures/{0}.jpg", "masks/{0}/{0}.png", count=1)
    refused(tmp_path, "a folder for the mask of each image, such as masks/c")
    for image_id in IDS:
        drawing.put(tmp_path, f"masks/{image_id}/notes.txt", "drawn twice")
    refused(tmp_path, r"a folder for the mask of each image, such as masks/c.*\.png for c")


def test_more_pictures_of_each_image_do_not_make_pairs_unclear(tmp_path):
    put(tmp_path, "images/{}.jpg", "crops/{}/{}.png")
    put(tmp_path, "images/{}.jpg", "masks/{}.png", count=1)
    assert images_of(plan_of(tmp_path)) == {"train": sorted(IDS)}


@pytest.mark.parametrize(
    ("ending", "words"),
    [
        ("dcm", "slices of DICOM.*pydicom"),
        ("parquet", "tables of Parquet.*load_dataset.*from_arrays"),
        ("mp4", "videos.*ffmpeg"),
        ("mat", "files of MATLAB.*scipy.io.loadmat"),
        ("h5", "files of HDF5.*from_arrays"),
        ("xlsx", "spreadsheets.*CSV"),
        ("tfrecord", "TFRecords.*voc-seg-tfrecord import"),
    ],
)
@pytest.mark.parametrize("has_images", [False, True])
def test_a_format_that_is_not_read_says_its_name_and_a_way(tmp_path, ending, words, has_images):
    for number in range(3):
        drawing.put(tmp_path, f"data/case{number}.{ending}", b"\0\1\2")
        if has_images:
            drawing.put_image(tmp_path, f"images/case{number}.jpg")
    drawing.put(tmp_path, "README.md", b"# cases")
    text = refused(tmp_path, f"(?s){words}")
    assert f"which are not read: 3 files, such as data/case0.{ending}" in text


def test_empty_texts_of_yolo_say_so(tmp_path):
    for number in range(3):
        drawing.put_image(tmp_path, f"images/{number}.jpg")
        drawing.put(tmp_path, f"labels/{number}.txt", b"")
    drawing.put(tmp_path, "data.yaml", b"names: [crack]\n")
    refused(tmp_path, "3 texts without a line, such as labels/0.txt")
