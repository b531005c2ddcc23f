"""Which images the lists of a folder give to which split, and what images without masks become."""

import json

import numpy as np
from PIL import Image
import pytest
from support import drawing
from support.building import examples, from_tree
from support.folders import NAMES, pairs_of, plan_of, refused, unused_of

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    ListError,
    SplitError,
    VocSegError,
)

IDS = ("0001", "0002", "0010")
LISTS = "ImageSets/Segmentation"
CLASSES = "background\napple\ntree\n"
CVAT = "default.txt, CVAT's list of images without a subset, makes the split train"


@pytest.fixture
def voc(tmp_path):
    drawing.put_pairs(tmp_path, "abc", "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    return tmp_path


@pytest.fixture
def flat(tmp_path):
    drawing.put_pairs(tmp_path, "abc", "{}.jpg", "{}_mask.png")
    return tmp_path


def lists(**ids):
    """Returns texts of lists in VOC's place; an id is a letter."""
    return {f"{LISTS}/{name}.txt": "\n".join(of) for name, of in ids.items()}


def put(root, texts):
    for name, text in texts.items():
        drawing.put(root, name, text)
    return root


def read(root, **said):
    """Returns the ids of each split in one word, and the notes."""
    plan = plan_of(root, **said)
    return {split: "".join(ids) for split, ids in plan.splits.items()}, " ".join(plan.notes)


def case(texts, found, note="", /, **said):
    """Describes lists of images a, b and c, the splits they make, and words of the notes."""
    return texts, said, found, note


READ = {
    "lists at the root": case(
        {"train.txt": "a\nb\n", "val.txt": "c\n", "class_names.txt": CLASSES},
        {"train": "ab", "validation": "c"},
    ),
    "an empty text at the root is no list": case({"requirements.txt": ""}, {"train": "abc"}),
    "lists in ImageSets win over those at the root": case(
        {"train.txt": "a\nb\n", **lists(train="c")}, {"train": "c"}
    ),
    "an ending in upper case, and leftovers of macOS": case(
        {
            f"{LISTS}/train.TXT": "a\n",
            f"{LISTS}/._train.txt": b"\0\5\26\7\0\2\0\0Mac OS X",
            f"{LISTS}/.DS_Store": b"\0\0\0\1Bud1",
        },
        {"train": "a"},
    ),
    "an id that an own list repeats is built once": case(
        {"train.txt": "a\nb\na\nJPEGImages/a.jpg\n"},
        {"train": "ab"},
        "train.txt has 4 lines for 2 ids.",
    ),
    "an empty list makes no split": case(
        lists(train="a", val="b", test=""),
        {"train": "a", "validation": "b"},
        "test.txt is empty, so it makes no split.",
    ),
    "a union makes no split": case(
        lists(train="a", trainval="ab", val="b"),
        {"train": "a", "validation": "b"},
        "so it makes no split",
    ),
    "a list of all makes no split": case(
        lists(train="a", all="ab", val="b"), {"train": "a", "validation": "b"}
    ),
    "a union alone is a split": case(lists(trainval="a"), {"trainval": "a"}),
    "CVAT's default is train": case(lists(default="a"), {"train": "a"}, CVAT),
    "CVAT's default beside others": case(
        lists(default="a", train="b"), {"default": "a", "train": "b"}
    ),
    "CVAT's default if it is said": case(
        lists(default="a"), {"default": "a"}, splits={"default": "default"}
    ),
    "names of splits in other cases": case(
        lists(Train="a", Trainval="a", VAL="b", night="c"),
        {"train": "a", "validation": "b", "night": "c"},
    ),
    "an id in two splits if that is allowed": case(
        lists(train="a", val="a"), {"train": "a", "validation": "a"}, overlap=True
    ),
    "an id without an image in two lists": case(
        lists(train="ax", val="bx"), {"train": "a", "validation": "b"}, missing_image="skip"
    ),
    "lists in the folder that is said": case(
        {"lists/train.txt": "a\n", "lists/val.txt": "c\n"},
        {"train": "a", "validation": "c"},
        lists="lists",
    ),
}


@pytest.mark.parametrize(("texts", "said", "splits", "note"), [*READ.values()], ids=READ)
def test_lists_say_which_images_are_in_which_split(voc, texts, said, splits, note):
    found, notes = read(put(voc, texts), **said)
    assert found == splits
    assert note in notes
    assert ("CVAT's list" in notes) == (note == CVAT)


IN_BOTH = r"train\.txt \(1 id\) and val\.txt \(1 id\) have 1 id in common, such as a"
LOST = "remove these ids from one of the lists, or allow"
TWICE = "--splits .*={}\n.*--splits .*={}\n"
RATIOS = {"splits": {"train": 0.999, "rest": 0.001}}


@pytest.mark.parametrize(
    ("texts", "said", "error", "words"),
    [
        (lists(train="a", val="a"), {}, ListError, IN_BOTH),
        (lists(train="ab", val="bc"), {}, ListError, LOST),
        (lists(train="ab", val="b"), {}, ListError, LOST),
        (lists(train="a", val="a"), {}, ListError, LOST),
        (
            lists(train0="bc", val0="a", train1="ac", val1="b", train2="ab", val2="c"),
            *({}, ListError, LOST),
        ),
        (lists(val="a", valid="b"), {}, LayoutError, TWICE.format("val", "valid")),
        (lists(train="a", trainval="ab"), {}, ListError, "--splits validation=rest,train=train"),
        (lists(Train="a", train="b"), {}, LayoutError, TWICE.format("Train", "train")),
        ({}, RATIOS, ListError, "split 'rest'"),
        ({}, {"splits": {"train": "mine"}}, ConfigError, "mine, but there is no such list"),
        (
            lists(night="a"),
            {"splits": {"train": "night+mine"}},
            *(ConfigError, r"train=night\+mine, but there is no list mine in"),
        ),
        ({}, {"lists": "no"}, ConfigError, "option lists"),
    ],
)
def test_lists_that_cannot_make_splits_are_refused(voc, texts, said, error, words):
    refused(put(voc, texts), words, error, **said)


def test_the_advice_about_shared_ids_is_a_choice_of_lists_that_works(voc):
    put(voc, lists(train="a", val="b", every="abc", test="c"))
    text = refused(
        voc, r"every.txt \(3 ids\) and train.txt \(1 id\) have 1 id in common, such as a"
    )
    assert "every.txt (3 ids) and val.txt (1 id) have 1 id in" in text
    assert "leave out every.txt with --splits test=test,train=train,validation=val, or" in text
    assert "no lists of splits, give --splits train=0.8,validation=0.2, which does not" in text
    advised = {"test": "test", "train": "train", "validation": "val"}
    assert read(voc, splits=advised)[0] == {"test": "c", "train": "a", "validation": "b"}


def test_class_files_readmes_and_other_texts_of_a_flat_folder_are_no_lists(flat):
    labels = "background:0,0,0::\na:1,1,1::\ntree:2,2,2::\n"
    put(flat, {"class_names.txt": CLASSES, "labelmap.txt": labels})
    put(flat, {"README.roboflow.txt": "a\n", "notes.txt": "taken in May\n"})
    assert read(flat)[0] == {"train": "abc"}
    put(flat, {"train.txt": "a\n", "val.txt": "b.jpg\nc.jpg\n"})
    assert read(flat)[0] == {"train": "a", "validation": "bc"}


def test_a_folder_below_a_flat_tree_makes_no_split(flat):
    drawing.put_pairs(flat, "d", "more/{}.jpg", "more/{}_mask.png")
    assert plan_of(flat).splits == {"train": ["a", "b", "c", "more/d"]}


def images_of_train(plan):
    return plan.items.of_split("train", plan.splits["train"])


def test_a_list_of_images_that_are_not_there_is_not_passed_over(flat):
    put(flat, {"train.txt": "x\ny\n", "val.txt": "a\n"})
    with pytest.raises(VocSegError, match="no such file"):
        images_of_train(plan_of(flat))


def test_a_list_without_any_mask_makes_no_split_unless_asked_for(voc):
    for image_id in "de":
        drawing.put_image(voc, f"JPEGImages/{image_id}.jpg")
    found, notes = read(put(voc, lists(train="abc", test="de")))
    assert found == {"train": "abc"}
    assert "test.txt has no image with a mask, so it makes no split." in notes
    asked = {"train": "train", "test": "test"}
    refused(voc, r"no mask for any of its 2 images, such as JPEGImages/d\.jpg", splits=asked)
    assert read(voc, splits=asked, missing_mask="background")[0] == {"train": "abc", "test": "de"}


def test_names_that_differ_in_their_unicode_form_alone_are_one(voc):
    drawing.put_image(voc, "JPEGImages/cafe\u0301.jpg")
    drawing.put_mask(voc, "SegmentationClass/caf\u00e9.png", drawing.truth("a"))
    plan = plan_of(put(voc, {"train.txt": "a\ncaf\u00e9\n", "val.txt": "b\n"}))
    assert plan.splits["train"] == ["a", "cafe\u0301"]
    (_, found) = plan.items.of_split("train", plan.splits["train"])
    assert str(found.mask).endswith("caf\u00e9.png")
    refused(put(voc, {"val.txt": "cafe\u0301\n"}), "have 1 id in common")


def test_a_folder_in_a_list_may_have_another_unicode_form_than_the_folder_of_the_image(tmp_path):
    folder = "cafe\u0301"
    drawing.put_pairs(tmp_path, "abc", f"images/{folder}/{{}}.jpg", f"masks/{folder}/{{}}.png")
    names = {"train.txt": "ab", "val.txt": "c"}
    for text, ids in names.items():
        drawing.put(tmp_path, text, "".join(f"caf\u00e9/{image_id}.jpg\n" for image_id in ids))
    assert plan_of(tmp_path).splits == {
        "train": [f"{folder}/a", f"{folder}/b"],
        "validation": [f"{folder}/c"],
    }


def test_of_two_files_that_differ_in_their_unicode_form_none_is_chosen(voc):
    drawing.put_image(voc, "JPEGImages/\u1e69.jpg")
    put(voc, {f"SegmentationClass/{form}.png": b"" for form in ("s\u0323\u0307", "s\u0307\u0323")})
    plan = plan_of(put(voc, {"train.txt": "a\n\u1e69\n"}))
    with pytest.raises(VocSegError, match="whose name looks the same is there"):
        images_of_train(plan)


@pytest.fixture
def tree(tmp_path):
    """The images a, b and c, of which c has no mask."""
    drawing.put_pairs(tmp_path, "ab", "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    drawing.put_image(tmp_path, "JPEGImages/c.jpg")
    return tmp_path


def put_named(root, image, mask):
    drawing.put_pairs(root, IDS, f"JPEGImages/{image}.jpg", f"SegmentationClass/{mask}.png")


def test_ids_without_a_mask_are_left_out_unless_the_config_says_otherwise(tree):
    drawing.put(tree, f"{LISTS}/train.txt", "a\nc\nb")
    plan = plan_of(tree)
    assert (plan.splits, plan.left_out) == ({"train": ["a", "b"]}, {"train": ["c"]})
    plan = plan_of(tree, missing_mask="error")
    assert (plan.splits, plan.left_out) == ({"train": ["a", "c", "b"]}, {})


def test_an_id_whose_mask_has_a_name_that_looks_the_same_is_not_left_out(tree):
    drawing.put_image(tree, "JPEGImages/caf\u00e9.jpg")
    drawing.put_mask(tree, "SegmentationClass/Caf\u00e9.png", drawing.truth("a"))
    drawing.put(tree, f"{LISTS}/train.txt", "a\ncaf\u00e9")
    refused(tree, "differs in upper and lower case", SplitError)


def test_a_mask_in_another_unicode_form_goes_to_the_split_that_has_its_image(tmp_path):
    for name in ("train/a", "train/b", "val/caf\u00e9", "val/d"):
        drawing.put_image(tmp_path, f"images/{name}.jpg")
    for name in ("a", "b", "cafe\u0301", "d"):
        drawing.put_mask(tmp_path, f"masks/{name}.png", drawing.truth("a"))
    plan = plan_of(tmp_path)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"train": 2, "validation": 2}
    assert not plan.unused


@pytest.mark.parametrize("missing_mask", ["skip", "error"])
def test_another_folder_that_has_the_masks_is_named(tree, missing_mask):
    drawing.put(tree, f"{LISTS}/train.txt", "a\nb\n")
    drawing.put(tree, f"{LISTS}/aug.txt", "c\n")
    for name in "abc":
        drawing.put_mask(tree, f"SegmentationClassAug/{name}.png", drawing.truth(name))
    told = "SegmentationClassAug has masks for 1 of the 1 listed images that have none in"
    assert told in " ".join(plan_of(tree, missing_mask=missing_mask).notes)
    found = plan_of(tree, masks="SegmentationClassAug", missing_mask=missing_mask)
    assert found.splits == {"train": ["a", "b"], "aug": ["c"]}


def test_a_mask_that_is_a_jpeg_never_becomes_background(tree):
    drawing.put(tree, "SegmentationClass/c.jpg", b"")
    drawing.put(tree, "SegmentationClass/unlisted.jpg", b"")
    drawing.put(tree, f"{LISTS}/train.txt", "a\nc")
    words = r"SegmentationClass/c.jpg: a JPEG or similar file instead of a mask"
    refused(tree, words, missing_mask="background")
    notes = " ".join(plan_of(tree, missing_mask="error", masks="SegmentationClass").notes)
    assert "SegmentationClass/c.jpg is the first of 1 files" in notes


def test_images_in_a_folder_below_that_of_masks_are_no_jpegs_in_place_of_masks(tmp_path):
    drawing.put_pairs(tmp_path, "ab", "images/{}.jpg", "{}.png")
    drawing.put_image(tmp_path, "images/c.jpg")
    options = {"images": "images", "masks": "."}
    assert plan_of(tmp_path, missing_mask="background", **options).splits == {"train": [*"abc"]}
    drawing.put(tmp_path, "c.jpg", b"")
    refused(
        tmp_path,
        "a JPEG or similar file instead of a mask",
        missing_mask="background",
        **options,
    )


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("{}", "gt_{}"),
        ("image_{}", "gt_{}"),
        ("{}_rgb", "{}"),
        ("x_{}_leftImg8bit", "x_{}_labelIds"),
        ("frame{}", "frame{} (mask)"),
    ],
)
def test_names_that_differ_are_read_by_their_pattern_and_the_rest_stands_in_the_account(
    tmp_path, image, mask
):
    root = tmp_path / "tree"
    put_named(root, image, mask)
    drawing.put_image(root, f"JPEGImages/{image.format('0020')}.jpg")
    drawing.put_mask(root, f"SegmentationClass/{mask.format('0030')}.png", drawing.truth("a"))
    found = examples(from_tree(root, class_names=NAMES), "train")
    masks = {name: example["segmentation_mask"][..., 0] for name, example in found.items()}
    assert masks.keys() == {f"{image.format(image_id)}.jpg" for image_id in IDS}
    for image_id in IDS:
        assert (masks[f"{image.format(image_id)}.jpg"] == drawing.truth(image_id)).all()
    assert unused_of(plan_of(root)) == {
        ("JPEGImages", "unlabeled images"): [f"{image.format('0020')}.jpg"],
        ("SegmentationClass", "masks without an image"): [f"{mask.format('0030')}.png"],
    }


