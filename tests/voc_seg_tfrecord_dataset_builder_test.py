import dataclasses
import functools
import hashlib
import io
import json
import os
import pathlib
import types

import numpy as np
from PIL import Image
import pytest
from support.building import build, examples, tfds_build, version_folders
from support.encoding import decode_mask
from support.paths import DUMMY_DATA
from support.png_writer import write_png
from support.python import run_python
import tensorflow_datasets as tfds

import voc_seg_tfrecord
from voc_seg_tfrecord import VOC_CLASSES, VOID, VocSegConfig, voc_palette
from voc_seg_tfrecord._tfds import PaddedWithBackground, warn_of_padding
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOC_POSES

ROOT = DUMMY_DATA / "VOCdevkit" / "VOC2012"
SPLITS = {
    "train": ["2007_000001", "2008_000002", "2009_000003"],
    "validation": ["2010_000004", "2011_000005"],
    "test": ["2012_000006"],
}


class SampleTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = voc_seg_tfrecord.Builder
    EXAMPLE_DIR = DUMMY_DATA
    BUILDER_CONFIG_NAMES_TO_TEST = ["sample"]  # noqa: RUF012
    SPLITS = {"train": 3, "validation": 2, "test": 1}  # noqa: RUF012


@pytest.mark.slow
class OwnTreeTest(tfds.testing.DatasetBuilderTestCase):
    DATASET_CLASS = voc_seg_tfrecord.Builder
    EXAMPLE_DIR = DUMMY_DATA
    BUILDER_CONFIG_NAMES_TO_TEST = [VocSegConfig(name="own", class_names=VOC_CLASSES)]  # noqa: RUF012
    SPLITS = {"train": 3, "validation": 2, "test": 1}  # noqa: RUF012


def pillow(folder, image_id):
    return np.asarray(Image.open(ROOT / folder / f"{image_id}.png"))


def assert_equals_source(example, image_id):
    mask = pillow("SegmentationClass", image_id)
    assert (example["segmentation_mask"] == mask[..., None]).all()
    assert example["segmentation_mask"].dtype == np.uint8
    assert list(example["labels"]) == sorted(set(np.unique(mask)) - {0, VOID})
    assert (example["image/height"], example["image/width"]) == mask.shape
    assert example["image"].shape == (*mask.shape, 3)
    assert (example["instance_mask"] == pillow("SegmentationObject", image_id)[..., None]).all()


@pytest.mark.parametrize("split", SPLITS)
def test_every_record_equals_its_source_and_its_jpeg_is_the_file(sample, split):
    found = examples(sample, split)
    raw = examples(sample, split, decoders={"image": tfds.decode.SkipDecoding()})
    assert sorted(found) == sorted(raw) == [f"{i}.jpg" for i in SPLITS[split]]
    for image_id in SPLITS[split]:
        name = f"{image_id}.jpg"
        assert_equals_source(found[name], image_id)
        assert raw[name]["image"] == (ROOT / "JPEGImages" / name).read_bytes()


def test_objects_have_the_fields_of_tfds_voc(sample):
    found = examples(sample, "train")["2008_000002.jpg"]["objects"]
    assert [VOC_CLASSES[label] for label in found["label"]] == ["person", "dog"]
    assert [VOC_POSES[pose] for pose in found["pose"]] == ["frontal", "right"]
    assert found["bbox"][0] == pytest.approx([10 / 60, 12 / 40, 50 / 60, 28 / 40])
    assert list(found["is_difficult"]) == [False, False]
    assert list(found["is_truncated"]) == [False, False]
    (_, bottle) = examples(sample, "validation")["2011_000005.jpg"]["objects"]["is_difficult"]
    assert bottle


def test_masks_are_stored_as_gray_png_with_the_sources_pixel_stream(sample):
    raw = examples(sample, "train", decoders={"segmentation_mask": tfds.decode.SkipDecoding()})
    for name, example in raw.items():
        source = (ROOT / "SegmentationClass" / name).with_suffix(".png").read_bytes()
        stored = example["segmentation_mask"]
        assert Image.open(io.BytesIO(stored)).mode == "L"
        assert stored[33:] == source[source.index(b"IDAT") - 4 :]


