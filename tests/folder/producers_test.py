"""Real exports of labeling tools, compared with a reading of their masks of our own."""

import json
import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.building import examples
from support.folders import plan_of, refused, unused_of

from voc_seg_tfrecord import VocSegError
from voc_seg_tfrecord.build_from.tree import builder_from_tree, plan_to_build


def by_value(path):
    return np.asarray(Image.open(path)).astype(np.int64)


def by_color(*colors):
    def read(path):
        pixels = np.asarray(Image.open(path).convert("RGB"))
        is_color = np.stack([(pixels == color).all(-1) for color in colors])
        assert (is_color.sum(0) == 1).all()
        return is_color.argmax(0)

    return read


VOC_RGB = [(0, 0, 0), (128, 0, 0), (0, 128, 0), (128, 128, 0)]
CVAT_RGB = [(250, 50, 83), (0, 0, 0), (192, 96, 128), (51, 221, 255)]
PEOPLE = ["background", "person", "apple", "tree"]
VOC = "SegmentationClass"


def export(train, names=None, folder=VOC, read=by_value, *, more=None, **said):
    """Describes an export.

    Args:
      train: how many examples are in train.
      names: the class names, if they are compared.
      folder: the folder of masks.
      read: reads one.
      more: how many examples are in other splits.
      **said: what a build is told.
    """
    return said, names, {"train": train, **(more or {})}, folder, read


POOL = {"splits": {"train": 1.0}}  # for exports whose lists name more than is here
EXPORTS = {
    "cvat_pascalvoc_1.1": export(3, PEOPLE, read=by_color(*VOC_RGB)),
    "cvat_segmask_1.1/with_images": export(
        4, ["apple", "background", "person", "tree"], read=by_color(*CVAT_RGB)
    ),
    "cvat_real_kirchner": export(
        3, ["background", "tool"], read=by_color((0, 0, 0), (250, 50, 83)), **POOL
    ),
    "datumaro_cvatfork_nocolormap": export(3, PEOPLE),
    "datumaro_pypi_1.13_voc_segmentation": export(
        2, PEOPLE, read=by_color(*VOC_RGB), more={"validation": 1}
    ),
    "labelme_new/semantic": export(3),
    "labelme_new/instance": export(3, instance_mask=True),
    "labelme_old/semantic": export(3, folder="SegmentationClassPNG"),
    "labelme_old/video_annotation_HEAD": export(
        5, ["_background_", "car", "track"], "SegmentationClassPNG"
    ),
    "roboflow_semantic/kainat": export(9, folder="."),
    "roboflow_semantic/dhcn": export(3, folder=".", more={"validation": 3, "test": 3}),
    "mmseg_pseudo_dataset": export(
        4, list("abcdefg"), "gts", more={"validation": 1}, class_names=list("abcdefg")
    ),
    "deeplab_SegmentationClassRaw": export(2, folder="SegmentationClassRaw", class_names=["voc"]),
    "wild_grey_jpeg_polyp": export(6, class_names=list("abcd"), **POOL),
    "wild_16bit_scis": export(4, class_names=list("abcd"), **POOL),
    "wild_plte255_lines": export(4, class_names=list("ab"), **POOL),
    "wild_subfolders_bridge": export(
        3,
        folder="SegmentationClass/element",
        class_names=list("abcdefgh"),
        masks="SegmentationClass/element",
        **POOL,
    ),
}

REFUSED = {
    "cvat_segmask_1.1/masks_only": "no image with a mask among 4 .png called masks",
    "wild_jpeg_ext_xudafeng": "boxes alone",
    "wild_subfolders_bridge": r"masks in SegmentationClass/defect: .*t_293: no such file",
}


def mask_path(root, folder, filename):
    stem = pathlib.PurePosixPath(filename).with_suffix("").as_posix()
    names = [f"{stem}.png", f"{stem}_mask.png", f"{stem.removesuffix('_img')}_gt.png"]
    return next(root / folder / name for name in names if (root / folder / name).exists())


