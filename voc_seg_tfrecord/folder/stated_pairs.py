"""Pairs that a text of the folder states: which mask an image has, whatever the files are called.

A list with lines such as `images/2.png masks/0.png`, a CSV file with the columns `image` and
`mask`, JSON and manifests state pairs. What they state is taken, or the build stops:

1. A mask of the set is taken, also if its name is that of another image.
2. A mask outside of the set's folders is taken if the folder or the column is called as masks are,
   unless the user named the masks, or other texts make the splits.
3. The build stops if

   - two texts, or two rows, state different masks for one image;
   - a mask is not there, and has another name than the image;
   - a mask belongs by its name to another image, for which nothing is stated;
   - several images get one mask, and one of them has another mask by its name;
   - two names in a row may both be those of an image and of a mask.

A text with the name of an image is likely to be a label of this image, and if a folder has hundreds
of texts, they are likely to be labels of one image each. Such a text may still be a table of pairs,
so its first bytes say whether it is read.
"""

import collections
from collections.abc import Collection, Iterator, Mapping, Sequence, Set
import dataclasses
import functools
import posixpath
import re

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import LayoutError, ListError, counted
from voc_seg_tfrecord.core.id_lists import decode
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.folder import pair_tables
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.pair_columns import NamedFiles, find_pair_columns
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.texts import RepeatedKeyError
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

STATED_PAIRS = "stated pairs"
"""The kind of the errors about pairs that texts state."""

_MAX_TEXTS_OF_ANY_CONTENT = 500
"""Texts of a folder that are read whatever they begin with."""

_READ_BYTES = 1 << 16
"""First bytes of a text that say whether the others are read."""


@dataclasses.dataclass(frozen=True)
class StatedMask:
    """A file that a row states as the mask of an image.

    Attributes:
      image_id: the image.
      written: how the row writes the mask.
      path: where it lies below the given folder.
      text: the text, below the given folder.
      is_called_mask: whether the column, or the folder of the mask, is called as masks are.
    """

    image_id: str
    written: str
    path: str
    text: str
    is_called_mask: bool

    @property
    def folder(self) -> str:
        """Its folder, below the given one."""
        return posixpath.dirname(self.path)


@dataclasses.dataclass(frozen=True)
class MissingMask:
    """A mask that a row states for an image, and that is no file of the folder.

    Attributes:
      image_id: the image.
      written: how the row writes the mask.
      text: the text, below the given folder.
      is_called_mask: whether the column, or the folder of the mask, is called as masks are.
    """

    image_id: str
    written: str
    text: str
    is_called_mask: bool

    @property
    def folder(self) -> str:
        """Its folder, as the row writes it."""
        return _written_folder(self.written)


def _written_folder(written: str) -> str:
    """Returns the folder in a path of any system, without slashes around it."""
    return posixpath.dirname(written.replace("\\", "/")).strip("/")


@dataclasses.dataclass(frozen=True)
class StatedPairs:
    """The pairs that the texts of a folder state.

    Attributes:
      tree: the set, with the masks that are stated.
      texts: the texts whose pairs were taken in place of those by name.
      notes: what a user should know.
      image_ids: the images for which texts state a mask, also that which they have by name.
      replaced_masks: the paths of masks that had an image by name, and have none now.
    """

    tree: VocTree
    texts: Sequence[str] = ()
    notes: Sequence[str] = ()
    image_ids: Set[str] = frozenset()
    replaced_masks: Set[str] = frozenset()