@pytest.mark.parametrize("missing_mask", ["background", "error", "skip"])
def test_masks_that_fit_no_image_are_never_ignored(tmp_path, missing_mask):
    put_named(tmp_path, "{}", "gt_{}")
    drawing.put_mask(tmp_path, "SegmentationClass/more.png", drawing.truth("a"))
    assert [*plan_of(tmp_path, missing_mask=missing_mask).unused.values()] == [["more.png"]]


def test_two_patterns_of_which_each_fits_some_masks_are_asked_about(tmp_path):
    put_named(tmp_path, "{}", "gt_{}")
    drawing.put_pair(tmp_path, "other")
    refused(tmp_path, r"(?s)--mask_name 'gt_\{id\}.png'", missing_mask="background")


def test_names_that_no_pattern_matches_are_shown(tmp_path):
    drawing.put_image(tmp_path, "JPEGImages/berlin.jpg")
    drawing.put_mask(tmp_path, "SegmentationClass/x.png", drawing.truth("x"))
    text = refused(tmp_path, r"berlin\.jpg, the first mask SegmentationClass/x\.png")
    assert "--mask_name" in text
    assert "missing_mask" not in text


def test_a_pattern_of_the_config_is_checked_and_printed_for_tfds(tmp_path, capsys):
    put_named(tmp_path, "image_{}", "gt_{}")
    words = ["build", str(tmp_path), "--name", "mine", "--class_names", ",".join(NAMES)]
    patterns = ["--image_name", "image_{id}", "--mask_name", "gt_{id}.png"]
    assert cli.main([*words, *patterns, "--dry_run"]) == 0
    layout = '"layout": {"image_name": "image_{id}", "mask_name": "gt_{id}.png"}'
    assert layout in capsys.readouterr().out
    assert cli.main([*words, "--mask_name", "gt.png", "--dry_run"]) == 2


