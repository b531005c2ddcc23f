"""Shared parts that `check --parts` and `build --parts` find in a folder of drawn scenes."""

import json
import sys

import pytest
from support import shared_pictures
from support.pictures import draw_scene, encode_again

from voc_seg_tfrecord.commands import cli

pytest.importorskip("cv2", reason="keypoints need OpenCV, of the extra leaks")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    scenes = {f"scene_{seed}": draw_scene(seed) for seed in range(5)}
    val = {
        "cropped": encode_again(scenes["scene_1"][60:340, 90:460][:, ::-1], 85),
        "whole": encode_again(scenes["scene_3"], 85),
        "scene_9": draw_scene(9),
    }
    train = {**scenes, "left": encode_again(scenes["scene_2"][:, :300], 85)}
    root = tmp_path_factory.mktemp("parts") / "scenes"
    shared_pictures.write_folder(root, train, val)
    return root


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


@pytest.mark.slow
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


@pytest.mark.slow
def test_of_a_film_the_best_pairs_are_named_and_a_note_counts_the_others(tmp_path, capsys):
    scene = draw_scene(40)
    frames = {f"{n}_frame": scene[:, 15 * n : 15 * n + 240] for n in range(16)}
    train = {name: frames[name] for name in list(frames)[::2]}
    val = {name: frames[name] for name in list(frames)[1::2]}
    shared_pictures.write_folder(tmp_path / "film", train, val)
    cli.main(["check", str(tmp_path / "film"), "--class_names", "a,b", "--json", "--parts"])
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


def build(folder, data_dir, *words):
    names = ["--class_names", "a,b", "--name", "scenes", "--data_dir", str(data_dir)]
    return cli.main(["build", str(folder), *names, *words])


def test_a_build_names_pictures_and_parts_that_its_splits_share(folder, tmp_path, capsys):
    assert build(folder, tmp_path, "--parts") == 0
    lines = capsys.readouterr().out.splitlines()
    shared = lines[lines.index("images that the splits share:") :]
    assert "    scene_3 ~ whole, confirmed by pixels" in shared
    assert "    scene_1 ~ cropped, mirrored, confirmed by pixels" in shared
    assert not any("left" in line for line in shared)  # it is in one split with its scene


@pytest.mark.slow
def test_a_build_names_no_parts_unless_they_are_asked_for(folder, tmp_path, capsys):
    assert build(folder, tmp_path) == 0
    assert "images that the splits share" not in capsys.readouterr().out
    assert build(folder, tmp_path / "json", "--parts", "--json") == 0
    (overlap,) = json.loads(capsys.readouterr().out)["shared"]
    assert [row["second_id"] for row in overlap["parts"]] == ["cropped"]


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (["--dry_run"], "--dry_run beside it, which builds nothing to compare"),
        (["--splits", "train=1"], "one split: train"),
    ],
)
def test_parts_are_refused_where_no_splits_are_built(words, reason, folder, tmp_path, capsys):
    assert build(folder, tmp_path, "--parts", *words) == 2
    assert reason in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_build_of_a_release_has_no_parts(tmp_path, capsys):
    words = ["build", "--release", "sample", "--data_dir", str(tmp_path), "--parts"]
    assert cli.main(words) == 2
    assert "--parts with a release" in capsys.readouterr().err


def test_a_build_without_opencv_says_how_to_get_it_before_it_builds(
    folder, tmp_path, monkeypatch, capsys
):
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert build(folder, tmp_path, "--parts") == 2
    assert "pip install opencv-python-headless" in capsys.readouterr().err
    assert not list(tmp_path.iterdir())
