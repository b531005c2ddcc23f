"""Plants, terrain, cracks and defects."""

import string

import numpy as np
from outcomes.layouts.drawing import Painter, Truth, layout
from PIL import Image


@layout("CWFID")
def draw_cwfid(painter: Painter) -> Truth:
    """Crop/Weed Field Image Dataset: `masks` is vegetation or not, `annotations` crop or weed."""
    pairs, of_vegetation = {}, {}
    colors = [(0, 0, 0), (255, 0, 0), (0, 255, 0)]
    for number in range(1, 11):
        scene = painter.scene((0, 1, 2))
        image = painter.photo(f"images/{number:03}_image.png", scene)
        of_vegetation[image] = painter.mask(f"masks/{number:03}_mask.png", (scene == 0) * 255)
        annotation = f"annotations/{number:03}_annotation"
        pairs[image] = painter.color_mask(f"{annotation}.png", scene, colors)
        points = "{x: [3.5, 20.1, 9.0], y: [4.0, 4.5, 19.2]}"
        lines = (f"- {{type: {kind}, points: {points}}}" for kind in ("crop", "weed"))
        painter.text(
            f"{annotation}.yaml", f"filename: {number:03}_image.png", "annotation:", *lines
        )
    images = [*pairs]
    parts = {"train": images[:6], "test": images[6:]}
    numbers = {part: [int(image[7:10]) for image in members] for part, members in parts.items()}
    lines = [f"{part}: {members}" for part, members in numbers.items()]
    painter.text("train_test_split.yaml", *lines)
    painter.text("README.md", "# CWFID", "60 top-down field images of organic carrots.")
    masks_of = {"annotations": pairs, "vegetation": of_vegetation}
    splits, vegetation = (
        {part: {image: masks[image] for image in members} for part, members in parts.items()}
        for masks in masks_of.values()
    )
    return Truth(
        splits,
        (vegetation,),
        {
            "masks": "annotations",
            "classes": {"#000000": "background", "#ff0000": "weed", "#00ff00": "crop"},
        },
    )


@layout("PhenoBench")
def draw_phenobench(painter: Painter) -> Truth:
    """PhenoBench: semantics, numbers of plants and of leaves beside each other; test is hidden."""
    splits = {"train": {}, "validation": {}}
    for part, count in (("train", 5), ("val", 3), ("test", 4)):
        for number in range(count):
            name = f"05-{15 + 11 * (part == 'val')}_{number:05}_P0030{number + 852}.png"
            root = f"PhenoBench/{part}"
            scene = painter.scene(range(5))
            image = painter.photo(f"{root}/images/{name}", scene)
            if part == "test":
                continue
            split = "train" if part == "train" else "validation"
            splits[split][image] = painter.mask(f"{root}/semantics/{name}", scene)
            plants = painter.scene(range(int(painter.random.integers(4, 9))))
            plants[scene == 0] = 0
            painter.save(f"{root}/plant_instances/{name}", plants.astype(np.uint16))
            leaves = plants * 3 + (scene == 1)
            painter.save(f"{root}/leaf_instances/{name}", leaves.astype(np.uint16))
    painter.text("PhenoBench/LICENSE.txt", "CC BY-SA 4.0")
    return Truth(splits)


@layout("CVPPP leaves")
def draw_cvppp(painter: Painter) -> Truth:
    """CVPPP 2017 leaf segmentation: `_label` numbers the leaves of each plant."""
    pairs = {}
    for folder, count in (("A1", 6), ("A4", 5)):
        for number in range(1, count + 1):
            name = f"CVPPP2017_LSC_training/training/{folder}/plant{number:03}"
            leaves = range(int(painter.random.integers(4, 12)))
            pairs |= painter.pair(f"{name}_rgb.png", f"{name}_label.png", leaves)
            centers = np.zeros((32, 40), int)
            centers[painter.random.integers(2, 30, 5), painter.random.integers(2, 38, 5)] = 255
            painter.mask(f"{name}_centers.png", centers)
    painter.text("CVPPP2017_LSC_training/readme.txt", "Leaf Segmentation Challenge, CVPPP 2017")
    return Truth({"train": pairs}, must_ask=True)


