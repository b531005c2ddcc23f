"""Lists of images that texts give to splits, and which of them belong together."""

import collections
from collections.abc import Iterable, Sequence
import dataclasses
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.layout import LISTS
from voc_seg_tfrecord.core.split_names import (
    needs_train,
    only_split_in,
    own_split_name,
    split_in,
    split_of,
)
from voc_seg_tfrecord.folder.files.folder_names import role_of
from voc_seg_tfrecord.folder.files.folder_names import stem as stem_of
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.formats.listed_images import ListedImages

USUAL_PLACES = (LISTS, "", "splits", "lists", "ImageSets")
"""The folders, below a set's root, in which lists usually lie; the rank of a list is its place."""

RANK_OF_SEGMENTATION = 0
"""The rank of lists in VOC's place for them, and of lists that the user gave."""
RANK_ELSEWHERE = len(USUAL_PLACES)
RANK_OF_OTHER_TASK = RANK_ELSEWHERE + 1
"""The rank of VOC's lists for another task, such as `ImageSets/Main`."""
RANK_OF_RESULTS = RANK_ELSEWHERE + 2
"""The rank of lists in a folder of results."""

_FOLDERS_OF_SPLITS = ("split", "splits", "imagesets")
_MAX_SHOWN_IDS = 3


@dataclasses.dataclass(frozen=True)
class SplitList:
    """The images that one place of a text names.

    Attributes:
      file: the text, below the given folder.
      key: the place in it; empty for all of it.
      ids: the ids in its order; a name of no image stays as it is.
      found: how many of them are images.
      rank: how usual its place is for lists; see `RANK_OF_SEGMENTATION` and the others.
      split: the split that it makes; empty if nothing says so.
      series: what else its names say, such as `fold0`; the lists of one division have the same.
      is_named: whether a name, column or key says the split, and not the place alone.
      error: what is wrong with a text that is a list by its name and place.
    """

    file: str
    key: str
    ids: Sequence[str]
    found: int
    rank: int
    split: str = ""
    series: tuple[str, ...] = ()
    is_named: bool = True
    error: ListError | None = None

    @property
    def name(self) -> str:
        """The text, and the place in it."""
        return f"{self.file}:{self.key}" if self.key else self.file


def name_in(split_list: SplitList) -> str:
    """Returns the innermost name of a list: its last key, or the name of the text."""
    return split_list.key.rpartition("/")[2] or stem_of(split_list.file)


def place_of(split_list: SplitList) -> tuple[str, str]:
    """Returns where a list stands: the folder of its text, or the text and the keys above it."""
    if split_list.key:
        return split_list.file, posixpath.dirname(split_list.key)
    return posixpath.dirname(split_list.file), ""


def rank_of(path: str, place: str, lists_of_user: str | None) -> int:
    """Returns how usual the place of a text is for lists.

    Args:
      path: the text, below the given folder.
      place: where the set lies.
      lists_of_user: the folder or file of lists that the user gave, if any.
    """
    folder = posixpath.dirname(path)
    if lists_of_user is not None:
        return RANK_OF_SEGMENTATION if lists_of_user in (path, folder or ".") else RANK_ELSEWHERE
    below_set = posixpath.relpath(folder or ".", place or ".")
    if below_set == ".":
        below_set = ""
    if role_of(below_set) == "drawn":
        return RANK_OF_RESULTS
    if f"/{folder}".endswith(f"/{LISTS}"):
        return RANK_OF_SEGMENTATION
    if posixpath.basename(posixpath.dirname(folder)) == posixpath.dirname(LISTS):
        return RANK_OF_OTHER_TASK
    return USUAL_PLACES.index(below_set) if below_set in USUAL_PLACES else RANK_ELSEWHERE


