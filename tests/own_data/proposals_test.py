"""What messages propose is pasted: nothing is built with a wrong label, and nothing else is run."""

import contextlib
import io
import json
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest
from support import exports
from support.building import examples
from support.folders import NAMES
from support.paths import DUMMY_DATA
from support.png_writer import write_png

from voc_seg_tfrecord.base.names import voc_palette
from voc_seg_tfrecord.built.dataset import open_built
from voc_seg_tfrecord.commands import cli

TRUTH = {name: exports.truth(name) for name in "abcdef"}
PROPOSED = re.compile(r"(?:--[a-z_]+[ =](?:'[^'\n]*'|[^\s',;)]+(?:,[^\s',;)]+)*)(?: (?=--))?)+")


DRY = ["--name", "mine", "--dry_run"]
COMMAND = re.compile(r"voc-seg-tfrecord check [^\n]*? --write_classes classes\.csv")


def put(root, image, mask, ids="abcdef", change=lambda values: values, palette=None):
    for name in ids:
        exports.put_image(root, image.format(name))
        exports.put_mask(root, mask.format(name), change(TRUTH[name]))
        if palette is not None:
            colored = write_png(change(TRUTH[name]), palette=palette)
            exports.put(root, mask.format(name), colored)


def voc(root, **options):
    put(root, "JPEGImages/{}.jpg", "SegmentationClass/{}.png", **options)


def two_folders_of_masks(root):
    put(root, "images/{}.jpg", "masks/{}.png")
    put(root, "images/{}.jpg", "labels/{}.png")


def a_set_beside(root):
    put(root, "images/{}.jpg", "masks/{}.png", "abc")
    put(root, "augmented/images/{}.jpg", "augmented/masks/{}.png", "def")


def masks_of_a_part(root):
    put(root, "JPEGImages/{}.jpg", "SegmentationClass/{}.png", "ab")
    put(root, "JPEGImages/{}.jpg", "SegmentationClassAug/{}.png", "cdef")


def lists_that_share_ids(root):
    voc(root)
    for name, ids in (("train", "abc"), ("val", "cd"), ("test", "ef")):
        exports.put(root, f"ImageSets/Segmentation/{name}.txt", "\n".join(ids))


def a_list_of_other_images(root):
    voc(root)
    exports.put(root, "ImageSets/Segmentation/train.txt", "a\nb\nc\n")
    exports.put(root, "ImageSets/Segmentation/val.txt", "x\ny\n")


def folders_of_splits_and_others(root):
    put(root, "images/train/{}.jpg", "masks/train/{}.png", "abc")
    put(root, "images/{}.jpg", "masks/{}.png", "def")


def values_in_steps(root):
    voc(root, change=lambda values: values * 100)
    exports.put(root, "class_names.txt", "\n".join(NAMES))


def a_class_at_255(root):
    voc(root, change=lambda values: np.where(values == 2, 255, values).astype(np.uint8))
    exports.put(root, "classes.csv", "value,class\n0,background\n1,apple\n255,tree\n")


def vocs_colours_in_another_order(root):
    voc(root, palette=voc_palette()[[0, 15, 12]])


def background_that_is_not_class_0(root):
    voc(root, change=lambda values: np.array([1, 0, 2], np.uint8)[values])
    exports.put(root, "class_names.txt", "apple\nbackground\ntree\n")


def objects_alone_have_names(root):
    voc(root)
    exports.put(root, "obj.names", "apple\ntree\n")


def images_left_over(root):
    put(root, "images/{}1.jpg", "masks/{}1.png", "abcd")
    for name in "ef":
        exports.put_image(root, f"images/{name}2.jpg")
        exports.put_mask(root, f"masks/mask2{name}.png", TRUTH["e" if name == "f" else "f"])


def overlays_of_another_size(root):
    put(root, "photos/{}.jpg", "truth/{}.png")
    put(root, "photos/{}_overlay.png", "small/{}.png", change=lambda values: values[::2, ::2])