class NaiveBuilder(tfds.core.GeneratorBasedBuilder, skip_registration=True):
    """What one writes first: the palette PNG's path into LabeledImage."""

    name = "naive"
    VERSION = tfds.core.Version("1.0.0")

    def _info(self):
        mask = tfds.features.LabeledImage(labels=list(VOC_CLASSES), shape=(None, None, 1))
        return self.dataset_info_from_configs(features=tfds.features.FeaturesDict({"mask": mask}))

    @classmethod
    def get_metadata(cls):
        return tfds.core.dataset_metadata.DatasetMetadata("", "", [])

    def _split_generators(self, dl_manager):
        return {"train": self._generate_examples(dl_manager.download_dir / "mask.png")}

    def _generate_examples(self, path):
        yield 0, {"mask": path}


def test_the_palette_trap_ruins_the_mask_of_a_naive_builder(tmp_path):
    indices = np.array([[0, 1, 2, 17, 255]], np.uint8)
    (tmp_path / "mask.png").write_bytes(write_png(indices, palette=voc_palette()))
    naive = NaiveBuilder(data_dir=tmp_path / "data")
    naive.download_and_prepare(download_dir=tmp_path)
    (example,) = naive.as_dataset(split="train").as_numpy_iterator()
    assert list(example["mask"].ravel()) == [0, 38, 75, 75, 220]  # bicycle is sheep
    ours = decode_mask(File.read(tmp_path / "mask.png"))
    assert list(ours.ravel()) == [0, 1, 2, 17, 255]


def test_the_info_tells_ignore_label_names_and_palette(sample):
    assert sample.info.metadata["ignore_label"] == 255
    assert tuple(sample.info.metadata["class_names"]) == VOC_CLASSES
    assert sample.info.metadata["palette"][15] == [192, 128, 128]
    assert sample.info.supervised_keys == ("image", "segmentation_mask")
    assert tuple(sample.info.features["segmentation_mask"].names) == VOC_CLASSES
    assert tuple(sample.info.features["labels"].feature.names) == VOC_CLASSES


@pytest.mark.parametrize("year", ["2007", "2012"])
def test_each_release_has_its_own_citation_and_homepage(tmp_path, year):
    info = voc_seg_tfrecord.Builder(data_dir=tmp_path, config=year).info
    assert info.citation.startswith(f"@misc{{pascal-voc-{year},")
    assert info.homepage.endswith(f"voc{year}/")
    assert "Pascal VOC layout" in info.description


@pytest.mark.slow  # a process of its own, which imports TensorFlow
def test_a_built_dataset_loads_without_the_package(sample):
    code = (
        "import sys, tensorflow_datasets as tfds\n"
        f"ds, info = tfds.load('voc_seg_tfrecord/sample', data_dir={str(sample.data_dir_root)!r},"
        " split='train+validation', with_info=True)\n"
        "print(len(ds), info.metadata['ignore_label'], info.features['labels'].feature.names[1])\n"
        "print(sorted(next(iter(ds))))\n"
        "print([m for m in sys.modules if m.startswith('voc_seg_tfrecord.')])\n"
    )
    count, names, modules = run_python("-c", code, cwd="/").splitlines()
    assert count == "5 255 aeroplane"
    assert names == str(sorted(sample.info.features))
    assert modules == "[]"


def shard_hashes(folder):
    return {
        p.name: hashlib.sha256(p.read_bytes()).hexdigest()
        for p in pathlib.Path(folder).iterdir()
        if "tfrecord-" in p.name
    }


@pytest.mark.slow
def test_two_processes_write_the_same_bytes(sample, tmp_path):
    seed = "1" if os.environ.get("PYTHONHASHSEED") != "1" else "2"  # not that of this process
    words = ("voc_seg_tfrecord", "build", "--release=sample", f"--data_dir={tmp_path}")
    run_python("-m", *words, PYTHONHASHSEED=seed)
    folder = tmp_path / "voc_seg_tfrecord" / "sample" / "1.0.0"
    assert shard_hashes(folder) == shard_hashes(sample.data_dir)
    for name in ("features.json", "dataset_info.json", "metadata.json"):
        assert (folder / name).read_bytes() == (sample.data_path / name).read_bytes()