def as_split_list(path: str, listed: ListedImages, rank: int) -> SplitList:
    """Returns the images of one place of a text with the split that they make, if they make one.

    In VOC's place for lists the name of the text is the split. Elsewhere a column or key of splits
    says it, or names do, or the folder is one of lists.
    """
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    keys = listed.key.split("/") if listed.key else []
    plain = SplitList(path, listed.key, listed.ids, listed.found, rank)
    if stem.lower().startswith("readme"):
        return plain
    if rank == RANK_OF_SEGMENTATION and not keys:
        return dataclasses.replace(plain, split=stem, series=(folder,))
    folders = folder.split("/")
    if keys and listed.says_split and not only_split_in(keys[-1]):
        return _named_by_column(plain, keys, [stem, *reversed(folders), ending])
    split, series = _split_by_names([*reversed(keys), stem], folders)
    is_for_one_class = rank == RANK_OF_OTHER_TASK and bool(series[0])  # such as cat_train
    if is_for_one_class:
        return plain
    if split:
        return dataclasses.replace(plain, split=split, series=(*series, ending))
    if not keys and folders[-1].lower() in _FOLDERS_OF_SPLITS:
        return _named_by_place(plain, stem, folders, ending)
    return plain


def _named_by_column(plain: SplitList, keys: Sequence[str], around: Sequence[str]) -> SplitList:
    """Returns a list whose split is a value of a column of splits, whatever the value is."""
    series = ("", *reversed(keys[:-1]), *around)
    return dataclasses.replace(plain, split=own_split_name(keys[-1]), series=series)


def _named_by_place(plain: SplitList, stem: str, folders: Sequence[str], ending: str) -> SplitList:
    """Returns a list in a folder of lists, whose name is the split, whatever it is."""
    series = ("", *reversed(folders), ending)
    return dataclasses.replace(plain, split=stem, series=series, is_named=False)


def _split_by_names(names: Sequence[str], folders: Sequence[str]) -> tuple[str, list[str]]:
    """Returns the split that names say, and what else they say, from the innermost one outward.

    The innermost name that says a split counts. A folder says one only if it says nothing else.

    Args:
      names: the keys in a text, and the name of the text, the innermost first.
      folders: the folders that the text lies in, the outermost first.
    """
    split = ""
    series = list[str]()
    for name in names:
        if split:
            series.append(name)
        else:
            split, rest = split_in(name)
            series.append(rest)
    for folder in reversed(folders):
        split_of_folder = only_split_in(folder)
        if split_of_folder and not split:
            split = split_of_folder
            series.append("")
        else:
            series.append(folder)
    return split, series


def read_given_list(file: File, path: str, image_names: ImageNames) -> SplitList:
    """Returns a list that the user gave, whatever it holds.

    Raises:
      ListError: if it is no text, is empty, or has a name that leaves the tree.
    """
    ids = parse_ids(file.data, file.where, image_names, plain=False, repeats=True)
    return SplitList(path, "", ids, found=0, rank=RANK_OF_SEGMENTATION)


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists that belong together: those of one series.

    Of two for the same split, such as `train.txt` and `train_list.txt`, each begins a division of
    its own. A list that only its place makes a split is none if it shares images with the others.
    """
    making_splits = [split_list for split_list in lists if split_list.split]
    in_order = _with_own_names(_with_plain_names(making_splits))
    divisions_by_series: dict[tuple[str, ...], list[list[SplitList]]] = {}
    for split_list in sorted(in_order, key=_plainness_of_name):
        divisions = divisions_by_series.setdefault(split_list.series, [])
        if not split_list.is_named and _shares_images(split_list, divisions):
            continue
        _add_to_division(split_list, divisions)
    return [
        sorted(division, key=in_order.index)
        for divisions in divisions_by_series.values()
        for division in divisions
    ]


def _plainness_of_name(split_list: SplitList) -> tuple[bool, int]:
    """Returns the key by which lists whose names say little else come before the others."""
    return not split_list.is_named, len(split_list.file)


def _add_to_division(split_list: SplitList, divisions: list[list[SplitList]]) -> None:
    """Adds a list to the first division that has no list of its split, or to a new one."""
    for division in divisions:
        if all(other.split != split_list.split for other in division):
            division.append(split_list)
            return
    divisions.append([split_list])


def _shares_images(split_list: SplitList, divisions: Sequence[Sequence[SplitList]]) -> bool:
    ids = {*split_list.ids}
    others = itertools.chain(*divisions)
    return any(not ids.isdisjoint(other.ids) for other in others)


def _with_plain_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of those in VOC's place with the splits that their names say.

    `train_list` makes the split train. But names that say more than a split, such as `train_a` and
    `train_b`, stay the names of splits, unless they all say the same more: `train_a`, `val_a`.
    """
    words_by_file = {
        split_list.file: split_in(split_list.split)
        for split_list in lists
        if split_list.rank == RANK_OF_SEGMENTATION and not split_list.key
    }
    counts = collections.Counter(words_by_file.values())
    rest_is_shared = len({rest for split, rest in counts if split}) == 1
    renamed = []
    for split_list in lists:
        split, rest = words_by_file.get(split_list.file, ("", ""))
        has_split_alone = rest_is_shared and counts[split, rest] == 1
        if split and (not rest or has_split_alone):
            renamed.append(dataclasses.replace(split_list, split=split))
        else:
            renamed.append(split_list)
    return renamed


