"""Finds images of a set that are copies of others: in several folders, or without a mask.

Two people may have labeled one photo, in `anna/1.jpg` and `ben/1.jpg`: the user is asked if the
labels differ, and the files stay in one split. A copy of a labeled image would become background if
it has no mask of its own.
"""

from collections.abc import Callable, Collection, Hashable, Iterable, Mapping, Sequence
import dataclasses
import functools
import hashlib
import math
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, counted
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder.files.align import parts_at_ends
from voc_seg_tfrecord.folder.files.folder_names import role_of_path, split_of
from voc_seg_tfrecord.folder.files.paths import common_folder, folder_names
from voc_seg_tfrecord.folder.looks import MIN_IMAGE_BYTES, Looks, digest, length, read_thumbnail
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.drawn_labels import DrawnLabels
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree

_FIRST_BYTES = 1 << 16
"""Bytes of images of one length that are compared first, because whole ones take long to read."""

_MAX_COMPARED_IMAGES = 400
_MAX_ORIGINALS_OF_NAME = 4


def _group_by_bytes(
    tree: VocTree, ids: Sequence[str], is_wanted: Callable[[Sequence[str]], bool]
) -> list[list[str]]:
    """Returns the ids of images that have the same bytes, of each group that is wanted.

    Files are read only if they have the length of another one of their group.
    """
    groups = [[*ids]] if is_wanted(ids) else []
    for key in (_length_of_image, _digest_of_beginning, digest):
        groups_before, groups = groups, []
        for group in groups_before:
            ids_by_key: dict[Hashable, list[str]] = {}
            values = ordered_map(key, map(tree.image_file, group))
            for image_id, (_, value) in zip(group, values, strict=True):
                if value:
                    ids_by_key.setdefault(value, []).append(image_id)
            groups += [ids_of_key for ids_of_key in ids_by_key.values() if is_wanted(ids_of_key)]
    return groups


def _length_of_image(path: epath.Path) -> int:
    """Returns how many bytes a file has; 0 if these are too few to compare."""
    size = length(path)
    return size if size > MIN_IMAGE_BYTES else 0


def _digest_of_beginning(path: epath.Path) -> bytes:
    """Returns a digest of the first bytes of a file; empty if it cannot be read."""
    try:
        with path.open("rb") as file:
            return hashlib.sha256(file.read(_FIRST_BYTES)).digest()
    except OSError:
        return b""


