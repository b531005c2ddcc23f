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

from voc_seg_tfrecord.core.errors import LayoutError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.named_files import NamedFiles
from voc_seg_tfrecord.folder.pair_reader import STATED_PAIRS, StatedMask, read_stated_masks
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
    files = NamedFiles(tree, names)
    statements = _Statements(tree, files)
    for text in _texts_of(tree):
        makes_pairs = not texts_of_splits or text in texts_of_splits
        may_take_other_masks = makes_pairs and not masks_are_given
        for mask in read_stated_masks(tree, text, files):
            statements.add(mask, makes_pairs=makes_pairs, may_take_others=may_take_other_masks)
    stated = statements.mask_by_image
    notes = [_note_on_other_folder(tree, mask) for mask in statements.first_unused_by_text.values()]
    changed = {i: mask for i, mask in stated.items() if mask.path != files.mask_by_name(i)}
    if not changed:
        return StatedPairs(tree, notes=notes, image_ids=stated.keys())
    _check_unstated(tree, files, used, stated, changed)
    _check_listed(tree, stated, texts_of_splits, listed)
    texts = sorted({mask.text for mask in changed.values()})
    notes = [*(_note_on_pairs(tree, text, changed) for text in texts), *notes]
    return StatedPairs(_with_masks(tree, changed), texts, notes, stated.keys())


class _Statements:
    """What the rows of all texts state.

    Args:
      tree: the set, paired by names.
      files: its images and masks.

    Attributes:
      mask_by_image: the mask that is stated for each image, by its id.
      first_unused_by_text: by text, the first stated mask that is not taken, as it is none of the
        set.
    """

    def __init__(self, tree: VocTree, files: NamedFiles):
        self.mask_by_image: dict[str, StatedMask] = {}
        self.first_unused_by_text: dict[str, StatedMask] = {}
        self._tree = tree
        self._files = files

    def add(self, mask: StatedMask, *, makes_pairs: bool, may_take_others: bool) -> None:
        """Adds what a row states; the rules stand at the head of the module.

        Args:
          mask: the mask that is stated for an image.
          makes_pairs: whether the text counts: it makes splits, or no text does.
          may_take_others: whether a mask outside of the set's folders is taken.

        Raises:
          LayoutError: if another row states another mask, or the mask is not there.
        """
        if self._files.is_mask_of_set(mask.path):
            self._take(mask)
            return
        if not mask.is_called_mask:
            return  # the row names another file than a mask
        if mask.path and may_take_others:
            self._take(mask)
            return
        has_name_of_image = _has_id(mask.written, mask.image_id)
        if mask.path or (makes_pairs and has_name_of_image):
            self.first_unused_by_text.setdefault(mask.text, mask)
        elif makes_pairs:
            raise _absent_mask_error(self._tree, mask)

    def _take(self, mask: StatedMask) -> None:
        """Takes the mask for its image, unless another row states another one."""
        first = self.mask_by_image.setdefault(mask.image_id, mask)
        if first.path != mask.path:
            raise _two_masks_error(self._tree, first, mask)


def _absent_mask_error(tree: VocTree, mask: StatedMask) -> LayoutError:
    image = tree.paths.image(mask.image_id)
    return LayoutError(
        tree.given / mask.text,
        found=f"the mask {mask.written} for the image {image}, and no file of that name",
        expected="masks that are in the folder",
        remedy="add the masks, or correct the text",
        kind=STATED_PAIRS,
    )


def _note_on_other_folder(tree: VocTree, mask: StatedMask) -> str:
    """Says that a text names masks of another folder than the one that is read."""
    folder = posixpath.dirname(mask.path or mask.written.replace("\\", "/")).strip("/")
    note = f"{mask.text} names masks in {folder or 'another folder'}, and they are read from "
    note += f"{tree.layout.describe('masks')}."
    if mask.path and folder:
        note += f" {command(masks=folder)} reads the others."
    return note