def _with_own_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists; several of test or validation in one place with the splits of their own names.

    `test1` and `test2` beside `train` are two splits. But `val_fold0` and `val_fold1` beside
    `train_fold0` and `train_fold1` are in two divisions.
    """
    lists_by_place: dict[tuple[str, str], list[SplitList]] = collections.defaultdict(list)
    for split_list in lists:
        lists_by_place[place_of(split_list)].append(split_list)
    renamed = []
    for split_list in lists:
        beside = lists_by_place[place_of(split_list)]
        if _is_one_of_several(split_list, beside):
            split = own_split_name(name_in(split_list))
            series = ("", *split_list.series[1:])
            renamed.append(dataclasses.replace(split_list, split=split, series=series))
        else:
            renamed.append(split_list)
    return renamed


def _is_one_of_several(split_list: SplitList, beside: Sequence[SplitList]) -> bool:
    """Says whether a list is one of several for its split, which differ in their names and images.

    The list whose name says the split and nothing else keeps the split.
    """
    split, rest = split_in(name_in(split_list))
    is_plain = not rest and not needs_train(name_in(split_list))
    if split != split_list.split or split == "train" or is_plain:
        return False
    others = [other for other in beside if other.name != split_list.name]
    rests_of_other_splits = {
        split_in(name_in(other))[1] for other in others if other.split != split
    }
    if rest and rest in rests_of_other_splits:
        return False
    has_another = any(other.split == split for other in others)
    ids = {*split_list.ids}
    return has_another and all(ids.isdisjoint(other.ids) for other in others)


def ids_in_split(
    split_list: SplitList, split: str, image_names: ImageNames, given: epath.Path
) -> list[str]:
    """Returns the ids of a list; of two images that a name may mean, that in the split's folder.

    Raises:
      ListError: if a name may still be that of several images.
    """
    id_by_name: dict[str, str] = {}
    for name in dict.fromkeys(split_list.ids):
        ids = image_names.meanings_of(name)
        if len(ids) < 2:
            continue
        in_folder = [i for i in ids if split_of(i.partition("/")[0]) == split]
        if len(in_folder) != 1:
            raise ListError(
                given / split_list.file,
                found=f"{name!r}, which may be {' or '.join(ids[:_MAX_SHOWN_IDS])}",
                expected="lines that name one image each",
                remedy="write the folder before the name, as in " + ids[0],
            )
        id_by_name[name] = in_folder[0]
    return [id_by_name.get(name, name) for name in split_list.ids]
