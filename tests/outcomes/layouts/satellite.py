"""Satellite, aerial and drone sets."""

import numpy as np
from outcomes.layouts.drawing import SIZE, Painter, Truth, hex_color, layout, some
from PIL import Image

HEIGHT, WIDTH = SIZE

LAND_COVER = {
    "urban_land": (0, 255, 255),
    "agriculture_land": (255, 255, 0),
    "rangeland": (255, 0, 255),
    "forest_land": (0, 255, 0),
    "water": (0, 0, 255),
    "barren_land": (255, 255, 255),
    "unknown": (0, 0, 0),
}


@layout("DeepGlobe land cover")
def draw_deepglobe(painter: Painter) -> Truth:
    """DeepGlobe Land Cover as on Kaggle: `valid` and `test` have no masks, a table has all."""
    pairs = {}
    rows = ["image_id,split,sat_image_path,mask_path"]
    for part, count in (("train", 10), ("valid", 4), ("test", 4)):
        numbers = painter.random.choice(range(100, 999_999), count, replace=False)
        for number in numbers.tolist():
            image, mask = f"{part}/{number}_sat.jpg", f"{part}/{number}_mask.png"
            if part == "train":
                pairs |= painter.color_pair(image, mask, [*LAND_COVER.values()])
                rows.append(f"{number},{part},{image},{mask}")
            else:
                painter.photo(image)
                rows.append(f"{number},{part},{image},")
    painter.text("metadata.csv", *rows)
    colors = [f"{name},{r},{g},{b}" for name, (r, g, b) in LAND_COVER.items()]
    painter.text("class_dict.csv", "name,r,g,b", *colors)
    return Truth({"train": pairs})


@layout("Inria aerial")
def draw_inria(painter: Painter) -> Truth:
    """Inria Aerial Image Labeling: cities of `test` differ from those of `train`."""
    root = "AerialImageDataset"
    pairs = {}
    for city in ("austin", "chicago", "tyrol-w"):
        for number in range(1, 5):
            name = f"{city}{number}.tif"
            pairs |= painter.pair(f"{root}/train/images/{name}", f"{root}/train/gt/{name}")
    for city in ("bellingham", "sfo"):
        for number in range(1, 4):
            painter.photo(f"{root}/test/images/{city}{number}.tif")
    return Truth({"train": pairs})


ISPRS = {
    "impervious surfaces": (255, 255, 255),
    "building": (0, 0, 255),
    "low vegetation": (0, 255, 255),
    "tree": (0, 255, 0),
    "car": (255, 255, 0),
    "clutter": (255, 0, 0),
}


@layout("ISPRS Potsdam")
def draw_potsdam(painter: Painter) -> Truth:
    """ISPRS Potsdam: tiles as RGB, infrared and heights, labels with and without borders."""
    pairs, of_infrared, without_borders = {}, {}, {}
    colors = [*ISPRS.values(), (0, 0, 0)]
    for row, column in ((2, 10), (2, 11), (3, 10), (4, 12), (5, 11), (6, 7), (7, 9)):
        tile = f"top_potsdam_{row}_{column}"
        scene = painter.scene(range(len(ISPRS)))
        image = painter.photo(f"2_Ortho_RGB/{tile}_RGB.tif", scene)
        painter.text(f"2_Ortho_RGB/{tile}_RGB.tfw", "0.05", "0", "0", "-0.05", "366676.1", "5808")
        bands = np.array(Image.open(painter.root / image))
        infrared = painter.save(f"3_Ortho_IRRG/{tile}_IRRG.tif", bands[..., [2, 0, 1]])
        mask = painter.color_mask(f"5_Labels_all/{tile}_label.tif", scene, colors)
        edges = (scene != np.roll(scene, 1, axis=0)) | (scene != np.roll(scene, 1, axis=1))
        eroded = np.where(edges, len(ISPRS), scene)
        folder = "5_Labels_all_noBoundary"
        inner = painter.color_mask(f"{folder}/{tile}_label_noBoundary.tif", eroded, colors)
        heights = (30 + scene + painter.random.normal(0, 0.1, scene.shape)).astype(np.float32)
        painter.save(f"1_DSM/dsm_potsdam_{row:02}_{column:02}.tif", heights)
        pairs[image] = mask
        of_infrared[infrared] = mask
        without_borders[image] = inner
    options = {
        "images": "2_Ortho_RGB",
        "masks": "5_Labels_all",
        "image_name": "{id}_RGB",
        "mask_name": "{id}_label.tif",
        "classes": {hex_color(color): name for name, color in ISPRS.items()},
    }
    others = ({"train": of_infrared}, {"train": without_borders})
    return Truth({"train": pairs}, others, options)


