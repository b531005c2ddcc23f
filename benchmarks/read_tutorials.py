"""How tutorials and papers read VOC with `tf.data`, for read.py. Written as their users would."""

import pathlib

import tensorflow as tf


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
    """Scales the whole image, pads, crops and flips it, one step after the other."""
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
