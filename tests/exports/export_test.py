import json
import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import every_source, handwritten
from support.building import build, examples
from support.paths import DUMMY_DATA
import tensorflow as tf

from voc_seg_tfrecord import VOC_CLASSES, VocSegConfig, VocSegError, voc_palette
from voc_seg_tfrecord.build_from.run import build_source
from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.example import Source
from voc_seg_tfrecord.core.mask_rule import index_rule
from voc_seg_tfrecord.exports.export import BASE_LAYOUTS, export
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.sources.arrays import ArrayItem
from voc_seg_tfrecord.writing import examples as writing_examples

ROOT = DUMMY_DATA / "VOCdevkit" / "VOC2012"
RAW = ("image_raw", "label_raw", "name"), ("height", "width")
DEEPLAB = (
    ("image/encoded", "image/filename", "image/format", "image/segmentation/class/encoded"),
    ("image/height", "image/width", "image/channels"),
)


def parse(record, texts, numbers):
    """Parses scalar features as hand-written readers do; fails if one is not there."""
    kinds = dict.fromkeys(texts, tf.string) | dict.fromkeys(numbers, tf.int64)
    keys = {name: tf.io.FixedLenFeature([], kind) for name, kind in kinds.items()}
    return tf.io.parse_single_example(record, keys)


def test_a_tree_goes_round_with_bytes_and_pixels_equal(sample, tmp_path):
    assert export(sample, tmp_path / "tree", layout="voc") == []
    for path in (ROOT / "JPEGImages").iterdir():
        assert (tmp_path / "tree" / "JPEGImages" / path.name).read_bytes() == path.read_bytes()
    for folder in ("SegmentationClass", "SegmentationObject"):
        for path in (ROOT / folder).iterdir():
            again = Image.open(tmp_path / "tree" / folder / path.name)
            assert again.mode == "P"
            assert again.getpalette() == voc_palette().ravel().tolist()
            assert (np.asarray(again) == np.asarray(Image.open(path))).all()
    for path in (ROOT / "ImageSets" / "Segmentation").iterdir():
        lists = tmp_path / "tree" / "ImageSets" / "Segmentation"
        assert (lists / path.name).read_text() == path.read_text()
    again = builder_from_tree(tmp_path / "tree", name="again", data_dir=tmp_path / "data")
    own = build(tmp_path / "own", VocSegConfig(name="again"), ROOT)
    for split in ("train", "validation", "test"):
        first, second = examples(own, split), examples(again, split)
        assert first.keys() == second.keys()
        for name in first:
            assert (first[name]["image"] == second[name]["image"]).all()
            assert (first[name]["segmentation_mask"] == second[name]["segmentation_mask"]).all()


def test_raw_records_are_read_the_tutorials_way(sample, tmp_path):
    export(sample, tmp_path / "raw", layout="raw", num_shards=2)
    files = sorted(str(path) for path in (tmp_path / "raw").glob("train-*"))
    assert [path.rpartition("train-")[2] for path in files] == [
        "00000-of-00002.tfrecord",
        "00001-of-00002.tfrecord",
    ]
    source = examples(sample, "train")
    equal = []
    for record in tf.data.TFRecordDataset(files):
        parsed = parse(record, *RAW)
        shape = (parsed["height"], parsed["width"])
        image = tf.reshape(tf.io.decode_raw(parsed["image_raw"], tf.uint8), (*shape, 3))
        mask = tf.reshape(tf.io.decode_raw(parsed["label_raw"], tf.uint8), shape)
        original = source[parsed["name"].numpy().decode()]
        equal.append(np.array_equal(image, original["image"]))
        equal.append(np.allclose(mask, original["segmentation_mask"][..., 0]))
    assert equal == [True] * 6


def test_deeplab_records_hold_the_images_own_bytes(sample, tmp_path):
    export(sample, tmp_path / "deeplab", layout="deeplab")
    records = tf.data.TFRecordDataset(str(tmp_path / "deeplab/validation-00000-of-00001.tfrecord"))
    for record in records:
        parsed = parse(record, *DEEPLAB)
        name = parsed["image/filename"].numpy().decode()
        assert parsed["image/encoded"].numpy() == (ROOT / "JPEGImages" / name).read_bytes()
        mask = tf.io.decode_png(parsed["image/segmentation/class/encoded"], channels=1)
        path = (ROOT / "SegmentationClass" / name).with_suffix(".png")
        assert (mask[..., 0].numpy() == np.asarray(Image.open(path))).all()


@pytest.mark.parametrize("layout", ["raw", "deeplab"])
def test_an_export_imported_again_has_the_same_pixels(sample, tmp_path, layout):
    export(sample, tmp_path / "out", layout=layout)
    names = sample.info.features["segmentation_mask"].names
    again = import_records(
        [tmp_path / "out"], name="again", class_names=names, data_dir=tmp_path / "data"
    )
    for split in ("train", "validation", "test"):
        first, second = examples(sample, split), examples(again, split)
        assert first.keys() == second.keys()
        for name in first:
            for feature in ("image", "segmentation_mask", "labels"):
                assert (first[name][feature] == second[name][feature]).all()


