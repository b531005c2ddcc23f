import gzip
import io

import numpy as np
from PIL import Image
import pytest
from support import handwritten
from support.building import examples, version_folders
from support.encoding import encoded
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VOC_CLASSES, VocSegError
from voc_seg_tfrecord.build_from.tfrecords import import_records
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core import names
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.sources.records import luminances

TEN = [str(n) for n in range(10)]


def bring(path, tmp_path, **said):
    said = {"name": "old", "class_names": ["voc"], "data_dir": tmp_path / "data"} | said
    return import_records([path], **said)


@pytest.mark.parametrize("channels", [1, 3])
@pytest.mark.parametrize("mask_key", ["label_raw", "mask_raw"])
def test_raw_pixels_come_back_equal_six_times(tmp_path, mask_key, channels):
    pairs = handwritten.pairs(channels=channels)
    records = [handwritten.raw(*pair, mask_key) for pair in pairs]
    path = handwritten.write(tmp_path / "train.tfrecords", records)
    found = examples(bring(path, tmp_path), "train")
    equal = []
    for n, (image, mask) in enumerate(pairs):
        example = found[f"train.tfrecords-{n:06}"]
        pixels = example["image"] if channels == 3 else example["image"][..., 0]
        equal.append(np.allclose(pixels, image))
        equal.append(np.allclose(example["segmentation_mask"][..., 0], mask))
        assert list(example["labels"]) == sorted(set(np.unique(mask)) - {0, 255})
    assert equal == [True] * 12


def test_images_that_were_raw_are_stored_as_png_and_files_as_they_are(tmp_path):
    ((image, mask),) = handwritten.pairs(1)
    skip = {"image": tfds.decode.SkipDecoding()}
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, mask)])
    (stored,) = examples(bring(path, tmp_path), "train", decoders=skip).values()
    assert stored["image"].startswith(b"\x89PNG")
    jpeg = encoded(image, "JPEG")
    path = handwritten.write(tmp_path / "b.tfrecord", [handwritten.deeplab(jpeg, mask, "x.jpg")])
    (stored,) = examples(bring(path, tmp_path, name="dl"), "train", decoders=skip).values()
    assert stored["image"] == jpeg
    assert stored["image/filename"] == b"x.jpg"
    (decoded,) = examples(bring(path, tmp_path, name="dl2"), "train").values()
    assert (decoded["segmentation_mask"][..., 0] == mask).all()


@pytest.mark.parametrize(("number", "refused"), [(1, False), (15, True)])
def test_palettes_with_vocs_colors_at_other_indices_are_refused(tmp_path, number, refused):
    """Programs move the used colors to the front, so that value 1 may be a person."""
    ((image, _),) = handwritten.pairs(1)
    mask = Image.fromarray(np.eye(*image.shape[:2], dtype=np.uint8), "P")
    mask.putpalette([0, 0, 0, *names.voc_palette()[number]])
    png = io.BytesIO()
    mask.save(png, "PNG")
    record = handwritten.deeplab(encoded(image, "JPEG"), np.asarray(mask), "x.jpg")
    record["image/segmentation/class/encoded"] = png.getvalue()
    path = handwritten.write(tmp_path / "a.tfrecord", [record])
    if refused:
        with pytest.raises(
            VocSegError, match=r"index 1 has the color 192,128,128.*index 15 in VOC"
        ):
            bring(path, tmp_path)
    else:
        (found,) = examples(bring(path, tmp_path), "train").values()
        assert (found["segmentation_mask"][..., 0] == np.eye(*image.shape[:2])).all()


CLASSIFICATION = {
    "data": lambda image, n: handwritten.shaped(image, n % 10, f"{n}.jpg"),
    "image": lambda image, n: handwritten.shaped(image, n % 10, f"{n}.jpg", "image"),
    "tensor": lambda image, n: handwritten.tensor(image, n % 10),
    "tensor raw": lambda image, n: handwritten.tensor(image, n % 10, serialized=False),
}


