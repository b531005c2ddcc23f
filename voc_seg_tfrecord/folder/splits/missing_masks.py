"""Decides what becomes of listed images that have no mask, and finds files that may be theirs.

They are left out and counted, stop the build, or are background alone, as the option `missing_mask`
says. So do images that lack the mask of one of several classes. Files that may be their masks stop
the build before an image becomes background.
"""

from collections.abc import Collection, Sequence
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, ListError, VocSegError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import ID, MASK_ENDINGS, MASK_FOLDERS, PHOTO_ENDINGS
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.no_masks import ADVICE_ON_SOFT_MASKS
from voc_seg_tfrecord.folder.files.object_masks import several_masks_error
from voc_seg_tfrecord.folder.files.pairings import few
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.soft_masks import propose_threshold
from voc_seg_tfrecord.folder.splits.by_ratio import ShareOfImages
from voc_seg_tfrecord.folder.splits.candidates import SplitSource
from voc_seg_tfrecord.folder.splits.copied_images import check_for_copies
from voc_seg_tfrecord.folder.splits.divide import Splits
from voc_seg_tfrecord.folder.tree.endings import ending_of, stem_of
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_MIN_FILES_PER_MISSING_MASK = 0.5
"""Files without an image, for each image that lacks a mask, from which on they may be its mask."""

_MASK_OF_OBJECT = re.compile(r"(.+?)[_-](?:[a-z]+[_-]?)?\d+", re.IGNORECASE)
"""The name of the mask of one object of an image, such as `a_mask_1` of `a`."""


def leave_out_unmasked(splits: Splits, config: VocSegConfig) -> Splits:
    """Returns splits without the listed ids that have no image or no mask, if these may go.

    A split without any image with a mask is dropped too if the user did not give it: releases
    and tools have such lists of test images.

    Raises:
      ListError: if no image of a split has a mask.
      LayoutError: if masks are JPEGs; if images would be background while files lie among the
        masks, or in another folder of masks, that may be theirs; or if they are copies of
        images with masks.
    """
    tree = splits.evidence.tree
    pattern_notes = _note_on_pattern(tree, config)
    used_ids = splits.used
    masked_ids = {one for one in used_ids if one in tree.images and one in tree.masks}
    if masked_ids == used_ids and not tree.labels.origin:
        return dataclasses.replace(splits, notes=[*splits.notes, *pattern_notes])
    unmasked_ids = {one for one in used_ids - masked_ids if one in tree.images}
    # The most general error comes first.
    if not masked_ids:
        check_names_match(tree)
    notes = []
    if unmasked_ids:
        notes += _check_unmasked(tree, config, unmasked_ids)
    notes += _check_masks_of_classes(tree, config.missing_mask, masked_ids, unmasked_ids)
    sources: list[SplitSource | ShareOfImages] = []
    dropped: list[SplitSource | ShareOfImages] = []
    left_out: dict[str, Sequence[str]] = {}
    for source in splits.sources:
        absent_ids = dict.fromkeys(one for one in source.ids if _is_left_out(tree, config, one))
        remaining_ids = [image_id for image_id in source.ids if image_id not in absent_ids]
        if absent_ids:
            left_out[source.split] = [*absent_ids]
        if remaining_ids:
            sources.append(dataclasses.replace(source, ids=remaining_ids))
        else:
            dropped.append(source)
    needed = [source for source in dropped if source.split == "train"]
    if config.splits is not None or not sources:
        needed += dropped
    if needed:
        raise _no_example_error(tree, needed[0])
    for source in dropped:
        notes.append(
            f"{source.words} has no image with a mask, so it makes no split. To choose the lists, "
            "give --splits."
        )
    return dataclasses.replace(
        splits, sources=sources, left_out=left_out, notes=[*splits.notes, *notes, *pattern_notes]
    )


def _check_unmasked(
    tree: VocTree, config: VocSegConfig, unmasked_ids: Collection[str]
) -> list[str]:
    """Checks that no file may be the mask of an image without one, and returns notes on them.

    Raises:
      LayoutError: if one may be.
    """
    _check_for_jpegs(tree, config, unmasked_ids)
    notes = _notes_on_other_files(tree, unmasked_ids)
    if config.missing_mask == "background":
        _check_for_unused_masks(tree, unmasked_ids)
        check_for_copies(tree, unmasked_ids)
        first = tree.images[min(unmasked_ids)]
        if len(unmasked_ids) == 1:
            notes.append(f"1 image without a mask is background alone: {first}.")
        else:
            count = counted(len(unmasked_ids), "image")
            notes.append(f"{count} without a mask are background alone, such as {first}.")
    return notes


