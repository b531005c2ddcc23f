import hashlib

import pytest

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.core.pascal5i import FOLD_COUNT, pascal5i


@pytest.fixture(params=range(FOLD_COUNT))
def fold(request):
    return pascal5i(request.param)


def rows(part):
    table = releases.read_table(releases.FACTS / "pascal5i.tsv")
    return {int(row["fold"]): row for row in table if row["part"] == part}


def test_folds_have_the_published_classes():
    names = [[VOC_CLASSES[index] for index in pascal5i(n).classes] for n in range(4)]
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
    assert set(fold.train_ids) <= set(list_ids("trainaug"))
    assert set(fold.evaluation_ids) <= set(list_ids("voc2012_val"))


@pytest.mark.parametrize("number", [-1, 4])
def test_another_fold_is_refused(number):
    with pytest.raises(ConfigError, match="expected: 0 to 3"):
        pascal5i(number)