@pytest.mark.parametrize("layout", CLASSIFICATION)
def test_records_with_a_label_become_a_dataset_without_masks(tmp_path, layout):
    images = [image for image, _ in handwritten.pairs(20)]
    records = [CLASSIFICATION[layout](image, n) for n, image in enumerate(images)]
    path = handwritten.write(tmp_path / "pool.tfrecords", records)
    ratios = {"train": 0.6, "test": 0.4}
    builder = bring(path, tmp_path, class_names=TEN, splits=ratios)
    assert sorted(builder.info.features) == ["image", "image/filename", "label"]
    found = examples(builder, "train") | examples(builder, "test")
    assert len(found) == 20
    assert 6 <= builder.info.splits["train"].num_examples <= 18
    for n, image in enumerate(images):
        named = not layout.startswith("tensor")
        example = found[f"{n}.jpg" if named else f"pool.tfrecords-{n:06}"]
        assert np.allclose(example["image"], image)
        assert example["label"] == n % 10


def test_file_names_tell_the_splits(tmp_path):
    for name in ("voc_train-00000-of-00002", "voc_train-00001-of-00002", "voc_val-00000"):
        records = [handwritten.raw(*pair) for pair in handwritten.pairs(2)]
        handwritten.write(tmp_path / f"{name}.tfrecord", records)
    builder = bring(tmp_path, tmp_path, name="old")
    counts = {name: split.num_examples for name, split in builder.info.splits.items()}
    assert counts == {"train": 4, "validation": 2}


def test_gzip_files_are_read_and_damaged_ones_named(tmp_path):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    path = handwritten.write(tmp_path / "a.tfrecord.gz", records, "GZIP")
    assert path.read_bytes()[:2] == b"\x1f\x8b"
    assert len(examples(bring(path, tmp_path), "train")) == 3
    path.write_bytes(path.read_bytes()[:-30])
    with pytest.raises(VocSegError, match=r"a\.tfrecord\.gz: a gzip file that is damaged"):
        bring(path, tmp_path, name="cut")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda data: data[:-100], r"a\.tfrecord, record 2: truncated or damaged"),
        (lambda data: data[:4000] + b"?" + data[4001:], r"a\.tfrecord, record \d: truncated or"),
        (lambda _: b"not a record file at all, but some text", "record 0: truncated or damaged"),
        (lambda _: b"", "no record"),
        (lambda _: gzip.compress(b""), "no record"),
    ],
)
def test_damaged_files_are_named_with_the_record(tmp_path, spoil, words):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    path = handwritten.write(tmp_path / "a.tfrecord", records)
    path.write_bytes(spoil(path.read_bytes()))
    with pytest.raises(VocSegError, match=words):
        bring(path, tmp_path)
    assert version_folders(tmp_path / "data") == []


def test_a_wrong_number_of_bytes_is_named_with_record_and_sizes(tmp_path):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    records[1]["height"] = 41
    path = handwritten.write(tmp_path / "a.tfrecord", records)
    with pytest.raises(VocSegError, match=r"(?s)1 of 3.*record 1: 3600 bytes.*41 x 30 x 3"):
        bring(path, tmp_path)


def test_an_unknown_layout_is_told_with_its_features_and_can_be_described(tmp_path):
    ((image, mask),) = handwritten.pairs(1)
    record = {"pic": image.tobytes(), "seg": mask.tobytes(), "h": 30, "w": 40, "id": b"x.png"}
    path = handwritten.write(tmp_path / "a.tfrecord", [record])
    with pytest.raises(
        VocSegError, match="features h, id, pic, seg, w, which match no known layout"
    ):
        bring(path, tmp_path)
    keys = {"image": "pic", "mask": "seg", "height": "h", "width": "w", "filename": "id"}
    found = examples(bring(path, tmp_path, keys=keys), "train")
    assert (found["x.png"]["segmentation_mask"][..., 0] == mask).all()


def ruined(indices):
    """Returns what a decoder to gray makes of a palette mask, as TensorFlow does it."""
    mask = Image.fromarray(indices)
    mask.putpalette(names.voc_palette().tobytes())
    return tf.io.decode_png(encoded(mask), channels=1).numpy()[..., 0]