def test_lists_may_name_images_with_or_without_what_the_pattern_has(tmp_path):
    put_named(tmp_path, "image_{}", "gt_{}")
    drawing.put(tmp_path, "train.txt", "0001\nimage_0002\nimage_0010.jpg\n")
    said = {"image_name": "image_{id}", "mask_name": "gt_{id}"}
    assert plan_of(tmp_path, **said).splits == {"train": [*IDS]}


@pytest.mark.parametrize("options", [{"images": "data"}, {"masks": "data"}])
def test_images_that_become_background_are_named_and_are_no_overlays(tmp_path, options):
    random = np.random.default_rng(0)
    (tmp_path / "data" / "more").mkdir(parents=True)
    for name in "abcd":
        pixels = np.kron(random.integers(0, 255, (6, 8)), np.ones((8, 8))).astype(np.uint8)
        Image.fromarray(pixels).convert("RGB").save(tmp_path / f"data/{name}.jpg")
        drawing.put_mask(tmp_path, f"data/{name}.png", (pixels > 99).astype(np.uint8))
        other_pixels = np.kron(random.integers(0, 255, (3, 4)), np.ones((8, 8))).astype(np.uint8)
        Image.fromarray(other_pixels).convert("RGB").save(tmp_path / f"data/more/{name}.jpg")
    said = {"missing_mask": "background", **options}
    plan = plan_of(tmp_path, **said)
    assert [len(ids) for ids in plan.splits.values()] == [8]
    assert "4 images without a mask are background alone, such as data/more/a.jpg." in plan.notes
    (tmp_path / "data/more").rename(tmp_path / "data/overlays")
    refused(tmp_path, r"is a copy of .* the first of 4 such images", **said)


