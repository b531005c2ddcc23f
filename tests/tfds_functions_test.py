"""TFDS's own functions for looking at a dataset, as docs/guides/looking.md says to call them."""

import matplotlib as mpl
import numpy as np
import pytest
from support import tiled
from support.building import build
from support.paths import DUMMY_DATA
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VocSegConfig, builder_from_tree, from_arrays


def segmentation(data_dir):
    masks = [np.eye(8, dtype=np.uint8) * 255, np.ones((8, 8), np.uint8)]
    images = [np.full((8, 8, 3), n, np.uint8) for n in range(2)]
    return from_arrays(
        images, masks, name="own", class_names=["background", "a"], data_dir=data_dir
    )


def classification(data_dir):
    images = [np.full((8, 8, 3), n, np.uint8) for n in range(2)]
    return from_arrays(images, labels=[0, 1], name="own", class_names=["a", "b"], data_dir=data_dir)


def only_images(data_dir):
    config = VocSegConfig(name="own", release="2012_test", strict=False)
    return build(data_dir, config, DUMMY_DATA)


def tiles(data_dir):
    root = tiled.write_tree(data_dir / "tree")
    options = tiled.tree_options(name="own", tile=16, data_dir=data_dir / "data")
    return builder_from_tree(root, instance_mask=True, **options)


@pytest.fixture(params=[None, segmentation, classification, only_images, tiles])
def builder(request, sample, tmp_path):
    mpl.use("template")  # shows nothing, and does not warn of it
    return request.param(tmp_path) if request.param else sample


@pytest.mark.slow_but_first
def test_show_examples_and_a_table_show_the_images_of_every_kind_of_dataset(builder):
    split = next(iter(builder.info.splits))
    dataset = builder.as_dataset(split=split)
    figure = tfds.show_examples(dataset, builder.info, image_key="image")
    first = next(dataset.as_numpy_iterator())
    shown = figure.axes[0].images[0].get_array()
    assert (np.asarray(shown) == first["image"]).all()
    assert len(figure.axes) == min(9, builder.info.splits[split].num_examples)
    table = tfds.as_dataframe(dataset.take(2), builder.info)
    html = table._repr_html_()
    images = [name for name in table.columns if name in ("image", "segmentation_mask")]
    assert html.count("<img") >= len(images) * len(table)


@pytest.mark.slow
def test_show_examples_shows_masks_and_without_a_name_says_what_to_pass(sample):
    mpl.use("template")
    dataset = sample.as_dataset(split="train")
    figure = tfds.show_examples(dataset, sample.info, image_key="segmentation_mask")
    first = next(dataset.as_numpy_iterator())["segmentation_mask"]
    assert (np.asarray(figure.axes[0].images[0].get_array()) == first[..., 0]).all()
    with pytest.raises(ValueError, match="Use `image_key` argument"):
        tfds.show_examples(dataset, sample.info)
