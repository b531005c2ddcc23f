"""Finds the texts of a folder that name its images, and which of them say a split.

A text is a list of a split if its name, its folder, a column or a key says which. In the place that
VOC's layout has for lists, and in a place that the user named, every list makes a split.
"""

import collections
from collections.abc import Iterable, Iterator, Sequence
import dataclasses
import functools
import posixpath
import re
from typing import cast

from etils import epath

from voc_seg_tfrecord.base.errors import ListError
from voc_seg_tfrecord.folder.files.folder_names import SPLITS, role_of, stem, words
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.formats import class_files
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import parse_ids
from voc_seg_tfrecord.formats.list_files import ENDINGS, LARGEST, Listed, ListReader, words_of
from voc_seg_tfrecord.splitting.ratios import split_of
from voc_seg_tfrecord.trees.layout import LISTS
from voc_seg_tfrecord.trees.listing import Listing
from voc_seg_tfrecord.trees.tree import VocTree

UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")
"""Lists that hold the ids of `train` too. TFDS reads trainval as split='train+validation'."""

_AROUND = frozenset(  # words around the name of a split that say no more than that
    re.findall(
        r"\w+",
        """
        list lists id ids set sets split splits image images img imgs imageset imagesets file files
        filename filenames name names data dataset path paths pair pairs index indices mask masks
        label labels seg segmentation key keys txt
        """,
    )
)
_OF_SPLITS = {"split", "splits", *SPLITS}
_GLUED = re.compile(f"(train|val|valid|test)({'|'.join(sorted(_AROUND))})")
_KNOWN = ("train", "val", "valid", "validation", "test", "trainval", "trainaug")
PLACES = (LISTS, "", "splits", "lists", "ImageSets")  # below a set's root: where lists usually lie
ELSEWHERE, OF_VOC, OF_RESULTS = range(len(PLACES), len(PLACES) + 3)
_NAMED_LISTS = ("split", "splits", "imagesets")  # folders of which every list may be a split
_LEAST = 0.1  # of the names in a text, which have to be images
_LONG, _PART, _PARTS = 1 << 20, 1 << 14, 8
_SHOWN_IDS = 3
_BEGINNINGS = {split[:2] for split in SPLITS}
_TEXTS = 500  # of one folder that are not called as splits


@dataclasses.dataclass(frozen=True)
class SplitList:
    """The images that one place of a text names.

    Attributes:
      file: the text, below the given folder.
      key: the place in it; empty for all of it.
      ids: the ids in its order; a name of no image stays as it is.
      found: how many of them are images.
      rank: how usual its place is for lists: 0 is VOC's own, or that which the user named.
      split: the split that it makes; empty if nothing says so.
      kind: what else its names say, such as `fold0`; the lists of one division have the same.
      named: whether a name, column or key says the split, and not the place alone.
      error: what is wrong with a text that is a list by its name and place.
    """

    file: str
    key: str
    ids: Sequence[str]
    found: int
    rank: int
    split: str = ""
    kind: tuple[str, ...] = ()
    named: bool = True
    error: ListError | None = None


def split_in(name: str) -> tuple[str, str]:
    """Returns the split that a name says, and what else it says.

    `train_list` says train and nothing else, `val_fold0` says validation and `fold 0`. The split is
    empty if the name says none, or two.
    """
    if (plain := name.lower().replace("-", "_")) in UNIONS:
        return plain, ""
    of_name = (match.groups() if (match := _GLUED.fullmatch(w)) else [w] for w in words(name))
    left = [word for of_word in of_name for word in of_word if word not in _AROUND]
    said = [word for word in left if word in SPLITS]
    rest = " ".join(word for word in left if word not in SPLITS)
    return (SPLITS[said[0]], rest) if len(said) == 1 else ("", " ".join(left))


@functools.lru_cache(1024)
def _split_of(name: str) -> str:
    """Returns the split of a name that says nothing else; empty if it says more, or none."""
    split, rest = split_in(name)
    return "" if rest else split


