"""Measures reading: this package, its limit and its peers, side by side in one run.

    [PEERS_PYTHON=PYTHON:...] python benchmarks/read.py FOLDER [--pairs 2913] [--repeats 5]

Each peer runs in a process of its own, by the first interpreter that has its packages: this one, or
one of PEERS_PYTHON. A line says what is missing for those that nothing can run.
"""

from collections.abc import Callable
import contextlib
import os
import pathlib
import shutil
import sys
import tarfile

import baselines
from make_tree import build, make_tree
import measuring
from measuring import Figures, Way
import peers
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.scripts.cli import convert_format_utils

from voc_seg_tfrecord import pipeline
from voc_seg_tfrecord.exports.export import export

FULL, QUICK = {"pairs": 2913, "repeats": 5}, {"pairs": 300, "repeats": 3}
AUTOTUNE = tf.data.AUTOTUNE
SPLIT, NO_CACHE = "train+validation", tfds.ReadConfig(try_autocache=False)
EXAMPLES, LOOP = "read: decoded examples", "read: arrays in a Python loop"
BATCHES, CROPS = "read: 384 x 384, batches of 16", "read: DeepLab's crops of 513 x 513"
PLACED = "read: 512 x 512, not scaled"
TORCH = "read: 512 x 512 for PyTorch, batches of 16"
ONE_STAGE = "`pipeline.read(decoded=True)`"


def drained(dataset: tf.data.Dataset) -> Callable[[], Figures]:
    """Returns what goes through a dataset without a Python loop."""
    return lambda: measuring.timed(lambda: dataset.reduce(0, lambda n, *_: n + 1).numpy())