@layout("PlantVillage")
def draw_plantvillage(painter: Painter) -> Truth:
    """PlantVillage as on Kaggle: color, gray and cut-out photos by disease, and no masks at all."""
    for disease in ("Apple___Apple_scab", "Tomato___healthy"):
        for number in range(5):
            (code,) = painter.names(1, string.hexdigits[:16], 12)
            name = f"{disease}/{code}___FREC_Scab {3000 + number}"
            scene = painter.scene((0, 1))
            photo = painter.photo(f"plantvillage dataset/color/{name}.JPG", scene)
            pixels = np.array(Image.open(painter.root / photo))
            painter.save(f"plantvillage dataset/grayscale/{name}.JPG", pixels[..., 1])
            leaf = pixels * (scene == 1)[..., None].astype(np.uint8)
            painter.save(f"plantvillage dataset/segmented/{name}_final_masked.jpg", leaf)
    return Truth({}, must_ask=True)


RUGD = {
    "void": (0, 0, 0),
    "dirt": (108, 64, 20),
    "sand": (255, 229, 204),
    "grass": (0, 102, 0),
    "tree": (0, 255, 0),
    "sky": (0, 0, 255),
}


@layout("RUGD")
def draw_rugd(painter: Painter) -> Truth:
    """RUGD: two folders of scenes, and a color map with the numbers in front."""
    pairs = {}
    for scene in ("creek", "park-1", "trail-10"):
        for number in range(1, 5):
            name = f"{scene}/{scene}_{number * 5:05}.png"
            image, mask = f"RUGD_frames-with-annotations/{name}", f"RUGD_annotations/{name}"
            pairs |= painter.color_pair(image, mask, [*RUGD.values()])
    rows = [f"{n} {name} {r} {g} {b}" for n, (name, (r, g, b)) in enumerate(RUGD.items())]
    painter.text("RUGD_annotations/RUGD_annotation-colormap.txt", *rows)
    painter.mac_files("RUGD_annotations", ["RUGD_annotations/._creek"])
    return Truth({"train": pairs})


@layout("DeepCrack")
def draw_deepcrack(painter: Painter) -> Truth:
    """DeepCrack (the archive of its repository): images and labels of two splits, four folders."""
    splits = {}
    for part, count in (("train", 8), ("test", 5)):
        pairs = {}
        for number in range(count):
            name = f"{11111 + number}" if part == "train" else f"IMG_{6400 + number}-1"
            pairs |= painter.pair(f"{part}_img/{name}.jpg", f"{part}_lab/{name}.png")
        splits[part] = pairs
    painter.text("README.md", "# DeepCrack", "300 images for training and 237 for testing.")
    return Truth(splits, ({"train": splits["train"], "validation": splits["test"]},))


@layout("CRACK500")
def draw_crack500(painter: Painter) -> Truth:
    """CRACK500: crops and their masks in one folder for each split, lists of pairs beside them."""
    splits = {}
    for part, count in (("train", 7), ("val", 3), ("test", 4)):
        pairs = {}
        for number in range(count):
            crop = f"{1 + 640 * (number % 2)}_{361 if number % 3 else 1}"
            name = f"{part}crop/20160222_08{1011 + 7 * len(splits) + number}_{crop}"
            pairs |= painter.pair(f"{name}.jpg", f"{name}.png")
        painter.text(f"{part}.txt", *(f"{image} {mask}" for image, mask in pairs.items()))
        splits["validation" if part == "val" else part] = pairs
    return Truth(splits)


@layout("MVTec AD")
def draw_mvtec(painter: Painter) -> Truth:
    """MVTec AD, one category: only images with a defect have masks, and they are in `test`."""
    pairs = {}
    for number in range(8):
        painter.photo(f"bottle/train/good/{number:03}.png", painter.scene((7, 9)))
    for number in range(4):
        painter.photo(f"bottle/test/good/{number:03}.png", painter.scene((7, 9)))
    for defect in ("broken_large", "contamination"):
        for number in range(5):
            image = f"bottle/test/{defect}/{number:03}.png"
            mask = f"bottle/ground_truth/{defect}/{number:03}_mask.png"
            pairs |= painter.pair(image, mask)
    painter.text("bottle/license.txt", "CC BY-NC-SA 4.0")
    painter.text("bottle/readme.txt", "MVTec Anomaly Detection Dataset: bottle")
    return Truth({"test": pairs}, ({"train": pairs},))
