"""Pairs that a text of the folder states: which mask an image has, whatever the files are called.

A list with lines such as `images/2.png masks/0.png`, a CSV file with the columns `image` and
`mask`, JSON and manifests state pairs. What they state is taken, or the build stops:

1. A mask of the set is taken, also if its name is that of another image.
2. A mask outside of the set's folders is taken if the folder or the column is called as masks are,
   unless the user named the masks, or other texts make the splits.
3. The build stops if two texts, or two rows, state different masks for one image; if a mask is not
   there and has another name than the image; if a mask is stated for one image and, by its name,
   belongs to another one for which nothing is stated; and if two names in a line may both be those
   of an image and of a mask.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence, Set
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, command, counted
from voc_seg_tfrecord.folder.files.folder_names import role_of
from voc_seg_tfrecord.folder.pair_reader import STATED_PAIRS, PairReader, StatedMask
from voc_seg_tfrecord.folder.path_index import without_ending
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import pair_tables
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

_MAX_TEXTS_OF_FOLDER = 500


@dataclasses.dataclass(frozen=True)
class StatedPairs:
    """What was found in the texts of a folder.

    Attributes:
      tree: the set, with the masks that are stated.
      texts: the texts whose pairs were taken in place of those by name.
      notes: what a user should know.
      image_ids: the images for which texts state a mask, also that which they have by name.
    """

    tree: VocTree
    texts: Sequence[str] = ()
    notes: Sequence[str] = ()
    image_ids: Set[str] = frozenset()


def pair_as_stated(
    tree: VocTree,
    names: ImageNames,
    *,
    used: Collection[str],
    texts_of_splits: Collection[str],
    listed: Mapping[str, Collection[str]],
    masks_are_given: bool,
) -> StatedPairs:
    """Gives each image the mask that a text states.

    Args:
      tree: the set, paired by names.
      names: the ids of its images by their names.
      used: the ids in splits.
      texts_of_splits: the texts that make the splits, below the given folder.
      listed: the ids that each text names, by its path.
      masks_are_given: whether the user named the masks.

    Raises:
      LayoutError: if what is stated contradicts itself, or a stated mask is not there.
    """
    if tree.listing is None or tree.labels.tool:
        return StatedPairs(tree)
    reader = PairReader(tree, names)
    stated: dict[str, StatedMask] = {}
    outside: dict[str, StatedMask] = {}  # the first mask of each text that is not taken
    for path in _texts_of(tree):
        counts = not texts_of_splits or path in texts_of_splits
        for image_id, mask in reader.read(path):
            if reader.is_of_set(mask):
                _add(tree, stated, image_id, mask)
            elif not mask.is_called_mask:
                continue
            elif mask.path and counts and not masks_are_given:
                _add(tree, stated, image_id, mask)
            elif mask.path or (counts and _has_id(mask.written, image_id)):
                outside.setdefault(path, mask)
            elif counts:
                raise _absent(tree, image_id, mask)
    changed = {i: mask for i, mask in stated.items() if mask.path != reader.mask_by_name(i)}
    notes = [_note_on_outside(tree, mask) for mask in outside.values()]
    if not changed:
        return StatedPairs(tree, notes=notes, image_ids=stated.keys())
    _check_unstated(tree, reader, used, stated, changed)
    _check_listed(tree, stated, texts_of_splits, listed)
    texts = sorted({mask.text for mask in changed.values()})
    notes = [*(_note(tree, text, changed) for text in texts), *notes]
    return StatedPairs(_with_masks(tree, changed), texts, notes, stated.keys())


def _absent(tree: VocTree, image_id: str, mask: StatedMask) -> LayoutError:
    return LayoutError(
        tree.given / mask.text,
        found=f"the mask {mask.written} for the image {tree.image_path(image_id)}, and no file of "
        "that name",
        expected="masks that are in the folder",
        remedy="add the masks, or correct the text",
        kind=STATED_PAIRS,
    )


def _note_on_outside(tree: VocTree, mask: StatedMask) -> str:
    """Says that a text names masks of another folder than the one that is read."""
    folder = posixpath.dirname(mask.path or mask.written.replace("\\", "/")).strip("/")
    note = f"{mask.text} names masks in {folder or 'another folder'}, and they are read from "
    note += f"{tree.layout.describe('masks')}."
    if mask.path and folder:
        note += f" {command(masks=folder)} reads the others."
    return note


def _add(tree: VocTree, stated: dict[str, StatedMask], image_id: str, mask: StatedMask) -> None:
    """Adds what a row states.

    Raises:
      LayoutError: if another row states another mask.
    """
    other = stated.setdefault(image_id, mask)
    if other.path == mask.path:
        return
    image = tree.image_path(image_id)
    if other.text == mask.text:
        raise LayoutError(
            tree.given / mask.text,
            found=f"the masks {other.written} and {mask.written} for the image {image}",
            expected="one mask for each image",
            remedy="if each mask shows one object or the work of one person, merge them into one "
            "mask for each image; otherwise, remove the rows that are wrong",
            kind=STATED_PAIRS,
        )
    raise LayoutError(
        tree.given / mask.text,
        found=f"the mask {mask.written} for the image {image}, and {other.text} has "
        f"{other.written} for it",
        expected="the same mask in all texts",
        remedy="correct one of the texts, or take it out of the folder",
        kind=STATED_PAIRS,
    )


def _check_unstated(
    tree: VocTree,
    reader: PairReader,
    used: Collection[str],
    stated: Mapping[str, StatedMask],
    changed: Mapping[str, StatedMask],
) -> None:
    """Checks that no image without a stated mask has one by name that is stated for another image.

    Raises:
      LayoutError: if one has.
    """
    taken = {mask.path: i for i, mask in changed.items() if reader.mask_by_name(i)}
    for image_id in used:
        mask = "" if image_id in stated else reader.mask_by_name(image_id)
        if mask in taken and image_id in tree.images:
            other = taken[mask]
            raise LayoutError(
                tree.given / stated[other].text,
                found=f"the mask {mask} for the image {tree.image_path(other)}. By its name it "
                f"belongs to {tree.image_path(image_id)}, for which the text states no mask",
                expected="a mask for each image whose mask another image gets",
                remedy="add the missing rows, or leave these images out of the splits",
                kind=STATED_PAIRS,
            )


def _check_listed(
    tree: VocTree,
    stated: Mapping[str, StatedMask],
    texts_of_splits: Collection[str],
    listed: Mapping[str, Collection[str]],
) -> None:
    """Checks that a text that makes a split gives it the images for which it states masks.

    Raises:
      LayoutError: if the lines were read for other images, such as those of the masks' names.
    """
    for image_id, mask in stated.items():
        if mask.text in texts_of_splits and image_id not in listed.get(mask.text, ()):
            raise LayoutError(
                tree.given / mask.text,
                found=f"the mask {mask.written} for the image {tree.image_path(image_id)}, and "
                "this image is not in the list that the text was read as",
                expected="the image before its mask in each row",
                remedy="write the images into the first column",
                kind=STATED_PAIRS,
            )


def _note(tree: VocTree, text: str, changed: Mapping[str, StatedMask]) -> str:
    of_text = {i: mask for i, mask in changed.items() if mask.text == text}
    first = min(of_text)
    return (
        f"{text} states {counted(len(of_text), 'pair')} that the names of the files do not, such "
        f"as {tree.image_path(first)} with {of_text[first].path}. The stated pairs are used."
    )


def _with_masks(tree: VocTree, changed: Mapping[str, StatedMask]) -> VocTree:
    """Returns a tree whose images have other masks."""
    labels = tree.labels
    folder = posixpath.normpath(posixpath.join(tree.place, tree.layout.masks))
    files = dict(labels.names.items())
    for image_id, mask in changed.items():
        files[image_id] = posixpath.relpath(mask.path, folder)
    twins = {i: of for i, of in labels.names.twins.items() if i not in changed}
    names = Names(dict(sorted(files.items())), twins)
    return dataclasses.replace(tree, given_labels=dataclasses.replace(labels, names=names))


def _texts_of(tree: VocTree) -> Iterator[str]:
    """Yields the texts that may state pairs, but for class files and labels of one image."""
    assert tree.listing
    endings = (*pair_tables.ENDINGS, *pair_tables.YAML_ENDINGS)
    stems: set[str] = set()
    for name in tree.images.values():
        stems.add(without_ending(posixpath.basename(name)))
    for folder, files in tree.listing.folders.items():
        if role_of(folder) == "drawn":
            continue
        texts = [name for name in files if name.lower().endswith(endings)]
        texts = [name for name in texts if without_ending(name) not in stems]
        for name in texts[:_MAX_TEXTS_OF_FOLDER]:
            path = posixpath.join(folder, name)
            is_class_file = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if not is_class_file and path not in tree.labels.sheets:
                yield path


def _has_id(written: str, image_id: str) -> bool:
    """Says whether the name of a mask has an image's id in it, between other signs."""
    own = without_ending(posixpath.basename(image_id))
    of_mask = without_ending(posixpath.basename(written.replace("\\", "/")))
    return re.search(rf"(?<![0-9]){re.escape(own)}(?![0-9])", of_mask) is not None
