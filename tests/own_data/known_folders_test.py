"""Folders as people keep them: what lies beside the data is not read, and nothing is left out."""

import contextlib
import io
import itertools
import os
import pathlib
import re
import subprocess

import numpy as np
from PIL import Image
import pytest
from support import exports, made_folders

from voc_seg_tfrecord.base.errors import LayoutError, VocSegError
from voc_seg_tfrecord.build_from.tree import find_config
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.trees.layout import MASK_SUFFIXES

RNG = np.random.default_rng(0)


def put(root, image, mask, ids, painted=""):
    """Writes pairs, and images with painted labels; patterns have one {} for the id."""
    pairs = {}
    for image_id in ids:
        pixels, values = made_folders.draw(RNG, (40, 48))
        files = [(image, pixels), (mask, values)]
        if painted:
            files.append((painted, made_folders.painted(pixels, values, 0.5)))
        for pattern, content in files:
            path = root / pattern.format(image_id)
            path.parent.mkdir(parents=True, exist_ok=True)
            Image.fromarray(content).save(path)
        pairs[root / image.format(image_id)] = root / mask.format(image_id)
    return pairs


def read(root, **said):
    """Returns the pairs that are read, by split, and the plan."""
    _, plan = find_config(root, name="mine", class_names=made_folders.CLASSES, **said)
    found = {
        split: {
            pathlib.Path(pair.image): pathlib.Path(pair.mask)
            for pair in plan.tree.pairs(split, ids)
        }
        for split, ids in plan.splits.items()
    }
    return found, plan


def test_images_with_painted_labels_among_the_masks_are_not_read(tmp_path):
    paths = "photos_raw/{}.jpg", "mask/{}.png"
    pairs = put(tmp_path, *paths, "abcdef", painted="mask/{}.jpg")
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert plan.account == {
        ("mask", "JPEG with the name of a mask"): [f"{i}.jpg" for i in "abcdef"]
    }
    assert read(tmp_path, images="photos_raw", masks="mask")[0] == {"train": pairs}


def test_images_with_painted_labels_beside_the_masks_of_a_root_full_of_photos(tmp_path):
    pairs = put(tmp_path, "{}.jpg", "labels/{}.png", "abcdef", painted="labels/{}.jpg")
    assert read(tmp_path)[0] == {"train": pairs}


def test_examples_of_a_set_are_not_read_in_place_of_it(tmp_path):
    pairs = put(tmp_path, "stills/{}.jpg", "seg/{}.png", "abcdefgh")
    for name in ("stills/a.jpg", "stills/b.jpg", "seg/a.png", "seg/b.png"):
        exports.put(tmp_path, f"examples/{name}", (tmp_path / name).read_bytes())
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert sum(map(len, plan.account.values())) == 4


@pytest.mark.parametrize(
    ("train", "other", "split"),
    [
        (("rgb/{}.jpg", "seg/{}.png"), ("validation/rgb/{}.jpg", "validation/seg/{}.png"), "v"),
        (("img/{}.jpg", "labels/{}.png"), ("test/img/{}.jpg", "test/labels/{}.png"), "test"),
        (
            ("images/{}.jpg", "Masks/{}.png"),
            ("imagesValidation/{}.jpg", "MasksValidation/{}.png"),
            "v",
        ),
        (
            ("images/{}.jpg", "Masks/m{}.png"),
            ("imagesValidation/{}.jpg", "MasksValidation/m{}.png"),
            "v",
        ),
        (("x/{}.jpg", "gt/{}.png"), ("x_val/{}.jpg", "gt_val/{}.png"), "v"),
        (("x/{}.jpg", "gt/{}.png"), ("val_x/{}.jpg", "val_gt/{}.png"), "v"),
        (("X/{}.jpg", "GT/{}.png"), ("XTest/{}.jpg", "GTTest/{}.png"), "test"),
        (("{}.jpg", "{}_mask.png"), ("val/{}.jpg", "val/{}_mask.png"), "v"),
    ],
)
@pytest.mark.parametrize("ids", ["789", "123"])
def test_a_second_part_of_a_set_is_a_split(tmp_path, train, other, split, ids):
    pairs = put(tmp_path, *train, "123456"), put(tmp_path, *other, ids)
    name = "validation" if split == "v" else split
    assert read(tmp_path)[0] == {"train": pairs[0], name: pairs[1]}


