"""`2012_test`: the images of the evaluation server, whose masks are not public."""

import shutil

import numpy as np
import pytest
from support import doctoring
from support.building import build, examples, records
from support.paths import DUMMY_DATA
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig, pipeline, stats
from voc_seg_tfrecord.audit import fingerprint, pinned_facts, verify
from voc_seg_tfrecord.audit.fingerprint import Digests
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ConfigError, ListError, VocSegError
from voc_seg_tfrecord.core.named_lists import list_ids, named_lists
from voc_seg_tfrecord.core.releases import RELEASES
from voc_seg_tfrecord.reading.dataset import open_built

PART = VocSegConfig(name="part", release="2012_test", strict=False)


@pytest.fixture(scope="module")
def built(tmp_path_factory):
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
    with pytest.raises(ListError, match=r"(?s)1 id,.*test of VOC2012_test: 1456 ids"):
        build(tmp_path / "data", "2012_test", devkit)


def test_a_tree_without_its_list_is_refused_though_it_has_one_of_train(root, devkit, tmp_path):
    lists = root / "ImageSets" / "Segmentation"
    (lists / "test.txt").rename(lists / "train.txt")
    with pytest.raises(VocSegError, match="test"):
        build(tmp_path / "data", PART, devkit)


def test_its_ids_are_pinned_and_it_needs_only_its_own_archive():
    pinned = releases.official_splits()["2012_test", "test"]
    named = named_lists()["voc2012_test"]
    assert (pinned.counts[0], pinned.ids_sha256) == (named.examples, named.sha256)
    assert RELEASES["2012_test"].list_by_split == {"test": "test"}
    assert list(RELEASES["2012"].list_by_split) == ["train", "validation"]


@pytest.mark.slow
def test_whole_images_come_in_batches_with_their_ids(built):
    (batch,) = pipeline.evaluation_batches(built, "test", batch_size=4, multiple=32)
    assert set(batch) == {"id", "image", "image/filename", "image/height", "image/width"}
    (example,) = tfds.as_numpy(built.as_dataset(split="test"))
    height, width = example["image"].shape[:2]
    assert np.array_equal(batch["image"][0, :height, :width], example["image"])


def test_what_needs_masks_says_that_there_are_none(built):
    with pytest.raises(
        ConfigError, match=r"no feature segmentation_mask[^$]*test images have no masks"
    ):
        stats.compute(built)


def test_verify_checks_sizes_and_says_of_a_part_that_its_ids_are_not_compared(built, capsys):
    assert cli.main(["verify", str(built.data_dir)]) == 0
    printed = capsys.readouterr().out
    assert "masks" not in printed
    assert (
        "/1.0.0: no faults\n"
        "checked: sha256 of every file in the folder; image sizes of 1 example\n"
        "test: a part of VOC2012_test, or another list of it: ids not compared, because only "
        "complete official splits have published facts\n"
        "not compared with the source; give --source ROOT to compare with its files\n"
        "sha256 of its contents, to compare builds:\n"
    ) in printed
    assert cli.main(["verify", str(built.data_dir), "--source", str(DUMMY_DATA)]) == 0


def test_verify_finds_a_wrong_size(built, tmp_path):
    def shrink(examples):
        examples[0].features.feature["image/height"].int64_list.value[0] -= 1
        return examples

    folder = shutil.copytree(built.data_dir, tmp_path / "1.0.0")
    doctoring.rewrite(open_built(folder), "test", shrink)
    (fault,) = verify.verify(open_built(folder)).faults
    assert "image/height, image/width" in fault.found


def test_verify_checks_the_ids_by_the_official_list_of_the_test():
    claim = pinned_facts.Claim("2012_test", complete=True, voc_classes=False, masks=False)
    digests = dict.fromkeys(list_ids("voc2012_test"), Digests(b"i", b""))

    def compare():
        total = fingerprint.of_split(digests)
        assert total.masks == ""
        return pinned_facts.compare_with_pinned(claim, "test", total, digests)

    assert compare().faults == ()
    assert compare().checked == (
        "ids agree with the published facts of VOC2012_test test; "
        "images not checked (no public hash)"
    )
    image_id, digest = digests.popitem()
    digests["2012_999999"] = digest
    faults = " ".join(compare().faults)
    assert f"missing: {image_id}, by the list voc2012_test" in faults
    assert "extra: 2012_999999" in faults
    del digests["2012_999999"]
    assert "1455 examples, VOC2012_test test has 1456" in compare().faults


def test_images_alone_that_hold_an_official_list_are_not_asked_for_its_masks():
    claim = pinned_facts.Claim("", complete=False, voc_classes=False, masks=False)
    digests = dict.fromkeys(list_ids("voc2012_val"), Digests(b"i", b""))
    found = pinned_facts.compare_with_pinned(claim, "x", fingerprint.of_split(digests), digests)
    assert found.faults == ()
    assert found.checked == "holds the ids of VOC2012 validation, and no masks"
