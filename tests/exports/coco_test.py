import json

import numpy as np
import pytest
from support.building import examples, holes_and_void

from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.exports.coco import encode_runs
from voc_seg_tfrecord.exports.export import export

coco_module = pytest.importorskip("pycocotools.coco")
coco_masks = pytest.importorskip("pycocotools.mask")


def open_coco(folder, split):
    return coco_module.COCO(str(folder / "annotations" / f"instances_{split}.json"))


def draw(coco, image, index_of_name, background):
    """Returns the mask that pycocotools decodes of an image, with the dataset's indices."""
    mask = np.full((image["height"], image["width"]), background, np.uint8)
    for annotation in coco.loadAnns(coco.getAnnIds(imgIds=image["id"])):
        is_inside = coco.annToMask(annotation).astype(bool)
        assert (mask[is_inside] == background).all()  # no pixel is in two annotations
        assert annotation["area"] == is_inside.sum() == coco_masks.area(annotation["segmentation"])
        assert annotation["bbox"] == coco_masks.toBbox(annotation["segmentation"]).tolist()
        (category,) = coco.loadCats(annotation["category_id"])
        mask[is_inside] = index_of_name[category["name"]]
    return mask


@pytest.mark.parametrize("share", [0, 0.01, 0.5, 0.99, 1])
def test_runs_are_written_as_pycocotools_writes_them(share):
    rng = np.random.default_rng(0)
    for size in [(1, 1), (1, 7), (30, 41), (300, 200)]:
        mask = rng.random(size) < share
        expected = coco_masks.encode(np.asfortranarray(mask.astype(np.uint8)))["counts"].decode()
        assert encode_runs(mask) == expected


def test_pycocotools_decodes_the_masks_of_the_dataset(tmp_path):
    built = holes_and_void(tmp_path / "data")
    notes = export(built, tmp_path / "out", layout="coco", with_card=True)
    index_of_name = {
        name: i for i, name in enumerate(built.info.features["segmentation_mask"].names)
    }
    for split, folder in (("train", "train"), ("validation", "val")):
        coco = open_coco(tmp_path / "out", folder)
        masks = {name: e["segmentation_mask"][..., 0] for name, e in examples(built, split).items()}
        assert len(coco.imgs) == len(masks) > 0
        for image in coco.imgs.values():
            assert (tmp_path / "out" / folder / image["file_name"]).is_file()
            expected = masks[image["file_name"]].copy()
            expected[expected == 255] = 1
            assert (draw(coco, image, index_of_name, 1) == expected).all()
    categories = [category["name"] for category in coco.dataset["categories"]]
    assert categories == ["crack", "road", "hole: deep"]
    void = sum((mask == 255).sum() for mask in masks.values())
    assert f"validation: {void:,} pixels of void in" in notes[1]


def test_each_object_of_an_instance_mask_is_an_annotation(sample, tmp_path):
    export(sample, tmp_path / "out", layout="coco")
    for split, folder in (("train", "train"), ("validation", "val"), ("test", "test")):
        coco = open_coco(tmp_path / "out", folder)
        by_name = examples(sample, split)
        for image in coco.imgs.values():
            objects = by_name[image["file_name"]]["instance_mask"][..., 0]
            numbers = []
            for annotation in coco.imgToAnns[image["id"]]:
                (number,) = np.unique(objects[coco.annToMask(annotation) > 0]).tolist()
                numbers.append(number)
            assert {*numbers} >= {*np.unique(objects).tolist()} - {0, 255}


def test_the_export_built_again_has_the_same_masks_but_for_void(sample, tmp_path):
    export(sample, tmp_path / "out", layout="coco", with_card=True)
    again = builder_from_tree(
        tmp_path / "out", name="again", data_dir=tmp_path / "data", verbose=False
    )
    names = sample.info.features["segmentation_mask"].names
    assert again.info.features["segmentation_mask"].names == names
    for split, folder in (("train", "train"), ("validation", "val")):
        found = examples(again, split)
        for name, example in examples(sample, split).items():
            mask = example["segmentation_mask"]
            other = found[f"{folder}/{name}"]["segmentation_mask"]
            assert (np.where(mask == 255, 0, mask) == other).all()


def test_the_json_is_the_same_each_time(sample, tmp_path):
    texts = []
    for name in "ab":
        export(sample, tmp_path / name, layout="coco")
        texts.append((tmp_path / name / "annotations/instances_val.json").read_bytes())
    assert texts[0] == texts[1]
    assert json.loads(texts[0])["info"] == {"description": "voc_seg_tfrecord/sample/1.0.0"}
