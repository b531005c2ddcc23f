"""A network that is trained on batches learns the classes."""

import keras
import numpy as np
import pytest
from support import learnable

from voc_seg_tfrecord import from_arrays, pipeline

STEPS_PER_EPOCH = 2


@pytest.mark.slow
def test_the_loss_of_a_training_falls(tmp_path):
    images, masks = learnable.images_and_masks(8)
    builder = from_arrays(
        images, masks, name="learnable", class_names=learnable.CLASS_NAMES, data_dir=tmp_path
    )
    batches = pipeline.training_batches(builder, "train", size=32, batch_size=4)
    pairs = batches.map(lambda batch: (batch["image"] / 255, batch["segmentation_mask"]))

    keras.utils.set_random_seed(0)
    network = keras.Sequential(
        [
            keras.layers.Conv2D(8, 3, padding="same", activation="relu"),
            keras.layers.Conv2D(len(learnable.CLASS_NAMES), 1),
        ]
    )
    network.compile(
        optimizer=keras.optimizers.Adam(0.02),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=255),
    )
    losses = network.fit(
        pairs, steps_per_epoch=STEPS_PER_EPOCH, epochs=20, shuffle=False, verbose=0
    ).history["loss"]
    assert np.mean(losses[-2:]) < np.mean(losses[:2]) / 4
