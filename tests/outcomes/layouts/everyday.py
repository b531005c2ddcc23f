"""Everyday scenes, animals and water."""

import numpy as np
from outcomes.layouts.drawing import Painter, Truth, hex_color, layout, some


@layout("Oxford-IIIT Pet")
def draw_pets(painter: Painter) -> Truth:
    """Oxford-IIIT Pet, both archives unpacked: trimaps of 1, 2, 3, and macOS files among them."""
    masks = {}
    ids = [f"{breed}_{n}" for breed in ("Abyssinian", "Bengal", "beagle") for n in (1, 2, 10, 100)]
    for name in ids:
        scene = painter.scene((2, 1))
        edges = (scene != np.roll(scene, 1, axis=0)) | (scene != np.roll(scene, 1, axis=1))
        image = painter.photo(f"images/{name}.jpg", scene)
        masks[image] = painter.mask(f"annotations/trimaps/{name}.png", np.where(edges, 3, scene))
        painter.file(f"annotations/trimaps/._{name}.png", b"\0\5\26\7\0\2\0\0Mac OS X        ")
        box = "<bndbox><xmin>3</xmin><ymin>2</ymin><xmax>30</xmax><ymax>20</ymax></bndbox>"
        objects = f"<object><name>cat</name>{box}</object>"
        content = f"<annotation><filename>{name}.jpg</filename>{objects}</annotation>"
        painter.text(f"annotations/xmls/{name}.xml", content)
    painter.file("images/Abyssinian_100.mat", b"MATLAB 5.0 MAT-file")
    splits = {}
    parts = {"trainval": ids[::2], "test": ids[1::2], "list": ids}
    for part, members in parts.items():
        lines = [f"{name} {1 + ids.index(name) // 4} 1 1" for name in members]
        head = ["#Image CLASS-ID SPECIES BREED ID"] if part == "list" else []
        painter.text(f"annotations/{part}.txt", *head, *lines)
    for split in ("trainval", "test"):
        images = [f"images/{name}.jpg" for name in parts[split]]
        splits[split] = {image: masks[image] for image in images}
    as_train = {"train": splits["trainval"], "test": splits["test"]}
    painter.text("annotations/README", "OXFORD-IIIT PET Dataset", "trimaps: 1: Foreground")
    classes = {1: "pet", 2: "background", 3: "void"}
    return Truth(splits, also_right=(as_train,), options={"classes": classes})


ADE20K = (
    "wall",
    "building, edifice",
    "sky",
    "floor, flooring",
    "tree",
    "ceiling",
    "road, route",
    "bed",
    "windowpane, window",
    "grass",
)


@layout("ADE20K")
def draw_ade20k(painter: Painter) -> Truth:
    """ADE20K SceneParsing (ADEChallengeData2016): 0 is any other thing, the names start at 1."""
    splits = {}
    root = "ADEChallengeData2016"
    scenes = []
    for part, short, count in (("training", "train", 8), ("validation", "val", 4)):
        pairs = {}
        for number in range(1, count + 1):
            name = f"ADE_{short}_{number:08}"
            values = some(range(len(ADE20K) + 1), 6, number)
            image, mask = (
                f"{root}/images/{part}/{name}.jpg",
                f"{root}/annotations/{part}/{name}.png",
            )
            pairs |= painter.pair(image, mask, values)
            scenes.append(f"{name} bedroom")
        splits["train" if short == "train" else "validation"] = pairs
    painter.text(f"{root}/sceneCategories.txt", *scenes)
    rows = [
        f"{n}\t{0.2 / n:.4f}\t{11000 // n}\t{1100 // n}\t1\t{name}"
        for n, name in enumerate(ADE20K, 1)
    ]
    painter.text(f"{root}/objectInfo150.txt", "Idx\tRatio\tTrain\tVal\tStuff\tName", *rows)
    return Truth(splits, options={"classes": {0: "void"}})


SUIM = {
    "background": (0, 0, 0),
    "human diver": (0, 0, 255),
    "plant": (0, 255, 0),
    "wreck": (0, 255, 255),
    "robot": (255, 0, 0),
    "reef": (255, 0, 255),
    "fish": (255, 255, 0),
    "sea floor": (255, 255, 255),
}


@layout("SUIM")
def draw_suim(painter: Painter) -> Truth:
    """SUIM: BMP masks of pure colors; the test part has more masks, in a folder by category."""
    splits = {"train": {}, "test": {}}
    for split, folder, count in (("train", "train_val", 8), ("test", "TEST", 4)):
        for number in range(1, count + 1):
            name = f"{'dfn'[number % 3]}_r_{number}_"
            scene = painter.scene(range(len(SUIM)))
            image = painter.photo(f"{folder}/images/{name}.jpg", scene)
            mask = painter.color_mask(f"{folder}/masks/{name}.bmp", scene, [*SUIM.values()])
            splits[split][image] = mask
            if split == "test":
                for short, value in (("HD", 1), ("WR", 3), ("FV", 6)):
                    one = np.where(scene == value, 255, 0)
                    painter.mask(f"TEST/masks/{short}/{name}.bmp", one)
    painter.text("readme.txt", "SUIM: Segmentation of Underwater IMagery", "BW: 000", "HD: 001")
    classes = {hex_color(color): name for name, color in SUIM.items()}
    as_validation = {"train": splits["train"], "validation": splits["test"]}
    return Truth(splits, (as_validation,), {"classes": classes})


@layout("TrashCan")
def draw_trashcan(painter: Painter) -> Truth:
    """TrashCan 1.0, its instance version: COCO JSON of polygons for each split."""
    splits = {}
    root = "instance_version"
    names = ("rov", "plant", "trash_bag")
    categories = [{"id": n, "name": name, "supercategory": name} for n, name in enumerate(names, 1)]
    for split, count in (("train", 8), ("val", 4)):
        pairs = {}
        images, annotations = [], []
        path = f"{root}/instances_{split}_trashcan.json"
        for number in range(1, count + 1):
            scene, polygons = painter.polygons((1, 2, 3))
            file_name = f"vid_{number:06}_frame{number * 7:07}.jpg"
            image = painter.photo(f"{root}/{split}/{file_name}", scene)
            sizes = {"height": 32, "width": 40}
            images.append({"id": number, "file_name": file_name, **sizes})
            for value, points in polygons:
                corners = np.array(points)
                left, top = corners.min(axis=0).tolist()
                wide, tall = np.ptp(corners, axis=0).tolist()
                annotations.append(
                    {
                        "id": len(annotations) + 1,
                        "image_id": number,
                        "category_id": value,
                        "segmentation": [corners.ravel().tolist()],
                        "bbox": [left, top, wide, tall],
                        "area": wide * tall,
                        "iscrowd": 0,
                    }
                )
            pairs[image] = path
        content = {"images": images, "annotations": annotations, "categories": categories}
        painter.json(path, content)
        splits["validation" if split == "val" else split] = pairs
    return Truth(splits)
