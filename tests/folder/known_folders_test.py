"""Folders as people keep them: what lies beside the data is not read, and nothing is left out."""

import collections
import contextlib
import io
import itertools
import os
import pathlib
import re
import shlex
import shutil

import numpy as np
from PIL import Image
import pytest
from support import drawing, exports, made_folders
from support.folders import pairs_of, pasted, plan_of, proposed, refused, said_by, unused_of

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.tree import listing

RNG = np.random.default_rng(0)


def put(root, image, mask, ids, painted="", size=(40, 48)):
    """Writes pairs, and images with painted labels, by patterns that have one {} for the id.

    Where one pattern is empty, the other's files lie there alone.
    """
    pairs = {}
    for image_id in ids:
        pixels, values = made_folders.draw(RNG, size)
        shown = made_folders.painted(pixels, values, 0.5)
        for pattern, content in ((image, pixels), (mask, values), (painted, shown)):
            if pattern:
                save(root, pattern.format(image_id), content)
        pairs[root / image.format(image_id)] = root / mask.format(image_id)
    return pairs


def save(root, name, content):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.fromarray(content).save(path)
    return path


def put_all(root, *files):
    """Writes sets and texts; returns the pairs.

    Args:
      root: the folder.
      *files: names and texts, and sets such as "ab,c images/{}.jpg masks/{}.png 40x48": ids, image
        and mask, of which one may be `-`, and the size, if it is another.
    """
    pairs = {}
    for of in files:
        if isinstance(of, tuple):
            drawing.put(root, *of)
        else:
            ids, image, mask, *size = of.replace(" -", " ").split(" ")
            size = [tuple(map(int, words.split("x"))) for words in size]
            pairs |= put(root, image, mask, ids.split(",") if "," in ids else ids, "", *size)
    return pairs


def read(root, **said):
    """Returns the pairs that are read, by split, and the plan."""
    plan = plan_of(root, **{"class_names": made_folders.CLASSES, **said})
    return pairs_of(plan), plan


def test_painted_images_of_another_size_say_nothing_and_the_others_decide(tmp_path):
    pairs = put(tmp_path, "photos/{}.jpg", "mask/{}.png", "abcdefgh", painted="shown/{}.jpg")
    for name in "abc":
        turned(tmp_path / f"shown/{name}.jpg")
    assert read(tmp_path)[0] == {"train": pairs}


@pytest.mark.parametrize("folder", ["images", "masks"])
def test_a_line_end_in_a_name_is_refused_at_once(tmp_path, folder):
    put(tmp_path, "images/{}.png", "masks/{}.png", ["a0", "a1", "a2", "a3"])
    (tmp_path / folder / "a3.png").rename(tmp_path / folder / "a\nb.png")
    with pytest.raises(VocSegError, match="has a control character"):
        plan_of(tmp_path, class_names=["background", "a", "b"])


PARTS = """
rgb/{}.jpg seg/{}.png | validation/rgb/{}.jpg validation/seg/{}.png
img/{}.jpg labels/{}.png | test/img/{}.jpg test/labels/{}.png
images/{}.jpg Masks/{}.png | imagesValidation/{}.jpg MasksValidation/{}.png
images/{}.jpg Masks/m{}.png | imagesValidation/{}.jpg MasksValidation/m{}.png
x/{}.jpg gt/{}.png | x_val/{}.jpg gt_val/{}.png
x/{}.jpg gt/{}.png | val_x/{}.jpg val_gt/{}.png
X/{}.jpg GT/{}.png | XTest/{}.jpg GTTest/{}.png
{}.jpg {}_mask.png | val/{}.jpg val/{}_mask.png
"""


@pytest.mark.parametrize(("train", "other"), [r.split("|") for r in PARTS.strip().splitlines()])
@pytest.mark.parametrize("ids", ["789", "123"])
def test_a_second_part_of_a_set_is_a_split(tmp_path, train, other, ids):
    pairs = put(tmp_path, *train.split(), "123456"), put(tmp_path, *other.split(), ids)
    name = "test" if "test" in other.lower() else "validation"
    assert read(tmp_path)[0] == {"train": pairs[0], name: pairs[1]}


@pytest.mark.parametrize(
    ("image", "mask", "painted"),
    [
        ("{}/image.png", "{}/mask.png", "{}/overlay.png"),
        ("{}_json/img.png", "{}_json/label.png", "{}_json/label_viz.png"),
    ],
)
def test_folders_of_one_image_each_are_a_set(tmp_path, image, mask, painted):
    pairs = put(tmp_path, image, mask, "abcd", painted)
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert sum(map(len, plan.unused.values())) == 4
    put(tmp_path, "small/images/{}.png", "small/masks/{}.png", "abcd")
    refused(tmp_path, "ways to read")


@pytest.mark.parametrize("said", [{}, {"image_name": "{id}/img", "mask_name": "{id}/label.png"}])
def test_labels_that_labelme_numbered_for_each_image_anew_are_refused(tmp_path, said):
    pairs = put(tmp_path, "{}_json/img.png", "{}_json/label.png", "ab")
    for image in pairs:
        (image.parent / "label_names.txt").write_text("_background_\ncrop\nweed\n")
    assert read(tmp_path, **said)[0] == {"train": pairs}
    (image.parent / "label_names.txt").write_text("_background_\nweed\ncrop\n")
    refused(tmp_path, r"b_json/label_names.txt: other names than in .*a_json", **said)


