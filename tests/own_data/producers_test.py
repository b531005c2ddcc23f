"""Real exports of labelling tools, compared with a reading of their masks of our own."""

import pathlib

import numpy as np
from PIL import Image
import pytest
from support.building import examples

from voc_seg_tfrecord import VocSegError
from voc_seg_tfrecord.build_from.tree import builder_from_tree, find_config


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
POOL = {"splits": {"train": 1.0}}  # for exports whose lists name more than is here

# Folder: arguments, class names, examples a split, folder of masks, suffix, how to read one.
EXPORTS = {
    "cvat_pascalvoc_1.1": (
        {},
        ["background", "person", "apple", "tree"],
        {"train": 3},
        "SegmentationClass",
        by_color(*VOC_RGB),
    ),
    "cvat_segmask_1.1/with_images": (
        {},
        ["apple", "background", "person", "tree"],
        {"train": 4},
        "SegmentationClass",
        by_color(*CVAT_RGB),
    ),
    "cvat_real_kirchner": (
        POOL,
        ["background", "tool"],
        {"train": 3},
        "SegmentationClass",
        by_color((0, 0, 0), (250, 50, 83)),
    ),
    "datumaro_cvatfork_nocolormap": (
        {},
        ["background", "person", "apple", "tree"],
        {"train": 3},
        "SegmentationClass",
        by_value,
    ),
    "datumaro_pypi_1.13_voc_segmentation": (
        {},
        ["background", "person", "apple", "tree"],
        {"train": 2, "validation": 1},
        "SegmentationClass",
        by_color(*VOC_RGB),
    ),
    "labelme_new/semantic": ({}, None, {"train": 3}, "SegmentationClass", by_value),
    "labelme_new/instance": (
        {"instance_mask": True},
        None,
        {"train": 3},
        "SegmentationClass",
        by_value,
    ),
    "labelme_old/semantic": ({}, None, {"train": 3}, "SegmentationClassPNG", by_value),
    "labelme_old/video_annotation_HEAD": (
        {},
        ["_background_", "car", "track"],
        {"train": 5},
        "SegmentationClassPNG",
        by_value,
    ),
    "roboflow_semantic/kainat": ({}, None, {"train": 9}, ".", by_value),
    "roboflow_semantic/dhcn": (
        {},
        None,
        {"train": 3, "validation": 3, "test": 3},
        ".",
        by_value,
    ),
    "mmseg_pseudo_dataset": (
        {"class_names": list("abcdefg")},
        list("abcdefg"),
        {"train": 4, "validation": 1},
        "gts",
        by_value,
    ),
    "deeplab_SegmentationClassRaw": (
        {"class_names": ["voc"]},
        None,
        {"train": 2},
        "SegmentationClassRaw",
        by_value,
    ),
    "wild_grey_jpeg_polyp": (
        {"class_names": list("abcd"), **POOL},
        None,
        {"train": 6},
        "SegmentationClass",
        by_value,
    ),
    "wild_16bit_scis": (
        {"class_names": list("abcd"), **POOL},
        None,
        {"train": 4},
        "SegmentationClass",
        by_value,
    ),
    "wild_plte255_lines": (
        {"class_names": list("ab"), **POOL},
        None,
        {"train": 4},
        "SegmentationClass",
        by_value,
    ),
    "wild_subfolders_bridge": (
        {"class_names": list("abcdefgh"), "masks": "SegmentationClass/element", **POOL},
        None,
        {"train": 3},
        "SegmentationClass/element",
        by_value,
    ),
}

REFUSED = {
    "cvat_segmask_1.1/masks_only": "no image, but 4 masks",
    "wild_jpeg_ext_xudafeng": "boxes only",
    "wild_subfolders_bridge": "--masks SegmentationClass/defect",
    "mmseg_pseudo_dataset": "no class names",
}


def mask_path(root, folder, filename):
    stem = pathlib.PurePosixPath(filename).with_suffix("").as_posix()
    names = [f"{stem}.png", f"{stem}_mask.png", f"{stem.removesuffix('_img')}_gt.png"]
    return next(root / folder / name for name in names if (root / folder / name).exists())


@pytest.mark.parametrize("export", EXPORTS)
def test_a_real_export_builds_with_one_call(real_data, tmp_path, export):
    said, names, splits, folder, read = EXPORTS[export]
    root = next(p for p in [real_data / "producers" / export] for p in [p, *p.glob("VOC2007")][-1:])
    builder = builder_from_tree(
        real_data / "producers" / export, name="real", data_dir=tmp_path, **said
    )
    if names:
        assert builder.info.features["segmentation_mask"].names == names
    assert {s: i.num_examples for s, i in builder.info.splits.items()} == splits
    for split in splits:
        for name, example in examples(builder, split).items():
            expected = read(mask_path(root, folder, name))
            assert (example["segmentation_mask"][..., 0] == expected).all()


def test_supervisely_masks_are_read_by_their_colours(real_data, tmp_path):
    root = real_data / "producers" / "supervisely_emulated"
    builder = builder_from_tree(root, name="real", data_dir=tmp_path)
    assert builder.info.features["labels"].feature.names == ["background", "kiwi fruit", "lemon"]
    for split in ("train", "validation"):
        for name, example in examples(builder, split).items():
            expected = np.load(root / f"{name.removesuffix('.jpg')}.expected_index.npy")
            assert (example["segmentation_mask"][..., 0] == expected).all()


@pytest.mark.parametrize("export", REFUSED)
def test_what_a_real_export_lacks_is_named(real_data, export):
    with pytest.raises(VocSegError, match=REFUSED[export]):
        find_config(real_data / "producers" / export, name="real")
