"""Whether a text makes splits that is no list by its name and folder alone.

A text that names images and splits in a form that is not read is unclear, and so is one whose ids
have lost their zeros. Unless something else divides the images, it stops the build. `_JUDGES` is
the table of what is looked at.

Texts whose names are those of no image stop the build too, if nothing divides the images and these
texts say train and another split: the names may be those of the images in another form.
"""

from collections.abc import Callable, Sequence
import dataclasses
import enum
import posixpath
import re

from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.core.split_names import (
    SPLIT_BY_WORD,
    TO_TRAIN_ON,
    begins_with_name_of_set,
    is_mixed_name,
    list_splits_in,
    split_but_for_number,
)
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.list_text import ListText
from voc_seg_tfrecord.folder.splits.split_lists import ListRank
from voc_seg_tfrecord.folder.splits.wrong_names import describe_wrong_names
from voc_seg_tfrecord.formats.list_tables import ListedImages
from voc_seg_tfrecord.formats.texts import (
    DOCUMENT_ENDINGS,
    LIST_ENDINGS,
    OTHER_ENDINGS,
    TABLE_ENDINGS,
    YAML_ENDINGS,
    words_of,
)
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES

# Only words that begin so are parsed, because most words of a text name images. `vo` and `da` begin
# voctest and datatest.
_FIRST_LETTERS_OF_SPLITS = {word[:2] for word in SPLIT_BY_WORD} | {"vo", "da"}
_SIGNS_BEFORE_A_WORD = "\ufeff \t\"'[({#-"

_CLASSES_BESIDE_TRAIN = {*VOC_CLASSES} - {"train", "background"}
"""Classes, in lower case, beside which `train` is one too."""

_VALUE = re.compile(r"""[:,]\s*["']?([\w-]+)["']?\s*(?=[,}\r\n]|$)""")
"""A word that is the value of a key in JSON or YAML."""

_TITLES_OF_RUNS = frozenset({"pixels", "encodedpixels", "rle", "rle_mask", "encoded_pixels"})
"""Columns, in lower case, of runs of pixels."""

_SPLITS_OF_ANY_DIVISION = frozenset({"train", "test"})
"""What a text says that is called `split`."""


@dataclasses.dataclass(frozen=True)
class UnclearText:
    """A text that names images and splits, and is not understood.

    Attributes:
      file: the text, below the given folder.
      rank: how usual its folder is for lists.
      content: what is in it, in words.
      image_ids: the images that it names.
      names_most: whether it names more than half of the images.
      has_wrong_names: whether its form is read, but its names are not quite those of images.
      is_weak: whether it stops a build only if nothing else divides the images.
      splits: the splits that it says; empty if its names are those of images.
    """

    file: str
    rank: ListRank
    content: str
    image_ids: frozenset[str]
    names_most: bool
    has_wrong_names: bool = False
    is_weak: bool = False
    splits: frozenset[str] = frozenset()


class Use(enum.Enum):
    """What a text is good for."""

    SPLITS = "it makes splits"
    NO_SPLITS = "it makes no split"
    UNCLEAR = "it says splits, and is not understood"
    WRONG_NAMES = "it says splits, of names that are not quite those of images"
    OTHER_NAMES = "it says splits, of names that no image has"


@dataclasses.dataclass(frozen=True)
class TextVerdict:
    """What a text is good for, and why.

    Attributes:
      use: what it is good for.
      reason: why it makes no split, in words that go on after the name of the text; or what is in
        it that is not understood. Empty if nobody has to know.
      is_weak: see `UnclearText`.
    """

    use: Use
    reason: str = ""
    is_weak: bool = False


_MAKES_SPLITS = TextVerdict(Use.SPLITS)
_OF_NO_INTEREST = TextVerdict(Use.NO_SPLITS)


def judge_text(text: ListText) -> TextVerdict:
    """Says whether a text makes splits that is no list by its name and folder alone."""
    for judge in _JUDGES:
        verdict = judge(text)
        if verdict is not None:
            return verdict
    return _OF_NO_INTEREST  # a list of all images, a table of ages


