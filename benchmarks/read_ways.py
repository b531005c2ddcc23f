"""Ways to read with `tf.data`, for read.py.

Each dataset is made before the clock starts: what making one costs, some hundredths of a second
once per run, is in `first_batches`.
"""

from collections.abc import Callable

from measuring import Way, drained
import read_tutorials
import tensorflow as tf
import tensorflow_datasets as tfds
from trees import SPLIT

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.pipeline import reading

AUTOTUNE = tf.data.AUTOTUNE
NO_CACHE = tfds.ReadConfig(try_autocache=False)
LIMIT = "limit: `decode_jpeg`, `decode_png` from memory"
TFDS_BATCHES, TFDS_CROPS = "`tfds.load`, map, batch", "`tfds.load`, scale, crop, flip"


def single_examples(builder: tfds.core.DatasetBuilder) -> list[Way]:
    """Decoded examples per second, and their limit."""
    skip = {name: tfds.decode.SkipDecoding() for name in ("image", "segmentation_mask")}
    raw = builder.as_dataset(split=SPLIT, decoders=skip, read_config=NO_CACHE)
    pairs = [(e["image"], e["segmentation_mask"]) for e in raw.as_numpy_iterator()]
    in_memory = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*pairs, strict=True))))

    def decoded(image: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.io.decode_jpeg(image, channels=3), tf.io.decode_png(mask, channels=1)

    limit = in_memory.map(decoded, num_parallel_calls=AUTOTUNE)
    plain = builder.as_dataset(split=SPLIT, read_config=NO_CACHE)
    ours = pipeline.read(builder, SPLIT).map(pipeline.decode, num_parallel_calls=AUTOTUNE)
    one_stage = pipeline.read(builder, SPLIT, decoded=True)
    task, total = "read: decoded examples", len(pairs)
    return [
        Way(task, LIMIT, drained(limit), total, ours=False),
        Way(task, "`tfds.load`", drained(plain), total, LIMIT),
        Way(task, "`pipeline.read`, `pipeline.decode`", drained(ours), total, LIMIT),
        Way(task, "`pipeline.read(decoded=True)`", drained(one_stage), total, LIMIT),
    ]


def fixed_batches(builder: tfds.core.DatasetBuilder, raw: tf.data.Dataset, size: int) -> list[Way]:
    """Batches of 16 images cropped or padded to one size; `raw` reads the tutorials' way."""

    def prepared(example: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        image = tf.image.resize_with_crop_or_pad(example["image"], size, size)
        # uint8 wraps around, so that padding, 0, becomes 255.
        mask = example["segmentation_mask"] + 1
        return image, tf.image.resize_with_crop_or_pad(mask, size, size) - 1

    plain = builder.as_dataset(split=SPLIT, read_config=NO_CACHE)
    plain = plain.map(prepared, num_parallel_calls=AUTOTUNE).batch(16).prefetch(AUTOTUNE)
    features = ("image", "segmentation_mask", "image/height", "image/width")
    ours = pipeline.evaluation_batches(builder, SPLIT, batch_size=16, size=size, features=features)
    tutorial = raw.batch(16).prefetch(AUTOTUNE)
    task, total = f"read: {size} x {size}, batches of 16", _total(builder)
    return [
        Way(task, TFDS_BATCHES, drained(plain), total, ours=False),
        Way(task, "`evaluation_batches`", drained(ours), total, TFDS_BATCHES),
        Way(
            task,
            "raw tensors in a TFRecord",
            drained(tutorial),
            total,
            "`evaluation_batches`",
            ours=False,
        ),
    ]


def deeplab_batches(builder: tfds.core.DatasetBuilder) -> list[Way]:
    """Random scale, crop and flip of 513 x 513, in the same batches of 16."""
    plain = builder.as_dataset(split=SPLIT, read_config=NO_CACHE).shuffle(1024, seed=1)
    plain = plain.map(read_tutorials.deeplab_by_the_book, num_parallel_calls=AUTOTUNE)
    # The same, shuffled before decoding: it shows how much that alone brings.
    encoded = reading.read(builder, SPLIT, shuffle=True).map(
        lambda example: read_tutorials.deeplab_by_the_book(pipeline.decode(example)),
        num_parallel_calls=AUTOTUNE,
    )
    ours = pipeline.training_batches(builder, SPLIT, size=513, batch_size=16, epochs=1)
    task, total = "read: DeepLab's crops of 513 x 513", _total(builder)
    return [
        Way(task, TFDS_CROPS, drained(_batches(plain)), total, ours=False),
        Way(task, "the same, shuffled before decoding", drained(_batches(encoded)), total),
        Way(task, "`training_batches`", drained(ours), total, TFDS_CROPS),
    ]


def rare_classes(builder: tfds.core.DatasetBuilder) -> list[Way]:
    """What it costs to draw images by class and to place crops by what the mask shows."""
    placing = {
        "nothing more": {},
        '`balance="classes"`': {"balance": "classes"},
        "`class_crop=0.5`": {"class_crop": 0.5},
        "`cat_max_ratio=0.75`": {"cat_max_ratio": 0.75},
        "all three": {"balance": "classes", "class_crop": 0.5, "cat_max_ratio": 0.75},
    }

    def read(arguments: dict) -> Callable[[], None]:
        # From the call on: `balance` reads all records once more, to see which classes they have.
        return lambda: drained(
            pipeline.training_batches(
                builder, SPLIT, size=513, batch_size=16, epochs=1, **arguments
            )
        )()

    task, bound = "read: `training_batches`, 513 x 513, with", "nothing more"
    return [
        Way(task, name, read(arguments), _total(builder), bound if arguments else "")
        for name, arguments in placing.items()
    ]


def first_batches(builder: tfds.core.DatasetBuilder) -> list[Way]:
    """From the call to the first batch."""
    calls = {
        "`tfds.load`, shuffle 1024": lambda: builder.as_dataset(
            split=SPLIT, read_config=NO_CACHE
        ).shuffle(1024),
        "`training_batches`, 513": lambda: pipeline.training_batches(
            builder, SPLIT, size=513, batch_size=16
        ),
        "`evaluation_batches`, 384": lambda: pipeline.evaluation_batches(
            builder, SPLIT, batch_size=16, size=384
        ),
    }

    def first(call: Callable[[], tf.data.Dataset]) -> Callable[[], None]:
        def read() -> None:
            next(iter(call()))

        return read

    return [Way("time to the first batch", name, first(call), 1) for name, call in calls.items()]


def _batches(dataset: tf.data.Dataset) -> tf.data.Dataset:
    return dataset.batch(16, drop_remainder=True).prefetch(AUTOTUNE)


def _total(builder: tfds.core.DatasetBuilder) -> int:
    return sum(split.num_examples for split in builder.info.splits.values())
