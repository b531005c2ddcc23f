"""Exports of labeling tools, and the folders that training programs ask for."""

import base64
import io
import json
import string
import zlib

import numpy as np
from outcomes.layouts.drawing import SIZE, Painter, Truth, layout, some
from PIL import Image

HEIGHT, WIDTH = SIZE


@layout("U-Net membrane")
def draw_unet(painter: Painter) -> Truth:
    """The most copied U-Net repository (zhixuhao/unet): predictions lie beside the test images."""
    pairs = {}
    for number in range(10):
        name = f"{number}.png"
        scene = painter.scene((0, 255))
        image = painter.photo(f"data/membrane/train/image/{name}", scene, gray=True)
        pairs[image] = painter.mask(f"data/membrane/train/label/{name}", scene)
    for number in range(5):
        scene = painter.scene((0, 255))
        painter.photo(f"data/membrane/test/{number}.png", scene, gray=True)
        soft = Image.fromarray(scene.astype(np.uint8)).resize((20, 16), Image.Resampling.BILINEAR)
        predicted = np.array(soft.resize((WIDTH, HEIGHT), Image.Resampling.BILINEAR))
        painter.save(f"data/membrane/test/{number}_predict.png", predicted)
    painter.text("README.md", "# Implementation of deep learning framework -- Unet, using Keras")
    painter.text("main.py", "from model import *", "from data import *")
    painter.file("unet_membrane.hdf5", b"\x89HDF\r\n\x1a\n")
    return Truth({"train": pairs})


@layout("labelme")
def draw_labelme(painter: Painter) -> Truth:
    """labelme: one JSON file beside each photo, with `labels.txt` of its example."""
    names = {1: "cat", 2: "dog"}
    pairs = {}
    for number in range(1, 9):
        scene, polygons = painter.polygons((1, 2) if number % 2 else (1,))
        image = painter.photo(f"photos/2011_{number:06}.jpg", scene)
        shapes = [
            {
                "label": names[value],
                "points": [[float(x), float(y)] for x, y in points],
                "group_id": None,
                "shape_type": "polygon",
                "flags": {},
            }
            for value, points in polygons
        ]
        content = {
            "version": "5.4.1",
            "flags": {},
            "shapes": shapes,
            "imagePath": f"2011_{number:06}.jpg",
            "imageData": None,
            "imageHeight": HEIGHT,
            "imageWidth": WIDTH,
        }
        label_path = f"photos/2011_{number:06}.json"
        pairs[image] = painter.text(label_path, json.dumps(content, indent=2))
    painter.text("labels.txt", "__ignore__", "_background_", "cat", "dog")
    return Truth({"train": pairs})


@layout("CVAT")
def draw_cvat(painter: Painter) -> Truth:
    """CVAT's export `Segmentation mask 1.1`: VOC's folders, `labelmap.txt` and `default.txt`."""
    colors = [(0, 0, 0), (250, 50, 83), (51, 221, 255)]
    pairs = {}
    ids = [f"frame_{number:06}" for number in range(10)]
    for name in ids:
        scene = painter.scene((0, 1, 2))
        image = painter.photo(f"JPEGImages/{name}.jpg", scene)
        pairs[image] = painter.color_mask(f"SegmentationClass/{name}.png", scene, colors)
        objects = [(0, 0, 0), (128, 0, 0), (0, 128, 0)]
        painter.color_mask(f"SegmentationObject/{name}.png", scene, objects)
    painter.text("ImageSets/Segmentation/default.txt", *ids)
    labels = zip(("background", "apple", "pear"), colors, strict=True)
    rows = [f"{name}:{r},{g},{b}::" for name, (r, g, b) in labels]
    painter.text("labelmap.txt", "# label:color_rgb:parts:actions", *rows)
    return Truth({"train": pairs})


@layout("Roboflow")
def draw_roboflow(painter: Painter) -> Truth:
    """Roboflow's export `Semantic Segmentation Masks`: a `_classes.csv` in each split folder."""
    splits = {}
    for part, count in (("train", 7), ("valid", 3), ("test", 2)):
        pairs = {}
        for number in range(count):
            (digest,) = painter.names(1, string.hexdigits[:16], 32)
            name = f"{part}/IMG_{2300 + 20 * len(splits) + number}_jpg.rf.{digest}"
            pairs |= painter.pair(f"{name}.jpg", f"{name}_mask.png", (0, 1, 2))
        classes = ("Pixel Value, Class", "0, background", "1, leaf", "2, stem")
        painter.text(f"{part}/_classes.csv", *classes)
        splits["validation" if part == "valid" else part] = pairs
    painter.text("README.dataset.txt", "leaves > 2024-05-02 3:11pm", "Provided by a Roboflow user")
    painter.text("README.roboflow.txt", "leaves - v2", "The dataset includes 12 images.")
    return Truth(splits)


