import numpy as np
import pytest
from support import exports
from support.building import examples, from_tree

from voc_seg_tfrecord import VOC_CLASSES, VOID, voc_palette
from voc_seg_tfrecord.base.errors import ConfigError
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


def test_background_first_moves_the_pixels_with_the_names(tree):
    root, values = tree
    names, labels = built(root, class_names=NAMES, background_first=True)
    assert (names == np.array([*NAMES, *[""] * 255])[values]).all()
    assert labels == [1, 2]


def test_background_first_keeps_the_meaning_of_given_values(tree):
    root, values = tree
    said = {0: 2, 1: 1, 2: 255, 255: 0}
    names, _ = built(root, class_names=NAMES, values=said, background_first=True)
    expected = np.array(["tree", "background", ""])[np.minimum(values, 2)]
    expected[0] = "apple"
    assert (names == expected).all()


def test_background_first_keeps_the_order_of_a_class_file_whose_classes_are_renamed(tree):
    root, values = tree
    exports.put(root, "class_names.txt", "pomme\nfond\narbre\n")
    names, _ = built(root, class_names=NAMES, background_first=True)
    assert (names == np.array([*NAMES, *[""] * 255])[values]).all()


def test_background_first_with_colours_and_other_names_is_refused_unless_by_name(tmp_path):
    exports.put_image(tmp_path, "JPEGImages/a.jpg")
    exports.put(tmp_path, "labelmap.txt", "pomme:250,50,83::\nfond:0,0,0::\narbre:51,221,255::\n")
    (tmp_path / "SegmentationClass").mkdir()
    order = {"apple": (250, 50, 83), "background": (0, 0, 0), "tree": (51, 221, 255)}
    exports.rgb(exports.truth("a"), order).save(tmp_path / "SegmentationClass/a.png")
    with pytest.raises(ConfigError, match="read by colour"):
        find_config(tmp_path, name="mine", class_names=NAMES, background_first=True)
    names, labels = built(tmp_path, background="fond", background_first=True)
    assert (names == np.array(["pomme", "fond", "arbre"])[exports.truth("a")]).all()
    assert labels == [1, 2]


def test_background_first_with_voc_colours_and_names_in_an_own_order_is_refused(tmp_path):
    exports.put_image(tmp_path, "JPEGImages/a.jpg")
    (tmp_path / "SegmentationClass").mkdir()
    colors = dict(zip("abc", map(tuple, voc_palette()[:3].tolist()), strict=True))
    exports.rgb(exports.truth("a"), colors).save(tmp_path / "SegmentationClass/a.png")
    names = [*VOC_CLASSES[1:3], VOC_CLASSES[0], *VOC_CLASSES[3:]]
    with pytest.raises(ConfigError, match="read by colour"):
        find_config(tmp_path, name="mine", class_names=names, background_first=True)


def test_background_first_needs_a_background_class(tree):
    with pytest.raises(ConfigError, match="--background NAME"):
        find_config(tree[0], name="mine", class_names=list("abc"), background_first=True)


def test_values_do_not_go_with_an_order_that_is_to_change(tree):
    root, _ = tree
    exports.put(root, "class_names.txt", "\n".join(NAMES))
    with pytest.raises(ConfigError, match="--class_names too"):
        find_config(root, name="mine", values={0: 0}, background_first=True)


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