def masks_that_are_jpegs(root):
    put(root, "images/{}.jpg", "masks/{}.png", "abc")
    for name in "def":
        exports.put_image(root, f"images/{name}.jpg")
        exports.put_image(root, f"masks/{name}.jpg")


def images_without_masks(root):
    voc(root, ids="abcd")
    for name in "ef":
        exports.put_image(root, f"JPEGImages/{name}.jpg")
    exports.put(root, "ImageSets/Segmentation/train.txt", "\n".join("abce"))
    exports.put(root, "ImageSets/Segmentation/val.txt", "d\nf")


def masks_and_other_polygons(root):
    put(root, "images/{}.jpg", "masks/{}.png")
    height, width = TRUTH["a"].shape
    for name in "abcdef":
        points = [[1, 1], [width - 2, 1], [width - 2, height - 2]]
        shape = {"label": "apple", "points": points, "shape_type": "polygon"}
        text = {"imagePath": f"{name}.jpg", "imageHeight": height, "imageWidth": width}
        exports.put(root, f"images/{name}.json", json.dumps({**text, "shapes": [shape]}))


def images_of_splits_that_count_anew(root):
    put(root, "train/{}.jpg", "masks/{}.png", "abc")
    put(root, "val/{}.jpg", "masks/{}.png", "def")
    exports.put_image(root, "val/a.jpg")


SETS = [
    images_left_over,
    overlays_of_another_size,
    masks_that_are_jpegs,
    images_without_masks,
    masks_and_other_polygons,
    images_of_splits_that_count_anew,
    objects_alone_have_names,
    two_folders_of_masks,
    a_set_beside,
    masks_of_a_part,
    lists_that_share_ids,
    a_list_of_other_images,
    folders_of_splits_and_others,
    values_in_steps,
    a_class_at_255,
    vocs_colours_in_another_order,
    background_that_is_not_class_0,
]


def say(*words):
    """Returns the status of a command and what it says."""
    said = io.StringIO()
    with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
        try:
            status = cli.main([*map(str, words)])
        except SystemExit as error:  # argparse refuses words
            status = error.code
    return status, said.getvalue()


def pasted(text):
    """Returns the words that Bash makes of a text."""
    words = ["bash", "-c", f'printf "%s\\n" {text}']
    return subprocess.run(words, capture_output=True, text=True, check=True).stdout.splitlines()


def wrong_labels(data_dir):
    """Returns what classes became, if one became another's name, or several or parts of one.

    Void pixels are no wrong labels.
    """
    (folder,) = data_dir.glob("*/mine/*")
    built = open_built(str(folder))
    names = [*built.info.features["segmentation_mask"].names, "void"]
    pairs = set()
    for split in built.info.splits:
        for example in examples(built, split).values():
            truth = TRUTH[example["image/filename"].decode().rpartition("/")[2][0]]
            mask = np.minimum(example["segmentation_mask"][..., 0], len(names) - 1)
            pairs |= {*zip(truth.ravel().tolist(), mask.ravel().tolist(), strict=True)}
    became = {(NAMES[drawn], names[value]) for drawn, value in pairs if names[value] != "void"}
    drawn, named = zip(*became, strict=True)
    one_to_one = len({*drawn}) == len({*named}) == len(became)
    same = all(a == b for a, b in became) or not {*NAMES[1:]} & {*named}
    return [] if one_to_one and same else sorted(became)