def pair_as_stated(
    tree: VocTree,
    names: ImageNames,
    *,
    used: Collection[str],
    texts_of_splits: Collection[str],
    masks_are_given: bool,
) -> StatedPairs:
    """Gives each image the mask that a text states.

    Args:
      tree: the set, paired by names.
      names: the ids of its images by their names.
      used: the ids in splits.
      texts_of_splits: the texts that make the splits, below the given folder.
      masks_are_given: whether the user named the masks.

    Raises:
      LayoutError: if what is stated contradicts itself, or a stated mask is not there.
    """
    if tree.listing is None or tree.labels.origin:
        return StatedPairs(tree)
    files = NamedFiles(tree, names)
    stated_by_image, notes = _read_statements(tree, files, texts_of_splits, masks_are_given)
    changed_by_image = {}
    for image_id, mask in stated_by_image.items():
        if mask.path != files.mask_by_name(image_id):
            changed_by_image[image_id] = mask
    if not changed_by_image:
        return StatedPairs(tree, notes=notes, image_ids=stated_by_image.keys())
    _check_shared_masks(tree, files, stated_by_image)
    _check_unstated(tree, files, used, stated_by_image, changed_by_image)
    texts = sorted({mask.text for mask in changed_by_image.values()})
    masks_by_name: set[str] = set()
    for image_id in changed_by_image:
        own_mask = files.mask_by_name(image_id)
        if own_mask is not None:
            masks_by_name.add(own_mask)
    stated_masks = {mask.path for mask in stated_by_image.values()}
    return StatedPairs(
        tree=_with_masks(tree, changed_by_image),
        texts=texts,
        notes=[*(_note_on_pairs(tree, text, changed_by_image) for text in texts), *notes],
        image_ids=stated_by_image.keys(),
        replaced_masks=masks_by_name - stated_masks,
    )


def _read_statements(
    tree: VocTree, files: NamedFiles, texts_of_splits: Collection[str], masks_are_given: bool
) -> tuple[dict[str, StatedMask], list[str]]:
    """Reads what the rows of all texts state.

    A text is in use if it makes splits, or no text does.

    | the stated mask | the text is in use | it is not |
    | --- | --- | --- |
    | is a mask of the set | taken | taken |
    | is not called a mask | nothing: the row names another file | nothing |
    | is a file outside of the set | taken; a note if the user named the masks | a note |
    | is not there, and its name has the image's id | a note | nothing |
    | is not there, and has another name | an error | nothing |

    Returns:
      The mask that is stated for each image, and a note on each text whose masks are not taken.

    Raises:
      LayoutError: if two rows state different masks for an image, or a mask is not there.
    """
    mask_by_image: dict[str, StatedMask] = {}
    note_by_text: dict[str, str] = {}
    for text in _list_pair_texts(tree):
        is_in_use = not texts_of_splits or text in texts_of_splits
        for mask in _read_stated_masks(tree, text, files):
            is_of_set = isinstance(mask, StatedMask) and mask.path in files.paths_of_masks
            if not is_of_set and not mask.is_called_mask:
                continue
            if isinstance(mask, MissingMask):
                if not is_in_use:
                    continue
                if not _has_id(mask.written, mask.image_id):
                    raise _missing_mask_error(tree, mask)
            elif is_of_set or (is_in_use and not masks_are_given):
                first = mask_by_image.setdefault(mask.image_id, mask)
                if first.path != mask.path:
                    raise _two_masks_error(tree, first, mask)
                continue
            if text not in note_by_text:
                note_by_text[text] = _note_on_other_folder(tree, mask)
    return mask_by_image, [*note_by_text.values()]


def _list_pair_texts(tree: VocTree) -> list[str]:
    """Returns the paths of the texts that may state pairs, below the given folder.

    Class files and the labels of the set are none, nor are texts in folders of drawings.
    """
    assert tree.listing
    stems_of_images = {stem(name) for name in tree.images.values()}
    texts: list[str] = []
    doubtful: list[str] = []
    for folder, names in tree.listing.files_by_folder.items():
        if role_of_path(folder) == "drawn":
            continue
        certain_count = 0
        for name in names:
            path = posixpath.join(folder, name)
            is_class_file = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if is_class_file or path in tree.labels.label_files:
                continue
            if not name.lower().endswith(pair_tables.ENDINGS):
                continue
            texts.append(path)
            if stem(path) in stems_of_images or certain_count == _MAX_TEXTS_OF_ANY_CONTENT:
                doubtful.append(path)
            else:
                certain_count += 1
    begins_with_pairs = functools.partial(_begins_with_pairs, tree)
    without_pairs = {
        path for path, begins in ordered_map(begins_with_pairs, doubtful) if not begins
    }
    return [path for path in texts if path not in without_pairs]


def _begins_with_pairs(tree: VocTree, path: str) -> bool:
    """Says whether the first bytes of a text may be rows of pairs; not if they cannot be read."""
    try:
        with storage.open_file(tree.given / path) as file:
            data = file.read(_READ_BYTES)
    except OSError:
        return False
    return pair_tables.may_begin_with_rows(data, ending_of(path))


