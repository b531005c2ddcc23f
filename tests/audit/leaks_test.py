import shutil

import numpy as np
import pytest
from support import doctoring

from voc_seg_tfrecord.audit import leaks
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.reading.dataset import open_built


def side(name, images, role=""):
    return leaks.Side(name, role or leaks.guess_role(name), images)


def examples(first, second):
    return leaks.find_overlap(
        leaks.read_named_list(first), leaks.read_named_list(second)
    ).example_count


@pytest.mark.parametrize(
    ("second", "count"), [("voc2012_trainval", 210), ("voc2012_train", 106), ("voc2012_val", 104)]
)
def test_the_test_set_of_2007_is_in_2012(second, count):
    assert examples("voc2007_test", second) == count
    assert examples("voc2007_test_in_2012", second) == count


def test_trainaug_and_val_share_nothing():
    assert examples("trainaug", "voc2012_val") == 0


@pytest.mark.parametrize(
    ("ours", "name", "theirs", "is_leak"),
    [
        ({"a": ""}, "val", {"a": ""}, True),
        ({"a": ""}, "train2", {"a": ""}, False),
        ({"a": ""}, "val", {"b": ""}, False),
        ({"2008_000123": "1"}, "val", {"2008_000123": "2"}, True),  # a photo, encoded again
        ({"000032": "1"}, "val", {"2007_000032": "1"}, True),
        ({"000032": "1"}, "val", {"2007_000032": "2"}, False),
        ({"000032": "1"}, "val", {"000032": "2"}, False),  # six digits, of any two datasets
    ],
)
def test_train_and_evaluation_data_in_common_is_a_leak(ours, name, theirs, is_leak):
    assert leaks.find_overlap(side("train", ours), side(name, theirs)).is_leak == is_leak


def test_an_id_counts_before_one_that_is_renamed_to_it():
    for ours in ({"2007_000032": "2", "000032": "1"}, {"000032": "1", "2007_000032": "2"}):
        found = leaks.find_overlap(side("train", ours), side("val", {"2007_000032": "2"}))
        assert found.shared_ids == ("2007_000032",)
        assert found.differing_ids == ()


def test_the_same_bytes_under_another_name_are_found():
    found = leaks.find_overlap(side("train", {"a": "1", "b": "2"}), side("val", {"c": "2"}))
    assert found.shared_ids == ()
    assert found.same_file_pairs == (("b", "c"),)
    assert found.is_leak


def test_images_of_one_picture_are_told_and_are_no_leak():
    signs = np.random.default_rng(0).integers(0, 256, (3, 32), np.uint8)
    train = leaks.Side("train", "train", {"a": "1", "b": "2"}, {"a": signs[0], "b": signs[1]})
    nearly = signs[1] ^ np.eye(1, 32, 9, np.uint8)[0]
    val = leaks.Side("val", "evaluation", {"c": "3", "d": "1"}, {"c": nearly, "d": signs[0]})
    found = leaks.find_overlap(train, val)
    assert found.similar_pairs == (leaks.SimilarPair("b", "c", "same picture", "upright", 1),)
    assert found.example_count == 1  # those with the same bytes
    assert leaks.find_overlap(train, side("val", {"c": "3"})).similar_pairs == ()


def test_the_pictures_of_built_images_are_compared(sample):
    builder = open_built(str(sample.data_dir))
    (first,) = leaks.read_splits(builder, ["train"])
    copied = {f"copy of {i}": sha256[::-1] for i, sha256 in first.sha256_by_id.items()}
    signs = {f"copy of {i}": signs for i, signs in first.signs_by_id.items()}
    found = leaks.find_overlap(first, leaks.Side("val", "evaluation", copied, signs))
    pairs = {(pair.first_id, pair.second_id) for pair in found.similar_pairs}
    assert signs
    assert pairs == {(i, f"copy of {i}") for i in first.signs_by_id}


def test_two_own_images_that_only_share_a_name_are_no_leak():
    found = leaks.find_overlap(side("train", {"0001": "1"}), side("val", {"0001": "2"}))
    assert found.differing_ids == ("0001",)
    assert not found.is_leak


@pytest.mark.parametrize(
    ("name", "role"),
    [
        ("train", "train"),
        ("trainval", "train"),
        ("train_aug", "train"),
        ("validation", "evaluation"),
        ("test", "evaluation"),
        ("seg11valid", "evaluation"),
        ("semi_92", "train"),
        ("my_train", "train"),
        ("semi_train", "train"),
        ("my_trainaug", "train"),
        ("val2017", "evaluation"),
        ("test_val", "evaluation"),
        ("train_test", ""),
        ("interval", ""),
        ("latest", ""),
        ("device", ""),
        ("default", ""),
    ],
)
def test_a_splits_name_tells_its_role(name, role):
    assert leaks.guess_role(name) == role


