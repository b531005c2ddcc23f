"""Finds images that lie in several folders, and asks if their labels differ.

Two people may have labeled one photo, in `anna/1.jpg` and `ben/1.jpg`. The files are compared by
their bytes, whatever they are called.
"""

from collections.abc import Callable, Hashable, Iterable, Sequence
import hashlib
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names
from voc_seg_tfrecord.folder.looks import MIN_IMAGE_BYTES, length
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.splits.alike import read_thumbnail
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_FIRST_BYTES = 1 << 16
"""Bytes of images of one length that are compared first, because whole ones take long to read."""

_KeyOfFile = Callable[[epath.Path], Hashable | None]
"""Returns a value that the copies of a file share; None if a file is not compared."""


def find_repeated_images(tree: VocTree) -> list[list[str]]:
    """Returns the sorted ids of each labeled image that lies in several folders.

    Left out are images of one color, such as blank tiles, and images with one copy in each of
    several folders that are named after different splits.
    """
    ids = tree.labeled_ids
    has_folder_of_each_image = "/" in tree.layout.image_name
    if has_folder_of_each_image or len({_folder_of(tree, one) for one in ids}) < 2:
        return []
    groups: list[list[str]] = [[*ids]]
    for key in (_length_of, _digest_of_beginning, _digest_of_file):
        groups = _divide_groups(tree, groups, key)
    repeated: list[list[str]] = []
    for group in groups:
        thumbnail = read_thumbnail(tree.image_file(group[0]))
        has_one_color = thumbnail is not None and not thumbnail.any()
        if not has_one_color:
            repeated.append(sorted(group))
    return sorted(repeated)


def _folder_of(tree: VocTree, image_id: str) -> str:
    return posixpath.dirname(tree.images[image_id])


def _divide_groups(
    tree: VocTree, groups: Iterable[Sequence[str]], key: _KeyOfFile
) -> list[list[str]]:
    """Divides groups of ids by the keys of their image files.

    Images without a key are left out, and groups that do not lie in several folders.
    """
    divided: list[list[str]] = []
    for group in groups:
        ids_by_key: dict[Hashable, list[str]] = {}
        for image_id, value in ordered_map(lambda one: key(tree.image_file(one)), group):
            if value is not None:
                ids_by_key.setdefault(value, []).append(image_id)
        divided += [ids for ids in ids_by_key.values() if _are_of_several_folders(tree, ids)]
    return divided


def _are_of_several_folders(tree: VocTree, ids: Iterable[str]) -> bool:
    """Says whether ids lie in several folders of one split, or in several of no split."""
    folders = {_folder_of(tree, image_id) for image_id in ids}
    splits = {split_of(folder) for folder in folders}
    return len(folders) > len(splits)


def _length_of(path: epath.Path) -> int | None:
    size = length(path)
    return size if size > MIN_IMAGE_BYTES else None


def _digest_of_beginning(path: epath.Path) -> bytes | None:
    return _digest(path, _FIRST_BYTES)


def _digest_of_file(path: epath.Path) -> bytes | None:
    return _digest(path, -1)


def _digest(path: epath.Path, byte_count: int) -> bytes | None:
    """Returns a digest of the first bytes of a file, or of all; None if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(byte_count)).digest()
    except OSError:
        return None


def check_repeated_labels(
    tree: VocTree, repeated: Sequence[Sequence[str]], config: VocSegConfig
) -> list[str]:
    """Checks that images which lie in several folders have the same labels in each.

    | labels | the user named several folders | result |
    | --- | --- | --- |
    | the same | either | a note |
    | other ones in some folder | yes | a note on the images with these |
    | other ones in some folder | no | a question |

    Args:
      tree: the set.
      repeated: the ids of each image that lies in several folders.
      config: what the user said.

    Returns:
      The note; none if no image lies in several folders.

    Raises:
      QuestionError: see the table.
    """
    differing: list[Sequence[str]] = []
    for ids in repeated:
        labels = [_read_label(tree, image_id) for image_id in ids]
        if any(label != labels[0] for label in labels):
            differing.append(ids)
    described = differing or repeated
    if not described:
        return []
    first, second, *_ = (tree.paths.image(image_id) for image_id in described[0])
    images = counted(len(described), "image")
    user_named_folders = "," in (config.layout or {}).get("images", "")
    if not differing or user_named_folders:
        labels_in_words = "other labels" if differing else "the same labels"
        return [
            f"Several folders have {images} with {labels_in_words}, such as {first} and {second}. "
            "Each file is an example."
        ]
    raise QuestionError(
        tree.given,
        _list_alternatives(tree, differing[0]),
        task=f"read {images} with other labels in another folder, such as {first} and {second}",
        expected="the labels of one person for each image",
        kind="images in several folders",
    )


def _read_label(tree: VocTree, image_id: str) -> list[Any]:
    """Returns a value that is equal for equal labels: shapes, or digests of the mask's files.

    The position of a shape in its file does not count.
    """
    labels = tree.labels
    if isinstance(labels, DrawnLabels):
        return [shape._replace(position="") for shape in labels.shapes[image_id].shapes]
    return [_digest_of_file(labels.folder / name) for name in labels.files_of(image_id)]


def _list_alternatives(tree: VocTree, ids: Sequence[str]) -> list[Alternative]:
    """Returns the alternatives: the images of each folder alone, and of all if options can say so.

    A folder is the first one in which the paths of the ids differ: `anna` and `ben` for
    `anna/photos/1.jpg` and `ben/photos/1.jpg`.
    """
    folders = [posixpath.dirname(tree.paths.image(image_id)) for image_id in ids]
    depth = len(folder_names(common_folder(folders))) + 1
    tops = dict.fromkeys("/".join(folder_names(folder)[:depth]) for folder in folders)
    patterns = {"image_name": tree.layout.image_name, "mask_name": tree.layout.mask_name}
    if tree.labels.tool:  # files of labeling tools name their images
        patterns = {}
    alternatives: list[Alternative] = []
    for top in tops:
        own_ids = [one for one in tree.labeled_ids if _lies_below(tree.paths.image(one), top)]
        paths_of_images = [posixpath.dirname(tree.paths.image(one)) for one in own_ids]
        paths_of_masks = [posixpath.dirname(tree.paths.mask(one)) for one in own_ids]
        options = {
            "images": common_folder(paths_of_images) or ".",
            "masks": common_folder(paths_of_masks) or ".",
            **{name: pattern for name, pattern in patterns.items() if pattern},
        }
        alternatives.append(Alternative("", options))
    if tree.layout.parts:
        alternatives.append(Alternative("", tree.layout.options(tree.root_below_given)))
    elif tree.labels.tool:
        images = ",".join(alternative.options["images"] for alternative in alternatives)
        alternatives.append(Alternative("", {"images": images}))
    return alternatives


def _lies_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
