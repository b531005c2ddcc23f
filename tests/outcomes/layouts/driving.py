"""Driving sets."""

import string

import numpy as np
from outcomes.layouts.drawing import Painter, Truth, hex_color, layout, some

CITYSCAPES_COLORS = {
    3: (0, 0, 0),
    7: (128, 64, 128),
    8: (244, 35, 232),
    11: (70, 70, 70),
    21: (107, 142, 35),
    23: (70, 130, 180),
    26: (0, 0, 142),
}
CITYSCAPES_NAMES = {
    3: "out of roi",
    7: "road",
    8: "sidewalk",
    11: "building",
    21: "vegetation",
    23: "sky",
    26: "car",
}


@layout("Cityscapes")
def draw_cityscapes(painter: Painter) -> Truth:
    """Cityscapes (gtFine_trainvaltest and leftImg8bit_trainvaltest): the test masks are dummies."""
    splits = {"train": {}, "validation": {}, "test": {}}
    cities = {"train/aachen": 4, "train/ulm": 3, "val/lindau": 3, "test/berlin": 2}
    names = {"train": "train", "val": "validation", "test": "test"}
    for folder, count in cities.items():
        part, city = folder.split("/")
        for number in range(count):
            name = f"{city}_{number:06}_000019"
            values = (3,) if part == "test" else tuple(CITYSCAPES_COLORS)
            scene = painter.scene(tuple(CITYSCAPES_COLORS))
            image = painter.photo(f"leftImg8bit/{folder}/{name}_leftImg8bit.png", scene)
            if part == "test":
                scene = painter.scene(values)
            truth = f"gtFine/{folder}/{name}_gtFine"
            mask = painter.mask(f"{truth}_labelIds.png", scene)
            colors = [CITYSCAPES_COLORS.get(value, (0, 0, 0)) for value in range(27)]
            painter.color_mask(f"{truth}_color.png", scene, colors)
            instances = np.where(scene == 26, 26000, scene)
            painter.save(f"{truth}_instanceIds.png", instances.astype(np.uint16))
            objects = [
                {"label": CITYSCAPES_NAMES[value], "polygon": [[0, 0], [39, 0], [39, 31]]}
                for value in values
            ]
            content = {"imgHeight": 32, "imgWidth": 40, "objects": objects}
            painter.json(f"{truth}_polygons.json", content)
            splits[names[part]][image] = mask
    painter.text("README", "The Cityscapes Dataset", "(c) Daimler AG, MPI, TU Darmstadt")
    painter.text("license.txt", "This dataset is made freely available for research.")
    classes = {value: name for value, name in CITYSCAPES_NAMES.items() if value != 3}
    labeled = {"train": splits["train"], "validation": splits["validation"]}
    return Truth(labeled, (splits,), {"classes": {3: "void"} | classes})


@layout("CamVid SegNet")
def draw_camvid_segnet(painter: Painter) -> Truth:
    """CamVid as in the SegNet tutorial: lists of absolute paths of another computer."""
    splits = {}
    parts = {"train": ("0001TP", 8), "val": ("0016E5", 4), "test": ("Seq05VD", 4)}
    for part, (sequence, count) in parts.items():
        pairs = {}
        lines = []
        for number in range(count):
            name = f"{sequence}_{6690 + 30 * number:06}.png"
            values = some(range(12), 6, number)
            pairs |= painter.pair(f"CamVid/{part}/{name}", f"CamVid/{part}annot/{name}", values)
            lines.append(f"/SegNet/CamVid/{part}/{name} /SegNet/CamVid/{part}annot/{name}")
        painter.text(f"CamVid/{part}.txt", *lines)
        splits["validation" if part == "val" else part] = pairs
    return Truth(splits)


