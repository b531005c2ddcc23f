"""Compares the masks of a folder with the polygons in it: the same labels twice, or a question."""

from collections.abc import Sequence
import posixpath

import numpy as np

from voc_seg_tfrecord.core.errors import MaskError, several
from voc_seg_tfrecord.core.layout import ID, IMAGES, MASK_FOLDERS
from voc_seg_tfrecord.folder.files.annotation_files import options_for_tool
from voc_seg_tfrecord.folder.files.paths import paths_below, stem
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
    difference = _describe_difference(masks, polygons)
    if not difference:
        return
    files = list(dict.fromkeys(polygons.masks.values()))
    tool = polygons.labels.tool
    raise QuestionError(
        masks.given,
        [
            _masks_alternative(masks, files),
            Alternative(f"{tool}'s polygons, such as {files[0]}", options_for_tool(tool, files)),
        ],
        task=f"read the labels, {difference}",
        expected="masks or polygons, or the same pixels in both",
        kind="masks and polygons",
    )


def _are_of_copies_of_voc_images(masks: VocTree, polygons: VocTree) -> bool:
    """Says whether polygons are of other files of the images whose masks lie in VOC's folders."""
    if masks.layout.images != IMAGES or masks.layout.masks not in MASK_FOLDERS:
        return False
    paths_with_polygons = {polygons.images[image_id] for image_id in polygons.masks}
    if not paths_with_polygons.isdisjoint(masks.images.values()):
        return False
    paths_with_masks = [masks.images[image_id] for image_id in masks.labeled_ids]
    return {*map(stem, paths_with_masks)}.issuperset(map(stem, paths_with_polygons))


def _masks_alternative(masks: VocTree, polygon_files: Sequence[str]) -> Alternative:
    """Returns the alternative that reads the masks.

    If polygons lie in a folder of masks, the folder does not tell them apart, but names do.
    """
    options = masks.layout.options(masks.root_below_given)
    first = next(iter(masks.masks.values()))
    folders = [
        posixpath.normpath(posixpath.join(masks.root_below_given, part.masks))
        for part in masks.layout.folders()
    ]
    if any(paths_below(polygon_files, folder) for folder in folders):
        options = {"mask_name": options.get("mask_name", f"{ID}{posixpath.splitext(first)[1]}")}
    elif not masks.layout.parts:
        options = {"masks": options["masks"]}
    return Alternative(f"masks in {several(folders)}, such as {first}", options)


def _describe_difference(masks: VocTree, polygons: VocTree) -> str:
    """Returns how masks and polygons differ, or which cannot be read; empty if they are the same.

    The values of masks may be others than the labels of polygons, if each stands for one label and
    each label has one value.
    """
    mask_id_of_path = {masks.images[image_id]: image_id for image_id in masks.labeled_ids}
    pairs: set[tuple[int, int]] = set()
    for image_id in polygons.masks:
        path = polygons.images[image_id]
        differ = f"which differ, as in {path}"
        if path not in mask_id_of_path:
            return differ
        try:
            samples = mask_samples.read_samples(masks.labels.file(mask_id_of_path[path]))
            labels = mask_samples.read_samples(polygons.labels.file(image_id)).values
        except MaskError as error:
            return f"of which some cannot be read: {error.where}: {error.found}"
        is_rgb = samples.kind == "rgb"
        values = mask_samples.pack_colors(samples.values) if is_rgb else samples.values
        if values.shape != labels.shape:
            return differ
        packed = np.unique(values.astype(np.int64) << _BITS_OF_LABEL | labels.astype(np.int64))
        pairs |= {divmod(pair, 1 << _BITS_OF_LABEL) for pair in packed.tolist()}
        values_in_use, labels_in_use = map(set, zip(*pairs, strict=True))
        if len(pairs) > min(len(values_in_use), len(labels_in_use)):
            return differ
    return ""