def test_masks_of_two_annotators_are_asked_about(tmp_path):
    put(tmp_path, "images/{}.jpg", "masks_anna/{}.png", "abcd")
    for image_id in "abcd":
        values = made_folders.draw(RNG, (40, 48))[1]
        Image.fromarray(values).save(tmp_path / f"{image_id}.png")
        exports.put(
            tmp_path, f"masks_ben/{image_id}.png", (tmp_path / f"{image_id}.png").read_bytes()
        )
        (tmp_path / f"{image_id}.png").unlink()
    with pytest.raises(LayoutError, match="2 ways") as caught:
        read(tmp_path)
    for name in ("anna", "ben"):
        assert f"4 images with masks: --images images --masks masks_{name}" in str(caught.value)


def test_predictions_for_unlabelled_images_are_no_masks(tmp_path):
    pairs = put(tmp_path, "images/{}.jpg", "masks/{}.png", "abcd")
    put(tmp_path, "test/images/{}.jpg", "test/predictions/{}.png", "xyz")
    found, plan = read(tmp_path)
    assert found == {"train": pairs}
    assert ("test/predictions", "PNG") in plan.account


def test_labelled_images_elsewhere_stop_a_build_until_the_folders_are_said(tmp_path):
    pairs = put(tmp_path, "images/{}.jpg", "masks/{}.png", "abcd")
    put(tmp_path, "augmented/images/{}.jpg", "augmented/masks/{}.png", "xyz")
    with pytest.raises(LayoutError, match="3 ways"):
        read(tmp_path)
    found, plan = read(tmp_path, images="images", masks="masks")
    assert found == {"train": pairs}
    assert sum(map(len, plan.account.values())) == 6


def counting(path):
    """Says whether a file is an image, a possible mask, a list or a class file."""
    endings = (*IMAGE_SUFFIXES, *MASK_SUFFIXES, ".txt")
    return path.name.lower().endswith(endings) or path.name in class_files.NAMES


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
        if ".git" not in folder and counting(pathlib.Path(name))
    }
    used = {file for pairs in found.values() for pair in pairs.items() for file in pair}
    used |= {made.root / plan.class_file.source} if plan.class_file else set()
    account = [
        made.root / folder / name for (folder, _), names in plan.account.items() for name in names
    ]
    assert len(account) == len(set(account))
    assert used | set(account) == there
    assert not used & set(account)


def plan_by_shell(root, options):
    """Returns what a shell makes of proposed options."""
    words = subprocess.run(
        ["sh", "-c", f'printf "%s\\n" {options}'], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    names = [word.removeprefix("--") for word in words[::2]]
    return read(root, **dict(zip(names, words[1::2], strict=True)))


@pytest.mark.parametrize("seed", range(60))
def test_whatever_a_question_proposes_gives_right_masks_or_a_question(tmp_path, seed):
    made = made_folders.make(tmp_path / "made it", seed)
    try:
        read(made.root)
        return
    except VocSegError as error:
        text = str(error)
    right = {at.read_bytes(): to for pairs in made.pairs.values() for at, to in pairs.items()}
    for options in re.findall(r"images with masks: (--.*)", text):
        shares = []
        with contextlib.suppress(VocSegError), contextlib.redirect_stderr(io.StringIO()):
            for image, mask in itertools.chain(
                *(pairs.items() for pairs in plan_by_shell(made.root, options)[0].values())
            ):
                if to := right.get(image.read_bytes()):
                    one, other = (np.asarray(Image.open(path)) > 0 for path in (mask, to))
                    shares.append((one & other).sum() / (one | other).sum())
        # Another annotator's masks lie where the right ones do; those of other images do not.
        assert not shares or np.mean(shares) > 0.5, options


def test_unlabelled_images_with_other_numbers_are_not_taken_for_those_of_the_masks(tmp_path):
    pairs = put(tmp_path, "im{}.jpg", "lb{}.png", "123456789")
    put(tmp_path, "extra_images/u{}.jpg", "predictions/lb{}.png", "1234")
    for n in "56789":
        save(tmp_path, f"predictions/lb{n}.png", one_of((0, 1, 2))[1])
    assert read(tmp_path)[0] == {"train": pairs}
