"""What becomes of listed images that have no mask."""

from collections.abc import Collection, Iterable, Sequence
import itertools

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import LayoutError, ListError
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.formats.ids import Ids
from voc_seg_tfrecord.own_data.mask_names import check_names_match
from voc_seg_tfrecord.trees.layout import MASK_FOLDERS, MASK_SUFFIXES
from voc_seg_tfrecord.trees.listing import index_files
from voc_seg_tfrecord.trees.tree import VocTree


def without_masks(
    tree: VocTree, config: VocSegConfig, splits: dict[str, Sequence[str]]
) -> tuple[dict[str, Sequence[str]], dict[str, list[str]]]:
    """Leaves out listed ids that have no image or no mask, if the config says so.

    Returns:
      By split, the ids that stay and the ids that are left out.

    Raises:
      ListError: if no image of a split has a mask.
      LayoutError: if an image would be taken as background whose mask is a JPEG.
    """
    check_names_match(tree)
    if config.missing_mask == "background":
        _check_no_jpegs(tree, itertools.chain(*splits.values()))
    kept: dict[str, Sequence[str]] = {}
    left_out: dict[str, list[str]] = {}
    for name, ids in splits.items():
        out = {image_id for image_id in ids if _is_left_out(image_id, tree, config)}
        kept[name] = Ids(image_id for image_id in ids if image_id not in out) if out else ids
        if out:
            left_out[name] = [image_id for image_id in ids if image_id in out]
    bare = [name for name, ids in kept.items() if not ids]
    if bare and (config.splits is not None or len(bare) == len(kept)):
        raise _no_mask(tree, bare[0], splits[bare[0]])
    return kept, left_out


def _is_left_out(image_id: str, tree: VocTree, config: VocSegConfig) -> bool:
    """Says whether an id is left out. One whose file has a name that only looks the same stays.

    What stays in without its files becomes the error that names them.
    """
    if image_id not in tree.images:
        return config.missing_image == "skip" and not tree.images.alike(image_id)
    if config.missing_mask != "skip" or image_id in tree.masks:
        return False
    return not tree.masks.alike(image_id)


def take_bare(splits: dict[str, Sequence[str]], sources: dict[str, str]) -> list[str]:
    """Takes out the splits that nobody asked for and that have no image with a mask.

    Test lists of releases and tools are such. `splits` and `sources` are changed.

    Returns:
      A note for each.
    """
    bare = [name for name, ids in splits.items() if not ids]
    for name in bare:
        del splits[name]
    return [
        f"{sources.pop(name)} has no image with a mask, so it makes no split. With --splits you "
        "choose the lists."
        for name in bare
    ]


def _no_mask(tree: VocTree, split: str, ids: Sequence[str]) -> ListError:
    first = tree.images.get(ids[0], ids[0])
    return ListError(
        f"split {split!r} of {tree.root}",
        found=f"no mask for any of its {len(ids)} images, such as {first}",
        expected="at least one image with a mask",
        remedy="leave the split out. Only if all its images show nothing but background, take "
        "them as that: --missing_mask background",
    )


def _check_no_jpegs(tree: VocTree, listed: Iterable[str]) -> None:
    if jpegs := _jpegs(tree, _lacking(tree, listed)):
        raise LayoutError(
            tree.root / tree.layout.masks / jpegs[0],
            found="a JPEG where a mask should be"
            + (f", the first of {len(jpegs)}" if len(jpegs) > 1 else ""),
            expected=f"masks: files that end with {', '.join(MASK_SUFFIXES)}",
            remedy="export the masks again as PNG, because a JPEG changes the values of pixels. "
            "With --missing_mask background all of the image would become background",
        )


def _jpegs(tree: VocTree, lacking: Collection[str]) -> list[str]:
    """Returns the names of JPEGs and the like that lie where masks of these images should."""
    layout = tree.layout
    if not lacking or (layout.masks, layout.mask_naming) == (layout.images, layout.image_naming):
        return []
    endings = [ending for ending in IMAGE_SUFFIXES if ending not in MASK_SUFFIXES]
    found = index_files(tree.root / layout.masks, endings, layout.mask_naming)
    return sorted(name for image_id, name in found.items() if image_id in lacking)


def _lacking(tree: VocTree, listed: Iterable[str]) -> set[str]:
    return {i for i in listed if i in tree.images and i not in tree.masks}


def elsewhere(tree: VocTree, listed: Iterable[str]) -> list[str]:
    """Returns notes about files that may be the masks which listed images lack.

    They are JPEGs in the folder of masks, and masks in other folders that are known. Trainaug as
    MMSegmentation's users have it is such a tree: its list aug.txt needs SegmentationClassAug.
    """
    lacking = _lacking(tree, listed)
    if not lacking:
        return []
    others = (name for name in MASK_FOLDERS if name != tree.layout.masks)
    found = {}
    for name in others:
        masks = index_files(tree.root / name, MASK_SUFFIXES)
        found[name] = [image_id for image_id in lacking if image_id in masks]
    notes = [
        f"{name} has masks for {len(ids)} of the {len(lacking)} listed images that have none in "
        f"{tree.layout.masks}: --masks {name}"
        for name, ids in found.items()
        if ids
    ]
    if jpegs := _jpegs(tree, lacking):
        notes.append(
            f"{jpegs[0]} in {tree.layout.masks} is the first of {len(jpegs)} files that cannot be "
            "masks, because JPEG changes the values of pixels."
        )
    return notes
