import math
import pathlib
import shutil

import numpy as np
from PIL import Image
import pytest
from support import doctoring, drawing, exports
from support.building import examples
from support.scoring import devkit, moved, write_predictions
from support.tiled import SIZES, tree_options, truth, write_tree

from voc_seg_tfrecord import VOC_CLASSES, evaluation, verify, voc_palette
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.core.errors import ConfigError, MaskError, RecordError, SplitError
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.evaluation import evaluate
from voc_seg_tfrecord.evaluation.predictions import Predictions, label_quality
from voc_seg_tfrecord.evaluation.result import ImageScore, Result
from voc_seg_tfrecord.reading.dataset import check_splits


@pytest.fixture
def predictions(sample, tmp_path):
    """A folder of predictions for train: index PNG, palette PNG and NumPy file."""
    folder = write_predictions(sample, tmp_path / "predictions")
    first, second, _ = sorted(folder.iterdir())
    np.save(first.with_suffix(".npy"), np.asarray(Image.open(first)).astype(np.int64))
    first.unlink()
    with Image.open(second) as image:
        image.putpalette(voc_palette().tobytes())
        image.save(second)
    return folder


def test_every_kind_of_prediction_is_scored_as_the_devkit_does(sample, predictions):
    result = evaluation.evaluate(sample, "train", predictions)
    masks = [e["segmentation_mask"][..., 0] for e in examples(sample, "train").values()]
    matrix, iou = devkit(masks, [moved(mask) for mask in masks], len(VOC_CLASSES))
    assert (result.matrix == matrix).all()
    assert result.miou == pytest.approx(np.nanmean(iou), abs=1e-15)
    assert result.images == 3
    assert result.dataset.endswith("@train")


def test_the_fingerprint_is_that_of_verify(sample, predictions):
    report = verify.verify(sample)
    split = {"train": report.splits["train"].fingerprint}
    found = evaluation.evaluate(sample, "train", predictions).fingerprint
    assert found == verify.fingerprint.of_dataset(split)


def test_the_digest_of_predictions_stands_for_ids_and_classes_not_for_files(sample, predictions):
    first = evaluation.evaluate(sample, "train", predictions).predictions
    path = next(predictions.glob("*.npy"))
    values = np.load(path)
    path.unlink()
    Image.fromarray(values.astype(np.uint8)).save(path.with_suffix(".png"))
    assert evaluation.evaluate(sample, "train", predictions).predictions == first
    values[0, 0] = 3 if values[0, 0] != 3 else 4
    Image.fromarray(values.astype(np.uint8)).save(path.with_suffix(".png"))
    assert evaluation.evaluate(sample, "train", predictions).predictions != first


def test_a_list_scores_its_images_and_its_name_does_not_count(sample, predictions, tmp_path):
    chosen = sorted(predictions.iterdir())[:2]
    whole = [evaluation.evaluate(sample, p, predictions) for p in parts(sample, tmp_path, chosen)]
    assert [found.images for found in whole] == [2, 2]
    assert whole[0].fingerprint == whole[1].fingerprint
    assert whole[0].dataset.endswith("@one.txt")


def parts(sample, tmp_path, paths):
    """Yields the same list of ids under two names."""
    for name, splits in (("one.txt", ["train"]), ("two.txt", [])):
        (tmp_path / name).write_text("".join(f"{path.stem}\n" for path in paths))
        yield check_splits(sample, splits, tmp_path / name)


def test_the_scores_of_images_add_up_to_the_score(sample, predictions):
    result = evaluation.evaluate(sample, "train", predictions, per_image=True)
    alone = [one.result(result.class_names) for one in result.per_image]
    assert (sum(one.matrix for one in alone) == result.matrix).all()
    assert [one.id for one in result.per_image] == ["2007_000001", "2008_000002", "2009_000003"]
    assert evaluation.evaluate(sample, "train", predictions).per_image == ()


def test_a_split_that_is_named_twice_is_refused(sample, predictions):
    with pytest.raises(ConfigError, match=r"train\+train, which names a split twice"):
        evaluation.evaluate(sample, ["train", "train"], predictions)


