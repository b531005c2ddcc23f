"""Shared parts that `check --parts` finds in a folder of drawn scenes."""

import json
import sys

import numpy as np
from PIL import Image
import pytest
from support.pictures import draw_scene, encode_again

from voc_seg_tfrecord.commands import cli

pytest.importorskip("cv2", reason="keypoints need OpenCV, of the extra leaks")


def write_folder(root, train, val):
    """Writes images by id, uint8 `[H, W, 3]`, with masks and lists."""
    for folder in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (root / folder).mkdir(parents=True)
    for image_id, pixels in {**train, **val}.items():
        Image.fromarray(pixels).save(root / "JPEGImages" / f"{image_id}.png")
        mask = np.zeros(pixels.shape[:2], np.uint8)
        mask[len(mask) // 2 :] = 1
        Image.fromarray(mask).save(root / "SegmentationClass" / f"{image_id}.png")
    for name, ids in (("train", train), ("val", val)):
        (root / "ImageSets/Segmentation" / f"{name}.txt").write_text("\n".join(ids))
    return root


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    scenes = {f"scene_{seed}": draw_scene(seed) for seed in range(5)}
    val = {
        "cropped": encode_again(scenes["scene_1"][60:340, 90:460][:, ::-1], 85),
        "whole": encode_again(scenes["scene_3"], 85),
        "scene_9": draw_scene(9),
    }
    train = {**scenes, "left": encode_again(scenes["scene_2"][:, :300], 85)}
    return write_folder(tmp_path_factory.mktemp("parts") / "scenes", train, val)


def check(folder, capsys, *words):
    """Returns the status, and the messages of findings about pictures by their kind."""
    capsys.readouterr()
    status = cli.main(["check", str(folder), "--class_names", "a,b", "--json", *words])
    findings = json.loads(capsys.readouterr().out)["findings"]
    return status, {
        row["kind"]: row["messages"]
        for row in findings
        if "part" in row["kind"] or "picture" in row["kind"]
    }


def test_parts_are_named_only_if_they_are_asked_for_and_stop_no_build(folder, capsys):
    same_picture = {
        "same picture in two splits": [
            "scene_3 (train) and whole (validation): the same picture, in files that differ"
        ]
    }
    assert check(folder, capsys) == (0, same_picture)
    assert check(folder, capsys, "--parts") == (
        0,
        same_picture
        | {
            "shared part in two splits": [
                "scene_1 (train) and cropped (validation): they share a part, mirrored"
            ],
            "shared part": ["scene_2 (train) and left (train): they share a part"],
        },
    )


def test_of_a_film_the_best_pairs_are_named_and_a_note_counts_the_others(tmp_path, capsys):
    scene = draw_scene(40)
    frames = {f"{n}_frame": scene[:, 15 * n : 15 * n + 240] for n in range(16)}
    train = {name: frames[name] for name in list(frames)[::2]}
    val = {name: frames[name] for name in list(frames)[1::2]}
    root = write_folder(tmp_path / "film", train, val)
    cli.main(["check", str(root), "--class_names", "a,b", "--json", "--parts"])
    rows = json.loads(capsys.readouterr().out)["findings"]
    notes = [text for row in rows if row["kind"] == "note" for text in row["messages"]]
    assert any("of images share a part. The best 3 of each image are named" in n for n in notes)
    named = sum(row["count"] for row in rows if row["kind"].startswith("shared part"))
    assert 0 < named <= 3 * 16


def test_without_opencv_one_line_says_how_to_get_it(folder, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert cli.main(["check", str(folder), "--class_names", "a,b", "--parts"]) == 2
    assert "pip install opencv-python-headless" in capsys.readouterr().err


@pytest.mark.parametrize("option", ["--write_classes", "--write_lists"])
def test_parts_are_refused_where_nothing_is_checked(option, folder, tmp_path, capsys):
    words = ["check", str(folder), "--class_names", "a,b", "--parts", option, str(tmp_path / "x")]
    assert cli.main(words) == 2
    assert "--parts" in capsys.readouterr().err
