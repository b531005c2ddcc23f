import io

import numpy as np
from PIL import Image
import pyarrow.parquet as pq
import pytest
from support import doctoring, drawing, tiled
from support.building import ODD_NAMES, from_tree
from support.drawing import SIZES_OF_SMALL_TREE, write_small_tree
from support.encoding import decoded, encoded
from support.painting import assert_same
import tensorflow_datasets as tfds
import yaml

from voc_seg_tfrecord import VOC_CLASSES, VocSegError
from voc_seg_tfrecord.build_from.run import from_arrays
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.exports import parquet
from voc_seg_tfrecord.exports.export import export

pytestmark = pytest.mark.slow
datasets = pytest.importorskip("datasets")
from support import hugging_face  # noqa: E402 - it imports datasets


def assert_equal(builder, folder):
    """Asserts that `datasets` loads what TFDS loads: each feature, in the same order."""
    loaded = hugging_face.load(folder)
    assert set(loaded) == set(builder.info.splits)
    for split in loaded:
        ours = list(hugging_face.as_tfds_decodes(builder, split))
        assert len(ours) == len(loaded[split]) > 0
        for one, row in zip(ours, loaded[split], strict=True):
            assert_same(one, hugging_face.as_tfds(row, loaded[split].features))


def exported(builder, folder, **more):
    """Exports a dataset; returns the folder."""
    export(builder, folder, layout="parquet", **more)
    return folder


def test_every_feature_of_the_sample_is_what_tfds_loads(sample, tmp_path):
    folder = exported(sample, tmp_path / "out")
    assert_equal(sample, folder)
    assert sorted(path.name for path in (folder / "data").iterdir()) == [
        "test-00000-of-00001.parquet",
        "train-00000-of-00001.parquet",
        "validation-00000-of-00001.parquet",
    ]


def test_images_and_masks_are_the_stored_bytes(sample, tmp_path):
    folder = exported(sample, tmp_path / "out")
    loaded = hugging_face.load(folder)["train"]
    raw = loaded.cast_column("image", datasets.Image(decode=False))
    raw = raw.cast_column("segmentation_mask", datasets.Image(decode=False))
    skip = tfds.decode.SkipDecoding()
    decoders = dict.fromkeys(("image", "segmentation_mask"), skip)
    stored = sample.as_dataset(split="train", decoders=decoders).as_numpy_iterator()
    for row, one in zip(raw, stored, strict=True):
        assert row["image"]["bytes"] == one["image"]
        assert row["image"]["path"] == one["image/filename"].decode()
        assert row["segmentation_mask"]["bytes"] == one["segmentation_mask"]
        assert row["segmentation_mask"]["path"] == row["image"]["path"].replace(".jpg", ".png")


def test_the_names_of_classes_are_in_the_files_for_readers_of_parquet_alone(sample, tmp_path):
    folder = exported(sample, tmp_path / "out")
    files = {"train": str(folder / "data" / "train-*.parquet")}
    features = hugging_face.load_files(files, tmp_path)["train"].features
    names = sample.info.features["labels"].feature.names
    assert features["labels"].feature.names == names
    assert features["objects"].feature["label"].names == names
    assert features["objects"].feature["pose"].names[0] == "frontal"
    assert isinstance(features["image"], datasets.Image)
    assert isinstance(features["segmentation_mask"], datasets.Image)


def test_each_of_254_classes_keeps_its_number_whatever_its_name_is(tmp_path):
    names = [*ODD_NAMES, *(f"class {number}" for number in range(254 - len(ODD_NAMES)))]
    masks = [np.full((4, 4), number, np.uint8) for number in range(254)]
    images = [np.full((4, 4, 3), number, np.uint8) for number in range(254)]
    built = from_arrays(images, masks, name="x", class_names=names, data_dir=tmp_path / "data")
    loaded = hugging_face.load(exported(built, tmp_path / "out"))["train"]
    names = [name.strip() for name in names]  # TFDS reads them so
    assert loaded.features["labels"].feature.names == names
    of_tfds = built.info.features["labels"].feature
    for row, number in zip(loaded, (e["image"][0, 0, 0] for e in numpy_of(built)), strict=True):
        (label,) = row["labels"]
        assert label == number == np.asarray(row["segmentation_mask"])[0, 0]
        assert loaded.features["labels"].feature.int2str(label) == of_tfds.int2str(label)
        assert names[label] == of_tfds.int2str(label)


def numpy_of(builder, split="train"):
    return builder.as_dataset(split=split).as_numpy_iterator()