def _two_masks_error(tree: VocTree, first: StatedMask, second: StatedMask) -> LayoutError:
    """Returns the error about two rows that state different masks for one image."""
    image = tree.paths.image(second.image_id)
    if first.text == second.text:
        return LayoutError(
            tree.given / second.text,
            found=f"the masks {first.written} and {second.written} for the image {image}",
            expected="one mask for each image",
            remedy="if each mask shows one object or the work of one person, merge them into one "
            "mask for each image; otherwise, remove the rows that are wrong",
            kind=STATED_PAIRS,
        )
    return LayoutError(
        tree.given / second.text,
        found=f"the mask {second.written} for the image {image}, and {first.text} has "
        f"{first.written} for it",
        expected="the same mask in all texts",
        remedy="correct one of the texts, or take it out of the folder",
        kind=STATED_PAIRS,
    )


def _check_unstated(
    tree: VocTree,
    files: NamedFiles,
    used: Collection[str],
    stated: Mapping[str, StatedMask],
    changed: Mapping[str, StatedMask],
) -> None:
    """Checks that no image without a stated mask has one by name that is stated for another image.

    Raises:
      LayoutError: if one has.
    """
    image_by_mask = {stated_mask.path: image_id for image_id, stated_mask in changed.items()}
    for image_id in tree.images:
        if image_id in stated or image_id not in used:
            continue
        mask = files.mask_by_name(image_id)
        if mask in image_by_mask:
            other_id = image_by_mask[mask]
            raise LayoutError(
                tree.given / stated[other_id].text,
                found=f"the mask {mask} for the image {tree.paths.image(other_id)}. By its name it "
                f"belongs to {tree.paths.image(image_id)}, for which the text states no mask",
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
                found=f"the mask {mask.written} for the image {tree.paths.image(image_id)}, and "
                "this image is not in the list that the text was read as",
                expected="the image before its mask in each row",
                remedy="write the images into the first column",
                kind=STATED_PAIRS,
            )


def _note_on_pairs(tree: VocTree, text: str, changed: Mapping[str, StatedMask]) -> str:
    """Says how many pairs of a text the names of the files do not give."""
    mask_by_image = {i: mask for i, mask in changed.items() if mask.text == text}
    first = min(mask_by_image)
    pairs = counted(len(mask_by_image), "pair")
    return (
        f"{text} states {pairs} that the names of the files do not, such as "
        f"{tree.paths.image(first)} with {mask_by_image[first].path}. The stated pairs are used."
    )


def _with_masks(tree: VocTree, changed: Mapping[str, StatedMask]) -> VocTree:
    """Returns a tree whose images have other masks."""
    labels = tree.labels
    folder = posixpath.normpath(posixpath.join(tree.root_below_given, tree.layout.masks))
    name_by_id = dict(labels.names.items())
    for image_id, mask in changed.items():
        name_by_id[image_id] = posixpath.relpath(mask.path, folder)
    names_by_ambiguous_id = {
        image_id: files
        for image_id, files in labels.names.names_by_ambiguous_id.items()
        if image_id not in changed
    }
    names = Names(dict(sorted(name_by_id.items())), names_by_ambiguous_id)
    return dataclasses.replace(tree, given_labels=dataclasses.replace(labels, names=names))


def _texts_of(tree: VocTree) -> Iterator[str]:
    """Yields the texts that may state pairs, but for class files and labels of one image."""
    assert tree.listing
    endings = pair_tables.ENDINGS
    stems: set[str] = set()
    for name in tree.images.values():
        stems.add(without_ending(posixpath.basename(name)))
    for folder, files in tree.listing.files_by_folder.items():
        if role_of_path(folder) == "drawn":
            continue
        texts = [name for name in files if name.lower().endswith(endings)]
        texts_of_many_images = [name for name in texts if without_ending(name) not in stems]
        for name in texts_of_many_images[:_MAX_TEXTS_OF_FOLDER]:
            path = posixpath.join(folder, name)
            is_class_file = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if not is_class_file and path not in tree.labels.label_files:
                yield path


def _has_id(written: str, image_id: str) -> bool:
    """Says whether the name of a mask has an image's id in it, and no number goes on around it.

    Example: `gt_12.png` has the id `12`, and `gt_120.png` has not.
    """
    stem_of_image = without_ending(posixpath.basename(image_id))
    stem_of_mask = without_ending(posixpath.basename(written.replace("\\", "/")))
    pattern = rf"(?<![0-9]){re.escape(stem_of_image)}(?![0-9])"
    return re.search(pattern, stem_of_mask) is not None