def as_unclear(text: ListText, verdict: TextVerdict) -> UnclearText:
    """Returns a text as one that is not understood."""
    words = {*words_of(text.beginning)}
    image_names = text.image_names
    image_ids = {image_names[word] for word in words if word in image_names}
    return UnclearText(
        text.path,
        text.rank,
        verdict.reason,
        image_ids=frozenset(image_ids),
        names_most=2 * len(image_ids) > len(image_names),
        has_wrong_names=verdict.use is Use.WRONG_NAMES,
        is_weak=verdict.is_weak,
    )


def as_unclear_of_other_names(text: ListText) -> UnclearText:
    """Returns a text that says splits of images that are not in the folder."""
    content = "splits of images that are not in the folder"
    if text.missing_names:
        content += f", such as {text.missing_names[0]!r}"
    return UnclearText(
        text.path,
        text.rank,
        content,
        image_ids=frozenset(),
        names_most=False,
        has_wrong_names=True,
        is_weak=True,
        splits=_named_splits(text),
    )


def _named_splits(text: ListText) -> frozenset[str]:
    """Returns the splits that the keys of a text say, or its values, or its name."""
    splits = {split_but_for_number(entry.key.rpartition("/")[2]) for entry in text.listed}
    splits |= {*_count_splits_as_values(text)}
    splits -= {""}
    if splits:
        return frozenset(splits)
    return frozenset(list_splits_in(stem(text.path))) or _SPLITS_OF_ANY_DIVISION


def _judge_unreadable_text(text: ListText) -> TextVerdict | None:
    """Judges a text that cannot be read by its name and by the lines of it that name images.

    Example: `train.csv` with control characters in one of its lines.

    | lines that name images | the text | verdict |
    | --- | --- | --- |
    | none | says splits of other names | see `_judge_documents_of_other_names` |
    | none | is called as a split | no splits, with the reason |
    | none | any other | of no interest |
    | some | a document, with a split in its name or in it | unclear |
    | most | any other with a split in its name | a list, whose wrong line stops the build |
    | some | any other | no splits, with the reason |
    """
    error = text.error
    if error is None:
        return None
    lines = [line for line in text.beginning.splitlines() if line.strip()]
    lines_with_images = sum(1 for line in lines if text.reader.names_image(line))
    if not lines_with_images:
        of_other_names = _judge_documents_of_other_names(text)
        if of_other_names is not None:
            return of_other_names
        if text.is_called_as_split:
            return TextVerdict(Use.NO_SPLITS, f"is named after a split, but has {error.found}")
        return _OF_NO_INTEREST
    is_document = text.has_ending(DOCUMENT_ENDINGS)
    if is_document and (text.has_split_in_its_name or _find_split_words(text)):
        return TextVerdict(Use.UNCLEAR, error.found)
    has_few_wrong_lines = 2 * lines_with_images > len(lines)
    if text.has_split_in_its_name and has_few_wrong_lines:
        return _MAKES_SPLITS  # a list with one wrong line, which stops the build
    return TextVerdict(Use.NO_SPLITS, f"names images, but has {error.found}")


def _judge_runs_of_pixels(text: ListText) -> TextVerdict | None:
    """Judges a table of runs of pixels that seems to name the images of another split's folder.

    Example: `train_masks.csv` with the columns `subject,img,pixels`: its number 1 is no `test/1`.
    """
    titles = {word.lower() for word in words_of(text.beginning.partition("\n")[0])}
    if not text.has_ending(TABLE_ENDINGS) or titles.isdisjoint(_TITLES_OF_RUNS):
        return None
    ids = [text.image_names[name] for name in text.ids if name in text.image_names]
    splits_of_folders = {split_of(posixpath.dirname(image_id)) for image_id in ids}
    split = text.as_list(ListedImages("", (), 0)).split
    if split and splits_of_folders.isdisjoint({"", split}):
        return TextVerdict(Use.NO_SPLITS, "has runs of pixels, and no names of its split's images")
    return None


