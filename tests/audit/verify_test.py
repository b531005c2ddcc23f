import functools
import json
import shutil

from etils import epath
import numpy as np
from PIL import Image
import pytest
from support import doctoring
from support.building import build
from support.encoding import decoded, encoded
from support.paths import DUMMY_DATA

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.audit import verify
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, RecordError, SplitError
from voc_seg_tfrecord.core.named_lists import named_lists
from voc_seg_tfrecord.reading import dataset_files
from voc_seg_tfrecord.reading.dataset import open_built

TREE = DUMMY_DATA / "VOCdevkit" / "VOC2012"
FIRST = "2007_000001"  # the first record of train


@pytest.fixture
def doctored(sample, tmp_path):
    """A function that changes the records of a copy's train split."""
    return functools.partial(doctoring.doctored, sample, tmp_path)


def found(builder, source=TREE):
    originals = verify.find_originals(builder, source) if source else None
    return [str(fault) for fault in verify.verify(builder, originals).faults]


def test_a_dataset_equals_its_source(sample):
    assert found(sample) == found(sample, None) == []


@pytest.mark.parametrize(
    ("change", "faults"),
    [
        (
            doctoring.change_pixel,
            [
                f"train {FIRST}: segmentation_mask: 1 pixel differs from the source, first at "
                "row 0, column 0: 1, the source has 0"
            ],
        ),
        (
            doctoring.drop,
            [
                "train: 2 records, the dataset's info says 3",
                f"train {FIRST}: missing: the source lists it, no record has it",
            ],
        ),
        (
            doctoring.double,
            [
                "train: 4 records, the dataset's info says 3",
                f"train {FIRST}: duplicate: more than one record has this id",
            ],
        ),
    ],
)
def test_what_was_changed_is_named_with_its_place(doctored, change, faults):
    assert found(doctored(change)) == faults


def test_swapped_masks_are_named_at_both_records(doctored):
    faults = found(doctored(doctoring.swap_masks))
    assert {fault.split(":")[0] for fault in faults} == {
        "train 2007_000001",
        "train 2008_000002",
    }


def test_a_reencoded_jpeg_is_named(doctored):
    (fault,) = found(doctored(doctoring.reencode_image))
    assert fault.startswith(f"train {FIRST}: image: ")
    assert "bytes differ from the source's" in fault


def test_an_instance_mask_is_compared(doctored):
    def change(examples):
        one = doctoring.values(examples[1], "instance_mask")
        one[0] = doctoring.values(examples[1], "segmentation_mask")[0]
        return examples

    (fault,) = found(doctored(change))
    assert fault.startswith("train 2008_000002: instance_mask: ")
    assert "pixels differ from the source" in fault


def test_labels_and_sizes_that_contradict_the_record_are_found_without_its_source(doctored):
    def change(examples):
        examples[0].features.feature["image/height"].int64_list.value[0] = 7
        examples[1].features.feature["labels"].int64_list.value.append(20)
        return examples

    faults = found(doctored(change), None)
    assert faults == [
        f"train {FIRST}: image/height, image/width: (7, 64), the image has (48, 64)",
        "train 2008_000002: labels: (12, 15, 20), the mask has (12, 15)",
    ]


def test_a_palette_png_in_a_record_is_found(doctored):
    def change(examples):
        palette = (TREE / "SegmentationClass" / f"{FIRST}.png").read_bytes()
        doctoring.values(examples[0], "segmentation_mask")[0] = palette
        return examples

    (fault, *_) = found(doctored(change), None)
    assert "8-bit palette PNG" in fault


def test_the_same_pixels_compressed_in_another_way_are_equal(doctored):
    def change(examples):
        mask = doctoring.values(examples[0], "segmentation_mask")
        mask[0] = encoded(decoded(mask[0]), compress_level=0)
        return examples

    assert found(doctored(change)) == []


def test_a_record_that_the_source_does_not_list_is_named(sample, root):
    path = root / "ImageSets" / "Segmentation" / "train.txt"
    path.write_text(path.read_text().replace(f"{FIRST}\n", ""))
    assert found(sample, root) == [
        f"train {FIRST}: only in the dataset: this split of the source has no such example"
    ]


