"""Finds the texts of a folder that name its images, and which of them say a split.

A text is a list of a split if its name, its folder, a column or a key says which. In the place that
VOC's layout has for lists, and in a place that the user gave, every list makes a split.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import posixpath
import re
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.split_names import (
    TO_TRAIN_ON,
    USUAL_NAMES_OF_LISTS,
    needs_train,
    only_split_in,
    split_in,
)
from voc_seg_tfrecord.folder.files.folder_names import stem
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.list_text import ListText, UnclearText, Use
from voc_seg_tfrecord.folder.splits.split_lists import (
    RANK_ELSEWHERE,
    RANK_OF_SEGMENTATION,
    SplitList,
    name_in,
    place_of,
    rank_of,
)
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.list_files import (
    LIST_ENDINGS,
    MAX_TEXT_BYTES,
    OTHER_ENDINGS,
    READ_ENDINGS,
    ListReader,
)
from voc_seg_tfrecord.formats.listed_images import Vocabulary
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

_MAX_TEXTS_OF_ANY_NAME = 500  # in a folder, beside those that are called as splits
_LONG_TEXT_BYTES = 1 << 20
_SAMPLE_BYTES = 1 << 14
_SAMPLES_OF_LONG_TEXT = 8


@dataclasses.dataclass(frozen=True)
class FoundTexts:
    """The texts of a folder that name its images.

    Attributes:
      lists: what names images, the most usual places first.
      notes: on texts that make no split.
      unclear: the texts that are not understood.
    """

    lists: Sequence[SplitList]
    notes: Sequence[str]
    unclear: Sequence[UnclearText]


def find_lists(tree: VocTree, image_names: ImageNames, *, user_gave_lists: bool) -> FoundTexts:
    """Reads all texts of a folder that may name its images, each once.

    Args:
      tree: the set. Files that are read as its labels are no lists beside that.
      image_names: the ids of its images by their names.
      user_gave_lists: whether the user gave the folder or file of lists that its layout has.
    """
    lists_of_user = None
    if user_gave_lists:
        lists_of_user = posixpath.normpath(posixpath.join(tree.place, tree.layout.lists))
    reader = ListReader(Vocabulary(image_names))
    lists = list[SplitList]()
    notes = list[str]()
    unclear = list[UnclearText]()
    for path in _paths_of_texts(tree, image_names):
        rank = rank_of(path, tree.place, lists_of_user)
        is_list = _is_list_by_name(path, rank)
        if not is_list and not _is_worth_reading(tree.given / path, reader):
            continue
        file = tree.read_text(tree.given / path, ListError)
        text = ListText(path, file, rank, reader, image_names).read(tree.given)
        if is_list:
            lists += text.with_form_checked().as_lists()
            continue
        verdict = text.judge()
        if verdict.use is Use.SPLITS:
            lists += text.as_lists()
            continue
        lists += text.as_lists_without_splits()
        if verdict.use is not Use.NO_SPLITS:
            unclear.append(text.as_unclear(verdict))
        elif verdict.reason:
            notes.append(f"{path} {verdict.reason}, so it makes no split.")
    lists, notes_on_classes = _without_classes(_without_lone_words(lists))
    lists.sort(key=lambda one: (one.rank, one.file.count("/"), one.file))
    return FoundTexts(lists, [*notes, *notes_on_classes], unclear)


def _paths_of_texts(tree: VocTree, image_names: ImageNames) -> Iterator[str]:
    """Yields the texts that may be lists, and no labels: of many images, or of one."""
    for folder, names in cast(Listing, tree.listing).folders.items():
        texts_of_any_name = 0
        for name in names:
            path = posixpath.join(folder, name)
            if path in tree.labels.sheets or not _may_be_list(name):
                continue
            if only_split_in(stem(name)):
                yield path
            elif stem(name) not in image_names.stems and texts_of_any_name < _MAX_TEXTS_OF_ANY_NAME:
                texts_of_any_name += 1
                yield path


def _may_be_list(name: str) -> bool:
    """Says whether a file may be a list by its name: a text, and no class file of a tool."""
    if name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES:
        return False
    if "." in name:
        return name.lower().endswith((*READ_ENDINGS, *OTHER_ENDINGS))
    return bool(only_split_in(name))


def _is_list_by_name(path: str, rank: int) -> bool:
    """Says whether a text is a list whatever it holds, by its name and its place."""
    name = posixpath.basename(path).lower()
    stem_of_name, ending = posixpath.splitext(name)
    if ending not in LIST_ENDINGS or stem_of_name.startswith("readme"):
        return False
    if rank == RANK_OF_SEGMENTATION:
        return name not in COMMON_CLASS_FILE_NAMES
    return rank < RANK_ELSEWHERE and stem_of_name in USUAL_NAMES_OF_LISTS


def _is_worth_reading(path: epath.Path, reader: ListReader) -> bool:
    """Says whether a text is worth reading as a whole: of a long one parts are looked at."""
    length = path.stat().length
    if length > MAX_TEXT_BYTES or not length:
        return False
    if length <= _LONG_TEXT_BYTES or split_in(stem(path.name))[0]:
        return True
    with path.open("rb") as file:
        for number in range(_SAMPLES_OF_LONG_TEXT):
            file.seek((length - _SAMPLE_BYTES) * number // (_SAMPLES_OF_LONG_TEXT - 1))
            sample = file.read(_SAMPLE_BYTES).decode("utf-8", "replace")
            if number == 0 and reader.names_splits(sample.partition("\n")[0]):
                return True
            whole_words = re.split(r"([\s,;|\"])", sample)[1:-1]
            if reader.names_image("".join(whole_words)):
                return True
    return False


def _without_lone_words(lists: Sequence[SplitList]) -> list[SplitList]:
    """Returns lists, of which one that is called `eval` makes no split unless train is beside it.

    Otherwise it may be a table of scores.
    """
    places_of_train = {place_of(one) for one in lists if one.split in TO_TRAIN_ON}
    checked = []
    for split_list in lists:
        is_alone = place_of(split_list) not in places_of_train
        if is_alone and split_list.split and needs_train(name_in(split_list)):
            split_list = dataclasses.replace(split_list, split="")
        checked.append(split_list)
    return checked


def _without_classes(lists: Sequence[SplitList]) -> tuple[list[SplitList], list[str]]:
    """Returns lists, of which one called `train` beside overlapping ones is none; and notes.

    These may be lists of classes, of which one is called train.
    """
    checked = [*lists]
    notes = []
    for number, split_list in enumerate(lists):
        other = _overlapping_list(split_list, checked)
        if other is not None:
            checked[number] = dataclasses.replace(split_list, split="")
            notes.append(
                f"{split_list.name} shares images with {other.name}, so it makes no split."
            )
    return checked, notes


def _overlapping_list(split_list: SplitList, lists: Sequence[SplitList]) -> SplitList | None:
    """Returns a list that overlaps with one called as a split, if no other is called so."""
    if not split_list.split or (split_list.rank < RANK_ELSEWHERE and not split_list.key):
        return None
    if not only_split_in(name_in(split_list)):
        return None
    beside = [
        other
        for other in lists
        if place_of(other) == place_of(split_list) and other.name != split_list.name
    ]
    if any(other.split for other in beside):
        return None
    ids = {*split_list.ids}
    for other in beside:
        ids_of_other = {*other.ids}
        if ids & ids_of_other and ids - ids_of_other and ids_of_other - ids:
            return other
    return None
