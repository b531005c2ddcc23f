"""The split that the names around a list say: keys in its text, the name of the text, its folders.

`_SPLIT_FINDERS` is the table of the ways in which they say it.
"""

from collections.abc import Callable, Sequence
import dataclasses
import posixpath

from voc_seg_tfrecord.core.split_names import as_split_name, only_split_in, parse_split_name
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, Series, SplitList
from voc_seg_tfrecord.formats.list_tables import ListedImages

_FOLDERS_OF_LISTS = ("split", "splits", "imagesets")


@dataclasses.dataclass(frozen=True)
class _NamesAround:
    """The names by which a list is found.

    Attributes:
      folders: the folders of the text, the innermost first.
      stem: the name of the text without its ending.
      ending: the ending.
      keys: the keys in the text, the innermost first.
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
    """The split of a list, and what else the names around it say.

    Attributes: see `SplitList`.
    """

    split: str
    series: Series
    has_unknown_name: bool = False


def as_split_list(path: str, listed: ListedImages, rank: ListRank) -> SplitList:
    """Returns the images of one part of a text with the split that they make, if they make one."""
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    folders = tuple(reversed(folder.split("/")))
    keys = tuple(reversed(listed.key.split("/"))) if listed.key else ()
    names = _NamesAround(folders, stem, ending, keys, rank, listed.says_split)
    plain = SplitList(path, listed.key, listed.ids, listed.image_count, rank)
    if stem.lower().startswith("readme"):
        return plain
    for find_split in _SPLIT_FINDERS:
        named = find_split(names)
        if named is not None:
            return dataclasses.replace(
                plain,
                split=named.split,
                series=named.series,
                has_unknown_name=named.has_unknown_name,
            )
    return plain


def _find_by_text_in_segmentation(names: _NamesAround) -> _NamedSplit | None:
    """In VOC's folder for lists, the name of the text is the split, whatever it is.

    Example: `ImageSets/Segmentation/night.txt` makes the split `night`.
    """
    if names.rank != ListRank.SEGMENTATION or names.keys:
        return None
    return _NamedSplit(names.stem, Series(outer_names=names.folders))


def _find_by_value_of_column(names: _NamesAround) -> _NamedSplit | None:
    """The values of a column of splits are the splits, whatever they are.

    Example: `query` in the column `split` makes the split `query`.
    """
    if not names.keys or not names.is_value_of_splits:
        return None
    value, *outer_keys = names.keys
    if only_split_in(value):
        return None
    outer_names = (*outer_keys, names.stem, *names.folders)
    series = Series(outer_names=outer_names, ending=names.ending)
    return _NamedSplit(as_split_name(value), series)


def _find_by_words(names: _NamesAround) -> _NamedSplit | None:
    """The innermost name that says a split counts: a key, the name of the text, then a folder.

    Examples: `train_fold0.txt`, `fold0/train.txt` and the key `fold0` in `train.json` make the
    split train. VOC's lists of one class for another task, such as `cat_train`, make none.

    The words of the series are those of the innermost name, even if an outer name says the split:
    `fold 0` in all three examples but the second.
    """
    names_in_text = (*names.keys, names.stem)
    innermost_name = names_in_text[0]
    words_of_innermost = parse_split_name(innermost_name).rest
    is_for_one_class = names.rank == ListRank.OTHER_TASK and words_of_innermost != ""
    if is_for_one_class:
        return None
    named = _find_by_word_in_text(names_in_text, names.folders)
    if named is None:
        named = _find_by_word_in_folder(names_in_text, names.folders)
    if named is None:
        return None
    series = dataclasses.replace(
        named.series, words_of_name=words_of_innermost, ending=names.ending
    )
    return dataclasses.replace(named, series=series)


def _find_by_word_in_text(
    names_in_text: Sequence[str], folders: Sequence[str]
) -> _NamedSplit | None:
    """Finds the innermost of the keys and the name of a text that says a split.

    The outer names of the series are

    1. for each name further in, but for the innermost one, and for the name itself: the words
       beside its split;
    2. all names further out, as they are.

    Args:
      names_in_text: the keys and the name of the text, the innermost first.
      folders: the folders of the text, the innermost first.
    """
    for position, name in enumerate(names_in_text):
        split = parse_split_name(name).split
        if split:
            words_up_to_it = _words_beside_splits(names_in_text[1 : position + 1])
            names_around_it = names_in_text[position + 1 :]
            outer_names = (*words_up_to_it, *names_around_it, *folders)
            return _NamedSplit(split, Series(outer_names=outer_names))
    return None


def _find_by_word_in_folder(
    names_in_text: Sequence[str], folders: Sequence[str]
) -> _NamedSplit | None:
    """Finds the innermost folder that says a split, and nothing else.

    The outer names of the series are those of `_find_by_word_in_text`, with an empty name in place
    of the folder, so that lists in the folders of other splits have the same ones.

    Args:
      names_in_text: the keys and the name of the text, the innermost first; none says a split.
      folders: the folders of the text, the innermost first.
    """
    for position, folder in enumerate(folders):
        split = only_split_in(folder)
        if split:
            words_in_text = _words_beside_splits(names_in_text[1:])
            other_folders = (*folders[:position], "", *folders[position + 1 :])
            return _NamedSplit(split, Series(outer_names=(*words_in_text, *other_folders)))
    return None


def _words_beside_splits(names: Sequence[str]) -> list[str]:
    """Returns what each name says beside a split: `fold 0` of `train_fold0`."""
    return [parse_split_name(name).rest for name in names]


def _find_by_folder_of_lists(names: _NamesAround) -> _NamedSplit | None:
    """In a folder that is called as lists of splits are, the name of the text is the split.

    Example: `splits/query.txt` makes the split `query`.
    """
    if names.keys or names.folders[0].lower() not in _FOLDERS_OF_LISTS:
        return None
    if names.rank == ListRank.OTHER_TASK and parse_split_name(names.stem).rest:
        return None
    series = Series(outer_names=names.folders, ending=names.ending)
    return _NamedSplit(names.stem, series, has_unknown_name=True)


_SPLIT_FINDERS: Sequence[Callable[[_NamesAround], _NamedSplit | None]] = (
    _find_by_text_in_segmentation,
    _find_by_value_of_column,
    _find_by_words,
    _find_by_folder_of_lists,
)
"""The first one that finds a split counts."""
