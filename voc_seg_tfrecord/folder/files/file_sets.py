"""Sorts the files of each folder into sets of files that are named alike.

No file is opened. Whatever has an ending of images or masks is in a set, and words in names tell
kinds of files apart, such as masks and overlays in one folder.
"""

import collections
from collections.abc import Mapping, Sequence, Set
import dataclasses
import functools
import itertools
import posixpath
import re

from voc_seg_tfrecord.core.layout import ID, MASK_SUFFIXES, PICTURES
from voc_seg_tfrecord.core.role_words import ROLES
from voc_seg_tfrecord.core.split_names import words
from voc_seg_tfrecord.folder.files.folder_names import is_split, role, role_of
from voc_seg_tfrecord.folder.tree.listing import Listing

_SAMPLE = 300  # names of a folder by which it is told what they begin and end with
_SHARE = 0.6  # of names that begin or end alike
TOKEN = re.compile(r"\d+|[^\W\d_]+|[\W_]")
# The last word of a name with what is around it, and the first one.
_LAST = re.compile(r"(.+?)([ _.\-]+[(\[]?[^\W\d_]+\d?[)\]]?|(?<=\d)[^\W\d_]+)")
_GLUED = "|".join(
    sorted((w for w in ROLES if len(w) > 1), key=len, reverse=True)
)  # `img1`, but not `l1`
_FIRST = re.compile(rf"([^\W\d_]+[ _.\-]+|(?:{_GLUED})(?=\d+$))(.+)", re.IGNORECASE)
_BEGIN, _END = (re.compile(f, re.IGNORECASE) for f in (f"({_GLUED})", f"({_GLUED})$"))
_FIRST_WORD = re.compile(r"[^\W\d_]+[\W_]*")
_LAST_WORD = re.compile(r"[\W_]*[^\W\d_]+\W*$")

Affix = tuple[str, str]
"""What stands before and behind the id."""


@dataclasses.dataclass(frozen=True)
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
    names: Mapping[str, str] = dataclasses.field(hash=False)
    affix: Affix = ("", "")
    ending: str = ""
    pattern: str = ""

    @property
    def place(self) -> tuple[str, Affix]:
        """The folder, and what only these of its files have around their ids."""
        return self.folder, self.affix

    def path(self, stem: str) -> str:
        """Returns the path of a file below the root of the listing."""
        return posixpath.join(self.folder, self.names[stem])

    def has_first_of(self, files: "FileSet") -> bool:
        """Says whether the first of some files is one of these."""
        stem, name = next(iter(files.names.items()))
        return self.folder == files.folder and self.names.get(stem) == name

    @functools.cached_property
    def shared(self) -> Affix:
        """What most names begin and end with, in whole words and numbers."""
        stems = list(self.names)
        if len(stems) == 1:
            first, last = _FIRST.fullmatch(stems[0]), _LAST.fullmatch(stems[0])
            affixes = first[1] if first else "", last[2] if last else ""
            before, after = (a if ROLES.intersection(words(a)) else "" for a in affixes)
            return before, after
        return common_affix(stems, _SHARE)

    @property
    def _outermost(self) -> Affix:
        """The first word of what names begin with, and the last one of what they end with."""
        first, last = _FIRST_WORD.match(self.shared[0]), _LAST_WORD.search(self.shared[1])
        return first[0] if first else "", last[0] if last else ""

    @property
    def _glued(self) -> Affix:
        """The words of `ROLES` that all names begin and end with, also without anything between."""
        begin = posixpath.commonprefix([*self.names])
        end = posixpath.commonprefix([stem[::-1] for stem in self.names])[::-1]
        before, after = _BEGIN.match(begin), _END.search(end)
        several = len(self.names) > 1
        return before[0] if several and before else "", after[0] if several and after else ""

    @functools.cached_property
    def ids(self) -> dict[Affix, dict[str, str]]:
        """By what may stand around ids, nothing first: the file's name without ending by id."""
        if self.pattern:
            return {("", ""): {stem: stem for stem in self.names}}
        whole = common_affix([*self.names])
        glued = (
            "" if of_all or of_most else word
            for of_all, of_most, word in zip(whole, self.shared, self._glued, strict=True)
        )
        sources = self.shared, self._outermost, whole, tuple(glued), self.affix
        before, after = zip(*sources, strict=True)
        around = dict.fromkeys(itertools.product(("", *before), ("", *after)))
        return {a: {core: s for s in self.names if (core := core_of(s, a))} for a in around}


