"""Finds the texts of a folder that name its images, and which of them say a split.

A text is a list of a split if its name, its folder, a column or a key says which. In the folder
that VOC's layout has for lists, and in a folder that the user gave, every list makes a split.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import posixpath
import re
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.id_lists import encoding_of_parts
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, LISTS
from voc_seg_tfrecord.core.split_names import (
    TO_TRAIN_ON,
    USUAL_NAMES_OF_LISTS,
    only_split_in,
    parse_split_name,
)
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.list_text import ListText
from voc_seg_tfrecord.folder.splits.list_verdicts import (
    UnclearText,
    Use,
    as_unclear,
    as_unclear_of_other_names,
    judge_text,
)
from voc_seg_tfrecord.folder.splits.listed_groups import IdsByGroup, NamesOfImagesAndGroups
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList, rank_of
from voc_seg_tfrecord.folder.splits.wrong_names import (
    note_on_paths_of_other_files,
    with_error_on_names,
)
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.list_files import ListReader
from voc_seg_tfrecord.formats.texts import (
    LIST_ENDINGS,
    MAX_TEXT_BYTES,
    OTHER_ENDINGS,
    READ_ENDINGS,
)
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

_MAX_TEXTS_OF_ANY_NAME = 500
"""Texts of a folder that are read, beside those that are called as a split and nothing else."""

_LONG_TEXT_BYTES = 1 << 20
_SAMPLE_BYTES = 1 << 14
_SAMPLES_OF_LONG_TEXT = 8


@dataclasses.dataclass(frozen=True)
class FoundTexts:
    """The texts of a folder that name its images.

    Attributes:
      lists: what names images, the most usual folders first.
      notes: on texts that make no split.
      unclear: the texts that are not understood.
      of_other_names: the texts with splits of images that are not in the folder.
      name_group: whether one of them names a group in place of images.
    """

    lists: list[SplitList]
    notes: list[str]
    unclear: list[UnclearText]
    of_other_names: list[UnclearText]
    name_group: bool = False


def find_lists(
    tree: VocTree, image_names: ImageNames, ids_by_group: IdsByGroup, *, user_gave_lists: bool
) -> FoundTexts:
    """Reads all texts of a folder that may name its images, each once.

    Args:
      tree: the set. Files that are read as its labels are no lists beside that.
      image_names: the ids of its images by their names.
      ids_by_group: the images of each group that a text may name in place of images.
      user_gave_lists: whether the user gave the folder or file of lists that its layout has.
    """
    lists_of_user = None
    if user_gave_lists:
        lists_of_user = posixpath.normpath(posixpath.join(tree.root_below_given, tree.layout.lists))
    reader = ListReader(NamesOfImagesAndGroups(image_names, ids_by_group))
    texts = FoundTexts([], [], [], [])
    name_group = False
    for path in _paths_of_texts(tree, image_names, texts.notes):
        rank = rank_of(path, tree.root_below_given, lists_of_user)
        is_list_by_name = _is_list_by_name(path, rank)
        may_name_groups = bool(ids_by_group) and parse_split_name(stem(path)).split != ""
        has_name_of_list = is_list_by_name or may_name_groups
        if not has_name_of_list and not _is_worth_reading(tree.given / path, reader):
            continue
        file = tree.texts.read(tree.given / path, ListError)
        unread_text = ListText(path, file, rank, reader, image_names, ids_by_group)
        text = unread_text.with_listed_images(tree.given)
        name_group = name_group or text.names_group
        if is_list_by_name:
            texts.lists.extend(with_error_on_names(text).as_lists())
        else:
            _add_by_verdict(text, texts)
        texts.notes.extend(note_on_paths_of_other_files(text, tree))
    lists = _drop_splits_of_scores(texts.lists)
    lists = _drop_splits_of_classes(lists, texts.notes)
    lists.sort(key=lambda one: (one.rank, one.file.count("/"), one.file))
    return dataclasses.replace(texts, lists=lists, name_group=name_group)


def _add_by_verdict(text: ListText, texts: FoundTexts) -> None:
    """Adds a text to the lists that make splits, to other lists, notes or unclear texts."""
    verdict = judge_text(text)
    if verdict.use is Use.SPLITS:
        texts.lists.extend(text.as_lists())
        return
    texts.lists.extend(text.as_lists_without_splits())
    if verdict.use in (Use.UNCLEAR, Use.WRONG_NAMES):
        texts.unclear.append(as_unclear(text, verdict))
        return
    if verdict.use is Use.OTHER_NAMES:
        texts.of_other_names.append(as_unclear_of_other_names(text))
    if verdict.reason:
        texts.notes.append(f"{text.path} {verdict.reason}, so it makes no split.")


def _paths_of_texts(tree: VocTree, image_names: ImageNames, notes: list[str]) -> Iterator[str]:
    """Yields the texts that may be lists. Files of labels are none.

    Of each folder it yields up to 500 texts, and all that are called as a split and nothing else.
    It adds a note if there are more.
    """
    for folder, names in cast(Listing, tree.listing).files_by_folder.items():
        texts_of_any_name = []
        for name in names:
            path = posixpath.join(folder, name)
            if path in tree.labels.label_files or not _may_be_list(name):
                continue
            if only_split_in(stem(name)):
                yield path
            elif not _is_label_of_image(name, folder, names, image_names):
                texts_of_any_name.append(path)
        # Those that say a split come first, such as `train_fold0.txt`; others keep their order.
        texts_of_any_name.sort(key=lambda path: not parse_split_name(stem(path)).split)
        yield from texts_of_any_name[:_MAX_TEXTS_OF_ANY_NAME]
        unread_count = len(texts_of_any_name) - _MAX_TEXTS_OF_ANY_NAME
        if unread_count > 0:
            notes.append(
                f"{folder or tree.given} has {len(texts_of_any_name)} texts that may be lists. "
                f"{unread_count} of them are not read."
            )


def _is_label_of_image(
    name: str, folder: str, names_in_folder: Sequence[str], image_names: ImageNames
) -> bool:
    """Says whether a text has the name of an image, as a file of labels has: `a.txt` of `a.jpg`.

    In VOC's folder for lists such a text is a list: `ImageSets/Segmentation/night.txt` beside an
    image `night.jpg` elsewhere.
    """
    if stem(name) not in image_names.stems:
        return False
    is_in_voc_folder = f"/{folder}".endswith(f"/{LISTS}")
    if not is_in_voc_folder:
        return True
    has_pictures = any(ending_of(other) in IMAGE_OR_MASK_ENDINGS for other in names_in_folder)
    return has_pictures


def _may_be_list(name: str) -> bool:
    """Says whether a file may be a list by its name: a text, and no class file of a tool."""
    if name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES:
        return False
    if "." in name:
        return name.lower().endswith((*READ_ENDINGS, *OTHER_ENDINGS))
    return bool(only_split_in(name))


def _is_list_by_name(path: str, rank: ListRank) -> bool:
    """Says whether a text is a list whatever it holds, by its name and its folder."""
    name = posixpath.basename(path).lower()
    stem_of_name, ending = posixpath.splitext(name)
    if ending not in LIST_ENDINGS or stem_of_name.startswith("readme"):
        return False
    if rank == ListRank.SEGMENTATION:
        return name not in COMMON_CLASS_FILE_NAMES
    return rank < ListRank.ELSEWHERE and stem_of_name in USUAL_NAMES_OF_LISTS


def _is_worth_reading(path: epath.Path, reader: ListReader) -> bool:
    """Says whether a text is worth reading as a whole, by samples from a long one."""
    try:
        length = path.stat().length
    except OSError:
        return True  # reading it raises an error that says why
    if length > MAX_TEXT_BYTES or not length:
        return False
    if length <= _LONG_TEXT_BYTES or parse_split_name(stem(path.name)).split:
        return True
    with path.open("rb") as file:
        encoding = encoding_of_parts(file.read(_SAMPLE_BYTES))
        for number in range(_SAMPLES_OF_LONG_TEXT):
            start = (length - _SAMPLE_BYTES) * number // (_SAMPLES_OF_LONG_TEXT - 1)
            file.seek(start // 2 * 2)  # a character of UTF-16 has two bytes
            sample = file.read(_SAMPLE_BYTES).decode(encoding, "replace").lstrip("\ufeff")
            if number == 0 and reader.names_splits(sample.partition("\n")[0]):
                return True
            # The first and the last word of a sample may be cut off.
            words_and_separators = re.split(r"([\s,;|\"])", sample)[1:-1]
            if reader.names_image("".join(words_and_separators)):
                return True
    return False


def _drop_splits_of_scores(lists: Sequence[SplitList]) -> list[SplitList]:
    """Takes the split from a table of scores without a list of train beside it.

    Example: `eval.csv` with the columns image and iou.
    """
    scopes_of_train = set()
    for split_list in lists:
        if parse_split_name(split_list.split).split in TO_TRAIN_ON:
            scopes_of_train.add(split_list.scope)
    checked_lists = []
    for split_list in lists:
        if split_list.may_be_scores and split_list.scope not in scopes_of_train:
            split_list = dataclasses.replace(split_list, split="")
        checked_lists.append(split_list)
    return checked_lists


def _drop_splits_of_classes(lists: Sequence[SplitList], notes: list[str]) -> list[SplitList]:
    """Takes the split from a list that overlaps with lists beside it, and adds a note.

    They may list classes: some images of `train.txt`, `bus.txt` and `car.txt` have a train and a
    bus.
    """
    checked_lists = list[SplitList]()
    for split_list in lists:
        other = _find_overlapping_list(split_list, lists)
        if other is None:
            checked_lists.append(split_list)
            continue
        checked_lists.append(dataclasses.replace(split_list, split=""))
        notes.append(f"{split_list.name} shares images with {other.name}, so it makes no split.")
    return checked_lists


def _find_overlapping_list(split_list: SplitList, lists: Sequence[SplitList]) -> SplitList | None:
    """Returns a list beside one that makes a split by its name alone, and overlaps with it.

    There is none if another list beside it makes a split, too.
    """
    if not _makes_split_by_its_name_alone(split_list):
        return None
    lists_in_scope = [
        other
        for other in lists
        if other.scope == split_list.scope and other.name != split_list.name
    ]
    others_make_splits = any(other.split for other in lists_in_scope)
    if others_make_splits:
        return None
    ids = {*split_list.ids}
    for other in lists_in_scope:
        if _overlap_in_part(ids, {*other.ids}):
            return other
    return None


def _makes_split_by_its_name_alone(split_list: SplitList) -> bool:
    """Says whether a list makes a split, and only its name says so, which says nothing else.

    A text in a usual folder of lists does not count, because the folder says so too.

    Examples: `tags/train.txt`, and the key `train` in `tags.json`; not `lists/train.txt`.
    """
    if not split_list.split:
        return False
    is_text_in_usual_folder = split_list.rank < ListRank.ELSEWHERE and not split_list.key
    if is_text_in_usual_folder:
        return False
    return only_split_in(split_list.innermost_name) != ""


def _overlap_in_part(ids: set[str], other_ids: set[str]) -> bool:
    """Says whether two lists share ids, and each has some that the other one lacks."""
    is_subset = ids <= other_ids or other_ids <= ids
    return not is_subset and not ids.isdisjoint(other_ids)