PANOPTIC = "annotations/panoptic_train.json", '{"annotations": [{"segments_info": []}]}'
# The words of a question, and the files that it is about.
ASKED = {
    "two masks in the folder of each image": (
        r"(?s)2 ways.*{id}/mask.png.*{id}/mask_new.png",
        "abc {}/image.png {}/mask.png",
        "abc - {}/mask_new.png",
    ),
    "masks of two annotators": (
        r"(?s)2 ways(?=.*masks in masks_anna: --images images --masks masks_anna\n)"
        r".*masks in masks_ben: --images images --masks masks_ben\n",
        "abcd images/{}.jpg masks_anna/{}.png",
        "abcd - masks_ben/{}.png",
    ),
    "images of some masks each": (
        "3 ways to read images and masks:\n    images in more, images; 8 images: ",
        "0123 images/{}.jpg masks/{}.png",
        "4567 more/{}.jpg masks/{}.png",
    ),
    "images of some masks each, in one folder": (
        "2 ways to read images and masks",
        "0123 images/img{}.jpg masks/mask{}.png",
        "4567 images/IMG{}.jpg masks/mask{}.png",
    ),
    "images of splits that count anew, with masks of one alone": (
        "(?s)2 ways to read images and masks(?!.*train=train,val=val).*"
        "images in train; 6 images; 6 images left out: --images train=train --masks train=masks\n",
        "012345 train/{}.jpg masks/{}.png",
        "012345 val/{}.jpg masks/{}.png",
    ),
    "other images of the same names": (
        r"(?s)2 ways.*--images raw",
        "abcd {}.jpg labels/{}_seg.png",
        "abcd raw/{}.jpg -",
    ),
    "files of which none has the size of its mask": (
        "no masks",
        "0123 background/{}.png -",
        "0123 - noise/noise{}.png 20x22",
    ),
    "masks in the panoptic format": (
        "panoptic format.* are numbers of segments",
        "abc images/train/{}.jpg annotations/panoptic_train/{}.png",
        PANOPTIC,
    ),
    "a pilot whose numbers are a part of those of tiles": (
        r"(?s)^(?!.*p\{id\}).*ways to read",
        "0123 train/tile_{}_1.jpg truth/tile_{}_1_label.png",
        "01 test/tile_{}_0.jpg truth/tile_{}_0_label.png",
        "0123 pilot/photos/p{}.jpg pilot/masks/p{}.png",
    ),
    "other images, which are called augmented": (
        r"2 ways.*(?s:.*)--image_name 'x\{id\}'",
        "01234567 x{}.png lbl{}.png",
        "01234567 img_aug{}.jpg -",
    ),
}


@pytest.mark.parametrize(("words", "files"), [(w, f) for w, *f in ASKED.values()], ids=ASKED)
def test_what_may_be_read_in_several_ways_is_asked_about(tmp_path, words, files):
    put_all(tmp_path, *files)
    refused(tmp_path, words)


def test_masks_in_the_panoptic_format_are_refused_in_folders_that_are_named_as_parts(tmp_path):
    for part in "ab":
        put(tmp_path, f"{part}_img/{{}}.jpg", f"panoptic_{part}/{{}}.png", range(3))
        drawing.put(tmp_path, f"panoptic_{part}.json", PANOPTIC[1])
    options = "--images train=a_img,test=b_img --masks train=panoptic_a,test=panoptic_b"
    refused(tmp_path, "are numbers of segments", **said_by(options))


def test_a_question_has_a_line_for_each_set_before_that_for_all(tmp_path):
    put(tmp_path, "images/{}.jpg", "masks/{}.png", "abcd")
    put(tmp_path, "", "masks_prep/{}.png", "abcd")
    put(tmp_path, "more/images/{}.jpg", "more/masks/{}.png", "xyz")
    text = refused(tmp_path, "ways to read")
    lines = proposed(text)
    assert ("masks in masks; 4 images; 3 images left out", "--images images --masks masks") in lines
    others = "masks in more/masks; 3 images; 4 images left out"
    assert (others, "--images more/images --masks more/masks") in lines


# By the name of a rule: a set, what lies beside it, and the note on that if there is one.
NOT_READ = {
    "splits of images and masks": (
        ["abcd training/rgb/{}.png training/gt/{}.png", "abcd testing/rgb/{}.png -"],
        "",
    ),
    "images among masks": (["abcd photos/{}.jpg masks/{}.png", "abcd masks/{}.jpg -"], ""),
    "images of fewer masks": (["abcd images/{}.jpg masks/{}.png", "a more/{}.jpg -"], ""),
    "words of folders": (
        ["abcd kitchen/{}.jpg kitchen_masks/{}.png", "abcd garden_images/{}.jpg -"],
        "",
    ),
    "colors of masks": (["abcd images/{}.jpg approved/{}.png", "abcd annotations/{}.png -"], ""),
    "order of VOC's folders": (
        ["abcd i/{}.jpg SegmentationClass/{}.png", "abcd - SegmentationClassAug/{}.png"],
        "Used SegmentationClass; SegmentationClassAug is read if --masks names it.",
    ),
    "predictions": (
        ["abcd images/{}.jpg masks/{}.png", "abcd - predictions/{}.png"],
        "",
    ),
    "masks of masks": (
        ["abcd images/{}.jpg masks/{}.png", "xyz - b/{}.png", "xyz - approved/{}.png"],
        "",
    ),
}


@pytest.mark.parametrize(("files", "note"), [*NOT_READ.values()], ids=NOT_READ)
def test_what_is_not_read_has_a_note_if_its_images_have_other_masks(tmp_path, files, note):
    pairs = put_all(tmp_path, files[0])
    put_all(tmp_path, *files[1:])
    found, plan = read(tmp_path)
    assert [*found.values()] == [pairs]
    assert [text for text in plan.notes if text.startswith("Used ")] == [note] * bool(note)


