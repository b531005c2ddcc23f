import pytest
from support import exports

from voc_seg_tfrecord.base.errors import ConfigError, VocSegError
from voc_seg_tfrecord.build_from.tree import builder_from_tree, find_config

NAMES = ["background", "apple", "tree"]
CLASSES = "background\napple\ntree\n"


@pytest.fixture
def voc(tmp_path):
    exports.put_pairs(tmp_path, "abc", "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    return tmp_path


@pytest.fixture
def flat(tmp_path):
    exports.put_pairs(tmp_path, "abc", "{}.jpg", "{}_mask.png")
    return tmp_path


def put(root, **texts):
    """Writes lists at the root."""
    for name, text in texts.items():
        exports.put(root, f"{name}.txt", text)


def splits(root, **said):
    _, plan = find_config(root, name="mine", class_names=NAMES, **said)
    return plan.splits, " ".join(plan.notes)


LISTS = {
    "lists at the root": (
        {"train.txt": "a\nb\n", "val.txt": "c\n", "class_names.txt": CLASSES},
        {"train": ["a", "b"], "validation": ["c"]},
    ),
    "an empty text at the root is no list": ({"requirements.txt": ""}, {"train": ["a", "b", "c"]}),
    "lists in ImageSets win over those at the root": (
        {"train.txt": "a\nb\n", "ImageSets/Segmentation/train.txt": "c\n"},
        {"train": ["c"]},
    ),
    "an ending in upper case, and leftovers of macOS": (
        {
            "ImageSets/Segmentation/train.TXT": "a\n",
            "ImageSets/Segmentation/._train.txt": b"\0\5\26\7\0\2\0\0Mac OS X",
            "ImageSets/Segmentation/.DS_Store": b"\0\0\0\1Bud1",
        },
        {"train": ["a"]},
    ),
}


@pytest.mark.parametrize(("texts", "found"), [*LISTS.values()], ids=LISTS)
def test_texts_are_lists_by_their_place_and_ending(voc, texts, found):
    for name, text in texts.items():
        exports.put(voc, name, text)
    assert splits(voc)[0] == found


def test_class_files_readmes_and_other_texts_of_a_flat_folder_are_no_lists(flat):
    exports.put(flat, "class_names.txt", CLASSES)
    exports.put(flat, "labelmap.txt", "background:0,0,0::\na:1,1,1::\ntree:2,2,2::\n")
    exports.put(flat, "README.roboflow.txt", "a\n")
    exports.put(flat, "notes.txt", "taken in May\n")
    assert splits(flat)[0] == {"train": ["a", "b", "c"]}
    put(flat, train="a\n", val="b.jpg\nc.jpg\n")
    assert splits(flat)[0] == {"train": ["a"], "validation": ["b", "c"]}


def test_a_list_of_images_that_are_not_there_is_not_passed_over(flat):
    put(flat, train="x\ny\n", val="a\n")
    with pytest.raises(VocSegError, match="no such file"):
        builder_from_tree(flat, name="mine", data_dir=flat.parent / "d", class_names=NAMES)


def test_lists_lie_in_the_folder_that_is_said(voc):
    exports.put(voc, "lists/train.txt", "a\n")
    exports.put(voc, "lists/val.txt", "c\n")
    assert splits(voc, lists="lists")[0] == {"train": ["a"], "validation": ["c"]}
    with pytest.raises(ConfigError, match="option lists"):
        splits(voc, lists="no")


@pytest.mark.parametrize(
    "line",
    [
        "JPEGImages\\a.jpg",
        "data\\VOC2012\\JPEGImages\\a.jpg",
        "JPEGImages\\a.jpg SegmentationClass\\a.png",
        "VOC2012/JPEGImages/a.jpg",
        "C:\\data\\JPEGImages\\a.jpg",
    ],
)
def test_lines_of_lists_may_be_paths_with_backslashes_and_more_folders(voc, line):
    exports.put(voc, "ImageSets/Segmentation/train.txt", f"{line}\r\n")
    assert splits(voc)[0] == {"train": ["a"]}


def test_a_list_without_any_mask_makes_no_split_unless_asked_for(voc):
    for image_id in "de":
        exports.put_image(voc, f"JPEGImages/{image_id}.jpg")
    exports.put(voc, "ImageSets/Segmentation/train.txt", "a\nb\nc\n")
    exports.put(voc, "ImageSets/Segmentation/test.txt", "d\ne\n")
    found, notes = splits(voc)
    assert found == {"train": ["a", "b", "c"]}
    assert "test.txt has no image with a mask, so it makes no split." in notes
    asked = {"train": "train", "test": "test"}
    with pytest.raises(VocSegError, match=r"no mask for any of its 2 images, such as d\.jpg"):
        splits(voc, splits=asked)
    found, _ = splits(voc, splits=asked, missing_mask="background")
    assert found["test"] == ["d", "e"]


def test_a_folder_below_a_flat_tree_makes_no_split(flat):
    exports.put_pairs(flat, "d", "more/{}.jpg", "more/{}_mask.png")
    assert splits(flat)[0] == {"train": ["a", "b", "c", "more/d"]}


def test_an_id_that_an_own_list_repeats_is_built_once_and_a_note_counts_it(voc):
    exports.put(voc, "train.txt", "a\nb\na\nJPEGImages/a.jpg\n")
    found, notes = splits(voc)
    assert found == {"train": ["a", "b"]}
    assert "train.txt has 4 lines for 2 ids." in notes


def test_names_that_differ_in_their_unicode_form_alone_are_one(voc):
    exports.put_image(voc, "JPEGImages/cafe\u0301.jpg")
    exports.put_mask(voc, "SegmentationClass/caf\u00e9.png", exports.truth("a"))
    put(voc, train="a\ncaf\u00e9\n", val="b\n")
    _, plan = find_config(voc, name="mine", class_names=NAMES)
    assert plan.splits["train"] == ["a", "cafe\u0301"]
    (_, found) = plan.tree.pairs("train", plan.splits["train"])
    assert str(found.mask).endswith("caf\u00e9.png")
    exports.put(voc, "val.txt", "cafe\u0301\n")
    with pytest.raises(VocSegError, match="1 of 2 and 1 ids in both"):
        splits(voc)


def test_of_two_files_that_differ_in_their_unicode_form_none_is_chosen(voc):
    exports.put_image(voc, "JPEGImages/\u1e69.jpg")
    for form in ("s\u0323\u0307", "s\u0307\u0323"):
        exports.put(voc, f"SegmentationClass/{form}.png", b"")
    exports.put(voc, "train.txt", "a\n\u1e69\n")
    with pytest.raises(VocSegError, match="whose name looks the same is there"):
        builder_from_tree(voc, name="mine", data_dir=voc.parent / "d", class_names=NAMES)
