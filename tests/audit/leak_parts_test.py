"""Shared parts that `leaks --parts` finds in datasets and indexes of drawn scenes."""

import copy
import json
import sys

import pytest
from support import shared_pictures
from support.pictures import draw_scene, encode_again

from voc_seg_tfrecord.audit import leak_certificate, leak_parts
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.formats.pillow_changes import CHANGES, CROPS

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


def test_an_is_index_finds_them_and_confirms_nothing(built, tmp_path, capsys):
    ours, theirs = built
    index = str(tmp_path / "ours.jsonl")
    assert cli.main(["leaks", ours, "--write_index", index, "--parts"]) == 0
    assert sorted(find(capsys, index, theirs)) == [
        ("scene_1", "cropped", "mirrored", None),
        ("scene_2", "left", "upright", None),
    ]


def test_the_lines_say_what_was_found(built, capsys):
    ours, theirs = built
    cli.main(["leaks", f"{ours}@train", f"{theirs}@validation", "--parts"])
    lines = capsys.readouterr().out.splitlines()
    start = lines.index("  2 pairs with a shared part:")
    assert sorted(lines[start + 1 : start + 3]) == [
        "    scene_1 ~ cropped, mirrored, confirmed by pixels",
        "    scene_2 ~ left, confirmed by pixels",
    ]


@pytest.mark.parametrize("is_index", [False, True])
def test_images_without_keypoints_are_refused(is_index, built, tmp_path, capsys):
    ours, theirs = built
    other = "voc2012_val"
    if is_index:
        other = str(tmp_path / "ours.jsonl")
        cli.main(["leaks", ours, "--write_index", other])
    assert cli.main(["leaks", theirs, other, "--parts"]) == 2
    error = capsys.readouterr().err
    assert f"no keypoints of the images in {other}" in error
    assert "write the index again with --parts" in error


@pytest.fixture(scope="module")
def certificate(built, tmp_path_factory):
    file = tmp_path_factory.mktemp("certificate") / "parts.json"
    cli.main(["leaks", *built, "--parts", "--certificate", str(file)])
    return file


@pytest.mark.slow
def test_a_certificate_states_parts_and_how_many_crops_are_found(certificate):
    stated = json.loads(certificate.read_text())
    assert stated["parts"] is True
    assert "2 shared part" in stated["result"]
    (pair,) = (pair for pair in stated["pairs"] if pair["second_id"] == "cropped")
    assert (pair["first_id"], pair["level"], pair["transformation"], pair["is_confirmed"]) == (
        "scene_1",
        "shared part",
        "mirrored",
        True,
    )
    assert stated["constants"]["min_agreements"] == 4
    assert stated["versions"]["opencv"]
    assert "quarters and smaller parts" in " ".join(stated["not_claimed"])
    found = {row["change"]: row["found"] for row in stated["self_test"]["changes"]}
    assert len(found) == len(CHANGES) + len(CROPS)
    assert min(found.values()) >= stated["self_test"]["images"] - 2


@pytest.mark.slow
def test_a_certificate_with_parts_is_repeated_without_saying_so_again(built, certificate, capsys):
    assert cli.main(["leaks", *built, "--verify_certificate", str(certificate)]) == 0
    assert f"{certificate}: repeated" in capsys.readouterr().out


@pytest.mark.slow
def test_parts_are_not_sought_for_a_certificate_without_them(built, tmp_path, capsys):
    file = str(tmp_path / "leaks.json")
    cli.main(["leaks", *built, "--certificate", file])
    stated = json.loads((tmp_path / "leaks.json").read_text())
    assert "opencv" not in stated["versions"]
    assert cli.main(["leaks", *built, "--verify_certificate", file, "--parts"]) == 2
    assert "parts were not sought" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("change", "contradicts"),
    [
        ({"agreements": 99}, False),
        ({"transformation": "rotated by 41 degrees"}, False),
        ({"is_confirmed": False}, False),
        ({"second_id": "another"}, True),
        ({"level": "same bytes", "different_bits": 0}, True),
    ],
)
def test_a_changed_part_is_named(change, contradicts, certificate):
    stated = json.loads(certificate.read_text())
    changed = copy.deepcopy(stated)
    changed["pairs"][-1].update(change)
    repetition = leak_certificate.compare_certificates(stated, changed)
    assert bool(repetition.contradictions) == contradicts
    assert bool(repetition.notes) != contradicts


def test_without_opencv_one_line_says_how_to_get_it(built, monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "cv2", None)
    assert cli.main(["leaks", *built, "--parts"]) == 2
    assert "pip install opencv-python-headless" in capsys.readouterr().err


def test_one_file_in_both_datasets_is_no_shared_part(built, tmp_path, capsys):
    ours, _ = built
    index = str(tmp_path / "ours.jsonl")
    cli.main(["leaks", ours, "--write_index", index, "--parts"])
    assert find(capsys, index, f"{ours}@train") == []


def test_an_index_of_an_index_without_keypoints_is_refused(built, tmp_path, capsys):
    ours, _ = built
    index = str(tmp_path / "ours.jsonl")
    cli.main(["leaks", ours, "--write_index", index])
    again = str(tmp_path / "again.jsonl")
    assert cli.main(["leaks", index, "--write_index", again, "--parts"]) == 2
    assert f"no keypoints of the images in {index}" in capsys.readouterr().err


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
