import numpy as np
from PIL import Image
import pytest
from support import exports
from support.building import examples, from_tree
from support.folders import NAMES, plan_of, refused

from voc_seg_tfrecord.commands import cli

LISTS = "ImageSets/Segmentation"
IDS = ("0001", "0002", "0010")


@pytest.fixture
def tree(tmp_path):
    """The images a, b and c, of which c has no mask."""
    exports.put_pairs(tmp_path, "ab", "JPEGImages/{}.jpg", "SegmentationClass/{}.png")
    exports.put_image(tmp_path, "JPEGImages/c.jpg")
    return tmp_path


def write(root, image, mask):
    exports.put_pairs(root, IDS, f"JPEGImages/{image}.jpg", f"SegmentationClass/{mask}.png")


def test_ids_without_a_mask_are_left_out_unless_the_config_says_otherwise(tree):
    exports.put(tree, f"{LISTS}/train.txt", "a\nc\nb")
    plan = plan_of(tree)
    assert (plan.splits, plan.left_out) == ({"train": ["a", "b"]}, {"train": ["c"]})
    plan = plan_of(tree, missing_mask="error")
    assert (plan.splits, plan.left_out) == ({"train": ["a", "c", "b"]}, {})


def test_an_id_whose_mask_has_a_name_that_looks_the_same_is_not_left_out(tree):
    exports.put_image(tree, "JPEGImages/caf\u00e9.jpg")
    exports.put_mask(tree, "SegmentationClass/Caf\u00e9.png", exports.truth("a"))
    exports.put(tree, f"{LISTS}/train.txt", "a\ncaf\u00e9")
    plan = plan_of(tree)
    assert (plan.splits, plan.left_out) == ({"train": ["a", "caf\u00e9"]}, {})


@pytest.mark.parametrize("missing_mask", ["skip", "error"])
def test_another_folder_that_has_the_masks_is_named(tree, missing_mask):
    exports.put(tree, f"{LISTS}/train.txt", "a\nb\n")
    exports.put(tree, f"{LISTS}/aug.txt", "c\n")
    for name in "abc":
        exports.put_mask(tree, f"SegmentationClassAug/{name}.png", exports.truth(name))
    told = "SegmentationClassAug has masks for 1 of the 1 listed images that have none in"
    assert told in " ".join(plan_of(tree, missing_mask=missing_mask).notes)
    found = plan_of(tree, masks="SegmentationClassAug", missing_mask=missing_mask)
    assert found.splits == {"train": ["a", "b"], "aug": ["c"]}


def test_a_mask_that_is_a_jpeg_never_becomes_background(tree):
    exports.put(tree, "SegmentationClass/c.jpg", b"")
    exports.put(tree, "SegmentationClass/unlisted.jpg", b"")
    exports.put(tree, f"{LISTS}/train.txt", "a\nc")
    words = r"SegmentationClass/c.jpg: a JPEG, or the like, where a mask"
    refused(tree, words, missing_mask="background")
    notes = " ".join(plan_of(tree, missing_mask="error").notes)
    assert "c.jpg in SegmentationClass is the first of 1 files" in notes


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
    write(root, image, mask)
    exports.put_image(root, f"JPEGImages/{image.format('0020')}.jpg")
    exports.put_mask(root, f"SegmentationClass/{mask.format('0030')}.png", exports.truth("a"))
    found = examples(from_tree(root, class_names=NAMES), "train")
    masks = {name: example["segmentation_mask"][..., 0] for name, example in found.items()}
    assert masks.keys() == {f"{image.format(image_id)}.jpg" for image_id in IDS}
    for image_id in IDS:
        assert (masks[f"{image.format(image_id)}.jpg"] == exports.truth(image_id)).all()
    assert plan_of(root).account == {
        ("JPEGImages", "image without a mask"): [f"{image.format('0020')}.jpg"],
        ("SegmentationClass", "mask without an image"): [f"{mask.format('0030')}.png"],
    }


