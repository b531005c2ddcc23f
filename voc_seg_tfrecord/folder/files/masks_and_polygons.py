"""Compares the masks of a folder with the polygons in it: the same labels twice, or a question."""

from collections.abc import Sequence
import posixpath

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError
from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.folder.files.folder_names import below
from voc_seg_tfrecord.folder.files.polygon_sets import choice_of
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import mask_samples

_BITS_OF_LABEL = 8


def check_same_labels(masks: VocTree, polygons: VocTree) -> None:
    """Checks that the masks and the polygons of a folder have the same pixels.

    Raises:
      QuestionError: if they have not, with the options that choose each.
    """
    difference = _find_difference(masks, polygons)
    if not difference:
        return
    raise QuestionError(
        masks.given,
        [_masks_alternative(masks, polygons), _polygons_alternative(polygons)],
        to=f"read the labels, which differ, as in {difference}",
        expected="masks or polygons, or the same pixels in both",
        kind="masks and polygons",
    )


def _masks_alternative(masks: VocTree, polygons: VocTree) -> Alternative:
    """Returns the alternative that reads the masks."""
    folder = posixpath.join(masks.root_below_given, masks.layout.masks)
    first = next(iter(masks.masks.values()))
    options = {"masks": folder}
    if below(_files_of(polygons), folder):  # then the folder does not tell masks from polygons
        pattern = masks.layout.mask_name or f"{ID}{posixpath.splitext(first)[1]}"
        options = {"mask_name": pattern}
    return Alternative(f"masks in {folder}, such as {first}", options)


def _polygons_alternative(polygons: VocTree) -> Alternative:
    """Returns the alternative that reads the polygons."""
    tool = polygons.labels.tool
    files = _files_of(polygons)
    return Alternative(f"{tool}'s polygons, such as {files[0]}", choice_of(tool, files))


def _files_of(polygons: VocTree) -> Sequence[str]:
    return list(dict.fromkeys(polygons.masks.values()))


def _find_difference(masks: VocTree, polygons: VocTree) -> str:
    """Returns an image of which polygons have other pixels than masks; empty if there is none.

    The values of masks may be others, if each stands for one label.
    """
    ids_by_path = {masks.paths.image(image_id): image_id for image_id in masks.images}
    label_of_value: dict[int, int] = {}
    for image_id in polygons.masks:
        path = polygons.paths.image(image_id)
        mask_id = ids_by_path.get(path)
        if mask_id is None or mask_id not in masks.masks:
            return path
        try:
            values = _read_values(masks, mask_id)
            labels = mask_samples.read_samples(polygons.labels.file(image_id)).values
        except MaskError:
            return path
        if values.shape != labels.shape:
            return path
        pairs = np.unique(values << _BITS_OF_LABEL | labels.astype(np.int64))
        for pair in pairs.tolist():
            value, label = divmod(pair, 1 << _BITS_OF_LABEL)
            if label_of_value.setdefault(value, label) != label:
                return path
    if len(set(label_of_value.values())) < len(label_of_value):
        return "classes that the masks tell apart"
    return ""


def _read_values(masks: VocTree, mask_id: str) -> np.ndarray:
    """Returns the values of a mask, or its colors as one number, int64 `[H, W]`."""
    samples = mask_samples.read_samples(masks.labels.file(mask_id))
    values = samples.values.astype(np.int64)
    if samples.kind == "rgb":
        return values @ (1 << 16, 1 << 8, 1)
    return values
