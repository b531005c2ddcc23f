import numpy as np
from PIL import Image
import pytest
from support import exports
from support.building import examples, from_tree
from support.own_tree import config, write_own_tree

from voc_seg_tfrecord.base.errors import LayoutError
from voc_seg_tfrecord.build_from.tree import find_config
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.own_data.plan import make_plan, open_tree

LISTS = "ImageSets/Segmentation"


@pytest.fixture
def tree(tmp_path):
    return write_own_tree(tmp_path)


def plan_of(tree, lists, **options):
    """Returns splits and left-out ids of a tree with these lists."""
    for name, ids in lists.items():
        exports.put(tree().root, f"{LISTS}/{name}.txt", "\n".join(ids))
    plan = make_plan(tree(), config(**options))
    return plan.splits, plan.left_out


def test_ids_without_a_mask_are_left_out_only_if_the_config_says_so(tree):
    lists = {"train": ["a", "c", "b"]}
    assert plan_of(tree, lists) == (lists, {})
    found = plan_of(tree, lists, missing_mask="skip")
    assert found == ({"train": ["a", "b"]}, {"train": ["c"]})


def test_an_id_whose_mask_has_a_name_that_looks_the_same_is_not_left_out(tree):
    root = tree().root
    exports.put_image(root, "JPEGImages/caf\u00e9.jpg")
    exports.put_mask(root, "SegmentationClass/Caf\u00e9.png", exports.truth("a"))
    lists = {"train": ["a", "caf\u00e9"]}
    assert plan_of(tree, lists, missing_mask="skip") == (lists, {})


@pytest.mark.parametrize("missing_mask", ["skip", "error"])
def test_another_folder_that_has_the_masks_is_named(tree, missing_mask):
    exports.put(tree().root, f"{LISTS}/train.txt", "a\nb\n")
    exports.put(tree().root, f"{LISTS}/aug.txt", "c\n")
    for name in "abc":
        exports.put_mask(tree().root, f"SegmentationClassAug/{name}.png", exports.truth(name))
    plan = make_plan(tree(), config(missing_mask=missing_mask))
    told = "SegmentationClassAug has masks for 1 of the 1 listed images that have none in"
    assert told in " ".join(plan.notes)
    with_masks = config(layout={"masks": "SegmentationClassAug"})
    found = make_plan(open_tree(tree().root, with_masks), with_masks)
    assert found.splits == {"train": ["a", "b"], "aug": ["c"]}


def test_a_mask_that_is_a_jpeg_never_becomes_background(tree):
    exports.put(tree().root, "SegmentationClass/c.jpg", b"")
    exports.put(tree().root, "SegmentationClass/unlisted.jpg", b"")
    words = r"SegmentationClass/c.jpg: a JPEG, or the like, where a mask"
    with pytest.raises(LayoutError, match=words):
        plan_of(tree, {"train": ["a", "c"]}, missing_mask="background")
    notes = make_plan(tree(), config()).notes
    assert "c.jpg in SegmentationClass is the first of 1 files" in " ".join(notes)


NAMES = ["background", "apple", "tree"]
IDS = ("0001", "0002", "0010")


def write(root, image, mask):
    exports.put_pairs(root, IDS, f"JPEGImages/{image}.jpg", f"SegmentationClass/{mask}.png")


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
    assert len(found) == 3
    for image_id in IDS:
        values = found[f"{image.format(image_id)}.jpg"]["segmentation_mask"][..., 0]
        assert (values == exports.truth(image_id)).all()
    _, plan = find_config(root, name="mine", class_names=NAMES)
    assert plan.account == {
        ("JPEGImages", "image without a mask"): [f"{image.format('0020')}.jpg"],
        ("SegmentationClass", "mask without an image"): [f"{mask.format('0030')}.png"],
    }


@pytest.mark.parametrize("missing_mask", ["background", "error", "skip"])
def test_masks_that_fit_no_image_are_never_ignored(tmp_path, missing_mask):
    write(tmp_path, "{}", "gt_{}")
    exports.put_mask(tmp_path, "SegmentationClass/more.png", exports.truth("a"))
    _, plan = find_config(tmp_path, name="mine", class_names=NAMES, missing_mask=missing_mask)
    assert list(plan.account.values()) == [["more.png"]]


def test_two_patterns_of_which_each_fits_some_masks_are_asked_about(tmp_path):
    write(tmp_path, "{}", "gt_{}")
    exports.put_pair(tmp_path, "other", exports.truth("o"))
    with pytest.raises(LayoutError, match=r"(?s)--mask_name 'gt_\{id\}.png'"):
        find_config(tmp_path, name="mine", class_names=NAMES, missing_mask="background")


def test_names_that_no_pattern_matches_are_shown(tmp_path):
    exports.put_image(tmp_path, "JPEGImages/berlin.jpg")
    exports.put_mask(tmp_path, "SegmentationClass/x.png", exports.truth("x"))
    with pytest.raises(LayoutError, match=r"berlin\.jpg and SegmentationClass/x\.png") as caught:
        find_config(tmp_path, name="mine", class_names=NAMES)
    assert "--mask_name" in str(caught.value)
    assert "missing_mask" not in str(caught.value)


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
    _, plan = find_config(tmp_path, name="mine", class_names=NAMES, **said)
    assert plan.splits == {"train": ["0001", "0002", "0010"]}


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
    said = {"class_names": NAMES, "missing_mask": "background", **options}
    with pytest.raises(
        LayoutError, match=r"more/a\.jpg: an image .* that is a copy of data/a\.jpg"
    ):
        find_config(tmp_path, name="mine", **said)
    for name, other in zip("abcd", "bcda", strict=True):  # images of their own
        other_photo = Image.open(tmp_path / f"data/{other}.jpg").resize((32, 24))
        other_photo.transpose(Image.Transpose.ROTATE_180).save(tmp_path / f"data/more/{name}.jpg")
    _, plan = find_config(tmp_path, name="mine", **said)
    assert [len(ids) for ids in plan.splits.values()] == [8]
    if options:
        (tmp_path / "data/more").rename(tmp_path / "data/overlays")
        with pytest.raises(LayoutError, match=r"is a copy of .* the first of 4 such images"):
            find_config(tmp_path, name="mine", **said)
        (tmp_path / "data/overlays").rename(tmp_path / "data/more")
    assert "4 images without a mask are background alone, such as data/more/a.jpg." in plan.notes


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("images/{} (1).png", r"0001 \(1\)\.png: an image .* that is a copy of images/0001\.png"),
        ("masks2/{}.png", "masks2/0003.png: the first of 3 files that have the names of images"),
    ],
)
def test_copies_and_images_with_masks_elsewhere_never_become_background(tmp_path, name, words):
    exports.put_pairs(tmp_path, ["0001", "0002"], "images/{}.png", "masks/{}.png")
    for image_id in ("0003", "0004", "0005") if "masks2" in name else ():
        exports.put_image(tmp_path, f"images/{image_id}.png")
        exports.put_mask(tmp_path, name.format(image_id), exports.truth(image_id))
    for image_id in ("0001", "0002") if "masks2" not in name else ():
        exports.put(
            tmp_path, name.format(image_id), (tmp_path / f"images/{image_id}.png").read_bytes()
        )
    said = {"masks": "masks", "missing_mask": "background"}
    with pytest.raises(LayoutError, match=words):
        find_config(tmp_path, name="mine", class_names=NAMES, **said)