def test_images_with_one_label_each_go_too(tmp_path):
    images = [np.full((5, 6, 3), 9 * n, np.uint8) for n in range(4)]
    built = from_arrays(
        images, labels=[2, 0, 1, 2], name="x", class_names=["a", "b", "no"], data_dir=tmp_path
    )
    folder = exported(built, tmp_path / "out")
    assert_equal(built, folder)
    assert hugging_face.load(folder)["train"].features["label"].names == ["a", "b", "no"]


def test_tiles_and_instance_masks_go_too(tmp_path):
    root = tiled.write_tree(tmp_path / "tree")
    options = tiled.tree_options(tile=16, instance_mask=True, splits={"train": 0.5, "test": 0.5})
    built = builder_from_tree(root, name="x", data_dir=tmp_path / "data", **options)
    assert "tile/image_id" in built.info.features
    assert_equal(built, exported(built, tmp_path / "out", num_shards=3))


def test_an_image_without_objects_has_an_empty_list(tmp_path):
    root = write_small_tree(tmp_path / "tree", 3)
    names = {"000": "aeroplane", "002": "tvmonitor"}
    for number, (height, width) in zip(("000", "001", "002"), SIZES_OF_SMALL_TREE[:3], strict=True):
        box = "<bndbox><xmin>1</xmin><ymin>1</ymin><xmax>2</xmax><ymax>2</ymax></bndbox>"
        objects = f"<object><name>{names[number]}</name>{box}</object>" if number in names else ""
        said = f"<size><width>{width}</width><height>{height}</height></size>"
        text = f"<annotation>{said}{objects}</annotation>"
        drawing.put(root, f"Annotations/{number}.xml", text)
    built = from_tree(root, class_names=VOC_CLASSES, objects=True)
    folder = exported(built, tmp_path / "out")
    assert_equal(built, folder)
    lengths = sorted(len(row["objects"]) for row in hugging_face.load(folder)["train"])
    assert lengths == [0, 1, 1]


def jpeg(orientation, *, xmp=False):
    """Returns a JPEG, half black and half white, that says how to rotate it."""
    pixels = np.zeros((16, 24, 3), np.uint8)
    pixels[:8] = 255
    exif, texts = Image.Exif(), b""
    if xmp:
        texts = f'<x:xmpmeta><r tiff:Orientation="{orientation}"/></x:xmpmeta>'.encode()
    else:
        exif[0x0112] = orientation
    return encoded(pixels, "JPEG", exif=exif, xmp=texts, quality=95)


def png(orientation):
    """Returns the same as a PNG."""
    exif = Image.Exif()
    exif[0x0112] = orientation
    return encoded(decoded(jpeg(1)), exif=exif)