def _judge_images_of_several_lists(text: ListText) -> TextVerdict | None:
    """Judges YAML that names an image in the lists of two splits.

    Example: YOLO's `data.yaml` with one folder for train and val, which divides nothing. If the
    lists have only some images in common, nobody knows in which split these are. An id that one
    list repeats is in its split once.
    """
    if not text.has_ending(YAML_ENDINGS):
        return None
    for lists_of_splits in _lists_of_splits_by_outer_key(text).values():
        if not _have_common_ids(lists_of_splits):
            continue
        if not text.image_count:
            return TextVerdict(Use.OTHER_NAMES, "assigns other images to splits")
        different_contents = {frozenset(entry.ids) for entry in lists_of_splits}
        if len(different_contents) == 1:
            return TextVerdict(Use.NO_SPLITS, "names the same images for several splits")
        return TextVerdict(Use.UNCLEAR, "some images in two of its lists")
    return None


def _lists_of_splits_by_outer_key(text: ListText) -> dict[str, list[ListedImages]]:
    """Returns the lists whose last keys are called as splits, by the keys around these.

    Example: those of `fold0/train` and `fold0/val` by `fold0`.
    """
    lists_by_outer_key: dict[str, list[ListedImages]] = {}
    for entry in text.listed:
        outer_key, _, last_key = entry.key.rpartition("/")
        if split_but_for_number(last_key):
            lists_by_outer_key.setdefault(outer_key, []).append(entry)
    return lists_by_outer_key


def _have_common_ids(lists: Sequence[ListedImages]) -> bool:
    """Says whether an image is in two lists."""
    ids_of_lists_before = set[str]()
    for entry in lists:
        if not ids_of_lists_before.isdisjoint(entry.ids):
            return True
        ids_of_lists_before.update(entry.ids)
    return False


def _judge_wrong_names(text: ListText) -> TextVerdict | None:
    """Finds names that are not quite those of images.

    Examples: `train.csv` with 7 in place of 0007, and `train/patients.txt` with P1 in place of
    P1-S1 and P1-S2.
    """
    says_split = text.is_called_as_split or any(entry.says_split for entry in text.listed)
    is_class_file = posixpath.basename(text.path) in CLASS_FILE_NAMES
    if text.has_split_in_its_name and not is_class_file:  # `train/patients.txt`
        says_split = True
    wrong_names = describe_wrong_names(text) if says_split else ""
    return TextVerdict(Use.WRONG_NAMES, wrong_names) if wrong_names else None


def _judge_names_of_other_images(text: ListText) -> TextVerdict | None:
    """Finds lists of other images.

    Example: `val.csv` of another set, of whose 500 names one is that of an image.
    """
    if text.has_enough_images:
        return None
    if any(entry.says_split and not entry.image_count for entry in text.listed):
        return TextVerdict(Use.OTHER_NAMES, "assigns other images to splits")
    if not text.is_called_as_split or text.names_images_in_unread_form:
        return None
    if not text.missing_names:
        return None
    count = "none"
    verb = "was"
    if text.image_count:
        count = f"only {text.image_count}"
        verb = "was" if text.image_count == 1 else "were"
    return TextVerdict(
        Use.OTHER_NAMES,
        f"is named after a split, but {count} of its {len(text.ids)} names {verb} found, not "
        f"{text.missing_names[0]!r}",
    )


def _judge_mixed_key(text: ListText) -> TextVerdict | None:
    """Finds keys of test and another split, of images that no split of the text has.

    Example: `{"train_test": ["a", "b"], "val": ["c"]}`.
    """
    ids_in_splits = set[str]()
    for entry in text.listed:
        if text.as_list(entry).split:
            ids_in_splits.update(entry.ids)
    for entry in text.listed:
        mixed_names = [key for key in entry.key.split("/") if is_mixed_name(key)]
        is_divided = ids_in_splits.issuperset(entry.ids)
        if mixed_names and entry.image_count and not is_divided and not entry.says_split:
            return _unclear_by_mixed_name(mixed_names[0])
    return None


def _judge_lists_with_splits(text: ListText) -> TextVerdict | None:
    """Accepts a list of images for a split.

    Example: `{"train": ["a", "b"], "val": ["c"]}`.
    """
    is_list = text.has_enough_images and text.has_list_with_split
    return _MAKES_SPLITS if is_list else None


def _judge_unclear_column(text: ListText) -> TextVerdict | None:
    """Finds columns that may say splits under unknown names.

    Example: a column `phase` with `train` and `query`.
    """
    for entry in text.listed:
        if entry.unclear:
            return TextVerdict(Use.UNCLEAR, f"names of images, and {entry.unclear}")
    return None


