from collections import Counter
from unittest import mock

import numpy as np
import pytest
from support.tiled import SIZES, tree_options, truth, write_tree
import tensorflow_datasets as tfds

from voc_seg_tfrecord import arrays, data_source, pipeline
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.core.errors import ConfigError
from voc_seg_tfrecord.core.names import TILE
from voc_seg_tfrecord.core.tiling import Tiling
from voc_seg_tfrecord.reading import stitching

BUILDER = mock.Mock(spec=tfds.core.DatasetBuilder)  # its tiling is replaced


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("tree") / "tree")


@pytest.fixture(scope="module")
def tiled(tree, tmp_path_factory):
    options = tree_options(tile=16, tile_overlap=5)
    data_dir = tmp_path_factory.mktemp("data")
    return builder_from_tree(tree, name="tiled", data_dir=data_dir, **options)


@pytest.fixture(scope="module")
def examples(tiled):
    return list(tiled.as_dataset(split="train").as_numpy_iterator())


def scores(image):
    """A network that sees one pixel: float32 `[..., 3]` of uint8 `[..., 3]`."""
    return np.sin(np.asarray(image, np.float32) / 7)


def batches(builder, size=3, **options):
    return pipeline.evaluation_batches(builder, "train", batch_size=size, **options)


@pytest.mark.slow_but_first
@pytest.mark.parametrize("overlap", ["average", "first"])
def test_scores_of_a_network_that_sees_one_pixel_are_those_of_the_image(tiled, overlap):
    predictions = ((batch, scores(batch["image"])) for batch in batches(tiled))
    found = dict(pipeline.stitch(tiled, predictions, overlap=overlap))
    assert sorted(found) == [str(n) for n in range(len(SIZES))]
    for number in range(len(SIZES)):
        expected = scores(truth(number)[0])
        assert found[str(number)].dtype == np.float32
        assert np.array_equal(found[str(number)], expected)


@pytest.mark.slow
def test_a_list_means_a_tile_by_its_own_id_and_by_that_of_its_image(tiled, examples):
    tile_ids = pipeline.tiles_of(tiled, {"0": truth(0)[1].shape})
    by_tile = pipeline.read(tiled, tile_ids, features=["tile/image_id"])
    by_image = pipeline.read(tiled, ["0"], features=["tile/image_id"])
    names = [
        [e["image/filename"] for e in found.as_numpy_iterator()] for found in (by_tile, by_image)
    ]
    assert names[0] == names[1]
    expected = [e["image/filename"] for e in examples if e["tile/image_id"] == b"0"]
    assert sorted(names[0]) == sorted(expected)


@pytest.mark.slow
def test_the_tiles_of_labeled_images_are_the_labeled_part(tiled):
    pairs = pipeline.labeled_unlabeled_batches(
        tiled, labeled=["0"], size=16, batch_size=1, epochs=1, features=["image", "tile/image_id"]
    )
    for labeled, unlabeled in pairs:
        assert labeled["tile/image_id"].numpy().tolist() == [b"0"]
        assert unlabeled["tile/image_id"].numpy().tolist() != [b"0"]


def test_classes_of_single_examples_are_put_together(tiled, examples):
    predictions = ((e, e["segmentation_mask"][..., 0]) for e in examples)
    for image_id, found in pipeline.stitch(tiled, predictions):
        assert np.array_equal(found, truth(int(image_id))[1])


def test_where_tiles_overlap_scores_are_averaged_and_the_first_class_wins(tiled):
    tiles = [
        {"tile/image_id": b"a", "tile/y": 0, "tile/x": x}
        | {"tile/image_height": 1, "tile/image_width": 20}
        for x in (0, 4)
    ]
    ones = [np.full((1, 16), value) for value in (1, 3)]
    given = list(zip(tiles, ones, strict=True))
    ((_, first),) = pipeline.stitch(tiled, given[::-1])
    assert first.tolist() == [[1] * 16 + [3] * 4]
    floats = [(tile, values.astype(np.float64)) for tile, values in given]
    ((_, mean),) = pipeline.stitch(tiled, floats)
    assert mean.tolist() == [[1] * 4 + [2] * 12 + [3] * 4]


def overlapping_tiles(*values):
    """Returns tiles of one image of 1 x 20 pixels that share 12 columns, each of one score."""
    for x, value in zip((0, 4), values, strict=True):
        size = {"tile/image_height": 1, "tile/image_width": 20}
        tile = {"tile/image_id": b"a", "tile/y": 0, "tile/x": x} | size
        yield tile, np.full((1, 16, 1), value, np.float32)