def find_repeated_images(tree: VocTree) -> list[list[str]]:
    """Returns the sorted ids of each labeled image that lies in several folders.

    Images of one color, such as blank tiles, are left out. So are images with one copy in each of
    several folders that are named after different splits: as many folders as splits.
    """

    def lie_in_several_folders(ids: Iterable[str]) -> bool:
        folders = {posixpath.dirname(tree.filename_of(image_id)) for image_id in ids}
        splits = {split_of(folder) for folder in folders}
        return len(folders) > len(splits)

    has_folder_of_each_image = "/" in tree.layout.image_name
    if has_folder_of_each_image or not any("/" in tree.filename_of(one) for one in tree.images):
        return []
    repeated: list[list[str]] = []
    for group in _group_by_bytes(tree, tree.labeled_ids, lie_in_several_folders):
        thumbnail = read_thumbnail(tree.image_file(group[0]))
        has_one_color = thumbnail is not None and not thumbnail.any()
        if not has_one_color:
            repeated.append(sorted(group))
    return sorted(repeated)


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
    if differing:
        described = differing
        labels_in_words = "other labels"
    else:
        described = [*repeated]
        labels_in_words = "the same labels"
    if not described:
        return []
    first, second, *_ = (tree.images[image_id] for image_id in described[0])
    images = counted(len(described), "image")
    user_named_folders = "," in (config.layout or {}).get("images", "")
    if not differing or user_named_folders:
        return [
            f"Several folders have {images} with {labels_in_words}, such as {first} and {second}. "
            "Each file is an example."
        ]
    raise QuestionError(
        tree.given,
        _list_alternatives(tree, differing[0]),
        facts=[f"{images} with other labels in another folder, such as {first} and {second}"],
        task="read the labels",
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
    return [digest(labels.folder / name) for name in labels.files_of(image_id)]


def _list_alternatives(tree: VocTree, ids: Sequence[str]) -> list[Alternative]:
    """Returns the alternatives: the images of each folder alone, and of all if options can say so.

    `anna/photos/1.jpg` and `ben/photos/1.jpg` give `anna` and `ben`: the paths cut behind the first
    folder in which they differ.
    """
    folders = [posixpath.dirname(tree.images[image_id]) for image_id in ids]
    depth = len(folder_names(common_folder(folders))) + 1
    tops = dict.fromkeys("/".join(folder_names(folder)[:depth]) for folder in folders)
    patterns = {"image_name": tree.layout.image_name, "mask_name": tree.layout.mask_name}
    if tree.labels.tool:  # files of labeling tools name their images
        patterns = {}
    alternatives: list[Alternative] = []
    for top in tops:
        front = f"{top}/" if top else ""
        own_ids = [one for one in tree.labeled_ids if tree.images[one].startswith(front)]
        paths_of_images = [posixpath.dirname(tree.images[one]) for one in own_ids]
        paths_of_masks = [posixpath.dirname(tree.masks[one]) for one in own_ids]
        options = {
            "images": common_folder(paths_of_images) or ".",
            "masks": common_folder(paths_of_masks) or ".",
            **{name: pattern for name, pattern in patterns.items() if pattern},
        }
        alternatives.append(Alternative("", options))
    if tree.layout.parts:
        alternatives.append(Alternative("", tree.options))
    elif tree.labels.tool:
        images = ",".join(alternative.options["images"] for alternative in alternatives)
        alternatives.append(Alternative("", {"images": images}))
    return alternatives


def check_for_copies(tree: VocTree, unmasked_ids: Collection[str]) -> None:
    """Checks that images that would become background are no copies of labeled ones.

    Raises:
      LayoutError: if one has the bytes of an image with a mask, lies under the name of one in
        a folder such as `overlays`, or shows the same picture, as thumbnails do.
    """
    labeled_by_name: dict[str, list[str]] = {}
    for image_id in tree.labeled_ids:
        labeled_by_name.setdefault(posixpath.basename(image_id), []).append(image_id)
    originals: dict[str, str] = {}
    for image_id in sorted(unmasked_ids):
        folder, name = posixpath.split(image_id)
        if role_of_path(folder) == "drawn" and name in labeled_by_name:
            originals[image_id] = labeled_by_name[name][-1]
    relation = "is a copy of"
    if not originals:
        originals = _find_copies(tree, unmasked_ids)
    if not originals:
        originals = _find_small_copies(tree, unmasked_ids, labeled_by_name)
        relation = "shows the same picture as"
    if not originals:
        return
    copy, original = next(iter(originals.items()))
    count = f", the first of {len(originals)} such images" if len(originals) > 1 else ""
    raise LayoutError(
        tree.given / tree.images[copy],
        found=f"an image without a mask that {relation} the labeled image "
        f"{tree.images[original]}{count}. It would become background",
        expected="no labeled copies of images that become background",
        remedy="remove the copies from the folder, or leave out all images without a mask with "
        "--missing_mask skip",
        kind="copies without a mask",
    )


def _find_copies(tree: VocTree, unmasked_ids: Collection[str]) -> dict[str, str]:
    """Returns, by images without a mask, a labeled image that has the same bytes."""
    labeled_ids = {*tree.labeled_ids}

    def has_both(ids: Sequence[str]) -> bool:
        return not labeled_ids.isdisjoint(ids) and not labeled_ids.issuperset(ids)

    original_by_copy: dict[str, str] = {}
    for ids in _group_by_bytes(tree, [*tree.labeled_ids, *sorted(unmasked_ids)], has_both):
        labeled = [image_id for image_id in ids if image_id in labeled_ids]
        for image_id in ids:
            if image_id not in labeled_ids:
                original_by_copy[image_id] = labeled[-1]
    return dict(sorted(original_by_copy.items()))


def _find_small_copies(
    tree: VocTree, unmasked_ids: Collection[str], labeled_by_name: Mapping[str, Sequence[str]]
) -> dict[str, str]:
    """Returns, by images without a mask, the labeled image whose picture they show, smaller.

    A copy has the name of its image, perhaps with more before or behind it: `thumbs/a.jpg`,
    `a_small.jpg` and `tn_a.png` of `a.jpg`. Its picture is the same, and it has no more pixels. A
    copy of the same size, saved in another format, has the same name alone: frames of a film that
    are named alike have the same size too.

    If more than 400 images have the names of labeled ones, 200 to 400 of them are compared.
    """
    twins: list[_Twins] = []
    for image_id in sorted(unmasked_ids):
        name = posixpath.basename(image_id)
        for name_in_it in (name, *(core for core, _ in parts_at_ends(name))):
            for original in labeled_by_name.get(name_in_it, ())[:_MAX_ORIGINALS_OF_NAME]:
                twins.append(_Twins(image_id, original, name_in_it == name))
    every_nth = math.ceil(len(twins) / _MAX_COMPARED_IMAGES) or 1
    is_copy = functools.partial(_is_small_copy, tree, Looks(tree.given))
    original_by_copy: dict[str, str] = {}
    for twin, shows_original in ordered_map(is_copy, twins[::every_nth]):
        if shows_original:
            original_by_copy.setdefault(twin.image_id, twin.original)
    return original_by_copy


@dataclasses.dataclass(frozen=True)
class _Twins:
    """An image without a mask, and a labeled one whose name is in its name.

    Attributes:
      image_id: the image without a mask.
      original: the id of the labeled image.
      have_same_name: whether nothing stands around the name.
    """

    image_id: str
    original: str
    have_same_name: bool


def _is_small_copy(tree: VocTree, looks: Looks, twins: _Twins) -> bool:
    """Says whether an image shows the picture of its twin, and is smaller or has its name."""
    path = tree.images[twins.image_id]
    path_of_original = tree.images[twins.original]
    sides = looks.sides_of_image(path)
    original_sides = looks.sides_of_image(path_of_original)
    if sides is None or original_sides is None:  # one is damaged
        return False
    if sides[0] > original_sides[0] or sides[1] > original_sides[1]:
        return False
    if sides == original_sides and not twins.have_same_name:
        return False
    return looks.show_same_picture(path, path_of_original)
