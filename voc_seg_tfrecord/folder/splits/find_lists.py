"""Finds the texts of a folder that name its images, and which of them say a split.

A text is a list of a split if its name, its folder, a column or a key says which. In the place that
VOC's layout has for lists, and in a place that the user gave, every list makes a split. A text that
names images and splits in a form that is not read is unclear, and stops the build.
"""

from collections.abc import Iterator, Sequence
import dataclasses
import functools
import posixpath
import re
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.folder.files.folder_names import SPLITS, stem
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.split_lists import (
    ELSEWHERE,
    SplitList,
    as_split_list,
    rank_of,
)
from voc_seg_tfrecord.folder.splits.split_words import (
    is_called_as_split,
    only_split_in,
    split_in,
)
from voc_seg_tfrecord.folder.tree.listing import Listing
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.list_files import (
    DOCUMENT_ENDINGS,
    LIST_ENDINGS,
    MAX_TEXT_BYTES,
    OTHER_ENDINGS,
    READ_ENDINGS,
    ListReader,
    words_of,
)
from voc_seg_tfrecord.formats.listed_images import ListedImages, Vocabulary
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, COMMON_CLASS_FILE_NAMES

_NAMES_OF_LISTS = ("train", "val", "valid", "validation", "test", "trainval", "trainaug")
_MIN_SHARE_OF_IMAGES = 0.1  # of the names in a text
_MAX_TEXTS_OF_A_FOLDER = 500  # that are not called as splits
_LONG_TEXT_BYTES = 1 << 20
_SAMPLE_BYTES = 1 << 14
_SAMPLES_OF_LONG_TEXT = 8
_BEGINNINGS_OF_SPLITS = {split[:2] for split in SPLITS}


@dataclasses.dataclass(frozen=True)
class UnclearText:
    """A text that names images and splits, and is not understood.

    Attributes:
      file: the text, below the given folder.
      found: what is in it, in words.
      names_most: whether it names more than half of the images.
    """

    file: str
    found: str
    names_most: bool


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
    reader = ListReader(Vocabulary(image_names, only_split_in))
    lists = list[SplitList]()
    notes = list[str]()
    unclear = list[UnclearText]()
    for path in _paths_of_texts(tree, image_names):
        rank = rank_of(path, tree.place, lists_of_user)
        is_list = _is_list_by_name(path, rank)
        if not is_list and not _is_worth_reading(tree.given / path, reader):
            continue
        text = _read_text(tree, path, rank, reader)
        if is_list:
            lists += text.with_form_checked().as_lists()
            continue
        fault = text.find_fault()
        if fault is None:
            lists += text.as_lists()
            continue
        lists += text.without_splits()
        if isinstance(fault, UnclearText):
            unclear.append(fault)
        elif fault:
            notes.append(f"{path} {fault}, so it makes no split.")
    lists, more_notes = _without_classes(lists)
    lists.sort(key=lambda one: (one.rank, one.file.count("/"), one.file))
    return FoundTexts(lists, [*notes, *more_notes], unclear)


def _paths_of_texts(tree: VocTree, image_names: ImageNames) -> Iterator[str]:
    """Yields the texts that may be lists: no class files of tools, and no label of one image."""
    for folder, files in cast(Listing, tree.listing).folders.items():
        others = 0
        for name in files:
            if "." in name and not name.lower().endswith((*READ_ENDINGS, *OTHER_ENDINGS)):
                continue
            path = posixpath.join(folder, name)
            stem_of_name, ending = posixpath.splitext(name)
            is_called = bool(only_split_in(stem_of_name))
            is_of_tool = name in CLASS_FILE_NAMES and name not in COMMON_CLASS_FILE_NAMES
            if path in tree.labels.sheets or is_of_tool or not (ending or is_called):
                continue
            if is_called:
                yield path
            elif stem_of_name not in image_names.stems and others < _MAX_TEXTS_OF_A_FOLDER:
                others += 1
                yield path


