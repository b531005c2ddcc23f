"""Which pairs the page of leaks lists, in which order, and which id a decision about each names."""

import dataclasses

import numpy as np
import pytest

from voc_seg_tfrecord.audit import leaks
from voc_seg_tfrecord.reading.decisions import Suspect
from voc_seg_tfrecord.report.leak_pairs import drop_called_right, list_pairs


def side(name, images, *, source="", role=""):
    """Returns a side from `{id: (sha256, signs)}`."""
    return leaks.Side(
        name,
        role or leaks.guess_role(name.rpartition("@")[2]),
        {image_id: sha256 for image_id, (sha256, _) in images.items()},
        {image_id: signs for image_id, (_, signs) in images.items()},
        source=source or name,
    )


def change_bits(signs, count, seed=0):
    """Returns signs of which so many differ."""
    bits = np.random.default_rng(seed).choice(np.arange(1, 256), count, replace=False)
    changed = np.unpackbits(signs)
    changed[bits] ^= 1
    return np.packbits(changed)


SIGNS = np.random.default_rng(0).integers(0, 256, (6, 32), np.uint8)


def test_the_surest_copies_come_first_and_training_that_meets_evaluation_before_other_data():
    ours = side(
        "ours@train",
        {
            "film": ("1", SIGNS[0]),
            "same": ("2", SIGNS[1]),
            "near": ("3", SIGNS[2]),
            "nearer": ("4", SIGNS[3]),
            "2008_000001": ("5", SIGNS[4]),
        },
    )
    test = side(
        "theirs@test",
        {
            "frame": ("6", change_bits(SIGNS[0], 30)),
            "copy": ("2", SIGNS[1]),
            "encoded": ("7", change_bits(SIGNS[2], 5)),
            "2008_000001": ("8", SIGNS[5]),
        },
    )
    train = side("theirs@train", {"again": ("9", change_bits(SIGNS[3], 1))})
    pairs = list_pairs(leaks.compare([ours], [train, test]))
    assert [(pair.kind, pair.first_id, pair.second_id, pair.score) for pair in pairs] == [
        ("same bytes", "same", "copy", ""),
        ("same id of VOC", "2008_000001", "2008_000001", ""),
        ("same picture", "near", "encoded", "5 of 255 signs differ"),
        ("same picture", "nearer", "again", "1 of 255 signs differ"),
        ("same picture or neighbor", "film", "frame", "30 of 255 signs differ"),
    ]
    assert [pair.meets_evaluation for pair in pairs] == [True, True, True, False, True]


def test_a_decision_names_the_image_of_the_first_dataset():
    ours = side("ours@train", {"a": ("1", SIGNS[0]), "b": ("2", SIGNS[1])})
    theirs = side("theirs@test", {"b": ("1", SIGNS[0]), "a": ("3", SIGNS[2])})
    assert [pair.removed_id for pair in list_pairs(leaks.compare([ours], [theirs]))] == ["a"]
    assert [pair.removed_id for pair in list_pairs(leaks.compare([theirs], [ours]))] == ["b"]


def test_an_id_of_both_splits_of_one_dataset_cannot_be_named():
    images = {"a": ("1", SIGNS[0]), "b": ("2", SIGNS[1])}
    train = side("ours@train", images, source="ours")
    val = side("ours@val", {"a": ("1", SIGNS[0]), "c": ("2", SIGNS[1])}, source="ours")
    pairs = list_pairs(leaks.compare([train], [val]))
    assert [(pair.first_id, pair.removed_id) for pair in pairs] == [("a", ""), ("b", "b")]


def test_of_a_tile_the_image_it_was_cut_from_is_removed():
    train = side("ours@train", {"a_r0_c0": ("1", SIGNS[0]), "b_r0_c0": ("2", SIGNS[1])})
    train = dataclasses.replace(train, image_id_by_tile={"a_r0_c0": "a", "b_r0_c0": "b"})
    val = side("theirs@test", {"x": ("1", SIGNS[0])})
    (pair,) = list_pairs(leaks.compare([train], [val]))
    assert (pair.first_id, pair.removed_id) == ("a_r0_c0", "a")


def test_splits_to_train_on_come_first_where_one_dataset_is_compared_with_itself():
    images = {"a": ("1", SIGNS[0])}
    splits = [side(f"ours@{name}", images, source="ours") for name in ("test", "train")]
    ordered = leaks.training_first(splits)
    (overlap,) = leaks.compare(ordered, ordered)
    assert (overlap.first.name, overlap.second.name) == ("ours@train", "ours@test")


@pytest.mark.parametrize("change", ["", "first", "second"])
def test_a_pair_that_was_called_right_is_dropped_as_long_as_both_files_are_the_same(change):
    ours = side("ours@train", {"a": ("1", SIGNS[0])})
    theirs = side("theirs@test", {"b": ("2", SIGNS[0])})
    (pair,) = list_pairs(leaks.compare([ours], [theirs]))
    called_right = {Suspect("same picture", ("a",), "a ~ b"): pair.sha256}
    if change == "first":
        ours = side("ours@train", {"a": ("3", SIGNS[0])})
    if change == "second":
        theirs = side("theirs@test", {"b": ("3", SIGNS[0])})
    pairs = list_pairs(leaks.compare([ours], [theirs]))
    assert len(drop_called_right(pairs, called_right)) == bool(change)


@pytest.mark.parametrize("seed", range(40))
def test_nothing_is_found_once_all_that_is_named_is_removed(seed):
    rng = np.random.default_rng(seed)
    pictures = rng.integers(0, 256, (8, 32), np.uint8)

    def draw_side(name):
        images = {}
        for number in range(12):
            picture = int(rng.integers(0, 8))
            version = int(rng.integers(0, 3))  # of the same picture, in a file of its own
            signs = change_bits(pictures[picture], 2 * version, seed=version)
            images[f"{number:04}"] = (f"{picture} {version}", signs)
        return side(name, images)

    ours = [draw_side("ours@train"), draw_side("ours@val")]
    theirs = draw_side("theirs@test")
    for first in ours:
        removed = {pair.removed_id for pair in list_pairs(leaks.compare([first], [theirs]))}
        remaining = {
            image_id: (sha256, first.signs_by_id[image_id])
            for image_id, sha256 in first.sha256_by_id.items()
            if image_id not in removed
        }
        pictures_of_theirs = {sha256[0] for sha256 in theirs.sha256_by_id.values()}
        leaked = {i for i, sha256 in first.sha256_by_id.items() if sha256[0] in pictures_of_theirs}
        assert removed == leaked
        assert list_pairs(leaks.compare([side(first.name, remaining)], [theirs])) == []
