"""Shared parts that `leaks --parts` finds in datasets of drawn scenes."""

import json
import pathlib
import shutil
import sys

import pytest
from support import shared_pictures
from support.pictures import draw_scene, encode_again

from voc_seg_tfrecord.audit import leak_parts
from voc_seg_tfrecord.commands import cli

pytest.importorskip("cv2", reason="keypoints need OpenCV, of the extra leaks")


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two datasets: `theirs` has a mirrored crop, a half and a whole of scenes of `ours`."""
    root = tmp_path_factory.mktemp("parts")
    scenes = {f"scene_{seed}": draw_scene(seed) for seed in range(6)}
    ours = shared_pictures.build(
        root, "ours", scenes, {"scene_20": draw_scene(20), "scene_21": draw_scene(21)}
    )
    theirs = shared_pictures.build(
        root,
        "theirs",
        {"scene_30": draw_scene(30), "scene_31": draw_scene(31)},
        {
            "cropped": encode_again(scenes["scene_1"][60:340, 90:460][:, ::-1], 85),
            "left": encode_again(scenes["scene_2"][:, :300], 85),
            "whole": encode_again(scenes["scene_3"], 85),
            "scene_32": draw_scene(32),
        },
    )
    return str(ours.data_path), str(theirs.data_path)


def find(capsys, *args):
    """Returns the pairs of parts of the first splits that share some."""
    capsys.readouterr()
    cli.main(["leaks", *args, "--parts", "--json"])
    document = json.loads(capsys.readouterr().out)
    return [
        (row["first_id"], row["second_id"], row["transformation"], row["is_confirmed"])
        for overlap in document["compared"]
        for row in overlap["parts"]
    ]


@pytest.mark.slow
def test_crops_are_found_and_confirmed_and_whole_pictures_are_not_repeated(built, capsys):
    found = find(capsys, *built)
    assert sorted(found) == [
        ("scene_1", "cropped", "mirrored", True),
        ("scene_2", "left", "upright", True),
    ]


@pytest.mark.slow
def test_the_lines_say_what_was_found(built, capsys):
    ours, theirs = built
    cli.main(["leaks", f"{ours}@train", f"{theirs}@validation", "--parts"])
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("  2 pairs with a shared part:")
    assert sorted(lines[start + 1 : start + 3]) == [
        "    scene_1 ~ cropped, mirrored, confirmed by pixels",
        "    scene_2 ~ left, confirmed by pixels",
    ]


def test_a_list_has_no_images_to_compare(built, capsys):
    assert cli.main(["leaks", built[1], "voc2012_val", "--parts"]) == 2
    error = capsys.readouterr().err
    assert "--parts: a list of ids: voc2012_val" in error
    assert "name the built dataset, or leave the option out" in error


def test_without_opencv_one_line_says_how_to_get_it(built, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert cli.main(["leaks", *built, "--parts"]) == 2
    assert "pip install opencv-python-headless" in capsys.readouterr().err


def test_one_file_in_both_datasets_is_no_shared_part(built, tmp_path, capsys):
    ours, _ = built
    copied = shutil.copytree(ours, tmp_path / "copied" / pathlib.Path(ours).name)
    assert find(capsys, str(copied), f"{ours}@train") == []


@pytest.mark.slow
def test_of_a_film_the_best_pairs_of_each_frame_are_listed_and_the_others_counted(tmp_path, capsys):
    scene = draw_scene(40)
    frames = {f"frame_{n}": scene[:, 12 * n : 12 * n + 260] for n in range(16)}
    film = shared_pictures.build(
        tmp_path,
        "film",
        {name: pixels for name, pixels in frames.items() if int(name[6:]) % 2},
        {name: pixels for name, pixels in frames.items() if int(name[6:]) % 2 == 0},
    )
    words = ["leaks", f"{film.data_path}@train", f"{film.data_path}@validation", "--parts"]
    capsys.readouterr()
    cli.main([*words, "--json"])
    (overlap,) = json.loads(capsys.readouterr().out)["compared"]
    listed = [(row["first_id"], row["second_id"]) for row in overlap["parts"]]
    assert 0 < len(listed) <= 3 * 16
    assert overlap["unlisted_parts"] > 0
    cli.main(words)
    count = overlap["unlisted_parts"]
    assert f"beside the best 3 of each image, at least {count} more pair" in capsys.readouterr().out


@pytest.mark.slow
def test_the_pixels_of_the_best_pairs_are_compared(built, monkeypatch, capsys):
    monkeypatch.setattr(leak_parts, "MAX_CONFIRMED_PAIRS", 1)
    assert {confirmed for *_, confirmed in find(capsys, *built)} == {None, True}