def test_a_damaged_shard_is_named_and_the_rest_still_verified(sample, tmp_path):
    folder = shutil.copytree(sample.data_dir, tmp_path / "1.0.0")
    copy = open_built(folder)
    (path,) = copy.info.splits["train"].filepaths
    data = bytearray(path.read_bytes())
    data[-200] ^= 1
    path.write_bytes(data)
    faults = found(copy)
    assert str(path) in "".join(faults)
    assert all(fault.startswith("train") for fault in faults)


def test_the_fingerprint_is_the_same_for_any_shards(sample, tmp_path):
    splits = {"train": "train", "validation": "val"}
    config = VocSegConfig(name="copy", instance_mask=True, objects=True, splits=splits)
    other = build(tmp_path, config, DUMMY_DATA, num_shards=2)
    assert len(other.info.splits["train"].filepaths) == 2
    report = verify.verify(other, verify.find_originals(other, TREE))
    assert report.faults == []
    one = verify.verify(sample).splits
    assert {s: report.splits[s].fingerprint for s in splits} == {
        s: one[s].fingerprint for s in splits
    }


def test_own_data_without_instances_and_with_png_images_is_verified(tmp_path):
    for folder in ("JPEGImages", "SegmentationClass", "ImageSets/Segmentation"):
        (tmp_path / "own" / folder).mkdir(parents=True)
    for name in ("a.1", "b 2"):
        image = np.random.default_rng(0).integers(0, 255, (20, 30, 3), np.uint8)
        Image.fromarray(image).save(tmp_path / "own/JPEGImages" / f"{name}.png")
        mask = Image.fromarray(np.eye(20, 30, dtype=np.uint8))
        mask.save(tmp_path / "own/SegmentationClass" / f"{name}.png")
    (tmp_path / "own/ImageSets/Segmentation/train.txt").write_text("a.1\nb 2\n")
    config = VocSegConfig(name="cracks", class_names=["background", "crack"])
    builder = build(tmp_path / "data", config, tmp_path / "own")
    report = verify.verify(builder, verify.find_originals(builder, tmp_path / "own"))
    assert report.faults == []
    assert report.splits["train"].fingerprint.examples == 2
    assert report.splits["train"].fingerprint.instances == ""


def test_a_source_that_lists_an_image_that_it_does_not_have_is_refused(sample, root):
    (root / "JPEGImages" / f"{FIRST}.jpg").unlink()
    with pytest.raises(SplitError, match=FIRST):
        found(sample, root)


def test_a_source_that_lists_a_further_image_that_it_does_not_have_is_refused(sample, root):
    path = root / "ImageSets" / "Segmentation" / "train.txt"
    path.write_text(f"{path.read_text()}new_1\n")
    with pytest.raises(SplitError, match="new_1"):
        found(sample, root)


def test_a_source_with_other_splits_is_refused(sample, root):
    (root / "ImageSets" / "Segmentation" / "test.txt").unlink()
    with pytest.raises(ConfigError, match=r"(?s)splits train, validation.*the dataset's splits"):
        verify.find_originals(sample, root)


@pytest.mark.parametrize("change", ["without height", "with another"])
def test_a_dataset_whose_features_are_not_those_of_its_source_is_refused(sample, tmp_path, change):
    folder = tmp_path / "data" / "voc_seg_tfrecord" / "sample" / "1.0.0"
    shutil.copytree(sample.data_path, folder)
    (folder / dataset_files.SUMS).unlink()
    description = json.loads((folder / "features.json").read_text())
    features = description["featuresDict"]["features"]
    if change == "without height":
        del features["image/height"]
    else:
        features["note"] = features["image/filename"]
    (folder / "features.json").write_text(json.dumps(description))
    with pytest.raises(RecordError, match="as a build of the source makes them"):
        verify.find_originals(open_built(str(folder)), TREE)


