"""Images of more than RGB of 8 bits, from their files through each reader and back."""

import json
import re

import imagecodecs
import numpy as np
from PIL import Image
import pytest
from support import drawing
import tensorflow_datasets as tfds
import tifffile

from voc_seg_tfrecord import arrays, builder_from_tree, data_source, pipeline, stats
from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError
from voc_seg_tfrecord.reading import records

NAMES = ["background", "apple", "tree"]
IDS = ["a", "b", "c"]


def pixels(image_id, count, dtype):
    rng = np.random.default_rng(sum(image_id.encode()))
    shape = (*drawing.SIZE, count)
    if dtype == "float32":
        return rng.normal(0, 3, shape).astype(dtype)
    return rng.integers(0, np.iinfo(dtype).max, shape, dtype, endpoint=True)


def save(path, array):
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".npy":
        np.save(path, array)
    elif path.suffix == ".png":
        path.write_bytes(imagecodecs.png_encode(array))
    else:
        tifffile.imwrite(path, array, photometric="minisblack", planarconfig="contig")


KINDS = {  # by name: the ending, how many bands, the dtype, and the class of the feature
    "gray": (".png", 1, "uint16", "Image"),
    "rgb": (".png", 3, "uint16", "Image"),
    "rgba": (".tif", 4, "uint8", "Image"),
    "multispectral": (".tif", 13, "uint16", "Tensor"),
    "floats": (".npy", 5, "float32", "Tensor"),
}


# Each of these has the dtype and the feature of other kinds: uint16 that of `gray`, and a tensor
# that of `floats`. What costs most is slow for them; that their values come back is not.
REPEATED_KINDS = ("rgb", "multispectral")
with_repeated_kinds_slow = pytest.mark.parametrize(
    "built",
    [
        pytest.param(kind, marks=pytest.mark.slow if kind in REPEATED_KINDS else [])
        for kind in KINDS
    ],
    indirect=True,
)


@pytest.fixture(scope="module", params=KINDS)
def built(request, tmp_path_factory):
    ending, count, dtype, feature = KINDS[request.param]
    root = tmp_path_factory.mktemp(request.param)
    for image_id in IDS:
        save(root / "images" / f"{image_id}{ending}", pixels(image_id, count, dtype))
        drawing.put_mask(root, f"masks/{image_id}.png", drawing.truth(image_id))
    options = {"class_names": NAMES, "bands": "all", "dtype": dtype, "verbose": False}
    builder = builder_from_tree(root, name=request.param, data_dir=root / "d", **options)
    return root, builder, count, dtype, feature


@pytest.mark.slow
def test_every_value_comes_back_through_every_reader(built):
    _, builder, count, dtype, feature = built
    image = builder.info.features["image"]
    assert (type(image).__name__, image.shape, image.np_dtype) == (
        feature,
        (None, None, count),
        np.dtype(dtype),
    )
    readers = [
        tfds.builder_from_directory(builder.data_path).as_dataset("train").as_numpy_iterator(),
        data_source(str(builder.data_path), split="train"),
        pipeline.read(builder, "train", decoded=True).as_numpy_iterator(),
    ]
    for reader in readers:
        examples = {example["image/filename"].decode()[0]: example for example in reader}
        assert [*sorted(examples)] == IDS
        for image_id, example in examples.items():
            assert example["image"].dtype == dtype
            np.testing.assert_array_equal(example["image"], pixels(image_id, count, dtype))
            np.testing.assert_array_equal(
                example["segmentation_mask"][..., 0], drawing.truth(image_id)
            )


def test_a_stored_image_is_the_same_before_and_after_it_was_taken_for_a_file(built):
    _, builder, count, dtype, _ = built
    record = records.parse(next(records.read_shards(builder, "train")))
    stored = record.bytes("image")
    assert record.file("image").data
    assert record.bytes("image") == stored
    image_id = record.id.rpartition("/")[2]
    np.testing.assert_array_equal(record.bands(), pixels(image_id, count, dtype))


def test_it_is_verified_against_its_source_and_a_change_is_named(built, capsys):
    root, builder, count, dtype, _ = built
    words = ["verify", str(builder.data_path), f"--source={root}"]
    assert cli.main(words) == 0
    (path,) = root.glob("images/a.*")
    before = path.read_bytes()
    changed = pixels("a", count, dtype)
    changed[2, 3, count - 1] += 1
    save(path, changed)
    assert cli.main(words) == 1
    place = f"1 value differs from the source, first at row 2, column 3, band {count - 1}: "
    assert place in capsys.readouterr().out
    path.write_bytes(before)


def test_statistics_have_mean_and_deviation_of_each_band(built):
    _, builder, count, dtype, _ = built
    found = stats.compute(builder)["train"]
    every = np.stack([pixels(i, count, dtype) for i in IDS]).astype(np.float64)
    np.testing.assert_allclose(found.band_means(), every.mean((0, 1, 2)))
    np.testing.assert_allclose(found.band_deviations(), every.std((0, 1, 2)))
    assert [*found.as_dict()["bands"]] == ["mean", "std"]
    twice = found + found
    np.testing.assert_allclose(twice.band_means(), found.band_means())