def find_lists(
    tree: VocTree, names: ImageNames, *, said: bool
) -> tuple[list[SplitList], list[str]]:
    """Reads all texts of a folder that may name its images, each once.

    Args:
      tree: the set. Files that are read as its labels are no lists beside that.
      names: the ids of its images by their names.
      said: whether the user named the folder or file of lists that its layout has.

    Returns:
      What names images, the most usual places first; and notes on texts that make no split.
    """
    found, notes, place = list[SplitList](), list[str](), tree.place
    lists_of_user = posixpath.normpath(posixpath.join(place, tree.layout.lists)) if said else None
    reader = ListReader(names, _split_of)
    for path in _texts(tree, names):
        rank, lists, error = _rank(path, place, lists_of_user), list[Listed](), None
        must = _is_list(path, rank)
        if not must and not _may_name(tree.given / path, reader):
            continue
        file = tree.read_text(tree.given / path, ListError)
        below = functools.partial(names.below, place=posixpath.dirname(path))
        try:
            for listed in reader.read(file, below):
                lost = listed.found < len(listed.ids)
                ids = names.inside(listed.ids, file.where, tree.given) if lost else listed.ids
                lists.append(dataclasses.replace(listed, ids=ids))
        except ListError as wrong:
            lists, error = [Listed("", (), 0)], wrong
        of_text = [_split_list(path, of, rank) for of in lists or [Listed("", (), 0)] * must]
        makes = any(of.split for of in of_text)
        why = None if must else _why_none(reader, file, lists, error, makes=makes)
        if why is not None:
            notes += [f"{path} {why}, so it makes no split."] * bool(why)
            of_text = [dataclasses.replace(of, split="") for of in of_text if of.found]
        of_text = [of for of in of_text if of.found or must or error]
        found += [dataclasses.replace(of, error=error) for of in of_text]
    for n, of in enumerate(found):
        if other := _across(of, found):
            names_of = [f"{o.file}:{o.key}".rstrip(":") for o in (of, other)]
            notes.append(f"{' shares images with '.join(names_of)}, so it makes no split.")
            found[n] = dataclasses.replace(of, split="")
    return sorted(found, key=lambda of: (of.rank, of.file.count("/"), of.file)), notes


def _why_none(
    reader: ListReader, file: File, lists: Sequence[Listed], error: ListError | None, *, makes: bool
) -> str | None:
    """Says why a text makes no split; empty if that need not be said, None if it makes some."""
    ids, found = [i for of in lists for i in of.ids], sum(of.found for of in lists)
    enough = found > _LEAST * len(ids) or 2 * found > len(reader.names)
    called = {*words(stem(file.where))}
    is_called = called & _OF_SPLITS and called <= _AROUND | SPLITS.keys()
    text = file.data[:_LONG].replace(b"\0", b"").decode("utf-8", "replace")
    if error:
        lines = [line for line in text.splitlines() if line.strip()]
        named = sum(map(reader.names_any, lines))
        if makes and 2 * named > len(lines):
            return None
        what = "names images" if named else "is called as a split"
        return f"{what}, but has {error.found}" if named or is_called else ""
    if file.where.lower().endswith((".yaml", ".yml")) and len({*ids}) < len(ids):
        return "names the same images for several splits"
    if enough and makes:
        return None
    if not enough and any(of.said and not of.found for of in lists):
        return "says splits, but of other images"
    if not enough and is_called and ids:
        first = next(image_id for image_id in ids if image_id not in reader.names)
        count = f"only {found}" if found else "none"
        return f"is called as a split, but {count} of its {len(ids)} names was found, not {first!r}"
    begin = (word for word in words_of(text) if word[:2].lower() in _BEGINNINGS)
    said = {split: word for word in begin if (split := _split_of(word))}
    if found and len(said) > 1:
        return f"names images and has the words {' and '.join(said.values())}, but divides nothing"
    named = not found and reader.names_any(text, numbers=len(said) > 1)
    return "names images in a way that is not understood" if named else ""


def _across(of: SplitList, lists: Sequence[SplitList]) -> SplitList | None:
    """Returns a list of another name that overlaps with one called `train`: both may be classes."""

    def place(of: SplitList) -> tuple[str, str]:
        return (of.file if of.key else posixpath.dirname(of.file)), posixpath.dirname(of.key)

    if not of.split or (of.rank < ELSEWHERE and not of.key):
        return None
    beside = [o for o in lists if o is not of and place(o) == place(of)]
    if any(o.split for o in beside) or not _split_of(of.key.rpartition("/")[2] or stem(of.file)):
        return None
    ids = {*of.ids}
    return next((o for o in beside if ids - {*o.ids} and ids & {*o.ids} and {*o.ids} - ids), None)


def _texts(tree: VocTree, names: ImageNames) -> Iterator[str]:
    """Yields the texts that may be lists: no class files of tools, and no label of one image."""
    for folder, files in cast(Listing, tree.listing).folders.items():
        count = 0
        for name in (n for n in files if "." not in n or n.lower().endswith(ENDINGS)):
            stem, ending = posixpath.splitext(name)
            path, called = posixpath.join(folder, name), bool(_split_of(stem))
            of_tool = name in class_files.NAMES and name not in class_files.COMMON
            if path in tree.labels.sheets or of_tool or not (ending or called):
                continue
            if not called and stem in names.stems:
                continue
            count += not called
            if called or count <= _TEXTS:
                yield path


def _rank(path: str, place: str, said: str | None) -> int:
    folder = posixpath.dirname(path)
    if said is not None:
        return 0 if said in (path, folder or ".") else ELSEWHERE
    below = posixpath.relpath(folder or ".", place or ".")
    below = "" if below == "." else below
    if role_of(below) == "drawn":
        return OF_RESULTS
    if f"/{folder}".endswith(f"/{LISTS}"):
        return 0
    if posixpath.basename(posixpath.dirname(folder)) == posixpath.dirname(LISTS):
        return OF_VOC  # ImageSets/Main
    return PLACES.index(below) if below in PLACES else ELSEWHERE


