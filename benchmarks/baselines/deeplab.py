"""(d) DeepLab's way: JPEG bytes kept, the mask re-encoded as grey PNG, sizes compared.

Its first script writes each mask again without the palette. Its second keeps the bytes of
both files, decodes both once to compare their sizes, and writes four shards for each list.
"""

import io
import math
import pathlib

import numpy as np
from PIL import Image
import tensorflow as tf

SHARDS = 4


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int(value: int) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def _example(root: pathlib.Path, image_id: str) -> tf.train.Example:
    image = (root / "JPEGImages" / f"{image_id}.jpg").read_bytes()
    buffer = io.BytesIO()
    grey = np.array(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
    Image.fromarray(grey).save(buffer, "PNG")
    mask = buffer.getvalue()
    height, width = np.asarray(Image.open(io.BytesIO(image))).shape[:2]
    if np.asarray(Image.open(io.BytesIO(mask))).shape[:2] != (height, width):
        raise RuntimeError("Shape mismatched between image and label.")
    feature = {
        "image/encoded": _bytes(image),
        "image/filename": _bytes(image_id.encode()),
        "image/format": _bytes(b"jpeg"),
        "image/height": _int(height),
        "image/width": _int(width),
        "image/channels": _int(3),
        "image/segmentation/class/encoded": _bytes(mask),
        "image/segmentation/class/format": _bytes(b"png"),
    }
    return tf.train.Example(features=tf.train.Features(feature=feature))


def build(root: pathlib.Path, out: pathlib.Path) -> None:
    """Writes four shards for each list."""
    for name in ("train", "val"):
        ids = (root / "ImageSets/Segmentation" / f"{name}.txt").read_text().split()
        size = math.ceil(len(ids) / SHARDS)
        for shard in range(SHARDS):
            path = out / f"{name}-{shard:05}-of-{SHARDS:05}.tfrecord"
            with tf.io.TFRecordWriter(str(path)) as writer:
                for image_id in ids[shard * size : (shard + 1) * size]:
                    writer.write(_example(root, image_id).SerializeToString())
