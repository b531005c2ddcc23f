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
"""

import collections
from collections.abc import Collection, Mapping, Sequence, Set
import dataclasses
import posixpath
import re

from voc_seg_tfrecord.core.errors import LayoutError, counted
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.pair_columns import NamedFiles
from voc_seg_tfrecord.folder.pair_reader import (
    STATED_PAIRS,
    StatedMask,
    list_pair_texts,
    read_stated_masks,
)
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree


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
    statements = _Statements(tree, files)
    for text in list_pair_texts(tree):
        counts_for_pairs = not texts_of_splits or text in texts_of_splits
        for mask in read_stated_masks(tree, text, files):
            statements.add(
                mask,
                counts_for_pairs=counts_for_pairs,
                may_be_outside_set=counts_for_pairs and not masks_are_given,
            )
    stated_by_image = statements.mask_by_image
    changed_by_image = {}
    for image_id, mask in stated_by_image.items():
        if mask.path != files.mask_by_name(image_id):
            changed_by_image[image_id] = mask
    notes = [*statements.note_by_text.values()]
    if not changed_by_image:
        return StatedPairs(tree, notes=notes, image_ids=stated_by_image.keys())
    _check_shared_masks(tree, files, stated_by_image)
    _check_unstated(tree, files, used, stated_by_image, changed_by_image)
    texts = sorted({mask.text for mask in changed_by_image.values()})
    masks_by_name = {files.mask_by_name(image_id) for image_id in changed_by_image}
    stated_masks = {mask.path for mask in stated_by_image.values()}
    return StatedPairs(
        tree=_with_masks(tree, changed_by_image),
        texts=texts,
        notes=[*(_note_on_pairs(tree, text, changed_by_image) for text in texts), *notes],
        image_ids=stated_by_image.keys(),
        replaced_masks=masks_by_name - stated_masks - {""},
    )


class _Statements:
    """What the rows of all texts state.

    Args:
      tree: the set, paired by names.
      files: its images and masks.

    Attributes:
      mask_by_image: the mask that is stated for each image, by its id.
      note_by_text: by text, a note on the first stated mask that is not taken, because it is
        outside of the set.
    """

    def __init__(self, tree: VocTree, files: NamedFiles):
        self.mask_by_image: dict[str, StatedMask] = {}
        self.note_by_text: dict[str, str] = {}
        self._tree = tree
        self._files = files

    def add(self, mask: StatedMask, *, counts_for_pairs: bool, may_be_outside_set: bool) -> None:
        """Adds what a row states.

        | the stated mask | what happens |
        | --- | --- |
        | is a mask of the set | it is taken |
        | is not called a mask | nothing: the row names another file |
        | is a file outside of the set that may be taken | it is taken |
        | is a file outside of the set that may not be taken | a note |
        | is not there, and its name has the image's id | a note if the text counts, else nothing |
        | is not there, and has another name | an error if the text counts, else nothing |

        Args:
          mask: the mask that is stated for an image.
          counts_for_pairs: whether the text counts: it makes splits, or no text does.
          may_be_outside_set: whether a mask outside of the set's folders may be taken.

        Raises:
          LayoutError: if another row states another mask, or the mask is not there.
        """
        is_of_set = mask.path in self._files.paths_of_masks
        if not is_of_set and not mask.is_called_mask:
            return
        if is_of_set or (mask.path and may_be_outside_set):
            first = self.mask_by_image.setdefault(mask.image_id, mask)
            if first.path != mask.path:
                raise _two_masks_error(self._tree, first, mask)
        elif mask.path or (counts_for_pairs and _has_id(mask.written, mask.image_id)):
            if mask.text not in self.note_by_text:
                self.note_by_text[mask.text] = _note_on_other_folder(self._tree, mask)
        elif counts_for_pairs:
            image = self._tree.paths.image(mask.image_id)
            raise LayoutError(
                self._tree.given / mask.text,
                found=f"the mask {mask.written} for the image {image}, but no such file",
                expected="only masks that are in the folder",
                remedy="add the masks, or correct the file",
                kind=STATED_PAIRS,
            )


def _has_id(written: str, image_id: str) -> bool:
    """Says whether the name of a mask has an image's id in it, and no number goes on around it.

    Example: `gt_12.png` has the id `12`, and `gt_120.png` has not.
    """
    pattern = rf"(?<![0-9]){re.escape(stem(image_id))}(?![0-9])"
    return re.search(pattern, stem(written.replace("\\", "/"))) is not None


def _note_on_other_folder(tree: VocTree, mask: StatedMask) -> str:
    """Says that a text names masks of another folder than the one that is read."""
    note = f"{mask.text} names masks in {mask.folder or 'another folder'}, and they are read from "
    note += f"{tree.layout.describe('masks')}."
    if mask.path and mask.folder:
        note += f" {command(masks=mask.folder)} reads the others."
    return note


def _two_masks_error(tree: VocTree, first: StatedMask, second: StatedMask) -> LayoutError:
    """Returns the error about two rows that state different masks for one image."""
    image = tree.paths.image(second.image_id)
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
            if own_mask not in ("", path):
                contradictions.append(f"{tree.paths.image(image_id)} has {own_mask} by its name")
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
        if image_id in stated_by_image or image_id not in used or mask not in image_by_mask:
            continue
        other_id = image_by_mask[mask]
        raise LayoutError(
            tree.given / stated_by_image[other_id].text,
            found=f"the mask {mask} for the image {tree.paths.image(other_id)}. By its name it "
            f"belongs to {tree.paths.image(image_id)}, for which the text states no mask",
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
        f"as {tree.paths.image(first)} with {changed_by_image[first].path}. The stated pairs are "
        "used."
    )


def _with_masks(tree: VocTree, changed_by_image: Mapping[str, StatedMask]) -> VocTree:
    """Returns a tree whose images have other masks.

    A stated mask has no id of its own any more, unless its name is that of an image.
    """
    labels = tree.labels
    folder = posixpath.normpath(posixpath.join(tree.root_below_given, tree.layout.masks))
    changed_name_by_id = {
        image_id: posixpath.relpath(mask.path, folder)
        for image_id, mask in changed_by_image.items()
    }
    stated_names = set(changed_name_by_id.values())
    name_by_id = {}
    for mask_id, name in labels.names.items():
        if mask_id in tree.images or name not in stated_names:
            name_by_id[mask_id] = name
    unstated = Names(name_by_id, labels.names.names_by_ambiguous_id)
    names = unstated.with_files(changed_name_by_id)
    return dataclasses.replace(tree, given_labels=dataclasses.replace(labels, names=names))