@pytest.mark.parametrize("photos", ["data/photos/{}.jpg", "data/{}.jpg"])
def test_images_below_the_masks_are_not_told_to_be_masks(tmp_path, photos):
    drawing.put_pairs(tmp_path, "abcd", photos, "data/{}.png")
    drawing.put_image(tmp_path, photos.format("e"))
    said = {"images": photos.rpartition("/")[0], "masks": "data", "missing_mask": "background"}
    plan = plan_of(tmp_path, **said)
    assert {split: len(ids) for split, ids in plan.splits.items()} == {"train": 5}


@pytest.mark.parametrize(
    ("jpeg", "words"),
    [
        ("train/masks/e.jpg", r"train/masks/e\.jpg: a JPEG or similar file instead of a mask"),
        ("train/masks/of_e.jpg", r"train/masks/of_e\.jpg: the first of 1 files"),
    ],
)
def test_images_whose_masks_are_jpegs_never_become_background_in_parts(tmp_path, jpeg, words):
    for split, ids in (("train", "ab"), ("val", "cd")):
        drawing.put_pairs(tmp_path, ids, split + "/images/{}.jpg", split + "/masks/{}.png")
    drawing.put_image(tmp_path, "train/images/e.jpg")
    drawing.put_image(tmp_path, jpeg)
    refused(tmp_path, words, missing_mask="background")