@layout("LoveDA")
def draw_loveda(painter: Painter) -> Truth:
    """LoveDA: each split has a rural and an urban folder; value 0 is no data."""
    splits = {"train": {}, "validation": {}}
    first = 0
    for part, count in (("Train", 5), ("Val", 3), ("Test", 2)):
        for domain in ("Rural", "Urban"):
            for number in range(first, first + count):
                folder = f"{part}/{domain}"
                image = f"{folder}/images_png/{number}.png"
                if part == "Test":
                    painter.photo(image)
                    continue
                split = "train" if part == "Train" else "validation"
                mask = f"{folder}/masks_png/{number}.png"
                splits[split] |= painter.pair(image, mask, some(range(8), 6, number))
            first += count
    return Truth(splits)


@layout("Massachusetts roads")
def draw_massachusetts(painter: Painter) -> Truth:
    """Massachusetts Roads as on Kaggle: the whole set as TIFF and again as PNG, with two tables."""
    splits = {"train": {}, "validation": {}, "test": {}}
    of_tiff = {"train": {}, "validation": {}, "test": {}}
    columns = "tiff_image_path,tif_label_path,png_image_path,png_label_path"
    rows = [f"image_id,split,{columns}"]
    colors = [(0, 0, 0), (255, 255, 255)]
    for part, count in (("train", 6), ("val", 2), ("test", 2)):
        split = "validation" if part == "val" else part
        for _ in range(count):
            name = f"{10378780 + 50 * len(rows)}_15"
            scene = painter.scene((0, 1))
            image = painter.photo(f"png/{part}/{name}.png", scene)
            mask = painter.color_mask(f"png/{part}_labels/{name}.png", scene, colors)
            tiff_image = painter.copy(image, f"tiff/{part}/{name}.tiff")
            tiff_mask = painter.copy(mask, f"tiff/{part}_labels/{name}.tif")
            splits[split][image] = mask
            of_tiff[split][tiff_image] = tiff_mask
            rows.append(f"{name},{part},{tiff_image},{tiff_mask},{image},{mask}")
    painter.text("metadata.csv", *rows)
    classes = ("name,r,g,b", "background,0,0,0", "road,255,255,255")
    painter.text("label_class_dict.csv", *classes)
    return Truth(splits, also_right=(of_tiff,))


