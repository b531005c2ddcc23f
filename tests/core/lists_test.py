import hashlib

import pytest

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.core import lists, releases
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.id_lists import id_list_sha256

# Count and sha256 of each list, as gathered beside the lists themselves and independent of
# the package's own table.
PINNED = {
    "voc2012_train": (1464, "aa623bd2c8ce4443"),
    "voc2012_val": (1449, "cdc1326d12f69ce5"),
    "voc2012_trainval": (2913, "f8dae64f9e08d8b0"),
    "voc2012_test": (1456, "5e8fe0c14b2e6633"),
    "trainaug": (10582, "d1326bd532648d73"),
    "voc2007_train": (209, "15097d8325f04080"),
    "voc2007_val": (213, "43c8dad6258ececd"),
    "voc2007_trainval": (422, "3f95e8f6538ea097"),
    "voc2007_test": (210, "ab6b0335343d2c39"),
    "semi_92": (92, "325a965b6206ac6e"),
    "semi_183": (183, "3b208061a59a42b4"),
    "semi_366": (366, "ea8aa0b2ceedf56b"),
    "semi_732": (732, "81c3256e4a7fc4c3"),
    "semi_1_16": (662, "7dada8ccc5eb6309"),
    "semi_1_8": (1323, "df63f50a798512c3"),
    "semi_1_4": (2646, "62c450787069b36d"),
    "u2pl_1_16": (662, "0c6466b63b2f5206"),
    "u2pl_1_8": (1323, "2f24ef964761485f"),
    "u2pl_1_4": (2646, "3c653f4ff30f3c05"),
    "seg11valid": (736, "4ca991bd72c251fd"),
}


def ids(name):
    return set(lists.list_ids(name))


@pytest.mark.parametrize("name", PINNED)
def test_a_list_is_the_one_that_the_facts_pin(name):
    count, sha256 = PINNED[name]
    assert len(lists.list_ids(name)) == lists.named_lists()[name].examples == count
    assert id_list_sha256(ids(name)).startswith(sha256)


def test_every_list_can_be_read_and_is_ascending():
    for name, entry in lists.named_lists().items():
        assert list(lists.list_ids(name)) == sorted(ids(name))
        assert len(ids(name)) == entry.examples
        assert id_list_sha256(ids(name)) == entry.sha256
        assert entry.source


def test_trainaug_has_all_of_train_and_nothing_of_val():
    assert ids("voc2012_train") < ids("trainaug")
    assert not ids("voc2012_val") & ids("trainaug")


@pytest.mark.parametrize("name", [n for n in PINNED if n.startswith(("semi", "u2pl"))])
def test_labelled_parts_are_parts_of_trainaug(name):
    assert ids(name) < ids("trainaug")


def test_all_images_of_2007_are_in_2012_under_other_names():
    of_2007 = ids("voc2007_trainval_in_2012") | ids("voc2007_test_in_2012")
    assert len(of_2007) == 632
    assert of_2007 < ids("voc2012_trainval")


def test_an_unknown_list_is_answered_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"no such list; did you mean .*\n.*semi_1_16"):
        lists.list_ids("semi_1_3")


def test_a_list_is_found_by_its_hash():
    assert lists.identify(lists.named_lists()["semi_92"].sha256) == "semi_92"
    assert lists.identify("0" * 64) == ""


@pytest.fixture(params=range(lists.FOLDS))
def fold(request):
    return lists.pascal5i(request.param)


def rows(part):
    table = releases.read_table(releases.FACTS / "pascal5i.tsv")
    return {int(row["fold"]): row for row in table if row["part"] == part}


def test_folds_have_the_published_classes():
    names = [[VOC_CLASSES[index] for index in lists.pascal5i(n).classes] for n in range(4)]
    assert names == [
        ["aeroplane", "bicycle", "bird", "boat", "bottle"],
        ["bus", "car", "cat", "chair", "cow"],
        ["diningtable", "dog", "horse", "motorbike", "person"],
        ["pottedplant", "sheep", "sofa", "train", "tvmonitor"],
    ]


def test_a_fold_evaluates_its_own_classes_and_trains_all_others(fold):
    assert {index for _, index in fold.evaluation} == set(fold.classes)
    assert {index for _, index in fold.train} == set(range(1, 21)) - set(fold.classes)


def test_pairs_and_images_are_as_many_as_the_table_says(fold):
    of_train, of_evaluation = rows("train"), rows("evaluation")
    assert len(fold.evaluation) == len(set(fold.evaluation))
    assert len(fold.evaluation) == int(of_evaluation[fold.number]["pairs"])
    assert len(fold.evaluation_ids) == int(of_evaluation[fold.number]["images"])
    others = [int(row["pairs"]) for n, row in of_train.items() if n != fold.number]
    assert len(fold.train) == sum(others)


@pytest.mark.parametrize("part", ["train", "evaluation"])
def test_the_pairs_of_a_fold_are_those_that_the_table_pins(part):
    for number, row in rows(part).items():
        path = releases.FACTS / "pascal5i" / f"{part}_{number}.txt"
        assert hashlib.sha256(path.read_bytes()).hexdigest() == row["sha256"]


def test_training_images_are_of_trainaug_and_evaluated_ones_of_val(fold):
    assert set(fold.train_ids) <= set(lists.list_ids("trainaug"))
    assert set(fold.evaluation_ids) <= set(lists.list_ids("voc2012_val"))


@pytest.mark.parametrize("number", [-1, 4])
def test_another_fold_is_refused(number):
    with pytest.raises(ConfigError, match="expected: 0 to 3"):
        lists.pascal5i(number)
