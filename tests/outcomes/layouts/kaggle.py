"""Sets as Kaggle's archives unpack."""

import string

import numpy as np
from outcomes.layouts.drawing import Painter, Truth, layout


@layout("Carvana")
def draw_carvana(painter: Painter) -> Truth:
    """Carvana Image Masking Challenge, as its data page lists the files."""
    cars = painter.names(5, string.hexdigits[:16], 12)
    pairs = {}
    rows = ["img,rle_mask"]
    for car in cars[:3]:
        for angle in range(1, 5):
            name = f"{car}_{angle:02}"
            pairs |= painter.pair(f"train/{name}.jpg", f"train_masks/{name}_mask.gif")
            rows.append(f"{name}.jpg,412 9 451 12 490 14")
    tests = [f"{car}_{angle:02}.jpg" for car in cars[3:] for angle in range(1, 4)]
    for name in tests:
        painter.photo(f"test/{name}")
    painter.text("train_masks.csv", *rows)
    painter.text("sample_submission.csv", "img,rle_mask", *(f"{name},1 1" for name in tests))
    models = [f"{car},201{n}.0,Acura,TL,TL,w/SE" for n, car in enumerate(cars)]
    painter.text("metadata.csv", "id,year,make,model,trim1,trim2", *models)
    painter.archive("train_masks.zip", [*pairs.values()])
    return Truth({"train": pairs})


@layout("DSB 2018")
def draw_dsb(painter: Painter) -> Truth:
    """2018 Data Science Bowl, unpacked: a folder for each image, a mask for each nucleus."""
    pairs = {}
    rows = ["ImageId,EncodedPixels"]
    for name in painter.names(7, string.hexdigits[:16], 64):
        scene = painter.scene(range(int(painter.random.integers(3, 6))))
        image = painter.photo(f"stage1_train/{name}/images/{name}.png", scene > 0)
        for number in range(1, scene.max() + 1):
            (nucleus,) = painter.names(1, string.hexdigits[:16], 64)
            one = np.where(scene == number, 255, 0)
            painter.mask(f"stage1_train/{name}/masks/{nucleus}.png", one)
            rows.append(f"{name},71 5 110 6")
        pairs[image] = f"stage1_train/{name}/masks"
    for name in painter.names(3, string.hexdigits[:16], 64):
        painter.photo(f"stage1_test/{name}/images/{name}.png")
    painter.text("stage1_train_labels.csv", *rows)
    painter.text("stage1_sample_submission.csv", "ImageId,EncodedPixels", f"{name},1 1")
    options = {
        "images": "stage1_train",
        "masks": "stage1_train",
        "image_name": "{id}/images/{id}.png",
        "mask_name": "nucleus={id}/masks/*.png",
    }
    return Truth({"train": pairs}, options=options)


@layout("TGS Salt")
def draw_tgs(painter: Painter) -> Truth:
    """TGS Salt Identification: 16-bit masks, some of them empty, and depths of all images."""
    ids = painter.names(14, string.digits + string.hexdigits[:6], 10)
    pairs = {}
    for number, name in enumerate(ids[:10]):
        values = (0, 65535) if number % 4 else (0,)
        scene = painter.scene(values)
        image = painter.photo(f"train/images/{name}.png", scene)
        path = f"train/masks/{name}.png"
        pairs[image] = painter.save(path, scene.astype(np.uint16))
    for name in ids[10:]:
        painter.photo(f"test/images/{name}.png")
    painter.text("train.csv", "id,rle_mask", *(f"{name},9 40 49 40" for name in ids[:10]))
    depths = [f"{name},{painter.random.integers(50, 960)}" for name in ids]
    painter.text("depths.csv", "id,z", *depths)
    painter.text("sample_submission.csv", "id,rle_mask", *(f"{name},1 1" for name in ids[10:]))
    return Truth({"train": pairs}, options={"classes": {0: "background", 65535: "salt"}})


@layout("Ultrasound Nerve")
def draw_nerve(painter: Painter) -> Truth:
    """Ultrasound Nerve Segmentation: images and masks of all patients in one folder."""
    pairs = {}
    rows = ["subject,img,pixels"]
    for subject in range(1, 4):
        for number in range(1, 6):
            values = (0, 255) if number % 3 else (0,)
            scene = painter.scene(values)
            name = f"train/{subject}_{number}"
            image = painter.photo(f"{name}.tif", scene, gray=True)
            pairs[image] = painter.mask(f"{name}_mask.tif", scene)
            pixels = "168 6 207 9" if number % 3 else ""
            rows.append(f"{subject},{number},{pixels}")
    for number in range(1, 6):
        painter.photo(f"test/{number}.tif", gray=True)
    painter.text("train_masks.csv", *rows)
    painter.text("sample_submission.csv", "img,pixels", *(f"{n},1 1" for n in range(1, 6)))
    return Truth({"train": pairs})


@layout("Severstal Steel")
def draw_severstal(painter: Painter) -> Truth:
    """Severstal Steel Defect Detection: the only labels are runs of pixels in a CSV file."""
    rows = ["ImageId,ClassId,EncodedPixels"]
    for number, name in enumerate(painter.names(8, string.hexdigits[:16], 9)):
        painter.photo(f"train_images/{name}.jpg")
        rows.append(f"{name}.jpg,{number % 4 + 1},129 7 161 9")
    samples = ["ImageId_ClassId,EncodedPixels"]
    for name in painter.names(3, string.hexdigits[:16], 9):
        painter.photo(f"test_images/{name}.jpg")
        samples += [f"{name}.jpg_{number},1 1" for number in range(1, 5)]
    painter.text("train.csv", *rows)
    painter.text("sample_submission.csv", *samples)
    return Truth({}, must_ask=True)


@layout("Water Bodies")
def draw_water(painter: Painter) -> Truth:
    """Satellite Images of Water Bodies: masks are black and white JPEGs."""
    pairs = {}
    for number in (1, 2, 3, 5, 8, 10, 11, 20, 21, 100):
        name = f"water_body_{number}.jpg"
        root = "Water Bodies Dataset"
        pairs |= painter.pair(f"{root}/Images/{name}", f"{root}/Masks/{name}")
    return Truth({"train": pairs}, options={"threshold": 128})


CLOTHES = ("null", "accessories", "bag", "belt", "blazer", "blouse", "boots", "bra", "cape")


@layout("People Clothing")
def draw_clothing(painter: Painter) -> Truth:
    """People Clothing Segmentation: each picture as JPEG and as PNG, classes in a CSV file."""
    pairs, from_jpeg = {}, {}
    values = range(len(CLOTHES))
    for number in range(1, 9):
        scene = painter.scene([0, *painter.random.permutation(values[1:])[:5].tolist()])
        if number == 1:
            scene = painter.scene(values)
        image = painter.photo(f"png_images/IMAGES/img_{number:04}.png", scene)
        mask = painter.mask(f"png_masks/MASKS/seg_{number:04}.png", scene)
        copy = painter.copy(image, f"jpeg_images/IMAGES/img_{number:04}.jpeg")
        painter.copy(mask, f"jpeg_masks/MASKS/seg_{number:04}.jpeg")
        pairs[image] = mask
        from_jpeg[copy] = mask
    rows = [f"{number},{name}" for number, name in enumerate(CLOTHES)]
    painter.text("labels.csv", ",label_list", *rows)
    return Truth({"train": pairs}, also_right=({"train": from_jpeg},))
