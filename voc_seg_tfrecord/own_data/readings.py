"""All readings of a folder: files that may be images, files that may be masks, how names pair.

Nothing is chosen here, and no file is opened; `choice` does both. The names of folders say nothing
here either: whatever has an ending of images or masks and pairs by its name is a reading.
"""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.formats.id_lists import IMAGE_SUFFIXES
from voc_seg_tfrecord.own_data.folder_names import ROLES, split_word, words
from voc_seg_tfrecord.trees.layout import ID, MASK_SUFFIXES, Naming
from voc_seg_tfrecord.trees.listing import Listing

_ENDINGS = frozenset((*IMAGE_SUFFIXES, *MASK_SUFFIXES))
_SAMPLE = 300  # names of a folder by which it is told what they begin and end with
_SHARE = 0.6  # of names that begin or end alike
_FEW = 80  # sets of files of which each two are compared, whatever their folders
_TOKEN = re.compile(r"\d+|[^\W\d_]+|[\W_]")
# The last word of a name with what is around it, and the first one.
_LAST = re.compile(r"(.+?)([ _.\-]+[(\[]?[^\W\d_]+[)\]]?|(?<=\d)[^\W\d_]+)")
_FIRST = re.compile(r"([^\W\d_]+[ _.\-]+)(.+)")
_GLUED = re.compile(r"([^\W\d_]+)(\d.*)")

Affix = tuple[str, str]
"""What stands before and behind the id."""