CAMVID_COLORS = {
    "Animal": (64, 128, 64),
    "Building": (128, 0, 0),
    "Car": (64, 0, 128),
    "LaneMkgsDriv": (128, 0, 192),
    "Road": (128, 64, 128),
    "Sky": (128, 128, 128),
    "Tree": (128, 128, 0),
    "Void": (0, 0, 0),
}


@layout("CamVid original")
def draw_camvid(painter: Painter) -> Truth:
    """CamVid from Cambridge: all stills in one folder, colors in `label_colors.txt`."""
    pairs = {}
    colors = [*CAMVID_COLORS.values()]
    for sequence in ("0001TP_", "0006R0_f", "Seq05VD_f"):
        for number in range(4):
            name = f"{sequence}{6690 + 30 * number:05}"
            mask = f"LabeledApproved_full/{name}_L.png"
            pairs |= painter.color_pair(f"701_StillsRaw_full/{name}.png", mask, colors)
    lines = [f"{r} {g} {b}\t{name}" for name, (r, g, b) in CAMVID_COLORS.items()]
    painter.text("label_colors.txt", *lines)
    painter.archive("LabeledApproved_full.zip", [*pairs.values()])
    return Truth({"train": pairs})


@layout("KITTI road")
def draw_kitti_road(painter: Painter) -> Truth:
    """KITTI road (data_road.zip): `um` images have a second mask, of their own lane."""
    pairs = {}
    colors = [(255, 0, 0), (255, 0, 255), (0, 0, 0)]
    root = "data_road"
    for kind in ("um", "umm", "uu"):
        for number in range(4):
            name = f"{number:06}"
            scene = painter.scene((0, 1, 2) if kind == "um" else (0, 1))
            image = painter.photo(f"{root}/training/image_2/{kind}_{name}.png", scene)
            truth = f"{root}/training/gt_image_2/{kind}"
            pairs[image] = painter.color_mask(f"{truth}_road_{name}.png", scene, colors)
            if kind == "um":
                lane = painter.scene((0, 1))
                painter.color_mask(f"{truth}_lane_{name}.png", lane, colors)
            matrix = "P2: 7.215377e+02 0.0 6.095593e+02 4.485728e+01"
            painter.text(f"{root}/training/calib/{kind}_{name}.txt", matrix)
            if number < 2:
                painter.photo(f"{root}/testing/image_2/{kind}_{name}.png")
                painter.text(f"{root}/testing/calib/{kind}_{name}.txt", matrix)
    classes = {"#ff0000": "background", "#ff00ff": "road", "#000000": "void"}
    options = {"classes": classes, "mask_name": "{a}_road_{b}.png"}
    return Truth({"train": pairs}, options=options)


VISTAS = {
    "animal--bird": (165, 42, 42),
    "construction--flat--road": (128, 64, 128),
    "construction--structure--building": (70, 70, 70),
    "nature--sky": (70, 130, 180),
    "nature--vegetation": (107, 142, 35),
    "void--unlabeled": (0, 0, 0),
}


@layout("Mapillary Vistas")
def draw_vistas(painter: Painter) -> Truth:
    """Mapillary Vistas v1.1: palette masks, instances and panoptic beside them, `config.json`."""
    splits = {"train": {}, "validation": {}}
    colors = [*VISTAS.values()]
    for part, count in (("training", 7), ("validation", 3), ("testing", 3)):
        for name in painter.names(count, string.ascii_letters + string.digits, 22):
            scene = painter.scene(range(len(colors)))
            image = painter.photo(f"{part}/images/{name}.jpg", scene)
            if part == "testing":
                continue
            mask = painter.mask(f"{part}/labels/{name}.png", scene, colors)
            numbers = scene * 256 + (scene == 3)
            painter.save(f"{part}/instances/{name}.png", numbers.astype(np.uint16))
            painter.color_mask(f"{part}/panoptic/{name}.png", scene, [*reversed(colors)])
            splits["train" if part == "training" else "validation"][image] = mask
    labels = [
        {
            "color": list(color),
            "instances": name.startswith("animal"),
            "readable": name.rpartition("--")[2].capitalize(),
            "name": name,
            "evaluate": not name.startswith("void"),
        }
        for name, color in VISTAS.items()
    ]
    content = {"labels": labels, "version": "1.1", "mapping": "public", "folder_structure": "{}"}
    painter.json("config.json", content)
    painter.text("README", "Mapillary Vistas Dataset, public, version 1.1")
    painter.text("LICENSE", "Creative Commons BY-NC-SA 4.0")
    painter.text("demo.py", "import json", "config = json.load(open('config.json'))")
    return Truth(splits)


