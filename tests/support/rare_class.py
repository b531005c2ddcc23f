"""A dataset with one class on 1 % of its images, for tests of sampling."""

import numpy as np

import voc_seg_tfrecord

CLASSES = ("background", "common", "rare")
COUNT, HEIGHT, WIDTH = 200, 40, 56
RARE = (17, 130)  # the images that have the rare class


def build_rare(data_dir):
    """Builds 200 images: `common` fills a third of each, `rare` 4 x 4 pixels of two of them."""
    images = np.random.default_rng(0).integers(0, 256, (COUNT, HEIGHT, WIDTH, 3), np.uint8)
    masks = np.zeros((COUNT, HEIGHT, WIDTH), np.uint8)
    masks[:, :, :19] = 1
    masks[RARE, 30:34, 48:52] = 2
    return voc_seg_tfrecord.from_arrays(
        images, masks, name="rare", class_names=CLASSES, data_dir=data_dir
    )
