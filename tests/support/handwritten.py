"""Writes TFRecords the way tutorials do, in TensorFlow 2."""

import pathlib

import numpy as np
from support.encoding import encoded
import tensorflow as tf

RNG = np.random.default_rng(5)
SIZES = [(30, 40), (40, 30), (24, 24), (33, 21), (17, 50), (28, 28)]


def pairs(count: int = 6, channels: int = 3) -> list[tuple[np.ndarray, np.ndarray]]:
    """Returns images, uint8 `[H, W]` or `[H, W, 3]`, and masks, uint8 `[H, W]`."""
    arrays = []
    for n in range(count):
        height, width = SIZES[n % len(SIZES)]
        shape = (height, width, channels) if channels > 1 else (height, width)
        mask = RNG.integers(0, 21, (height, width), np.uint8)
        mask[0] = 255
        arrays.append((RNG.integers(0, 256, shape, np.uint8), mask))
    return arrays


def feature(value: bytes | int | list[int]) -> tf.train.Feature:
    if isinstance(value, bytes):
        return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
    values = value if isinstance(value, list) else [value]
    return tf.train.Feature(int64_list=tf.train.Int64List(value=values))


def write(path: pathlib.Path, records: list[dict], compression: str = "") -> pathlib.Path:
    with tf.io.TFRecordWriter(str(path), options=compression) as writer:
        for record in records:
            features = {key: feature(value) for key, value in record.items()}
            example = tf.train.Example(features=tf.train.Features(feature=features))
            writer.write(example.SerializeToString())
    return path


def raw(image: np.ndarray, mask: np.ndarray, mask_key: str = "label_raw") -> dict:
    return {
        "image_raw": image.tobytes(),
        mask_key: mask.tobytes(),
        "height": image.shape[0],
        "width": image.shape[1],
    }


def shaped(image: np.ndarray, label: int, name: str, key: str = "data") -> dict:
    shape = list(image.shape) if image.ndim == 3 else [*image.shape, 1]
    return {key: image.tobytes(), "shape": shape, "name": name.encode(), "label": label}


def tensor(image: np.ndarray, label: int, *, serialized: bool = True) -> dict:
    data = tf.io.serialize_tensor(image).numpy() if serialized else image.tobytes()
    return {
        "height": image.shape[0],
        "width": image.shape[1],
        "depth": image.shape[2],
        "raw_image": data,
        "label": label,
    }


def deeplab(jpeg: bytes, mask: np.ndarray, name: str) -> dict:
    return {
        "image/encoded": jpeg,
        "image/filename": name.encode(),
        "image/format": b"jpeg",
        "image/height": mask.shape[0],
        "image/width": mask.shape[1],
        "image/channels": 3,
        "image/segmentation/class/encoded": encoded(mask),
        "image/segmentation/class/format": b"png",
    }
