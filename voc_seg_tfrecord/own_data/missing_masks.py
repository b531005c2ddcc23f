"""What becomes of listed images that have no mask."""

from collections.abc import Collection, Sequence

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ListError
from voc_seg_tfrecord.own_data.discovery import MASK_FOLDERS
from voc_seg_tfrecord.own_data.mask_names import check_names_match
from voc_seg_tfrecord.trees.layout import MASK_SUFFIXES
from voc_seg_tfrecord.trees.listing import index_files
from voc_seg_tfrecord.trees.tree import VocTree


def without_masks(
    tree: VocTree, config: VocSegConfig, splits: dict[str, list[str]]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Leaves out listed images that have no mask, if the config says so.

    Returns:
      By split, the ids that stay and the ids that are left out.

    Raises:
      ListError: if no image of a split has a mask.
    """
    check_names_match(tree)
    if config.missing_mask != "skip":
        return splits, {}
    kept: dict[str, list[str]] = {}
    left_out: dict[str, list[str]] = {}
    for name, ids in splits.items():
        # An image that is missing too stays in, for the error that names it; and so does one
        # whose mask has a name that only looks the same.
        lacking = (i for i in ids if i in tree.images and i not in tree.masks)
        out = {image_id for image_id in lacking if not tree.masks.alike(image_id)}
        kept[name] = [image_id for image_id in ids if image_id not in out]
        if out:
            left_out[name] = [image_id for image_id in ids if image_id in out]
    bare = [name for name, ids in kept.items() if not ids]
    if bare and (config.splits is not None or len(bare) == len(kept)):
        raise _no_mask(tree, bare[0], splits[bare[0]])
    return kept, left_out


def take_bare(splits: dict[str, list[str]], sources: dict[str, str]) -> list[str]:
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
    first = tree.images[ids[0]]
    return ListError(
        f"split {split!r} of {tree.root}",
        found=f"no mask for any of its {len(ids)} images, such as {first}",
        expected="at least one image with a mask",
        remedy="leave the split out. Only if all its images show nothing but background, take "
        "them as that: --missing_mask background",
    )


def elsewhere(tree: VocTree, listed: Collection[str]) -> list[str]:
    """Returns a note for each known folder of masks that has masks this tree's folder lacks.

    Trainaug as MMSegmentation's users have it is such a tree: its list aug.txt needs
    SegmentationClassAug.
    """
    lacking = {i for i in listed if i in tree.images and i not in tree.masks}
    if not lacking:
        return []
    others = (name for name in MASK_FOLDERS if name != tree.layout.masks)
    found = {name: lacking & index_files(tree.root / name, MASK_SUFFIXES).keys() for name in others}
    return [
        f"{name} has masks for {len(ids)} of the {len(lacking)} listed images that have none in "
        f"{tree.layout.masks}: --masks {name}"
        for name, ids in found.items()
        if ids
    ]
