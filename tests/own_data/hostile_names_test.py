"""What messages propose about folders with hostile names can be pasted into Bash."""

import re
import shlex
import shutil
import subprocess

import pytest
from support.paths import DUMMY_DATA

from voc_seg_tfrecord.commands import cli

NAMES = ["$(touch X)", "`touch X`", "a'; touch X; 'b", "a b;touch X", "-rf", "a\ntouch X"]


def options(text):
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


def classes(root, name):
    (root / "class_names.txt").write_text(f"background\n{name}\n")


CHANGES = [lists_with_one_id, lists_of_other_images, masks_elsewhere, folders_of_splits, classes]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_what_is_proposed_runs_nothing(tmp_path, capsys, change, name):
    root = tmp_path / "it's $(touch X)" / "VOC2012"
    shutil.copytree(DUMMY_DATA / "VOCdevkit" / "VOC2012", root)
    change(root, name)
    empty = tmp_path / "empty"
    empty.mkdir()
    names = [] if change is classes else ["--class_names", "voc"]
    proposed = []
    for words in (["check", root], ["build", root, "--name", "x", "--dry_run"]):
        cli.main([*map(str, words), *names])
        printed = capsys.readouterr()
        proposed += options(printed.out + printed.err)
    for pasted in proposed:
        subprocess.run(["bash", "-c", f"true {pasted}"], cwd=empty, capture_output=True)
        assert not list(empty.iterdir()), pasted
    if change is classes and "\n" not in name:
        assert any(name in word for pasted in proposed for word in shlex.split(pasted)), proposed
