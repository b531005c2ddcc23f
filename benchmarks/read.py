"""Measures reading: this package, its limit and its peers, side by side in one run.

    python benchmarks/read.py [--tree FOLDER] [--pairs 2913] [--repeats 5] [--size 384] [--part 6]

Without --tree it makes one, see make_tree.py. Every way of reading is run once a round, in
turns, so that a change of the machine's mood hits all alike; what is printed are medians, as
a Markdown table. torchvision and KerasCV are measured where they can be imported.
"""

import argparse
from collections.abc import Callable
import contextlib
import os
import pathlib
import platform
import statistics
import sys
import tempfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

from make_tree import make_tree
from measuring import Way, drained, looped, table
import read_loops
import read_peers
import tensorflow as tf
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord import Builder, VocSegConfig, pipeline
from voc_seg_tfrecord.pipeline import reading

SPLIT = "train+validation"
AUTOTUNE = tf.data.AUTOTUNE
NO_CACHE = tfds.ReadConfig(try_autocache=False)


def build(root: pathlib.Path, folder: pathlib.Path) -> tfds.core.DatasetBuilder:
    """Builds the tree as own data: image and class mask only, as its peers have them."""
    builder = Builder(data_dir=folder, config=VocSegConfig(name="bench"))
    with contextlib.redirect_stdout(sys.stderr):  # TFDS prints; the tables are to stand alone
        builder.download_and_prepare(download_config=tfds.download.DownloadConfig(manual_dir=root))
    return builder


