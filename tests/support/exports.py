"""Draws small twins of what labeling tools export, one function for each tool."""

import pathlib

import numpy as np
from PIL import Image
from support.drawing import put, put_image, put_lists, put_mask, put_pair, truth
from support.png_writer import write_png

COLORS = {"background": (0, 0, 0), "apple": (250, 50, 83), "tree": (51, 221, 255)}


def rgb(values: np.ndarray, colors=COLORS) -> Image.Image:
    """Returns class indices as an RGB mask in the colors of the classes."""
    table = np.array(list(colors.values()), np.uint8)
    return Image.fromarray(table[values])


def cvat(root: pathlib.Path) -> None:
    """CVAT's Segmentation mask 1.1: sorted labelmap, RGB, one image without annotations."""
    ids = ["000032", "sub dir/img 2", "photo.v1.2", "unannotated"]
    lines = [f"{name}:{','.join(map(str, COLORS[name]))}::" for name in sorted(COLORS)]
    put(root, "labelmap.txt", "# label:color_rgb:parts:actions\n" + "\n".join(lines) + "\n")
    put_lists(root, default=ids)
    for image_id, ending in zip(ids, (".JPG", ".png", ".jpeg", ".jpg"), strict=True):
        put_image(root, f"JPEGImages/{image_id}{ending}")
        if image_id != "unannotated":
            values = truth(pathlib.Path(image_id).name)
            put(root, f"SegmentationClass/{image_id}.png", rgb(values))


def datumaro_gray(root: pathlib.Path) -> None:
    """Datumaro without colors: gray masks of line numbers, empty colors, ignored last."""
    put(root, "labelmap.txt", "background:::\napple:::\ntree:::\nignored:224,224,192::\n")
    put_lists(root, train="a", val="b")
    for image_id in "ab":
        values = truth(image_id)
        values[0] = 3
        put_pair(root, image_id, values)


def labelme_old(root: pathlib.Path) -> None:
    """labelme2voc before 2023-09: arrays in SegmentationClass, PNGs beside it, no lists."""
    put(root, "class_names.txt", "_background_\napple\ntree/bush")
    for image_id in "ab":
        put_image(root, f"JPEGImages/{image_id}.jpg")
        values = truth(image_id).astype(np.int32)
        values[0] = -1
        put(root, f"SegmentationClass/{image_id}.npy", values)


def supervisely(root: pathlib.Path) -> None:
    """Supervisely: each mask has a palette of its own, background is not listed."""
    root = root / "1_fruit" / "VOCdevkit" / "VOC"
    put(root, "colors.txt", "neutral 224 224 192\nkiwi fruit 255 0 0\nlemon 81 198 170\n")
    put_lists(root, train="ab")
    colors = {0: (0, 0, 0), 1: (255, 0, 0), 2: (81, 198, 170), 255: (224, 224, 192)}
    for image_id, order in (("a", [255, 2, 0, 1]), ("b", [1, 0, 2, 255])):
        put_image(root, f"JPEGImages/{image_id}.jpg")
        values = truth(image_id)
        values[0] = 255
        palette = np.array([colors[value] for value in order])
        indices = np.vectorize(order.index)(values)
        put(root, f"SegmentationClass/{image_id}.png", write_png(indices, depth=2, palette=palette))


def roboflow(root: pathlib.Path) -> None:
    """Roboflow: masks beside images, one folder per split, ids with dots."""
    for split, image_id in (("train", "x_jpg.rf.58df06a"), ("valid", "y_jpg.rf.1be3375")):
        put(root, f"{split}/_classes.csv", "Pixel Value, Class\n0, background\n1, apple\n2, tree")
        put_image(root, f"{split}/{image_id}.jpg")
        put_mask(root, f"{split}/{image_id}_mask.png", truth(image_id))


def mmsegmentation(root: pathlib.Path) -> None:
    """MMSegmentation's custom layout: suffixes, and a palette whose colors mean nothing."""
    put(root, "splits/train.txt", "00000\n")
    put(root, "splits/val.txt", "00001\n")
    palette = np.array([(128, 64, 128), (244, 35, 232), (70, 70, 70)])
    for image_id in ("00000", "00001"):
        put_image(root, f"imgs/{image_id}_img.jpg")
        values = truth(image_id)
        put(root, f"gts/{image_id}_gt.png", write_png(values, depth=4, palette=palette))


def sixteen_bits(root: pathlib.Path) -> None:
    """A hand-made tree: 16-bit gray indices, PNG images, an empty test list."""
    put_lists(root, train=["UFO_6.25_0074"], test=[])
    put(root, "SegmentationClass/README.md", "masks")
    put_image(root, "JPEGImages/UFO_6.25_0074.png")
    mask = write_png(truth("UFO_6.25_0074"), depth=16, color=0)
    put(root, "SegmentationClass/UFO_6.25_0074.png", mask)