def _is_left_out(tree: VocTree, config: VocSegConfig, image_id: str) -> bool:
    """Says whether an id is left out, because it has no image or no mask.

    It is not if a file's name differs only in case or Unicode form, which is an error later.
    """
    if image_id not in tree.images:
        return config.missing_image == "skip" and not tree.images.find_similar_id(image_id)
    if config.missing_mask != "skip":
        return False
    if image_id in tree.masks:
        return bool(tree.labels.find_lacking_classes(image_id))
    return not tree.masks.find_similar_id(image_id)


def _no_example_error(tree: VocTree, source: SplitSource | ShareOfImages) -> ListError:
    """Returns the error that no id of a split has an image, or that no image has a mask."""
    ids = source.ids
    where = f"split {source.split!r} of {tree.root}"
    if not any(image_id in tree.images for image_id in ids):
        return ListError(
            where,
            found=f"no image for any of its {counted(len(ids), 'id')}, such as {ids[0]}",
            expected="at least one id with an image and a mask",
            remedy="put the images into the folder, correct the list, or leave the split out",
        )
    remedy = (
        "leave the split out; or, only if all its images show just background, add "
        "--missing_mask background"
    )
    unused = _unused_masks(tree)
    if unused:
        remedy = (
            f"rename the {counted(len(unused), 'file')} in {tree.layout.masks} without an "
            f"image of their name, such as {unused[0]}, or give their pattern with --mask_name"
        )
    elif not tree.masks:
        remedy = "correct --masks or --mask_name: no file is a mask by its name"
    elif source.split == "train":
        remedy = (
            "put the masks of the training images into the folder with those of the other splits"
        )
    return ListError(
        where,
        found=f"no mask for any of its {counted(len(ids), 'image')}, such as "
        f"{tree.images.get(ids[0], ids[0])}",
        expected="at least one image with a mask",
        remedy=remedy,
    )


def check_names_match(tree: VocTree) -> None:
    """Checks that some masks belong to images by their names.

    Raises:
      LayoutError: if there are images and masks, and none does.
    """
    images = tree.images
    masks = tree.masks
    if not images or not masks or _count_images_with_mask(tree):
        return
    masks_by_image: dict[str, list[str]] = {}
    for mask_id in sorted(masks):
        match = _MASK_OF_OBJECT.fullmatch(mask_id)
        if match and match[1] in images:
            image = tree.images[match[1]]
            masks_by_image.setdefault(image, []).append(tree.masks[mask_id])
    count = sum(map(len, masks_by_image.values()))
    if 2 * count > len(masks) and count > len(masks_by_image):
        image, masks_of_image = next(iter(masks_by_image.items()))
        raise several_masks_error(tree.root, masks_of_image, image)
    first_image = min(images.values())
    first_mask = min(masks.values())
    raise LayoutError(
        tree.root,
        found=f"no mask fits an image by its name (images: {len(images)}, masks: {len(masks)}). "
        f"The first image is {first_image}, the first mask {first_mask}",
        expected="the same name for an image and its mask, except for the ending",
        remedy="rename the masks, or give the pattern of their names with --mask_name, such as "
        f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and the pattern of the '
        "images' names with --image_name",
        kind="names of masks",
    )


def _check_for_jpegs(tree: VocTree, config: VocSegConfig, unmasked_ids: Collection[str]) -> None:
    """Checks that no JPEG lies where a mask should.

    Where some images have masks and the others are left out, a note is enough.

    Raises:
      LayoutError: if one does.
    """
    if tree.masks and config.missing_mask != "background":
        return
    jpegs = _jpegs_in_place_of_masks(tree, unmasked_ids)
    if not jpegs and not tree.masks:
        jpegs = _jpegs_among_masks(tree)
    if not jpegs:
        return
    count = f", the first of {len(jpegs)}" if len(jpegs) > 1 else ""
    raise LayoutError(
        tree.given / jpegs[0],
        found=f"a JPEG or similar file instead of a mask{count}",
        expected=f"masks: files that end with {', '.join(MASK_ENDINGS)}",
        remedy="export the masks again as PNG, because JPEG changes the values of pixels, and so "
        "the classes. Do not use --missing_mask background: the complete image would become "
        f"background{_advise_threshold(tree, jpegs)}",
    )


