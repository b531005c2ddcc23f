"""All pairings of a folder: files that may be images, files that may be masks, how names pair.

Nothing is chosen here, and no file is opened; `choice` does both. The names of folders say nothing
here either: whatever pairs by its name is a pairing.
"""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re
from typing import TypeVar

from voc_seg_tfrecord.core.layout import ID
from voc_seg_tfrecord.core.role_words import EXTRA, ROLES
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.file_sets import TOKEN, Affix, FileSet, core_of
from voc_seg_tfrecord.folder.files.folder_names import split_word
from voc_seg_tfrecord.tools.nnunet import FIRST_CHANNEL, is_split_word

_Item = TypeVar("_Item")

SAMPLE = 6
"""Files of a set that are looked at."""
_MAX_COMPARED_SETS = 80
"""Sets of files of which each two are compared, whatever their folders."""


@dataclasses.dataclass(frozen=True)
class Pairing:
    """Images and masks that belong together by their names: one folder of each.

    Attributes:
      images: the files of the images.
      masks: the files of the masks.
      image_affix: what the images' names have around the id.
      mask_affix: what the masks' names have around it.
      pairs: the mask of each image, both by their names without the ending.
    """

    images: FileSet
    masks: FileSet
    image_affix: Affix
    mask_affix: Affix
    pairs: Mapping[str, str] = dataclasses.field(hash=False)

    @property
    def folders(self) -> tuple[str, str]:
        """The folders of images and of masks."""
        return self.images.folder, self.masks.folder

    @property
    def is_flat(self) -> bool:
        """Whether images and masks lie in one folder."""
        return self.images.folder == self.masks.folder

    @functools.cached_property
    def splits(self) -> tuple[str, str]:
        """The splits as which the two folders are called; of none, the empty text."""
        return split_word(self.images.folder)[1], split_word(self.masks.folder)[1]

    @property
    def is_of_split(self) -> bool:
        """Whether the folder of images is called as a split is, and not as one of a fold."""
        return bool(self.splits[0]) and not EXTRA.intersection(words(self.images.folder))

    @property
    def image_name(self) -> str:
        """The pattern of the images' names, empty if they are the ids."""
        return self.images.pattern or _pattern(self.image_affix, self.images.ending)

    @functools.cached_property
    def mask_name(self) -> str:
        """The pattern of the masks' names, likewise."""
        ending = self.masks.ending
        if self.mask_affix != ("", ""):
            endings = {posixpath.splitext(self.masks.names[m])[1] for m in self.pairs.values()}
            ending = endings.pop() if len(endings) == 1 else ending
        return self.masks.pattern or _pattern(self.mask_affix, ending)

    def paths(self) -> tuple[list[str], list[str]]:
        """Returns the paths of the images and of their masks, below the root of the listing."""
        images = [self.images.path(stem) for stem in self.pairs]
        masks = [self.masks.path(stem) for stem in self.pairs.values()]
        return images, masks