# A set, and what lies beside it that may be meant in its place.
IN_QUESTION = {
    "sizes of images": ["abcd images/{}.jpg masks/{}.png", "abcd photos/{}.jpg - 20x24"],
    "augmented images": ["abcd images/{}.jpg masks/{}.png", "abcd images_aug/{}.jpg -"],
    "sizes of masks": ["abcd images/{}.jpg masks/{}.png", "abcd - masks_small/{}.png 20x24"],
    "examples": [
        "abcghij set/img/{}.jpg set/label/{}.png",
        "d {}.png {}_L.png",
        "ef {}.jpg -",
    ],
}


@pytest.mark.parametrize("files", IN_QUESTION.values(), ids=IN_QUESTION)
def test_one_of_the_first_two_lines_reads_the_set_and_not_what_lies_beside_it(tmp_path, files):
    pairs = put_all(tmp_path, files[0])
    put_all(tmp_path, *files[1:])
    lines = proposed(refused(tmp_path, "ways to read"))[:2]
    found = []
    for _, options in lines:
        with contextlib.suppress(VocSegError):
            found.append(read(tmp_path, **said_by(options))[0])
    assert {"train": pairs} in found


SCENES = [f"ab s{n}/images/{{}}.jpg s{n}/masks/{{}}.png" for n in (1, 2, 3)]
CSV = "Pixel Value, Class\n0, background\n1, crop\n2, weed\n"
TILES = "0_1,0_2,1_1,1_2,2_1,2_2 train/tile_{}.png target/mask_tile_{}.png"
# The sets of train and of another split, and what lies beside them.
BESIDE = {
    "predictions for unlabeled images": (
        ["abcd images/{}.jpg masks/{}.png"],
        {},
        ["xyz test/images/{}.jpg test/predictions/{}.png"],
    ),
    "predictions with other numbers than unlabeled images": (
        ["123456789 im{}.jpg lb{}.png"],
        {},
        ["0123 extra_images/u{}.jpg predictions/lb{}.png", "456789 - predictions/lb{}.png"],
    ),
    "unlabeled test images beside scenes": (SCENES, {}, ["a test/images/{}.jpg -"]),
    "images and masks left over that cannot be pairs": (
        ["012345 images/{}.jpg masks/{}.png"],
        {},
        ["1 images/1{}.jpg -", "2 - masks/1{}.png", "1 - masks/1{}_old.png 30x30"],
    ),
    "other drawings of a few images": (
        ["7,8,9,10,11 photo{}.jpg gt{}.png"],
        {},
        ["789 - heat/heat{}.png"],
    ),
    "two folders that may be the masks of each other": (
        ["abcd set/train/images/{}.jpg set/train/labels/{}.png"],
        {"test": ["ef set/test/images/{}.jpg set/test/labels/{}.png"]},
        ["1 - {}.png", "1 - juchi/{}.png"],
    ),
    "folders of one image each in folders of splits": (
        ["abc train/{}/photo.jpg train/{}/seg.png"],
        {"validation": ["ab val/{}/photo.jpg val/{}/seg.png"]},
        [],
    ),
    "tiles of two columns, which are never a pair": (
        [TILES],
        {"test": ["012 test/tile_{}_0.png target/mask_tile_{}_0.png"]},
        [],
    ),
    "class files of splits, which are used": (
        ["abc train/{}.jpg train/{}_mask.png", ("train/_classes.csv", CSV)],
        {"validation": ["de valid/{}.jpg valid/{}_mask.png", ("valid/_classes.csv", CSV)]},
        [],
    ),
}


@pytest.mark.parametrize(("train", "other", "beside"), [*BESIDE.values()], ids=BESIDE)
def test_what_lies_beside_a_set_is_in_the_account(tmp_path, train, other, beside):
    pairs = {split: put_all(tmp_path, *of) for split, of in {"train": train, **other}.items()}
    used = {path for path in tmp_path.rglob("*") if path.is_file()}
    put_all(tmp_path, *beside)
    there = {path for path in tmp_path.rglob("*") if path.is_file()}
    found, plan = read(tmp_path)
    assert found == pairs
    assert sum(map(len, plan.unused.values())) == len(there - used)


# Names that end as those of overlays, depths or backups do.
TELLING = ("hall_old", "hall_run", "pool", "pool_object", "lake_edge", "bay_depth", "bay_mask")
WORDS = ("e5309fed", "a01c77", "hall", "0042")
FOUR = ("101", "102", "103", "104")


@pytest.mark.parametrize(
    ("image", "mask", "ids"),
    [
        ("images/{}.jpg", "masks/{}.png", TELLING),
        ("x/{}.png", "masks/{}.png", TELLING),
        ("{}.jpg", "{}.png", TELLING),
        ("stills/{}.jpg", "gt/mask_{}.png", TELLING),
        ("stills/{}.png", "gt/{}_L.png", TELLING),
        ("x/{}.jpg", "gt/GT_{}.gif", TELLING),
        ("JPEGImages/{}.jpg", "SegmentationClass/{}.png", TELLING),
        ("images/image{}.jpg", "masks/{}_mask.png", WORDS),
        ("photos/{}img.jpg", "truth/{}.png", WORDS),
        ("rgb/{}_leftImg8bit.png", "labels/{}_GT_v2.png", WORDS),
        ("img{}.png", "mask{}.png", range(7, 12)),
        ("im{}.png", "lb{}.png", range(7, 12)),
        ("{}.jpg", "mask{}.png", range(7, 12)),
        ("{}.png", "{}_gt.png", ("1_manual1", "2_manual1", "3_manual1")),
        ("x/photo-{}.jpg", "y/photo-{}-annotated.png", FOUR),
        ("image/IMG_{}.jpg", "idx/IMG_{}.png", FOUR),
        ("img/{}.orig.jpg", "seg/{}.gt.tif", FOUR),
        ("{}.PNG", "{}_manual1.PNG", FOUR),
        ("rgb/{}.jpg", "lbl/{}_lbl.gif", FOUR),
    ],
)
def test_words_around_the_id_are_told_from_those_that_belong_to_it(tmp_path, image, mask, ids):
    pairs = put(tmp_path / "set", image, mask, ids)
    assert read(tmp_path)[0] == {"train": pairs}
    if ids == FOUR:  # beside crops of some images
        put(tmp_path, "patches/img/{}.jpg", "patches/lab/{}.png", "12")
        refused(tmp_path, "ways")