def test_what_tfds_prints_names_the_place_of_the_dataset(tmp_path, capsys):
    folder = build(tmp_path, "sample").data_dir
    lines = [line for line in capsys.readouterr().out.splitlines() if "prepar" in line]
    assert len(lines) == 2
    assert all(f" to {folder}." in line for line in lines)


def test_an_official_config_refuses_a_tree_with_other_lists(devkit, tmp_path):
    with pytest.raises(voc_seg_tfrecord.VocSegError, match=r"(?s)train\.txt: 3 ids.*1464 ids"):
        build(tmp_path / "data", "2012", devkit)
    assert version_folders(tmp_path / "data") == []


def test_the_lists_of_another_year_are_named(devkit, tmp_path, monkeypatch):
    pinned = releases
    ours = pinned.id_list_sha256(SPLITS["train"])
    table = dict(pinned.official_splits())
    table["2007", "train"] = dataclasses.replace(
        table["2007", "train"], counts=(3,), ids_sha256=ours
    )
    monkeypatch.setattr(pinned, "official_splits", lambda: table)
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="This is the list train of VOC2007"):
        build(tmp_path / "data", "2012", devkit)


def paint(path, value):
    values = np.array(Image.open(path))
    values[5, 5:7] = value
    mask = Image.fromarray(values)
    mask.save(path)


LIST, IMAGE = "ImageSets/Segmentation/train.txt", "JPEGImages/2007_000001.jpg"
MASK = "SegmentationClass/2007_000001.png"


def ids(text):
    return lambda root: (root / LIST).write_text(text)


def gone(name):
    return lambda root: (root / name).unlink()


def cut(name, end):
    return lambda root: (root / name).write_bytes((root / name).read_bytes()[:end])


def drawn(mode, *size):
    return lambda root: Image.new(mode, size).save(root / MASK)


BAD_TREES = {
    "no list": (gone(LIST), "no such list"),
    "id twice": (
        ids("2007_000001\n" * 2),
        r"train\.txt: 1 id more than once: '2007_000001' in lines 1, 2",
    ),
    "id leaves the tree": (ids("../../x\n"), r"train\.txt, line 1: .* leaves the tree"),
    "no image": (gone(IMAGE), "JPEGImages/2007_000001: no such file"),
    "no mask": (gone(MASK), "SegmentationClass/2007_000001: no such file"),
    "sizes differ": (drawn("L", 64, 47), r"2007_000001\.png: mask of 64 x 47 pixels"),
    "value 21": (lambda r: paint(r / MASK, 21), r"2007_000001\.png: value 21 on 2 pixels"),
    "JPEG truncated": (cut(IMAGE, -40), r"2007_000001\.jpg: JPEG truncated"),
    "PNG truncated": (cut(MASK, -40), r"2007_000001\.png: PNG truncated"),
    "zero bytes of mask": (cut(MASK, 0), r"2007_000001\.png: not a PNG, but an empty file"),
}


@pytest.mark.parametrize("kind", BAD_TREES)
def test_a_bad_tree_gives_one_clear_error_and_leaves_nothing(kind, devkit, root, tmp_path):
    spoil, words = BAD_TREES[kind]
    spoil(root)
    splits = {"train": "train", "validation": "val"}
    config = VocSegConfig(name="bad", release="2012", strict=False, splits=splits)
    with pytest.raises(voc_seg_tfrecord.VocSegError, match=words) as caught:
        build(tmp_path / "data", config, devkit)
    assert "expected: " in str(caught.value)
    assert "what to do: " in str(caught.value)
    assert version_folders(tmp_path / "data") == []


def test_all_problems_of_a_split_are_gathered(devkit, root, tmp_path):
    for image_id in SPLITS["train"]:
        paint(root / "SegmentationClass" / f"{image_id}.png", 99)
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="3 of 3 examples"):
        build(tmp_path / "data", VocSegConfig(name="bad", class_names=VOC_CLASSES), devkit)