def _is_list_by_name(path: str, rank: int) -> bool:
    """Says whether a text is a list whatever it holds, by its name and its place."""
    name = posixpath.basename(path).lower()
    stem_of_name, ending = posixpath.splitext(name)
    if ending not in LIST_ENDINGS or stem_of_name.startswith("readme"):
        return False
    if rank == 0:
        return name not in COMMON_CLASS_FILE_NAMES
    return rank < ELSEWHERE and stem_of_name in _NAMES_OF_LISTS


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


@dataclasses.dataclass(frozen=True)
class _Text:
    """A text that was read.

    Attributes:
      path: the text, below the given folder.
      where: the same as errors name it.
      rank: how usual its place is for lists.
      data: its bytes.
      listed: the places in it that name images.
      error: why it could not be read, if it could not.
      reader: the reader of lists.
    """

    path: str
    where: str
    rank: int
    data: bytes
    listed: Sequence[ListedImages]
    error: ListError | None
    reader: ListReader

    def as_lists(self) -> list[SplitList]:
        """Returns its lists; of one that cannot be read, an empty one with the error."""
        listed = self.listed or [ListedImages("", (), 0)]
        return [
            dataclasses.replace(as_split_list(self.path, entry, self.rank), error=self.error)
            for entry in listed
        ]

    def with_form_checked(self) -> "_Text":
        """Returns the text, with an error if it names images in no form that is read."""
        is_understood = self.error is not None or any(entry.found for entry in self.listed)
        if is_understood or not self.reader.names_image(self._beginning):
            return self
        error = ListError(
            self.where,
            found="names of images in a form that is not read",
            expected="one image on each line",
            remedy="write an id, a file's name or a path on each line",
        )
        return dataclasses.replace(self, listed=(), error=error)

    def without_splits(self) -> list[SplitList]:
        """Returns its lists that name images, as such that make no split."""
        return [
            SplitList(self.path, entry.key, entry.ids, entry.found, self.rank)
            for entry in self.listed
            if entry.found
        ]

    def find_fault(self) -> UnclearText | str | None:
        """Says why the text makes no split; empty if nobody has to know, None if it makes some."""
        makes_split = any(split_list.split for split_list in self.as_lists())
        if self.error is not None:
            return self._fault_of_wrong_text(makes_split=makes_split)
        ids = [image_id for entry in self.listed for image_id in entry.ids]
        found = sum(entry.found for entry in self.listed)
        image_count = len(self._image_names)
        if self._is_yaml_of_one_folder(ids):
            return "names the same images for several splits"
        has_enough = found > _MIN_SHARE_OF_IMAGES * len(ids) or 2 * found > image_count
        if has_enough and makes_split:
            return None
        is_called = is_called_as_split(stem(self.path))
        says_splits = any(entry.says_split for entry in self.listed)
        if not found and (is_called or says_splits):
            fault = self._lost_zeros(ids)
            if fault is not None:
                return fault
        if not has_enough and any(entry.says_split and not entry.found for entry in self.listed):
            return "says splits, but of other images"
        is_list_of_others = found > 0 or not self.reader.names_image(self._beginning)
        if not has_enough and is_called and ids and is_list_of_others:
            first = next(image_id for image_id in ids if image_id not in self._image_names)
            count = f"only {found}" if found else "none"
            return (
                f"is called as a split, but {count} of its {len(ids)} names was found, not "
                f"{first!r}"
            )
        return self._fault_of_unknown_form(found, is_called=is_called)

    def _is_yaml_of_one_folder(self, ids: Sequence[str]) -> bool:
        """Says whether YOLO's data.yaml has one folder for train and val, which divides nothing."""
        return self.path.lower().endswith((".yaml", ".yml")) and len({*ids}) < len(ids)

    def _fault_of_wrong_text(self, *, makes_split: bool) -> UnclearText | str | None:
        """Returns what a text means that cannot be read."""
        assert self.error is not None
        lines = [line for line in self._beginning.splitlines() if line.strip()]
        lines_with_images = sum(1 for line in lines if self.reader.names_image(line))
        if not lines_with_images:
            is_called = is_called_as_split(stem(self.path))
            return f"is called as a split, but has {self.error.found}" if is_called else ""
        is_document = self.path.lower().endswith(DOCUMENT_ENDINGS)
        if is_document and (makes_split or self._words_for_splits()):
            return self._unclear(self.error.found)
        if makes_split and 2 * lines_with_images > len(lines):
            return None  # a list with one wrong line, which stops the build
        return f"names images, but has {self.error.found}"

    def _fault_of_unknown_form(self, found: int, *, is_called: bool) -> UnclearText | str:
        """Returns what a text means that names images in no form that is read."""
        is_of_other_ending = self.path.lower().endswith(OTHER_ENDINGS)
        words = self._words_for_splits()
        says_splits = len(words) > 1
        if found and not says_splits and not is_of_other_ending:
            return ""  # a list of all images, a table of ages
        if not found and not self.reader.names_image(self._beginning, or_number=says_splits):
            return ""
        if says_splits:
            return self._unclear(
                f"names of images and of splits ({', '.join(words)}) in a form that is not read"
            )
        if is_called:
            return self._unclear(
                "a name of a split, and names of images in a form that is not read"
            )
        return "names images in a way that is not understood"

    def _lost_zeros(self, ids: Sequence[str]) -> UnclearText | None:
        """Returns the fault of a text that a spreadsheet wrote, which took the zeros of 0007."""
        id_without_zeros = {
            image_id.lstrip("0"): image_id
            for image_id in self._image_names
            if image_id.isdecimal() and image_id.startswith("0")
        }
        lost = [name for name in ids if name in id_without_zeros]
        if not lost or 2 * len(lost) < len(ids):
            return None
        return self._unclear(
            f"{lost[0]}, which may be the image {id_without_zeros[lost[0]]}: spreadsheets take the "
            "zeros before a number"
        )

    def _unclear(self, found: str) -> UnclearText:
        names = {
            self._image_names[word]
            for word in words_of(self._beginning)
            if word in self._image_names
        }
        return UnclearText(self.path, found, 2 * len(names) > len(self._image_names))

    def _words_for_splits(self) -> list[str]:
        """Returns the first word for each split that stands alone between signs or blanks."""
        word_by_split: dict[str, str] = {}
        for word in words_of(self._beginning):
            if word[:2].lower() in _BEGINNINGS_OF_SPLITS and only_split_in(word):
                word_by_split.setdefault(only_split_in(word), word)
        return [*word_by_split.values()]

    @property
    def _image_names(self) -> ImageNames:
        return cast(ImageNames, self.reader.vocabulary.image_names)

    @functools.cached_property
    def _beginning(self) -> str:
        return self.data[:_LONG_TEXT_BYTES].replace(b"\0", b"").decode("utf-8", "replace")