def put_photos(root, pattern, *, side, turned=False):
    """Writes photos a to d of 8 x 6 areas, each with `side` pixels at a side."""
    for seed, name in enumerate("abcd"):
        areas = np.random.default_rng(seed).integers(0, 255, (6, 8, 3)).astype(np.uint8)
        photo = Image.fromarray(np.kron(areas, np.ones((side, side, 1), np.uint8)))
        path = root / pattern.format(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        photo.transpose(Image.Transpose.ROTATE_90).save(path) if turned else photo.save(path)


COPIES_OF_LABELED = {
    "small ones in a folder": ("data/web/{}.jpg", {"side": 2}),
    "small ones beside their images": ("data/{}_small.png", {"side": 4}),
    "small ones with a size in their names": ("data/{}-32x24.jpg", {"side": 4}),
    "thumbnails with a word before": ("data/small/tn_{}.jpg", {"side": 4}),
    "small ones that are turned": ("data/web/{}.jpg", {"side": 2, "turned": True}),
    "the same in another format": ("data/png/{}.png", {"side": 8}),
}


@pytest.mark.parametrize("name", COPIES_OF_LABELED)
def test_copies_of_labeled_images_never_become_background(tmp_path, name):
    pattern, how = COPIES_OF_LABELED[name]
    put_photos(tmp_path, "data/{}.jpg", side=8)
    for image_id in "abcd":
        mask = np.zeros((48, 64), np.uint8)
        mask[8:24] = 1
        drawing.put_mask(tmp_path, f"masks/{image_id}.png", mask)
    options = {"images": "data", "masks": "masks", "missing_mask": "background"}
    assert len(plan_of(tmp_path, **options).splits["train"]) == 4
    put_photos(tmp_path, pattern, **how)
    text = refused(tmp_path, r"shows the same picture as the labeled image data/a\.jpg", **options)
    assert pattern.format("a") in text
    assert "the first of 4 such images" in text
    skipping = plan_of(tmp_path, **{**options, "missing_mask": "skip"})
    assert sorted(skipping.splits["train"]) == [*"abcd"]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        (
            "images/{} (1).png",
            r"0001 \(1\)\.png: an image .* that is a copy of the labeled image images/0001\.png",
        ),
        ("masks2/{}.png", "masks2/0003.png: the first of 3 files that have the names of images"),
    ],
)
def test_copies_and_images_with_masks_elsewhere_never_become_background(tmp_path, name, words):
    drawing.put_pairs(tmp_path, ["0001", "0002"], "images/{}.png", "masks/{}.png")
    for image_id in ("0003", "0004", "0005") if "masks2" in name else ():
        drawing.put_image(tmp_path, f"images/{image_id}.png")
        drawing.put_mask(tmp_path, name.format(image_id), drawing.truth(image_id))
    for image_id in ("0001", "0002") if "masks2" not in name else ():
        drawing.put(
            tmp_path, name.format(image_id), (tmp_path / f"images/{image_id}.png").read_bytes()
        )
    refused(tmp_path, words, masks="masks", missing_mask="background")


