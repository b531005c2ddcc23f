"""The lists of images that texts give to splits, and which of them divide the images together.

The names around a list say its split: keys in the text, the name of the text, its folders. What
else they say is the list's series: `fold0` of `train_fold0.txt`. The lists of one series are one
division of the images.
"""

import collections
from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import enum
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.layout import LISTS
from voc_seg_tfrecord.core.words import (
    as_split_name,
    canonical_split,
    only_split_in,
    parse_split_name,
    says_split_ambiguously,
)
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.files.folder_names import role_of_path
from voc_seg_tfrecord.folder.files.paths import stem as stem_of
from voc_seg_tfrecord.folder.splits.list_tables import ListedImages


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
"""Names, in lower case, of folders in which the name of each text is a split."""

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
      has_unknown_name: whether its name is no word for a split, and makes one because its folder is
        called as one of lists: `splits/query.txt`.
      says_split: whether a column or a key says that the key is a split, whatever it is called.
      unclear: what may divide its images and is not understood, in words; empty if nothing does.
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
    has_unknown_name: bool = False
    says_split: bool = False
    unclear: str = ""
    may_be_scores: bool = False
    error: ListError | None = None

    @property
    def name(self) -> str:
        """The text, and the part of it."""
        return self.with_key(self.file)

    def with_key(self, name_of_text: str) -> str:
        """Returns a name of the text, and the part of it: `all.csv:val`."""
        return f"{name_of_text}:{self.key}" if self.key else name_of_text

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
    if role_of_path(below_set) == "drawn":  # results, drawings or copies, such as runs/3
        return ListRank.RESULTS
    if f"/{folder}".endswith(f"/{LISTS}"):  # ImageSets/Segmentation
        return ListRank.SEGMENTATION
    folder_above = posixpath.basename(posixpath.dirname(folder))
    if folder_above == posixpath.dirname(LISTS):  # ImageSets/Main
        return ListRank.OTHER_TASK
    return RANK_BY_USUAL_FOLDER.get(below_set, ListRank.ELSEWHERE)


def as_split_list(path: str, listed: ListedImages, rank: ListRank) -> SplitList:
    """Returns the images of one part of a text with the split that they make, if they make one.

    The first of these that fits says the split:

    | what says it | example | split |
    | --- | --- | --- |
    | in VOC's folder for lists, the name of the text | `ImageSets/Segmentation/night.txt` | night |
    | a value in a column of splits, whatever it is | `query` in the column `split` | query |
    | a word in the innermost name that has one | `train_fold0.txt`, `fold0/train.txt` | train |
    | in a folder called as lists are, the name of the text | `splits/query.txt` | query |

    VOC's lists of one class for another task, such as `ImageSets/Main/cat_train.txt`, make none.
    """
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    folders = tuple(reversed(folder.split("/")))
    keys = tuple(reversed(listed.key.split("/"))) if listed.key else ()
    plain = SplitList(
        path,
        listed.key,
        listed.ids,
        listed.image_count,
        rank,
        says_split=listed.says_split,
        unclear=listed.unclear,
    )
    if stem.lower().startswith("readme"):
        return plain
    if rank == ListRank.SEGMENTATION and not keys:
        return dataclasses.replace(plain, split=stem, series=Series(outer_names=folders))
    if keys and listed.says_split and not only_split_in(keys[0]):
        series = Series(outer_names=(*keys[1:], stem, *folders), ending=ending)
        return dataclasses.replace(plain, split=as_split_name(keys[0]), series=series)
    names_in_text = (*keys, stem)
    words_of_innermost = parse_split_name(names_in_text[0]).rest
    if rank == ListRank.OTHER_TASK and words_of_innermost:
        return plain
    split, outer_names = _find_word_for_split(names_in_text, folders)
    if split:
        series = Series(words_of_innermost, outer_names, ending)
        return dataclasses.replace(plain, split=split, series=series)
    if not keys and folders[0].lower() in _FOLDERS_OF_LISTS:
        series = Series(outer_names=folders, ending=ending)
        return dataclasses.replace(plain, split=stem, series=series, has_unknown_name=True)
    return plain


