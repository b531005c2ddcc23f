"""Recognises a tree that is a release of VOC itself, by the ids of its lists and its palette."""

import collections

from voc_seg_tfrecord.errors import MaskError, VocSegError
from voc_seg_tfrecord.facts import official_splits
from voc_seg_tfrecord.formats import png
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import id_list_sha256
from voc_seg_tfrecord.labels import voc_palette
from voc_seg_tfrecord.trees.layout import MASKS
from voc_seg_tfrecord.trees.tree import VocTree

_LINE = 200  # bytes; lines of two paths are half as long


def official_config(tree: VocTree) -> str:
    """Returns the official config whose lists a tree has, empty if it is no release of VOC.

    The ids of a list have to be all of the official ones and no others, and the first mask must
    have VOC's own palette.
    """
    if tree.layout.masks != MASKS or not tree.masks:
        return ""
    found: collections.Counter[str] = collections.Counter()
    longest = max(max(row.counts) for row in official_splits.splits().values())
    for name in tree.list_names():
        if tree.list_path(name).stat().length > longest * _LINE:
            continue
        try:
            ids = tree.read_ids(name)
        except VocSegError:  # then it is no official list; the build tells what is wrong
            continue
        rows = [row for row in official_splits.splits().values() if len(ids) in row.counts]
        sha256 = id_list_sha256(ids) if rows else ""
        for split in rows:
            if split.ids_sha256 == sha256 and split.config != "2012_test":
                found[split.config] += 1
    # The most lists win; of two with as many, the first in the table.
    config = max(found, key=found.__getitem__, default="")
    return config if config and _has_voc_palette(tree) else ""


def official_note(tree: VocTree) -> str:
    """Returns which `tfds build` builds a tree that is a release, empty if it is none."""
    config = official_config(tree)
    if not config:
        return ""
    return (
        f"The lists are those of {official_splits.title(config)}, which has a config of its own: "
        f"tfds build voc_seg_tfrecord --imports voc_seg_tfrecord --config {config} "
        f"--manual_dir '{tree.root}'"
    )


def _has_voc_palette(tree: VocTree) -> bool:
    path = tree.root / tree.layout.masks / next(iter(tree.masks.values()))
    try:
        data = File.read(path, MaskError).data
    except VocSegError:
        return False
    return png.has_palette(data, voc_palette().tobytes())
