"""The programs of five tutorials, written again by their keys: into records, in, and out."""

import numpy as np
import pytest
from support import handwritten
from support.building import examples
from support.encoding import encoded
import tensorflow as tf

from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.exports.export import export

PAIRS = handwritten.pairs(4)
RNG = np.random.default_rng(11)
SMALL = [
    (RNG.integers(0, 256, (32, 32, 3), np.uint8), RNG.integers(0, 21, (32, 32), np.uint8))
    for _ in range(4)
]


def semantic(image, mask, _n, mask_key="label_raw"):
    """A guide to TFRecords for segmentation: raw pixels of image and annotation."""
    return {
        "height": image.shape[0],
        "width": image.shape[1],
        "image_raw": image.tobytes(),
        mask_key: mask.tobytes(),
    }


def photo(image, _mask, n):
    """A photo's pixels with its shape and name."""
    return {
        "name": f"photo{n}.jpg".encode(),
        "shape": list(image.shape),
        "data": image.tobytes(),
    }


def photo_with_label(image, _mask, n):
    return photo(image, _mask, n) | {"label": n}


def tensor(image, _mask, n):
    """TensorFlow's own tutorial: cats in the snow."""
    return {
        "height": image.shape[0],
        "width": image.shape[1],
        "depth": image.shape[2],
        "label": n,
        "raw_image": tf.io.serialize_tensor(image).numpy(),
    }


def deeplab(image, mask, n):
    """DeepLab's build_data.py, with PNGs, so that the pixels can be compared."""
    record = handwritten.deeplab(encoded(image), mask, f"deep{n}.png")
    return record | {"image/format": b"png"}


def fruit(image, _mask, n):
    """Apples and oranges: pixels and class, and the size only in the program that reads them."""
    return {"image": image.tobytes(), "label": n % 2}


def fruit_mask(image, mask, _n):
    return {"image": image.tobytes(), "label": mask.tobytes()}


PROGRAMS = {
    "label_raw": (semantic, PAIRS, {}, "mask"),
    "mask_raw": (lambda *a: semantic(*a, mask_key="mask_raw"), PAIRS, {}, "mask"),
    "photo": (photo, PAIRS, {}, "none"),
    "photo with a label": (photo_with_label, PAIRS, {}, "label"),
    "tensor": (tensor, PAIRS, {}, "label"),
    "deeplab": (deeplab, PAIRS, {}, "mask"),
    "fruit": (fruit, SMALL, {"shape": (32, 32, 3)}, "label"),
    "fruit as masks": (fruit_mask, SMALL, {"shape": (32, 32, 3)}, "mask"),
}


def same(found, records, pairs, target):
    """Says of each record whether its image, and its mask or label, are those written."""
    assert len(found) == len(pairs)
    for (_, example), record, (image, mask) in zip(
        sorted(found.items()), records, pairs, strict=True
    ):
        assert (example["image"] == image).all()
        assert ("segmentation_mask" in example, "label" in example) == (
            target == "mask",
            target == "label",
        )
        if target == "mask":
            assert (example["segmentation_mask"][..., 0] == mask).all()
        if target == "label":
            assert example["label"] == record["label"]
    return True


@pytest.mark.slow_but_first
@pytest.mark.parametrize("program", PROGRAMS)
def test_a_tutorials_records_come_in_and_go_out_equal(tmp_path, program):
    write, pairs, options, target = PROGRAMS[program]
    records = [write(*pair, n) for n, pair in enumerate(pairs)]
    path = handwritten.write(tmp_path / "train.tfrecords", records)
    options = options | ({"class_names": ["voc"]} if target != "none" else {})
    built = import_records([path], name="in", data_dir=tmp_path / "data", **options)
    found = examples(built, "train")
    assert same(found, records, pairs, target)
    export(built, tmp_path / "out", layout="raw")
    options.pop("shape", None)
    again = import_records([tmp_path / "out"], name="out", data_dir=tmp_path / "data", **options)
    assert same(examples(again, "train"), records, pairs, target)
    assert examples(again, "train").keys() == found.keys()


def test_the_command_takes_the_size_of_all_images(tmp_path, capsys):
    records = [fruit(*pair, n) for n, pair in enumerate(SMALL)]
    path = handwritten.write(tmp_path / "fruits.tfrecords", records)
    words = ["import", str(path), "--data_dir", str(tmp_path / "data"), "--name", "fruits"]
    words += ["--class_names", "apple,orange"]
    assert cli.main(words) == 1
    assert "such as --shape 32x32x3" in capsys.readouterr().err
    assert cli.main([*words, "--shape", "32x32x3"]) == 0
    assert "train 4" in capsys.readouterr().out


@pytest.mark.parametrize("shape", ["32", "32x", "0x32x3", "-1x2x3", "a", "32x32x3x1", "32,32,3"])
def test_a_size_that_is_none_is_a_wrong_call(tmp_path, capsys, shape):
    path = handwritten.write(tmp_path / "a.tfrecords", [fruit(*SMALL[0], 0)])
    assert cli.main(["import", str(path), "--dry_run", f"--shape={shape}"]) == 2
    assert f"error: --shape: '{shape}'" in capsys.readouterr().err


def test_a_size_for_records_that_hold_theirs_is_a_wrong_call(tmp_path, capsys):
    path = handwritten.write(tmp_path / "a.tfrecords", [semantic(*PAIRS[0], 0)])
    assert cli.main(["import", str(path), "--dry_run", "--shape", "32x32x3"]) == 2
    assert "although the records have their sizes in height, width" in capsys.readouterr().err


def test_images_alone_need_no_class_names_and_masks_of_unclear_values_do(tmp_path, capsys):
    image, mask = PAIRS[0]
    unclear = semantic(image, np.where(mask == 1, 7, 3).astype(np.uint8), 0)
    for name, record in (("alone", photo(*PAIRS[0], 0)), ("masks", unclear)):
        handwritten.write(tmp_path / f"{name}.tfrecord", [record])
    words = ["--data_dir", str(tmp_path / "data"), "--name"]
    assert cli.main(["import", str(tmp_path / "alone.tfrecord"), *words, "alone"]) == 0
    assert cli.main(["import", str(tmp_path / "masks.tfrecord"), *words, "masks"]) == 2
    assert "error: --class_names: no class names" in capsys.readouterr().err


def test_dry_run_names_features_that_are_not_read(tmp_path, capsys):
    record = photo_with_label(*PAIRS[0], 0) | {"weather": b"rain"}
    path = handwritten.write(tmp_path / "a.tfrecord", [record])
    assert cli.main(["import", str(path), "--dry_run"]) == 0
    assert "features that are not read: weather" in capsys.readouterr().out


def test_dry_run_shows_records_that_are_no_examples(tmp_path, capsys):
    path = tmp_path / "a.tfrecord"
    with tf.io.TFRecordWriter(str(path)) as writer:
        writer.write(b"some text")
    assert cli.main(["import", str(path), "--dry_run"]) == 1
    assert "record 0: 9 bytes, not a tf.train.Example" in capsys.readouterr().out
    words = ["--name", "a", "--class_names", "voc", "--data_dir", str(tmp_path)]
    assert cli.main(["import", str(path), *words]) == 1
