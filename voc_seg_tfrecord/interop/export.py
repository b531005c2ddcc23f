"""Writes a built dataset in layouts that other code reads: plain TFRecords, or a VOC tree."""

from collections.abc import Iterator
import pathlib
from typing import Any, Literal

from etils import epath
import tensorflow_datasets as tfds
from tqdm import tqdm

from voc_seg_tfrecord.errors import ConfigError, RecordError
from voc_seg_tfrecord.features import FILENAME, FILL, HEIGHT, IMAGE, INSTANCES, MASK, WIDTH
from voc_seg_tfrecord.formats import pillow, png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.interop.layouts import DEEPLAB
from voc_seg_tfrecord.labels import voc_palette
from voc_seg_tfrecord.trees.layout import LISTS, VOC

LayoutName = Literal["raw", "deeplab", "voc"]

_TREE_NAMES = {"validation": "val"}


def export(
    builder: tfds.core.DatasetBuilder,
    out: epath.PathLike,
    *,
    layout: LayoutName,
    num_shards: int = 1,
) -> dict[str, int]:
    """Writes a built segmentation dataset in another layout.

    Args:
      builder: of the built dataset.
      out: a folder that does not exist yet, or is empty.
      layout: `raw`: TFRecords of `image_raw` and `label_raw` (uint8 pixels), `height`,
        `width`, `name`; `deeplab`: TFRecords with DeepLab's features, the image's own bytes;
        `voc`: JPEGImages (the images' own bytes), palette masks, lists, `class_names.txt`.
      num_shards: TFRecord files per split (1).

    Returns:
      How many examples of each split were written.

    Raises:
      ConfigError: if the folder is not empty, or the dataset has no masks.
    """
    folder = epath.Path(out).expanduser()
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            folder,
            found="a folder that is not empty",
            expected="a new folder",
            remedy="name a new or empty folder",
        )
    if MASK not in builder.info.features:
        raise ConfigError(
            builder.info.full_name,
            found=f"no {MASK}",
            expected="a segmentation dataset",
            remedy="read it with tfds.load",
        )
    # The final name appears only when the export is complete.
    incomplete = folder.parent / f"incomplete.{folder.name}"
    incomplete.mkdir(parents=True, exist_ok=False)
    try:
        counts = {}
        for split, info in builder.info.splits.items():
            examples = tqdm(
                _examples(builder, split),
                total=info.num_examples,
                desc=f"Exporting {split}...",
                unit=" examples",
                leave=False,
            )
            if layout == "voc":
                counts[split] = _write_tree(examples, incomplete, split)
            else:
                counts[split] = _write_records(examples, incomplete, split, layout, num_shards)
        if layout == "voc":
            names = builder.info.features[MASK].names
            (incomplete / "class_names.txt").write_text("".join(f"{name}\n" for name in names))
        if folder.exists():
            folder.rmdir()
        incomplete.rename(folder)
    finally:
        if incomplete.exists():
            incomplete.rmtree()
    return counts


def _examples(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[dict[str, Any]]:
    skip = tfds.decode.SkipDecoding()
    decoders = {name: skip for name in FILL if name in builder.info.features}
    dataset = builder.as_dataset(
        split=split,
        decoders=decoders,
        # In the dataset's own order, so that an export is the same each time.
        read_config=tfds.ReadConfig(interleave_cycle_length=1),
    )
    return iter(dataset.as_numpy_iterator())


def _write_tree(examples: Iterator[dict[str, Any]], root: epath.Path, split: str) -> int:
    palette = voc_palette().tobytes()
    ids = []
    for example in examples:
        filename = example[FILENAME].decode()
        image_id = pathlib.PurePosixPath(filename).with_suffix("").as_posix()
        ids.append(image_id)
        files = {f"{VOC.images}/{filename}": example[IMAGE]}
        for feature, place in ((MASK, VOC.masks), (INSTANCES, VOC.instances)):
            if feature in example:
                mask = png.palette_png(File(example[feature], filename), palette)
                files[f"{place}/{image_id}.png"] = mask
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    path = root / LISTS / f"{_TREE_NAMES.get(split, split)}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{image_id}\n" for image_id in sorted(ids)))
    return len(ids)


def _write_records(
    examples: Iterator[dict[str, Any]],
    folder: epath.Path,
    split: str,
    layout: LayoutName,
    num_shards: int,
) -> int:
    import tensorflow as tf

    make = {"raw": _raw_features, "deeplab": _deeplab_features}[layout]
    names = [f"{split}-{n:05}-of-{num_shards:05}.tfrecord" for n in range(num_shards)]
    writers = [tf.io.TFRecordWriter(str(folder / name)) for name in names]
    count = 0
    for count, example in enumerate(examples, start=1):
        features = {name: _feature(value) for name, value in make(example).items()}
        record = tf.train.Example(features=tf.train.Features(feature=features))
        serialized = record.SerializeToString(deterministic=True)
        writers[(count - 1) % num_shards].write(serialized)
    for writer in writers:
        writer.close()
    return count


def _raw_features(example: dict[str, Any]) -> dict[str, bytes | int]:
    import tensorflow as tf

    # TensorFlow's decoder, so that the pixels are those that training on the dataset sees.
    image = tf.io.decode_image(example[IMAGE], channels=3, expand_animations=False).numpy()
    name = example[FILENAME]
    mask = pillow.decode(File(example[MASK], name.decode()), RecordError).values()
    return {
        "image_raw": image.tobytes(),
        "label_raw": mask.tobytes(),
        "height": int(mask.shape[0]),
        "width": int(mask.shape[1]),
        "name": name,
    }


def _deeplab_features(example: dict[str, Any]) -> dict[str, bytes | int]:
    is_jpeg = kind_of(example[IMAGE]) is Kind.JPEG
    return {
        DEEPLAB.image: example[IMAGE],
        DEEPLAB.filename: example[FILENAME],
        "image/format": b"jpeg" if is_jpeg else b"png",
        DEEPLAB.height: int(example[HEIGHT]),
        DEEPLAB.width: int(example[WIDTH]),
        DEEPLAB.channels: 3,
        DEEPLAB.mask: example[MASK],
        "image/segmentation/class/format": b"png",
    }


def _feature(value: bytes | int) -> Any:
    import tensorflow as tf

    if isinstance(value, int):
        return tf.train.Feature(int64_list=tf.train.Int64List(value=[value]))
    return tf.train.Feature(bytes_list=tf.train.BytesList(value=[value]))