@pytest.mark.parametrize(
    "image",
    [jpeg(6), jpeg(8), jpeg(3), jpeg(2), jpeg(6, xmp=True), png(6)],
    ids=["6", "8", "3", "2", "xmp", "png"],
)
def test_an_image_that_readers_would_rotate_stays_as_its_mask_was_drawn(tmp_path, image):
    root = tmp_path / "tree"
    drawing.put(root, "JPEGImages/a.jpg", image)
    mask = np.zeros((16, 24), np.uint8)
    mask[:8] = 1
    drawing.put_mask(root, "SegmentationClass/a.png", mask)
    built = from_tree(root, class_names=["black", "white"], exif="ignore", splits={"train": 1.0})
    (note,) = export(built, tmp_path / "out", layout="parquet")
    assert_equal(built, tmp_path / "out")
    (row,) = hugging_face.load(tmp_path / "out")["train"]
    assert (np.asarray(row["image"])[..., 0] // 128 == np.asarray(row["segmentation_mask"])).all()
    assert note.startswith("train: 1 image was written without EXIF")


def test_images_that_are_upright_keep_their_metadata(tmp_path):
    image = jpeg(1)
    drawing.put(tmp_path / "tree", "JPEGImages/a.jpg", image)
    drawing.put_mask(tmp_path / "tree", "SegmentationClass/a.png", np.zeros((16, 24), np.uint8))
    built = from_tree(tmp_path / "tree", class_names=["black", "white"], splits={"train": 1.0})
    assert export(built, tmp_path / "out", layout="parquet") == []
    table = pq.read_table(tmp_path / "out" / "data")
    assert table["image"][0]["bytes"].as_py() == image


def test_a_gray_jpeg_has_three_channels_as_in_tfds(tmp_path):
    root = tmp_path / "tree"
    gray = np.arange(12 * 16, dtype=np.uint8).reshape(12, 16)
    drawing.put(root, "JPEGImages/a.jpg", encoded(gray, "JPEG"))
    drawing.put_mask(root, "SegmentationClass/a.png", drawing.truth("a"))
    built = from_tree(root, class_names=list("abc"), splits={"train": 1.0})
    folder = exported(built, tmp_path / "out")
    assert_equal(built, folder)
    assert hugging_face.load(folder)["train"][0]["image"].mode == "RGB"


@pytest.mark.parametrize(
    ("dtype", "count"),
    [
        *[("uint8", 1), ("uint8", 4), ("uint8", 5), ("uint16", 1), ("uint16", 3), ("uint16", 4)],
        *[("uint16", 13), ("float32", 2)],
    ],
)
def test_datasets_reads_each_bit_of_each_band(tmp_path, dtype, count):
    rng = np.random.default_rng(0)
    pixels = {}
    for number, (height, width) in enumerate([(5, 7), (6, 4), (3, 3)]):
        values = rng.integers(0, np.iinfo("uint16").max, (height, width, count))
        values = values % 256 if dtype == "uint8" else values
        pixels[f"{number}.npy"] = values.astype(dtype)
        drawing.put(tmp_path / "tree", f"images/{number}.npy", npy(pixels[f"{number}.npy"]))
        mask = rng.integers(0, 2, (height, width), np.uint8)
        drawing.put_mask(tmp_path / "tree", f"masks/{number}.png", mask)
    options = {"class_names": ["a", "b"], "bands": "all", "dtype": dtype, "splits": {"train": 1.0}}
    built = from_tree(tmp_path / "tree", **options)
    folder = exported(built, tmp_path / "out", with_card=True)
    is_array = (dtype, count) not in {("uint8", 1), ("uint8", 4), ("uint16", 1)}
    rows = hugging_face.load(folder)["train"]
    assert len(rows) == 3
    for row in rows:
        image = row["image"]
        found = np.load(io.BytesIO(image)) if is_array else np.asarray(image)
        expected = pixels[row["image/filename"]]
        assert found.dtype == expected.dtype
        assert np.array_equal(found.reshape(expected.shape), expected)
    assert ("np.load(io.BytesIO(" in (folder / "README.md").read_text()) == is_array


def npy(array):
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


@pytest.fixture
def seven(tmp_path):
    """A dataset of seven examples."""
    root = write_small_tree(tmp_path / "tree", 7)
    return from_tree(root, class_names=VOC_CLASSES)


# There are no more files than examples, because `datasets` fails on empty ones.
@pytest.mark.parametrize(("num_shards", "expected"), [(3, [2, 2, 3]), (9, [1] * 7)])
def test_files_hold_consecutive_examples_in_their_order(seven, tmp_path, num_shards, expected):
    folder = exported(seven, tmp_path / "out", num_shards=num_shards)
    assert_equal(seven, folder)
    rows = [pq.ParquetFile(path).metadata.num_rows for path in sorted((folder / "data").iterdir())]
    assert rows == expected


@pytest.mark.parametrize(
    ("limit", "groups"), [("MAX_GROUP_ROWS", [3, 3, 1]), ("MAX_GROUP_BYTES", [1] * 7)]
)
def test_row_groups_are_limited_in_rows_and_bytes(seven, tmp_path, monkeypatch, limit, groups):
    monkeypatch.setattr(parquet, limit, 3)
    folder = exported(seven, tmp_path / "out")
    (path,) = (folder / "data").iterdir()
    found = pq.ParquetFile(path).metadata
    assert [found.row_group(n).num_rows for n in range(found.num_row_groups)] == groups
    assert_equal(seven, folder)


def test_files_have_about_as_many_bytes_as_is_usual(seven, tmp_path, monkeypatch):
    monkeypatch.setattr(parquet, "_SHARD_BYTES", seven.info.splits["train"].num_bytes // 2)
    assert len(list((exported(seven, tmp_path / "out") / "data").iterdir())) in (2, 3)


def test_two_exports_have_the_same_bytes(sample, tmp_path):
    first, second = (exported(sample, tmp_path / name) for name in "ab")
    for path in (first / "data").iterdir():
        assert path.read_bytes() == (second / "data" / path.name).read_bytes()


@pytest.mark.parametrize("split", ["my-split", "all", "a b", "..", "a/b"])
def test_a_split_whose_name_datasets_refuses_is_refused_before_anything_is_written(split):
    with pytest.raises(VocSegError, match="a name that Hugging Face's datasets does not take"):
        parquet.check_split(split, "x")


@pytest.mark.parametrize("split", ["extra", "fold_1", "test2"])
def test_other_names_of_splits_are_found(tmp_path, split):
    root = write_small_tree(tmp_path / "tree", 2)
    lists = root / "ImageSets" / "Segmentation"
    (lists / "train.txt").rename(lists / f"{split}.txt")
    built = from_tree(root, name="y", class_names=VOC_CLASSES, splits={split: split})
    assert_equal(built, exported(built, tmp_path / "out"))


def test_a_mask_that_some_decoder_would_change_is_refused(seven, tmp_path):
    doctoring.rewrite(seven, "train", palette_mask)
    with pytest.raises(VocSegError, match="8-bit palette PNG"):
        export(seven, tmp_path / "out", layout="parquet")
    assert not (tmp_path / "out").exists()


def palette_mask(examples):
    """Gives the first record a palette PNG for a mask."""
    stored = doctoring.values(examples[0], "segmentation_mask")
    mask = Image.open(io.BytesIO(stored[0])).convert("P")
    stored[0] = encoded(mask)
    return examples


@pytest.mark.parametrize(("change", "count"), [(doctoring.drop, 6), (doctoring.double, 8)])
def test_a_dataset_with_fewer_or_more_records_than_it_says_is_not_exported(
    seven, tmp_path, change, count
):
    doctoring.rewrite(seven, "train", change)
    with pytest.raises(VocSegError, match=f"{count} records"):
        export(seven, tmp_path / "out", layout="parquet")
    assert not (tmp_path / "out").exists()


def test_real_images_decode_alike_in_both_libraries(real_data, tmp_path):
    root = real_data / "voc2012"
    built = builder_from_tree(root, name="x", data_dir=tmp_path / "data", class_names=VOC_CLASSES)
    assert_equal(built, exported(built, tmp_path / "out"))


def test_masks_with_a_palette_have_the_same_indices_and_colors_for_viewers(sample, tmp_path):
    gray = hugging_face.load(exported(sample, tmp_path / "gray"))
    folder = tmp_path / "colored"
    export(sample, folder, layout="parquet-palette")
    for split, rows in hugging_face.load(folder).items():
        for form in ("numpy", None):
            pairs = zip(gray[split].with_format(form), rows.with_format(form), strict=True)
            for theirs, ours in pairs:
                for name in ("segmentation_mask", "instance_mask"):
                    assert np.array_equal(np.asarray(ours[name]), np.asarray(theirs[name]))
        mask = rows[0]["segmentation_mask"]
        assert mask.mode == "P"
        assert mask.getpalette()[45:48] == [192, 128, 128]


def test_pytorchs_format_gives_the_indices_of_a_mask_with_a_palette(sample, tmp_path):
    pytest.importorskip("torch")
    export(sample, tmp_path / "out", layout="parquet-palette")
    rows = hugging_face.load(tmp_path / "out")["train"]
    for plain, ours in zip(rows, rows.with_format("torch"), strict=True):
        expected = np.asarray(plain["segmentation_mask"])
        assert np.array_equal(ours["segmentation_mask"].numpy().squeeze(), expected)


@pytest.mark.parametrize("layout", ["voc", "raw", "deeplab"])
def test_a_palette_is_refused_where_it_would_do_nothing(sample, tmp_path, capsys, layout):
    words = ["export", str(sample.data_dir), "--layout", layout, "--palette"]
    assert cli.main([*words, "--out", str(tmp_path / "out")]) == 2
    assert "expected: --palette with --layout parquet alone" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("palette", [(), ("--palette",)])
def test_the_card_describes_the_columns_as_datasets_writes_them(sample, tmp_path, palette):
    words = ["export", str(sample.data_dir), "--layout", "parquet", *palette]
    assert cli.main([*words, "--out", str(tmp_path / "out")]) == 0
    text = (tmp_path / "out" / "README.md").read_text()
    said = yaml.safe_load(text.split("---\n")[1])["dataset_info"]
    (path,) = (tmp_path / "out" / "data").glob("train-*")
    inside = datasets.Features.from_arrow_schema(pq.read_schema(path))
    assert datasets.Features._from_yaml_list(said["features"]) == inside
    assert said["features"] == inside._to_yaml_list()
    assert {one["name"]: one["num_examples"] for one in said["splits"]} == {
        split: info.num_examples for split, info in sample.info.splits.items()
    }
    assert ("`tf.io.decode_png` turns the colors" in text) == bool(palette)
