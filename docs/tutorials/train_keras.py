r"""Trains a small segmentation network with Keras on a built dataset.

    python docs/tutorials/train_keras.py                             # the sample, seconds
    python docs/tutorials/train_keras.py --dataset voc_seg_tfrecord/2012_aug \
        --size 513 --batch_size 16 --epochs 50 --width 64

Trains on random crops and prints the loss and the mIoU of every epoch; void counts in neither.
`val_miou` is that of complete images, by the rule of `voc-seg-tfrecord evaluate`. The network is
as small as one can be. Put your own in its place.
"""

import argparse
from collections.abc import Sequence

import keras
import tensorflow as tf
import tensorflow_datasets as tfds

from voc_seg_tfrecord import VOID, evaluation, pipeline

HALVED = 4
"""The network halves height and width twice, so both have to be multiples of this."""


def network(num_classes: int, width: int) -> keras.Model:
    """Makes a network of three scales, uint8 `[B, H, W, 3]` to logits `[B, H, W, num_classes]`.

    Height and width have to be multiples of `HALVED`.
    """
    layers = keras.layers
    inputs = layers.Input([None, None, 3], dtype="uint8")
    scales = [layers.Rescaling(1 / 127.5, offset=-1)(inputs)]
    for factor in (1, 2, 4):
        convolution = layers.Conv2D(
            factor * width, 3, strides=1 if factor == 1 else 2, padding="same", use_bias=False
        )
        scales.append(layers.ReLU()(layers.BatchNormalization()(convolution(scales[-1]))))
    x = scales[3]
    for factor, skip in ((2, scales[2]), (1, scales[1])):
        x = layers.Concatenate()([layers.UpSampling2D()(x), skip])
        x = layers.Conv2D(factor * width, 3, padding="same", activation="relu")(x)
    return keras.Model(inputs, layers.Conv2D(num_classes, 1)(x))


def batches(
    builder: tfds.core.DatasetBuilder, size: int, batch_size: int
) -> tuple[tf.data.Dataset, tf.data.Dataset]:
    """Returns endless batches of crops, and batches of complete images, as Keras takes them."""

    def image_and_mask(batch: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        return batch["image"], batch["segmentation_mask"]

    train = pipeline.training_batches(builder, "train", size=size, batch_size=batch_size)
    validation = pipeline.evaluation_batches(
        builder, "validation", batch_size=batch_size, multiple=HALVED
    )
    return train.map(image_and_mask), validation.map(image_and_mask)


def main(argv: Sequence[str] | None = None) -> keras.callbacks.History:
    """Trains, and returns what Keras saw of each epoch."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dataset", default="voc_seg_tfrecord/sample", help="(%(default)s)")
    parser.add_argument("--data_dir", help="where datasets are; by default where TFDS has them")
    parser.add_argument(
        "--size",
        type=int,
        default=64,
        help="side of the crops in pixels, rounded up to a multiple of 4 (%(default)s)",
    )
    parser.add_argument("--batch_size", type=int, default=3)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument(
        "--steps_per_epoch",
        type=int,
        help="by default as many as show each image once, but at least 10",
    )
    parser.add_argument(
        "--width", type=int, default=16, help="channels of the first layer (%(default)s)"
    )
    parser.add_argument("--seed", type=int, default=0)
    args = parser.parse_args(argv)

    keras.utils.set_random_seed(args.seed)
    builder = tfds.builder(args.dataset, data_dir=args.data_dir)
    train, validation = batches(builder, -(-args.size // HALVED) * HALVED, args.batch_size)
    num_classes = builder.info.features["segmentation_mask"].num_classes
    model = network(num_classes, args.width)
    model.compile(
        optimizer=keras.optimizers.Adam(3e-3),
        loss=keras.losses.SparseCategoricalCrossentropy(from_logits=True, ignore_class=VOID),
        metrics=[evaluation.keras_metric(num_classes)],
    )
    examples = builder.info.splits["train"].num_examples
    return model.fit(
        train,
        validation_data=validation,
        epochs=args.epochs,
        steps_per_epoch=args.steps_per_epoch or max(10, examples // args.batch_size),
        shuffle=False,  # the batches are shuffled already
        verbose=2,
    )


if __name__ == "__main__":
    main()