@layout("BDD100K")
def draw_bdd(painter: Painter) -> Truth:
    """BDD100K semantic segmentation (bdd100k_images_10k and bdd100k_sem_seg_labels_trainval)."""
    splits = {"train": {}, "validation": {}}
    values = [*range(19), 255]
    rng = np.random.default_rng(19)
    colors = rng.integers(0, 256, (256, 3)).tolist()
    for part, count in (("train", 8), ("val", 4), ("test", 4)):
        for number in range(count):
            left, right = painter.names(2, string.hexdigits[:16], 8)
            scene = painter.scene(3 * some(values, 10, number))  # a class has several regions
            image = painter.photo(f"bdd100k/images/10k/{part}/{left}-{right}.jpg", scene)
            if part == "test":
                continue
            labels = "bdd100k/labels/sem_seg"
            mask = painter.mask(f"{labels}/masks/{part}/{left}-{right}.png", scene)
            painter.color_mask(f"{labels}/colormaps/{part}/{left}-{right}.png", scene, colors)
            splits["validation" if part == "val" else part][image] = mask
    for part, split in (("train", "train"), ("val", "validation")):
        vertices = {"vertices": [[0, 0], [39, 0], [39, 31]], "types": "LLL", "closed": True}
        labels = [{"id": "1", "category": "road", "poly2d": [vertices]}]
        frames = [{"name": image.rpartition("/")[2], "labels": labels} for image in splits[split]]
        painter.json(f"bdd100k/labels/sem_seg/polygons/sem_seg_{part}.json", frames)
    return Truth(splits)


@layout("IDD")
def draw_idd(painter: Painter) -> Truth:
    """India Driving Dataset as downloaded: its labels are polygons in Cityscapes' JSON."""
    splits = {"train": {}, "validation": {}}
    names = {1: "road", 2: "sky", 3: "autorickshaw"}
    root = "IDD_Segmentation"
    for part, folder, count in (("train", "201", 5), ("train", "7", 3), ("val", "119", 3)):
        for number in range(count):
            scene, polygons = painter.polygons((1, 2, 3))
            name = f"{part}/{folder}/frame{29 + 30 * number:04}"
            image = painter.photo(f"{root}/leftImg8bit/{name}_leftImg8bit.jpg", scene)
            objects = [
                {"id": n, "label": names[value], "polygon": points, "deleted": 0, "verified": 0}
                for n, (value, points) in enumerate(polygons)
            ]
            content = {"imgHeight": 32, "imgWidth": 40, "objects": objects}
            labels = painter.json(f"{root}/gtFine/{name}_gtFine_polygons.json", content)
            splits["validation" if part == "val" else part][image] = labels
    for number in range(2):
        painter.photo(f"{root}/leftImg8bit/test/250/frame{number:04}_leftImg8bit.jpg")
    return Truth(splits)


COMMA_COLORS = {
    "#402020": "road",
    "#ff0000": "lane markings",
    "#808060": "undrivable",
    "#00ff66": "movable",
    "#cc00ff": "my car",
}