def _read_text(tree: VocTree, path: str, rank: int, reader: ListReader) -> _Text:
    """Reads a text; paths in it that lead out of the folder are those of missing images."""
    file = tree.read_text(tree.given / path, ListError)
    image_names = cast(ImageNames, reader.vocabulary.image_names)
    images_below = functools.partial(image_names.below, place=posixpath.dirname(path))
    if path.lower().endswith(OTHER_ENDINGS):
        return _Text(path, file.where, rank, file.data, (), None, reader)
    listed = []
    try:
        for entry in reader.read(file, images_below):
            ids = entry.ids
            if entry.found < len(ids):
                ids = image_names.inside(ids, file.where, tree.given)
            listed.append(dataclasses.replace(entry, ids=ids))
    except ListError as error:
        return _Text(path, file.where, rank, file.data, (), error, reader)
    return _Text(path, file.where, rank, file.data, listed, None, reader)


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
    if not split_list.split or (split_list.rank < ELSEWHERE and not split_list.key):
        return None
    name = split_list.key.rpartition("/")[2] or stem(split_list.file)
    if not only_split_in(name):
        return None
    beside = [
        other
        for other in lists
        if _place_of(other) == _place_of(split_list) and other.name != split_list.name
    ]
    if any(other.split for other in beside):
        return None
    ids = {*split_list.ids}
    for other in beside:
        ids_of_other = {*other.ids}
        if ids & ids_of_other and ids - ids_of_other and ids_of_other - ids:
            return other
    return None


def _place_of(split_list: SplitList) -> tuple[str, str]:
    if split_list.key:
        return split_list.file, posixpath.dirname(split_list.key)
    return posixpath.dirname(split_list.file), ""
