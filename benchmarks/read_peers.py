"""The ways that others read VOC, for read.py. Written as their users would."""

from collections.abc import Callable, Iterator, Sequence
import concurrent.futures
import importlib.util
import pathlib
import tempfile

import numpy as np
from PIL import Image
import tensorflow as tf

Loop = tuple[str, int, Callable[[], None]]
"""A name, how many examples it reads, and what reads them."""


def write_raw(dataset: tf.data.Dataset, path: pathlib.Path) -> None:
    """Writes decoded tensors into a TFRecord, as the tutorials of 2016 do."""

    def of_bytes(value: bytes) -> tf.train.Feature:
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))

    def of_int(value: int) -> tf.train.Feature:
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))

    with tf.io.TFRecordWriter(str(path)) as writer:
        for example in dataset.as_numpy_iterator():
            height, width = example["image"].shape[:2]
            feature = {
                "height": of_int(height),
                "width": of_int(width),
                "image_raw": of_bytes(example["image"].tobytes()),
                "mask_raw": of_bytes(example["segmentation_mask"].tobytes()),
            }
            record = tf.train.Example(features=tf.train.Features(feature=feature))
            writer.write(record.SerializeToString())


def raw_dataset(path: pathlib.Path, size: int) -> tf.data.Dataset:
    """Reads what `write_raw` wrote, cropped or padded; padding is background, as theirs is."""
    features = {
        "height": tf.io.FixedLenFeature([], tf.int64),
        "width": tf.io.FixedLenFeature([], tf.int64),
        "image_raw": tf.io.FixedLenFeature([], tf.string),
        "mask_raw": tf.io.FixedLenFeature([], tf.string),
    }

    def parsed(record: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
        example = tf.io.parse_single_example(record, features)
        height, width = example["height"], example["width"]
        image = tf.reshape(tf.io.decode_raw(example["image_raw"], tf.uint8), [height, width, 3])
        mask = tf.reshape(tf.io.decode_raw(example["mask_raw"], tf.uint8), [height, width, 1])
        return tuple(tf.image.resize_with_crop_or_pad(p, size, size) for p in (image, mask))

    return tf.data.TFRecordDataset(str(path)).map(parsed, num_parallel_calls=tf.data.AUTOTUNE)


def deeplab_by_the_book(example: dict[str, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
    """Scales the whole picture, pads, crops and flips it, one step after the other."""
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


class PillowPairs:
    """Opens pairs as torchvision's VOCSegmentation does, and makes arrays of them."""

    def __init__(self, root: pathlib.Path):
        ids = sorted(path.stem for path in (root / "SegmentationClass").iterdir())
        self._files = [
            (root / "JPEGImages" / f"{i}.jpg", root / "SegmentationClass" / f"{i}.png") for i in ids
        ]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        image, mask = self._files[index]
        return np.array(Image.open(image).convert("RGB")), np.array(Image.open(mask))


def python_loops(root: pathlib.Path) -> Iterator[Loop]:
    """Yields the loops that can be run here."""
    pairs = PillowPairs(root)

    def in_this_process() -> None:
        for index in range(len(pairs)):
            pairs[index]

    def in_two_processes() -> None:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            for _ in pool.map(pairs.__getitem__, range(len(pairs)), chunksize=16):
                pass

    yield "Pillow loop", len(pairs), in_this_process
    if importlib.util.find_spec("torch") is None:
        yield "Pillow, 2 worker processes", len(pairs), in_two_processes
    else:
        yield from _torch_loops(root, pairs)
    if importlib.util.find_spec("keras_cv") is not None:
        yield from _keras_cv_loops(root)


def _torch_loops(root: pathlib.Path, pairs: PillowPairs) -> Iterator[Loop]:
    from torch.utils import data

    def loop(dataset: Sequence, workers: int) -> Callable[[], None]:
        def read() -> None:
            for _ in data.DataLoader(
                dataset,
                batch_size=None,
                num_workers=workers,
                # TensorFlow's threads do not survive a fork.
                multiprocessing_context="forkserver" if workers else None,
            ):
                pass

        return read

    yield "Pillow, torch DataLoader, 2 workers", len(pairs), loop(pairs, 2)
    if importlib.util.find_spec("torchvision") is not None:
        voc = TorchvisionPairs(root)
        for workers in (0, 2):
            yield f"torchvision VOCSegmentation, {workers} workers", len(voc), loop(voc, workers)


class TorchvisionPairs:
    """torchvision's own class over both lists, its PIL images made arrays."""

    def __init__(self, root: pathlib.Path):
        from torchvision.datasets import VOCSegmentation

        self._halves = [
            VOCSegmentation(str(root.parent.parent), "2012", image_set)
            for image_set in ("train", "val")
        ]

    def __len__(self) -> int:
        return sum(map(len, self._halves))

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        train, val = self._halves
        image, mask = train[index] if index < len(train) else val[index - len(train)]
        return np.array(image), np.array(mask)


def _keras_cv_loops(root: pathlib.Path) -> Iterator[Loop]:
    """KerasCV reads `Annotations` too, and decodes the instance masks whether wanted or not."""
    from keras_cv.datasets.pascal_voc import segmentation

    folder = pathlib.Path(tempfile.mkdtemp())
    copy = folder / "VOCdevkit" / "VOC2012"
    (copy / "Annotations").mkdir(parents=True)
    for name in ("JPEGImages", "SegmentationClass", "SegmentationObject", "ImageSets"):
        (copy / name).symlink_to((root / name).resolve())
    for image in (root / "JPEGImages").iterdir():
        (copy / "Annotations" / f"{image.stem}.xml").write_text(_ANNOTATION)
    dataset = segmentation.load("train", str(folder))

    def read() -> None:
        for _ in dataset.as_numpy_iterator():
            pass

    yield "KerasCV pascal_voc, train", len(dataset), read


_ANNOTATION = """<annotation><size><width>500</width><height>375</height></size><object>
<name>cat</name><pose>Left</pose><truncated>0</truncated><difficult>0</difficult><bndbox>
<xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"""
