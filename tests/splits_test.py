import pytest
from support.building import examples

from voc_seg_tfrecord import data_source, splits
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.named_lists import list_ids

WANTED = ("2007_000001", "2009_000003")


@pytest.fixture(scope="module")
def source(sample):
    """The sample's train split with random access."""
    return data_source(str(sample.data_path), "train")


def names(dataset):
    found = dataset.as_numpy_iterator() if hasattr(dataset, "as_numpy_iterator") else dataset
    return [example["image/filename"].decode().removesuffix(".jpg") for example in found]


@pytest.mark.slow
def test_only_the_listed_examples_of_a_dataset_or_a_data_source_are_kept(sample, source):
    dataset = sample.as_dataset(split="train")
    assert names(splits.only(dataset, WANTED)) == list(WANTED)
    part = splits.only(source, WANTED)
    assert len(part) == 2
    assert sorted(names(part)) == list(WANTED)
    assert [e["image/filename"] for e in part.__getitems__([1, 0])] == [
        part[1]["image/filename"],
        part[0]["image/filename"],
    ]


@pytest.mark.slow
def test_a_list_that_the_data_does_not_hold_is_refused_with_how_much_of_it_is_missing(
    sample, source
):
    wanted = ["2007_000001", "2012_000006", "b", "c", "d"]
    missing = r"4 of 5 ids missing: 2012_000006, b, c and 1 more"
    dataset = sample.as_dataset(split="train")
    for call in (
        lambda: splits.only(source, wanted),
        lambda: splits.only(dataset, wanted),
        lambda: splits.labeled_unlabeled(dataset, wanted),
        lambda: splits.load(sample, "train", wanted),
    ):
        with pytest.raises(ConfigError, match=missing + r"[^$]*partial=True to use the 1 that"):
            call()


@pytest.mark.slow
def test_a_part_of_a_list_is_taken_if_that_is_asked_for(sample, source):
    wanted = ["2007_000001", "2012_000006"]
    dataset = sample.as_dataset(split="train")
    for part in (
        splits.only(source, wanted, partial=True),
        splits.only(dataset, wanted, partial=True),
        splits.labeled_unlabeled(dataset, wanted, partial=True)[0],
        splits.load(sample, "train", wanted, partial=True),
    ):
        assert names(part) == ["2007_000001"]


@pytest.mark.slow
def test_the_unlabeled_part_is_the_rest_and_shows_no_label(sample, source):
    for dataset in (sample.as_dataset(split="train"), source):
        labeled, unlabeled = splits.labeled_unlabeled(dataset, WANTED)
        assert sorted(names(labeled)) == list(WANTED)
        assert names(unlabeled) == ["2008_000002"]
        assert set(next(iter(labeled))) >= {"segmentation_mask", "labels"}
        image = {"image", "image/filename", "image/height", "image/width"}
        assert set(next(iter(unlabeled))) == image


@pytest.mark.slow
def test_loading_a_list_decodes_the_same_examples(sample):
    found = splits.load(sample, "train", WANTED)
    everything = examples(sample, "train")
    assert names(found) == list(WANTED)
    for example in found.as_numpy_iterator():
        whole = everything[example["image/filename"].decode()]
        assert set(example) == set(whole)
        assert (example["image"] == whole["image"]).all()
        assert (example["segmentation_mask"] == whole["segmentation_mask"]).all()
    shapes = {name: spec.shape.as_list() for name, spec in list(found.element_spec.items())[:1]}
    assert shapes == {"image": [None, None, 3]}


@pytest.mark.slow
def test_what_cannot_be_filtered_and_what_is_no_list_is_refused(sample):
    dataset = sample.as_dataset(split="train")
    pairs = sample.as_dataset(split="train", as_supervised=True)
    for call, message in (
        (lambda: splits.load(sample, "train", []), "expected: at least one image id"),
        (
            lambda: splits.load(sample, "train", "semi_92"),
            "92 of 92 ids missing: ",
        ),
        (lambda: splits.only(dataset, "semi_93"), "list 'semi_93': no such list"),
        (lambda: splits.only(dataset.repeat(), WANTED), "before you repeat it"),
        (lambda: splits.only(pairs, WANTED), "without as_supervised"),
    ):
        with pytest.raises(ConfigError, match=message):
            call()


def test_val_without_sbd_train_needs_sbds_list(tmp_path):
    shared = list_ids("voc2012_val")[:545]
    (tmp_path / "train.txt").write_text("\n".join((*shared, *list_ids("trainaug"))))
    found = splits.val_outside_sbd_train(tmp_path)
    assert len(found) == 904
    assert found == splits.val_outside_sbd_train(tmp_path / "train.txt")
    assert found == list_ids("voc2012_val")[545:]
