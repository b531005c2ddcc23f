import numpy as np
import pytest
from support import exports
from support.building import examples, from_tree

from voc_seg_tfrecord import VOID
from voc_seg_tfrecord.base.errors import ConfigError, VocSegError
from voc_seg_tfrecord.build_from.tree import builder_from_tree, find_config

NAMES = ["apple", "background", "tree"]


@pytest.fixture
def tree(tmp_path):
    """Grey masks with 0 apple, 1 background, 2 tree, and a row of void."""
    values = exports.truth("a")
    values[0] = VOID
    exports.put_pair(tmp_path, "a", values)
    return tmp_path, values


def built(root, **said):
    builder = builder_from_tree(root, name="mine", data_dir=root / "data", **said)
    (example,) = examples(builder, "train").values()
    names = np.array([*builder.info.features["segmentation_mask"].names, *[""] * 255])
    return names[example["segmentation_mask"][..., 0]], list(example["labels"])


def test_a_row_makes_background_class_0_and_moves_the_pixels_with_the_names(tree):
    root, values = tree
    names, labels = built(root, class_names=NAMES, classes={"background": "background"})
    assert (names == np.array([*NAMES, *[""] * 255])[values]).all()
    assert labels == [1, 2]


def test_rows_of_colours_move_no_pixel_to_another_class(tmp_path):
    exports.put_image(tmp_path, "JPEGImages/a.jpg")
    exports.put(tmp_path, "labelmap.txt", "pomme:250,50,83::\nfond:0,0,0::\narbre:51,221,255::\n")
    (tmp_path / "SegmentationClass").mkdir()
    order = {"apple": (250, 50, 83), "background": (0, 0, 0), "tree": (51, 221, 255)}
    exports.rgb(exports.truth("a"), order).save(tmp_path / "SegmentationClass/a.png")
    names, labels = built(tmp_path, background="fond", classes={"fond": "fond"})
    assert (names == np.array(["pomme", "fond", "arbre"])[exports.truth("a")]).all()
    assert labels == [1, 2]


def test_a_missing_mask_is_background_only_where_a_background_class_is_known(tree):
    root, _ = tree
    exports.put_image(root, "JPEGImages/b.jpg")
    said = {"class_names": ["Apple", "Ground", "tree"], "missing_mask": "background"}
    with pytest.raises(ConfigError, match="--background NAME"):
        find_config(root, name="mine", **said)
    builder = from_tree(root, background="Ground", **said)
    found = examples(builder, "train")["b.jpg"]
    assert (found["segmentation_mask"] == 1).all()
    assert list(found["labels"]) == []


def test_the_background_that_datumaro_names_fills_missing_masks(tree):
    root, _ = tree
    exports.put_image(root, "JPEGImages/b.jpg")
    meta = '{"label_map": {"0": "apple", "1": "ground", "2": "tree"}, "background_label": "1"}'
    exports.put(root, "dataset_meta.json", meta)
    builder = from_tree(root, missing_mask="background")
    assert (examples(builder, "train")["b.jpg"]["segmentation_mask"] == 1).all()


def test_names_that_the_option_would_split_are_not_proposed(tmp_path):
    exports.put_pair(tmp_path, "a", exports.truth("a") * 100)
    for names, proposed in ((["background", "road"], True), (["background", "dry, road"], False)):
        with pytest.raises(VocSegError, match="--write_classes") as caught:
            builder_from_tree(tmp_path, name="mine", data_dir=tmp_path / "d", class_names=names)
        assert ("--class_names" in str(caught.value)) is proposed
