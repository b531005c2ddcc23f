import pytest
from support import exports
from support.own_tree import config, write_own_tree

from voc_seg_tfrecord.errors import LayoutError, ListError
from voc_seg_tfrecord.own_data.missing_masks import elsewhere, without_masks
from voc_seg_tfrecord.own_data.plan import make_plan, open_tree

LISTS = "ImageSets/Segmentation"


@pytest.fixture
def tree(tmp_path):
    return write_own_tree(tmp_path)


def test_ids_without_a_mask_are_left_out_only_if_the_config_says_so(tree):
    splits = {"train": ["a", "c", "b"]}
    assert without_masks(tree(), config(), splits) == (splits, {})
    found = without_masks(tree(), config(missing_mask="skip"), splits)
    assert found == ({"train": ["a", "b"]}, {"train": ["c"]})


def test_an_id_whose_mask_has_a_name_that_looks_the_same_is_not_left_out(tree):
    root = tree().root
    exports.put_image(root, "JPEGImages/caf\u00e9.jpg")
    exports.put(root, "SegmentationClass/Caf\u00e9.png", b"")
    splits = {"train": ["a", "caf\u00e9"]}
    assert without_masks(tree(), config(missing_mask="skip"), splits) == (splits, {})


def test_a_split_without_any_mask_is_refused_if_it_was_asked_for(tree):
    asked = config(missing_mask="skip", splits={"train": "train", "test": "test"})
    with pytest.raises(ListError, match=r"no mask for any of its 1 images, such as c.jpg"):
        without_masks(tree(), asked, {"train": ["a"], "test": ["c"]})


@pytest.mark.parametrize("missing_mask", ["skip", "error"])
def test_another_folder_that_has_the_masks_is_named(tree, missing_mask):
    exports.put(tree().root, f"{LISTS}/train.txt", "a\nb\n")
    exports.put(tree().root, f"{LISTS}/aug.txt", "c\n")
    for image_id in "abc":
        mask = exports.write_png(exports.truth(image_id), color=0)
        exports.put(tree().root, f"SegmentationClassAug/{image_id}.png", mask)
    plan = make_plan(tree(), config(missing_mask=missing_mask))
    told = "SegmentationClassAug has masks for 1 of the 1 listed images that have none in"
    assert told in " ".join(plan.notes)
    layout = {"masks": "SegmentationClassAug"}
    open_again = open_tree(tree().root, config(layout=layout))
    found = make_plan(open_again, config(layout=layout))
    assert found.splits == {"train": ["a", "b"], "aug": ["c"]}


def test_a_mask_that_is_a_jpeg_never_becomes_background(tree):
    exports.put(tree().root, "SegmentationClass/c.jpg", b"")
    exports.put(tree().root, "SegmentationClass/unlisted.jpg", b"")
    background = config(missing_mask="background")
    with pytest.raises(
        LayoutError, match=r"SegmentationClass/c.jpg: a JPEG, or the like, where a mask"
    ):
        without_masks(tree(), background, {"train": ["a", "c"]})
    (note,) = elsewhere(tree(), ["a", "c"])
    assert note.startswith("c.jpg in SegmentationClass is the first of 1 files")
