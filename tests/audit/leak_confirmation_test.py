"""Which pairs of the same picture are confirmed by pixels, from drawn photos."""

import json

import numpy as np
from PIL import Image
import pytest
from support import pictures, shared_pictures
from support.encoding import encoded

from voc_seg_tfrecord.audit import leaks
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder import picture_signs
from voc_seg_tfrecord.folder.picture_signs import ORIENTATIONS
from voc_seg_tfrecord.formats import images


def stretch(pixels):
    """Returns the pixels 10 % wider."""
    height, width = pixels.shape[:2]
    size = (round(width * 1.1), height)
    return np.asarray(Image.fromarray(pixels).resize(size, Image.Resampling.BICUBIC))


CHANGES = {**pictures.CHANGES, "stretched": stretch}


def make_side(name, pixels_by_id, signs_by_id=None):
    """Returns a side whose images are at hand, with their own signs or with given ones."""
    files = {i: File(encoded(pixels), i) for i, pixels in pixels_by_id.items()}
    own_signs = {i: picture_signs.compute_signs(images.decode(file)) for i, file in files.items()}
    return leaks.Side(
        name,
        leaks.guess_role(name),
        {i: f"{name} {i}" for i in files},
        signs_by_id or own_signs,
        read_files=lambda ids: ((i, files[i]) for i in files if i in ids),
    )


def find_pairs(first, second):
    """Returns the ids, the transformation and the confirmation of each pair."""
    return [
        (pair.first_id, pair.second_id, pair.transformation, pair.is_confirmed)
        for pair in leaks.find_overlap(first, second).similar_pairs
    ]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("name", CHANGES)
def test_pixels_confirm_changed_copies(name):
    photos = {str(seed): pictures.draw_photo(seed) for seed in range(3)}
    copies = {i: CHANGES[name](pixels) for i, pixels in photos.items()}
    pairs = find_pairs(make_side("train", photos), make_side("val", copies))
    transformation = name if "mirrored" in name or "rotated" in name else "upright"
    assert sorted(pairs) == [(i, i, transformation, True) for i in photos]


@pytest.mark.slow_but_first
@pytest.mark.parametrize("orientation", ORIENTATIONS, ids=lambda orientation: orientation.name)
def test_pixels_confirm_copies_in_every_orientation(orientation):
    photo = pictures.draw_photo(0)
    copy = pictures.encode_again(orientation.apply_to_pixels(photo), 80)
    pairs = find_pairs(make_side("train", {"a": photo}), make_side("val", {"b": copy}))
    assert pairs == [("a", "b", orientation.name, True)]


@pytest.mark.parametrize("draw", [pictures.draw_photo, pictures.draw_chart, pictures.draw_scene])
def test_pixels_contradict_different_pictures_of_the_same_signs(draw):
    signs = np.random.default_rng(0).integers(0, 256, 32, np.uint8)
    first = make_side("train", {"a": draw(1)}, {"a": signs})
    second = make_side("val", {"b": draw(2)}, {"b": signs})
    assert find_pairs(first, second) == [("a", "b", "upright", False)]


def test_only_the_nearest_pairs_are_compared_by_pixels(monkeypatch):
    monkeypatch.setattr(leaks, "MAX_CONFIRMED_PAIRS", 1)
    photos = {"a": pictures.draw_photo(1), "b": pictures.draw_photo(2)}
    first = make_side("train", photos)
    farther = first.signs_by_id["a"] ^ np.eye(1, 32, 9, np.uint8)[0]
    second = make_side("val", photos, {"a": farther, "b": first.signs_by_id["b"]})
    assert find_pairs(first, second) == [("b", "b", "upright", True), ("a", "a", "upright", None)]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    """Two datasets: `theirs` has a mirrored picture of `ours`."""
    root = tmp_path_factory.mktemp("confirmed")
    mirrored = pictures.encode_again(pictures.draw_photo(1)[:, ::-1], 90)
    ours = shared_pictures.build(root, "ours", shared_pictures.draw(1, 2), shared_pictures.draw(3))
    theirs = shared_pictures.build(root, "theirs", shared_pictures.draw(8), {"mirrored": mirrored})
    return str(ours.data_dir), str(theirs.data_dir)


@pytest.mark.slow
def test_the_command_says_what_pixels_confirm(built, capsys):
    cli.main(["leaks", *built])
    assert "    photo_1 ~ mirrored, mirrored, confirmed by pixels\n" in capsys.readouterr().out


def test_a_picture_that_pixels_confirm_is_a_leak(built, monkeypatch, capsys):
    assert cli.main(["leaks", *built]) == 1
    said = capsys.readouterr().out
    assert "  images of the second that are also in the first: 1 of 1  <- LEAK\n" in said
    assert said.endswith("LEAK: a training split and an evaluation split share images\n")
    monkeypatch.setattr("voc_seg_tfrecord.quality.pixel_confirmation.MIN_CORRELATION", 1.1)
    assert cli.main(["leaks", *built]) == 0
    assert "LEAK" not in capsys.readouterr().out


def test_json_states_what_is_needed_to_repeat_the_comparison(built, capsys):
    documents = []
    for _ in range(2):
        cli.main(["leaks", *built, "--json"])
        documents.append(json.loads(capsys.readouterr().out))
    assert documents[0] == documents[1]
    assert documents[0]["parameters"]["max_bits_of_same_picture"] == 8
    sides = [row[side] for row in documents[0]["compared"] for side in ("first", "second")]
    fingerprint_by_name = {side["name"]: side["fingerprint"] for side in sides}
    assert len({*fingerprint_by_name.values()}) == len(fingerprint_by_name) == 4


def test_the_command_says_where_pixels_differ(built, monkeypatch, capsys):
    monkeypatch.setattr("voc_seg_tfrecord.quality.pixel_confirmation.MIN_CORRELATION", 1.1)
    cli.main(["leaks", *built])
    assert "    photo_1 ~ mirrored, mirrored, pixels differ\n" in capsys.readouterr().out