def common_affix(stems: Sequence[str], share: float = 1) -> Affix:
    """Returns what a share of names begin and end with, in whole words and numbers."""
    sample = [TOKEN.findall(stem) for stem in stems[:: max(1, len(stems) // _SAMPLE)]]
    before = _beginning(sample, share)
    inner = [t[len(before) :] for t in sample if t[: len(before)] == before]
    after = _beginning([tokens[::-1] for tokens in inner], share)[::-1]
    return "".join(before), "".join(after)


def _beginning(sample: Sequence[Sequence[str]], share: float) -> list[str]:
    """Returns the tokens with which a share of lists begin; one stays behind them."""
    begin: list[str] = []
    group = sample
    while len(group) > 1:
        at = len(begin)
        tokens = collections.Counter(t[at] for t in group if len(t) > at + 1)
        token, count = max(tokens.items(), key=lambda item: item[1], default=("", 0))
        if count < max(2, share * len(sample)):
            break
        begin.append(token)
        group = [t for t in group if len(t) > at + 1 and t[at] == token]
    return begin


def core_of(stem: str, affix: Affix) -> str:
    """Returns what an affix leaves of a name; empty if the name has not got it."""
    before, after = affix
    if stem.startswith(before) and stem.endswith(after):
        return stem[len(before) : len(stem) - len(after)]
    return ""


def file_sets(listing: Listing, endings: Sequence[str]) -> tuple[list[FileSet], list[FileSet]]:
    """Returns the sets of files that may be images, and those that may be masks.

    Args:
      listing: all that lies in the folder.
      endings: what names of images end with.
    """
    no_images = {".npy"} - {*endings}
    of_images = _folders_of_images(listing)
    images, masks = _sets_of_folders(listing, of_images, no_images)
    twins, apart = _Twins(listing), {folder for inner in of_images.values() for folder in inner}
    for folder, files in listing.folders.items():
        if folder in apart:
            continue
        ending_by_name = {n: e for n in files if (e := ending_of(n)) in PICTURES}
        streams = _streams(folder, [*ending_by_name], twins)
        for affix, names in streams.items():
            photos = {_stem(n): n for n in names if ending_by_name[n] not in MASK_SUFFIXES}
            others = {_stem(n): n for n in names if ending_by_name[n] in MASK_SUFFIXES}
            both = photos.keys() & others.keys()
            of_endings = {"": others} if others else {}
            if both:  # what has another ending is something else
                of_endings = {
                    ending: {s: n for s, n in others.items() if ending_by_name[n] == ending}
                    for ending in {ending_by_name[others[stem]]: None for stem in both}
                }
            masks += [FileSet(folder, of, affix, ending) for ending, of in of_endings.items()]
            pictures = {s: n for s, n in others.items() if ending_by_name[n] not in no_images}
            if both and pictures:
                images += [FileSet(folder, of, affix) for of in (photos, others)]
            elif pictures or photos:
                images += [FileSet(folder, photos, affix)] if pictures and photos else []
                images.append(FileSet(folder, pictures | photos, affix))
    return images, masks


def _folders_of_images(listing: Listing) -> dict[str, dict[str, str]]:
    """Returns by their parents the folders that have one image each, with the image's id.

    Files of the same names say it, of which one is called as masks are and one as images are:
    `a/rgb.jpg` and `a/label.png` beside `b/rgb.jpg` and `b/label.png`.
    """
    inner: dict[str, dict[str, str]] = {}
    for folder, names in listing.folders.items():
        top, image_id = posixpath.split(folder)
        few = names if len(names) < _SAMPLE else ()
        stems = (_stem(name) for name in few if ending_of(name) in PICTURES)
        named = {role(stem) for stem in stems if ROLES.issuperset(words(stem))}
        if image_id and not is_split(image_id) and {"images", "masks"} <= named:
            inner.setdefault(top, {})[folder] = image_id
    return {top: ids for top, ids in inner.items() if len(ids) > 1}


def _sets_of_folders(
    listing: Listing, of_images: Mapping[str, Mapping[str, str]], no_images: Set[str]
) -> tuple[list[FileSet], list[FileSet]]:
    """Returns the sets of files that have the same name in the folders of images."""
    images, masks = [], []
    for top, ids in of_images.items():
        kinds: dict[tuple[str, str], dict[str, str]] = {}
        for folder, image_id in ids.items():
            for name in listing.folders[folder]:
                if (ending := ending_of(name)) in PICTURES:
                    kinds.setdefault((_stem(name), ending), {})[image_id] = f"{image_id}/{name}"
        for (stem, ending), names in kinds.items():
            if 2 * len(names) > len(ids):
                files = FileSet(top, names, ("", stem), ending, f"{ID}/{stem}{ending}")
                images += [files] if ending not in no_images else []
                masks += [files] if ending in MASK_SUFFIXES else []
    return images, masks


# Of names without folders and dots before them, which `posixpath.splitext` looks for in vain.
def _stem(name: str) -> str:
    return name.rpartition(".")[0] or name


def ending_of(name: str) -> str:
    """Returns the ending of a name without folders, in lower case."""
    stem, _, ending = name.rpartition(".")
    return f".{ending.lower()}" if stem else ""


class _Twins:
    """Tells which names an image and a mask have alike, so that no word in them is an affix."""

    def __init__(self, listing: Listing):
        self._listing = listing

    @functools.cached_property
    def _places(self) -> tuple[dict[str, set[tuple[str, bool]]], dict[str, set[tuple[str, bool]]]]:
        """The folders that have a name without ending, and whether as a photo.

        They come by whole names, and by names without a word that says what files hold.
        """
        whole: dict[str, set[tuple[str, bool]]] = {}
        less: dict[str, set[tuple[str, bool]]] = {}
        for folder, names in self._listing.folders.items():
            for name in names:
                if (ending := ending_of(name)) not in PICTURES:
                    continue
                at, stem = (folder, ending not in MASK_SUFFIXES), _stem(name)
                whole.setdefault(stem, set()).add(at)
                first, last = _FIRST.fullmatch(stem), _LAST.fullmatch(stem)
                for match, core, affix in ((first, 2, 1), (last, 1, 2)):
                    if match and ROLES.intersection(words(match[affix])):
                        less.setdefault(match[core], set()).add(at)
        return whole, less

    def has(self, folder: str, stem: str, *, less: bool = False) -> bool:
        """Says whether a name in a folder is that of an image and of a mask.

        Args:
          folder: the folder.
          stem: the name without its ending.
          less: whether names count that have one word more.
        """
        places = self._places[0].get(stem, set())
        places = places | (self._places[1].get(stem, set()) if less else set())
        photos = {photo for place, photo in places if place == folder}
        roles = {"", role_of(folder)}
        return len(photos) > 1 or any(
            role_of(place) != "drawn" not in roles
            and (photo not in photos or {role_of(place), *roles} == {"", "images", "masks"})
            for place, photo in places
            if place != folder
        )

    def affix(self, folder: str, stem: str, affix: Affix, stems: Set[str]) -> Affix:
        """Returns what of the affix of a name is none of the id; `stems` are all in the folder."""
        first, last = _FIRST.fullmatch(stem), _LAST.fullmatch(stem)
        cores = first[2] if first else "", last[1] if last else ""
        if self.has(folder, stem, less=True) and all(
            core not in stems or self.has(folder, core) for core in cores
        ):
            return "", ""
        words_of = first[1] if first else "", last[2] if last else ""
        for core, word, part in zip(cores, words_of, ((affix[0], ""), ("", affix[1])), strict=True):
            if ROLES.intersection(words(word)) and self.has(folder, core):
                return part
        return affix


def _streams(folder: str, files: Sequence[str], twins: _Twins) -> dict[Affix, list[str]]:
    """Sorts the files of a folder by what tells kinds of files apart in their names.

    These are words that say what files hold, such as `_mask`, and words that several ids have:
    `1_color` and `1_ids` beside `2_color` and `2_ids`. They belong to the ids if images and masks
    have them alike: `hall_old.jpg` and `hall_old.png`.
    """
    stems = {_stem(name) for name in files}
    # Two digits at the end are no word's.
    ends = (s for s in stems if not s[-2:].isdigit())
    last = {s: (m[1], m[2]) for s in ends if (m := _LAST.fullmatch(s))}
    numbered = collections.Counter(a.rstrip("0123456789") for a in {a for _, a in last.values()})
    # `_manual1` is one kind of files, and `_view1` beside `_view2` are no kinds.
    last = {s: m for s, m in last.items() if numbered[m[1].rstrip("0123456789")] == 1}
    first = {s: (m[2], m[1]) for s in stems if (m := _FIRST.fullmatch(s))}
    if {"l", "r"} <= {word for _, affix in last.values() for word in words(affix)}:  # sides
        last = {s: m for s, m in last.items() if words(m[1]) not in (["l"], ["r"])}
    after, before = (_kinds(parted, stems) for parted in (last, first))
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
            parted[stem][1] if stem in parted and parted[stem][1] in kinds else ""
            for parted, kinds in ((first, before), (last, after))
        ]
        if all(affix) and len("".join(affix)) >= len(stem):
            affix = ["", affix[1]]
        before_after = affix[0], affix[1]
        if any(affix):
            before_after = twins.affix(folder, stem, before_after, stems)
        streams.setdefault(before_after, []).append(name)
    return streams


def _kinds(parted: Mapping[str, tuple[str, str]], stems: set[str]) -> set[str]:
    """Returns the affixes that tell kinds of files apart; `found` has the id and affix of each."""
    heads: dict[str, set[str]] = {}
    for head, affix in parted.values():
        heads.setdefault(affix, set()).add(head)
    if len(heads) == 1 and len(parted) == len(stems):  # what all names have tells nothing apart
        return set()
    several = collections.Counter(head for of_affix in heads.values() for head in of_affix)
    kinds = set()
    for affix, of_affix in heads.items():
        with_others = sum(several[head] > 1 or head in stems for head in of_affix)
        known = ROLES.intersection(words(affix))
        repeated = len(of_affix) > 1 and len(heads) <= len(several)
        if known or (repeated and 2 * with_others >= len(of_affix)):
            kinds.add(affix)
    return kinds