@pytest.mark.parametrize(
    ("train", "val", "mask"),
    [
        ("train/{}.jpg", "val/{}.jpg", "masks/{}.png"),
        ("images/train/{}.jpg", "images/val/{}.jpg", "masks/{}.png"),
        ("train_images/{}_sat.jpg", "val_images/{}_sat.jpg", "annotations/{}_mask.png"),
    ],
)
def test_images_of_splits_with_one_folder_of_masks_make_splits(tmp_path, train, val, mask):
    pairs = put(tmp_path, train, mask, range(2, 8)), put(tmp_path, val, mask, range(8, 12))
    put(tmp_path, "alone.jpg", mask, [99])
    found, plan = read(tmp_path)
    assert found == dict(zip(("train", "validation"), pairs, strict=True))
    assert len(plan.tree.masks) == 11  # the mask without an image, once
    kinds = {kind: len(names) for (_, kind), names in unused_of(plan).items()}
    assert kinds == {"pictures": 1, "masks without an image": 1}


@pytest.mark.parametrize("masks", ["masks/{}.png", "{}/masks/{}.png"])
def test_splits_that_have_all_of_a_folder_again_are_read_in_its_place(tmp_path, masks):
    pairs = put(tmp_path, "images/{}.jpg", "masks/{}.png", range(8))
    for (image, mask), split in zip(pairs.items(), ["train"] * 5 + ["val"] * 3, strict=True):
        for file, folder in ((image, "images"), (mask, "masks")):
            if folder == "images" or masks.startswith("{}/"):
                drawing.put(tmp_path, f"{split}/{folder}/{file.name}", file.read_bytes())
    splits = read(tmp_path)[0]
    assert {s: len(of) for s, of in splits.items()} == {"train": 5, "validation": 3}
    (tmp_path / "val" / "images" / "7.jpg").unlink()  # now only the folder of all has it
    assert {s: len(of) for s, of in read(tmp_path)[0].items()} == {"train": 8}


@pytest.mark.parametrize("twice", [False, True])
@pytest.mark.parametrize("other", ["thermal/{}.png", "images_ir/{}.png"])
def test_other_images_of_all_masks_are_asked_about_beside_those_of_splits(tmp_path, other, twice):
    pairs = put(tmp_path, "train/{}.jpg", "truth/{}.png", range(6))
    for image in pairs if twice else ():
        Image.open(image).save(image.with_suffix(".tif"))
    put(tmp_path, "val/{}.jpg", "truth/{}.png", range(6, 9))
    for n in range(9):
        save(tmp_path, other.format(n), RNG.integers(0, 256, (40, 48)).astype(np.uint8))
    if twice:
        refused(tmp_path, r"not possible: images in train, val.* 2 files for one id")
    else:
        refused(tmp_path, r"2 ways(?s:.*)--images train=train,val=val")


@pytest.mark.parametrize(
    ("image", "mask"), [("rgb_{}.jpg", "{}.png"), ("{}_rgb.jpg", "{}.png"), ("{}.jpg", "gt_{}.png")]
)
def test_the_outermost_word_of_most_names_is_found_beside_other_files(tmp_path, image, mask):
    ids = [f"north_{n}" for n in range(6)] + [f"south_{n}" for n in range(3)]
    pairs = put(tmp_path, f"images/{image}", f"masks/{mask}", ids)
    put(tmp_path, "images/legend.jpg", "", "-", size=(30, 20))
    put(tmp_path, "", "masks/key.png", "-", size=(30, 20))
    assert read(tmp_path)[0] == {"train": pairs}


def test_images_and_masks_of_other_names_stand_in_the_account(tmp_path):
    pairs = put(tmp_path, "images/IMG{}.jpg", "masks/IMG{}.png", range(6))
    put(tmp_path, "images/DSC{}.jpg", "masks/lab{}.png", range(6, 9))
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert unused_of(plan) == {
        ("images", "unlabeled images"): ["DSC6.jpg", "DSC7.jpg", "DSC8.jpg"],
        ("masks", "masks without an image"): ["lab6.png", "lab7.png", "lab8.png"],
    }


def test_images_that_were_mixed_with_the_colors_of_labels_are_not_read(tmp_path):
    pairs = put(tmp_path, "set/train_photos/{}.jpg", "set/truth/{}_L.png", "abcdef")
    for image, mask in pairs.items():
        colors = made_folders.COLORS[np.asarray(Image.open(mask))]
        save(tmp_path, f"qa/{image.name}", np.asarray(Image.open(image)) // 2 + colors // 2)
    assert read(tmp_path)[0] == {"train": pairs}


def turned(path):
    with Image.open(path) as image:
        image.transpose(Image.Transpose.ROTATE_90).save(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda images: [*map(turned, images)],  # as a camera stores them
        lambda images: [path.write_bytes(b"\xff\xd8") for path in images],
        lambda images: [
            save(path.parent, path.name, np.zeros((9, 9), np.uint8)) for path in images[::2]
        ],
    ],
    ids=["turned", "damaged", "half of another size"],
)
def test_images_are_those_of_masks_unless_most_have_another_size(tmp_path, change):
    pairs = put(tmp_path, "stills/{}.jpg", "approved/{}.png", "abcd")
    change([*pairs])
    assert read(tmp_path)[0] == {"train": pairs}