LARGE = "cvat_real_kirchner"
EXPORT_PARAMS = [
    pytest.param(export, marks=pytest.mark.slow if export == LARGE else []) for export in EXPORTS
]


@pytest.mark.parametrize("export", EXPORT_PARAMS)
def test_a_real_export_builds_with_one_call(real_data, tmp_path, export):
    said, names, splits, folder, read = EXPORTS[export]
    root = real_data / "producers" / export
    builder = builder_from_tree(root, name="real", data_dir=tmp_path, **said)
    if names:
        assert builder.info.features["segmentation_mask"].names == names
    assert {s: i.num_examples for s, i in builder.info.splits.items()} == splits
    for split in splits:
        for name, example in examples(builder, split).items():
            expected = read(mask_path(next(root.glob("VOC2007"), root), folder, name))
            assert (example["segmentation_mask"][..., 0] == expected).all()


def test_supervisely_masks_are_read_by_their_colors(real_data, tmp_path):
    root = real_data / "producers" / "supervisely_emulated"
    is_expected = shutil.ignore_patterns("*.expected_index.npy")
    export = shutil.copytree(root, tmp_path / "export", ignore=is_expected)
    builder = builder_from_tree(export, name="real", data_dir=tmp_path)
    assert builder.info.features["labels"].feature.names == ["background", "kiwi fruit", "lemon"]
    for split in ("train", "validation"):
        for name, example in examples(builder, split).items():
            expected = np.load(root / f"{name.removesuffix('.jpg')}.expected_index.npy")
            assert (example["segmentation_mask"][..., 0] == expected).all()


@pytest.mark.parametrize("export", REFUSED)
def test_what_a_real_export_lacks_is_named(real_data, export):
    refused(real_data / "producers" / export, REFUSED[export], VocSegError, class_names=None)


CASES = ("case_1", "case_2", "case_10")
NAMES = ["background", "tumor", "edge"]
V2 = {"labels": dict(zip(NAMES, range(3), strict=True)), "channel_names": {"0": "R"}}
V1 = {"labels": {"1": "tumor", "0": "background", "2": "edge"}, "training": [], "test": []}


def put_cases(root, images, masks="", cases=CASES, number="_0000"):
    """Writes images and masks as nnU-Net has them: `imagesTr/*.png`, `labelsTr/*.png`."""
    for case in cases:
        drawing.put_image(root, images.replace("*", f"{case}{number}"))
        if masks:
            path = root / masks.replace("*", case)
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(drawing.truth(case).astype(np.uint8)).save(path)


def built(root, data_dir, values=(0, 1, 2), **said):
    """Builds a folder, compares its masks; returns the class names and the cases of each split."""
    builder = builder_from_tree(root, name="mine", data_dir=data_dir, verbose=False, **said)
    cases = {}
    for split in builder.info.splits:
        for name, example in examples(builder, split).items():
            case = pathlib.PurePosixPath(name).stem.removesuffix("_0000")
            assert (
                example["segmentation_mask"][..., 0] == np.array(values)[drawing.truth(case)]
            ).all()
            cases.setdefault(split, set()).add(case)
    return builder.info.features["segmentation_mask"].names, cases


@pytest.mark.parametrize("dataset", [V2, V1])
@pytest.mark.parametrize("ending", ["png", "tif", "bmp"])
def test_nnunets_folders_are_train_and_test_with_the_classes_of_its_file(tmp_path, dataset, ending):
    root = tmp_path / "Dataset001_x"
    drawing.put(root, "dataset.json", json.dumps(dataset))
    put_cases(root, f"imagesTr/*.{ending}", f"labelsTr/*.{ending}")
    put_cases(root, f"imagesTs/*.{ending}", "", ["case_9"])
    plan = plan_to_build(root, name="mine")
    assert {s: {*ids} for s, ids in plan.splits.items()} == {"train": {*CASES}}
    assert [*plan.unused.values()] == [[f"case_9_0000.{ending}"]]
    put_cases(root, f"imagesTs/*.{ending}", f"labelsTs/*.{ending}", ["case_9"])
    cases = {"train": {*CASES}, "test": {"case_9"}}
    assert built(root, tmp_path / "out") == (NAMES, cases)