def test_an_image_of_two_splits_counts_in_both(tmp_path):
    mask = drawing.truth("a")
    root = tmp_path / "tree"
    drawing.put_pair(root, "a")
    for split in ("train", "val"):
        drawing.put(root, f"ImageSets/Segmentation/{split}.txt", "a\n")
    options = {"class_names": [*exports.COLORS], "overlap": True, "data_dir": tmp_path}
    both = builder_from_tree(root, name="both", **options)
    folder = tmp_path / "predictions"
    folder.mkdir()
    np.save(folder / "a.npy", mask)
    result = evaluation.evaluate(both, ["train", "validation"], folder)
    assert result.images == 2
    assert result.pixels == 2 * mask.size


def test_a_record_without_a_mask_is_named(sample, predictions, tmp_path):
    def drop_mask(examples):
        del examples[0].features.feature["segmentation_mask"]
        return examples

    damaged = doctoring.doctored(sample, tmp_path / "damaged", drop_mask)
    with pytest.raises(RecordError, match="2007_000001, segmentation_mask"):
        evaluation.evaluate(damaged, "train", predictions)


def test_the_score_of_one_image_knows_the_background(sample, predictions):
    (first, *_) = evaluation.evaluate(sample, "train", predictions, per_image=True).per_image
    result = first.result(VOC_CLASSES)
    assert result.background == 0
    assert result.foreground_miou < result.miou


def one_hot(predictions, axes, scale=1.0):
    """Turns a folder of classes into one of probabilities: `scale` for the class, 0 elsewhere."""
    for path in sorted(predictions.iterdir()):
        values = np.load(path) if path.suffix == ".npy" else np.array(Image.open(path))
        path.unlink()
        chances = np.eye(21, dtype=np.float16)[values] * scale
        np.save(path.with_suffix(".npy"), chances if axes == "HWC" else chances.transpose(2, 0, 1))


@pytest.mark.parametrize("axes", ["CHW", "HWC"])
def test_the_most_probable_class_is_scored(sample, predictions, axes):
    expected = evaluation.evaluate(sample, "train", predictions)
    one_hot(predictions, axes)
    found = evaluation.evaluate(sample, "train", predictions, probabilities=axes)
    assert (found.matrix == expected.matrix).all()
    assert found.predictions == expected.predictions


@pytest.mark.parametrize(
    ("axes", "said", "scale", "message"),
    [
        ("CHW", "HWC", 1, "64 classes, read as HWC.*expected: 21"),
        ("CHW", "CHW", 7, r"values from 0 to 7, whose sums go from 7 to 7.*softmax"),
        ("HWC", None, 1, "an array float16"),
    ],
)
def test_what_are_no_probabilities_is_refused(sample, predictions, axes, said, scale, message):
    one_hot(predictions, axes, scale)
    with pytest.raises(SplitError, match=rf"(?s)3 of 3.*{message}"):
        evaluation.evaluate(sample, "train", predictions, probabilities=said)


def softmin(mask, chances):
    """The quality of a label as its paper writes it, pixel by pixel."""
    given = [chances[y, x, c] for (y, x), c in np.ndenumerate(mask) if c != 255]
    weights = [math.exp((1 - p) / 0.1) for p in given]
    return sum(p * w for p, w in zip(given, weights, strict=True)) / sum(weights)


def test_the_quality_of_a_label_is_the_soft_minimum_of_its_probabilities():
    rng = np.random.default_rng(0)
    mask = rng.choice([0, 1, 2, 255], (6, 7)).astype(np.uint8)
    chances = rng.dirichlet((1, 1, 1), (6, 7))
    assert label_quality(mask, chances) == pytest.approx(softmin(mask, chances))
    assert label_quality(np.full((2, 2), 255, np.uint8), chances[:2, :2]) == 1


def test_a_missing_prediction_is_named(sample, predictions):
    next(predictions.glob("*.png")).unlink()
    with pytest.raises(SplitError, match=r"(?s)1 of 3 .*\.png: no such file.*predict all"):
        evaluation.evaluate(sample, "train", predictions)


def test_a_prediction_of_another_image_is_named(sample, predictions):
    np.save(predictions / "stranger.npy", np.zeros((3, 3), int))
    with pytest.raises(MaskError, match=r"1 of 4 predictions are not .*such as stranger\.npy"):
        evaluation.evaluate(sample, "train", predictions)


def colors(image):
    return image.convert("RGB")


