"""Writes a built dataset in layouts that other code reads: plain TFRecords, or a VOC tree."""

from collections.abc import Iterator, Mapping
import contextlib
from typing import Any, Literal

from etils import epath
import tensorflow_datasets as tfds
from tensorflow_datasets.proto import tf_example_pb2, tf_feature_pb2
from tqdm import tqdm

from voc_seg_tfrecord import staging, storage
from voc_seg_tfrecord.errors import ConfigError, RecordError
from voc_seg_tfrecord.features import FILENAME, FILL, HEIGHT, IMAGE, INSTANCES, LABEL, MASK, WIDTH
from voc_seg_tfrecord.formats import id_lists, pillow, png_index
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.interop import framing, names, shards
from voc_seg_tfrecord.interop.files import parse
from voc_seg_tfrecord.interop.layouts import DEEPLAB
from voc_seg_tfrecord.labels import voc_palette
from voc_seg_tfrecord.trees.layout import LISTS, VOC

LayoutName = Literal["raw", "deeplab", "voc"]

_NEEDED = (FILENAME, HEIGHT, WIDTH, LABEL, *FILL)

_TREE_NAMES = {"validation": "val"}


def export(
    builder: tfds.core.DatasetBuilder,
    out: epath.PathLike,
    *,
    layout: LayoutName,
    num_shards: int = 1,
) -> dict[str, int]:
    """Writes a built dataset in another layout, and nothing outside its folder.

    Args:
      builder: of the built dataset.
      out: a folder that does not exist yet, or is empty.
      layout: `raw`: TFRecords of `image_raw` and `label_raw` (uint8 pixels), `height`,
        `width`, `name`; where images have a label or nothing in place of a mask, `label` (an
        integer) or nothing; `deeplab`: TFRecords with DeepLab's features, the image's own bytes;
        `voc`: JPEGImages (the images' own bytes), palette masks, lists, `class_names.txt`.
      num_shards: TFRecord files per split (1).

    Returns:
      How many examples of each split were written.

    Raises:
      ConfigError: if the folder is not empty or cannot be made, or if the dataset has no masks
        and the layout needs them.
      RecordError: if the name of an image or a split cannot be that of a file below the folder.
      StorageError: if the folder cannot be written, or the dataset cannot be read. The folder is
        there only if the export is complete.
    """
    folder = epath.Path(out).expanduser()
    folder = folder.resolve()  # so that "." has a name and a parent
    if folder.exists() and any(folder.iterdir()):
        raise ConfigError(
            folder,
            found="a folder that is not empty",
            expected="a new folder",
            remedy="name a new or empty folder",
        )
    if MASK not in builder.info.features and layout != "raw":
        raise ConfigError(
            builder.info.full_name,
            found=f"no {MASK}",
            expected="a segmentation dataset",
            remedy="export it as raw (--layout raw), or read it with tfds.load",
        )
    _make(folder.parent)
    with storage.told(folder), staging.staged(folder) as incomplete:
        incomplete.mkdir()
        counts = {
            split: _write_split(builder, split, incomplete, layout, num_shards)
            for split in builder.info.splits
        }
        if layout == "voc":
            classes = builder.info.features[MASK].names
            (incomplete / "class_names.txt").write_text("".join(f"{name}\n" for name in classes))
    return counts


def _make(parent: epath.Path) -> None:
    try:
        parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(
            f"--out, {parent}",
            found=f"it cannot be written: {error.strerror or error}",
            expected="a new folder, in a folder that can be written",
            remedy="name another folder",
        ) from None


def _write_split(
    builder: tfds.core.DatasetBuilder,
    split: str,
    folder: epath.Path,
    layout: LayoutName,
    num_shards: int,
) -> int:
    _check_name(split, f"{builder.info.full_name}, split {names.shown(split)}")
    examples = tqdm(
        _examples(builder, split),
        total=builder.info.splits[split].num_examples,
        desc=f"Exporting {split}...",
        unit=" examples",
        leave=False,
    )
    if layout == "voc":
        return _write_tree(examples, folder, split)
    return _write_records(examples, folder, split, layout, num_shards)


def _check_name(name: str, where: str) -> None:
    if fault := names.fault(name):
        raise RecordError(
            where,
            found=f"the name {names.shown(name)}, which {fault}",
            expected="the name of a file below a folder",
            remedy="build the dataset again with other names",
        )