def test_folders_of_train_and_test_may_have_the_same_names_and_lack_some_files(tmp_path):
    root = tmp_path / "Task01_x"  # MONAI's
    for which in ("Tr", "Ts"):
        put_cases(root, f"images{which}/*.png", f"labels{which}/*.png", number="")
    for case in CASES:  # or all of them would be copies
        drawing.picture(f"other {case}").save(root / "imagesTs" / f"{case}.png")
    cases = {"train": {*CASES}, "test": {*CASES}}
    assert built(root, tmp_path / "out", class_names=NAMES) == (NAMES, cases)
    (root / "labelsTr" / "case_1.png").unlink()
    (root / "imagesTs" / "case_2.png").unlink()
    plan = plan_of(root)
    assert {s: {*ids} for s, ids in plan.splits.items()} == {
        "train": {"Tr/case_2", "Tr/case_10"},
        "test": {"Ts/case_1", "Ts/case_10"},
    }
    assert {kind for _, kind in unused_of(plan)} == {
        "unlabeled images",
        "masks without an image",
    }


@pytest.mark.parametrize("with_test", [False, True])
def test_channels_of_nnunet_are_named_and_the_option_chooses_one(tmp_path, with_test):
    root = tmp_path / "Dataset001_x"
    put_cases(root, "imagesTr/*.png", "labelsTr/*.png")
    put_cases(root, "imagesTr/*.png", number="_0001")
    if with_test:  # one that could be read alone
        put_cases(root, "imagesTs/*.png", "labelsTs/*.png", ["case_9"])
    text = refused(root, "2 channels, a file for each")
    assert "2 channels, a file for each, such as case_10_0000.png and case_10_0001.png" in text
    assert "--image_name '{id}_0000.png'" in text
    cases = {"train": {*CASES}, **({"test": {"case_9"}} if with_test else {})}
    said = {"class_names": NAMES, "image_name": "{id}_0000.png"}
    assert built(root, tmp_path / "out", **said)[1] == cases


def test_channels_of_nnunet_beside_other_images_of_the_masks_are_only_named(tmp_path):
    put_cases(tmp_path, "imagesTr/*.png", "labelsTr/*.png")
    put_cases(tmp_path, "imagesTr/*.png", number="_0001")
    put_cases(tmp_path, "rgb/*.png", number="")
    for said in ({}, {"images": "rgb", "masks": "labelsTr"}):
        plan = plan_of(tmp_path, **said)
        assert plan.tree.layout.images == "rgb"
        assert {key: len(names) for key, names in unused_of(plan).items()} == {
            ("imagesTr", "pictures"): 6
        }


def test_numbers_of_other_images_than_nnunets_are_no_channels(tmp_path):
    put_cases(tmp_path, "images/*.png", "masks/*.png", CASES[:2])
    put_cases(tmp_path, "images/*.png", cases=CASES[:2], number="_0001")
    refused(tmp_path, "(?s)^(?!.*channels)")
    put_cases(tmp_path / "one", "images/*.png", "masks/*.png", CASES)
    (tmp_path / "one" / "masks" / "case_1.png").unlink()
    refused(tmp_path / "one", "no mask fits an image by its name")


def test_regions_of_nnunet_are_refused_a_table_is_read_in_their_place_and_ignore_is_void(tmp_path):
    root = tmp_path / "Dataset001_x"
    put_cases(root, "imagesTr/*.png", "labelsTr/*.png")
    labels = {"background": 0, "whole": [1, 2], "core": 2}
    drawing.put(root, "dataset.json", json.dumps(V2 | {"labels": labels}))
    words = "the region 'whole' has the values 1, 2, and regions overlap"
    refused(root, words, class_names=None)
    rows = [*enumerate(NAMES)]
    assert built(root, tmp_path / "out", classes=rows) == (NAMES, {"train": {*CASES}})
    labels = {"background": 0, "ignore": 2, "tumor": 1}
    drawing.put(root, "dataset.json", json.dumps(V2 | {"labels": labels}))
    found = built(root, tmp_path / "void", (0, 1, 255))  # ignore is void
    assert found == (["background", "tumor"], {"train": {*CASES}})