@pytest.mark.parametrize(
    ("names", "splits"),
    [
        ("train test1 test2", "train test1 test2"),
        ("train testA testB", "train testA testB"),
        ("train val eval", "train validation eval"),
        ("train va te", "train validation test"),
        ("trn dev tst", "train validation test"),
        ("training holdout test-easy", "train holdout test_easy"),
    ],
)
@pytest.mark.parametrize("form", ["texts", "json", "table", "column of any name"])
def test_no_other_split_is_train_whatever_the_names_are(voc, names, splits, form):
    of_names = dict(zip(names.split(), "abc", strict=True))
    if form == "texts":
        put(voc, {f"{name}.txt": f"{image_id}\n" for name, image_id in of_names.items()})
    elif form == "json":
        put(voc, {"splits.json": json.dumps({name: [i] for name, i in of_names.items()})})
    else:
        title = "split" if form == "table" else "phase"
        rows = [f"image,{title}", *(f"{i}.jpg,{name}" for name, i in of_names.items())]
        put(voc, {"data.csv": "\n".join(rows)})
    split_by_id = {image_id: split for split, image_id in read(voc)[0].items()}
    made = [split_by_id[image_id] for image_id in "abc"]
    assert made[0] == "train"
    assert len({*made}) == 3
    if form == "texts":
        assert made == splits.split()


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (
            {"data.csv": "image,phase\na,train\nb,query\nc,query\n"},
            "phase with query, train",
        ),
        ({"train_test.txt": "a\nb\nc\n"}, "train_test does not say which are test"),
        ({"s.json": '{"train_test": ["a", "b"], "more": ["c"]}'}, "train_test does not say which"),
        ({"train.txt": "a\n", "s.csv": "image,split\n1,val\n2,test\n"}, None),
    ],
)
def test_names_that_may_hide_a_test_split_are_asked_about(voc, texts, words):
    put(voc, texts)
    if words:
        refused(voc, words)
    else:
        assert read(voc)[0] == {"train": "a"}


@pytest.mark.parametrize("between", ["", "# made by hand\n", "\n", "\n# by hand\n\n"])
@pytest.mark.parametrize("above", ["", "\n", "# which image is in which split\n"])
def test_a_head_with_a_sign_of_comments_counts_whatever_lines_stand_around_it(voc, above, between):
    put(voc, {"list.csv": f"{above}# image,split\n{between}a.jpg,train\nb.jpg,val\nc.jpg,val\n"})
    assert read(voc)[0] == {"train": "a", "validation": "bc"}


@pytest.mark.parametrize("between", ["", "\n", "# by hand\n"])
def test_folds_below_a_head_with_a_sign_of_comments_are_folds(voc, between):
    put(voc, {"list.csv": f"# image,fold\n{between}a.jpg,0\nb.jpg,1\nc.jpg,1\n"})
    with pytest.raises(LayoutError, match=r"list\.csv") as caught:
        plan_of(voc)
    assert "fold" in str(caught.value)