def other_palette(image):
    image.putpalette([c for n in range(256) for c in (n, 255 - n, 7)])
    return image


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda i: i.resize((5, 5)), "a prediction of 5 x 5 pixels"),
        (lambda i: i.point(lambda _: 77), r"a prediction with the value 77"),
        (lambda i: i.point(lambda _: 255), "cannot be predicted"),
        (colors, "an RGB picture"),
        (other_palette, "a palette that is not VOC's"),
    ],
)
def test_a_prediction_that_cannot_be_scored_is_named(sample, predictions, change, message):
    path = max(predictions.glob("*.png"))
    with Image.open(path) as image:
        change(Image.fromarray(np.array(image))).save(path)
    with pytest.raises(SplitError, match=rf"(?s)1 of 3.*{path.name}: .*{message}"):
        evaluation.evaluate(sample, "train", predictions)


@pytest.mark.parametrize("ending", [".npy", ".PNG", ".NPY"])
def test_two_files_for_one_image_are_refused_and_both_are_named(sample, predictions, ending):
    path = next(predictions.glob("*.png"))
    other = path.with_suffix(ending)
    other.write_bytes(b"never opened")
    if path.samefile(other):
        pytest.skip("this disk takes both names for one file")
    with pytest.raises(ConfigError, match="1 id with more than one file") as caught:
        evaluation.evaluate(sample, "train", predictions)
    assert path.name in str(caught.value)
    assert other.name in str(caught.value)


@pytest.mark.parametrize("name", ["nothing", "."])
def test_a_folder_without_predictions_is_named(sample, tmp_path, name):
    with pytest.raises(ConfigError, match=r"no such folder|no \.png"):
        evaluation.evaluate(sample, "train", tmp_path / name)


COUNT = 8


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    tree = write_tree(tmp_path_factory.mktemp("tree") / "tree", COUNT)
    data_dir = tmp_path_factory.mktemp("data")
    return tree, builder_from_tree(tree, name="whole", data_dir=data_dir, **tree_options())


@pytest.fixture(scope="module", params=[0, 5, 13])
def tiled(request, whole, tmp_path_factory):
    options = tree_options(tile=16, tile_overlap=request.param)
    return builder_from_tree(
        whole[0], name="tiled", data_dir=tmp_path_factory.mktemp("data"), **options
    )


def one_pixel_network(image):
    """Returns a class that depends on the pixel alone, uint8 `[H, W]`."""
    return (image.astype(int).sum(-1) % 3).astype(np.uint8)


@pytest.fixture(scope="module")
def made(tiled, tmp_path_factory):
    folder = tmp_path_factory.mktemp("made")
    for tile in tiled.as_dataset(split="train").as_numpy_iterator():
        name = tile["image/filename"].decode().removesuffix(".png")
        np.save(folder / f"{name}.npy", one_pixel_network(tile["image"]))
    return folder


@pytest.fixture
def written(made, tmp_path):
    """A folder with a prediction of each tile, which a test may change."""
    return pathlib.Path(shutil.copytree(made, tmp_path / "tiles"))


@pytest.mark.slow_but_first
def test_the_score_of_tiles_is_that_of_the_complete_images(whole, tiled, made, tmp_path):
    for number in range(COUNT):
        np.save(tmp_path / f"{number}.npy", one_pixel_network(truth(number)[0]))
    expected = evaluate(whole[1], "train", tmp_path)
    for folder in (made, tmp_path):
        found = evaluate(tiled, "train", folder)
        assert (found.matrix == expected.matrix).all()
        assert found.images == expected.images == COUNT
    assert expected.pixels == sum((truth(n)[1] != 255).sum() for n in range(COUNT))


@pytest.mark.slow
def test_where_tiles_disagree_the_first_one_counts(tiled, written):
    tiling = Tiling(16, tiled.info.metadata["config"].get("tile_overlap", 0))
    expected = np.zeros((3, 3), int)
    for number in range(COUNT):
        size = SIZES[number % len(SIZES)]
        drawn = np.full(size, 9)
        for order, tile in enumerate(tiling.tiles(*size)):
            value = order % 3
            np.save(
                written / f"{tile.name(str(number))}.npy",
                np.full((tile.height, tile.width), value, np.uint8),
            )
            part = drawn[tile.window]
            part[part == 9] = value
        mask = truth(number)[1]
        np.add.at(expected, (mask[mask < 3], drawn[mask < 3]), 1)
    assert (evaluate(tiled, "train", written).matrix == expected).all()


one_overlap = pytest.mark.parametrize("tiled", [5], indirect=True)