@layout("comma10k")
def draw_comma(painter: Painter) -> Truth:
    """comma10k as cloned: two sizes of set, colors in the README, a list of trainable files."""
    pairs = {}
    colors = [tuple(bytes.fromhex(color[1:])) for color in COMMA_COLORS]
    for number in range(10):
        (run,) = painter.names(1, string.hexdigits[:16], 16)
        name = f"{number:04}_{run}_2018-07-{number + 10}--{number + 20}.png"
        pairs |= painter.color_pair(f"imgs/{name}", f"masks/{name}", colors)
    for number in range(3):
        (run,) = painter.names(1, string.hexdigits[:16], 16)
        name = f"{number:04}e{run}_f_2020.png"
        pairs |= painter.color_pair(f"imgs2/{name}", f"masks2/{name}", colors)
    lines = [f" {n} - {color} - {name}" for n, (color, name) in enumerate(COMMA_COLORS.items(), 1)]
    painter.text("README.md", "# comma10k", "It's 10,000 PNGs.", "## Categories", *lines)
    painter.text("files_trainable", *pairs.values())
    painter.text("LICENSE", "MIT License")
    painter.text("viewer.py", "import os")
    painter.text(".gitignore", "*.pyc")
    main = {image: mask for image, mask in pairs.items() if image.startswith("imgs/")}
    return Truth({"train": pairs}, ({"train": main},), {"classes": COMMA_COLORS})


A2D2 = {
    "Car 1": (255, 0, 0),
    "Car 2": (200, 0, 0),
    "Pedestrian 1": (204, 153, 255),
    "Drivable cobblestone": (180, 50, 180),
    "RD normal street": (255, 0, 255),
    "Sky": (135, 206, 255),
}


@layout("A2D2")
def draw_a2d2(painter: Painter) -> Truth:
    """A2D2 semantic (camera_lidar_semantic): names differ in the middle, colors in a JSON file."""
    pairs = {}
    root = "camera_lidar_semantic"
    for scene_name in ("20180807_145028", "20180925_101535"):
        start = scene_name.replace("_", "")
        for number in (91, 135, 252, 310, 401):
            end = f"frontcenter_{number:09}"
            camera = f"{root}/{scene_name}/camera/cam_front_center/{start}_camera_{end}"
            label = f"{root}/{scene_name}/label/cam_front_center/{start}_label_{end}.png"
            pairs |= painter.color_pair(f"{camera}.png", label, [*A2D2.values()])
            painter.json(f"{camera}.json", {"cam_name": "front_center", "cam_tstamp": number})
            lidar = f"{root}/{scene_name}/lidar/cam_front_center/{start}_lidar_{end}.npz"
            painter.file(lidar, b"PK\5\6" + bytes(18))
    class_list = {hex_color(color): name for name, color in A2D2.items()}
    painter.json(f"{root}/class_list.json", class_list)
    painter.json("cams_lidars.json", {"cameras": {}, "lidars": {}, "vehicle": {}})
    painter.text("LICENSE.txt", "CC BY-ND 4.0")
    return Truth({"train": pairs})


CARLA_CLASSES = (
    "none",
    "building",
    "fence",
    "other",
    "pedestrian",
    "pole",
    "road line",
    "road",
    "sidewalk",
    "vegetation",
    "car",
    "wall",
    "traffic sign",
)


@layout("Lyft Udacity")
def draw_lyft(painter: Painter) -> Truth:
    """Lyft Udacity Challenge (Kaggle): CARLA's class numbers in the red channel of the masks."""
    pairs = {}
    for part in "ABC":
        root = f"data{part}/data{part}"
        for number in range(5):
            name = f"F{number}-{ord(part) - 65}.png"
            scene = painter.scene(some(range(len(CARLA_CLASSES)), 7, number))
            image = painter.photo(f"{root}/CameraRGB/{name}", scene)
            red = np.zeros((*scene.shape, 3), np.uint8)
            red[..., 0] = scene
            pairs[image] = painter.save(f"{root}/CameraSeg/{name}", red)
    classes = {hex_color((number, 0, 0)): name for number, name in enumerate(CARLA_CLASSES)}
    return Truth({"train": pairs}, options={"classes": classes})