@dataclasses.dataclass(frozen=True, eq=False)
class FileSet:
    """Files of one folder that are named alike, and so are all images, all masks, or neither.

    Attributes:
      folder: the folder below the root of the listing; empty for the root.
      names: the names of the files by their names without the ending.
      affix: what only these of the folder's files have around their ids; mostly nothing.
      ending: the ending if only files of one are meant; empty means any.
      pattern: how the user says that the files are named; then `names` has their ids.
    """

    folder: str
    names: Mapping[str, str]
    affix: Affix = ("", "")
    ending: str = ""
    pattern: str = ""

    def path(self, stem: str) -> str:
        """Returns the path of a file below the root of the listing."""
        return posixpath.join(self.folder, self.names[stem])

    @functools.cached_property
    def shared(self) -> Affix:
        """What most names begin and end with, in whole words and numbers."""
        stems = list(self.names)
        sample = [_TOKEN.findall(s) for s in stems[:: max(1, len(stems) // _SAMPLE)]]
        before = _beginning(sample)
        inner = [t[len(before) :] for t in sample if t[: len(before)] == before]
        after = _beginning([tokens[::-1] for tokens in inner])[::-1]
        return "".join(before), "".join(after)

    @functools.cached_property
    def ids(self) -> dict[Affix, dict[str, str]]:
        """By what may stand around ids: the file's name without ending by id."""
        if self.pattern:
            return {("", ""): dict(zip(self.names, self.names, strict=True))}
        before, after = zip(self.shared, self.affix, strict=True)
        affixes = dict.fromkeys(itertools.product(("", *before), ("", *after)))
        found = {}
        for affix in affixes:
            by_id = {_core(stem, affix): stem for stem in self.names}
            by_id.pop("", None)
            found[affix] = by_id
        return found


def _beginning(sample: Sequence[Sequence[str]]) -> list[str]:
    """Returns the tokens with which most lists begin; one stays behind them."""
    begin: list[str] = []
    group = sample
    while len(group) > 1:
        at = len(begin)
        tokens = collections.Counter(t[at] for t in group if len(t) > at + 1)
        token, count = max(tokens.items(), key=lambda item: item[1], default=("", 0))
        if count < max(2, _SHARE * len(sample)):
            break
        begin.append(token)
        group = [t for t in group if len(t) > at + 1 and t[at] == token]
    return begin


def _core(stem: str, affix: Affix) -> str:
    before, after = affix
    if stem.startswith(before) and stem.endswith(after):
        return stem[len(before) : len(stem) - len(after)]
    return ""


@dataclasses.dataclass(frozen=True, eq=False)
class Reading:
    """Images and masks that belong together by their names.

    Attributes:
      images: the files of the images.
      masks: the files of the masks.
      image_affix: what the images' names have around the id.
      mask_affix: what the masks' names have around it.
      pairs: the mask of each image, both by their names without the ending.
      plain: how many pairs there are if names are compared as they are.
    """

    images: FileSet
    masks: FileSet
    image_affix: Affix
    mask_affix: Affix
    pairs: Mapping[str, str]
    plain: int

    @functools.cached_property
    def shared_words(self) -> int:
        """How many words the folders of images and masks share."""
        one, other = words(self.images.folder), words(self.masks.folder)
        return sum(min(one.count(word), other.count(word)) for word in set(one))

    @functools.cached_property
    def distance(self) -> int:
        """How many words only one of the two folders has."""
        one, other = words(self.images.folder), words(self.masks.folder)
        return len(one) + len(other) - 2 * self.shared_words

    @property
    def of_same_split(self) -> bool:
        """Whether both folders are called as the same split is, or as none."""
        return split_word(self.images.folder)[1] == split_word(self.masks.folder)[1]

    @property
    def image_name(self) -> str:
        """The pattern of the images' names, empty if they are the ids."""
        return self.images.pattern or _pattern(self.image_affix, self.images.ending)

    @property
    def mask_name(self) -> str:
        """The pattern of the masks' names, likewise."""
        endings = {posixpath.splitext(self.masks.names[m])[1] for m in self.pairs.values()}
        ending = self.masks.ending
        if self.mask_affix != ("", "") and len(endings) == 1:
            (ending,) = endings
        return self.masks.pattern or _pattern(self.mask_affix, ending)


def _pattern(affix: Affix, ending: str) -> str:
    return "" if affix == ("", "") and not ending else f"{affix[0]}{ID}{affix[1]}{ending}"


def file_sets(
    listing: Listing, folders: Iterable[str], *, glued: bool = False
) -> tuple[list[FileSet], list[FileSet]]:
    """Returns the sets of files in folders that may be images, and those that may be masks.

    Args:
      listing: what lies where.
      folders: folders of the listing.
      glued: whether words tell kinds of files apart that stand right before numbers: `im1`, `lb1`.
    """
    images, masks = [], []
    for folder in folders:
        files = [n for n in listing.folders[folder] if _ending(n) in _ENDINGS]
        for affix, names in (_glued(files) if glued else _streams(files)).items():
            photos = _by_stem(n for n in names if _ending(n) not in MASK_SUFFIXES)
            others = _by_stem(n for n in names if _ending(n) in MASK_SUFFIXES)
            both = photos.keys() & others.keys()
            arrays = all(_ending(name) == ".npy" for name in others.values())
            if others:
                endings = {_ending(name) for name in others.values()} if both else ()
                ending = endings.pop() if len(endings) == 1 else ""
                masks.append(FileSet(folder, others, affix, ending))
            if both and not arrays:
                images += [FileSet(folder, names, affix) for names in (photos, others)]
            else:
                pictures = {s: n for s, n in others.items() if _ending(n) != ".npy"} | photos
                images += [FileSet(folder, pictures, affix)] if pictures else []
    return images, masks


def sets_of_pattern(
    listing: Listing, folders: Iterable[str], pattern: str, endings: Sequence[str]
) -> list[FileSet]:
    """Returns the sets of files in folders that are named as the user says."""
    naming = Naming.parse(pattern)
    found = []
    for folder in folders:
        names = (n for n in listing.folders[folder] if _ending(n) in endings)
        by_id = {image_id: name for name in names if (image_id := naming.id_of(name))}
        affix = naming.prefix, naming.suffix
        found += [FileSet(folder, by_id, affix, naming.ending, pattern)] if by_id else []
    return found


def _by_stem(names: Iterable[str]) -> dict[str, str]:
    return {_stem(name): name for name in names}


# Of names without folders and dots before them, which `posixpath.splitext` looks for in vain.
def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def _ending(name: str) -> str:
    stem, _, ending = name.rpartition(".")
    return f".{ending.lower()}" if stem else ""


def _streams(files: Sequence[str]) -> dict[Affix, list[str]]:
    """Sorts the files of a folder by what tells kinds of files apart in their names.

    These are words that say what files hold, such as `_mask`, and words that several ids have:
    `1_color` and `1_ids` beside `2_color` and `2_ids`.
    """
    stems = {_stem(name) for name in files}
    last = {s: (m[1], m[2]) for s in stems if (m := _LAST.fullmatch(s))}
    first = {s: (m[2], m[1]) for s in stems if (m := _FIRST.fullmatch(s))}
    after, before = (_kinds(found, stems) for found in (last, first))
    if any(ROLES.intersection(words(affix)) for affix in (*after, *before)):
        # Where words say what files hold, other words that several names have are those of ids.
        after, before = (
            {affix for affix in kinds if ROLES.intersection(words(affix))}
            for kinds in (after, before)
        )
    streams: dict[Affix, list[str]] = {}
    for name in files:
        stem = _stem(name)
        affix = [
            found[stem][1] if stem in found and found[stem][1] in kinds else ""
            for found, kinds in ((first, before), (last, after))
        ]
        if all(affix) and len("".join(affix)) >= len(stem):
            affix = ["", affix[1]]
        streams.setdefault((affix[0], affix[1]), []).append(name)
    return streams


def _glued(files: Sequence[str]) -> dict[Affix, list[str]]:
    """Sorts files by the word before their number, if each number has all words."""
    streams: dict[Affix, list[str]] = {}
    numbers: dict[str, set[str]] = {}
    for name in files:
        if not (match := _GLUED.fullmatch(_stem(name))):
            return {}
        streams.setdefault((match[1], ""), []).append(name)
        numbers.setdefault(match[1], set()).add(match[2])
    sets = list(numbers.values())
    return streams if len(sets) > 1 and all(found == sets[0] for found in sets) else {}


def _kinds(found: Mapping[str, tuple[str, str]], stems: set[str]) -> set[str]:
    """Returns the affixes that tell kinds of files apart; `found` has the id and affix of each."""
    if not found:
        return set()
    heads: dict[str, set[str]] = {}
    for head, affix in found.values():
        heads.setdefault(affix, set()).add(head)
    several = collections.Counter(head for of_affix in heads.values() for head in of_affix)
    kinds = set()
    for affix, of_affix in heads.items():
        with_others = sum(several[head] > 1 or head in stems for head in of_affix)
        known = ROLES.intersection(words(affix))
        repeated = (
            len(of_affix) > 1 and len(heads) <= len(several) and 2 * with_others >= len(of_affix)
        )
        if known or repeated:
            kinds.add(affix)
    # What all names have tells nothing apart.
    return kinds if len(heads) > 1 or len(found) < len(stems) else set()


def with_glued(
    listing: Listing, readings: list[Reading], sets: Mapping[str, Sequence[FileSet]]
) -> list[Reading]:
    """Adds readings of folders in which words right before numbers tell images and masks apart.

    They are looked for where no other reading has all files of a folder: `im1` and `lb1` beside a
    folder of other masks called `lb1`.
    """
    files: dict[str, set[str]] = {}
    for of_role in sets.values():
        for of_set in of_role:
            files.setdefault(of_set.folder, set()).update(of_set.names.values())
    whole = {
        of_set.folder
        for r in readings
        for of_set, paired in ((r.images, r.pairs), (r.masks, set(r.pairs.values())))
        if len(paired) > _SHARE * len(files[of_set.folder])
    }
    folders = {s.folder for of_role in sets.values() for s in of_role}
    if not file_sets(listing, sorted(folders - whole), glued=True)[0]:
        return readings
    images, masks = file_sets(listing, sorted(folders), glued=True)
    split = {s.folder for s in images}
    left = {role: [s for s in of if s.folder not in split] for role, of in sets.items()}
    return list(all_readings(left["images"] + images, left["masks"] + masks))


def all_readings(images: Sequence[FileSet], masks: Sequence[FileSet]) -> Iterator[Reading]:
    """Yields each two sets of which files have the same ids, but for those that are the same."""
    for one, other in _candidates(images, masks):
        same = one.folder == other.folder and set(one.names.values()) & set(other.names.values())
        if not same and (found := pair(one, other)):
            yield found


def _candidates(
    images: Sequence[FileSet], masks: Sequence[FileSet]
) -> Iterator[tuple[FileSet, FileSet]]:
    if len(images) * len(masks) <= _FEW * _FEW:
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
            if len(near.get(place, ())) <= _FEW
            for mask in near.get(place, ())
        }
        yield from ((image, mask) for mask in there.values())


def _places(folder: str) -> list[str]:
    """Returns what folders have in common that may belong together, in words of their own."""
    parts = folder.split("/")
    below = ["/".join(["", *parts[n:]]) for n in range(1, len(parts))]
    return [f"in {folder}", f"in {posixpath.dirname(folder)}", *below]


def pair(images: FileSet, masks: FileSet) -> Reading | None:
    """Pairs the files of two sets by their names; None if no name fits another."""
    plain = _common(images.ids[("", "")], masks.ids[("", "")])
    best: tuple[int, Affix, Affix] = (len(plain), ("", ""), ("", ""))
    if len(plain) < min(len(images.names), len(masks.names)):
        for (one, ids), (other, mask_ids) in itertools.product(
            images.ids.items(), masks.ids.items()
        ):
            if (one, other) == (("", ""), ("", "")) or len(ids.keys() & mask_ids.keys()) <= best[0]:
                continue
            reduced, count = _reduced(one, other), len(ids.keys() & mask_ids.keys())
            # Many files have a word and a number: `u1` and `lb1` need not belong together.
            few = count < min(len(images.names), len(masks.names)) and _is_glued(*reduced)
            if _is_pattern(*reduced) and not few:
                best = (count, *reduced)
    count, one, other = best
    if not count:
        return None
    if (one, other) == (("", ""), ("", "")):
        return Reading(images, masks, one, other, plain, count)
    ids = {core: stem for stem in images.names if (core := _core(stem, one))}
    mask_ids = {core: stem for stem in masks.names if (core := _core(stem, other))}
    return Reading(images, masks, one, other, _common(ids, mask_ids), len(plain))


def _common(ids: Mapping[str, str], mask_ids: Mapping[str, str]) -> dict[str, str]:
    return {stem: mask_ids[core] for core, stem in ids.items() if core in mask_ids}


def _reduced(one: Affix, other: Affix) -> tuple[Affix, Affix]:
    """Leaves out of two affixes what both have next to the id, in whole words and numbers."""
    (before, after), (other_before, other_after) = one, other
    begin = _next_to_id(_TOKEN.findall(before)[::-1], _TOKEN.findall(other_before)[::-1])
    end = _next_to_id(_TOKEN.findall(after), _TOKEN.findall(other_after))
    return (
        (before[: len(before) - begin], after[end:]),
        (other_before[: len(other_before) - begin], other_after[end:]),
    )


def _next_to_id(one: Sequence[str], other: Sequence[str]) -> int:
    """Returns how many letters two lists of tokens begin with alike, up to a word or number."""
    length = whole = 0
    for a, b in zip(one, other, strict=False):
        if a != b:
            break
        length += len(a)
        whole = length if a.isalnum() else whole
    return length if length in (sum(map(len, one)), sum(map(len, other))) else whole


def _is_glued(one: Affix, other: Affix) -> bool:
    """Says whether both affixes have a word right before or behind the id."""
    return all(before[-1:].isalpha() or after[:1].isalpha() for before, after in (one, other))


def _is_pattern(one: Affix, other: Affix) -> bool:
    """Says whether affixes may be a tool's or a person's: words, and no numbers that differ."""
    texts = ["".join(affix) for affix in (one, other)]
    numbers = [re.findall(r"\d+", text) for text in texts]
    letters = all(re.search(r"[^\W\d_]", text) for text in (*one, *other) if text)
    return letters and (numbers[0] == numbers[1] or not all(numbers))
