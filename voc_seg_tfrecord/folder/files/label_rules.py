"""The rules that ask about the labels that were found, by what lies beside them."""

from collections.abc import Sequence
import posixpath

import numpy as np

from voc_seg_tfrecord.core.errors import LayoutError, MaskError, several
from voc_seg_tfrecord.core.layout import ID, IMAGES, MASK_FOLDERS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.decide import Rule
from voc_seg_tfrecord.folder.files.annotation_files import options_for_tool
from voc_seg_tfrecord.folder.files.paths import paths_below, stem
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import mask_samples
from voc_seg_tfrecord.tools.coco import find_panoptic_error

_BITS_OF_LABEL = 8

_NAMES_OF_ONE_MASK = "label_names.txt"
"""The class names that labelme_json_to_dataset writes beside each mask."""


def images_are_masks(masks: VocTree, _: VocTree | None) -> LayoutError | None:
    """A file is both the image and the mask of an id."""
    for image_id, path in masks.images.items():
        if masks.masks.get(image_id) == path:
            return LayoutError(
                masks.given / path,
                found="the same file as an image and as its mask",
                expected="separate files for images and masks",
                remedy="check the folders that --images and --masks name",
                kind="names of masks",
            )
    return None


def pixels_are_segments(masks: VocTree, _: VocTree | None) -> LayoutError | None:
    """A file beside a folder of masks says that their pixels are numbers of segments.

    Example: `panoptic_train.json` beside `panoptic_train`.
    """
    if not masks.listing:
        return None
    for mask_folder in _list_mask_folders(masks):
        above, name = posixpath.split(mask_folder)
        if f"{name}.json" in masks.listing.files_by_folder.get(above, ()):
            folder = masks.listing.root / mask_folder
            error = find_panoptic_error(folder.parent / f"{name}.json", folder)
            if error is not None:
                return error
    return None


def _list_mask_folders(tree: VocTree) -> list[str]:
    """Returns the folders of the masks, below the given folder."""
    return sorted({posixpath.dirname(path) for path in tree.masks.values()})


def classes_are_numbered_anew(masks: VocTree, _: VocTree | None) -> LayoutError | None:
    """Each mask has a class list in a folder of its own, and these lists differ.

    labelme writes such a list beside each mask: `a_json/label_names.txt` beside `a_json/label.png`.
    """
    has_folder_of_each_mask = any("/" in part.mask_name for part in masks.layout.folders())
    if not has_folder_of_each_mask or not masks.listing:
        return None
    first_path_by_text: dict[bytes, str] = {}
    for folder in _list_mask_folders(masks):
        if _NAMES_OF_ONE_MASK in masks.listing.files_by_folder.get(folder, ()):
            path = masks.given / folder / _NAMES_OF_ONE_MASK
            first_path_by_text.setdefault(masks.texts.read(path).data, str(path))
    if len(first_path_by_text) < 2:
        return None
    first, second = [*first_path_by_text.values()][:2]
    return LayoutError(
        second,
        found=f"other names than in {first}: labelme_json_to_dataset numbers the labels of "
        "each image anew",
        expected="masks in which each value means the same class",
        remedy="give the folder of labelme's JSON files in place of this one: they are read",
    )


def masks_and_polygons_differ(masks: VocTree, polygons: VocTree | None) -> QuestionError | None:
    """A folder has masks and polygons, and these have not the same pixels.

    VOC's folders win over polygons that lie beside other files of the same images: many labeling
    tools write `JPEGImages` and `SegmentationClass` from such a folder. Those are not used.
    """
    if polygons is None or _are_of_copies_of_voc_images(masks, polygons):
        return None
    files = list(dict.fromkeys(polygons.masks.values()))
    tool = polygons.labels.tool
    alternatives = [_masks_alternative(masks, files)]
    by_hand = ""
    options_for_polygons = options_for_tool(tool, files)
    try:
        difference = _describe_difference(masks, polygons)
    except MaskError as error:
        difference = f"cannot be compared: {error.where}: {error.found}"
        by_hand = (
            "to read the polygons, correct them or leave their images out: "
            f"{command(**options_for_polygons, exclude='IMAGES')}"
        )
    else:
        words = f"{tool}'s polygons, such as {files[0]}"
        alternatives.append(Alternative(words, options_for_polygons))
    if not difference:
        return None
    return QuestionError(
        masks.given,
        alternatives,
        facts=[f"the masks and {tool}'s polygons {difference}"],
        task="read the labels",
        expected="masks or polygons, or the same pixels in both",
        kind="masks and polygons",
        by_hand=by_hand,
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
    options = masks.options
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

    Raises:
      MaskError: if polygons cannot be read.
    """
    mask_id_of_path = {masks.images[image_id]: image_id for image_id in masks.labeled_ids}
    pairs: set[tuple[int, int]] = set()
    for image_id in polygons.masks:
        path = polygons.images[image_id]
        differ = f"differ, as in {path}"
        if path not in mask_id_of_path:
            return differ
        try:
            samples = mask_samples.read_samples(masks.labels.file(mask_id_of_path[path]))
        except MaskError as error:
            return f"cannot be compared: {error.where}: {error.found}"
        labels = mask_samples.read_samples(polygons.labels.file(image_id)).values
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


LABEL_RULES: Sequence[Rule[VocTree, VocTree | None]] = (
    Rule("images as masks", asks=images_are_masks),
    Rule("numbers of segments", asks=pixels_are_segments),
    Rule("class lists of single masks", asks=classes_are_numbered_anew),
    Rule("masks and polygons", asks=masks_and_polygons_differ),
)
"""When the user is asked about masks, with polygons beside them or none."""