def test_the_tables_are_those_of_tensorflow_and_pillow():
    for index in (*range(21), 255):
        indices = np.full((2, 2), index, np.uint8)
        by_tf = ruined(indices)[0, 0]
        mask = Image.fromarray(indices)
        mask.putpalette(names.voc_palette().tobytes())
        by_pillow = mask.convert("L").getpixel((0, 0))
        cut, rounded = luminances.luminance_tables()
        assert index in cut[by_tf]
        assert index in rounded[by_pillow]


def test_palette_ruined_masks_are_refused_with_the_explanation(tmp_path):
    # No value of Pillow's is 14, so that TensorFlow decoded these masks.
    indices = np.array([[0, 1, 3, 4, 15, 255]] * 4, np.uint8)
    image = np.zeros((4, 6, 3), np.uint8)
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, ruined(indices))])
    with pytest.raises(VocSegError, match=r"(?s)luminances of VOC's palette.*Bicycle and sheep"):
        bring(path, tmp_path)
    (example,) = examples(bring(path, tmp_path, repair=True), "train").values()
    assert (example["segmentation_mask"][..., 0] == indices).all()


@pytest.mark.parametrize(("lost", "names"), [(2, "bicycle or sheep"), (20, "bottle or tvmonitor")])
def test_what_collides_cannot_be_repaired(tmp_path, lost, names):
    indices = np.array([[0, 1, 3, 4, lost, 255]] * 4, np.uint8)
    image = np.zeros((4, 6, 3), np.uint8)
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, ruined(indices))])
    with pytest.raises(VocSegError, match=names):
        bring(path, tmp_path, repair=True)


def test_true_class_indices_are_never_taken_for_luminances():
    assert not luminances.are_luminances({0, 14, 19, 255})
    assert not luminances.are_luminances(range(21))
    assert not luminances.are_luminances({0, 21})
    assert luminances.are_luminances({0, 38, 75, 220})


def test_luminances_that_differ_between_decoders_are_refused():
    # 75 is bicycle by Pillow, and bicycle or sheep by TensorFlow; 38 is aeroplane by TensorFlow,
    # and aeroplane or pottedplant by Pillow.
    for values in ({0, 75, 220}, {0, 38}):
        records = {value: f"a, record {value}" for value in values}
        with pytest.raises(VocSegError, match=r"a, record (75|38): value .*, which may be"):
            luminances.find_classes(records)


def dry_run(path, capsys):
    return cli.main(["import", str(path), "--dry_run"]), capsys.readouterr().out


def with_mask(mask, path):
    """Writes one of DeepLab's records, whose mask is a PNG of this picture."""
    (image, indices), stream = handwritten.pairs(1)[0], io.BytesIO()
    record = handwritten.deeplab(
        encoded(image[: mask.height, : mask.width], "JPEG"), indices, "x.jpg"
    )
    mask.save(stream, "PNG")
    size = {"image/height": mask.height, "image/width": mask.width}
    return handwritten.write(
        path, [record | size | {"image/segmentation/class/encoded": stream.getvalue()}]
    )


def test_a_palette_with_vocs_colors_at_other_indices_is_refused(tmp_path):
    mask = Image.fromarray(np.array([[0, 1, 2, 2]] * 4, np.uint8))
    mask.putpalette(names.voc_palette()[[0, 12, 15]].ravel().tolist())
    path = with_mask(mask, tmp_path / "a.tfrecord")
    words = (
        "(?s)a.tfrecord, record 0: .*index 1 has the color 64,0,128, which has the index 12 in VOC"
    )
    with pytest.raises(VocSegError, match=words) as caught:
        bring(path, tmp_path)
    assert "--classes '0=background,1=CLASS'" in str(caught.value)
    rows = "0=background,1=dog,2=person"
    said = ["--name", "said", "--classes", rows, "--data_dir", str(tmp_path / "said")]
    assert cli.main(["import", str(path), *said]) == 0
    (folder,) = (tmp_path / "said").glob("*/said/1.0.0")
    (example,) = examples(open_built(str(folder)), "train").values()
    assert example["segmentation_mask"][0, :, 0].tolist() == [0, 1, 2, 2]
    for some in ("0=background,1=dog", "#400080=dog,*=background"):
        assert cli.main(["import", str(path), *said[:3], some, *said[4:], "--overwrite"]) in (1, 2)
    mask.putpalette(names.voc_palette().ravel().tolist())
    builder = bring(with_mask(mask, tmp_path / "b.tfrecord"), tmp_path)
    (example,) = examples(builder, "train").values()
    assert np.unique(example["segmentation_mask"]).tolist() == [0, 1, 2]