def test_tfds_build_keeps_the_dataset_that_it_overwrites_until_the_new_one_is_complete(
    devkit, root, tmp_path
):
    config = json.dumps({"name": "mine", "class_names": VOC_CLASSES})
    words = ["--config", config, "--manual_dir", devkit, "--data_dir", tmp_path]
    tfds_build(*words)
    folder = tmp_path / "voc_seg_tfrecord/mine/1.0.0"
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    image = root / "JPEGImages" / "2008_000002.jpg"
    whole = image.read_bytes()
    image.write_bytes(whole[:500])
    with pytest.raises(VocSegError, match="2008_000002"):
        tfds_build(*words, "--overwrite")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
    image.write_bytes(whole)
    lines = (root / "ImageSets/Segmentation/train.txt").read_text().splitlines(keepends=True)
    (root / "ImageSets/Segmentation/train.txt").write_text("".join(lines[1:]))
    tfds_build(*words, "--overwrite")
    assert tfds.builder_from_directory(folder).info.splits["train"].num_examples == len(lines) - 1


def test_a_manual_dir_that_is_not_there_is_named(tmp_path):
    with pytest.raises(voc_seg_tfrecord.VocSegError, match="no such folder"):
        build(tmp_path / "data", VocSegConfig(name="x"), tmp_path / "nowhere")


@pytest.mark.parametrize("form", ["array_record", "parquet", tfds.core.FileFormat.RIEGELI])
def test_no_file_format_but_tfrecord_is_built_or_read_and_the_error_says_what_does_it(
    form, sample, tmp_path
):
    make = functools.partial(voc_seg_tfrecord.Builder, data_dir=tmp_path, config="sample")
    for call in (
        lambda: make(file_format=form),
        lambda: make().download_and_prepare(file_format=form),
        lambda: tfds_build(
            *("--config", "sample", "--data_dir", tmp_path),
            *("--file_format", getattr(form, "value", form)),
        ),
        lambda: sample.as_data_source(split="train"),
    ):
        with pytest.raises(ConfigError, match=r"(?s)expected: tfrecord.*data_source.*export"):
            call()
    assert not any(tmp_path.rglob("*.json"))
    make(file_format="tfrecord").download_and_prepare(file_format="tfrecord")


def test_tfds_data_source_by_name_says_what_reads_the_dataset(sample, monkeypatch):
    folder = pathlib.Path(sample.data_path).parents[2]
    monkeypatch.setattr(tfds.core.constants, "DATA_DIR", str(folder))
    with pytest.raises(ConfigError, match=r"voc_seg_tfrecord\.data_source"):
        tfds.data_source("voc_seg_tfrecord/sample", split="train")


@pytest.mark.parametrize("batch_size", [2, -1])
def test_tfds_own_batches_are_warned_of_as_they_pad_with_background(sample, batch_size):
    with pytest.warns(
        PaddedWithBackground,
        match="0, which is background.*padded_batch",
    ):
        read = sample.as_dataset(split="train", batch_size=batch_size)
    mask = (read if batch_size == -1 else next(iter(read)))["segmentation_mask"]
    assert (mask.numpy()[0, -1, -1] == 0).all()  # what the warning says


def test_batches_of_one_example_and_of_tiles_are_not_padded_and_not_warned_of(sample):
    for batch in sample.as_dataset(split="train", batch_size=1):
        assert batch["segmentation_mask"].shape[0] == 1
    tiled = VocSegConfig(name="tiled", class_names=["background", "a"], tile=32)
    warn_of_padding(tiled, 8)


def test_what_tfds_would_shuffle_ends_with_the_error_of_an_item(tmp_path):
    builder = voc_seg_tfrecord.Builder(data_dir=tmp_path, config="sample")

    def read():
        raise VocSegError("a.jpg", found="nothing", expected="an image")

    with pytest.raises(VocSegError, match=r"a\.jpg: nothing"):
        list(builder._generate_examples([types.SimpleNamespace(id="a", read=read)], None))
