import numpy as np
import pytest
from support.tiled import SIZES, tree_options, truth, write_tree

from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.errors import ConfigError, SplitError
from voc_seg_tfrecord.evaluation import evaluate
from voc_seg_tfrecord.examples.grid import Tiling

COUNT = 8


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    tree = write_tree(tmp_path_factory.mktemp("tree") / "tree", COUNT)
    data_dir = tmp_path_factory.mktemp("data")
    return tree, builder_from_tree(tree, name="whole", data_dir=data_dir, **tree_options())


@pytest.fixture(scope="module", params=[0, 5, 15])
def tiled(request, whole, tmp_path_factory):
    options = tree_options(tile=16, tile_overlap=request.param)
    return builder_from_tree(
        whole[0], name="tiled", data_dir=tmp_path_factory.mktemp("data"), **options
    )


def one_pixel_network(image):
    """Returns a class that depends on the pixel alone, uint8 `[H, W]`."""
    return (image.astype(int).sum(-1) % 3).astype(np.uint8)


def write_whole(folder):
    for number in range(COUNT):
        np.save(folder / f"{number}.npy", one_pixel_network(truth(number)[0]))
    return folder


def write_tiles(folder, builder):
    for tile in builder.as_dataset(split="train").as_numpy_iterator():
        name = tile["image/filename"].decode().removesuffix(".png")
        np.save(folder / f"{name}.npy", one_pixel_network(tile["image"]))
    return folder


@pytest.fixture
def folder(tmp_path):
    def make(name):
        (tmp_path / name).mkdir()
        return tmp_path / name

    return make


def test_the_score_of_tiles_is_that_of_the_complete_images(whole, tiled, folder):
    expected = evaluate(whole[1], "train", write_whole(folder("whole")))
    by_tiles = evaluate(tiled, "train", write_tiles(folder("tiles"), tiled))
    by_images = evaluate(tiled, "train", folder("whole2").parent / "whole")
    for found in (by_tiles, by_images):
        assert (found.matrix == expected.matrix).all()
        assert found.images == expected.images == COUNT
    assert expected.pixels == sum((truth(n)[1] != 255).sum() for n in range(COUNT))


def test_where_tiles_disagree_the_first_one_counts(tiled, folder):
    written = write_tiles(folder("tiles"), tiled)
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


def test_a_missing_tile_is_an_error(tiled, folder):
    written = write_tiles(folder("tiles"), tiled)
    (written / "0_r1_c1.npy").unlink()
    with pytest.raises(SplitError, match="0_r1_c1"):
        evaluate(tiled, "train", written)


@pytest.mark.parametrize("missing", [(), ("3_r0_c0",)], ids=["all tiles", "one tile missing"])
def test_predictions_of_tile_and_image_are_an_error_that_names_both(tiled, folder, missing):
    written = write_tiles(folder("tiles"), tiled)
    np.save(written / "3.npy", one_pixel_network(truth(3)[0]))
    for name in missing:
        (written / f"{name}.npy").unlink()
    with pytest.raises(SplitError, match=r"(?s)3_r\d_c\d\.npy: .*second prediction.*3\.npy"):
        evaluate(tiled, "train", written)


def test_a_trimap_needs_complete_images(tiled, folder):
    with pytest.raises(ConfigError, match="complete images"):
        evaluate(tiled, "train", write_tiles(folder("tiles"), tiled), trimap=2)