@pytest.mark.parametrize("pattern", ["{id}_mask.png", "{id}.png", "{id}_seg.png"])
def test_a_pattern_of_masks_finds_no_image_among_them(tmp_path, pattern):
    put(tmp_path, "", "{}_mask.png", "abc")
    refused(
        tmp_path,
        "among 3 .png called masks, such as a_mask",
        mask_name=pattern,
    )


def test_a_split_of_images_alone_is_in_no_proposal(tmp_path):
    for split in ("train", "val"):
        put(tmp_path, f"{split}/photos/{{}}.jpg", f"{split}/masks/{{}}.png", "abc")
    put(tmp_path, "aug/photos/{}.jpg", "aug/masks/{}.png", "xyz")
    put(tmp_path, "test/photos/a.jpg", "", "-")
    text = refused(tmp_path, "ways to read")
    found = [
        read(tmp_path, **said_by(shlex.join(pasted(options))))[0] for _, options in proposed(text)
    ]
    assert [*map(len, found)] == [2, 1, 3]


def test_a_test_split_of_images_alone_is_a_part_if_images_and_masks_share_folders(tmp_path):
    put(tmp_path, "{}.jpg", "{}.png", "abc")
    put(tmp_path, "val/{}.jpg", "val/{}.png", "de")
    put(tmp_path, "test/{}.jpg", "", "xy")
    _, plan = read(tmp_path)
    assert {"test/x", "test/y"} < {*plan.tree.images}


@pytest.mark.parametrize("seed", range(0, 60, 3))
def test_every_file_of_a_folder_is_used_or_stands_in_the_account(tmp_path, seed):
    made = made_folders.make(tmp_path / "made", seed)
    try:
        found, plan = read(made.root)
    except VocSegError:
        return
    there = {
        pathlib.Path(folder) / name
        for folder, _, names in os.walk(made.root)
        for name in names
        if ".git" not in folder
    }
    used = {file for pairs in found.values() for pair in pairs.items() for file in pair}
    used |= {pathlib.Path(plan.tree.root / plan.class_file.source)} if plan.class_file else set()
    account = [
        made.root / group.folder / name for group, names in plan.unused.items() for name in names
    ]
    assert len(account) == len(set(account))
    assert used | set(account) == there
    assert not used & set(account)


@pytest.mark.parametrize("seed", range(0, 60, 2))
def test_whatever_a_question_proposes_gives_right_masks_or_a_question(tmp_path, seed):
    made = made_folders.make(tmp_path / "made it", seed)
    try:
        read(made.root)
        return
    except VocSegError as error:
        text = str(error)
    right = {at.read_bytes(): to for pairs in made.pairs.values() for at, to in pairs.items()}
    for _, options in proposed(text):
        shares = []
        with contextlib.suppress(VocSegError), contextlib.redirect_stderr(io.StringIO()):
            found = read(made.root, **said_by(shlex.join(pasted(options))))[0].values()
            for image, mask in itertools.chain(*(pairs.items() for pairs in found)):
                if to := right.get(image.read_bytes()):
                    one, other = (np.asarray(Image.open(path)) > 0 for path in (mask, to))
                    shares.append((one & other).sum() / (one | other).sum())
        # Another annotator's masks lie where the right ones do; those of other images do not.
        assert not shares or np.mean(shares) > 0.5, options


def one_of(values):
    """Returns an image and a mask of these values, where the classes 1 and 2 were."""
    pixels, mask = made_folders.draw(RNG, (40, 48))
    return pixels, np.array(values, np.uint8)[mask]