def _examples(builder: tfds.core.DatasetBuilder, split: str) -> Iterator[dict[str, Any]]:
    """Yields the features that layouts are made of, images and masks still encoded."""
    needed = [name for name in _NEEDED if name in builder.info.features]
    for number, serialized in enumerate(shards.read(builder, split)):
        where = f"{builder.info.full_name}, split {split}, record {number}"
        record = parse(serialized, where)
        lacking = [name for name in needed if len(record.get(name, ())) != 1]
        if lacking:
            raise RecordError(
                where,
                found=f"no {', '.join(lacking)}",
                expected=f"one value each of {', '.join(needed)}",
                remedy="build the dataset again",
            )
        yield {name: record[name][0] for name in needed}


def _write_tree(examples: Iterator[dict[str, Any]], root: epath.Path, split: str) -> int:
    palette = voc_palette().tobytes()
    ids: dict[str, None] = {}
    for number, example in enumerate(examples):
        where = f"split {split}, record {number}"
        filename = example[FILENAME].decode()
        _check_name(filename, where)
        image_id = id_lists.image_id(filename)
        if image_id == filename:  # without an ending, readers do not take it for an image
            filename += ".jpg" if kind_of(example[IMAGE]) is Kind.JPEG else ".png"
        files = {f"{VOC.images}/{filename}": example[IMAGE]}
        for feature, place in ((MASK, VOC.masks), (INSTANCES, VOC.instances)):
            if feature in example:
                mask = png_index.palette_png(File(example[feature], filename), palette)
                files[f"{place}/{image_id}.png"] = mask
        if image_id in ids or _other_files(root, files):
            raise RecordError(
                where,
                found=f"the name {names.shown(filename)}, under which another record was written",
                expected="names that differ without their endings",
                remedy="export it as raw or deeplab, or build it again with other names",
            )
        for name, data in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
        ids[image_id] = None
    path = root / LISTS / f"{_TREE_NAMES.get(split, split)}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{image_id}\n" for image_id in sorted(ids)))
    return len(ids)


def _other_files(root: epath.Path, files: Mapping[str, bytes]) -> bool:
    """Says whether another split has other files under the same names.

    The same image may be in two splits. Then all of its files are there, and the same.
    """
    there = [(root / name).exists() for name in files]
    return any(there) and not all((root / name).read_bytes() == files[name] for name in files)


def _write_records(
    examples: Iterator[dict[str, Any]],
    folder: epath.Path,
    split: str,
    layout: LayoutName,
    num_shards: int,
) -> int:
    make = {"raw": _raw_features, "deeplab": _deeplab_features}[layout]
    names = [f"{split}-{n:05}-of-{num_shards:05}.tfrecord" for n in range(num_shards)]
    count = 0
    with contextlib.ExitStack() as stack:
        files = [stack.enter_context((folder / name).open("wb")) for name in names]
        for count, example in enumerate(examples, start=1):
            features = {name: _feature(value) for name, value in make(example).items()}
            record = tf_example_pb2.Example(features=tf_feature_pb2.Features(feature=features))
            serialized = record.SerializeToString(deterministic=True)
            files[(count - 1) % num_shards].write(framing.frame(serialized))
    return count


def _raw_features(example: dict[str, Any]) -> dict[str, bytes | int]:
    import tensorflow as tf

    # TensorFlow's decoder, so that the pixels are those that training on the dataset sees.
    image = tf.io.decode_image(example[IMAGE], channels=3, expand_animations=False).numpy()
    features = {
        "image_raw": image.tobytes(),
        "height": int(image.shape[0]),
        "width": int(image.shape[1]),
        "name": example[FILENAME],
    }
    if LABEL in example:
        features["label"] = int(example[LABEL])
    if MASK in example:
        mask = File(example[MASK], example[FILENAME].decode())
        features["label_raw"] = pillow.decode(mask, RecordError).values().tobytes()
    return features


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


def _feature(value: bytes | int) -> tf_feature_pb2.Feature:
    if isinstance(value, int):
        return tf_feature_pb2.Feature(int64_list=tf_feature_pb2.Int64List(value=[value]))
    return tf_feature_pb2.Feature(bytes_list=tf_feature_pb2.BytesList(value=[value]))
