"""Writes examples as a tree in VOC's layout."""

from collections.abc import Iterator, Mapping
import csv
import io
from typing import Any

from etils import epath

from voc_seg_tfrecord.base.errors import RecordError
from voc_seg_tfrecord.base.names import (
    FILENAME,
    IMAGE,
    INSTANCES,
    MASK,
    voc_palette,
)
from voc_seg_tfrecord.exports.records import Split
from voc_seg_tfrecord.formats import id_lists, png
from voc_seg_tfrecord.formats.file import File, Kind, kind_of
from voc_seg_tfrecord.formats.id_lists import show_name
from voc_seg_tfrecord.trees.layout import LISTS, VOC

def write_voc(split: Split) -> list[str]:
    """Writes a split: JPEGImages, SegmentationClass, SegmentationObject, its list, and the classes.

    Returns:
      Nothing, as nothing differs from the dataset.

    Raises:
      RecordError: if a name cannot be that of a file below the folder, or two files have it.
    """
    root = split.folder
    class_names = split.builder.info.features[MASK].names
    # With its value in each line, no list of names is read as one without background.
    text = io.StringIO()
    csv.writer(text, lineterminator="\n").writerows([("id", "name"), *enumerate(class_names)])
    (root / "labelmap.csv").write_text(text.getvalue())
    palette = voc_palette().tobytes()
    ids: set[str] = set()
    for where, filename, image_id, example in _named(split):
        if image_id == filename:  # without an ending, readers do not take it for an image
            filename += ".jpg" if kind_of(example[IMAGE]) is Kind.JPEG else ".png"
        if kind_of(example[IMAGE]) is Kind.NUMPY:
            filename = f"{image_id}.npy"
        files = {f"{VOC.images}/{filename}": example[IMAGE]}
        for feature, place in ((MASK, VOC.masks), (INSTANCES, VOC.instances)):
            if feature in example:
                mask = png.palette_png(File(example[feature], filename), palette)
                files[f"{place}/{image_id}.png"] = mask
        if image_id in ids or _other_files(root, files):
            raise _same_name(where, filename)
        staging.write_below(root, files)
        ids.add(image_id)
    lines = "".join(f"{image_id}\n" for image_id in sorted(ids))
    name = {"validation": "val"}.get(split.name, split.name)
    staging.write_below(root, {f"{LISTS}/{name}.txt": lines.encode()})
    return []


def _other_files(root: epath.Path, files: Mapping[str, bytes]) -> bool:
    """Says whether another split has other files under the same names.

    The same image may be in two splits. Then all of its files are there, and the same.
    """
    there = [(root / name).exists() for name in files]
    return any(there) and not all((root / name).read_bytes() == files[name] for name in files)


def _named(split: Split) -> Iterator[tuple[str, str, str, dict[str, Any]]]:
    """Yields the name of each record for errors, its file's name, its image id and the example."""
    for number, example in enumerate(split.examples()):
        where, filename = f"split {split.name}, record {number}", example[FILENAME].decode()
        id_lists.check_name(filename, where)
        yield where, filename, id_lists.image_id(filename), example


def _same_name(where: str, filename: str) -> RecordError:
    return RecordError(
        where,
        found=f"the name {show_name(filename)}, under which another record was written",
        expected="names that differ without their endings",
        remedy="export it as raw or deeplab, or build it again with other names",
    )