@one_overlap
def test_a_missing_tile_is_an_error(tiled, written):
    (written / "0_r1_c1.npy").unlink()
    with pytest.raises(SplitError, match="0_r1_c1"):
        evaluate(tiled, "train", written)


@one_overlap
@pytest.mark.parametrize("missing", [(), ("3_r0_c0",)], ids=["all tiles", "one tile missing"])
def test_predictions_of_tile_and_image_are_an_error_that_names_both(tiled, written, missing):
    np.save(written / "3.npy", one_pixel_network(truth(3)[0]))
    for name in missing:
        (written / f"{name}.npy").unlink()
    with pytest.raises(SplitError, match=r"(?s)3_r\d_c\d\.npy: .*second prediction.*3\.npy"):
        evaluate(tiled, "train", written)


@one_overlap
def test_boundary_iou_needs_complete_images(tiled, made):
    with pytest.raises(ConfigError, match="complete images"):
        evaluate(tiled, "train", made, boundary=0.02)


def test_a_boolean_prediction_is_no_class_index_where_there_are_more_than_two_classes(tmp_path):
    np.save(tmp_path / "a.npy", np.ones((2, 3), bool))
    assert Predictions(tmp_path, 2).read("a", None).classes.tolist() == [[1, 1, 1]] * 2
    with pytest.raises(MaskError, match="true and false, but there are 21 classes"):
        Predictions(tmp_path).read("a", None)


def test_images_without_a_counted_pixel_come_last_in_the_order_of_their_ids():
    pixels = {"c": {}, "b": {(0, 0): 4}, "e": {}, "a": {(0, 1): 4}, "d": {}}
    scores = [ImageScore(name, "train", 0, cells) for name, cells in pixels.items()]
    for order in (scores, scores[::-1]):
        result = Result(("x", "y"), np.zeros((2, 2), np.int64), per_image=tuple(order))
        assert [score.id for score in result.rank_images()] == ["a", "b", "c", "d", "e"]


@pytest.mark.parametrize("name", ["{}_pred.npy", "pred_{}.png", "{}.png.npy"])
def test_a_prediction_under_another_name_is_named_and_the_right_name_too(sample, tmp_path, name):
    predictions = write_predictions(sample, tmp_path / "predictions")
    for path in predictions.iterdir():
        path.rename(predictions / name.format(path.stem))
    with pytest.raises(SplitError) as refused:
        evaluate(sample, "train", predictions)
    assert f"no such file, but {name.format('2007_000001')}" in str(refused.value)
    assert "name the prediction 2007_000001.png or 2007_000001.npy" in str(refused.value)


SCORES = {
    (21, 5, 5): r"\(argmax\).*--probabilities CHW",
    (5, 5, 21): r"\(argmax\).*--probabilities HWC",
    (5, 5): r"as integers: \.astype\('uint8'\)",
}


@pytest.mark.parametrize("shape", SCORES)
def test_scores_in_place_of_classes_are_told_what_to_save(sample, tmp_path, shape):
    scores = np.random.default_rng(0).normal(size=shape).astype(np.float32)
    for image_id in ("2007_000001", "2008_000002", "2009_000003"):
        np.save(tmp_path / f"{image_id}.npy", scores)
    with pytest.raises(SplitError, match=SCORES[shape]):
        evaluate(sample, "train", tmp_path)


def test_predictions_under_numbers_and_in_other_formats_are_named(sample, tmp_path):
    predictions = write_predictions(sample, tmp_path / "predictions")
    for number, path in enumerate(sorted(predictions.iterdir())):
        path.rename(predictions / f"{number:05}.png")
    words = "no such file among 3 predictions, such as 00000.png"
    with pytest.raises(SplitError, match=words):
        evaluate(sample, "train", predictions)
    for path in predictions.iterdir():
        path.rename(path.with_suffix(".npz"))
    with pytest.raises(ConfigError, match=r"no \.npy file among 00000\.npz"):
        evaluate(sample, "train", predictions)


def test_white_in_place_of_a_class_is_told_to_save_its_index(sample, tmp_path):
    predictions = write_predictions(sample, tmp_path / "predictions")
    for path in predictions.iterdir():
        values = np.asarray(Image.open(path))
        Image.fromarray(np.where(values > 0, 255, 0).astype(np.uint8)).save(path)
    with pytest.raises(SplitError, match="save the index of the class in place of 255, such as 1"):
        evaluate(sample, "train", predictions)