@pytest.mark.slow
def test_cityscapes_is_asked_which_ids_are_meant_and_read_by_the_answer(tmp_path):
    for city in ("train/aachen", "train/bochum", "val/ulm", "test/bonn"):
        for n in range(3):
            name = f"{city}/{pathlib.PurePath(city).name}_{n:06}_000019"
            pixels, ids = one_of((0, 7, 26))
            save(tmp_path, f"leftImg8bit/{name}_leftImg8bit.png", pixels)
            masks = f"gtFine/{name}_gtFine"
            save(tmp_path, f"{masks}_labelIds.png", ids)
            save(tmp_path, f"{masks}_labelTrainIds.png", ids // 2)
            save(tmp_path, f"{masks}_color.png", np.stack([ids * 9] * 3, 2))
            save(tmp_path, f"{masks}_instanceIds.png", ids.astype(np.uint16) * 1000)
            drawing.put(tmp_path, f"{masks}_polygons.json", "{}")
    text = refused(tmp_path, "3 ways", class_names=None)
    assert text.count("name the class of each value: --images leftImg8bit --masks gtFine") == 2
    options = next(options for _, options in proposed(text) if "labelIds" in options)
    said = {name: value for name, value in said_by(options).items() if value}
    assert said.pop("classes")
    tree = FolderReader(tmp_path).find_tree(VocSegConfig(name="mine", layout=said))
    assert len({i for i in tree.images if tree.masks[i].endswith("_labelIds.png")}) == 12
    assert {i.partition("/")[0] for i in tree.images} == {"train", "val", "test"}
    option_by_kind = {}
    for kind in ("labelIds", "labelTrainIds"):
        said["mask_name"] = f"{{id}}_gtFine_{kind}.png"
        (option,) = re.findall(
            "its ids: (--.*)", refused(tmp_path, "its ids", class_names=None, **said)
        )
        option_by_kind[kind] = option
    assert option_by_kind["labelTrainIds"] == "--class_names cityscapes"
    rows = said_by(option_by_kind["labelIds"])["classes"]
    assert len(rows) == 20
    assert {(7, "road"), (26, "car"), ("*", "void")} <= {*rows}


def test_ade20k_and_kitti_are_read_by_the_first_command(tmp_path):
    pairs = {}
    for word, split in (("training", "train"), ("validation", "validation")):
        paths = f"images/{word}/ADE_{{}}.jpg", f"annotations/{word}/ADE_{{}}.png"
        pairs[split] = put(tmp_path / "ade", *paths, ["0001", "0002", "0003"])
    assert read(tmp_path / "ade")[0] == pairs
    kitti = tmp_path / "kitti"
    pairs = put(kitti, "training/image_2/{}_10.png", "training/semantic/{}_10.png", "123")
    for n in "123":
        pixels, ids = one_of((0, 7, 26))
        save(kitti, f"training/instance/{n}_10.png", ids.astype(np.uint16) * 256)
        save(kitti, f"training/semantic_rgb/{n}_10.png", np.stack([ids * 9] * 3, 2))
        save(kitti, f"testing/image_2/{n}_10.png", pixels)
    assert read(kitti)[0] == {"train": pairs}


def copy(root, pairs, to):
    for path in itertools.chain(*pairs.items()):
        drawing.put(root, f"{to}/{path.relative_to(root)}", path.read_bytes())


def test_a_copy_of_the_folder_in_itself_is_no_second_part_whatever_its_path(tmp_path, monkeypatch):
    root = tmp_path / "Audit"
    pairs = put(root, "data/train/images/{}.jpg", "data/train/masks/{}.png", "abcd")
    copy(root, dict(list(pairs.items())[:3]), "Audit")
    put(root, "Audit/raw_data/{}.jpg", "", "abc")  # the same before they were enhanced
    assert [*read(root)[0].values()] == [pairs]
    monkeypatch.chdir(tmp_path)
    for top, count in (("data", 4), ("Audit/data", 3)):
        said = {"images": f"{top}/train/images", "masks": f"{top}/train/masks"}
        (found,) = read("Audit", **said)[0].values()
        assert len(found) == count
    twice = {"images": "a=data/train/images,b=data/train/images"}
    twice |= {"masks": "a=data/train/masks,b=data/train/masks"}
    with pytest.raises(ConfigError, match="twice"):
        read("Audit", **twice)


def test_every_folder_is_listed_once_and_no_mask_is_opened_to_find_it(tmp_path, monkeypatch):
    exports.cvat(tmp_path)
    listed, opened = [], []
    scandir, read_bytes = os.scandir, storage.read_bytes
    monkeypatch.setattr(os, "scandir", lambda path: listed.append(os.fspath(path)) or scandir(path))
    monkeypatch.setattr(
        storage,
        "read_bytes",
        lambda path, *most: opened.append(str(path)) or read_bytes(path, *most),
    )
    FolderReader(tmp_path).find_tree(VocSegConfig(name="mine"))
    folders = [folder for folder, _, _ in os.walk(tmp_path)]
    listed = listed[: len(folders)]
    assert sorted(listed) == sorted(folders)
    assert not [path for path in opened if path.endswith(".png")]


@pytest.mark.parametrize("command", ["check", "build"])
def test_each_list_and_class_file_is_read_once_and_each_mask_at_most_twice(
    tmp_path, monkeypatch, command
):
    root = tmp_path / "set"
    put(root, "JPEGImages/{}.jpg", "SegmentationClass/{}.png", "abcdef")
    drawing.put(root, "labelmap.txt", "background:::\ncrop:::\nweed:::\n")
    drawing.put(root, "classes.txt", "background\ncrop\nweed\n")
    drawing.put(root, "ImageSets/Segmentation/train.txt", "a\nb\nc\na\n")
    drawing.put(root, "ImageSets/Segmentation/val.txt", "d\ne\nf\n")
    opened = collections.Counter()
    read_bytes = storage.read_bytes

    def counted(path, *most):
        opened[os.path.relpath(path, root)] += 1
        return read_bytes(path, *most)

    monkeypatch.setattr(storage, "read_bytes", counted)
    if command == "check":
        cli.main(["check", str(root)])
    else:
        read(root)
    texts = {path: count for path, count in opened.items() if path.endswith(".txt")}
    lists = (f"ImageSets/Segmentation/{name}.txt" for name in ("train", "val"))
    assert texts == dict.fromkeys([*lists, "classes.txt", "labelmap.txt"], 1)
    masks = [count for path, count in opened.items() if path.startswith("SegmentationClass")]
    assert len(masks) == 6
    assert max(masks) <= 2  # once for its size and values, and once for the example


def test_a_folder_of_too_many_files_and_one_that_cannot_be_listed_are_named(tmp_path, monkeypatch):
    drawing.put_pair(tmp_path / "data", "a")
    drawing.put_pair(tmp_path / "data", "b")
    monkeypatch.setattr(listing, "MAX_LISTED_FILES", 3)
    refused(tmp_path, r"SegmentationClass: more than 3 files in")
    (tmp_path / "data" / "x").symlink_to("/")
    monkeypatch.setattr(listing, "MAX_LISTED_FILES", 100)
    assert "The link data/x leads to /, so it is not followed." in read(tmp_path)[1].notes


def test_an_image_is_found_below_a_link_to_a_folder_elsewhere(tmp_path):
    put(tmp_path / "store", "photos/{}.jpg", "photos_gt/{}.png", "abc")
    (tmp_path / "set").mkdir()
    (tmp_path / "set" / "images").symlink_to("../store/photos")
    (tmp_path / "set" / "masks").symlink_to("../store/photos_gt")
    found, plan = read(tmp_path / "set")
    assert len(found["train"]) == 3
    assert unused_of(plan) == {}


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: path.symlink_to("/dev/zero")])
def test_a_pipe_or_a_device_is_the_copy_of_no_file_and_is_never_read(tmp_path, make):
    pairs = put(tmp_path, "images/{}.jpg", "masks/{}.png", "abcde")
    copy(tmp_path, dict(list(pairs.items())[:2]), "examples")
    for folder in ("", "examples/"):
        (tmp_path / f"{folder}images/a.jpg").unlink()
        make(tmp_path / f"{folder}images/a.jpg")
    refused(tmp_path, "3 ways")


