"""Finds the texts of a folder that name its images, and which of them say a split.

A text is a list of a split if its name, its folder, a column or a key says which. In the folder
that VOC's layout has for lists, and in a folder that the user gave, every list makes a split.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import itertools
import posixpath
import re
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.id_lists import encoding_of_parts
from voc_seg_tfrecord.core.layout import IMAGE_OR_MASK_ENDINGS, LISTS
from voc_seg_tfrecord.core.words import (
    TO_TRAIN_ON,
    USUAL_NAMES_OF_LISTS,
    only_split_in,
    parse_split_name,
)
from voc_seg_tfrecord.folder.by_name import FilesByName, ImageNames
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.list_files import names_splits
from voc_seg_tfrecord.folder.splits.list_tables import Vocabulary
from voc_seg_tfrecord.folder.splits.list_text import ListText
from voc_seg_tfrecord.folder.splits.list_verdicts import UnclearText, Use, as_unclear, judge_text
from voc_seg_tfrecord.folder.splits.listed_groups import IdsByGroup, with_names_of_groups
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList, rank_of
from voc_seg_tfrecord.folder.tree.endings import ending_of
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
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
_MAX_SEARCHED_PATHS = 1000


@dataclasses.dataclass
class FoundTexts:
    """The texts of a folder that name its images.

    Attributes:
      lists: what names images, the most usual folders first.
      notes: on texts that make no split.
      unclear: the texts that are not understood.
      of_other_names: the texts with splits of images that are not in the folder.
      name_group: whether one of them names a group in place of images.
    """

    lists: list[SplitList] = dataclasses.field(default_factory=list)
    notes: list[str] = dataclasses.field(default_factory=list)
    unclear: list[UnclearText] = dataclasses.field(default_factory=list)
    of_other_names: list[UnclearText] = dataclasses.field(default_factory=list)
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
        lists_of_user = tree.path_below_given(tree.layout.lists)
    vocabulary = Vocabulary(with_names_of_groups(image_names, ids_by_group))
    texts = FoundTexts()
    files: FilesByName | None = None
    for path in _paths_of_texts(tree, image_names, texts.notes):
        rank = rank_of(path, tree.root_below_given, lists_of_user)
        is_list_by_name = _is_list_by_name(path, rank)
        may_name_groups = bool(ids_by_group) and parse_split_name(stem(path)).split != ""
        has_name_of_list = is_list_by_name or may_name_groups
        if not has_name_of_list and not _is_worth_reading(tree.given / path, vocabulary):
            continue
        file = tree.texts.read(tree.given / path, ListError)
        unread_text = ListText(path, file, rank, vocabulary, image_names, ids_by_group)
        text = unread_text.with_lists(tree.given)
        texts.name_group = texts.name_group or text.names_group
        if is_list_by_name:
            texts.lists.extend(text.with_error_on_names().as_lists())
        else:
            _add_by_verdict(text, texts)
        if text.image_count and "/" in text.beginning:
            files = files or FilesByName(cast(Listing, tree.listing).below())
            texts.notes.extend(_note_on_paths_of_other_files(text, tree, files))
    lists = _drop_splits_of_scores(texts.lists)
    lists = _drop_splits_of_classes(lists, texts.notes)
    texts.lists = sorted(lists, key=lambda one: (one.rank, one.file.count("/"), one.file))
    return texts


def _add_by_verdict(text: ListText, texts: FoundTexts) -> None:
    """Adds a text to the lists that make splits, to other lists, notes or unclear texts."""
    verdict = judge_text(text)
    if verdict.use is Use.SPLITS:
        texts.lists.extend(text.as_lists())
        return
    naming_images = [split_list for split_list in text.lists if split_list.image_count]
    texts.lists.extend(dataclasses.replace(split_list, split="") for split_list in naming_images)
    if verdict.use in (Use.UNCLEAR, Use.WRONG_NAMES):
        texts.unclear.append(as_unclear(text, verdict))
        return
    if verdict.use is Use.OTHER_NAMES:
        texts.of_other_names.append(as_unclear(text, verdict))
    if verdict.reason:
        texts.notes.append(f"{text.path} {verdict.reason}, so it makes no split.")


def _paths_of_texts(tree: VocTree, image_names: ImageNames, notes: list[str]) -> Iterator[str]:
    """Yields the texts that may be lists: none that are labels, or class files of a tool.

    Of each folder it yields up to 500 texts, and all that are called as a split and nothing else.
    It adds a note if there are more.
    """
    for folder, names in cast(Listing, tree.listing).files_by_folder.items():
        texts_of_any_name = []
        for name in names:
            path = posixpath.join(folder, name)
            is_of_tool = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if is_of_tool or path in tree.labels.label_files:
                continue
            if "." in name and not name.lower().endswith((*READ_ENDINGS, *OTHER_ENDINGS)):
                continue
            if only_split_in(stem(name)):
                yield path
            elif "." in name and not _is_label_of_image(name, folder, names, image_names):
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
    has_pictures = any(ending_of(other) in IMAGE_OR_MASK_ENDINGS for other in names_in_folder)
    return has_pictures or not is_in_voc_folder


def _is_list_by_name(path: str, rank: ListRank) -> bool:
    """Says whether a text is a list whatever it holds, by its name and its folder."""
    name = posixpath.basename(path).lower()
    stem_of_name, ending = posixpath.splitext(name)
    if ending not in LIST_ENDINGS or stem_of_name.startswith("readme"):
        return False
    if rank == ListRank.SEGMENTATION:
        return name not in COMMON_CLASS_FILE_NAMES
    return rank < ListRank.ELSEWHERE and stem_of_name in USUAL_NAMES_OF_LISTS


def _is_worth_reading(path: epath.Path, vocabulary: Vocabulary) -> bool:
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
            if number == 0 and names_splits(sample.partition("\n")[0]):
                return True
            # The first and the last word of a sample may be cut off.
            words_and_separators = re.split(r"([\s,;|\"])", sample)[1:-1]
            if vocabulary.names_image("".join(words_and_separators)):
                return True
    return False


def _note_on_paths_of_other_files(text: ListText, tree: VocTree, files: FilesByName) -> list[str]:
    """Returns a note if the paths in a text are those of files beside the images and masks.

    Example: `train.txt` has the lines `thermal/01.png` and `thermal/02.png`, which are files, and
    the images lie in `rgb`. Images are found by the ends of paths, so `rgb/01.png` is in train.

    Args:
      text: the text.
      tree: the set.
      files: all files of the given folder.
    """
    notes = list[str]()
    paths = (word for word in text.words if "/" in word)
    for path in itertools.islice(paths, _MAX_SEARCHED_PATHS):
        image_id = text.image_names.get(path)
        matches = files.find(path).paths if image_id else ()
        if image_id is None or not matches:
            continue
        image = tree.images[image_id]
        is_mask = image_id in tree.masks and tree.masks[image_id] in matches
        if image in matches or is_mask:
            return []
        notes.append(
            f"{text.path} names {matches[0]}, and the image {image} of the same name is taken. "
            "Images are found by the ends of paths."
        )
    return notes[:1]


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
    bus. A list does not count if a usual folder of lists or another list beside it says splits too:
    `lists/train.txt`, but `tags/train.txt` and the key `train` in `tags.json` count.
    """
    checked_lists: list[SplitList] = []
    for split_list in lists:
        other = _find_class_beside(split_list, lists)
        if other is not None:
            notes.append(
                f"{split_list.name} shares images with {other.name}, so it makes no split."
            )
            split_list = dataclasses.replace(split_list, split="")
        checked_lists.append(split_list)
    return checked_lists


def _find_class_beside(split_list: SplitList, lists: Sequence[SplitList]) -> SplitList | None:
    """Returns a list beside one of a split that shows that both list classes; None if none does."""
    if not split_list.split or not only_split_in(split_list.innermost_name):
        return None
    is_text_in_usual_folder = split_list.rank < ListRank.ELSEWHERE and not split_list.key
    if is_text_in_usual_folder:
        return None
    beside = [other for other in lists if other.scope == split_list.scope]
    others = [other for other in beside if other.name != split_list.name]
    if any(other.split for other in others):
        return None
    ids = {*split_list.ids}
    for other in others:
        if _overlap_in_part(ids, {*other.ids}):
            return other
    return None


def _overlap_in_part(ids: set[str], other_ids: set[str]) -> bool:
    """Says whether two lists share ids, and each has some that the other one lacks."""
    is_subset = ids <= other_ids or other_ids <= ids
    return not is_subset and not ids.isdisjoint(other_ids)
