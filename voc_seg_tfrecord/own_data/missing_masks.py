"""What becomes of listed images without a mask, and which pattern would find their masks."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
import dataclasses
import itertools
import posixpath
import re

from voc_seg_tfrecord.base.errors import LayoutError, ListError
from voc_seg_tfrecord.base.wording import command
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.account import Account, of_objects
from voc_seg_tfrecord.own_data.folder_names import EXTRA, ROLES, role, role_of, split_word, words
from voc_seg_tfrecord.own_data.pixels import looks_drawn, sizes_agree
from voc_seg_tfrecord.trees.layout import ID, MASK_FOLDERS, MASK_SUFFIXES
from voc_seg_tfrecord.trees.tree import VocTree

_NO_MASKS = tuple(ending for ending in IMAGE_SUFFIXES if ending not in MASK_SUFFIXES)
"""Endings of images that cannot be masks: JPEG, WebP."""


def without_masks(
    tree: VocTree, config: VocSegConfig, splits: dict[str, Sequence[str]]
) -> tuple[dict[str, Sequence[str]], dict[str, list[str]]]:
    """Leaves out listed ids that have no image or no mask, if the config says so.

    Returns:
      By split, the ids that stay and the ids that are left out.

    Raises:
      ListError: if no image of a split has a mask.
      LayoutError: if masks are JPEGs, or images would be left out, or taken as background, while
        the folder of masks has files that may be their masks.
    """
    _check_names_match(tree)
    _check_files(tree, config, itertools.chain(*splits.values()))
    used: dict[str, Sequence[str]] = {}
    left_out: dict[str, list[str]] = {}
    for name, ids in splits.items():
        out = {image_id for image_id in ids if _is_left_out(image_id, tree, config)}
        used[name] = [image_id for image_id in ids if image_id not in out] if out else ids
        if out:
            left_out[name] = [image_id for image_id in ids if image_id in out]
    bare = [name for name, ids in used.items() if not ids]
    # A test list without masks is usual. Training data without masks are a mistake.
    if bare and (config.splits is not None or len(bare) == len(used) or "train" in bare):
        wrong = "train" if "train" in bare else bare[0]
        raise _no_mask(tree, wrong, splits[wrong])
    return used, left_out


def _is_left_out(image_id: str, tree: VocTree, config: VocSegConfig) -> bool:
    """Says whether an id is left out. One whose file has a name that only looks the same stays.

    What stays in without its files becomes the error that names them.
    """
    if image_id not in tree.images:
        return config.missing_image == "skip" and not tree.images.alike(image_id)
    if config.missing_mask != "skip" or image_id in tree.masks:
        return False
    return not tree.masks.alike(image_id)


def drop_splits_without_masks(
    splits: dict[str, Sequence[str]], sources: dict[str, str]
) -> list[str]:
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
    unused = _unused(tree)
    if split == "train":
        advice = "put the masks of the training images where those of the other splits lie"
    else:
        advice = (
            "leave the split out. Only if all its images show nothing but background, take them "
            "as that: --missing_mask background"
        )
    if unused:
        advice = (
            f"{len(unused)} files in {tree.layout.masks}, such as {unused[0]}, belong to no image "
            "by their names. Rename them, or say how they are named with --mask_name"
        )
    return ListError(
        f"split {split!r} of {tree.root}",
        found=f"no mask for any of its {len(ids)} images, such as {first}",
        expected="at least one image with a mask",
        remedy=advice,
    )


def _check_files(tree: VocTree, config: VocSegConfig, ids: Iterable[str]) -> None:
    """Checks that images without a mask have none, and not one that cannot be used."""
    lacking = _lacking(tree, ids)
    jpegs = _jpegs(tree, lacking)
    if lacking and not tree.masks:
        jpegs = jpegs or _no_masks_in(tree)
    elif config.missing_mask != "background":
        return
    if jpegs:
        raise LayoutError(
            tree.root / tree.layout.masks / jpegs[0],
            found="a JPEG, or the like, where a mask should be"
            + (f", the first of {len(jpegs)}" if len(jpegs) > 1 else ""),
            expected=f"masks: files that end with {', '.join(MASK_SUFFIXES)}",
            remedy="export the masks again as PNG, because a JPEG changes the values of pixels, "
            "and so the classes. With --missing_mask background all of an image would become "
            "background",
        )
    unused = _unused(tree)
    if config.missing_mask == "background" and lacking and 2 * len(unused) >= len(lacking):
        raise LayoutError(
            tree.root / tree.layout.masks / unused[0],
            found=f"the first of {len(unused)} files that belong to no image by their names, while "
            f"{len(lacking)} images have no mask and would become background",
            expected="no such files, if these images are background alone",
            remedy="rename the files, say how they are named with --mask_name, or take them out "
            "of the folder",
        )


def check_left_over(
    tree: VocTree,
    account: Account,
    used: Collection[str],
    lacking: Collection[str] | None = None,
) -> None:
    """Checks that no image and mask that are left over may be a pair.

    Args:
      tree: the tree.
      account: the files that are not used.
      used: the ids of all splits.
      lacking: the ids of images that lists name and that have no mask; None if there are no lists,
        and any image counts.

    Raises:
      LayoutError: if an image and a mask of one size have the same numbers in their names, or the
        same words if these have no numbers.
    """
    folders = [
        {posixpath.dirname(path) or "." for path in _paths(tree, which, used)}
        for which in ("images", "masks")
    ]
    listed = lacking if lacking is None else {*_paths(tree, "images", lacking)}
    masks = dict(_left_over(tree, account, folders, "masks"))
    for numbers, image in _left_over(tree, account, folders, "images") if masks else ():
        if listed is not None and image not in listed:
            continue
        if not (mask := masks.get(numbers)) or _is_example(tree, image, mask, folders):
            continue
        files = tree.given / image, tree.given / mask
        if sizes_agree(*files) and looks_drawn(files[1]) and not looks_drawn(files[0]):
            raise LayoutError(
                files[1],
                found=f"a mask without an image, and {image}, which has no mask. This may be its "
                "mask under another name",
                expected="names of images and masks that are the same, but for what all have "
                "around them",
                remedy="rename one of them, or leave out all files without their other half: "
                + command(**tree.layout.options(tree.place)),
                kind="names of masks",
            )


def _paths(tree: VocTree, which: str, ids: Iterable[str]) -> Iterator[str]:
    """Yields the paths of the `images` or `masks` that ids have, below the given folder."""
    top, names = posixpath.join(tree.place, getattr(tree.layout, which)), getattr(tree, which)
    for image_id in ids:
        if image_id in names:
            yield posixpath.normpath(posixpath.join(top, names[image_id]))


def _left_over(
    tree: VocTree, account: Account, folders: Sequence[Collection[str]], which: str
) -> Iterator[tuple[tuple[str, ...], str]]:
    """Yields the numbers and paths of `images` or `masks` that are left over."""
    patterns = [getattr(p, f"{which[:-1]}_name") for p in tree.layout.folders()]
    endings = MASK_SUFFIXES if which == "masks" else IMAGE_SUFFIXES
    places = {posixpath.normpath(posixpath.join(tree.place, f)) for f in tree.layout.copies}
    for (folder, kind), names in account.items():
        what, _, state = kind.partition(" ")
        place, of_folder = folder or ".", role_of(folder)
        if state == "in no split" or of_folder == "drawn" or place in places:
            continue
        if EXTRA.intersection(words(folder)):
            continue
        of_images = place in folders[0] or of_folder == "images" or bool(split_word(folder)[1])
        last = posixpath.basename(folder)
        of_masks = place in folders[1] or (of_folder == "masks" and last not in MASK_FOLDERS)
        if of_images != of_masks and of_images != (which == "images"):
            continue
        for name in names:
            stem, ending = posixpath.splitext(name.lower())
            of_name = role(stem) if of_images == of_masks else ""
            if what in ("image", "mask"):
                of_name = f"{what}s"
            if ending in endings and of_name in ("", which) and role(stem) != "drawn":
                yield _numbers(stem, patterns), posixpath.join(folder, name)


def _is_example(tree: VocTree, image: str, mask: str, folders: Sequence[Collection[str]]) -> bool:
    """Says whether an image and a mask outside of the tree's folders show a pair of the tree.

    They lie in folders whose names say nothing, such as `docs`, or are named as a pair is.
    """
    places = [posixpath.dirname(path) or "." for path in (image, mask)]
    if any(place in of for place, of in zip(places, folders, strict=True)):
        return False
    names = posixpath.basename(image), posixpath.basename(mask)
    parts = tree.layout.folders()
    ids = {p: (p.image_naming.id_of(names[0]), p.mask_naming.id_of(names[1])) for p in parts}
    return not any(map(role_of, places)) or any(
        of_image == of_mask and posixpath.join(part.name, of_image or "") in tree.images
        for part, (of_image, of_mask) in ids.items()
    )


def _numbers(stem: str, patterns: Iterable[str]) -> tuple[str, ...]:
    """Returns the numbers of a name but for those of patterns.

    If it has none, these are its words but for those that say what files hold.
    """
    around = {word for pattern in patterns for word in words(pattern)}
    of_name = [word.lstrip("0") or "0" for word in words(stem) if word not in around | ROLES]
    return tuple([word for word in of_name if word.isdigit()] or of_name)


def _jpegs(tree: VocTree, lacking: Collection[str]) -> list[str]:
    """Returns the names of JPEGs and the like that lie where masks of these images should."""
    layout = tree.layout
    if not lacking or layout.masks == layout.images:
        return []
    return sorted(name for image_id, name in tree.others(_NO_MASKS).items() if image_id in lacking)


def _no_masks_in(tree: VocTree) -> list[str]:
    """Returns the names of JPEGs and the like in a folder that has nothing but masks."""
    layout = tree.layout
    if layout.masks == layout.images:
        return []
    names = tree.below(layout.masks)
    return sorted(name for name in names if name.lower().endswith(_NO_MASKS))


def _unused(tree: VocTree) -> list[str]:
    """Returns the names of files in the folder of masks that belong to no image."""
    used = {tree.masks.written(image_id) for image_id in tree.images}
    return sorted([*(tree.masks[i] for i in tree.masks.keys() - used), *_no_masks_in(tree)])


def _lacking(tree: VocTree, ids: Iterable[str]) -> set[str]:
    return {i for i in ids if i in tree.images and i not in tree.masks}


def suggest_mask_folders(tree: VocTree, listed: Iterable[str]) -> list[str]:
    """Returns notes about files that may be the masks which listed images lack.

    They are JPEGs in the folder of masks, and masks in other folders that are known. Trainaug as
    MMSegmentation's users have it is such a tree: its list aug.txt needs SegmentationClassAug.
    """
    lacking = _lacking(tree, listed)
    if not lacking:
        return []
    others = (name for name in MASK_FOLDERS if name != tree.layout.masks)
    helped = {}
    for name in others:
        masks = tree.with_layout(dataclasses.replace(tree.layout, masks=name)).masks
        helped[name] = [image_id for image_id in lacking if image_id in masks]
    notes = [
        f"{name} has masks for {len(ids)} of the {len(lacking)} listed images that have none in "
        f"{tree.layout.masks}: {command(masks=name)}"
        for name, ids in helped.items()
        if ids
    ]
    if jpegs := _jpegs(tree, lacking):
        notes.append(
            f"{jpegs[0]} in {tree.layout.masks} is the first of {len(jpegs)} files that cannot be "
            "masks, because JPEG changes the values of pixels."
        )
    return notes


# Of an image, such as `a_mask_1`.
_OBJECT = re.compile(r"(.+?)[_-](?:[a-z]+[_-]?)?\d+", re.IGNORECASE)


def fits(tree: VocTree) -> int:
    """Returns how many images have a mask by their name.

    Names that only look the same count. They are told apart, id by id, where the files are
    looked up.
    """
    return sum(1 for i in tree.images if i in tree.masks or tree.masks.alike(i))


def pattern_note(tree: VocTree, layout: Mapping[str, str]) -> str:
    """Returns the note about patterns that nobody said; empty if names are compared as they are."""
    names = {(part.image_name or ID, part.mask_name or ID) for part in tree.layout.folders()}
    plain = all(mask in (ID, f"{ID}.png") and image == ID for image, mask in names)
    if plain or tree.sheets or "mask_name" in layout or len(names) > 1:
        return ""
    ((image, mask),) = names
    return (
        f"Masks are named {mask} where images are named {image}: {fits(tree)} of "
        f"{len(tree.images)} images have a mask. Other names can be said with --mask_name."
    )


def _check_names_match(tree: VocTree) -> None:
    """Checks that some masks belong to images by their names."""
    if not tree.images or not tree.masks or fits(tree):
        return
    numbered = {i: m[1] for i in tree.masks if (m := _OBJECT.fullmatch(i)) and m[1] in tree.images}
    if 2 * len(numbered) > len(tree.masks) and len({*numbered.values()}) < len(numbered):
        first_id, image_id = min(numbered.items())
        raise of_objects(tree.root, tree.masks[first_id], tree.images[image_id])
    first = [
        posixpath.normpath(posixpath.join(folder, min(names.values())))
        for folder, names in ((tree.layout.images, tree.images), (tree.layout.masks, tree.masks))
    ]
    raise LayoutError(
        tree.root,
        found=f"no mask fits an image by its name, of {len(tree.images)} images and "
        f"{len(tree.masks)} masks. The first are {' and '.join(first)}",
        expected="one name for an image and its mask, but for the ending",
        remedy=f"rename the masks, or say how they are named with --mask_name, such as "
        f'\'gt_{ID}.png\' (in a config: "layout": {{"mask_name": ...}}), and images with '
        "--image_name",
        kind="names of masks",
    )
