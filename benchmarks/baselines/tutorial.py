"""(b) The tutorials' script: Pillow decodes image and mask, raw bytes go into a TFRecord."""

import pathlib

import numpy as np
from PIL import Image
import tensorflow as tf


def _bytes(value: bytes) -> tf.train.Feature:
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))


def _int(value: int) -> tf.train.Feature:
    return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))


def build(root: pathlib.Path, out: pathlib.Path) -> None:
    """Writes one file for each list."""
    for name in ("train", "val"):
        ids = (root / "ImageSets/Segmentation" / f"{name}.txt").read_text().split()
        with tf.io.TFRecordWriter(str(out / f"{name}.tfrecord")) as writer:
            for image_id in ids:
                image = np.array(Image.open(root / "JPEGImages" / f"{image_id}.jpg"))
                mask = np.array(Image.open(root / "SegmentationClass" / f"{image_id}.png"))
                feature = {
                    "image_raw": _bytes(image.tobytes()),
                    "mask_raw": _bytes(mask.tobytes()),
                    "height": _int(image.shape[0]),
                    "width": _int(image.shape[1]),
                }
                example = tf.train.Example(features=tf.train.Features(feature=feature))
                writer.write(example.SerializeToString())