def test_a_dataset_without_leaks_is_fine(sample, capsys):
    folder = str(sample.data_dir)
    assert cli.main(["leaks", folder, folder]) == 0
    assert capsys.readouterr().out.count("no shared image found by id, bytes or appearance") == 3


def test_two_builds_of_one_name_are_compared_split_by_split(sample, tmp_path, capsys):
    first = str(sample.data_dir)
    second = str(shutil.copytree(sample.data_dir, tmp_path / "voc_seg_tfrecord/sample/1.0.0"))
    assert cli.main(["leaks", f"{first}@train", f"{second}@train"]) == 0
    out = capsys.readouterr().out
    assert f"@train (3) in {first} and " in out
    assert f"@train (3) in {second}:" in out
    assert "3 images in common, byte for byte" in out


def test_one_split_by_two_paths_is_not_compared_with_itself(sample, tmp_path, capsys):
    (tmp_path / "link").symlink_to(sample.data_dir)
    assert cli.main(["leaks", f"{sample.data_dir}@train", f"{tmp_path}/link@train"]) == 2
    assert "the same split twice" in capsys.readouterr().err


def test_a_list_whose_name_has_other_words_than_train_leaks_too(tmp_path, capsys):
    (tmp_path / "my_train.txt").write_text("\n".join(list_ids("voc2012_val")[:3]))
    assert cli.main(["leaks", str(tmp_path / "my_train.txt"), "voc2012_val"]) == 1
    assert "LEAK" in capsys.readouterr().out


def test_an_image_of_train_in_validation_is_found_by_its_bytes(sample, tmp_path, capsys):
    copy = open_built(shutil.copytree(sample.data_dir, tmp_path / "1.0.0"))
    images = []
    doctoring.rewrite(copy, "train", lambda e: images.extend(doctoring.values(e[0], "image")) or e)

    def plant(examples):
        doctoring.values(examples[0], "image")[0] = images[0]
        return examples

    doctoring.rewrite(copy, "validation", plant)
    folder = str(copy.data_dir)
    assert cli.main(["leaks", f"{folder}@train", f"{folder}@validation"]) == 1
    out = capsys.readouterr().out
    assert "1 image in common, byte for byte: 2007_000001 = 201" in out
    assert "LEAK" in out


def test_the_command_compares_lists(capsys):
    assert cli.main(["leaks", "voc2007_test", "voc2012_train"]) == 1
    assert "106 ids in common" in capsys.readouterr().out
    assert cli.main(["leaks", "trainaug", "voc2012_val"]) == 0
    assert "no id in common; only ids were compared" in capsys.readouterr().out


def test_files_of_ids_are_lists_too(tmp_path, capsys):
    (tmp_path / "mytrain.txt").write_text("\n".join(list_ids("voc2012_val")[:3]))
    (tmp_path / "train.txt").write_text("\n".join(list_ids("voc2012_val")[:3]))
    assert cli.main(["leaks", str(tmp_path / "train.txt"), "voc2012_val"]) == 1
    assert "3 ids in common" in capsys.readouterr().out


def test_sbds_leak_is_counted_where_its_list_is_there_and_quoted_where_not(tmp_path, capsys):
    assert cli.main(["leaks", "sbd_train", "voc2012_val"]) == 1
    out = capsys.readouterr().out
    assert "545 ids in common, as published" in out
    assert "source: " in out
    ids = list_ids("voc2012_val")[:545] + list_ids("trainaug")[:5]
    (tmp_path / "train.txt").write_text("\n".join(ids))
    assert cli.main(["leaks", str(tmp_path / "train.txt"), "voc2012_val"]) == 1
    assert "545 ids in common: 2007_000033" in capsys.readouterr().out


def test_a_split_that_is_not_there_is_a_wrong_call(sample, capsys):
    assert cli.main(["leaks", f"{sample.data_dir}@trian", "trainaug"]) == 2
    assert "expected: test, train or validation, or a published list" in capsys.readouterr().err


def test_a_mistyped_list_is_answered_with_the_closest_one(tmp_path, capsys):
    assert cli.main(["leaks", "trainagu", "voc2012_val", "--data_dir", str(tmp_path)]) == 2
    said = capsys.readouterr().err
    assert "did you mean 'trainaug'?" in said
    assert "a .txt file, or one of the lists that leaks --help names" in said