def _is_list(path: str, rank: int) -> bool:
    """Says whether a text is a list whatever it holds, by its name and its place."""
    stem, ending = posixpath.splitext(posixpath.basename(path).lower())
    if ending not in (".txt", ".lst") or stem.startswith("readme"):
        return False
    common = f"{stem}{ending}" in class_files.COMMON
    return (rank == 0 and not common) or (rank < ELSEWHERE and stem in _KNOWN)


def _may_name(path: epath.Path, reader: ListReader) -> bool:
    """Says whether a text is worth reading as a whole: of a long one parts are looked at."""
    length = path.stat().length
    if length <= _LONG or length > LARGEST or split_in(stem(path.name))[0]:
        return 0 < length <= LARGEST
    with path.open("rb") as file:
        for part in range(_PARTS):
            file.seek((length - _PART) * part // (_PARTS - 1))
            text = file.read(_PART).decode("utf-8", "replace")
            parts = re.split(r"([\s,;|\"])", text)[1:-1]  # without words that are cut
            head = words_of(text.partition("\n")[0]) if not part else ()
            if any(map(reader.is_of_splits, head)) or reader.names_any("".join(parts)):
                return True
    return False


def _split_list(path: str, listed: Listed, rank: int) -> SplitList:
    """Returns a list with the split that its key, its name or its folder says."""
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    made = SplitList(path, listed.key, listed.ids, listed.found, rank)
    keys = listed.key.split("/") if listed.key else []
    split, kind = "", list[str]()
    if keys and listed.said and not _split_of(keys[-1]):
        split, keys = keys[-1], [*keys[:-1], ""]
    for text in [*keys[::-1], stem]:
        word, rest = ("", text) if split else split_in(text)
        split = split or word
        kind.append(rest)
    for text in folder.split("/")[::-1]:
        says = not split and bool(_split_of(text))
        split = split_in(text)[0] if says else split
        kind.append("" if says else text)
    if rank == OF_VOC and kind[0]:
        return made  # of one class
    if stem.lower().startswith("readme"):
        return made
    of_place = rank == 0 or posixpath.basename(folder).lower() in _NAMED_LISTS
    if rank == 0 and not keys:
        return dataclasses.replace(made, split=stem, kind=(folder,))
    if not split and of_place and not keys:
        kind = ["", *folder.split("/")[::-1]]
        return dataclasses.replace(made, split=stem, kind=(*kind, ending), named=False)
    return dataclasses.replace(made, split=split, kind=(*kind, ending))


def read_said(file: File, path: str, names: ImageNames) -> SplitList:
    """Returns a list that the user named, whatever it holds.

    Raises:
      ListError: if it is no text, is empty, or has a name that leaves the tree.
    """
    ids = parse_ids(file.data, file.where, names, plain=False, repeats=True)
    return SplitList(path, "", ids, 0, 0)


def divisions(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists that belong together: those of one place whose names say the same beside.

    Of two for the same split, such as `train.txt` and `train_list.txt`, each begins one of its own.
    A list that only its place makes a split is none if it shares images with the others.
    """
    of_kind: dict[tuple[str, ...], list[list[SplitList]]] = {}
    splits = [*_renamed(lists)]
    # Plain names come before those that say more.
    for of in sorted(splits, key=lambda of: (not of.named, len(of.file))):
        ways = of_kind.setdefault(of.kind, [])
        ids = set(of.ids)
        if not of.named and any(not ids.isdisjoint(other.ids) for way in ways for other in way):
            continue
        free = (way for way in ways if all(other.split != of.split for other in way))
        if (way := next(free, None)) is None:
            ways.append(way := [])
        way.append(of)
    return [sorted(way, key=splits.index) for ways in of_kind.values() for way in ways]


def _renamed(lists: Iterable[SplitList]) -> Iterator[SplitList]:
    """Yields lists that make splits; of those in VOC's place with the splits that names say.

    They keep their own names if these say more than the split, and not all the same.
    """
    lists = [of for of in lists if of.split]
    own = {of.file: split_in(of.split) for of in lists if not of.rank and not of.key}
    said = collections.Counter(own.values())
    rests = {rest for split, rest in said if split}
    for of in lists:
        split, rest = own.get(of.file, ("", ""))
        alone = not rest or (len(rests) == 1 and said[split, rest] == 1)
        yield dataclasses.replace(of, split=split) if split and alone else of


def with_folders(names: ImageNames, given: epath.Path, split: str, of: SplitList) -> list[str]:
    """Returns the ids of a list; of two images that a name may mean, that in the split's folder.

    Raises:
      ListError: if a name may still be that of several images.
    """
    meant: dict[str, str] = {}
    for name in sorted({*of.ids} & names.ambiguous.keys()):
        choice = names.ambiguous[name]
        own = [i for i in choice if split_of(i.partition("/")[0]) == split]
        if len(own) != 1:
            raise ListError(
                given / of.file,
                found=f"{name!r}, which may be {' or '.join(choice[:_SHOWN_IDS])}",
                expected="lines that name one image each",
                remedy="write the folder before the name, as in " + choice[0],
            )
        meant[name] = own[0]
    return [meant.get(name, name) for name in of.ids]