def single_examples(builder: tfds.core.DatasetBuilder) -> list[Way]:
    """Decoded examples per second, and their limit."""
    skip = {name: tfds.decode.SkipDecoding() for name in ("image", "segmentation_mask")}
    raw = builder.as_dataset(split=SPLIT, decoders=skip, read_config=NO_CACHE)
    pairs = [(e["image"], e["segmentation_mask"]) for e in raw.as_numpy_iterator()]
    in_memory = tf.data.Dataset.from_tensor_slices(tuple(map(list, zip(*pairs, strict=True))))
    total = len(pairs)

    def limit() -> tf.data.Dataset:
        def decoded(image: tf.Tensor, mask: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
            return tf.io.decode_jpeg(image, channels=3), tf.io.decode_png(mask, channels=1)

        return in_memory.map(decoded, num_parallel_calls=AUTOTUNE)

    def ours() -> tf.data.Dataset:
        return pipeline.read(builder, SPLIT).map(pipeline.decode, num_parallel_calls=AUTOTUNE)

    def plain() -> tf.data.Dataset:
        return builder.as_dataset(split=SPLIT, read_config=NO_CACHE)

    part, bound = "1, 2: decoded examples", "limit: decode_jpeg, decode_png from memory"
    return [
        Way(part, bound, drained(limit), total),
        Way(part, "`tfds.load`", drained(plain), total, bound),
        Way(part, "`pipeline.read`, `pipeline.decode`", drained(ours), total, bound),
    ]


def fixed_batches(
    builder: tfds.core.DatasetBuilder, raw_file: pathlib.Path, size: int, total: int
) -> list[Way]:
    """Batches of 16 images cropped or padded to one size."""

    def plain() -> tf.data.Dataset:
        def prepared(example: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
            image = tf.image.resize_with_crop_or_pad(example["image"], size, size)
            # uint8 wraps around, so that padding, 0, becomes 255.
            mask = example["segmentation_mask"] + 1
            return image, tf.image.resize_with_crop_or_pad(mask, size, size) - 1

        dataset = builder.as_dataset(split=SPLIT, read_config=NO_CACHE)
        return dataset.map(prepared, num_parallel_calls=AUTOTUNE).batch(16).prefetch(AUTOTUNE)

    def ours() -> tf.data.Dataset:
        features = ("image", "segmentation_mask", "image/height", "image/width")
        return pipeline.evaluation_batches(
            builder, SPLIT, batch_size=16, size=size, features=features
        )

    def tutorial() -> tf.data.Dataset:
        return read_peers.raw_dataset(raw_file, size).batch(16).prefetch(AUTOTUNE)

    part = f"3: {size} x {size}, batches of 16"
    return [
        Way(part, "`tfds.load`, map, batch", drained(plain), total),
        Way(part, "`evaluation_batches`", drained(ours), total, "`tfds.load`, map, batch"),
        Way(part, "raw tensors in a TFRecord", drained(tutorial), total, "`tfds.load`, map, batch"),
    ]


def deeplab_batches(builder: tfds.core.DatasetBuilder, total: int) -> list[Way]:
    """Random scale, crop and flip of 513 x 513, in the same batches of 16."""

    def plain() -> tf.data.Dataset:
        dataset = builder.as_dataset(split=SPLIT, read_config=NO_CACHE).shuffle(1024, seed=1)
        prepared = dataset.map(read_peers.deeplab_by_the_book, num_parallel_calls=AUTOTUNE)
        return prepared.batch(16, drop_remainder=True).prefetch(AUTOTUNE)

    def plain_encoded() -> tf.data.Dataset:
        # The same, shuffled before decoding: it shows how much that alone brings.
        stream = reading.read(builder, SPLIT, shuffle=1024).map(
            lambda example: read_peers.deeplab_by_the_book(pipeline.decode(example)),
            num_parallel_calls=AUTOTUNE,
        )
        return stream.batch(16, drop_remainder=True).prefetch(AUTOTUNE)

    def ours() -> tf.data.Dataset:
        return pipeline.training_batches(builder, SPLIT, size=513, batch_size=16, epochs=1)

    part, bound = "4: DeepLab, 513 x 513", "`tfds.load`, scale, crop, flip"
    return [
        Way(part, bound, drained(plain), total),
        Way(part, "the same, shuffled before decoding", drained(plain_encoded), total, bound),
        Way(part, "`training_batches`", drained(ours), total, bound),
    ]


def rare_classes(builder: tfds.core.DatasetBuilder, total: int) -> list[Way]:
    """What it costs to draw images by class and to place crops by what the mask shows."""
    placing = {
        "nothing more": {},
        '`balance="classes"`': {"balance": "classes"},
        "`class_crop=0.5`": {"class_crop": 0.5},
        "`cat_max_ratio=0.75`": {"cat_max_ratio": 0.75},
        "all three": {"balance": "classes", "class_crop": 0.5, "cat_max_ratio": 0.75},
    }

    # From the call on: `balance` reads all records once more, to see which classes they have.
    def ways(arguments: dict) -> Callable[[], tf.data.Dataset]:
        return lambda: pipeline.training_batches(
            builder, SPLIT, size=513, batch_size=16, epochs=1, **arguments
        )

    part, bound = "6: `training_batches`, 513 x 513, with", "nothing more"
    return [
        Way(part, name, drained(ways(arguments)), total, bound if arguments else "")
        for name, arguments in placing.items()
    ]


def python_loops(builder: tfds.core.DatasetBuilder, root: pathlib.Path, total: int) -> list[Way]:
    """Decoded examples as arrays in a Python loop, as other libraries give them."""
    part, ours = "5: arrays in a Python loop", "`pipeline.read`, `pipeline.decode`, NumPy"

    def decoded() -> tf.data.Dataset:
        stream = pipeline.read(builder, SPLIT, features=("image", "segmentation_mask"))
        return stream.map(pipeline.decode, num_parallel_calls=AUTOTUNE).prefetch(AUTOTUNE)

    def loop(name: str) -> Callable[[], float]:
        return lambda: total * read_loops.seconds_an_example(root, name)

    peers = [Way(part, name, loop(name), total, ours) for name in read_loops.names()]
    return [Way(part, ours, looped(decoded), total), *peers]


def first_batches(builder: tfds.core.DatasetBuilder) -> list[tuple[str, Callable[[], None]]]:
    """From the call to the first batch."""
    ours = {
        "`evaluation_batches`, 384": lambda: pipeline.evaluation_batches(
            builder, SPLIT, batch_size=16, size=384
        ),
        "`training_batches`, 513, shuffle 1024": lambda: pipeline.training_batches(
            builder, SPLIT, size=513, batch_size=16
        ),
        "`tfds.load`, shuffle 1024": lambda: builder.as_dataset(
            split=SPLIT, read_config=NO_CACHE
        ).shuffle(1024),
    }

    def first(make: Callable[[], tf.data.Dataset]) -> Callable[[], None]:
        def read() -> None:
            next(iter(make()))

        return read

    return [(name, first(make)) for name, make in ours.items()]


def disk(root: pathlib.Path, builder: tfds.core.DatasetBuilder, raw_file: pathlib.Path) -> str:
    """Returns the table of bytes."""
    folders = ("JPEGImages", "SegmentationClass")
    sources = sum(f.stat().st_size for name in folders for f in (root / name).iterdir())
    records = sum(
        f.stat().st_size for f in pathlib.Path(builder.data_dir).iterdir() if "tfrecord-" in f.name
    )
    raw = raw_file.stat().st_size
    lines = ["| bytes on disk | MB | of the source files |", "|---|---:|---:|"]
    for name, size in (("JPEG and PNG files", sources), ("records", records), ("raw", raw)):
        lines.append(f"| {name} | {size / 1e6:.1f} | {size / sources:.3f} |")
    return "\n".join(lines)


def main() -> None:
    """Runs everything and prints the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tree", type=pathlib.Path, help="a tree made by make_tree.py (a new one)")
    parser.add_argument(
        "--pairs", type=int, default=2913, help="images with masks in the tree (%(default)s)"
    )
    parser.add_argument("--repeats", type=int, default=5, help="rounds (%(default)s)")
    parser.add_argument("--size", type=int, default=384, help="side of crops (%(default)s)")
    parser.add_argument("--part", default="", help="only the part of this number (all)")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = pathlib.Path(temporary)
        root = make_tree(args.tree or folder / "tree", args.pairs)
        builder = build(root, folder / "data")
        total = sum(split.num_examples for split in builder.info.splits.values())
        raw_file = folder / "raw.tfrecord"
        read_peers.write_raw(builder.as_dataset(split=SPLIT, read_config=NO_CACHE), raw_file)
        ways = [
            *single_examples(builder),
            *fixed_batches(builder, raw_file, args.size, total),
            *deeplab_batches(builder, total),
            *python_loops(builder, root, total),
            *rare_classes(builder, total),
        ]
        ways = [way for way in ways if way.part.startswith(args.part)]
        firsts = [Way("first", name, read, 1) for name, read in first_batches(builder)]
        firsts = firsts if not args.part else []
        for _ in tqdm(range(args.repeats), desc="Rounds"):
            for way in ways + firsts:
                way.run()
        print(f"{total} images with masks, {os.cpu_count()} cores")
        print(f"Python {platform.python_version()}, ", end="")
        print(f"TensorFlow {tf.__version__}, median of {args.repeats} rounds\n")
        print(table(ways), "\n")
        if args.part:
            return
        print("| time to the first batch | seconds |\n|---|---:|")
        for way in firsts:
            print(f"| {way.name} | {statistics.median(way.seconds):.2f} |")
        print("\n" + disk(root, builder, raw_file))


if __name__ == "__main__":
    main()
