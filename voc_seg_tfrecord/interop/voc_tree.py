"""Writes examples as a tree in VOC's layout: images, masks with VOC's palette, and lists."""

from collections.abc import Iterable, Mapping
from typing import Any

from etils import epath

from voc_seg_tfrecord.errors import RecordError
from voc_seg_tfrecord.features import FILENAME, IMAGE, INSTANCES, MASK
from voc_seg_tfrecord.formats import id_lists, png_index
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind, kind_of
from voc_seg_tfrecord.interop import names
from voc_seg_tfrecord.labels import voc_palette
from voc_seg_tfrecord.trees.layout import LISTS, VOC

_SPLITS = {"validation": "val"}


def write(examples: Iterable[dict[str, Any]], root: epath.Path, split: str) -> None:
    """Writes a split: JPEGImages, SegmentationClass, SegmentationObject and its list.

    Args:
      examples: features with one value each, images and masks still encoded.
      root: the folder of the tree.
      split: the split's name.

    Raises:
      RecordError: if a name cannot be that of a file below the folder, or two files have it.
    """
    palette = voc_palette().tobytes()
    ids: dict[str, None] = {}
    for number, example in enumerate(examples):
        where = f"split {split}, record {number}"
        filename = example[FILENAME].decode()
        names.check(filename, where)
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
    path = root / LISTS / f"{_SPLITS.get(split, split)}.txt"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(f"{image_id}\n" for image_id in sorted(ids)))


def _other_files(root: epath.Path, files: Mapping[str, bytes]) -> bool:
    """Says whether another split has other files under the same names.

    The same image may be in two splits. Then all of its files are there, and the same.
    """
    there = [(root / name).exists() for name in files]
    return any(there) and not all((root / name).read_bytes() == files[name] for name in files)