@pytest.mark.parametrize("values", [(-np.inf, -np.inf), (-np.inf, 3), (3, -np.inf)])
def test_a_score_of_minus_infinity_stays_where_tiles_overlap(tiled, values):
    ((_, found),) = pipeline.stitch(tiled, overlapping_tiles(*values))
    assert found[0, 4:16, 0].tolist() == [-np.inf] * 12
    assert found[0, :4, 0].tolist() == [values[0]] * 4
    assert found[0, 16:, 0].tolist() == [values[1]] * 4


@pytest.mark.parametrize("overlap", ["average", "first"])
@pytest.mark.parametrize("values", [(np.nan, 1), (1, np.nan), (np.nan, np.nan)])
def test_scores_that_are_nan_are_refused(tiled, values, overlap):
    with pytest.raises(ConfigError, match="NaN"):
        list(pipeline.stitch(tiled, overlapping_tiles(*values), overlap=overlap))


def test_infinite_scores_of_both_signs_have_no_mean(tiled):
    with pytest.raises(ConfigError, match="infinite with both signs"):
        list(pipeline.stitch(tiled, overlapping_tiles(-np.inf, np.inf)))


def test_the_tiles_of_a_few_images_can_be_read_alone(tiled):
    ids = pipeline.tiles_of(tiled, {"0": SIZES[0], "3": SIZES[3]})
    found = pipeline.evaluation_batches(tiled, ids, batch_size=4)
    predictions = ((batch, batch["segmentation_mask"][..., 0]) for batch in found)
    assert sorted(i for i, _ in pipeline.stitch(tiled, predictions)) == ["0", "3"]


def test_an_image_is_given_as_soon_as_its_last_tile_came(tiled, examples):
    left = Counter(e["tile/image_id"].decode() for e in examples)

    def predictions():
        for e in examples:
            left[e["tile/image_id"].decode()] -= 1
            yield e, e["segmentation_mask"]

    done = set()
    for image_id, _ in pipeline.stitch(tiled, predictions()):
        assert left[image_id] == 0
        done.add(image_id)
    assert done == left.keys()


def test_missing_double_and_foreign_tiles_are_refused(tiled, examples):
    pairs = [(e, e["segmentation_mask"]) for e in examples]
    number = next(n for n, e in enumerate(examples) if e["tile/image_id"] == b"0")
    small = np.zeros((8, 8), np.uint8)
    of_one_image = [pair for pair in pairs if pair[0]["tile/image_id"] == b"0"]
    first, second = of_one_image[:2]
    for given, words in (
        (pairs[:-1], r"1 image without all tiles: . without ._r"),
        ([*pairs, *pairs], r"(?s)for the second time, .*one pass"),
        ([pairs[number]] * 2, "a tile of 0 for the second time, at row"),
        ([(examples[number], small)], "as the tile has"),
        ([({}, small)], "without tile/image_id"),
        ([first, (second[0], second[1][..., 0])], r"the channels \(1,\), as for the first tile"),
        ([first, (second[0], second[1].astype(int))], "(?s)int64, shape .*expected: uint8"),
        ([(examples[number], np.zeros(3))], r"predictions of shape \(3,\)"),
    ):
        with pytest.raises(ConfigError, match=words):
            list(pipeline.stitch(tiled, given))


@pytest.mark.slow_but_first
@pytest.mark.parametrize("count", [2, 4])
def test_as_many_predictions_as_tiles_are_needed_in_a_batch(tiled, count):
    batch = next(iter(batches(tiled, size=3)))
    predicted = np.zeros((count, 16, 16), np.uint8)
    with pytest.raises(ConfigError, match=rf"shape \({count}, 16, 16\)"):
        list(pipeline.stitch(tiled, [(batch, predicted)]))


def test_no_mean_of_classes_is_taken(tiled):
    predictions = ((batch, batch["segmentation_mask"]) for batch in batches(tiled))
    with pytest.raises(ConfigError, match="'average' of uint8"):
        list(pipeline.stitch(tiled, predictions, overlap="average"))


def test_complete_images_are_not_stitched_and_have_no_places(tree, tmp_path):
    whole = builder_from_tree(tree, name="whole", data_dir=tmp_path, **tree_options())
    assert not set(TILE) & set(batches(whole).element_spec)
    with pytest.raises(ConfigError, match="a dataset of tiles"):
        list(pipeline.stitch(whole, []))
    with pytest.raises(ConfigError, match="a dataset of tiles"):
        pipeline.tiles_of(whole, {})