@pytest.mark.parametrize("missing_mask", ["background", "error", "skip"])
def test_masks_that_fit_no_image_are_never_ignored(tmp_path, missing_mask):
    write(tmp_path, "{}", "gt_{}")
    exports.put_mask(tmp_path, "SegmentationClass/more.png", exports.truth("a"))
    assert [*plan_of(tmp_path, missing_mask=missing_mask).account.values()] == [["more.png"]]


def test_two_patterns_of_which_each_fits_some_masks_are_asked_about(tmp_path):
    write(tmp_path, "{}", "gt_{}")
    exports.put_pair(tmp_path, "other")
    refused(tmp_path, r"(?s)--mask_name 'gt_\{id\}.png'", missing_mask="background")


def test_names_that_no_pattern_matches_are_shown(tmp_path):
    exports.put_image(tmp_path, "JPEGImages/berlin.jpg")
    exports.put_mask(tmp_path, "SegmentationClass/x.png", exports.truth("x"))
    text = refused(tmp_path, r"berlin\.jpg and SegmentationClass/x\.png")
    assert "--mask_name" in text
    assert "missing_mask" not in text


def test_a_pattern_of_the_config_is_checked_and_printed_for_tfds(tmp_path, capsys):
    write(tmp_path, "image_{}", "gt_{}")
    words = ["build", str(tmp_path), "--name", "mine", "--class_names", ",".join(NAMES)]
    patterns = ["--image_name", "image_{id}", "--mask_name", "gt_{id}.png"]
    assert cli.main([*words, *patterns, "--dry_run"]) == 0
    layout = '"layout": {"image_name": "image_{id}", "mask_name": "gt_{id}.png"}'
    assert layout in capsys.readouterr().out
    assert cli.main([*words, "--mask_name", "gt.png", "--dry_run"]) == 2


def test_lists_may_name_images_with_or_without_what_the_pattern_has(tmp_path):
    write(tmp_path, "image_{}", "gt_{}")
    exports.put(tmp_path, "train.txt", "0001\nimage_0002\nimage_0010.jpg\n")
    said = {"image_name": "image_{id}", "mask_name": "gt_{id}"}
    assert plan_of(tmp_path, **said).splits == {"train": [*IDS]}


@pytest.mark.parametrize("options", [{}, {"images": "data"}, {"masks": "data"}])
def test_small_copies_of_labelled_images_never_become_background(tmp_path, options):
    some = np.random.default_rng(0)
    (tmp_path / "data" / "more").mkdir(parents=True)
    for name in "abcd":
        pixels = np.kron(some.integers(0, 255, (6, 8)), np.ones((8, 8))).astype(np.uint8)
        photo = Image.fromarray(pixels).convert("RGB")
        photo.save(tmp_path / f"data/{name}.jpg")
        photo.resize((32, 24)).save(tmp_path / f"data/more/{name}.jpg")
        exports.put_mask(tmp_path, f"data/{name}.png", (pixels > 99).astype(np.uint8))
    said = {"missing_mask": "background", **options}
    refused(tmp_path, r"more/a\.jpg: an image .* that is a copy of data/a\.jpg", **said)
    for name, other in zip("abcd", "bcda", strict=True):  # images of their own
        other_photo = Image.open(tmp_path / f"data/{other}.jpg").resize((32, 24))
        other_photo.transpose(Image.Transpose.ROTATE_180).save(tmp_path / f"data/more/{name}.jpg")
    plan = plan_of(tmp_path, **said)
    assert [len(ids) for ids in plan.splits.values()] == [8]
    if options:
        (tmp_path / "data/more").rename(tmp_path / "data/overlays")
        refused(tmp_path, r"is a copy of .* the first of 4 such images", **said)
        (tmp_path / "data/overlays").rename(tmp_path / "data/more")
    assert "4 images without a mask are background alone, such as data/more/a.jpg." in plan.notes
