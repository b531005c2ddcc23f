"""Checks that images that would become background are no copies of labeled ones."""

from collections.abc import Collection
import hashlib
import posixpath

from voc_seg_tfrecord.core.errors import LayoutError
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.looks import MIN_IMAGE_BYTES, length
from voc_seg_tfrecord.folder.splits.small_copies import find_small_copies
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


def check_for_copies(tree: VocTree, unmasked_ids: Collection[str]) -> None:
    """Checks that images that would become background are no copies of labeled ones.

    Raises:
      LayoutError: if one has the bytes of an image with a mask, lies under the name of one in
        a folder such as `overlays`, or shows the same picture, as thumbnails do.
    """
    copies = _find_overlays(tree, unmasked_ids) or _find_copies(tree, unmasked_ids)
    relation = "is a copy of"
    if not copies:
        copies = find_small_copies(tree, unmasked_ids)
        relation = "shows the same picture as"
    if not copies:
        return
    copy, original = next(iter(copies.items()))
    count = f", the first of {len(copies)} such images" if len(copies) > 1 else ""
    raise LayoutError(
        tree.given / tree.paths.image(copy),
        found=f"an image without a mask that {relation} the labeled image "
        f"{tree.paths.image(original)}{count}. It would become background",
        expected="no labeled copies of images that become background",
        remedy="remove the copies from the folder, or leave out all images without a mask with "
        "--missing_mask skip",
        kind="copies without a mask",
    )


def _find_overlays(tree: VocTree, unmasked_ids: Collection[str]) -> dict[str, str]:
    """Returns, by images in folders such as `overlays`, the labeled image of the same name."""
    labeled_by_name = {posixpath.basename(image_id): image_id for image_id in tree.labeled_ids}
    originals = {}
    for image_id in sorted(unmasked_ids):
        folder, name = posixpath.split(image_id)
        if role_of_path(folder) == "drawn" and name in labeled_by_name:
            originals[image_id] = labeled_by_name[name]
    return originals


def _find_copies(tree: VocTree, unmasked_ids: Collection[str]) -> dict[str, str]:
    """Returns, by images without a mask, a labeled image that has the same bytes.

    Only files that have the size of one of the other kind are read.
    """
    unmasked_by_size = _group_by_size(tree, unmasked_ids)
    labeled_by_size = _group_by_size(tree, tree.labeled_ids)
    copies = {}
    for size, ids_of_size in unmasked_by_size.items():
        if size <= MIN_IMAGE_BYTES or size not in labeled_by_size:
            continue
        labeled_by_digest = {
            _digest(tree, image_id): image_id for image_id in labeled_by_size[size]
        }
        for image_id in ids_of_size:
            original = labeled_by_digest.get(_digest(tree, image_id))
            if original is not None:
                copies[image_id] = original
    return dict(sorted(copies.items()))


def _group_by_size(tree: VocTree, image_ids: Collection[str]) -> dict[int, list[str]]:
    """Returns the ids of images by the size of their files in bytes."""
    ids_by_size: dict[int, list[str]] = {}
    for image_id in image_ids:
        ids_by_size.setdefault(length(tree.image_file(image_id)), []).append(image_id)
    return ids_by_size


def _digest(tree: VocTree, image_id: str) -> bytes:
    return hashlib.sha256(tree.image_file(image_id).read_bytes()).digest()