@pytest.mark.parametrize("head", ["image,split,split", "image,Split,split", "image,my/set,my|set"])
def test_two_columns_of_one_title_that_contradict_each_other_are_asked_about(voc, head):
    put(voc, {"list.csv": f"{head}\na,train,val\nb,train,train\nc,val,train\n"})
    with pytest.raises(LayoutError, match=r"list\.csv") as caught:
        plan_of(voc)
    title = head.split(",")[2].replace("/", "|")
    assert f"{title} 2" in str(caught.value)
    assert f"{title} 3" in str(caught.value)


def test_two_columns_of_one_title_that_agree_are_one(voc):
    put(voc, {"list.csv": "image,split,split\na,train,train\nb,train,train\nc,val,val\n"})
    assert read(voc)[0] == {"train": "ab", "validation": "c"}


@pytest.mark.parametrize(
    "document",
    [{"train": ["a", "b"], "val": ["c"], "boxes": [[], []]}, [[], []], [], {"boxes": [[]]}],
)
def test_empty_lists_in_a_json_of_splits_say_nothing(voc, document):
    put(voc, {"splits.json": json.dumps(document)})
    splits = {"train": "ab", "validation": "c"} if "train" in document else {"train": "abc"}
    assert read(voc)[0] == splits


def test_a_table_of_scores_is_no_split(voc):
    put(voc, {"evaluation.csv": "image,iou\na,0.5\nb,0.7\nc,0.9\n"})
    assert read(voc)[0] == {"train": "abc"}


@pytest.mark.parametrize("missing", ["000099", "2007_000099", "99"])
@pytest.mark.parametrize("name", ["eval.txt", "holdout.txt", "lists/eval.txt"])
def test_a_list_for_evaluation_with_a_number_that_no_image_has_is_not_scores(
    tmp_path, name, missing
):
    ids = [f"00000{number}" for number in range(6)]
    drawing.put_pairs(tmp_path, ids, "images/{}.jpg", "masks/{}.png")
    put(tmp_path, {name: f"000000\n000001\n{missing}\n"})
    refused(tmp_path, "eval|holdout")


def test_lists_of_numbers_without_zeros_and_of_patients_are_refused(tmp_path):
    drawing.put_pairs(tmp_path / "zeros", IDS, "images/{}.jpg", "masks/{}.png")
    put(tmp_path / "zeros", {"train.txt": "1\n2\n", "val.txt": "10\n"})
    refused(tmp_path / "zeros", r"train\.txt: 1, which may be the image 0001")
    names = [f"P{patient}-S{scan}" for patient in (1, 2, 3) for scan in (1, 2)]
    drawing.put_pairs(tmp_path / "patients", names, "images/{}.jpg", "masks/{}.png")
    put(tmp_path / "patients", {"train.txt": "P1\nP2\n", "val.txt": "P3\n"})
    refused(tmp_path / "patients", r"train\.txt: P1, which is no image: the names of 2 images")


@pytest.mark.parametrize(
    ("name", "text", "option"),
    [
        ("ids.csv", "image,split\n1,train\n2,train\n10,val\n", "ids.csv:train"),
        ("ids.csv", "image,split\n1,train\n2,train\n10,val\n", "ids.csv"),
        ("meta/train.csv", "id\n1\n2\n", "meta/train.csv"),
        ("meta/train.csv", "id\n1\n2\n", "meta/train"),
        ("splits.json", '{"train": [1, 2], "val": [10]}', "splits.json:train"),
        ("splits/train.json", "[1, 2]", "train"),
        ("meta/my_train.txt", "1\n2\n", "meta/my_train.txt"),
    ],
)
def test_a_list_of_numbers_without_zeros_is_named_when_it_is_asked_for(
    tmp_path, name, text, option
):
    drawing.put_pairs(tmp_path, IDS, "images/{}.jpg", "masks/{}.png")
    put(tmp_path, {name: text})
    splits = {"train": option, "validation": "rest"}
    told = refused(tmp_path, "1, which may be the image 0001", VocSegError, splits=splits)
    assert "no such list" not in told


@pytest.mark.slow
def test_a_list_of_folds_among_more_texts_than_are_read_makes_its_split(flat):
    numbers = {f"meta/n{number:04}.txt": f"{number} meters" for number in range(520)}
    put(flat, {**numbers, "meta/train_fold0.txt": "a\nb", "meta/val_fold0.txt": "c"})
    splits, notes = read(flat)
    assert splits == {"train": "ab", "validation": "c"}
    assert "meta has 522 texts that may be lists. 22 of them are not read." in notes


