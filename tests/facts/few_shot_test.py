import shutil

import pytest

from voc_seg_tfrecord import VOC_CLASSES, splits
from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.facts import few_shot, named_lists, tables


@pytest.fixture(params=range(few_shot.FOLDS))
def fold(request):
    return splits.pascal5i(request.param)


def rows(part):
    table = tables.read(tables.folder("facts") / "pascal5i.tsv")
    return {int(row["fold"]): row for row in table if row["part"] == part}


def test_folds_have_the_published_classes():
    names = [[VOC_CLASSES[index] for index in splits.pascal5i(n).classes] for n in range(4)]
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


def test_training_images_are_of_trainaug_and_evaluated_ones_of_val(fold):
    assert set(fold.train_ids) <= set(named_lists.ids("trainaug"))
    assert set(fold.evaluation_ids) <= set(named_lists.ids("voc2012_val"))


@pytest.mark.parametrize("number", [-1, 4])
def test_another_fold_is_refused(number):
    with pytest.raises(ConfigError, match="expected: 0 to 3"):
        splits.pascal5i(number)


def test_a_copy_that_was_changed_is_refused(tmp_path, monkeypatch):
    shutil.copytree(tables.folder("facts"), tmp_path / "facts")
    path = tmp_path / "facts" / "pascal5i" / "train_0.txt"
    path.write_text(path.read_text().replace("2007_000032", "2007_000033"))
    monkeypatch.setattr(tables, "folder", lambda _: tmp_path / "facts")
    few_shot.pascal5i.cache_clear()
    with pytest.raises(ListError, match=r"train_0\.txt: sha256"):
        few_shot.pascal5i(1)