@layout("Supervisely")
def draw_supervisely(painter: Painter) -> Truth:
    """A Supervisely project: `meta.json`, and for each dataset `img` and `ann`."""
    pairs = {}
    titles = {1: "road", 2: "pothole"}
    for dataset in ("ds0", "ds1"):
        for number in range(5):
            scene, polygons = painter.polygons((1, 2))
            name = f"IMG_{number:04}_{dataset}.jpeg"
            image = painter.photo(f"{dataset}/img/{name}", scene)
            (road, points), (_, (corner, *_)) = polygons
            below = scene[corner[1] :]
            polygon = {
                "classTitle": titles[road],
                "geometryType": "polygon",
                "points": {"exterior": points, "interior": []},
                "tags": [],
            }
            bitmap = {
                "classTitle": titles[2],
                "geometryType": "bitmap",
                "bitmap": {
                    "data": encode_bitmap(below == 2),
                    "origin": [0, corner[1]],
                },
                "tags": [],
            }
            size = {"height": HEIGHT, "width": WIDTH}
            content = {"description": "", "tags": [], "size": size, "objects": [polygon, bitmap]}
            pairs[image] = painter.json(f"{dataset}/ann/{name}.json", content)
    classes = [
        {"title": "road", "shape": "any", "color": "#8B572A", "geometry_config": {}},
        {"title": "pothole", "shape": "any", "color": "#D0021B", "geometry_config": {}},
    ]
    painter.json("meta.json", {"classes": classes, "tags": [], "projectType": "images"})
    return Truth({"train": pairs})


def encode_bitmap(shape: np.ndarray) -> str:
    """Returns Supervisely's form of a bitmap: base64 of zlib of a PNG with an alpha channel."""
    pixels = np.zeros((*shape.shape, 4), np.uint8)
    pixels[shape] = 255
    png = io.BytesIO()
    Image.fromarray(pixels).save(png, "PNG")
    return base64.b64encode(zlib.compress(png.getvalue())).decode()


@layout("MMSegmentation")
def draw_mmseg(painter: Painter) -> Truth:
    """A custom set after MMSegmentation's tutorial: `img_dir`, `ann_dir` and lists of splits."""
    splits = {}
    for part, count in (("train", 8), ("val", 4)):
        pairs = {}
        for number in range(count):
            name = f"{'abcd'[number % 4]}{number:03}"
            image = f"my_dataset/img_dir/{part}/{part}_{name}.jpg"
            mask = f"my_dataset/ann_dir/{part}/{part}_{name}.png"
            pairs |= painter.pair(image, mask, (*some(range(8), 4, number), 255))
        splits["validation" if part == "val" else part] = pairs
        stems = [image.rpartition("/")[2].removesuffix(".jpg") for image in pairs]
        painter.text(f"my_dataset/splits/{part}.txt", *stems)
    return Truth(splits)


@layout("Hugging Face imagefolder")
def draw_imagefolder(painter: Painter) -> Truth:
    """Hugging Face's imagefolder with two images in each line of `metadata.jsonl`."""
    splits = {}
    for part, count in (("train", 8), ("validation", 3), ("test", 3)):
        pairs = {}
        lines = []
        for number in range(count):
            image, mask = f"images/{number:04}.png", f"masks/{number:04}.png"
            pairs |= painter.pair(f"{part}/{image}", f"{part}/{mask}", (0, 1, 2, 3))
            lines.append(json.dumps({"image_file_name": image, "mask_file_name": mask}))
        painter.text(f"{part}/metadata.jsonl", *lines)
        splits[part] = pairs
    card = ("---", "license: cc-by-4.0", "task_categories:", "- image-segmentation", "---")
    painter.text("README.md", *card, "# Fields")
    painter.text(".gitattributes", "*.png filter=lfs diff=lfs merge=lfs -text")
    return Truth(splits)


@layout("U-Net data/imgs")
def draw_milesial(painter: Painter) -> Truth:
    """The U-Net repository of milesial with Carvana unpacked into `data/imgs` and `data/masks`."""
    pairs = {}
    for car in painter.names(3, string.hexdigits[:16], 12):
        for angle in range(1, 5):
            name = f"{car}_{angle:02}"
            pairs |= painter.pair(f"data/imgs/{name}.jpg", f"data/masks/{name}_mask.gif", (0, 1))
    for folder in ("imgs", "masks"):
        painter.text(f"data/{folder}/.keep")
    painter.text("README.md", "# U-Net: Semantic segmentation with PyTorch")
    painter.text("train.py", "import torch")
    painter.text("predict.py", "import torch")
    painter.text("requirements.txt", "matplotlib==3.6.2", "numpy==1.23.5")
    painter.file("checkpoints/checkpoint_epoch1.pth", b"PK\3\4made")
    return Truth({"train": pairs})


@layout("SegNet Keras")
def draw_segnet_keras(painter: Painter) -> Truth:
    """`dataset1` of image-segmentation-keras: masks are RGB with the class in all channels."""
    splits = {}
    for part, count in (("train", 9), ("test", 4)):
        pairs = {}
        for number in range(count):
            name = f"dataset1/{{}}_prepped_{part}/0016E5_{number:05}.png"
            scene = painter.scene(some(range(12), 6, number))
            image = painter.photo(name.format("images"), scene)
            three = np.repeat(scene[..., None], 3, axis=-1).astype(np.uint8)
            pairs[image] = painter.save(name.format("annotations"), three)
        splits[part] = pairs
    as_validation = {"train": splits["train"], "validation": splits["test"]}
    return Truth(splits, also_right=(as_validation,))
