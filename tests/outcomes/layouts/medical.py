"""Medical sets."""

import json
import string

import numpy as np
from outcomes.layouts.drawing import Painter, Truth, layout


@layout("Kvasir-SEG")
def draw_kvasir(painter: Painter) -> Truth:
    """Kvasir-SEG as its authors pack it: random names, masks as JPEGs, boxes in a JSON file."""
    pairs = {}
    boxes = {}
    for name in painter.names(10, string.ascii_lowercase + string.digits, 25):
        root = "Kvasir-SEG"
        pairs |= painter.pair(f"{root}/images/{name}.jpg", f"{root}/masks/{name}.jpg")
        box = {"label": "polyp", "xmin": 5, "ymin": 4, "xmax": 22, "ymax": 19}
        boxes[name] = {"height": 32, "width": 40, "bbox": [box]}
    painter.json("Kvasir-SEG/kavsir_bboxes.json", boxes)
    return Truth({"train": pairs}, options={"threshold": 128})


@layout("CVC-ClinicDB")
def draw_cvc(painter: Painter) -> Truth:
    """CVC-ClinicDB as on Kaggle: the same pairs as PNG and as TIF, and a table of paths."""
    pairs, of_tif = {}, {}
    rows = [
        "frame_id,sequence_id,frame_number,png_image_path,png_mask_path,tif_image_path,tif_mask_path"
    ]
    for number in range(1, 11):
        scene = painter.scene((0, 255))
        image = painter.photo(f"PNG/Original/{number}.png", scene)
        mask = painter.mask(f"PNG/Ground Truth/{number}.png", scene)
        tif_image = painter.copy(image, f"TIF/Original/{number}.tif")
        tif_mask = painter.copy(mask, f"TIF/Ground Truth/{number}.tif")
        pairs[image] = mask
        of_tif[tif_image] = tif_mask
        paths = f"{image},{mask},{tif_image},{tif_mask}"
        rows.append(f"{number},{(number + 4) // 5},{number},{paths}")
    painter.text("metadata.csv", *rows)
    return Truth({"train": pairs}, also_right=({"train": of_tif},))


@layout("ISIC 2018")
def draw_isic(painter: Painter) -> Truth:
    """ISIC 2018 Task 1, its archives unpacked beside each other; the test part has no masks."""
    splits = {"train": {}, "validation": {}}
    parts = {"Training": (0, 8), "Validation": (12255, 3), "Test": (12169, 3)}
    for part, (first, count) in parts.items():
        inputs = f"ISIC2018_Task1-2_{part}_Input"
        truths = f"ISIC2018_Task1_{part}_GroundTruth"
        for number in range(first, first + count):
            name = f"ISIC_{number:07}"
            image = f"{inputs}/{name}.jpg"
            if part == "Test":
                painter.photo(image)
                continue
            split = "train" if part == "Training" else "validation"
            splits[split] |= painter.pair(image, f"{truths}/{name}_segmentation.png")
        folders = [inputs] if part == "Test" else [inputs, truths]
        for folder in folders:
            painter.text(f"{folder}/LICENSE.txt", "Creative Commons Zero v1.0 Universal")
            painter.text(
                f"{folder}/ATTRIBUTION.txt", "ISIC 2018: Skin Lesion Analysis, ISIC Archive"
            )
    return Truth(splits)


@layout("DRIVE")
def draw_drive(painter: Painter) -> Truth:
    """DRIVE as its challenge has it now: `mask` is the field of view, test has no truth."""
    y, x = np.mgrid[:32, :40]
    view = np.where((y - 16) ** 2 + (x - 20) ** 2 < 15**2, 255, 0)
    pairs = {}
    for number in range(21, 31):
        image = f"training/images/{number}_training.tif"
        pairs |= painter.pair(image, f"training/1st_manual/{number}_manual1.gif")
        painter.mask(f"training/mask/{number}_training_mask.gif", view)
    for number in range(1, 6):
        painter.photo(f"test/images/{number:02}_test.tif")
        painter.mask(f"test/mask/{number:02}_test_mask.gif", view)
    return Truth({"train": pairs})


@layout("CHASE-DB1")
def draw_chase(painter: Painter) -> Truth:
    """CHASE_DB1, one flat folder: both eyes of each child, each drawn by two observers."""
    first, second = {}, {}
    for child in range(1, 6):
        for eye in "LR":
            name = f"Image_{child:02}{eye}"
            scene = painter.scene((0, 255))
            image = painter.photo(f"{name}.jpg", scene)
            first[image] = painter.mask(f"{name}_1stHO.png", scene)
            second[image] = painter.mask(f"{name}_2ndHO.png", np.roll(scene, 1, axis=1))
    options = {"mask_name": "{id}_1stHO.png"}
    return Truth({"train": first}, options=options)


@layout("Montgomery")
def draw_montgomery(painter: Painter) -> Truth:
    """Montgomery County chest X-rays: the left and the right lung have a folder of masks each."""
    left_masks = {}
    for number in range(1, 8):
        name = f"MCUCXR_{number:04}_{number % 2}"
        scene = painter.scene((0, 1, 2))
        root = "MontgomerySet"
        image = painter.photo(f"{root}/CXR_png/{name}.png", scene, gray=True)
        left = np.where(scene == 1, 255, 0)
        right = np.where(scene == 2, 255, 0)
        left_masks[image] = painter.mask(f"{root}/ManualMask/leftMask/{name}.png", left)
        painter.mask(f"{root}/ManualMask/rightMask/{name}.png", right)
        lines = ("Patient's Sex: F", "Patient's Age: 031Y", "normal")
        painter.text(f"{root}/ClinicalReadings/{name}.txt", *lines)
    painter.file("MontgomerySet/NLM-MontgomeryCXRSet-ReadMe.pdf", b"%PDF-1.4\n%%EOF\n")
    painter.mac_files("MontgomerySet", ["MontgomerySet/._CXR_png"])
    return Truth({"train": left_masks}, must_ask=True)