@pytest.mark.slow
def test_random_crops_of_tiles_are_those_of_the_tile(tiled):
    reopened = tfds.builder_from_directory(tiled.data_dir)
    batch = next(iter(pipeline.training_batches(reopened, "train", size=12, batch_size=4)))
    assert batch["image"].shape == (4, 12, 12, 3)


def make_tiles(width, overlap, size=16):
    """Returns the tiles of an image of one row of tiles, as examples, and their corners."""
    tiling = Tiling(size, overlap)
    tiles = list(tiling.tiles(size, width))
    examples = []
    for tile in tiles:
        example = {"tile/image_id": b"a", "tile/y": tile.top, "tile/x": tile.left}
        examples.append(example | {"tile/image_height": size, "tile/image_width": width})
    return tiles, examples


@pytest.mark.parametrize("overlap", [4, 5, 8, 15])
@pytest.mark.parametrize("width", [16, 23, 27, 50])
def test_blending_is_the_weighted_mean_in_any_order_of_the_tiles(monkeypatch, width, overlap):
    monkeypatch.setattr(stitching, "tiling_of", lambda _: Tiling(16, overlap))
    tiles, examples = make_tiles(width, overlap)
    some = np.random.default_rng(width)
    parts = [some.normal(size=(16, 16, 2)).astype(np.float32) for _ in tiles]
    pairs = list(zip(examples, parts, strict=True))
    ((_, blended),) = arrays.stitch(BUILDER, pairs, overlap="blend")
    ((_, backwards),) = arrays.stitch(BUILDER, pairs[::-1], overlap="blend")
    total = np.zeros((16, width, 2))
    weight = np.zeros((16, width, 1))
    for number, (tile, part) in enumerate(zip(tiles, parts, strict=True)):
        for column in range(16):
            share = 1.0
            if number > 0:
                shared = tiles[number - 1].left + 16 - tile.left
                share = min(share, (column + 1) / (shared + 1))
            if number + 1 < len(tiles):
                shared = tile.left + 16 - tiles[number + 1].left
                share = min(share, (16 - column) / (shared + 1))
            total[:, tile.left + column] += share * part[:, column]
            weight[:, tile.left + column] += share
    np.testing.assert_allclose(blended, total / weight, atol=1e-5)
    np.testing.assert_allclose(backwards, blended, atol=1e-5)


def test_blending_goes_from_one_tile_to_the_next_in_equal_steps(monkeypatch):
    monkeypatch.setattr(stitching, "tiling_of", lambda _: Tiling(16, 5))
    _, examples = make_tiles(27, 5)
    levels = [(example, np.full((16, 16), n, np.float32)) for n, example in enumerate(examples)]
    ((_, found),) = arrays.stitch(BUILDER, levels, overlap="blend")
    expected = [*[0] * 11, 1 / 6, 2 / 6, 3 / 6, 4 / 6, 5 / 6, *[1] * 11]
    np.testing.assert_allclose(found, np.tile(expected, (16, 1)), atol=1e-6)


def test_equal_scores_are_blended_to_exactly_themselves_and_classes_are_not_blended(monkeypatch):
    monkeypatch.setattr(stitching, "tiling_of", lambda _: Tiling(16, 5))
    _, examples = make_tiles(50, 5)
    for value in (0.1, -np.inf):
        pairs = [(example, np.full((16, 16), value, np.float32)) for example in examples]
        ((_, found),) = arrays.stitch(BUILDER, pairs, overlap="blend")
        assert (found == np.float32(value)).all()
    pairs = [(example, np.zeros((16, 16), np.uint8)) for example in examples]
    with pytest.raises(ConfigError, match="'blend' of uint8"):
        list(arrays.stitch(BUILDER, pairs, overlap="blend"))


@pytest.mark.parametrize("overlap", ["average", "blend", "first"])
def test_examples_of_a_data_source_are_stitched_by_the_name_of_the_dataset(tiled, overlap):
    source = data_source(tiled.data_path, split="train")
    pairs = ((example, scores(example["image"])) for example in source)
    found = dict(arrays.stitch(tiled.data_path, pairs, overlap=overlap))
    assert sorted(found) == [str(number) for number in range(len(SIZES))]
    for number in range(len(SIZES)):
        np.testing.assert_array_equal(found[str(number)], scores(truth(number)[0]))