@pytest.mark.parametrize(
    ("image", "mask", "painted"),
    [
        ("photos_raw/{}.jpg", "mask/{}.png", "mask/{}.jpg"),
        ("{}.jpg", "mask/{}.png", "mask/{}.jpg"),
        ("{}_image.PNG", "GT/{}_segmentation.PNG", "GT/{}_segmentation.jpg"),
        ("set/raw/{}_sat.jpg", "set/masks/{}_seg.png", "set/masks/{}_seg.jpeg"),
        ("IMG_{}.jpg", "labels/{}_L.bmp", "control/{}_L.jpg"),
        ("img_{}.tif", "truth/{}_segmentation.png", "truth/{}_segmentation.jpg"),
    ],
)
@pytest.mark.parametrize("ids", [["10", "11", "12", "13"], ["C1_l", "C1_r", "C2_l", "C2_r"]])
def test_painted_images_with_the_names_of_masks_are_never_read_beside_the_photos(
    tmp_path, image, mask, painted, ids
):
    pairs = put(tmp_path, image, mask, ids, painted=painted)
    if painted.startswith("control/"):
        ((_, first), _) = proposed(refused(tmp_path, "2 ways"))
        assert read(tmp_path, **said_by(first))[0] == {"train": pairs}
        return
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    folder, _, name = painted.rpartition("/")
    folders = (pathlib.PurePath(path).parent.as_posix() for path in (image, mask))
    said = dict(zip(("images", "masks"), folders, strict=True))
    kind = "other pictures" if folder == said["masks"] else "pictures"
    assert unused_of(plan) == {(folder, kind): [name.format(image_id) for image_id in ids]}
    assert read(tmp_path, **said)[0] == {"train": pairs}
    second = pathlib.PurePath(image).stem + "_expert2"
    # Another annotator, whose masks fit the photos by their names.
    put(tmp_path, "", f"{pathlib.PurePath(mask).parent}/{second}.png", ids)
    refused(tmp_path, "2 ways|2 masks|way to read")


@pytest.mark.parametrize(
    "names",
    [
        ("{}.jpg", "{}_mask.png"),
        ("img_{}.jpg", "{}.png"),
        ("{}.jpg", "masks/{}.png"),
        ("stills/{}.jpg", "seg/{}.png"),
    ],
)
@pytest.mark.parametrize("to", ["test_sample", "docs/samples", "val_examples/more", "quick_start"])
def test_copies_of_pairs_count_once_and_copies_with_other_labels_are_asked_about(
    tmp_path, names, to
):
    pairs = put(tmp_path, *names, ["101", "102", "103", "104", "105"])
    copy(tmp_path, dict(list(pairs.items())[:2]), to)
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert sum(map(len, plan.unused.values())) == 4
    for n, (image, mask) in enumerate([*pairs.items()][1:3]):
        for path, folder in ((image, "images"), (mask, "masks")):
            other = f"samples/{folder}/sample{n}{path.suffix}"
            drawing.put(tmp_path, other, path.read_bytes())
    assert read(tmp_path)[0] == {"train": pairs}
    drawing.put(tmp_path, other, [*pairs.values()][4].read_bytes())
    refused(tmp_path, "ways to read")  # the same image, other labels


@pytest.mark.parametrize("copied", ["images/{}.jpg masks/{}.png", "{}.jpg {}.png"])
def test_copies_that_have_the_names_of_other_originals_count_once(tmp_path, copied):
    pairs = put(tmp_path, "images/{}.jpg", "masks/{}.png", range(8))
    for number, (image, mask) in enumerate([*pairs.items()][5:]):
        names = [name.format(number) for name in copied.split()]
        for name, original in zip(names, (image, mask), strict=True):
            drawing.put(tmp_path, f"picked/{name}", original.read_bytes())
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert sum(map(len, plan.unused.values())) == 6


def test_tiles_of_two_columns_are_never_a_pair(tmp_path):
    mask = "target/mask_tile_{}.png"
    ids = [f"{n}_{k}" for n in "012" for k in "12"]
    train = put(tmp_path, "train/tile_{}.png", mask, ids)
    test = put(tmp_path, "test/tile_{}.png", mask, [f"{n}_0" for n in "012"])
    assert read(tmp_path)[0] == {"train": train, "test": test}


def test_a_pilot_is_not_paired_with_tiles_by_one_of_their_numbers(tmp_path):
    put(tmp_path, "train/tile_{}.jpg", "truth/tile_{}_label.png", [f"{n}_1" for n in range(4)])
    put(tmp_path, "test/tile_{}.jpg", "truth/tile_{}_label.png", ["0_0", "1_0"])
    put(tmp_path, "pilot/photos/p{}.jpg", "pilot/masks/p{}.png", range(4))
    assert "p{id}" not in refused(tmp_path, "ways to read")


@pytest.mark.parametrize(
    ("image", "mask", "other"),
    [
        ("labeled/{}.jpg", "labeled/{}_mask.png", "unlabeled/{}.jpg"),
        ("annotated/{}.jpg", "seg/annotated/{}.png", "images/{}.jpg"),
        ("kitchen/{}.jpg", "kitchen_masks/{}.png", "garden_images/{}.jpg"),
        ("images_cropped/{}.jpg", "masks_cropped/{}.png", "images/{}.jpg"),
        ("left/{}.jpg", "left_labels/{}.png", "right_images/{}.jpg"),
        ("v1/{}.jpg", "masks/v1/{}.png", "v2/{}.jpg"),
        ("a/rgb/{}.jpg", "a/labels/{}.png", "b/rgb/{}.jpg"),
    ],
)
def test_masks_belong_to_the_images_whose_folder_is_called_as_theirs(tmp_path, image, mask, other):
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state  # unlike photos
    pairs = put(tmp_path, image, mask, range(100, 110))
    put(tmp_path, other, "", range(100, 130))
    assert read(tmp_path)[0] == {"train": pairs}


