"""Lists of images that texts give to splits, and which of them belong together.

The names around a list say its split: keys in the text, the name of the text, its folders. What
else they say is the list's series: `fold0` of `train_fold0.txt`. The lists of one series are one
division of the images.
"""

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence
import dataclasses
import enum
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.layout import LISTS
from voc_seg_tfrecord.core.split_names import (
    SplitName,
    needs_train,
    only_split_in,
    own_split_name,
    parse_split_name,
    split_of,
)
from voc_seg_tfrecord.folder.files.folder_names import role_of
from voc_seg_tfrecord.folder.files.folder_names import stem as stem_of
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.formats.listed_images import ListedImages


class ListRank(enum.IntEnum):
    """How usual the folder of a list is, the most usual one first."""

    SEGMENTATION = 0
    """VOC's folder for these lists, and the folder or file that the user gave."""
    ROOT = 1
    SPLITS = 2
    LISTS = 3
    IMAGE_SETS = 4
    ELSEWHERE = 5
    OTHER_TASK = 6
    """VOC's folders for another task, such as `ImageSets/Main`."""
    RESULTS = 7
    """Folders of results."""
    NO_LIST = 8
    """The rank of what is no list."""


RANK_BY_USUAL_FOLDER: Mapping[str, ListRank] = {
    LISTS: ListRank.SEGMENTATION,
    "": ListRank.ROOT,
    "splits": ListRank.SPLITS,
    "lists": ListRank.LISTS,
    "ImageSets": ListRank.IMAGE_SETS,
}
"""The ranks of the folders, below a set's root, in which lists usually lie."""

_FOLDERS_OF_LISTS = ("split", "splits", "imagesets")
_MAX_SHOWN_IDS = 3


@dataclasses.dataclass(frozen=True)
class Series:
    """What the names around a list say beside its split; the same for all lists of a division.

    Attributes:
      words_of_name: what the innermost name says beside the split, such as `fold 0`.
      outer_names: the other keys, the name of the text and its folders, the innermost first.
        Empty in place of the folder that says the split, so `train/a.txt` is beside `val/a.txt`.
      ending: the ending of the text; empty in VOC's folder, where it does not matter.
    """

    words_of_name: str = ""
    outer_names: tuple[str, ...] = ()
    ending: str = ""


@dataclasses.dataclass(frozen=True)
class SplitList:
    """The images that one part of a text names.

    Attributes:
      file: the text, below the given folder.
      key: the part of it; empty for all of it.
      ids: the ids in its order; a name of no image stays as it is.
      image_count: how many of them are images.
      rank: how usual its folder is for lists.
      split: the split that it makes; empty if nothing says so.
      series: what else its names say.
      is_named: whether a name, column or key says the split, and not the folder alone.
      may_be_scores: whether it may be a table of scores, as `eval.csv` with numbers is. It makes a
        split only beside a list of train.
      error: what is wrong with a text that is a list by its name and folder.
    """

    file: str
    key: str
    ids: Sequence[str]
    image_count: int
    rank: ListRank
    split: str = ""
    series: Series = Series()
    is_named: bool = True
    may_be_scores: bool = False
    error: ListError | None = None

    @property
    def name(self) -> str:
        """The text, and the part of it."""
        return f"{self.file}:{self.key}" if self.key else self.file

    @property
    def innermost_name(self) -> str:
        """Its last key, or the name of the text."""
        return self.key.rpartition("/")[2] or stem_of(self.file)

    @property
    def scope(self) -> str:
        """Where other lists are beside it: the folder of its text, or the outer keys in it."""
        if self.key:
            return f"{self.file}:{posixpath.dirname(self.key)}"
        return posixpath.dirname(self.file)

    def shares_images_with(self, others: Iterable["SplitList"]) -> bool:
        """Says whether another list has one of its ids."""
        ids = {*self.ids}
        return any(not ids.isdisjoint(other.ids) for other in others)