def _judge_mixed_name(text: ListText) -> TextVerdict | None:
    """Finds texts that are called as test and another split, or lie in such a folder.

    Examples: `train_test.txt` and `train_test/ids.txt`.
    """
    if not text.image_count:
        return None
    for name in (stem(text.path), *text.path.split("/")[:-1]):
        if is_mixed_name(name):
            return _unclear_by_mixed_name(name)
    return None


def _unclear_by_mixed_name(name: str) -> TextVerdict:
    reason = f"names of images, of which {name} does not say which are test"
    return TextVerdict(Use.UNCLEAR, reason)


def _judge_words_for_splits(text: ListText) -> TextVerdict | None:
    """Finds words for splits beside names of images.

    Example: the line `val: a b` in a text of lines with several images.
    """
    split_words = _find_split_words(text)
    if not _do_words_divide(split_words, text):
        return None
    names_images = text.image_count > 0 or text.reader.names_image(text.beginning)
    if not names_images and not _names_groups_in_unread_ending(text):
        return None
    return TextVerdict(
        Use.UNCLEAR,
        f"names of images and splits ({', '.join(split_words)}) in an unknown form",
        is_weak=_is_weak(split_words, text),
    )


def _judge_documents_of_other_names(text: ListText) -> TextVerdict | None:
    """Finds documents that say a split for each of some names, which are those of no image.

    There are about as many names as images, or they stand for several images each. A document that
    is called as a split may be a list of names.

    Examples: `{"1": "train", "2": "train", "3": "val"}` of the images 0001, 0002 and 0003, and
    `{"P1": "train", "P2": "val"}` of the images P1-S1 to P1-S9 and P2-S1 to P2-S9.
    """
    if text.image_count or not text.has_ending(DOCUMENT_ENDINGS):
        return None
    is_list = text.beginning.lstrip("\ufeff \r\n").startswith(("[", "- "))
    is_empty = not any(words_of(text.beginning))
    if text.is_called_as_split and is_list and not is_empty:
        return TextVerdict(Use.OTHER_NAMES, "is named after a split, but names no image")
    count_by_split = _count_splits_as_values(text)
    if "train" not in count_by_split or len(count_by_split) == 1:
        return None
    value_count = sum(count_by_split.values())
    names_about_all = 2 * value_count >= len(text.image_names)
    if names_about_all or 2 * sum(_count_names_of_groups(text).values()) >= value_count:
        return TextVerdict(Use.OTHER_NAMES, "assigns other images to splits")
    return None


def _names_groups_in_unread_ending(text: ListText) -> bool:
    """Says whether a text such as `splits.toml` has names that stand for several images each."""
    return text.has_ending(OTHER_ENDINGS) and len(_count_names_of_groups(text)) > 1


def _count_names_of_groups(text: ListText) -> dict[str, int]:
    """Returns how often each word of a text occurs that stands for images, as a patient does."""
    count_by_word: dict[str, int] = {}
    for word in words_of(text.beginning):
        count_by_word[word] = count_by_word.get(word, 0) + 1
    count_of_group = text.image_names.count_of_group
    return {word: count for word, count in count_by_word.items() if count_of_group(word)}


def _count_splits_as_values(text: ListText) -> dict[str, int]:
    """Returns how many values of keys in JSON or YAML are the name of each split."""
    if not text.has_ending(DOCUMENT_ENDINGS):
        return {}
    count_by_split: dict[str, int] = {}
    for word in _VALUE.findall(text.beginning):
        split = split_but_for_number(word)
        if split:
            count_by_split[split] = count_by_split.get(split, 0) + 1
    return count_by_split


def _find_split_words(text: ListText) -> Sequence[str]:
    """Returns the first word for each split that stands alone between signs or blanks.

    A word of test and another split, such as `train_test`, is found too; a name of an image is not.
    """
    word_by_split: dict[str, str] = {}
    for word in words_of(text.beginning):
        is_likely = word[:2].lower() in _FIRST_LETTERS_OF_SPLITS or begins_with_name_of_set(word)
        if not is_likely:
            continue
        split = word if is_mixed_name(word) else split_but_for_number(word)
        if split and split not in word_by_split and word not in text.image_names:
            word_by_split[split] = word
    return [*word_by_split.values()]