def test_statistics_of_bands_leave_void_out(tmp_path):
    for folder in ("images", "masks"):
        (tmp_path / "tree" / folder).mkdir(parents=True)
    image = np.full((6, 6, 5), 100, np.uint16)
    image[:3] = 65000  # without data
    mask = np.zeros((6, 6), np.uint8)
    mask[:3] = 255
    mask[5] = 1
    for number in range(3):
        np.save(tmp_path / f"tree/images/{number}.npy", image + np.uint16(number))
        Image.fromarray(mask).save(tmp_path / f"tree/masks/{number}.png")
    builder = builder_from_tree(
        tmp_path / "tree",
        name="void",
        data_dir=tmp_path / "data",
        class_names=["a", "b"],
        bands="all",
        dtype="uint16",
        splits={"train": 1.0},
    )
    found = stats.compute(builder)["train"]
    np.testing.assert_allclose(found.band_means(), [101] * 5)
    np.testing.assert_allclose(found.band_deviations(), [np.std([100, 101, 102])] * 5)


@pytest.mark.slow
@with_repeated_kinds_slow
def test_batches_crop_flip_and_scale_all_bands_together(built):
    _, builder, count, dtype, _ = built
    for batches in (
        pipeline.training_batches(builder, "train", batch_size=3, size=20, epochs=1),
        pipeline.evaluation_batches(builder, "train", batch_size=3, size=(20, 20)),
    ):
        (batch,) = batches
        image, mask = batch["image"].numpy(), batch["segmentation_mask"].numpy()
        assert (image.shape, image.dtype) == ((3, 20, 20, count), np.dtype(dtype))
        assert not image[mask[..., 0] == 255].any()
    example = {
        name: value
        for name, value in data_source(str(builder.data_path), split="train")[0].items()
        if name in ("image", "segmentation_mask")
    }
    scaled = arrays.random_scaled_crop(example, 20, np.random.default_rng(0))
    assert (scaled["image"].shape, scaled["image"].dtype) == ((20, 20, count), np.dtype(dtype))


@pytest.mark.slow
@with_repeated_kinds_slow
def test_pages_and_tables_are_made_and_other_layouts_refused(built, tmp_path, capsys):
    root, builder, count, dtype, _ = built
    folder, out = str(builder.data_path), str(tmp_path)
    for words in (
        ["report", folder, f"--out={out}/r.html"],
        ["preview", folder, f"--out={out}/p.png"],
        ["stats", folder, "--json"],
        ["diff", folder, folder],
        ["list", f"--data_dir={root / 'd'}"],
        ["check", str(root), "--class_names", ",".join(NAMES), "--bands=all", f"--dtype={dtype}"],
        ["export", folder, "--layout=voc", f"--out={out}/voc"],
    ):
        assert cli.main(words) == 0, words
    assert f"of {dtype}. They are shown" in (tmp_path / "r.html").read_text()
    again = builder_from_tree(
        tmp_path / "voc", name="again", data_dir=tmp_path / "d", bands="all", dtype=dtype
    )
    for example in data_source(str(again.data_path), split="train"):
        image_id = example["image/filename"].decode()[0]
        np.testing.assert_array_equal(example["image"], pixels(image_id, count, dtype))
    for layout in ("raw", "deeplab"):
        assert cli.main(["export", folder, f"--layout={layout}", f"--out={out}/{layout}"]) == 2
        assert f"of {dtype}" in capsys.readouterr().err


def test_tiles_have_the_values_of_their_places(tmp_path):
    array = pixels("a", 6, "uint16")
    save(tmp_path / "t" / "images" / "a.tif", array)
    drawing.put_mask(tmp_path / "t", "masks/a.png", drawing.truth("a"))
    options = {"bands": [5, 0], "dtype": "uint16", "tile": 8, "verbose": False}
    builder = builder_from_tree(
        tmp_path / "t", name="tiles", data_dir=tmp_path / "d", class_names=NAMES, **options
    )
    tiles = list(data_source(str(builder.data_path), split="train"))
    assert len(tiles) == 4
    for tile in tiles:
        y, x = tile["tile/y"], tile["tile/x"]
        np.testing.assert_array_equal(tile["image"], array[y : y + 8, x : x + 8, [5, 0]])
    assert cli.main(["verify", str(builder.data_path), f"--source={tmp_path / 't'}"]) == 0


def test_nnunets_channels_are_stacked_in_their_order(tmp_path):
    for image_id in IDS:
        for channel in range(2):
            path = tmp_path / "n" / "imagesTr" / f"{image_id}_{channel:04}.png"
            save(path, np.ascontiguousarray(pixels(image_id, 2, "uint16")[..., channel]))
        drawing.put_mask(tmp_path / "n", f"labelsTr/{image_id}.png", drawing.truth(image_id))
    with pytest.raises(LayoutError, match="--bands all --dtype uint16"):
        plan_to_build(tmp_path / "n", name="n", class_names=NAMES)
    builder = builder_from_tree(
        tmp_path / "n",
        name="n",
        data_dir=tmp_path / "d",
        class_names=NAMES,
        bands="all",
        dtype="uint16",
        verbose=False,
    )
    for example in data_source(str(builder.data_path), split="train"):
        image_id = example["image/filename"].decode().rpartition("/")[2][0]
        np.testing.assert_array_equal(example["image"], pixels(image_id, 2, "uint16"))