def test_the_command_prints_hashes_and_names_what_is_wrong(sample, doctored, capsys):
    assert cli.main(["verify", str(sample.data_dir), "--source", str(TREE)]) == 0
    right = capsys.readouterr().out
    assert right.startswith(
        "voc_seg_tfrecord/sample/1.0.0: no faults\n"
        "checked: sha256 of every file in the folder; sizes, labels and mask values of 6 examples\n"
        f"compared with the files in {TREE}: 6 of 6 examples\n"
    )
    report = verify.verify(sample)
    assert report.fingerprint in right
    assert report.splits["train"].fingerprint.masks in right
    wrong = doctored(doctoring.drop)
    assert cli.main(["verify", str(wrong.data_dir), "--source", str(TREE)]) == 1
    printed = capsys.readouterr().out
    assert f"train {FIRST}: missing" in printed
    assert f"compared with the files in {TREE}: 5 of 5 examples\n" in printed


def test_the_command_prints_json(sample, capsys):
    assert cli.main(["verify", str(sample.data_dir), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert report["faults"] == []
    assert report["splits"]["train"]["examples"] == 3
    assert report["checked"] == [
        "checked: sha256 of every file in the folder; sizes, labels and mask values of 6 examples",
        "not compared with the source; give --source ROOT to compare with its files",
    ]
    assert report["archives"] == []


def test_archives_that_were_verified_at_build_are_printed(sample, tmp_path, capsys):
    folder = shutil.copytree(sample.data_dir, tmp_path / "1.0.0")
    metadata = json.loads((folder / "metadata.json").read_text())
    metadata["archives"] = [{"filename": "a.tar", "sha256": "0" * 64}]
    (folder / "metadata.json").write_text(json.dumps(metadata))
    dataset_files.write_sums(epath.Path(folder))
    assert cli.main(["verify", str(folder)]) == 0
    assert f"archive verified at build: a.tar, sha256 {'0' * 64}\n" in capsys.readouterr().out
    assert cli.main(["verify", str(folder), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["archives"] == metadata["archives"]


def test_a_source_that_is_not_there_is_a_wrong_call(sample, capsys):
    assert cli.main(["verify", str(sample.data_dir), "--source", "/no/such/folder"]) == 2
    assert "--source" in capsys.readouterr().err


def test_an_official_config_without_its_source_is_held_against_the_pinned_facts(sample, tmp_path):
    folder = shutil.copytree(sample.data_dir, tmp_path / "voc_seg_tfrecord" / "2012" / "1.0.0")
    info = folder / "dataset_info.json"
    info.write_text(info.read_text().replace('"sample"', '"2012"'))
    dataset_files.write_sums(epath.Path(folder))
    faults = found(open_built("voc_seg_tfrecord/2012", tmp_path), None)
    sha256 = named_lists()["voc2012_train"].sha256
    assert "train: 3 examples, VOC2012 train has 1464" in faults
    assert any(f"pinned is {sha256}" in fault for fault in faults)
    assert any(
        fault.startswith("train: missing: 2007_000032, 2007_000039")
        and fault.endswith("and 1454 more, by the list voc2012_train")
        for fault in faults
    )
    assert any(
        fault.startswith("train: extra: 2007_000001, 2008_000002, 2009_000003, by")
        for fault in faults
    )


@pytest.mark.parametrize(
    ("config", "words"),
    [
        ({"name": "2012", "release": "2012"}, "neither the release's tree nor its archive"),
        ({}, "no config in its metadata"),
        (
            {"name": "own", "void": "ignored"},
            "(?s)option void: no such option.*build it again",
        ),
    ],
)
def test_a_source_is_not_downloaded_and_not_guessed(sample, tmp_path, config, words):
    folder = shutil.copytree(sample.data_dir, tmp_path / "1.0.0")
    metadata = json.loads((folder / "metadata.json").read_text())
    metadata["config"] = config
    (folder / "metadata.json").write_text(json.dumps(metadata))
    dataset_files.write_sums(epath.Path(folder))
    (tmp_path / "empty").mkdir()
    with pytest.raises(ConfigError, match=words):
        verify.find_originals(open_built(folder), tmp_path / "empty")
