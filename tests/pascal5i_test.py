import collections
import hashlib

import pytest

from voc_seg_tfrecord import VOC_CLASSES
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.named_lists import list_ids
from voc_seg_tfrecord.splits import FOLD_COUNT, pascal5i


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


@pytest.mark.parametrize(("part", "shots"), [("evaluation", 1), ("evaluation", 5), ("train", 1)])
def test_an_episode_has_other_images_of_the_class_of_its_query(fold, part, shots):
    pairs = {*(fold.evaluation if part == "evaluation" else fold.train)}
    episodes = fold.episodes(shots, 400, seed=1, part=part)
    assert len(episodes) == 400
    for episode in episodes:
        images = {episode.query, *episode.support}
        assert len(images) == 1 + shots
        assert {(image_id, episode.label) for image_id in images} <= pairs


def test_each_pair_is_a_query_as_often_as_any_other():
    fold = pascal5i(0)
    episodes = fold.episodes(count=3 * len(fold.evaluation) - 1)
    queries = collections.Counter((episode.query, episode.label) for episode in episodes)
    assert {*queries} == {*fold.evaluation}
    assert sorted({*queries.values()}) == [2, 3]


def test_the_same_seed_gives_the_same_episodes_on_every_machine():
    fold = pascal5i(1)
    assert fold.episodes(5, 10, seed=3) == fold.episodes(5, 10, seed=3)
    assert fold.episodes(5, 10, seed=3) != fold.episodes(5, 10, seed=4)
    text = repr(fold.episodes(2, 50, seed=0))
    assert hashlib.sha256(text.encode()).hexdigest()[:16] == "8fa6a0a049a837d4"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"shots": 0}, "1 or more"),
        ({"count": 0}, "1 or more"),
        ({"part": "test"}, "train or evaluation"),
        ({"shots": 1000}, "but class"),
    ],
)
def test_episodes_that_cannot_be_drawn_are_refused(options, words):
    with pytest.raises(ConfigError, match=words):
        pascal5i(0).episodes(**options)
