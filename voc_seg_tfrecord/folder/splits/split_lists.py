"""Lists of images that texts give to splits, and which of them belong together."""

import collections
from collections.abc import Iterable, Sequence
import dataclasses
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.layout import LISTS
from voc_seg_tfrecord.core.ratios import split_of
from voc_seg_tfrecord.folder.files.folder_names import role_of
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.split_words import only_split_in, split_in
from voc_seg_tfrecord.formats.listed_images import ListedImages

USUAL_PLACES = (LISTS, "", "splits", "lists", "ImageSets")
"""The folders, below a set's root, in which lists usually lie; the rank of a list is its place."""

ELSEWHERE = len(USUAL_PLACES)
OF_VOC = ELSEWHERE + 1
"""The rank of VOC's lists for another task, such as `ImageSets/Main`."""
OF_RESULTS = ELSEWHERE + 2
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
      rank: how usual its place is for lists: 0 is VOC's own, or that which the user gave.
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


def rank_of(path: str, place: str, lists_of_user: str | None) -> int:
    """Returns how usual the place of a text is for lists.

    Args:
      path: the text, below the given folder.
      place: where the set lies.
      lists_of_user: the folder or file of lists that the user gave, if any.
    """
    folder = posixpath.dirname(path)
    if lists_of_user is not None:
        return 0 if lists_of_user in (path, folder or ".") else ELSEWHERE
    below_set = posixpath.relpath(folder or ".", place or ".")
    if below_set == ".":
        below_set = ""
    if role_of(below_set) == "drawn":
        return OF_RESULTS
    if f"/{folder}".endswith(f"/{LISTS}"):
        return 0
    if posixpath.basename(posixpath.dirname(folder)) == posixpath.dirname(LISTS):
        return OF_VOC
    return USUAL_PLACES.index(below_set) if below_set in USUAL_PLACES else ELSEWHERE


def as_split_list(path: str, listed: ListedImages, rank: int) -> SplitList:
    """Returns the images of one place of a text with the split that its names say.

    The place says it, or the name of the text, or a folder; of these the innermost counts. All else
    that they say makes the series.
    """
    folder, name = posixpath.split(path)
    stem, ending = posixpath.splitext(name)
    plain = SplitList(path, listed.key, listed.ids, listed.found, rank)
    if stem.lower().startswith("readme"):
        return plain
    if rank == 0 and not listed.key:  # every list in VOC's place makes a split
        return dataclasses.replace(plain, split=stem, series=(folder,))
    split = ""
    series = list[str]()
    keys = listed.key.split("/") if listed.key else []
    if keys and listed.says_split and not only_split_in(keys[-1]):
        split = keys[-1]  # a column of splits says any name
        keys[-1] = ""
    for text in [*reversed(keys), stem]:
        if split:
            series.append(text)
        else:
            split, rest = split_in(text)
            series.append(rest)
    for text in reversed(folder.split("/")):
        if not split and only_split_in(text):
            split = only_split_in(text)
            series.append("")
        else:
            series.append(text)
    if rank == OF_VOC and series[0]:
        return plain  # VOC's list of one class, such as cat_train
    may_have_any_name = posixpath.basename(folder).lower() in _FOLDERS_OF_SPLITS
    if not split and may_have_any_name and not keys:
        series = ["", *reversed(folder.split("/"))]
        return dataclasses.replace(plain, split=stem, series=(*series, ending), is_named=False)
    return dataclasses.replace(plain, split=split, series=(*series, ending))


def read_given_list(file: File, path: str, image_names: ImageNames) -> SplitList:
    """Returns a list that the user gave, whatever it holds.

    Raises:
      ListError: if it is no text, is empty, or has a name that leaves the tree.
    """
    ids = parse_ids(file.data, file.where, image_names, plain=False, repeats=True)
    return SplitList(path, "", ids, 0, 0)


def lists_of_each_division(lists: Iterable[SplitList]) -> list[list[SplitList]]:
    """Returns the lists that belong together: those of one series.

    Of two for the same split, such as `train.txt` and `train_list.txt`, each begins a division of
    its own. A list that only its place makes a split is none if it shares images with the others.
    """
    in_order = _with_plain_names([split_list for split_list in lists if split_list.split])
    divisions_by_series: dict[tuple[str, ...], list[list[SplitList]]] = {}
    # Plain names come before those that say more.
    for split_list in sorted(in_order, key=lambda of: (not of.is_named, len(of.file))):
        divisions = divisions_by_series.setdefault(split_list.series, [])
        if not split_list.is_named and _shares_images(split_list, divisions):
            continue
        for division in divisions:
            if all(other.split != split_list.split for other in division):
                division.append(split_list)
                break
        else:
            divisions.append([split_list])
    return [
        sorted(division, key=in_order.index)
        for divisions in divisions_by_series.values()
        for division in divisions
    ]


def _shares_images(split_list: SplitList, divisions: Sequence[Sequence[SplitList]]) -> bool:
    ids = {*split_list.ids}
    return any(not ids.isdisjoint(other.ids) for division in divisions for other in division)


def _with_plain_names(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of those in VOC's place with the splits that their names say.

    They keep their own names if these say more than the split, and not all the same.
    """
    said_by_file = {
        split_list.file: split_in(split_list.split)
        for split_list in lists
        if split_list.rank == 0 and not split_list.key
    }
    counts = collections.Counter(said_by_file.values())
    rests = {rest for split, rest in counts if split}
    renamed = []
    for split_list in lists:
        split, rest = said_by_file.get(split_list.file, ("", ""))
        is_alone = not rest or (len(rests) == 1 and counts[split, rest] == 1)
        if split and is_alone:
            renamed.append(dataclasses.replace(split_list, split=split))
        else:
            renamed.append(split_list)
    return renamed


def ids_in_split(
    split_list: SplitList, split: str, image_names: ImageNames, given: epath.Path
) -> list[str]:
    """Returns the ids of a list; of two images that a name may mean, that in the split's folder.

    Raises:
      ListError: if a name may still be that of several images.
    """
    meant: dict[str, str] = {}
    for name in sorted({*split_list.ids} & image_names.ambiguous.keys()):
        ids = image_names.ambiguous[name]
        in_folder = [i for i in ids if split_of(i.partition("/")[0]) == split]
        if len(in_folder) != 1:
            raise ListError(
                given / split_list.file,
                found=f"{name!r}, which may be {' or '.join(ids[:_MAX_SHOWN_IDS])}",
                expected="lines that name one image each",
                remedy="write the folder before the name, as in " + ids[0],
            )
        meant[name] = in_folder[0]
    return [meant.get(name, name) for name in split_list.ids]
