import json
import re

import numpy as np
import pytest
from support.building import build, examples
from support.tiled import NAMES, SIZES, tree_options, truth, write_tree

from voc_seg_tfrecord import VocSegConfig
from voc_seg_tfrecord.build_from.tree import builder_from_tree
from voc_seg_tfrecord.commands import cli
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError

WAY = ["--class_names", "background,crack,hole"]


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    return write_tree(tmp_path_factory.mktemp("tiles") / "tree", count=12)


def shards(builder):
    return {p.name: p.read_bytes() for p in builder.data_path.iterdir() if ".tfrecord" in p.name}


@pytest.mark.slow
def test_tiles_that_tfds_reads_are_the_images_masks_and_instances(tree, tmp_path):
    builder = builder_from_tree(
        tree,
        name="tiled",
        data_dir=tmp_path,
        **tree_options(tile=16, tile_overlap=3, instance_mask=True),
    )
    seen = {n: np.zeros(SIZES[n % len(SIZES)], int) for n in range(12)}
    for name, tile in examples(builder, "train").items():
        number = int(tile["tile/image_id"])
        image, mask = truth(number)
        assert name.startswith(f"{number}_r")
        assert (tile["tile/image_height"], tile["tile/image_width"]) == mask.shape
        height, width = tile["image/height"], tile["image/width"]
        at = np.s_[tile["tile/y"] :, tile["tile/x"] :]
        assert (tile["image"] == image[at][:height, :width]).all()
        assert (tile["segmentation_mask"][..., 0] == mask[at][:height, :width]).all()
        objects = tile["instance_mask"][..., 0]
        assert (objects == np.where(mask == 1, 7, mask)[at][:height, :width]).all()
        seen[number][at][:height, :width] += 1
    assert all((count > 0).all() for count in seen.values())


def test_the_class_table_of_a_build_counts_tiles(tree, tmp_path, capsys):
    words = ["build", str(tree), "--name=x", f"--data_dir={tmp_path}", "--tile=16", *WAY]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert re.search(r"index  class +tiles +pixels +share", printed)
    images, tiles = re.search(r"tiles: (\d+) images became (\d+) tiles; pixels", printed).groups()
    assert images == "12"
    assert f"1.0.0: train {tiles}\n" in printed


@pytest.mark.slow
def test_tiles_of_one_image_are_in_one_split(tree, tmp_path):
    builder = builder_from_tree(
        tree,
        name="tiled",
        data_dir=tmp_path,
        **tree_options(tile=8, splits={"train": 0.5, "validation": 0.5}),
    )
    found = {
        split: {e["tile/image_id"] for e in examples(builder, split).values()}
        for split in ("train", "validation")
    }
    assert not found["train"] & found["validation"]
    assert len(found["train"] | found["validation"]) == 12


def test_the_printed_config_gives_the_same_bytes_under_tfds_build(tree, tmp_path, capsys):
    words = ["build", str(tree), "--name", "tiled", "--data_dir", str(tmp_path / "a"), *WAY]
    words += ["--tile", "16", "--tile_overlap", "4", "--tile_format", "jpeg"]
    assert cli.main(words) == 0
    printed = capsys.readouterr().out
    assert "16 x 16 pixels, neighbors share 4 pixels, stored as JPEG of quality 95" in printed
    said = json.loads(printed.split("--config '")[1].split("'")[0])
    assert (said["tile"], said["tile_overlap"]) == (16, 4)
    again = build(tmp_path / "b", VocSegConfig(**said), tree)
    first = build(tmp_path / "a", VocSegConfig(**said), tree)
    assert shards(first) == shards(again)


def test_tiles_have_the_classes_that_were_mapped(tree, tmp_path):
    options = tree_options(
        tile=16, classes={"crack": "defect", "hole": "defect", "*": "background"}
    )
    builder = builder_from_tree(tree, name="mapped", data_dir=tmp_path, **options)
    names = builder.info.features["labels"].feature.names
    defect = names.index("defect")
    for tile in examples(builder, "train").values():
        _, mask = truth(int(tile["tile/image_id"]))
        part = mask[tile["tile/y"] :, tile["tile/x"] :]
        part = part[: tile["image/height"], : tile["image/width"]]
        expected = np.where((part == 1) | (part == 2), defect, part)
        assert (tile["segmentation_mask"][..., 0] == expected).all()
        assert list(tile["labels"]) == [defect] * bool((expected == defect).any())


def test_a_dataset_is_not_reused_for_other_tiles_under_its_name(tree, tmp_path):
    config = {"name": "tiled", "class_names": NAMES}
    build(tmp_path, VocSegConfig(**config, tile=16), tree)
    with pytest.raises(ConfigError, match="another value of tile: 16"):
        build(tmp_path, VocSegConfig(**config, tile=24), tree)


@pytest.mark.parametrize(
    "changed", [{"splits": {"train": "val"}}, {"background": NAMES[1]}, {"instance_mask": True}]
)
def test_a_dataset_is_not_reused_for_other_content_under_its_name(tree, tmp_path, changed):
    config = {"name": "own", "class_names": NAMES}
    build(tmp_path, VocSegConfig(**config), tree)
    with pytest.raises(ConfigError, match=f"another value of {next(iter(changed))}: the default"):
        build(tmp_path, VocSegConfig(**config, **changed), tree)


def test_a_damaged_image_stops_a_build_of_tiles_and_is_named(tmp_path):
    root = write_tree(tmp_path / "tree", count=2)
    path = root / "JPEGImages" / "0.png"
    data = bytearray(path.read_bytes())
    data[-20] ^= 0xFF
    path.write_bytes(data)
    with pytest.raises(VocSegError, match=r"0\.png"):
        builder_from_tree(root, name="t", data_dir=tmp_path / "d", **tree_options(tile=8))