def _read_stated_masks(
    tree: VocTree, text: str, files: NamedFiles
) -> Iterator[StatedMask | MissingMask]:
    """Yields the mask of each image for which a text states one; none if the text is too large.

    Args:
      tree: the set, paired by names.
      text: the path of the text below the given folder.
      files: the images and masks of the set.

    Raises:
      LayoutError: if both names of a row may be those of an image and of a mask, or several folders
        have the mask; if an object of JSON has a key twice, such as two masks of one image.
    """
    try:
        file = tree.texts.read(tree.given / text, ListError)
        if not pair_tables.may_name_files(file.data):
            return
        tables = pair_tables.read_tables(decode(file.data, file.where), ending_of(text))
    except ListError:  # lists are read first, and say so
        return
    except RepeatedKeyError as error:
        raise LayoutError(
            tree.given / text,
            found=str(error),
            expected="one value for each key, such as one mask for each image",
            remedy="correct the file, or remove it from the folder",
            kind=STATED_PAIRS,
        ) from None
    for table in tables:
        columns = find_pair_columns(table, files)
        if columns is None:
            continue
        for row in table.rows:
            image_id = files.find_image(row[columns.images])
            written = row[columns.masks]
            if image_id is None or not written:
                continue
            path = _choose_mask(tree, text, row[columns.images], written, image_id, files)
            if columns.are_ambiguous and path != files.mask_by_name(image_id):
                raise LayoutError(
                    tree.given / text,
                    found=f"the names {row[columns.images]} and {written} in one row, but an image "
                    "and a mask have these names",
                    expected="an image and its mask, each with its folder, such as images/1.png "
                    "masks/2.png",
                    remedy="write the folders before the names",
                    kind=STATED_PAIRS,
                )
            folder = _written_folder(path or written)
            is_called_mask = columns.are_called_masks or role_of_path(folder) == "masks"
            if path is None:
                yield MissingMask(image_id, written, text, is_called_mask)
            else:
                yield StatedMask(image_id, written, path, text, is_called_mask)


def _choose_mask(
    tree: VocTree, text: str, image: str, written: str, image_id: str, files: NamedFiles
) -> str | None:
    """Returns the path of the mask that a row states for an image; None if there is no such file.

    Of several masks of one name it is the one that the image has by its name.

    Raises:
      LayoutError: if the image has none of them by its name.
    """
    paths = files.find_masks(written)
    if len(paths) < 2:
        return paths[0] if paths else None
    own_mask = files.mask_by_name(image_id)
    if own_mask not in paths:
        raise LayoutError(
            tree.given / text,
            found=f"the mask {written} for the image {image}, but several folders have a mask of "
            "this name",
            expected="a mask with its folder, such as masks/train/2.png",
            remedy="write the folders before the names of masks",
            kind=STATED_PAIRS,
        )
    return own_mask


def _has_id(written: str, image_id: str) -> bool:
    """Says whether the name of a mask has an image's id in it, and no number goes on around it.

    Example: `gt_12.png` has the id `12`, and `gt_120.png` has not.
    """
    pattern = rf"(?<![0-9]){re.escape(stem(image_id))}(?![0-9])"
    return re.search(pattern, stem(written.replace("\\", "/"))) is not None


def _note_on_other_folder(tree: VocTree, mask: StatedMask | MissingMask) -> str:
    """Says that a text names masks of another folder than the one that is read."""
    note = f"{mask.text} names masks in {mask.folder or 'another folder'}, and they are read from "
    note += f"{tree.layout.describe('masks')}."
    if isinstance(mask, StatedMask) and mask.folder:
        note += f" {command(masks=mask.folder)} reads the others."
    return note


def _missing_mask_error(tree: VocTree, mask: MissingMask) -> LayoutError:
    """Returns the error about a stated mask that is no file of the folder."""
    return LayoutError(
        tree.given / mask.text,
        found=f"the mask {mask.written} for the image {tree.images[mask.image_id]}, but no such "
        "file",
        expected="only masks that are in the folder",
        remedy="add the masks, or correct the file",
        kind=STATED_PAIRS,
    )