def rank_of(path: str, root_of_set: str, lists_of_user: str | None) -> ListRank:
    """Returns how usual the folder of a text is for lists.

    Args:
      path: the text, below the given folder.
      root_of_set: the folder of the set, below the given one.
      lists_of_user: the folder or file of lists that the user gave, if any.
    """
    folder = posixpath.dirname(path)
    if lists_of_user is not None:
        is_given = lists_of_user in (path, folder or ".")
        return ListRank.SEGMENTATION if is_given else ListRank.ELSEWHERE
    below_set = posixpath.relpath(folder or ".", root_of_set or ".")
    if below_set == ".":
        below_set = ""
    if role_of(below_set) == "drawn":
        return ListRank.RESULTS
    if f"/{folder}".endswith(f"/{LISTS}"):
        return ListRank.SEGMENTATION
    folder_above = posixpath.basename(posixpath.dirname(folder))
    is_beside_segmentation = folder_above == posixpath.dirname(LISTS)
    if is_beside_segmentation:
        return ListRank.OTHER_TASK
    return RANK_BY_USUAL_FOLDER.get(below_set, ListRank.ELSEWHERE)


# The split of a list.


@dataclasses.dataclass(frozen=True)
class _NamesAround:
    """The names by which a list is found.

    Attributes:
      folders: the folders of the text, the outermost first.
      stem: the name of the text without its ending.
      ending: the ending.
      keys: the keys in the text, the outermost first.
      rank: how usual the folder is for lists.
      is_value_of_splits: whether a column or key says that the last key is a split.
    """

    folders: tuple[str, ...]
    stem: str
    ending: str
    keys: tuple[str, ...]
    rank: ListRank
    is_value_of_splits: bool


@dataclasses.dataclass(frozen=True)
class _NamedSplit:
    """The split of a list, and what else the names around it say."""

    split: str
    series: Series
    is_named: bool = True


def as_split_list(path: str, listed: ListedImages, rank: ListRank) -> SplitList:
    """Returns the images of one part of a text with the split that they make, if they make one."""
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    keys = tuple(listed.key.split("/")) if listed.key else ()
    names = _NamesAround(tuple(folder.split("/")), stem, ending, keys, rank, listed.says_split)
    plain = SplitList(path, listed.key, listed.ids, listed.image_count, rank)
    if stem.lower().startswith("readme"):
        return plain
    for find_split in _SPLIT_FINDERS:
        found = find_split(names)
        if found is not None:
            return dataclasses.replace(
                plain, split=found.split, series=found.series, is_named=found.is_named
            )
    return plain


def _find_by_text_in_segmentation(names: _NamesAround) -> _NamedSplit | None:
    """In VOC's folder for lists, the name of the text is the split, whatever it is.

    Example: `ImageSets/Segmentation/night.txt` makes the split `night`.
    """
    if names.rank != ListRank.SEGMENTATION or names.keys:
        return None
    return _NamedSplit(names.stem, Series(outer_names=("/".join(names.folders),)))


def _find_by_value_of_column(names: _NamesAround) -> _NamedSplit | None:
    """The values of a column of splits are the splits, whatever they are.

    Example: `query` in the column `split` makes the split `query`.
    """
    if not names.keys or not names.is_value_of_splits or only_split_in(names.keys[-1]):
        return None
    outer_names = (*reversed(names.keys[:-1]), names.stem, *reversed(names.folders))
    series = Series("", outer_names, names.ending)
    return _NamedSplit(own_split_name(names.keys[-1]), series)


def _find_by_words(names: _NamesAround) -> _NamedSplit | None:
    """The innermost name that says a split counts; a folder has to say nothing else.

    Examples: `train_fold0.txt` and `fold0/train.txt` make the split train. Of VOC's lists for
    another task, those of one class, such as `cat_train`, make none.
    """
    split = ""
    words = list[str]()
    for name in (*reversed(names.keys), names.stem):
        if split:
            words.append(name)
            continue
        parsed = parse_split_name(name)
        split = parsed.split
        words.append(parsed.rest)
    for folder in reversed(names.folders):
        split_of_folder = only_split_in(folder)
        if split_of_folder and not split:
            split = split_of_folder
            words.append("")
        else:
            words.append(folder)
    is_for_one_class = names.rank == ListRank.OTHER_TASK and words[0] != ""
    if not split or is_for_one_class:
        return None
    return _NamedSplit(split, Series(words[0], tuple(words[1:]), names.ending))


def _find_by_folder_of_lists(names: _NamesAround) -> _NamedSplit | None:
    """In a folder that is called as lists of splits are, the name of the text is the split.

    Example: `splits/query.txt` makes the split `query`.
    """
    if names.keys or names.folders[-1].lower() not in _FOLDERS_OF_LISTS:
        return None
    if names.rank == ListRank.OTHER_TASK and parse_split_name(names.stem).rest:
        return None
    series = Series("", tuple(reversed(names.folders)), names.ending)
    return _NamedSplit(names.stem, series, is_named=False)