@layout("LandCover.ai")
def draw_landcover(painter: Painter) -> Truth:
    """LandCover.ai after its `split.py`: tiles in `output`, lists of tiles, the whole images."""
    tiles, whole = {}, {}
    for sheet in ("M-33-20-D-c-4-2", "M-34-32-B-a-4-3", "N-33-60-D-c-4-2"):
        scene = painter.scene(range(5), (2 * HEIGHT, 2 * WIDTH))
        image = painter.photo(f"images/{sheet}.tif", scene)
        whole[image] = painter.mask(f"masks/{sheet}.tif", scene)
        pixels = np.array(Image.open(painter.root / image))
        for number in range(4):
            top, left = HEIGHT * (number // 2), WIDTH * (number % 2)
            window = (slice(top, top + HEIGHT), slice(left, left + WIDTH))
            tile = painter.save(f"output/{sheet}_{number}.jpg", pixels[window])
            tiles[tile] = painter.mask(f"output/{sheet}_{number}_m.png", scene[window])
    order = painter.random.permutation([*tiles]).tolist()
    parts = {"train": sorted(order[:7]), "val": sorted(order[7:9]), "test": sorted(order[9:])}
    splits = {}
    for part, images in parts.items():
        stems = [image.removeprefix("output/").removesuffix(".jpg") for image in images]
        painter.text(f"{part}.txt", *stems)
        split = "validation" if part == "val" else part
        splits[split] = {image: tiles[image] for image in images}
    painter.text("split.py", "import glob", "import os", "import cv2", "TARGET_SIZE = 512")
    return Truth(splits, also_right=({"train": whole},))


FLOODNET_COLORS = (
    (0, 0, 0),
    (255, 0, 0),
    (180, 120, 120),
    (160, 150, 20),
    (140, 140, 140),
    (61, 230, 250),
    (0, 82, 255),
    (255, 0, 245),
    (255, 235, 0),
    (4, 250, 7),
)


@layout("FloodNet")
def draw_floodnet(painter: Painter) -> Truth:
    """FloodNet, supervised track, its two archives: masks of values and their colored copies."""
    splits = {}
    for part, count in (("train", 7), ("val", 3), ("test", 3)):
        pairs = {}
        for number in range(count):
            name = str(6400 + 17 * number + 1000 * len(splits))
            folder = f"FloodNet-Supervised_v1.0/{part}"
            scene = painter.scene(range(10))
            image = painter.photo(f"{folder}/{part}-org-img/{name}.jpg", scene)
            pairs[image] = painter.mask(f"{folder}/{part}-label-img/{name}_lab.png", scene)
            colored = f"ColorMasks-FloodNetv1.0/ColorMasks-{part.capitalize()}Set/{name}_lab.png"
            painter.color_mask(colored, scene, FLOODNET_COLORS)
        splits["validation" if part == "val" else part] = pairs
    painter.file("ColorMasks-FloodNetv1.0/ColorPalette-Values.xlsx", b"PK\3\4made")
    return Truth(splits)


UAVID = {
    "background clutter": (0, 0, 0),
    "building": (128, 0, 0),
    "road": (128, 64, 128),
    "static car": (192, 0, 192),
    "tree": (0, 128, 0),
    "low vegetation": (128, 128, 0),
    "human": (64, 64, 0),
    "moving car": (64, 0, 128),
}


@layout("UAVid")
def draw_uavid(painter: Painter) -> Truth:
    """UAVid v1: a folder for each sequence, whose frames have the same names in all of them."""
    splits = {"train": {}, "validation": {}}
    parts = {"train": ("seq1", "seq2"), "val": ("seq16",), "test": ("seq21", "seq22")}
    for part, sequences in parts.items():
        for sequence in sequences:
            for number in range(4):
                folder = f"uavid_{part}/{sequence}"
                name = f"{number * 100:06}.png"
                if part == "test":
                    painter.photo(f"{folder}/Images/{name}")
                    continue
                image, mask = f"{folder}/Images/{name}", f"{folder}/Labels/{name}"
                pair = painter.color_pair(image, mask, [*UAVID.values()])
                splits["validation" if part == "val" else part] |= pair
    classes = {hex_color(color): name for name, color in UAVID.items()}
    return Truth(splits, options={"classes": classes})


@layout("AeroScapes")
def draw_aeroscapes(painter: Painter) -> Truth:
    """AeroScapes: VOC's folder names, lists `trn` and `val`, colored drawings beside the masks."""
    pairs = {}
    colors = [(20 * n, 255 - 20 * n, 60 + 130 * (n % 2)) for n in range(12)]
    for sequence in range(1, 4):
        for number in range(1, 5):
            name = f"{sequence:06}_{number:03}"
            scene = painter.scene(some(range(12), 6, number))
            image = painter.photo(f"JPEGImages/{name}.jpg", scene)
            pairs[image] = painter.mask(f"SegmentationClass/{name}.png", scene)
            painter.color_mask(f"Visualizations/{name}.png", scene, colors)
    images = [*pairs]
    splits = {"train": images[:8], "validation": images[8:]}
    for name, members in (("trn", splits["train"]), ("val", splits["validation"])):
        stems = [image.removeprefix("JPEGImages/").removesuffix(".jpg") for image in members]
        painter.text(f"ImageSets/{name}.txt", *stems)
    return Truth(
        {split: {image: pairs[image] for image in members} for split, members in splits.items()}
    )


DRONE = {
    "unlabeled": (0, 0, 0),
    "paved-area": (128, 64, 128),
    "dirt": (130, 76, 0),
    "grass": (0, 102, 0),
    "gravel": (112, 103, 87),
    "water": (28, 42, 168),
    "roof": (70, 70, 70),
}


@layout("Semantic Drone")
def draw_drone(painter: Painter) -> Truth:
    """Semantic Drone Dataset as on Kaggle: masks of values, and colored ones two folders deep."""
    pairs, of_colors = {}, {}
    for number in range(10):
        scene = painter.scene(range(len(DRONE)))
        root = "dataset/semantic_drone_dataset"
        image = painter.photo(f"{root}/original_images/{number:03}.jpg", scene)
        pairs[image] = painter.mask(f"{root}/label_images_semantic/{number:03}.png", scene)
        path = f"RGB_color_image_masks/RGB_color_image_masks/{number:03}.png"
        of_colors[image] = painter.color_mask(path, scene, [*DRONE.values()])
    rows = [f"{name}, {r}, {g}, {b}" for name, (r, g, b) in DRONE.items()]
    painter.text("class_dict_seg.csv", "name, r, g, b", *rows)
    return Truth({"train": pairs}, also_right=({"train": of_colors},))


DUBAI = {
    "Water": (226, 169, 41),
    "Land (unpaved area)": (132, 41, 246),
    "Road": (110, 193, 228),
    "Building": (60, 16, 152),
    "Vegetation": (254, 221, 58),
    "Unlabeled": (155, 155, 155),
}


@layout("Dubai aerial")
def draw_dubai(painter: Painter) -> Truth:
    """Semantic segmentation of aerial imagery (Kaggle): folders of tiles, and `classes.json`."""
    pairs = {}
    root = "Semantic segmentation dataset"
    for tile in range(1, 5):
        for number in range(1, 4):
            name = f"image_part_{number:03}"
            folder = f"{root}/Tile {tile}"
            image, mask = f"{folder}/images/{name}.jpg", f"{folder}/masks/{name}.png"
            pairs |= painter.color_pair(image, mask, [*DUBAI.values()])
    classes = [
        {"title": title, "shape": "polygon", "color": hex_color(color).upper()}
        for title, color in DUBAI.items()
    ]
    painter.json(f"{root}/classes.json", {"classes": classes, "tags": []})
    return Truth({"train": pairs})
