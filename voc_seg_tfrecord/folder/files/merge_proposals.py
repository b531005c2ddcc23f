"""Proposes to merge the masks of an image, as an alternative in the question which one is meant.

Each of them may show another class. Only masks that have one value beside 0 can be merged so.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import posixpath
import re

import numpy as np

from voc_seg_tfrecord.core.class_masks import ANY_TEXT
from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.layout import ID, IMAGE_OR_MASK_ENDINGS
from voc_seg_tfrecord.core.role_words import MASK_WORDS
from voc_seg_tfrecord.core.split_names import SPLIT_BY_WORD
from voc_seg_tfrecord.folder.question import Alternative
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.formats.binary_masks import NOT_BINARY, read_binary_mask

_MAX_READ_MASKS = 12
"""Masks of each kind that are read."""

MAX_CLASSES = 64
"""Kinds of masks that are proposed as classes at most."""

_WORD = re.compile(r"[^\W_]+")


@dataclasses.dataclass(frozen=True)
class _MergeChoice:
    """A choice about images without a mask.

    Attributes:
      options: the options that make it.
      words_of_classes: its words, if each kind of masks shows a class.
      words_of_objects: its words, if each mask shows an object.
    """

    options: Mapping[str, str]
    words_of_classes: str
    words_of_objects: str


_MERGE_CHOICES = (
    _MergeChoice(
        {},
        "merged, if each shows another class",
        "merged, if each shows an object",
    ),
    _MergeChoice(
        {"missing_mask": "background"},
        "merged, and without its mask an image has nothing of a class",
        "merged, and an image without a mask has no object",
    ),
    _MergeChoice(
        {"missing_mask": "skip"},
        "merged, and an image without the mask of a class is left out",
        "merged, and an image without a mask is left out",
    ),
)


@dataclasses.dataclass(frozen=True)
class KindOfMasks:
    """Masks between which and those of other kinds the user has to choose.

    Attributes:
      options: the options that choose them.
      masks: their paths, below the given folder.
    """

    options: Mapping[str, str]
    masks: Sequence[str]


@dataclasses.dataclass(frozen=True)
class _ProposedClass:
    """A class that a kind of masks may show.

    Attributes:
      name: its name, after what tells the kind from the others.
      options: the options that choose its masks.
      share: the share of pixels that are on.
    """

    name: str
    options: Mapping[str, str]
    share: float


def propose_to_merge(listing: Listing, kinds: Sequence[KindOfMasks]) -> list[Alternative]:
    """Returns the alternatives in which each kind of masks is a class, named by its options.

    If folders beside those of the kinds have masks of the same names, the first alternatives merge
    these too, and the others say that they are left out. Whether such a folder is a copy of
    another one, or has a damaged file, shows when an alternative is tried, which then is refused.

    Returns:
      Nothing if the options have no such names; see `propose_named_kinds`.
    """
    without_siblings = _propose_by_options(listing, kinds)
    siblings = _find_sibling_folders(listing, kinds)
    if not siblings or not without_siblings:
        return without_siblings
    folders = " and ".join(kind.options["masks"] for kind in siblings)
    with_siblings = _propose_by_options(listing, [*kinds, *siblings])
    siblings_left_out = [
        dataclasses.replace(alternative, words=f"{alternative.words}; {folders} left out")
        for alternative in without_siblings
    ]
    return [*with_siblings, *siblings_left_out]


def _propose_by_options(listing: Listing, kinds: Sequence[KindOfMasks]) -> list[Alternative]:
    """Returns the alternatives that merge the kinds, named by what differs in their options."""
    if len(kinds) < 2:
        return []
    differing_options = _find_differing_options([kind.options for kind in kinds])
    if not differing_options:
        return []
    # If both `masks` and `mask_name` differ, the first one names each kind; if two names are
    # equal, or one does not tell a class, there is no proposal.
    naming_option = differing_options[0]
    names = name_classes([kind.options[naming_option] for kind in kinds])
    if names is None:
        return []
    return propose_named_kinds(listing, dict(zip(names, kinds, strict=True)))


def _find_sibling_folders(listing: Listing, kinds: Sequence[KindOfMasks]) -> list[KindOfMasks]:
    """Returns the folders beside those of the kinds that have binary masks of the same names."""
    mask_folders = [kind.options.get("masks", ".") for kind in kinds]
    if not all(folder != "." and listing.is_folder(folder) for folder in mask_folders):
        return []
    first = kinds[0]
    parent = posixpath.dirname(mask_folders[0])
    names = {posixpath.relpath(path, mask_folders[0]) for path in first.masks}
    siblings: list[KindOfMasks] = []
    for child in listing.children(parent):
        folder = posixpath.join(parent, child)
        if folder in mask_folders or folder == first.options.get("images"):
            continue
        same_names = names.intersection(listing.below(folder))
        masks = [posixpath.join(folder, name) for name in sorted(same_names)]
        if 2 * len(masks) >= len(names) and _measure(listing, masks) is not None:
            siblings.append(KindOfMasks({**first.options, "masks": folder}, masks))
    return siblings


def propose_named_kinds(
    listing: Listing, kind_by_name: Mapping[str, KindOfMasks]
) -> list[Alternative]:
    """Returns the alternatives in which each kind of masks is a class.

    The class with the most pixels comes first, so that it lies under the others. The alternatives
    differ in what becomes of images without the mask of a class; if there are none, they build the
    same, and a question has only the first.

    Returns:
      Nothing if there are too many kinds, or one has masks that cannot be merged.
    """
    if not 0 < len(kind_by_name) <= MAX_CLASSES:
        return []
    classes: list[_ProposedClass] = []
    for name, kind in kind_by_name.items():
        share = _measure(listing, kind.masks)
        if share is None:
            return []
        classes.append(_ProposedClass(name, kind.options, share))
    classes.sort(key=lambda one: -one.share)
    options = _name_classes_in_options(classes)
    are_objects = ANY_TEXT in options.get("mask_name", "")
    alternatives: list[Alternative] = []
    for choice in _MERGE_CHOICES:
        words = choice.words_of_objects if are_objects else choice.words_of_classes
        alternatives.append(Alternative(words, {**options, **choice.options}))
    return alternatives


def _name_classes_in_options(classes: Sequence[_ProposedClass]) -> dict[str, str]:
    """Returns the options of all classes in one; those that differ name the classes.

    If all options are equal, as of a single class, `mask_name` names it.
    """
    first = classes[0]
    options = dict(first.options)
    differing_options = _find_differing_options([one.options for one in classes])
    if not differing_options:
        differing_options = ["mask_name"]
    for option in differing_options:
        options[option] = ",".join(f"{one.name}={one.options[option]}" for one in classes)
    return options


def _find_differing_options(options_of_kinds: Sequence[Mapping[str, str]]) -> list[str] | None:
    """Returns the options that differ: `masks`, `mask_name`, both, or none.

    Returns:
      None if the kinds cannot be merged: other options differ too, options name parts of the set,
      or the separators of names in options, `,` and `=`, stand in those that differ.
    """
    first = options_of_kinds[0]
    if any(options.keys() != first.keys() for options in options_of_kinds):
        return None
    if any("=" in options.get("images", "") for options in options_of_kinds):
        return None
    differing_options: list[str] = []
    for name in first:
        values = {options[name] for options in options_of_kinds}
        have_separators = any("," in value or "=" in value for value in values)
        if len(values) > 1 and have_separators:
            return None
        if len(values) > 1:
            differing_options.append(name)
    if not {"masks", "mask_name"}.issuperset(differing_options):
        return None
    return differing_options


def name_classes(values: Sequence[str]) -> list[str] | None:
    """Returns a name for each folder or pattern, after the words that tell it from the others.

    Examples: `disc` and `cup` for `masks_disc` and `masks_cup`; `cat` and `dog` for `{id}_cat.png`
    and `{id}_dog.png`.

    Returns:
      None if one has no such word but numbers, which may be those of objects or people, or words
      that say split or mask.
    """
    words_of_values = [_words_of(value) for value in values]
    common = set(words_of_values[0]).intersection(*words_of_values[1:])
    names: list[str] = []
    for words in words_of_values:
        own_words = [word for word in words if word not in common]
        name = "_".join(own_words)
        says_class = any(_may_name_class(word) for word in own_words)
        if not says_class or name.casefold() in SPLIT_BY_WORD:
            return None
        names.append(name)
    return names if len(set(names)) == len(names) else None


def _may_name_class(word: str) -> bool:
    """Says whether a word may be the name of a class: no number, and no word for masks."""
    return not word.isdigit() and word.casefold() not in MASK_WORDS


def _words_of(value: str) -> list[str]:
    """Returns the words of a folder or a pattern, without the id and the ending."""
    stem, ending = posixpath.splitext(value)
    text = stem if ending.lower() in IMAGE_OR_MASK_ENDINGS else value
    return _WORD.findall(text.replace(ID, " "))


def _measure(listing: Listing, masks: Sequence[str]) -> float | None:
    """Returns the share of pixels that are on in some masks; None if one is not binary.

    A file that cannot be read does not count: whoever tries the alternative says what is wrong.
    """
    step = max(1, len(masks) // _MAX_READ_MASKS)
    shares: list[float] = []
    for name in masks[::step][:_MAX_READ_MASKS]:
        try:
            mask = read_binary_mask(File.read(listing.root / name, MaskError))
        except VocSegError as error:
            if error.kind == NOT_BINARY:
                return None
            continue
        shares.append(float(np.mean(mask.pixels)))
    return float(np.mean(shares)) if shares else None
