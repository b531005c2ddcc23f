"""Keeps a layout to the folders that the user named.

`layouts` cuts off the folders that images and masks both end with, and adds splits that lie alike.
Without options that finds a complete set. If the user named `images/ulm`, it would read
`images/bonn` too.
"""

from collections.abc import Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.layout import Part
from voc_seg_tfrecord.folder.files.given_layout import GivenLayout, Half
from voc_seg_tfrecord.folder.files.layouts import ArrangedSet, arrange
from voc_seg_tfrecord.folder.files.pairings import Pairing
from voc_seg_tfrecord.folder.files.paths import paths_below
from voc_seg_tfrecord.folder.tree.listing import is_at_or_below


def arrange_as_named(given: GivenLayout, chosen: Sequence[Pairing]) -> ArrangedSet | None:
    """Returns the layout of a set, kept to the folders that the user named.

    It is None if the pairings are no parts of one set.

    Args:
      given: the folder, and the user's options.
      chosen: the images and masks of the set, which lie in these folders.
    """
    arranged = arrange(given.listing, chosen, given.endings)
    return None if arranged is None else _keep_to_named(given, arranged)


def _keep_to_named(given: GivenLayout, arranged: ArrangedSet) -> ArrangedSet:
    """Returns a layout that reads no image or mask outside the folders that the user named.

    Each part that would read others becomes one part for each named folder in it. The name of
    this part is the beginning of its ids, so ids stay as they are: `ulm/1` for `images/ulm/1.jpg`.
    """
    parts: list[Part] = []
    for part in arranged.layout.folders():
        parts += _keep_part_to_named(given, arranged.root, part)
    if parts == arranged.layout.folders():
        return arranged
    layout = dataclasses.replace(
        arranged.layout, images=".", masks=".", image_name="", mask_name="", parts=tuple(parts)
    )
    return ArrangedSet(arranged.root, layout)


def _keep_part_to_named(given: GivenLayout, root: str, part: Part) -> list[Part]:
    """Returns a part itself if it reads only named folders, or else the parts for these."""
    image_folder = _path(root, part.images)
    mask_folder = _path(root, part.masks)
    has_other_images = _has_others(given, "images", image_folder, given.endings.images)
    has_other_masks = _has_others(given, "masks", mask_folder, given.endings.masks)
    if not has_other_images and not has_other_masks:
        return [part]
    kept: list[Part] = []
    for below in _named_paths_below(given, image_folder, mask_folder):
        images = posixpath.join(image_folder, below)
        masks = posixpath.join(mask_folder, below)
        is_named = (
            given.path_below_named("images", images) is not None
            and given.path_below_named("masks", masks) is not None
        )
        is_in_kept = any(is_at_or_below(below, other.name) for other in kept)
        if is_named and not is_in_kept:
            kept.append(dataclasses.replace(part, name=below, images=images, masks=masks))
    return [_as_part_of(part, root, other) for other in kept]


def _has_others(given: GivenLayout, half: Half, folder: str, endings: Sequence[str]) -> bool:
    """Says whether files of a half lie at or below a folder, outside of those the user named."""
    for path in paths_below(given.listing.files_by_folder, folder):
        names = given.listing.files_by_folder[path]
        has_files = any(name.lower().endswith(tuple(endings)) for name in names)
        if has_files and given.path_below_named(half, path) is None:
            return True
    return False


def _named_paths_below(given: GivenLayout, image_folder: str, mask_folder: str) -> list[str]:
    """Returns the paths of named folders below the folder of their half, the upper ones first."""
    paths: set[str] = set()
    for named_folders, top in (
        (given.image_folders, image_folder),
        (given.mask_folders, mask_folder),
    ):
        for named in named_folders:
            is_below = not top or is_at_or_below(named.path, top)
            if is_below and named.path != top:
                paths.add(named.path.removeprefix(top).strip("/"))
    return sorted(paths)


def _as_part_of(part: Part, root: str, kept: Part) -> Part:
    """Returns a kept part with its folders below the root, and its name below that of its part."""
    return dataclasses.replace(
        kept,
        name=posixpath.join(part.name, kept.name),
        images=posixpath.relpath(kept.images, root or "."),
        masks=posixpath.relpath(kept.masks, root or "."),
    )


def _path(root: str, folder: str) -> str:
    """Returns a folder of a layout as the listing has it; empty for the root."""
    path = posixpath.normpath(posixpath.join(root, folder))
    return "" if path == "." else path