def _find_word_for_split(
    names_in_text: Sequence[str], folders: Sequence[str]
) -> tuple[str, tuple[str, ...]]:
    """Finds the innermost name that says a split: a key, the name of the text, then a folder.

    A folder has to say the split and nothing else.

    Args:
      names_in_text: the keys and the name of the text, the innermost first.
      folders: the folders of the text, the innermost first.

    Returns:
      The split, empty if no name says one; and the outer names of the series: what the names in the
      text up to this one say beside splits, but for the innermost name, and all names further out.
    """
    words_beside_splits = [parse_split_name(name).rest for name in names_in_text]
    for position, name in enumerate(names_in_text):
        split = parse_split_name(name).split
        if split:
            words_up_to_it = words_beside_splits[1 : position + 1]
            return split, (*words_up_to_it, *names_in_text[position + 1 :], *folders)
    for position, folder in enumerate(folders):
        split = only_split_in(folder)
        if split:
            other_folders = (*folders[:position], "", *folders[position + 1 :])
            return split, (*words_beside_splits[1:], *other_folders)
    return "", ()


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
        ids_in_folder = [one for one in ids if canonical_split(one.partition("/")[0]) == split]
        if len(ids_in_folder) != 1:
            raise ListError(
                given / split_list.file,
                found=f"{name!r}, which may be {' or '.join(ids[:_MAX_SHOWN_IDS])}",
                expected="lines that name one image each",
                remedy="write the folder before the name, as in " + ids[0],
            )
        id_by_name[name] = ids_in_folder[0]
    return [id_by_name.get(name, name) for name in split_list.ids]


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of each division, such as a fold. Lists that make no split are in none.

    Three steps find them. For `train.txt`, `test1.txt` and `test2.txt` in one folder:

    1. `_take_splits_of_names_in_voc_folder`: nothing, because they do not lie in VOC's folder.
    2. `_is_further_test`: both lists of test make splits of their own names, `test1` and `test2`.
    3. `_divide_series`: all three are of one series, because now their names say a split and
       nothing else, and each makes another split. So they are one division: train, test1 and test2.

    Several lists of test or of validation that lie beside one another make splits of their own
    names:

        lists beside one another                      splits
        train, test1, test2                           train, test1, test2
        val, eval                                     validation, eval
        train_fold0, val_fold0                        train, validation: two of one fold
        test, test_easy with part of test's images    test, and test in another division
    """
    making_splits = [split_list for split_list in lists if split_list.split]
    lists = _take_splits_of_names_in_voc_folder(making_splits)
    lists_by_scope: dict[str, list[SplitList]] = collections.defaultdict(list)
    for split_list in lists:
        lists_by_scope[split_list.scope].append(split_list)
    lists_by_series: dict[Series, list[SplitList]] = collections.defaultdict(list)
    # Those with known names come first, then those of short paths.
    for split_list in sorted(lists, key=lambda one: (one.has_unknown_name, len(one.file))):
        others = [one for one in lists_by_scope[split_list.scope] if one.name != split_list.name]
        if _is_further_test(split_list, others):
            split = as_split_name(split_list.innermost_name)
            series = dataclasses.replace(split_list.series, words_of_name="")
            split_list = dataclasses.replace(split_list, split=split, series=series)
        lists_by_series[split_list.series].append(split_list)
    divisions = []
    for lists_of_series in lists_by_series.values():
        divisions += _divide_series(lists_of_series)
    position_by_name = {split_list.name: n for n, split_list in enumerate(making_splits)}
    return [sorted(division, key=lambda one: position_by_name[one.name]) for division in divisions]


def _take_splits_of_names_in_voc_folder(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which those in VOC's folder make the splits that their names say.

    There, a text makes a split of its whole name at first: `train_list` of `train_list.txt`.

    The names of all texts there count:

        names of texts           splits
        train_list, val          train, validation
        train_a, val_a           train, validation: all names say the same more
        train_a, train_b, val    train_a, train_b, validation
        train_a, val_b           train_a, val_b
    """
    name_by_list = {}
    for split_list in lists:
        name = parse_split_name(split_list.split)
        is_text_in_voc_folder = split_list.rank == ListRank.SEGMENTATION and not split_list.key
        if is_text_in_voc_folder and name.split:
            name_by_list[split_list.name] = name
    names = [*name_by_list.values()]
    say_the_same_more = len({name.rest for name in names}) == 1
    splits = [name.split for name in names]
    with_splits_of_names = []
    for split_list in lists:
        name = name_by_list.get(split_list.name, parse_split_name(""))
        is_only_one = say_the_same_more and splits.count(name.split) == 1
        if name.split and (not name.rest or is_only_one):
            split_list = dataclasses.replace(split_list, split=name.split)
        with_splits_of_names.append(split_list)
    return with_splits_of_names


def _is_further_test(split_list: SplitList, others: Sequence[SplitList]) -> bool:
    """Says whether a list is a further one of validation or test, beside others in its scope.

    Examples: test2 beside test1, eval beside val. Each `return False` names a list that is none.
    """
    name = parse_split_name(split_list.innermost_name)
    if split_list.split != name.split or name.split == "train":
        return False  # train
    if not name.rest and not says_split_ambiguously(split_list.innermost_name):
        return False  # val beside eval
    for other in others:
        has_same_words = parse_split_name(other.innermost_name).rest == name.rest
        if name.rest and has_same_words and other.split != name.split:
            return False  # val_fold0 beside train_fold0
    if split_list.shares_images_with(others):
        return False  # test_easy with part of the images of test
    return any(other.split == name.split for other in others)


def _divide_series(lists: Sequence[SplitList]) -> list[list[SplitList]]:
    """Returns the lists of a series as one division, or as several.

    A list with an unknown name is dropped if it shares images with the others. If two lists make
    the same split, such as `train.txt` and `train_list.txt`, the second one begins another
    division.

    Args:
      lists: the lists, those with known names first.
    """
    divisions: list[list[SplitList]] = []
    taken_lists = list[SplitList]()
    for split_list in lists:
        if split_list.has_unknown_name and split_list.shares_images_with(taken_lists):
            continue
        taken_lists.append(split_list)
        for division in divisions:
            if all(other.split != split_list.split for other in division):
                division.append(split_list)
                break
        else:
            divisions.append([split_list])
    return divisions
