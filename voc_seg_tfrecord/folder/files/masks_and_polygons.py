"""Compares the masks of a folder with the polygons in it: the same labels twice, or a question."""

from collections.abc import Sequence
import posixpath

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, several
from voc_seg_tfrecord.core.layout import ID, IMAGES, MASK_FOLDERS
from voc_seg_tfrecord.folder.files.annotation_files import options_for_tool
from voc_seg_tfrecord.folder.files.paths import paths_below
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import mask_samples

_BITS_OF_LABEL = 8


def check_same_labels(masks: VocTree, polygons: VocTree) -> None:
    """Checks that the masks and the polygons of a folder have the same pixels.

    VOC's folders win over polygons that lie beside other files of the same images: many labeling
    tools write `JPEGImages` and `SegmentationClass` from such a folder. Those are not used.

    Raises:
      QuestionError: if they have not, with the options that choose each.
    """
    if _are_of_copies_of_voc_images(masks, polygons):
        return
    words = _describe_difference(masks, polygons)
    if not words:
        return
    raise QuestionError(
        masks.given,
        [_masks_alternative(masks, polygons), _polygons_alternative(polygons)],
        task=f"read the labels, {words}",
        expected="masks or polygons, or the same pixels in both",
        kind="masks and polygons",
    )


def _are_of_copies_of_voc_images(masks: VocTree, polygons: VocTree) -> bool:
    """Says whether polygons are of other files of the images whose masks lie in VOC's folders."""
    if masks.layout.images != IMAGES or masks.layout.masks not in MASK_FOLDERS:
        return False
    voc_paths = {masks.paths.image(image_id) for image_id in masks.images}
    polygon_paths = [polygons.paths.image(image_id) for image_id in polygons.masks]
    labeled_stems = {_stem_of(masks.paths.image(image_id)) for image_id in masks.labeled_ids}
    have_masks = labeled_stems.issuperset(map(_stem_of, polygon_paths))
    return have_masks and voc_paths.isdisjoint(polygon_paths)


def _stem_of(path: str) -> str:
    return posixpath.splitext(posixpath.basename(path))[0]


def _masks_alternative(masks: VocTree, polygons: VocTree) -> Alternative:
    """Returns the alternative that reads the masks.

    If polygons lie in a folder of masks, the folder does not tell them apart, but names do.
    """
    layout = masks.layout
    options = layout.options(masks.root_below_given)
    first = next(iter(masks.masks.values()))
    root = masks.root_below_given
    mask_folders = [posixpath.normpath(posixpath.join(root, p.masks)) for p in layout.folders()]
    description = f"masks in {several(mask_folders)}, such as {first}"
    if any(paths_below(_files_of(polygons), folder) for folder in mask_folders):
        pattern = options.get("mask_name", f"{ID}{posixpath.splitext(first)[1]}")
        return Alternative(description, {"mask_name": pattern})
    if layout.parts:
        return Alternative(description, options)
    return Alternative(description, {"masks": options["masks"]})


def _polygons_alternative(polygons: VocTree) -> Alternative:
    """Returns the alternative that reads the polygons."""
    tool = polygons.labels.tool
    files = _files_of(polygons)
    return Alternative(f"{tool}'s polygons, such as {files[0]}", options_for_tool(tool, files))


def _files_of(polygons: VocTree) -> Sequence[str]:
    return list(dict.fromkeys(polygons.masks.values()))


def _describe_difference(masks: VocTree, polygons: VocTree) -> str:
    """Returns how masks and polygons differ, or which cannot be read; empty if they are the same.

    The values of masks may be others than the labels of polygons, if each stands for one label and
    each label has one value.
    """
    ids_by_path = {masks.paths.image(image_id): image_id for image_id in masks.images}
    label_of_value: dict[int, int] = {}
    for image_id in polygons.masks:
        path = polygons.paths.image(image_id)
        words = f"which differ, as in {path}"
        try:
            pairs = _read_pixels(masks, ids_by_path.get(path, ""), polygons, image_id)
        except MaskError as error:
            return f"of which some cannot be read: {error.where}: {error.found}"
        if pairs is None:
            return words
        for value, label in pairs:
            if label_of_value.setdefault(value, label) != label:
                return words
    if len(set(label_of_value.values())) < len(label_of_value):
        return "which differ: the masks tell classes apart that are one label of the polygons"
    return ""


def _read_pixels(
    masks: VocTree, mask_id: str, polygons: VocTree, image_id: str
) -> list[tuple[int, int]] | None:
    """Returns each value of a mask with each label that polygons have at its pixels.

    It is None if there is no such mask, or if their sizes differ.

    Raises:
      MaskError: if the mask or the polygons cannot be read.
    """
    if mask_id not in masks.masks:
        return None
    values = _read_values(masks, mask_id)
    labels = mask_samples.read_samples(polygons.labels.file(image_id)).values
    if values.shape != labels.shape:
        return None
    pairs = np.unique(values << _BITS_OF_LABEL | labels.astype(np.int64))
    return [divmod(pair, 1 << _BITS_OF_LABEL) for pair in pairs.tolist()]


def _read_values(masks: VocTree, mask_id: str) -> np.ndarray:
    """Returns the values of a mask, or its colors as one number, int64 `[H, W]`."""
    samples = mask_samples.read_samples(masks.labels.file(mask_id))
    values = mask_samples.pack_colors(samples.values) if samples.kind == "rgb" else samples.values
    return values.astype(np.int64)