def _do_words_divide(split_words: Sequence[str], text: ListText) -> bool:
    """Says whether words divide the images: words for several splits do, one alone may."""
    if not split_words:
        return False
    if len(split_words) > 1:
        return True
    return _may_one_word_divide(split_words[0], text)


def _may_one_word_divide(word: str, text: ListText) -> bool:
    """Says whether the only word for a split in a text divides the images.

    The first row that fits counts. `test` stands for each word that is not for training.

    | word    | where it stands                      | divides | why                              |
    |---------|--------------------------------------|---------|----------------------------------|
    | `valid` | anywhere                             | no      | a label may be valid             |
    | `test`  | in the first line, or begins another | yes     | it is a title or a key           |
    | `test`  | elsewhere                            | no      | it may be a word of a sentence   |
    | `train` | beside another class, such as `car`  | no      | it is a class too                |
    | `train` | in the first line, or begins another | yes     | it is a title or a key           |
    | `train` | several times                        | yes     | it may be the value of images    |
    | `train` | elsewhere                            | no      | it may be a word of a sentence   |

    Several times count for `train` alone, because the word for the other splits is not known then.
    """
    if word.lower() == "valid":
        return False
    is_in_first_line = word in words_of(text.beginning.partition("\n")[0])
    has_place = is_in_first_line or _begins_line(word, text)
    if not _is_for_training(word):
        return has_place
    if _has_class_beside_train(text):
        return False
    all_words = [*words_of(text.beginning)]
    return has_place or all_words.count(word) > 1


def _has_class_beside_train(text: ListText) -> bool:
    """Says whether a text has the name of another class, which is not that of an image."""
    for word in words_of(text.beginning):
        if word.lower() in _CLASSES_BESIDE_TRAIN and word not in text.image_names:
            return True
    return False


def _is_weak(split_words: Sequence[str], text: ListText) -> bool:
    """Says whether words may well mean something else than splits; see `UnclearText`."""
    if len(split_words) > 1:
        return False
    (word,) = split_words
    return _is_for_training(word) or not _begins_line(word, text)


def _is_for_training(word: str) -> bool:
    return split_but_for_number(word) in TO_TRAIN_ON


def _begins_line(word: str, text: ListText) -> bool:
    lines = text.beginning.splitlines()
    return any(line.lstrip(_SIGNS_BEFORE_A_WORD).startswith(word) for line in lines)


def _judge_unread_ending(text: ListText) -> TextVerdict | None:
    """Finds names of images in a text whose ending is that of no list.

    Example: `val.toml`.
    """
    if not text.image_count or not text.has_ending(OTHER_ENDINGS):
        return None
    return _unread_form(text)


def _judge_unread_words(text: ListText) -> TextVerdict | None:
    """Finds names of images among the words of a text in which no list was read.

    Numbers count only in lists and tables that are called as a split.
    """
    if text.image_count:
        return None
    is_list = text.is_called_as_split and text.has_ending((*LIST_ENDINGS, *TABLE_ENDINGS))
    names_image = text.reader.names_image(text.beginning, or_number=is_list)
    if not names_image and not _names_groups_in_unread_ending(text):
        return None
    return _unread_form(text)


def _unread_form(text: ListText) -> TextVerdict:
    """Returns the verdict on a text that names images in a form that is not read."""
    if text.is_called_as_split:
        return TextVerdict(Use.UNCLEAR, "the name of a split, and image names in an unknown form")
    return TextVerdict(Use.NO_SPLITS, "names images in an unknown form")


_JUDGES: Sequence[Callable[[ListText], TextVerdict | None]] = (
    _judge_unreadable_text,
    _judge_runs_of_pixels,
    _judge_images_of_several_lists,
    _judge_wrong_names,
    _judge_names_of_other_images,
    _judge_mixed_key,
    _judge_lists_with_splits,
    _judge_unclear_column,
    _judge_mixed_name,
    _judge_words_for_splits,
    _judge_documents_of_other_names,
    _judge_unread_ending,
    _judge_unread_words,
)
"""The first one that returns a verdict decides."""