@pytest.mark.parametrize(
    ("class_names", "words", "read"),
    [
        (["wall", "crack"], "255 is read as crack", 1),
        (["wall", "crack", "hole"], "255 is read as void; if it is a class", 255),
    ],
)
def test_masks_of_0_and_255_are_noted(tmp_path, class_names, words, read):
    mask = Image.fromarray(np.array([[0, 255]] * 4, np.uint8))
    path = with_mask(mask, tmp_path / "a.tfrecord")
    notes = []
    builder = bring(path, tmp_path, class_names=class_names, note=notes.append)
    (example,) = examples(builder, "train").values()
    assert np.unique(example["segmentation_mask"]).tolist() == [0, read]
    assert words in notes[0]


def test_dry_run_shows_features_types_counts_and_first_records(tmp_path, capsys):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs(4)]
    status, printed = dry_run(handwritten.write(tmp_path / "train.tfrecord", records), capsys)
    assert status == 0
    assert "train.tfrecord: 4 records" in printed
    assert "bytes [1] (4)" in printed
    assert "record 0: height=30; image_raw=3600 bytes" in printed
    assert "layout of the first record: image=image_raw, mask=label_raw" in printed
    assert "split train: 4 examples" in printed


def test_dry_run_shows_a_file_of_plain_numbers_too(tmp_path, capsys):
    records = [{"data": [n, n + 1, n + 2], "label": n} for n in range(5)]
    status, printed = dry_run(handwritten.write(tmp_path / "numbers.tfrecord", records), capsys)
    assert status == 1
    assert "int64 [3] (5)" in printed
    assert "record 1: data=1, 2, 3; label=1" in printed
    assert "no import" in printed
    with pytest.raises(VocSegError, match="features data, label, which match no known layout"):
        bring(tmp_path / "numbers.tfrecord", tmp_path)


def test_dry_run_says_that_values_are_palette_luminances(tmp_path, capsys):
    image, indices = handwritten.pairs(1)[0]
    path = handwritten.write(tmp_path / "a.tfrecord", [handwritten.raw(image, ruined(indices))])
    assert "the values are palette luminances, not classes" in dry_run(path, capsys)[1]
    path = handwritten.write(tmp_path / "b.tfrecord", [handwritten.raw(image, indices)])
    assert "luminances" not in dry_run(path, capsys)[1]


def test_the_record_that_cannot_be_repaired_is_named(tmp_path):
    image = np.zeros((4, 6, 3), np.uint8)
    made = []
    for last in (4, 4, 17):  # sheep, whose luminance is that of bicycle
        indices = np.array([[0, 1, 3, 4, 255, last]] * 4, np.uint8)
        made.append(handwritten.raw(image, ruined(indices)))
    path = handwritten.write(tmp_path / "a.tfrecord", made)
    with pytest.raises(VocSegError, match=r"a.tfrecord, record 2: value 75, which may be bicycle"):
        bring(path, tmp_path, repair=True)


def test_image_and_mask_are_known(tmp_path):
    pairs = handwritten.pairs(2)
    made = [{"image": encoded(image), "mask": encoded(mask)} for image, mask in pairs]
    builder = bring(handwritten.write(tmp_path / "a.tfrecord", made), tmp_path)
    found = examples(builder, "train")
    for number, (image, mask) in enumerate(pairs):
        example = found[f"a.tfrecord-{number:06}"]
        assert (example["image"] == image).all()
        assert (example["segmentation_mask"][..., 0] == mask).all()


def test_the_command_imports(tmp_path, capsys):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs(4)]
    path = handwritten.write(tmp_path / "train.tfrecord", records)
    words = ["import", str(path), "--data_dir", str(tmp_path / "data"), "--class_names", "voc"]
    assert cli.main(words) == 2
    assert "--name" in capsys.readouterr().err
    assert cli.main([*words, "--name", "old"]) == 0
    assert "train 4" in capsys.readouterr().out
    names = tfds.load("voc_seg_tfrecord/old", data_dir=tmp_path / "data", with_info=True)[1]
    assert names.features["labels"].feature.names == list(VOC_CLASSES)


