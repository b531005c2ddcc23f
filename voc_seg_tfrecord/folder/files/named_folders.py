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
from voc_seg_tfrecord.folder.files.paths import deepest_above
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
    """Returns a layout that reads no image or mask outside the folders that the user named."""
    parts: list[Part] = []
    for part in arranged.layout.folders():
        parts += _keep_part_to_named(given, arranged.root, part)
    if parts == arranged.layout.folders():
        return arranged
    assert parts, "the chosen images and masks lie in named folders"
    layout = dataclasses.replace(
        arranged.layout, images=".", masks=".", image_name="", mask_name="", parts=tuple(parts)
    )
    return ArrangedSet(arranged.root, layout)


def _keep_part_to_named(given: GivenLayout, root: str, part: Part) -> list[Part]:
    """Returns parts that read only the named folders of a part.

    - The part itself, if it reads no other folder.
    - Otherwise a part for each named folder in it, such as `ulm`, if the part is `images` with
      `masks`, and the user named `images/ulm`.
    - None, if it reads no named folder, such as a part `val`, if the user named `train/images`.

    Args:
      given: the folder, and the user's options.
      root: the root of the layout.
      part: the part; its folders lie below the root.
    """
    image_folder = _path_in_listing(root, part.images)
    mask_folder = _path_in_listing(root, part.masks)
    has_unnamed_images = _has_unnamed_files(given, "images", image_folder)
    has_unnamed_masks = _has_unnamed_files(given, "masks", mask_folder)
    if not has_unnamed_images and not has_unnamed_masks:
        return [part]
    paths = _list_named_paths(given, image_folder, mask_folder)
    return [_part_below(part, path) for path in paths]


def _has_unnamed_files(given: GivenLayout, half: Half, folder: str) -> bool:
    """Says whether files of a half lie at or below a folder, outside of those the user named."""
    endings = given.endings.images if half == "images" else given.endings.masks
    for path in given.listing.folders_at_or_below(folder):
        names = given.listing.files_by_folder[path]
        has_files = any(name.lower().endswith(tuple(endings)) for name in names)
        if has_files and not given.is_named(half, path):
            return True
    return False


def _list_named_paths(given: GivenLayout, image_folder: str, mask_folder: str) -> list[str]:
    """Returns the paths that lead from a folder of images, and of masks, to named folders of both.

    Examples for the folders `images` and `masks`:

    | the user named images | the user named masks | the paths |
    | --- | --- | --- |
    | `images/ulm` | `masks/ulm` | `ulm` |
    | `images/ulm` | `masks`, or none | `ulm` |
    | `images/ulm` | `masks/ulm/day` | `ulm/day` |
    | `images/ulm`, `images/ulm/day` | none | `ulm`, which has `ulm/day` in it |
    """
    paths_of_either = {
        *_paths_to_named_folders(given, "images", image_folder),
        *_paths_to_named_folders(given, "masks", mask_folder),
    }
    paths: list[str] = []
    for path in sorted(paths_of_either):  # upper folders come before those in them
        if not given.is_named("images", posixpath.join(image_folder, path)):
            continue
        if not given.is_named("masks", posixpath.join(mask_folder, path)):
            continue
        if deepest_above(path, paths) is None:
            paths.append(path)
    return paths


def _paths_to_named_folders(given: GivenLayout, half: Half, top: str) -> list[str]:
    """Returns the paths from a folder to the folders below it that the user named for a half."""
    paths: list[str] = []
    for named in given.folders_of(half):
        is_below_top = named.path != top and (not top or is_at_or_below(named.path, top))
        if is_below_top:
            paths.append(named.path.removeprefix(top).strip("/"))
    return paths


def _part_below(part: Part, path: str) -> Part:
    """Returns the part of a part at one path below its folders.

    The part is named after this path, as the ids of its files begin with it: `ulm/1` for
    `images/ulm/1.jpg`. So ids are the same with and without the user's options.
    """
    return dataclasses.replace(
        part,
        name=posixpath.join(part.name, path),
        images=posixpath.normpath(posixpath.join(part.images, path)),
        masks=posixpath.normpath(posixpath.join(part.masks, path)),
    )


def _path_in_listing(root: str, folder: str) -> str:
    """Returns a folder of a layout as the listing has it; empty for the root of the listing."""
    path = posixpath.normpath(posixpath.join(root, folder))
    return "" if path == "." else path