@pytest.mark.parametrize(
    "other",
    [
        {"labels": [["a.png", 3], ["b.png", 4]]},  # StyleGAN's
        {"labels": {"a.png": 0, "b.png": 1}},
        {"labels": None},
        {"images": [], "annotations": []},
        [],
    ],
)
def test_a_dataset_json_of_another_tool_gives_no_classes_and_stops_no_build(tmp_path, other):
    put_cases(tmp_path / "x", "images/*.png", "masks/*.png", number="")
    drawing.put(tmp_path / "x", "dataset.json", json.dumps(other))
    plan = plan_to_build(tmp_path / "x", name="mine", class_names=NAMES)
    assert any("dataset.json is not used as a class file" in note for note in plan.notes)
    drawing.put(tmp_path / "x", "classes.txt", "\n".join(NAMES))
    assert plan_to_build(tmp_path, name="mine").config.class_names == tuple(NAMES)
    put_cases(tmp_path / "y" / "a" / "b", "images/*.png", "masks/*.png", number="")
    drawing.put(tmp_path, "y/a/dataset.json", json.dumps(other))
    drawing.put(tmp_path, "y/classes.txt", "\n".join(NAMES))  # above, and not hidden by it
    assert plan_to_build(tmp_path / "y", name="mine").config.class_names == tuple(NAMES)


def test_volumes_of_nifti_are_called_so(tmp_path):
    for name in ("imagesTr/a_0000.nii.gz", "labelsTr/a.nii.gz"):
        drawing.put(tmp_path, name, b"")
    refused(tmp_path, "volumes of NIfTI, which are not read: 2 files, such as imagesTr/a")


def test_arrays_as_images_are_named_with_the_options_that_read_them(tmp_path):
    put_cases(tmp_path, "images/*.png", "masks/*.png", number="")
    for case in CASES:
        path = tmp_path / "images" / f"{case}.png"
        np.save(path.with_suffix(".npy"), np.asarray(Image.open(path)))
        path.unlink()
    text = refused(tmp_path, "3 .npy, such as images/")
    assert "--bands all --dtype uint8" in text
    told = {"class_names": NAMES, "bands": "all"}
    assert built(tmp_path, tmp_path / "out", **told) == (NAMES, {"train": {*CASES}})


@pytest.mark.parametrize(
    "splits",
    [
        {"tr": "train", "ts": "test"},
        {"trn": "train", "dev": "validation", "tst": "test"},
        {"tst": "test", "val": "validation"},
        {"tr": "train", "de": "train", "en": "train"},  # languages
    ],
)
@pytest.mark.parametrize("names", ["{0}/{1}", "{1}/{0}"])
def test_short_names_are_splits_where_all_folders_are_called_as_splits(tmp_path, splits, names):
    for folder in splits:
        images, masks = (names.format(folder, kind) + "/*.png" for kind in ("images", "masks"))
        put_cases(tmp_path, images, masks, [f"{folder}1", f"{folder}2"])
    found = {
        i.rpartition("/")[2][:-1]: s for s, ids in plan_of(tmp_path).splits.items() for i in ids
    }
    assert found == splits


@pytest.mark.parametrize("folders", [("train", "training"), ("tr", "train")])
def test_two_folders_of_one_split_are_a_question(tmp_path, folders):
    for folder in folders:
        put_cases(tmp_path, f"{folder}/images/*.png", f"{folder}/masks/*.png", [f"{folder}1"])
    refused(tmp_path, "ways? to read images and masks")