@pytest.mark.parametrize("folder", ["batch1", "labeled_images"])
def test_images_called_so_that_show_something_else_are_asked_about(tmp_path, folder):
    RNG.bit_generator.state = np.random.default_rng(0).bit_generator.state  # unlike photos
    put(tmp_path, f"{folder}/{{}}.jpg", "masks/{}.png", range(100, 110))
    put(tmp_path, "images/{}.jpg", "", range(100, 130))
    assert f"--images {folder} " in refused(tmp_path, "2 ways")


@pytest.mark.parametrize(
    ("image", "mask"),
    [
        ("{}/images/photo{{}}.jpg", "{}/masks/lab{{}}.png"),
        ("{}/src/{{}}_x.jpg", "{}/parsing/{{}}_y.png"),
    ],
)
def test_a_scene_with_one_image_is_named_as_the_scenes_beside_it(tmp_path, image, mask):
    pairs = {}
    for scene, count in zip("ABCD", (5, 5, 5, 1), strict=True):
        pairs |= put(tmp_path, image.format(scene), mask.format(scene), range(count))
    assert read(tmp_path)[0] == {"train": pairs}


@pytest.mark.parametrize(
    "step", [(slice(None, None, 3),) * 2, (slice(None), slice(None, None, -1))]
)
def test_smaller_or_mirrored_copies_of_all_scenes_are_no_scene(tmp_path, step):
    for scene in ("s1", "s2", "s3"):
        pairs = put(
            tmp_path, f"{scene}/images/{{}}.png", f"{scene}/masks/{{}}.png", [scene, scene * 2]
        )
        for name in itertools.chain(*pairs.items()):
            content = np.asarray(Image.open(name))[step]
            save(tmp_path, f"more/{name.parent.name}/{name.name}", content)
    lines = refused(tmp_path, "3 ways").splitlines()[1:3]
    assert all("; 6 images" in line for line in lines)


def test_scenes_that_share_the_numbers_of_some_frames_are_one_set(tmp_path):
    pairs = {}
    for scene, frames in {"v1": (1, 2), "v2": (1, 3), "v3": (2, 3)}.items():
        pairs |= put(tmp_path, f"{scene}/images/{{}}.jpg", f"{scene}/masks/{{}}.png", frames)
    assert read(tmp_path)[0] == {"train": pairs}


def test_masks_whose_names_have_one_number_more_stand_in_the_account(tmp_path):
    put(tmp_path, "images/{}.jpg", "masks/{}_2.png", range(106, 109))
    pairs = put(tmp_path, "images/{}.jpg", "masks/{}.png", range(100, 106))
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert unused_of(plan) == {
        ("images", "unlabeled images"): ["106.jpg", "107.jpg", "108.jpg"],
        ("masks", "masks without an image"): ["106_2.png", "107_2.png", "108_2.png"],
    }


def test_masks_that_are_numbered_from_1_beside_images_from_0_are_refused(tmp_path):
    for n in range(12):
        put(tmp_path, f"images/{n}.jpg", f"masks/{n + 1}.png", [n])
    refused(tmp_path, "images {id} numbered 0 to 11, and masks numbered 1 to 12")
    assert len(read(tmp_path, images="images", masks="masks")[0]["train"]) == 11
    refused(tmp_path, "the same file as an image and as its mask", images="masks")


@pytest.mark.parametrize(
    ("images", "masks"),
    [((1, 8), (0, 8)), ((0, 7), (1, 9)), ((1, 9), (0, 7)), ((0, 8), (1, 8))],
)
def test_masks_numbered_from_another_start_are_refused_with_one_file_more(tmp_path, images, masks):
    put_numbered(tmp_path, range(images[0], images[1] + 1), range(masks[0], masks[1] + 1))
    numbers = f"{images[0]} to {images[1]}, and masks numbered {masks[0]} to {masks[1]}"
    refused(tmp_path, f"images {{id}} numbered {numbers}")
    pairs = {*range(images[0], images[1] + 1)} & {*range(masks[0], masks[1] + 1)}
    assert len(read(tmp_path, images="images", masks="masks")[0]["train"]) == len(pairs)


@pytest.mark.parametrize("masks", [(0, 2, 3, 5, 6), range(7), range(3, 9), (1, 2, 4, 5, 6, 7, 8)])
def test_images_without_a_mask_are_no_shifted_numbers(tmp_path, masks):
    put_numbered(tmp_path, range(9), masks)
    assert len(read(tmp_path)[0]["train"]) == len(masks)


def put_numbered(root, images, masks):
    for n in images:
        put(root, f"images/{n}.jpg", "spare/{}.png", [n])
    shutil.rmtree(root / "spare")
    for n in masks:
        put(root, "spare/{}.jpg", f"masks/{n}.png", [n])
    shutil.rmtree(root / "spare")


@pytest.mark.parametrize("names", [("input/{}.jpg", "output/{}.png"), ("x/{}.png", "masks/{}.png")])
def test_what_the_user_says_is_no_question_whatever_it_is_called(tmp_path, names):
    pairs = put(tmp_path, *names, range(6))
    for image in pairs:
        if image.suffix == ".png":
            Image.open(image).quantize(128).save(image)
    images, masks = (name.partition("/")[0] for name in names)
    assert read(tmp_path, images=images, masks=masks)[0] == {"train": pairs}


def test_images_in_the_given_folder_may_be_called_old(tmp_path):
    pairs = put(tmp_path, "{}.png", "masks/gt_{}.png", ["scan_old", "scan_new"])
    assert read(tmp_path)[0] == {"train": pairs}