def single_examples(builder: tfds.core.DatasetBuilder, pairs: int) -> list[Way]:
    """Decoded examples, and their limit."""
    skip = {name: tfds.decode.SkipDecoding() for name in ("image", "segmentation_mask")}
    encoded = builder.as_dataset(split=SPLIT, decoders=skip, read_config=NO_CACHE)
    files = [(e["image"], e["segmentation_mask"]) for e in encoded.as_numpy_iterator()]
    in_memory = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*files, strict=True))))

    def decoded(image: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        return tf.io.decode_jpeg(image, channels=3), tf.io.decode_png(mask, channels=1)

    limit = "limit: `decode_jpeg`, `decode_png` from memory"
    ours = {
        "`tfds.load`": builder.as_dataset(split=SPLIT, read_config=NO_CACHE),
        "`pipeline.read`, `pipeline.decode`": pipeline.read(builder, SPLIT).map(
            pipeline.decode, num_parallel_calls=AUTOTUNE
        ),
        ONE_STAGE: pipeline.read(builder, SPLIT, decoded=True),
    }
    in_memory = in_memory.map(decoded, num_parallel_calls=AUTOTUNE)
    ways = [Way(EXAMPLES, limit, drained(in_memory), pairs)]
    return ways + [Way(EXAMPLES, name, drained(ours[name]), pairs, [limit]) for name in ours]


def fixed_batches(builder: tfds.core.DatasetBuilder, raw: list[str], pairs: int) -> list[Way]:
    """Batches of images that are cropped or padded; `raw` are files of the tutorials' script."""
    features = {key: tf.io.FixedLenFeature([], tf.int64) for key in ("height", "width")}
    features |= {key: tf.io.FixedLenFeature([], tf.string) for key in ("image_raw", "mask_raw")}

    def parsed(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:  # its padding is background
        example = tf.io.parse_single_example(record, features)
        height, width = example["height"], example["width"]
        image = tf.reshape(tf.io.decode_raw(example["image_raw"], tf.uint8), [height, width, 3])
        mask = tf.reshape(tf.io.decode_raw(example["mask_raw"], tf.uint8), [height, width, 1])
        return tuple(tf.image.resize_with_crop_or_pad(array, 384, 384) for array in (image, mask))

    def prepared(example: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        image = tf.image.resize_with_crop_or_pad(example["image"], 384, 384)
        # uint8 wraps around, so that padding, 0, becomes 255.
        mask = example["segmentation_mask"] + 1
        return image, tf.image.resize_with_crop_or_pad(mask, 384, 384) - 1

    def batched(dataset: tf.data.Dataset, function: Callable) -> Callable[[], Figures]:
        mapped = dataset.map(function, num_parallel_calls=AUTOTUNE)
        return drained(mapped.batch(16).prefetch(AUTOTUNE))

    plain = batched(builder.as_dataset(split=SPLIT, read_config=NO_CACHE), prepared)
    names = ("image", "segmentation_mask", "image/height", "image/width")
    ours = pipeline.evaluation_batches(builder, SPLIT, batch_size=16, size=384, features=names)
    tutorial = batched(tf.data.TFRecordDataset(raw), parsed)
    others = {"`tfds.load`, map, batch": plain, "raw tensors in a TFRecord": tutorial}
    ways = [Way(BATCHES, name, run, pairs) for name, run in others.items()]
    return [*ways, Way(BATCHES, "`evaluation_batches`", drained(ours), pairs, list(others))]


def random_crops(builder: tfds.core.DatasetBuilder, pairs: int) -> list[Way]:
    """Random scale, crop and flip in batches: the whole image is scaled first, or its crop."""

    def by_the_book(example: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        image, mask = example["image"], example["segmentation_mask"]
        scale = 0.5 + 0.25 * tf.cast(tf.random.uniform([], 0, 7, tf.int32), tf.float32)
        size = tf.cast(tf.cast(tf.shape(image)[:2], tf.float32) * scale, tf.int32)
        image = tf.cast(tf.round(tf.image.resize(image, size)), tf.uint8)
        mask = tf.image.resize(mask, size, "nearest")
        height, width = tf.maximum(size[0], 513), tf.maximum(size[1], 513)
        image = tf.image.pad_to_bounding_box(image, 0, 0, height, width)
        mask = tf.image.pad_to_bounding_box(mask + 1, 0, 0, height, width) - 1
        both = tf.image.random_crop(tf.concat([image, mask], axis=-1), [513, 513, 4])
        both = tf.image.random_flip_left_right(both)
        return both[..., :3], both[..., 3:]

    plain = builder.as_dataset(split=SPLIT, read_config=NO_CACHE).shuffle(1024, seed=1)
    plain = plain.map(by_the_book, num_parallel_calls=AUTOTUNE)
    plain = plain.batch(16, drop_remainder=True).prefetch(AUTOTUNE)
    ours = pipeline.training_batches(builder, SPLIT, size=513, batch_size=16, epochs=1)
    by_hand = "`tfds.load`, scale, crop, flip"
    return [
        Way(CROPS, by_hand, drained(plain), pairs),
        Way(CROPS, "`training_batches`", drained(ours), pairs, [by_hand]),
    ]


def random_places(builder: tfds.core.DatasetBuilder, pairs: int) -> list[Way]:
    """Images as they are at a random place of 512 x 512, in batches."""
    skip = {name: tfds.decode.SkipDecoding() for name in ("image", "segmentation_mask")}

    def placed(example: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
        image = tf.io.decode_jpeg(example["image"], channels=3)
        mask = tf.io.decode_png(example["segmentation_mask"], channels=1)
        height, width = tf.shape(image)[0], tf.shape(image)[1]
        top = tf.random.uniform([], 0, 512 - height + 1, tf.int32)
        left = tf.random.uniform([], 0, 512 - width + 1, tf.int32)
        around = [[top, 512 - height - top], [left, 512 - width - left], [0, 0]]
        image = tf.pad(image, around)
        mask = tf.pad(mask, around, constant_values=tf.constant(255, tf.uint8))
        return tf.ensure_shape(image, [512, 512, 3]), tf.ensure_shape(mask, [512, 512, 1])

    plain = builder.as_dataset(split=SPLIT, decoders=skip, read_config=NO_CACHE)
    plain = plain.shuffle(pairs).map(placed, num_parallel_calls=AUTOTUNE)
    plain = plain.batch(16, drop_remainder=True).prefetch(AUTOTUNE)
    ours = pipeline.training_batches(
        builder, SPLIT, size=512, batch_size=16, scales=(1, 1), flip=False, epochs=1
    )
    by_hand = "`tfds.load`, pad, batch"
    return [
        Way(PLACED, by_hand, drained(plain), pairs),
        Way(PLACED, "`training_batches`", drained(ours), pairs, [by_hand]),
    ]


def python_loops(
    stack: contextlib.ExitStack, builder: tfds.core.DatasetBuilder, source: peers.Source
) -> list[Way]:
    """Reads with this package in this process, and with peers in theirs, which end with the stack.

    Those that fail have a note. Those that read other pixels are refused.
    """
    names = ("image", "segmentation_mask")
    ours = pipeline.read(builder, SPLIT, features=names, decoded=True).prefetch(AUTOTUNE)
    expected = peers.seen((e["image"], e["segmentation_mask"]) for e in tfds.as_numpy(ours))
    count = expected["count"]

    def run() -> Figures:
        return measuring.through(ours.as_numpy_iterator())

    ways = [Way(LOOP, ONE_STAGE, run, count, list(peers.PEERS))]
    for name in peers.PEERS:
        running, seen = start_peer(stack, name, source)
        if isinstance(seen, dict):
            peers.check_seen(name, seen, expected)
        note = seen if isinstance(seen, str) else ""
        ways.append(Way(LOOP, name, running.run, count, note=note))
    return ways


def start_peer(
    stack: contextlib.ExitStack, name: str, source: peers.Source
) -> tuple[peers.Running, dict | str]:
    """Starts a peer by the first interpreter that can; returns it, and what `seen` says."""
    pythons = [sys.executable, *filter(None, os.environ.get("PEERS_PYTHON", "").split(":"))]
    for python in pythons:
        running = peers.Running(stack, python, name, source)
        seen = running.seen()
        if isinstance(seen, dict):
            break
    return running, seen


def torch_batches(stack: contextlib.ExitStack, source: peers.Source, pairs: int) -> list[Way]:
    """Batches for PyTorch, of this package and of its peers, in processes that end with the stack.

    Those that fail have a note. Those that read other pixels than the first are refused.
    """
    ways = []
    expected = None
    for name in (*peers.TORCH_LOADERS, *peers.TORCH_PEERS):
        running, seen = start_peer(stack, name, source)
        note = seen if isinstance(seen, str) else ""
        if isinstance(seen, dict):
            expected = expected or seen
            peers.check_seen(name, seen, expected)
        is_ours = name in peers.TORCH_LOADERS and not note
        against = list(peers.TORCH_PEERS) if is_ours else []
        ways.append(Way(TORCH, name, running.run, pairs, against, note))
    return ways


def write_forms(folder: pathlib.Path, root: pathlib.Path) -> tfds.core.DatasetBuilder:
    """Writes what is read, unless it is there; returns the dataset as TFRecords."""
    builder = build(root, folder / "tfrecord")
    if (folder / "tars").exists():
        return builder
    shutil.copytree(folder / "tfrecord", folder / "array_record")
    copy = [pathlib.Path(peers.Source(root, folder).dataset("array_record"))]
    convert_format_utils.convert_dataset(None, "array_record", dataset_version_dir=copy)
    with contextlib.redirect_stdout(sys.stderr):
        export(builder, folder / "parquet", layout="parquet")
    (folder / "raw").mkdir()
    baselines.tutorial(root, folder / "raw")
    (folder / "tars").mkdir()
    files = peers.Source(root, folder).files()
    for number in (0, 1):
        with tarfile.open(folder / "tars" / f"{number}.tar", "w") as tar:
            for path in (path for pair in files[number::2] for path in pair):
                tar.add(path, pathlib.Path(path).name)
    return builder


def measure(folder: pathlib.Path, *, pairs: int, repeats: int) -> list[Way]:
    """Reads a tree of so many pairs in every way, in turns."""
    root = make_tree(folder, pairs)
    folder = folder / f"read_{pairs}"
    builder = write_forms(folder, root)
    raw = [str(path) for path in sorted((folder / "raw").iterdir())]
    with contextlib.ExitStack() as stack:
        ways = single_examples(builder, pairs)
        ways += fixed_batches(builder, raw, pairs)
        ways += random_crops(builder, pairs)
        ways += random_places(builder, pairs)
        source = peers.Source(root, folder)
        ways += python_loops(stack, builder, source)
        ways += torch_batches(stack, source, pairs)
        measuring.take_turns(ways, repeats)
    return ways


if __name__ == "__main__":
    measuring.main(__doc__, measure, **FULL)