def with_label_and_mask():
    """Returns records that have an image, a label and a mask each, by what they are."""
    ((image, mask),) = handwritten.pairs(1)
    files = {"image": encoded(image), "label": 1, "mask": encoded(mask)}
    pixels = handwritten.raw(image, mask, "seg") | {"label": 1}
    tensor = handwritten.tensor(image, 1) | {"seg": tf.io.serialize_tensor(mask).numpy()}
    return {"files": files, "pixels": pixels, "tensor": tensor}


@pytest.mark.parametrize("kind", ["files", "pixels", "tensor"])
def test_a_mask_beside_a_label_is_not_lost(tmp_path, kind):
    path = handwritten.write(tmp_path / "a.tfrecord", [with_label_and_mask()[kind]])
    with pytest.raises(VocSegError, match="the label label, and features that may be a mask") as e:
        bring(path, tmp_path, class_names=TEN)
    as_label, as_mask = [
        dict(pair.split("=") for pair in option.split("--keys ")[1].split(","))
        for option in str(e.value).partition("choose it: ")[2].split("; or ")
    ]
    built = bring(path, tmp_path, name="labels", class_names=TEN, keys=as_label)
    assert "label" in built.info.features
    built = bring(path, tmp_path, name="masks", keys=as_mask)
    assert "segmentation_mask" in built.info.features


def test_a_text_that_is_called_label_beside_a_label_is_no_mask(tmp_path):
    ((image, _),) = handwritten.pairs(1)
    record = {"image": encoded(image), "label": 1, "label/text": b"cat"}
    path = handwritten.write(tmp_path / "a.tfrecord", [record])
    assert "label" in bring(path, tmp_path, class_names=TEN).info.features


def test_a_file_that_two_names_match_gives_its_records_once(tmp_path):
    records = [handwritten.raw(*pair) for pair in handwritten.pairs(3)]
    path = handwritten.write(tmp_path / "a.tfrecord", records)
    said = {"name": "old", "class_names": ["voc"], "data_dir": tmp_path / "data"}
    builder = import_records([path, tmp_path / "*.tfrecord"], **said)
    assert builder.info.splits["train"].num_examples == 3


@pytest.mark.parametrize(
    "names_of_files", [["train_val.tfrecord"], ["part1.tfrecord", "train.tfrecord"]]
)
def test_ratios_divide_records_whatever_their_files_are_called(tmp_path, capsys, names_of_files):
    for name in names_of_files:
        handwritten.write(tmp_path / name, [handwritten.raw(*p) for p in handwritten.pairs()])
    with pytest.raises(VocSegError, match=r"a name with several splits|no split in the name"):
        bring(tmp_path, tmp_path)
    ratios = {"train": 0.5, "validation": 0.5}
    builder = bring(tmp_path, tmp_path, splits=ratios)
    counts = {name: split.num_examples for name, split in builder.info.splits.items()}
    assert set(counts) == {"train", "validation"}
    assert sum(counts.values()) == 6 * len(names_of_files)
    words = ["import", str(tmp_path), "--dry_run", "--splits", "train=0.5,validation=0.5"]
    assert cli.main(words) == 0
    assert f"split validation: {counts['validation']} examples" in capsys.readouterr().out


def test_masks_of_255_alone_of_two_classes_are_refused(tmp_path):
    mask = Image.fromarray(np.full((4, 4), 255, np.uint8))
    path = with_mask(mask, tmp_path / "a.tfrecord")
    with pytest.raises(VocSegError, match="two classes with the value 255 alone"):
        bring(path, tmp_path, class_names=["wall", "crack"])


def test_images_alone_take_no_class_names(tmp_path):
    ((image, _),) = handwritten.pairs(1)
    path = handwritten.write(tmp_path / "a.tfrecord", [{"image": encoded(image)}])
    assert "label" not in bring(path, tmp_path, class_names=None).info.features