@pytest.fixture
def deep(tmp_path):
    for image_id in IDS:
        save(tmp_path / "images" / f"{image_id}.png", pixels(image_id, 3, "uint16"))
        drawing.put_mask(tmp_path, f"masks/{image_id}.png", drawing.truth(image_id))
    return tmp_path


def test_without_the_options_the_build_stops_with_both_answers_ready_to_paste(deep, capsys):
    words = ["build", str(deep), "--name=n", f"--data_dir={deep / 'd'}", "--class_names"]
    words += [",".join(NAMES)]
    assert cli.main(words) == 1
    error = capsys.readouterr().err
    answers = re.findall(r"--bands \w+(?: --dtype \w+)?", error)
    assert answers == ["--bands all --dtype uint16", "--bands rgb"]
    stored = {}
    for number, answer in enumerate(answers):
        assert cli.main([*words, *answer.split(), f"--version=1.0.{number}"]) == 0
        folder = deep / "d" / "voc_seg_tfrecord" / "n" / f"1.0.{number}"
        assert cli.main(["verify", str(folder), "--source", str(deep)]) == 0
        examples = data_source(str(folder), split="train")
        stored[answer] = {e["image/filename"].decode()[0]: e["image"] for e in examples}
    for image_id in IDS:
        whole = pixels(image_id, 3, "uint16")
        np.testing.assert_array_equal(stored["--bands all --dtype uint16"][image_id], whole)
        np.testing.assert_array_equal(stored["--bands rgb"][image_id], whole >> 8)


def test_each_image_that_would_lose_bits_is_named_by_check(deep, capsys):
    assert cli.main(["check", str(deep), "--class_names", ",".join(NAMES)]) == 1
    assert f"bands or bits that would be lost ({len(IDS)})" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "found"),
    [
        ({"dtype": "uint16"}, "option dtype"),
        ({"bands": "rgb", "dtype": "uint16"}, "option dtype"),
        ({"bands": "bgr"}, "or rgb"),
        ({"bands": [0, 0]}, "each once"),
        ({"bands": [-1]}, "numbers of bands from 0"),
        ({"bands": [0], "dtype": "int8"}, "uint8, uint16, float32"),
        ({"bands": [0], "tile": 8, "tile_format": "jpeg"}, "a JPEG holds no other bands"),
    ],
)
def test_options_that_do_not_go_together_are_refused(deep, options, found):
    with pytest.raises(ConfigError, match=found):
        plan_to_build(deep, name="n", class_names=NAMES, **options)


def test_values_and_numbers_of_bands_that_do_not_fit_stop_a_build(deep, tmp_path):
    def build(**options):
        options = {"class_names": NAMES, "verbose": False} | options
        builder_from_tree(deep, name="n", data_dir=tmp_path / "d", **options)

    with pytest.raises(Exception, match="--dtype uint16"):
        build(bands="all")
    with pytest.raises(Exception, match="3 bands, 0 to 2"):
        build(bands=[3], dtype="uint16")
    for count in (1, 4):
        save(deep / "images" / "b.png", pixels("b", count, "uint16"))
        for bands in ("all", [0]):
            with pytest.raises(Exception, match=rf"b\.png: {count} bands?\n +expected: 3, as"):
                build(bands=bands, dtype="uint16")


def test_the_command_prints_the_config_that_tfds_builds_the_same_from(deep, capsys):
    words = ["build", str(deep), "--name=n", f"--data_dir={deep / 'd'}", "--dtype=uint16"]
    names = f"--class_names={','.join(NAMES)}"
    assert cli.main([*words, names, "--bands=2,0"]) == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if "--config" in line]
    config = json.loads(line[line.index("{") : line.rindex("}") + 1])
    assert (config["bands"], config["dtype"]) == ([2, 0], "uint16")
    assert cli.main([*words, names, "--bands=a,b"]) == 2


def test_an_image_that_viewers_rotate_is_refused(tmp_path):
    image = drawing.picture("a")
    exif = image.getexif()
    exif[0x0112] = 3
    (tmp_path / "images").mkdir()
    image.save(tmp_path / "images" / "a.jpg", exif=exif)
    drawing.put_mask(tmp_path, "masks/a.png", drawing.truth("a"))
    options = {"name": "n", "data_dir": tmp_path / "d", "class_names": NAMES, "bands": [0]}
    with pytest.raises(Exception, match="--exif ignore"):
        builder_from_tree(tmp_path, **options, verbose=False)
    builder = builder_from_tree(tmp_path, **options, exif="ignore", verbose=False)
    (example,) = data_source(str(builder.data_path), split="train")
    assert example["image"].shape == (*drawing.SIZE, 1)