def test_a_list_in_vocs_folder_makes_its_split_though_an_image_has_its_name(tmp_path):
    ids = ("night", "elm", "fox")
    drawing.put_pairs(tmp_path, ids, "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    put(tmp_path, {f"{LISTS}/train.txt": "elm", f"{LISTS}/night.txt": "fox\nnight"})
    assert plan_of(tmp_path).splits == {"train": ["elm"], "night": ["fox", "night"]}


def test_lists_that_are_said_are_not_stopped_by_texts_elsewhere(flat):
    put(flat, {"my/train.txt": "a\nb", "my/val.txt": "c"})
    put(flat, {"notes.txt": "train: a b\nval: c", "old/train.csv": "image\na.jpg\n\1\n"})
    splits, notes = read(flat, lists="my")
    assert splits == {"train": "ab", "validation": "c"}
    assert "notes.txt is not read: it has names of images and splits" in notes
    put(flat, {"my/notes.txt": "train: a b\nval: c"})
    put(flat, {"my/train.txt": "a", "my/val.txt": "b"})
    refused(flat, "my/notes.txt", ListError, lists="my")


def test_paths_of_files_beside_the_images_are_noted(tmp_path):
    drawing.put_pairs(tmp_path, "abc", "rgb/{}.jpg", "masks/{}.png")
    for image_id in "ab":
        drawing.put_image(tmp_path, f"thermal/{image_id}.jpg")
    put(tmp_path, {"train.txt": "thermal/a.jpg\nthermal/b.jpg", "val.txt": "rgb/c.jpg"})
    splits, notes = read(tmp_path, images="rgb", masks="masks")
    assert splits == {"train": "ab", "validation": "c"}
    assert (
        "train.txt names thermal/a.jpg, and the image rgb/a.jpg of the same name is taken" in notes
    )
    assert "val.txt names" not in notes
    put(tmp_path, {"train.txt": "/home/x/data/a.jpg\n/home/x/data/b.jpg"})  # another machine
    splits, notes = read(tmp_path, images="rgb", masks="masks")
    assert splits == {"train": "ab", "validation": "c"}
    assert "of the same name" not in notes


def test_a_path_into_another_folder_is_that_of_another_image(tmp_path):
    drawing.put_pairs(tmp_path, "ab", "images/rome/{}.jpg", "masks/rome/{}.png")
    drawing.put_pairs(tmp_path, "cd", "images/oslo/{}.jpg", "masks/oslo/{}.png")
    put(tmp_path, {"train.txt": "rome/a\nrome/b", "val.txt": "oslo/d\nbonn/c"})
    plan = plan_of(tmp_path)
    assert plan.splits == {"train": ["rome/a", "rome/b"], "validation": ["oslo/d", "bonn/c"]}
    with pytest.raises(VocSegError, match="bonn/c"):
        pairs_of(plan)


def test_a_split_without_images_is_named_with_what_to_do(flat):
    said = {"splits": {"train": "train.txt", "validation": "rest"}}
    put(flat, {"train.txt": "a\nb\nc"})
    refused(
        flat, "leave this split out, because the other splits have all labeled", ListError, **said
    )


def test_a_list_of_other_images_is_named_if_missing_images_are_skipped(voc):
    put(voc, lists(train="xy", val="ab"))
    words = r"no image for any of its 2 ids, such as x\n(.*\n)*.*put the images into the folder"
    refused(voc, words, ListError, missing_image="skip")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_a_long_table_of_any_name_is_looked_into_in_its_encoding(tmp_path, encoding):
    ids = [f"im{number:02}" for number in range(30)]
    drawing.put_pairs(tmp_path, ids, "images/{}.jpg", "masks/{}.png")
    rows = [
        f"{image_id}.jpg,{'x' * 20_000},{'train' if image_id < 'im20' else 'val'}"
        for image_id in ids
    ]
    text = "\n".join(["image,text,set", *rows])
    mark = "\ufeff" if encoding == "utf-16-be" else ""
    (tmp_path / "meta.csv").write_bytes((mark + text).encode(encoding))
    splits = plan_of(tmp_path).splits
    assert {split: len(ids) for split, ids in splits.items()} == {"train": 20, "validation": 10}