@pytest.mark.parametrize("make", SETS, ids=lambda make: make.__name__)
@pytest.mark.parametrize("named", [True, False])
def test_no_proposal_builds_a_wrong_label(tmp_path, monkeypatch, make, named):
    root = tmp_path / "it's a set"
    make(root)
    monkeypatch.chdir(tmp_path)
    names = ["--class_names", ",".join(NAMES)] if named else []
    texts = [say("check", root, *names)[1], say("build", root, *DRY, *names)[1]]
    for command in dict.fromkeys(c for text in texts for c in COMMAND.findall(text)):
        say(*pasted(command)[1:])
    proposed = dict.fromkeys(m.rstrip(" .") for text in texts for m in PROPOSED.findall(text))
    built = 0
    for number, options in enumerate(proposed):
        words = pasted(options)
        said = [] if {"--class_names", "--classes"} & {*words} and not named else names
        data_dir = tmp_path / f"data{number}"
        where = ["--data_dir", data_dir]
        status, _ = say("build", root, "--name", "mine", *said, *words, *where)
        if status == 0 and list(data_dir.glob("*/mine/*")):
            built += 1
            # Who chooses the polygons wants their labels.
            assert ".json" in options or not wrong_labels(data_dir), options
    if named and make in (a_set_beside, masks_of_a_part):
        assert built, proposed


# Messages about folders with hostile names.


HOSTILE = ["$(touch X)", "`touch X`", "a'; touch X; 'b", "a b;touch X", "-rf", "a\ntouch X"]


def options_in(text):
    """Yields each option of a text with the word behind it, as it is pasted."""
    for found in re.finditer(r"(?<!\S)--[a-z_]+[ =]", text):
        rest = text[found.start() :]
        reader = shlex.shlex(rest.partition("\n")[0], posix=True)
        reader.whitespace_split, reader.commenters = True, ""
        try:
            reader.get_token()
            reader.get_token()
        except ValueError:  # an apostrophe of the sentence
            continue
        yield rest[: reader.instream.tell()].rstrip(" ,.;)")


def lists_with_one_id(root, name):
    folder = root / "ImageSets" / "Segmentation"
    shutil.copy(folder / "train.txt", folder / f"{name}.txt")


def lists_of_other_images(root, name):
    (root / "ImageSets" / "Segmentation" / f"{name}.txt").write_text("no_such_image\n")


def masks_elsewhere(root, name):
    (root / "SegmentationClass").rename(root / name)
    (root / "SegmentationClass").mkdir()
    path = sorted((root / name).iterdir())[0]
    shutil.copy(path, root / "SegmentationClass" / path.name)


def folders_of_splits(root, name):
    shutil.rmtree(root / "ImageSets")
    for split in ("train", name):
        for folder in ("JPEGImages", "SegmentationClass"):
            (root / split / folder).mkdir(parents=True)
    for number, image in enumerate(sorted((root / "JPEGImages").iterdir())):
        split = ("train", name)[number % 2]
        image.rename(root / split / "JPEGImages" / image.name)


def classes_of_a_file(root, name):
    (root / "class_names.txt").write_text(f"background\n{name}\n")


CHANGES = [
    lists_with_one_id,
    lists_of_other_images,
    masks_elsewhere,
    folders_of_splits,
    classes_of_a_file,
]


@pytest.mark.parametrize("name", HOSTILE)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_proposed_runs_nothing(tmp_path, capsys, change, name):
    root = tmp_path / "it's $(touch X)" / "VOC2012"
    shutil.copytree(DUMMY_DATA / "VOCdevkit" / "VOC2012", root)
    change(root, name)
    empty = tmp_path / "empty"
    empty.mkdir()
    names = [] if change is classes_of_a_file else ["--class_names", "voc"]
    proposed = []
    for words in (["check", root], ["build", root, "--name", "x", "--dry_run"]):
        cli.main([*map(str, words), *names])
        printed = capsys.readouterr()
        proposed += options_in(printed.out + printed.err)
    for pasted in proposed:
        subprocess.run(["bash", "-c", f"true {pasted}"], cwd=empty, capture_output=True)
        assert not list(empty.iterdir()), pasted
    if change is classes_of_a_file and "\n" not in name:
        assert any(name in word for pasted in proposed for word in shlex.split(pasted)), proposed