def _check_for_unused_masks(tree: VocTree, unmasked_ids: Collection[str]) -> None:
    """Checks that few files are left that may be the masks of images without one.

    Raises:
      LayoutError: if there are at least half as many such files as images.
    """
    for files, relation in (
        (_unused_masks(tree), "belong to no image by their names"),
        (_masks_in_other_folders(tree, unmasked_ids), "have the names of images"),
    ):
        if len(files) >= _MIN_FILES_PER_MISSING_MASK * len(unmasked_ids):
            raise LayoutError(
                tree.given / files[0],
                found=f"the first of {len(files)} files that {relation}, while "
                f"{len(unmasked_ids)} images without a mask would become background",
                expected="no unused masks if images are background",
                remedy="rename the files, give their pattern with --mask_name or their folder with "
                "--masks, or remove them from the folder",
            )


def _notes_on_other_files(tree: VocTree, unmasked_ids: Collection[str]) -> list[str]:
    """Returns notes on other folders that have masks of listed images, and on JPEGs.

    MMSegmentation's users have such a tree of trainaug: its list aug.txt needs
    SegmentationClassAug.
    """
    notes = []
    mask_folder = tree.layout.masks
    for folder in MASK_FOLDERS:
        if folder == mask_folder:
            continue
        image_count = len(_ids_with_file_in(tree, folder).intersection(unmasked_ids))
        if image_count:
            notes.append(
                f"{folder} has masks for {image_count} of the {len(unmasked_ids)} listed images "
                f"that have none in {mask_folder}: {command(masks=folder)}"
            )
    jpegs = _jpegs_in_place_of_masks(tree, unmasked_ids)
    if jpegs:
        notes.append(
            f"{jpegs[0]} is the first of {len(jpegs)} files that "
            "cannot be masks, because JPEG changes the values of pixels"
            f"{_advise_threshold(tree, jpegs)}."
        )
    return notes


def _ids_with_file_in(tree: VocTree, folder: str) -> set[str]:
    """Returns the names, without endings, of the masks in a folder of the set."""
    if tree.listing is None or tree.labels.tool:
        return set()
    names = tree.listing.below(tree.path_below_given(folder))
    return {stem_of(name) for name in names if ending_of(name) in MASK_ENDINGS}


def _check_masks_of_classes(
    tree: VocTree, missing_mask: str, masked_ids: Collection[str], unmasked_ids: Collection[str]
) -> list[str]:
    """Checks that images may lack the mask of one of several classes.

    Args:
      tree: the set.
      missing_mask: the option.
      masked_ids: the images that have a mask of some class.
      unmasked_ids: the images that have a mask of none.

    Returns:
      A note on each class of which images lack the mask, if they are built.

    Raises:
      LayoutError: if they may not, or if at least half as many masks of the class belong to no
        image, so that they may be those that are missing.
    """
    if tree.layout.options_of_classes and missing_mask == "error" and unmasked_ids:
        raise _missing_class_error(tree, "any class", sorted(unmasked_ids), (), missing_mask)
    ids_by_class: dict[str, list[str]] = {}
    for image_id in sorted(masked_ids):
        for name in tree.labels.find_lacking_classes(image_id):
            ids_by_class.setdefault(name, []).append(image_id)
    notes = []
    for name, ids in ids_by_class.items():
        files = tree.labels.list_files_of_class(name)
        strays = [file for image_id, file in files if image_id not in tree.images]
        if missing_mask == "error" or len(strays) >= _MIN_FILES_PER_MISSING_MASK * len(ids):
            raise _missing_class_error(tree, name, ids, strays, missing_mask)
        if missing_mask == "background":
            first = tree.images[ids[0]]
            images = counted(len(ids), "image")
            notes.append(f"{images} without a mask of {name} have no pixel of it, such as {first}.")
    return notes


