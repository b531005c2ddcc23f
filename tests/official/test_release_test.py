"""`2012_test`: the images of the evaluation server, whose masks are not public."""

import numpy as np
import pytest
from support.building import build, examples, records
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig, pipeline, stats, verify
from voc_seg_tfrecord.errors import ConfigError, ListError
from voc_seg_tfrecord.facts import named_lists, official_splits
from voc_seg_tfrecord.facts.releases import RELEASES

PART = VocSegConfig(name="part", release="2012_test", strict=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    from support.paths import DUMMY_DATA

    return build(tmp_path_factory.mktemp("data"), PART, DUMMY_DATA)


def test_it_has_images_and_no_feature_that_would_have_to_be_made_up(built):
    assert set(built.info.features) == {"image", "image/filename", "image/height", "image/width"}
    assert list(built.info.splits) == ["test"]
    assert built.info.supervised_keys is None
    assert "config" in built.info.metadata


def test_images_are_the_files_own_bytes(built, root):
    (path,) = (root / "JPEGImages" / name for name in examples(built, "test"))
    (record,) = records(built, "test")
    assert path.read_bytes() in record
    (example,) = examples(built, "test").values()
    assert example["image"].shape[:2] == (example["image/height"], example["image/width"])


def test_no_mask_is_looked_for(root, devkit, tmp_path):
    for path in (root / "SegmentationClass").iterdir():
        path.unlink()
    builder = build(tmp_path / "data", PART, devkit)
    assert builder.info.splits["test"].num_examples == 1


def test_a_list_that_is_not_the_official_one_is_refused(devkit, tmp_path):
    with pytest.raises(ListError, match=r"(?s)1 ids.*test of VOC2012_test: 1456 ids"):
        build(tmp_path / "data", "2012_test", devkit)


def test_its_ids_are_pinned_and_it_needs_only_its_own_archive():
    pinned = official_splits.splits()["2012_test", "test"]
    named = named_lists.named()["voc2012_test"]
    assert (pinned.examples, pinned.ids_sha256) == (named.examples, named.sha256)
    assert RELEASES["2012_test"].splits == {"test": "test"}
    assert list(RELEASES["2012"].splits) == ["train", "validation"]


def test_whole_images_come_in_batches_with_their_ids(built):
    (batch,) = pipeline.evaluation_batches(built, "test", batch_size=4, multiple=32)
    assert set(batch) == {"id", "image", "image/filename", "image/height", "image/width"}
    (example,) = tfds.as_numpy(built.as_dataset(split="test"))
    height, width = example["image"].shape[:2]
    assert np.array_equal(batch["image"][0, :height, :width], example["image"])


@pytest.mark.parametrize("command", [verify.verify, stats.compute])
def test_what_needs_masks_says_that_there_are_none(built, command):
    with pytest.raises(ConfigError, match=r"no feature segmentation_mask[^$]*test have no masks"):
        command(built)
