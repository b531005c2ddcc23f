"""What messages propose is pasted: nothing is built with a wrong label, and nothing else is run."""

import json
import re
import shlex
import shutil
import subprocess

import numpy as np
import pytest
from support import drawing
from support.building import examples
from support.command_line import run_command
from support.drawing import write
from support.folders import NAMES, pasted
from support.paths import DUMMY_DATA
from support.png_writer import write_png

from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.names import voc_palette
from voc_seg_tfrecord.reading.dataset import open_built

TRUTH = {name: drawing.truth(name) for name in "abcdef"}
PROPOSED = re.compile(r"(?:--[a-z_]+[ =](?:'[^'\n]*'|[^\s',;)]+(?:,[^\s',;)]+)*)(?: (?=--))?)+")


DRY = ["--name", "mine", "--dry_run"]
COMMAND = re.compile(r"voc-seg-tfrecord check [^\n]*? --write_classes classes\.csv")


def voc(root, change, palette=None):
    """Writes six pairs with changed values, as grays or by a palette."""
    for name, values in TRUTH.items():
        drawing.put_pair(root, name, change(values))
        if palette is not None:
            colored = write_png(change(values), palette=palette)
            drawing.put(root, f"SegmentationClass/{name}.png", colored)


def values_in_steps(root):
    voc(root, lambda values: values * 100)
    drawing.put(root, "class_names.txt", "\n".join(NAMES))


def a_class_at_255(root):
    voc(root, lambda values: np.where(values == 2, 255, values).astype(np.uint8))
    drawing.put(root, "classes.csv", "value,class\n0,background\n1,apple\n255,tree\n")


def background_that_is_not_class_0(root):
    voc(root, lambda values: np.array([1, 0, 2], np.uint8)[values])
    drawing.put(root, "class_names.txt", "apple\nbackground\ntree\n")


def overlays_of_another_size(root):
    write(root, "abcdef photos/{}.jpg truth/{}.png", "abcdef photos/{}_overlay.png")
    for name, values in TRUTH.items():
        drawing.put_mask(root, f"small/{name}.png", values[::2, ::2])


def masks_and_other_polygons(root):
    write(root, ALL)
    height, width = TRUTH["a"].shape
    points = [[1, 1], [width - 2, 1], [width - 2, height - 2]]
    shapes = [{"label": "apple", "points": points, "shape_type": "polygon"}]
    for name in TRUTH:
        text = {"imagePath": f"{name}.jpg", "imageHeight": height, "imageWidth": width}
        drawing.put(root, f"images/{name}.json", json.dumps({**text, "shapes": shapes}))


ALL, VOC = "abcdef images/{}.jpg masks/{}.png", "abcdef JPEGImages/{}.jpg SegmentationClass/{}.png"
LISTS = [f"ImageSets/Segmentation/{split}.txt" for split in ("train", "val", "test")]
SETS = {
    "images left over": (
        "abcd images/{}1.jpg masks/{}1.png",
        "ef images/{}2.jpg",
        "e - masks/mask2f.png",
        "f - masks/mask2e.png",
    ),
    "overlays of another size": overlays_of_another_size,
    "masks that are JPEGs": (
        "abc images/{}.jpg masks/{}.png",
        "def images/{}.jpg",
        "def masks/{}.jpg",
    ),
    "images without masks": (
        VOC.replace("ef", ""),
        "ef JPEGImages/{}.jpg",
        (LISTS[0], "a\nb\nc\ne"),
        (LISTS[1], "d\nf"),
    ),
    "masks and other polygons": masks_and_other_polygons,
    "images of splits that count anew": (
        "abc train/{}.jpg masks/{}.png",
        "def val/{}.jpg masks/{}.png",
        "a val/{}.jpg",
    ),
    "objects alone have names": (VOC, ("obj.names", "apple\ntree\n")),
    "two folders of masks": (ALL, "abcdef - labels/{}.png"),
    "a set beside": (
        "abc images/{}.jpg masks/{}.png",
        "def augmented/images/{}.jpg augmented/masks/{}.png",
    ),
    "masks of a part": (
        "ab JPEGImages/{}.jpg SegmentationClass/{}.png",
        "cdef JPEGImages/{}.jpg SegmentationClassAug/{}.png",
    ),
    "lists that share ids": (VOC, *zip(LISTS, ("a\nb\nc", "c\nd", "e\nf"), strict=True)),
    "a list of other images": (VOC, (LISTS[0], "a\nb\nc"), (LISTS[1], "x\ny")),
    "folders of splits and others": (
        "abc images/train/{}.jpg masks/train/{}.png",
        "def images/{}.jpg masks/{}.png",
    ),
    "values in steps": values_in_steps,
    "a class at 255": a_class_at_255,
    "VOC's colors in another order": lambda root: voc(
        root, lambda v: v, voc_palette()[[0, 15, 12]]
    ),
    "background that is not class 0": background_that_is_not_class_0,
}


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


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("named", [True, False])
def test_no_proposal_builds_a_wrong_label(tmp_path, monkeypatch, name, named):
    root, make = tmp_path / "it's a set", SETS[name]
    make(root) if callable(make) else write(root, *make)
    monkeypatch.chdir(tmp_path)
    names = ["--class_names", ",".join(NAMES)] if named else []
    tried = (run_command("check", root, *names), run_command("build", root, *DRY, *names))
    texts = [ended.text for ended in tried]
    for command in dict.fromkeys(c for text in texts for c in COMMAND.findall(text)):
        run_command(*pasted(command)[1:])
    proposed = dict.fromkeys(m.rstrip(" .") for text in texts for m in PROPOSED.findall(text))
    built = 0
    for number, options in enumerate(proposed):
        words = pasted(options)
        said = [] if {"--class_names", "--classes"} & {*words} and not named else names
        data_dir = tmp_path / f"data{number}"
        where = ["--data_dir", data_dir]
        ended = run_command("build", root, "--name", "mine", *said, *words, *where)
        if ended.status == 0 and list(data_dir.glob("*/mine/*")):
            built += 1
            # Who chooses the polygons wants their labels.
            assert ".json" in options or not wrong_labels(data_dir), options
    if named and name in ("a set beside", "masks of a part"):
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
    others = [f"class_{number}" for number in range(2, 21)]
    (root / "class_names.txt").write_text("\n".join(["background", name, *others]))


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
    for words in proposed:
        subprocess.run(["bash", "-c", f"true {words}"], cwd=empty, capture_output=True)
        assert not list(empty.iterdir()), words
    if change is classes_of_a_file and "\n" not in name:
        assert any(name in word for words in proposed for word in shlex.split(words)), proposed