def _two_masks_error(tree: VocTree, first: StatedMask, second: StatedMask) -> LayoutError:
    """Returns the error about two rows that state different masks for one image."""
    image = tree.images[second.image_id]
    if first.text == second.text:
        found = f"the masks {first.written} and {second.written} for the image {image}"
        expected = "one mask for each image"
        remedy = (
            "if each mask shows one object or the work of one person, merge them into one mask for "
            "each image; otherwise, remove the rows that are wrong"
        )
    else:
        found = f"the mask {second.written} for the image {image}, and {first.text} has "
        found += f"{first.written} for it"
        expected = "the same mask in all files"
        remedy = "correct one of the files, or remove it from the folder"
    where = tree.given / second.text
    return LayoutError(where, found=found, expected=expected, remedy=remedy, kind=STATED_PAIRS)


def _check_shared_masks(
    tree: VocTree, files: NamedFiles, stated_by_image: Mapping[str, StatedMask]
) -> None:
    """Checks that no mask is stated for several images while other masks belong to them.

    Example: a column of masks that was filled down by mistake. Copies of an image may share a mask.

    Raises:
      LayoutError: about the first such mask.
    """
    ids_by_mask: dict[str, list[str]] = collections.defaultdict(list)
    for image_id, mask in stated_by_image.items():
        ids_by_mask[mask.path].append(image_id)
    for path, image_ids in ids_by_mask.items():
        if len(image_ids) == 1:
            continue
        contradictions = []
        if len(ids_by_mask) == 1 and len(tree.masks) > 1:
            contradictions.append(f"the folder has {len(tree.masks)} masks")
        for image_id in image_ids:
            own_mask = files.mask_by_name(image_id)
            if own_mask is not None and own_mask != path:
                contradictions.append(f"{tree.images[image_id]} has {own_mask} by its name")
        if contradictions:
            raise LayoutError(
                tree.given / stated_by_image[image_ids[0]].text,
                found=f"the mask {path} for {counted(len(image_ids), 'image')}, and "
                f"{contradictions[0]}",
                expected="a different mask for each image, or a shared mask if the images have no "
                "other",
                remedy="correct the column of masks; or, if the images are copies, remove their "
                "other masks from the folder",
                kind=STATED_PAIRS,
            )


def _check_unstated(
    tree: VocTree,
    files: NamedFiles,
    used: Collection[str],
    stated_by_image: Mapping[str, StatedMask],
    changed_by_image: Mapping[str, StatedMask],
) -> None:
    """Checks that no image without a stated mask has one by name that is stated for another image.

    Raises:
      LayoutError: if one has.
    """
    image_by_mask = {mask.path: image_id for image_id, mask in changed_by_image.items()}
    for image_id in tree.images:
        mask = files.mask_by_name(image_id)
        if image_id in stated_by_image or image_id not in used:
            continue
        if mask is None or mask not in image_by_mask:
            continue
        other_id = image_by_mask[mask]
        raise LayoutError(
            tree.given / stated_by_image[other_id].text,
            found=f"the mask {mask} for the image {tree.images[other_id]}. By its name it "
            f"belongs to {tree.images[image_id]}, for which the text states no mask",
            expected="another mask for each image whose mask is stated for a different image",
            remedy="add the missing rows, or leave these images out of the splits",
            kind=STATED_PAIRS,
        )


def _note_on_pairs(tree: VocTree, text: str, changed_by_image: Mapping[str, StatedMask]) -> str:
    """Says how many pairs of a text the names of the files do not give."""
    image_ids = [i for i, mask in changed_by_image.items() if mask.text == text]
    first = min(image_ids)
    return (
        f"{text} states {counted(len(image_ids), 'pair')} that the names of the files do not, such "
        f"as {tree.images[first]} with {changed_by_image[first].path}. The stated pairs are "
        "used."
    )


def _with_masks(tree: VocTree, changed_by_image: Mapping[str, StatedMask]) -> VocTree:
    """Returns a tree whose images have other masks.

    A stated mask has no id of its own any more, unless its name is that of an image.
    """
    labels = tree.labels
    changed_path_by_id = {image_id: mask.path for image_id, mask in changed_by_image.items()}
    stated_paths = set(changed_path_by_id.values())
    path_by_id = {}
    for mask_id, path in labels.names.items():
        if mask_id in tree.images or path not in stated_paths:
            path_by_id[mask_id] = path
    unstated = Names(path_by_id, labels.names.names_by_ambiguous_id)
    names = unstated.with_files(changed_path_by_id)
    return dataclasses.replace(tree, given_labels=dataclasses.replace(labels, names=names))