def with_names(tmp_path, *filenames):
    """Builds a dataset of our own features whose records have these names, unchecked."""
    ((image, mask),) = handwritten.pairs(1)
    config = VocSegConfig(name="odd", class_names=VOC_CLASSES)
    items = [
        ArrayItem(f"{n}", filename, image + np.uint8(n), mask, None)
        for n, filename in enumerate(filenames)
    ]
    source = Source({"train": items}, config.example_spec(index_rule(21)))
    return build_source(source, config, data_dir=tmp_path / "data")


@pytest.mark.parametrize(
    "name", ["../../x.png", "{tmp}/x.png", "a\0b", "n" * 300, ".", "a/../../x"]
)
def test_an_export_writes_nothing_outside_its_folder(tmp_path, monkeypatch, name):
    with monkeypatch.context() as patched:
        # A build of ours refuses such a name; others may write it.
        patched.setattr(writing_examples, "name_fault", lambda _: "")
        built = with_names(tmp_path, name.format(tmp=tmp_path))
    before = sorted(tmp_path.rglob("*"))
    with pytest.raises(VocSegError, match="split train, record 0: the name "):
        export(built, tmp_path / "deep" / "er", layout="voc")
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "names", [("a.png", "a.jpg"), ("same.png", "same.png"), ("a.png", "a.png/b.png")]
)
def test_an_export_puts_no_file_in_place_of_another(tmp_path, names):
    with pytest.raises(VocSegError, match=r"another record has too|directory|File exists"):
        export(with_names(tmp_path, *names), tmp_path / "out", layout="voc")
    assert [path.name for path in tmp_path.iterdir()] == ["data"]


def test_a_folder_that_cannot_be_made_is_a_wrong_call(sample, tmp_path, capsys):
    (tmp_path / "file").touch()
    words = ["export", str(sample.data_dir), "--layout", "raw", "--out", str(tmp_path / "file/x")]
    assert cli.main(words) == 2
    assert f"error: --out {tmp_path}/file: it cannot be written" in capsys.readouterr().err


def test_an_image_without_an_ending_gets_one(tmp_path):
    built = with_names(tmp_path, "x.tfrecord-000000", "x.tfrecord-000001")
    export(built, tmp_path / "out", layout="voc")
    names = ["x.tfrecord-000000.png", "x.tfrecord-000001.png"]
    assert sorted(path.name for path in (tmp_path / "out/JPEGImages").iterdir()) == names
    assert sorted(path.name for path in (tmp_path / "out/SegmentationClass").iterdir()) == names


@pytest.mark.parametrize("layout", BASE_LAYOUTS)
def test_a_stranger_s_dataset_without_sizes_is_exported_or_refused(sample, tmp_path, layout):
    folder = pathlib.Path(shutil.copytree(sample.data_dir, tmp_path / "1.0.0"))
    data = json.loads((folder / "features.json").read_text())
    del data["featuresDict"]["features"]["image/height"]
    (folder / "features.json").write_text(json.dumps(data))
    (folder / "SHA256SUMS").unlink()
    if layout in ("raw", "parquet"):
        export(open_built(str(folder)), tmp_path / "out", layout=layout)
    else:
        with pytest.raises(ConfigError, match="no feature image/height"):
            export(open_built(str(folder)), tmp_path / "out", layout=layout)


@pytest.mark.parametrize("layout", ["raw", "deeplab", "voc", "coco"])
def test_images_of_bands_without_masks_are_sent_to_the_layout_that_holds_them(tmp_path, layout):
    every_source.write_bands(tmp_path / "source")
    options = {"class_names": ["a", "b"], "bands": "all", "dtype": "uint16"}
    builder = builder_from_tree(tmp_path / "source", name="b", data_dir=tmp_path / "d", **options)
    folder = pathlib.Path(builder.data_dir)
    data = json.loads((folder / "features.json").read_text())
    for name in ("segmentation_mask", "labels"):
        del data["featuresDict"]["features"][name]
    (folder / "features.json").write_text(json.dumps(data))
    (folder / "SHA256SUMS").unlink()
    with pytest.raises(ConfigError) as caught:
        export(open_built(str(folder)), tmp_path / "out", layout=layout)
    assert caught.value.remedy == "export it as parquet, or read it with tfds.load"
    export(open_built(str(folder)), tmp_path / "out", layout="parquet")


def test_a_file_in_place_of_the_new_folder_is_a_wrong_call(sample, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(ConfigError, match="a file"):
        export(sample, tmp_path / "out", layout="raw")