def few(items: Sequence[_Item], most: int = SAMPLE) -> list[_Item]:
    """Returns a few of a sequence, spread over it."""
    return list(items[:: max(1, len(items) // most)][:most])


def _pattern(affix: Affix, ending: str) -> str:
    return "" if affix == ("", "") and not ending else f"{affix[0]}{ID}{affix[1]}{ending}"


def all_pairings(images: Sequence[FileSet], masks: Sequence[FileSet]) -> Iterator[Pairing]:
    """Yields each two sets of which files have the same ids, but for those that are the same.

    One file alone does not tell what stands around its id. It has the same around it as the files
    of folders that lie to one another in the same way.
    """
    alone: list[tuple[FileSet, FileSet]] = []
    known: dict[str, dict[tuple[Affix, Affix], None]] = {}
    for files, other in _candidates(images, masks):
        if files.folder == other.folder and {*files.names.values()} & {*other.names.values()}:
            continue
        if pairing := pair(files, other):
            yield pairing
            if len(pairing.pairs) > 1:
                around = pairing.image_affix, pairing.mask_affix
                known.setdefault(_way(files, other), {})[around] = None
        elif 1 in (len(files.names), len(other.names)):
            alone.append((files, other))
    for files, other in alone:
        for around in known.get(_way(files, other), ()):
            if pairs := _pairs(files, other, *around):
                yield Pairing(files, other, *around, pairs)


def _way(images: FileSet, masks: FileSet) -> str:
    """Returns the way from a folder of images to that of masks, without what both end with."""
    folder, other = images.folder, masks.folder
    while folder and other and posixpath.basename(folder) == posixpath.basename(other):
        folder, other = map(posixpath.dirname, (folder, other))
    return posixpath.relpath(other or ".", folder or ".")


def _candidates(
    images: Sequence[FileSet], masks: Sequence[FileSet]
) -> Iterator[tuple[FileSet, FileSet]]:
    if len(images) * len(masks) <= _MAX_COMPARED_SETS * _MAX_COMPARED_SETS:
        yield from itertools.product(images, masks)
        return
    near: dict[str, list[FileSet]] = {}
    for mask in masks:
        for place in _places(mask.folder):
            near.setdefault(place, []).append(mask)
    for image in images:
        there = {
            id(mask): mask
            for place in _places(image.folder)
            if len(near.get(place, ())) <= _MAX_COMPARED_SETS
            for mask in near.get(place, ())
        }
        yield from ((image, mask) for mask in there.values())


def _places(folder: str) -> list[str]:
    """Returns what folders have in common that may belong together, in words of their own."""
    parts = folder.split("/")
    below = ["/".join(["", *parts[n:]]) for n in range(1, len(parts))]
    return [f"in {folder}", f"in {posixpath.dirname(folder)}", *below]


def pair(images: FileSet, masks: FileSet) -> Pairing | None:
    """Pairs the files of two sets by their names; None if no name fits another."""
    plain = {stem: stem for stem in images.names if stem in masks.names}
    most, sizes = len(plain), (len(images.names), len(masks.names))
    affixes: tuple[Affix, Affix] | None = None
    if most < min(sizes):
        for (affix, ids), (other, mask_ids) in itertools.product(
            images.ids.items(), masks.ids.items()
        ):
            count = len(ids.keys() & mask_ids.keys())
            if count <= most or (affix, other) == (("", ""), ("", "")):
                continue
            less = reduced(affix, other)
            # Many files have a word and a number: `u1` and `lb1` need not belong together, and
            # `1_0` may be the id where some are named `{id}_0`.
            other_ids = alone(less[0]) != alone(less[1])
            glued = all(before[-1:].isalpha() or after[:1].isalpha() for before, after in less)
            known = ROLES.issuperset(words(" ".join([*less[0], *less[1]])))
            needed = max(sizes) if other_ids or (glued and not known) else min(sizes) * glued
            if _is_pattern(*less) and count >= needed:
                most, affixes = count, less
    if not most and (pairs := _pairs_of_first_channel(images, masks)):
        return Pairing(images, masks, ("", FIRST_CHANNEL), ("", ""), pairs)
    if not most:
        return None
    if affixes is None:
        return Pairing(images, masks, ("", ""), ("", ""), plain)
    return Pairing(images, masks, *affixes, _pairs(images, masks, *affixes))


def _pairs(images: FileSet, masks: FileSet, affix: Affix, other: Affix) -> dict[str, str]:
    """Returns the masks of images whose names have the same between what is around ids."""
    of_core = {core: stem for stem in masks.names if (core := core_of(stem, other))}
    cores = ((core_of(stem, affix), stem) for stem in images.names)
    return {stem: of_core[core] for core, stem in cores if core in of_core}


def _pairs_of_first_channel(images: FileSet, masks: FileSet) -> dict[str, str]:
    """Returns the masks of images if the names of all images end with that of a first channel.

    Each image has a mask and each mask an image, but for folders whose names say their split so.
    """
    ids = {s: core for s in images.names if (core := core_of(s, ("", FIRST_CHANNEL)))}
    pairs = {stem: core for stem, core in ids.items() if core in masks.names}
    (word, split), (_, mask_split) = split_word(images.folder), split_word(masks.folder)
    lie_as_said = is_split_word(word) and split == mask_split
    whole = len(pairs) == len(masks.names) == len(images.names)
    return pairs if len(ids) == len(images.names) and (whole or lie_as_said) else {}


def reduced(affix: Affix, other: Affix) -> tuple[Affix, Affix]:
    """Leaves out of two affixes what both have next to the id, in whole words and numbers."""
    (before, after), (other_before, other_after) = affix, other
    begin = _next_to_id(TOKEN.findall(before)[::-1], TOKEN.findall(other_before)[::-1])
    end = _next_to_id(TOKEN.findall(after), TOKEN.findall(other_after))
    return (
        (before[: len(before) - begin], after[end:]),
        (other_before[: len(other_before) - begin], other_after[end:]),
    )


def _next_to_id(affix: Sequence[str], other: Sequence[str]) -> int:
    """Returns how many letters two lists of tokens begin with alike, up to a word or number."""
    length = whole = 0
    for a, b in zip(affix, other, strict=False):
        if a != b:
            break
        length += len(a)
        whole = length if a.isalnum() else whole
    return length if length in (sum(map(len, affix)), sum(map(len, other))) else whole


def alone(affix: Affix) -> list[str]:
    """Returns the numbers around ids that are glued to no word, and so may be parts of ids."""
    return re.findall(r"(?<![^\W_])\d+(?![^\W_])", " ".join(affix))


def _is_pattern(one: Affix, other: Affix) -> bool:
    """Says whether affixes may be a tool's or a person's: words, and no numbers that differ."""
    texts = ["".join(affix) for affix in (one, other)]
    # The 8 of `leftImg8bit` is a part of a word.
    numbers = [re.findall(r"\d+(?!(?<=[^\W\d_]\d)[^\W\d_])", text) for text in texts]
    letters = all(re.search(r"[^\W\d_]", text) for text in (*one, *other) if text)
    return letters and (numbers[0] == numbers[1] or not all(numbers))


def are_apart(pairings: Sequence[Pairing]) -> bool:
    """Says whether no file is in two pairings."""
    paths = zip(*(r.paths() for r in pairings), strict=True)
    return all(sum(map(len, of_all)) == len({*itertools.chain(*of_all)}) for of_all in paths)


def are_parts(pairings: Sequence[Pairing]) -> bool:
    """Says whether pairings are parts of one set: no file is in two, and names say the same.

    They lie in the same folders and are named alike, or each in the folder of a split.
    """
    if len(pairings) < 2 or not are_apart(pairings):
        return len(pairings) < 2
    names = {(r.images.folder, r.masks.folder, r.image_name, r.mask_name) for r in pairings}
    splits = {split_word(folder)[1] for folder, *_ in names} - {""}
    return len(names) == 1 or len(splits) == len(names)