@layout("BUSI")
def draw_busi(painter: Painter) -> Truth:
    """Breast Ultrasound Images: some images have a second mask, of another lesion."""
    pairs = {}
    for kind, count in (("benign", 6), ("malignant", 4), ("normal", 3)):
        for number in range(1, count + 1):
            name = f"Dataset_BUSI_with_GT/{kind}/{kind} ({number})"
            values = (0,) if kind == "normal" else (0, 255)
            pairs |= painter.pair(f"{name}.png", f"{name}_mask.png", values)
    another = painter.scene((0, 255))
    painter.mask("Dataset_BUSI_with_GT/benign/benign (4)_mask_1.png", another)
    return Truth({"train": pairs}, must_ask=True)


REFUGE_CLASSES = {255: "background", 128: "optic_disc", 0: "optic_cup"}


@layout("REFUGE")
def draw_refuge(painter: Painter) -> Truth:
    """REFUGE 2018, its archives unpacked: white is background, and fovea locations are a table."""
    splits = {"train": {}, "validation": {}}
    values = (255, 128, 0)
    training = "REFUGE-Training400/Training400"
    truths = "Annotation-Training400/Annotation-Training400/Disc_Cup_Masks"
    for folder, letter, count in (("Glaucoma", "g", 3), ("Non-Glaucoma", "n", 6)):
        for number in range(1, count + 1):
            name = f"{folder}/{letter}{number:04}"
            pair = painter.pair(f"{training}/{name}.jpg", f"{truths}/{name}.bmp", values)
            splits["train"] |= pair
    for number in range(1, 5):
        image = f"REFUGE-Validation400/REFUGE-Validation400/V{number:04}.jpg"
        mask = f"REFUGE-Validation400-GT/Disc_Cup_Masks/V{number:04}.bmp"
        splits["validation"] |= painter.pair(image, mask, values)
        painter.photo(f"REFUGE-Test400/T{number:04}.jpg")
    painter.file("REFUGE-Validation400-GT/Fovea_locations.xlsx", b"PK\3\4made")
    return Truth(splits, options={"classes": REFUGE_CLASSES})


@layout("nnU-Net raw")
def draw_nnunet(painter: Painter) -> Truth:
    """A set in nnU-Net's raw format with PNG files, after its page `dataset_format.md`."""
    root = "nnUNet_raw/Dataset120_RoadSegmentation"
    pairs = {}
    for number in range(1, 10):
        name = f"img-{number}"
        image = f"{root}/imagesTr/{name}_0000.png"
        pairs |= painter.pair(image, f"{root}/labelsTr/{name}.png", (0, 1))
    for number in range(10, 14):
        painter.photo(f"{root}/imagesTs/img-{number}_0000.png")
    content = {
        "channel_names": {"0": "R", "1": "G", "2": "B"},
        "labels": {"background": 0, "road": 1},
        "numTraining": 9,
        "file_ending": ".png",
    }
    painter.text(f"{root}/dataset.json", json.dumps(content, indent=4))
    return Truth({"train": pairs})


@layout("GlaS")
def draw_glas(painter: Painter) -> Truth:
    """Warwick QU (GlaS 2015): `_anno` numbers the glands of each image from 1."""
    root = "Warwick QU Dataset (Released 2016_07_08)"
    splits = {"train": {}, "test": {}}
    rows = ["name, patient ID, grade (GlaS), grade (Sirinukunwattana et al. 2015)"]
    for part, count in (("train", 8), ("testA", 4), ("testB", 3)):
        split = "train" if part == "train" else "test"
        for number in range(1, count + 1):
            name = f"{part}_{number}"
            glands = range(int(painter.random.integers(3, 9)))
            splits[split] |= painter.pair(f"{root}/{name}.bmp", f"{root}/{name}_anno.bmp", glands)
            rows.append(f"{name}, {number}, benign, healthy")
    painter.text(f"{root}/Grade.csv", *rows)
    painter.text(f"{root}/Readme.txt", "Annotations are labeled by the number of the gland.")
    return Truth(splits, must_ask=True)


@layout("LGG MRI")
def draw_lgg(painter: Painter) -> Truth:
    """LGG Segmentation (Kaggle): a folder of slices for each patient, many without a tumor."""
    pairs = {}
    rows = ["Patient,RNASeqCluster,MethylationCluster,gender,age_at_initial_pathologic,death01"]
    for patient in ("CS_4941_19960909", "DU_5851_19950428", "HT_7473_19970826"):
        name = f"TCGA_{patient}"
        for number in range(1, 6):
            slice_path = f"kaggle_3m/{name}/{name}_{number}"
            values = (0, 255) if 1 < number < 5 else (0,)
            pairs |= painter.pair(f"{slice_path}.tif", f"{slice_path}_mask.tif", values)
        rows.append(f"TCGA_{patient[:7]},2,4.0,2.0,67.0,1.0")
    painter.text("kaggle_3m/data.csv", *rows)
    painter.text("kaggle_3m/README.md", "LGG Segmentation Dataset", "All images are in `.tif`.")
    return Truth({"train": pairs})