_SPLIT_FINDERS: Sequence[Callable[[_NamesAround], _NamedSplit | None]] = (
    _find_by_text_in_segmentation,
    _find_by_value_of_column,
    _find_by_words,
    _find_by_folder_of_lists,
)
"""The first one that finds a split counts."""


# Which lists belong together.


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists that belong together: those of one series.

    Of two for the same split, such as `train.txt` and `train_list.txt`, each begins a division of
    its own. A list that only its folder makes a split is none if it shares images with the others.
    """
    making_splits = [split_list for split_list in lists if split_list.split]
    renamed = _use_own_names(_use_plain_names(making_splits))
    divisions_by_series: dict[Series, list[list[SplitList]]] = {}
    for split_list in sorted(renamed, key=_plainness_of_name):
        divisions = divisions_by_series.setdefault(split_list.series, [])
        others = itertools.chain(*divisions)
        if split_list.is_named or not split_list.shares_images_with(others):
            _add_to_division(split_list, divisions)
    position_by_name: dict[str, int] = {}
    for position, split_list in enumerate(renamed):
        position_by_name.setdefault(split_list.name, position)
    return [
        sorted(division, key=lambda one: position_by_name[one.name])
        for division in itertools.chain(*divisions_by_series.values())
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


def _use_plain_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which those in VOC's folder make the splits that their names say.

    Names that say more than a split stay, unless all of them say the same more.

        names of texts           splits
        train_list, val          train, validation
        train_a, val_a           train, validation
        train_a, train_b, val    train_a, train_b, validation
        train_a, val_b           train_a, val_b
    """
    name_by_file: dict[str, SplitName] = {}
    for split_list in lists:
        if split_list.rank == ListRank.SEGMENTATION and not split_list.key:
            name_by_file[split_list.file] = parse_split_name(split_list.split)
    counts = collections.Counter(name_by_file.values())
    rests = {name.rest for name in counts if name.split}
    renamed = []
    for split_list in lists:
        name = name_by_file.get(split_list.file)
        if name is not None and name.split:
            all_say_the_same_more = len(rests) == 1 and counts[name] == 1
            if not name.rest or all_say_the_same_more:
                split_list = dataclasses.replace(split_list, split=name.split)
        renamed.append(split_list)
    return renamed


def _use_own_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which several of test or of validation make splits of their own names.

    names of lists beside one another        splits
    train, test1, test2                      train, test1, test2
    val, eval                                validation, eval
    train_fold0, val_fold0,                  train and validation of two divisions
      train_fold1, val_fold1
    train, test, test_easy with a part       test_easy keeps the split test, and begins a
      of the images of test                  division of its own
    """
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    for split_list in lists:
        lists_by_scope[split_list.scope].append(split_list)
    renamed = []
    for split_list in lists:
        others = [
            other for other in lists_by_scope[split_list.scope] if other.name != split_list.name
        ]
        if _needs_own_name(split_list, others):
            split = own_split_name(split_list.innermost_name)
            series = dataclasses.replace(split_list.series, words_of_name="")
            split_list = dataclasses.replace(split_list, split=split, series=series)
        renamed.append(split_list)
    return renamed


def _needs_own_name(split_list: SplitList, others: Sequence[SplitList]) -> bool:
    """Says whether a list is a further one of validation or test, beside others in its scope."""
    name = parse_split_name(split_list.innermost_name)
    if name.split != split_list.split or name.split == "train":
        return False
    is_plain = not name.rest and not needs_train(split_list.innermost_name)
    if is_plain:
        return False
    for other in others:
        is_of_same_fold = name.rest and name.rest == parse_split_name(other.innermost_name).rest
        if other.split != name.split and is_of_same_fold:
            return False
    has_another_of_its_split = any(other.split == name.split for other in others)
    return has_another_of_its_split and not split_list.shares_images_with(others)


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
        ids_in_folder = [one for one in ids if split_of(one.partition("/")[0]) == split]
        if len(ids_in_folder) != 1:
            raise ListError(
                given / split_list.file,
                found=f"{name!r}, which may be {' or '.join(ids[:_MAX_SHOWN_IDS])}",
                expected="lines that name one image each",
                remedy="write the folder before the name, as in " + ids[0],
            )
        id_by_name[name] = ids_in_folder[0]
    return [id_by_name.get(name, name) for name in split_list.ids]