def _missing_class_error(
    tree: VocTree, name: str, ids: Sequence[str], strays: Sequence[str], missing_mask: str
) -> LayoutError:
    """Returns the error that images lack the mask of a class.

    Args:
      tree: the set.
      name: the class, in words.
      ids: the images.
      strays: the masks of the class that belong to no image.
      missing_mask: the option.
    """
    image = tree.images[ids[0]]
    found = f"no mask of {name} for {counted(len(ids), 'image')}, such as {image}"
    remedy = "add the masks"
    if strays:
        masks = counted(len(strays), "mask")
        found += f", and {masks} of {name} for no image, such as {strays[0]}"
        remedy = "if these are the missing masks, rename them; otherwise remove them"
    if missing_mask == "error":
        remedy += (
            f". If such an image has no pixel of {name}, add {command(missing_mask='background')}. "
            f"To leave these images out, add {command(missing_mask='skip')}"
        )
    return LayoutError(
        tree.given,
        found=found,
        expected="a mask of each class for each image",
        remedy=remedy,
        kind="missing mask of a class",
    )


def _note_on_pattern(tree: VocTree, config: VocSegConfig) -> list[str]:
    """Returns the note on a pattern of names that nobody gave; none if names are the ids."""
    user_gave_pattern = "mask_name" in (config.layout or {})
    patterns = {(part.image_name or ID, part.mask_name or ID) for part in tree.layout.folders()}
    if user_gave_pattern or tree.labels.origin or len(patterns) > 1:
        return []
    ((image_name, mask_name),) = patterns
    if image_name == ID and mask_name in (ID, f"{ID}.png"):
        return []
    return [
        f"Masks are named {mask_name} where images are named {image_name}: "
        f"{_count_images_with_mask(tree)} of {len(tree.images)} images have a mask. For "
        "other names, give --mask_name."
    ]


def _jpegs_in_place_of_masks(tree: VocTree, image_ids: Collection[str]) -> list[str]:
    """Returns the paths of JPEGs, and the like, that lie where masks of some images should.

    There are none if masks are drawn from polygons or merged, where others look at JPEGs.
    """
    if tree.labels.origin or tree.set_files is None:
        return []
    photos = tree.set_files.photos
    return sorted(path for image_id, path in photos.items() if image_id in image_ids)


def _jpegs_among_masks(tree: VocTree) -> list[str]:
    """Returns the paths of all JPEGs, and the like, in the folders of masks.

    A folder that has images too has JPEGs that are neither, such as drawings, so its files are
    left out.
    """
    if tree.labels.origin or tree.listing is None:
        return []
    jpegs: set[str] = set()
    for part in tree.layout.folders():
        if part.masks == part.images:
            continue
        folder = tree.path_below_given(part.masks)
        for name in tree.listing.below(folder):
            if name.lower().endswith(PHOTO_ENDINGS):
                jpegs.add(posixpath.normpath(f"{folder}/{name}"))
    return sorted(jpegs.difference(tree.images.values()))


def _advise_threshold(tree: VocTree, jpegs: Sequence[str]) -> str:
    """Returns how to read JPEGs that are black and white masks; empty if they are none."""
    try:
        option = propose_threshold([File.read(tree.given / jpeg) for jpeg in few(jpegs)])
    except VocSegError:  # one cannot be read
        return ""
    return f". {ADVICE_ON_SOFT_MASKS} {option}" if option else ""


def _unused_masks(tree: VocTree) -> list[str]:
    """Returns the paths of files in the folder of masks that belong to no image."""
    masks = tree.masks
    used = {masks.find_id(image_id) for image_id in tree.images}
    unused = [masks[mask_id] for mask_id in masks.keys() - used]
    return sorted([*unused, *_jpegs_among_masks(tree)])


def _masks_in_other_folders(tree: VocTree, unmasked_ids: Collection[str]) -> list[str]:
    """Returns files with the names of images in folders called as masks that are not read."""
    if tree.listing is None:
        return []
    stems = {posixpath.basename(image_id) for image_id in unmasked_ids}
    read_folders = {posixpath.dirname(path) for _, path in tree.labels.list_files()}
    files: list[str] = []
    for path in tree.listing.below():
        folder = posixpath.dirname(path)
        is_mask = path.lower().endswith(tree.mask_endings)
        is_of_image = is_mask and stem(path) in stems and folder not in read_folders
        if is_of_image and role_of_path(folder) == "masks":
            files.append(path)
    return files


def _count_images_with_mask(tree: VocTree) -> int:
    """Returns how many images have a mask by their name.

    Names that only look the same count. They are told apart, id by id, where the files are
    looked up.
    """
    masks = tree.masks
    images = tree.images
    return sum(1 for image_id in images if image_id in masks or masks.find_similar_id(image_id))
