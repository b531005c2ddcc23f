"""Whether a text makes splits that is no list by its name and folder alone.

A text that names images and splits in a form that is not read is unclear, and so is one whose ids
have lost their zeros. Unless something else divides the images, it stops the build.

Texts whose names are those of no image stop the build too, if nothing divides the images and these
texts say train and another split: the names may be those of the images in another form.
"""

import collections
from collections.abc import Sequence
import dataclasses
import enum
import posixpath
import re

from voc_seg_tfrecord.core.names import VOC_CLASSES
from voc_seg_tfrecord.core.words import (
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


def judge_text(text: ListText) -> TextVerdict:
    """Says whether a text makes splits that is no list by its name and folder alone.

    A list of all images or a table of ages makes none, and nobody has to know.
    """
    if text.error is not None:
        verdict = _judge_unreadable_text(text, text.error.found)
    else:
        verdict = _judge_names(text) or _judge_lists(text) or _judge_words(text)
    return verdict or TextVerdict(Use.NO_SPLITS)


def as_unclear(text: ListText, verdict: TextVerdict) -> UnclearText:
    """Returns a text as one that is not understood, or whose names are not those of images."""
    content = verdict.reason
    image_ids: set[str] = set()
    splits: frozenset[str] = frozenset()
    is_of_other_names = verdict.use is Use.OTHER_NAMES
    if is_of_other_names:
        content = "splits of images that are not in the folder"
        if text.missing_names:
            content += f", such as {text.missing_names[0]!r}"
        splits = _named_splits(text)
    else:
        names = text.image_names
        image_ids = {names[word] for word in {*text.words} if word in names}
    return UnclearText(
        text.path,
        text.rank,
        content,
        image_ids=frozenset(image_ids),
        names_most=2 * len(image_ids) > len(text.image_names),
        has_wrong_names=is_of_other_names or verdict.use is Use.WRONG_NAMES,
        is_weak=is_of_other_names or verdict.is_weak,
        splits=splits,
    )


def _named_splits(text: ListText) -> frozenset[str]:
    """Returns the splits that the keys of a text say, or its values, or its name."""
    splits = {split_but_for_number(entry.key.rpartition("/")[2]) for entry in text.lists}
    splits |= {*_count_splits_as_values(text)}
    named = splits - {""} or list_splits_in(stem(text.path)) or _SPLITS_OF_ANY_DIVISION
    return frozenset(named)


def _judge_unreadable_text(text: ListText, fault: str) -> TextVerdict | None:
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
    lines = [line for line in text.beginning.splitlines() if line.strip()]
    count = sum(1 for line in lines if text.vocabulary.names_image(line))
    if not count:
        if not text.is_called_as_split:
            return _judge_documents_of_other_names(text)
        reason = f"is named after a split, but has {fault}"
        return _judge_documents_of_other_names(text) or TextVerdict(Use.NO_SPLITS, reason)
    has_split_in_its_name = text.split_in_its_name != ""
    is_document = text.has_ending(DOCUMENT_ENDINGS)
    if is_document and (has_split_in_its_name or _find_split_words(text)):
        return TextVerdict(Use.UNCLEAR, fault)
    if has_split_in_its_name and 2 * count > len(lines):
        return TextVerdict(Use.SPLITS)
    return TextVerdict(Use.NO_SPLITS, f"names images, but has {fault}")


def _judge_names(text: ListText) -> TextVerdict | None:
    """Judges a text by its names: those of images, not quite so, or of other images.

    | the text | example | verdict |
    | --- | --- | --- |
    | has runs of pixels of another folder's images | `train_masks.csv` of `test/1` | no splits |
    | names an image in the lists of two splits | see `_judge_repeated_images` | several |
    | has names that are not quite those of images | `train.csv` with 7 in place of 0007 | wrong |
    | has lists of splits, and few or no images | `val.csv` of another set | other names |
    """
    if _has_runs_of_other_images(text):
        reason = "has runs of pixels, and no names of its split's images"
        return TextVerdict(Use.NO_SPLITS, reason)
    if text.has_ending(YAML_ENDINGS):
        verdict = _judge_repeated_images(text)
        if verdict is not None:
            return verdict
    parts_of_splits = [entry for entry in text.lists if entry.says_split]
    is_class_file = posixpath.basename(text.path) in CLASS_FILE_NAMES
    lies_in_split = text.split_in_its_name != "" and not is_class_file  # `train/patients.txt`
    says_split = text.is_called_as_split or lies_in_split or len(parts_of_splits) > 0
    if says_split and text.wrong_names:
        return TextVerdict(Use.WRONG_NAMES, text.wrong_names)
    if text.has_enough_images:
        return None
    if any(entry.image_count == 0 for entry in parts_of_splits):
        return TextVerdict(Use.OTHER_NAMES, "assigns other images to splits")
    is_list = text.is_called_as_split and not text.names_images_in_unread_form
    if not is_list or not text.missing_names:
        return None
    count = f"only {text.image_count}" if text.image_count else "none"
    verb = "were" if text.image_count > 1 else "was"
    return TextVerdict(
        Use.OTHER_NAMES,
        f"is named after a split, but {count} of its {len(text.ids)} names {verb} found, not "
        f"{text.missing_names[0]!r}",
    )


def _has_runs_of_other_images(text: ListText) -> bool:
    """Says whether a table of runs of pixels seems to name the images of another split's folder.

    Example: `train_masks.csv` with the columns `subject,img,pixels`: its number 1 is no `test/1`.
    """
    split = text.split_in_its_name
    if not split or not text.has_ending(TABLE_ENDINGS):
        return False
    first_line = text.beginning.partition("\n")[0].lower()
    if _TITLES_OF_RUNS.isdisjoint(words_of(first_line)):
        return False
    for name in text.ids:
        if name in text.image_names:
            image_id = text.image_names[name]
            if split_of(posixpath.dirname(image_id)) in ("", split):
                return False
    return True


def _judge_repeated_images(text: ListText) -> TextVerdict | None:
    """Judges YAML that names an image in the lists of two splits.

    Example: YOLO's `data.yaml` with one folder for train and val, which divides nothing. If the
    lists have only some images in common, nobody knows in which split these are. An id that one
    list repeats is in its split once.
    """
    lists_by_outer_key: dict[str, list[frozenset[str]]] = collections.defaultdict(list)
    for entry in text.lists:
        outer_key, _, last_key = entry.key.rpartition("/")
        if split_but_for_number(last_key):
            lists_by_outer_key[outer_key].append(frozenset(entry.ids))
    for lists in lists_by_outer_key.values():
        if len(frozenset().union(*lists)) == sum(map(len, lists)):
            continue
        if not text.image_count:
            return TextVerdict(Use.OTHER_NAMES, "assigns other images to splits")
        if len({*lists}) == 1:
            return TextVerdict(Use.NO_SPLITS, "names the same images for several splits")
        return TextVerdict(Use.UNCLEAR, "some images in two of its lists")
    return None


def _judge_lists(text: ListText) -> TextVerdict | None:
    """Judges a text by the lists that were read from it.

    | the text | example | verdict |
    | --- | --- | --- |
    | has a name of test and another split | `{"train_test": ["a"], "val": ["c"]}` | unclear |
    | has a list of images for a split | `{"train": ["a", "b"], "val": ["c"]}` | splits |
    | has a column that may say splits | a column `phase` with `train` and `query` | unclear |
    """
    ids_in_splits = set[str]()
    for entry in text.lists:
        if entry.split:
            ids_in_splits.update(entry.ids)
    for entry in text.lists:
        mixed_name = _judge_mixed_names(entry.key.split("/"))
        is_divided = entry.says_split or ids_in_splits.issuperset(entry.ids)
        if mixed_name and entry.image_count and not is_divided:
            return mixed_name
    if text.has_enough_images and text.has_list_with_split:
        return TextVerdict(Use.SPLITS)
    for entry in text.lists:
        if entry.unclear:
            return TextVerdict(Use.UNCLEAR, f"names of images, and {entry.unclear}")
    if not text.image_count:
        return None
    return _judge_mixed_names([stem(text.path), *text.path.split("/")[:-1]])


def _judge_mixed_names(names: Sequence[str]) -> TextVerdict | None:
    """Returns the verdict on the first name of test and another split, if there is one."""
    for name in names:
        if is_mixed_name(name):
            reason = f"names of images, of which {name} does not say which are test"
            return TextVerdict(Use.UNCLEAR, reason)
    return None


def _judge_words(text: ListText) -> TextVerdict | None:
    """Judges a text in which no list was read that says a split, by its words.

    | the text | example | verdict |
    | --- | --- | --- |
    | has words for splits beside names of images | the line `val: a b` | unclear |
    | says splits of names that no image has | `{"1": "train", "2": "val"}` | other names |
    | is called as a split, and names images | `val.toml` | unclear |
    | names images | `notes.txt` | no splits, with the reason |

    Numbers count only in lists and tables that are called as a split.
    """
    names_image = text.image_count > 0 or text.vocabulary.names_image(text.beginning)
    names_groups = text.has_ending(OTHER_ENDINGS) and len(_count_names_of_groups(text)) > 1
    split_words = _find_split_words(text)
    if names_image or names_groups:
        divides = _DividesImages.YES if len(split_words) > 1 else _DividesImages.NO
        if len(split_words) == 1:
            divides = _judge_one_split_word(split_words[0], text)
        if divides is not _DividesImages.NO:
            reason = f"names of images and splits ({', '.join(split_words)}) in an unknown form"
            return TextVerdict(Use.UNCLEAR, reason, is_weak=divides is _DividesImages.WEAKLY)
    of_other_names = _judge_documents_of_other_names(text)
    if of_other_names is not None or text.image_count:
        return of_other_names
    is_list = text.is_called_as_split and text.has_ending((*LIST_ENDINGS, *TABLE_ENDINGS))
    if not text.vocabulary.names_image(text.beginning, or_number=is_list) and not names_groups:
        return None
    if text.is_called_as_split:
        return TextVerdict(Use.UNCLEAR, "the name of a split, and image names in an unknown form")
    return TextVerdict(Use.NO_SPLITS, "names images in an unknown form")


def _find_split_words(text: ListText) -> Sequence[str]:
    """Returns the first word for each split that stands alone between signs or blanks.

    A word of test and another split, such as `train_test`, is found too; a name of an image is not.
    """
    word_by_split: dict[str, str] = {}
    for word in text.words:
        is_likely = word[:2].lower() in _FIRST_LETTERS_OF_SPLITS or begins_with_name_of_set(word)
        if not is_likely:
            continue
        split = word if is_mixed_name(word) else split_but_for_number(word)
        if split and split not in word_by_split and word not in text.image_names:
            word_by_split[split] = word
    return [*word_by_split.values()]


class _DividesImages(enum.Enum):
    """Whether the words of a text divide the images; weakly, if something else may do it."""

    NO = "no"
    WEAKLY = "weakly"
    YES = "yes"


def _judge_one_split_word(word: str, text: ListText) -> _DividesImages:
    """Says whether the only word for a split in a text divides the images.

    The first row that fits counts. `test` stands for each word that is not for training.

    | word    | where it stands                      | divides | why                              |
    |---------|--------------------------------------|---------|----------------------------------|
    | `valid` | anywhere                             | no      | a label may be valid             |
    | `test`  | begins a line                        | yes     | it is a title or a key           |
    | `test`  | elsewhere in the first line          | weakly  | it may be a title                |
    | `test`  | elsewhere                            | no      | it may be a word of a sentence   |
    | `train` | beside another class, such as `car`  | no      | it is a class too                |
    | `train` | in the first line, or begins another | weakly  | it is a title or a key           |
    | `train` | several times                        | weakly  | it may be the value of images    |
    | `train` | elsewhere                            | no      | it may be a word of a sentence   |

    Several times count for `train` alone, because the word for the other splits is not known then.
    """
    if word.lower() == "valid":
        return _DividesImages.NO
    lines = text.beginning.splitlines()
    begins_line = any(line.lstrip(_SIGNS_BEFORE_A_WORD).startswith(word) for line in lines)
    has_place = begins_line or word in words_of(text.beginning.partition("\n")[0])
    if split_but_for_number(word) not in TO_TRAIN_ON:
        if begins_line:
            return _DividesImages.YES
        return _DividesImages.WEAKLY if has_place else _DividesImages.NO
    for other in text.words:
        if other.lower() in _CLASSES_BESIDE_TRAIN and other not in text.image_names:
            return _DividesImages.NO
    if has_place or text.words.count(word) > 1:
        return _DividesImages.WEAKLY
    return _DividesImages.NO


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
    if text.is_called_as_split and is_list and text.words:
        return TextVerdict(Use.OTHER_NAMES, "is named after a split, but names no image")
    count_by_split = _count_splits_as_values(text)
    if "train" not in count_by_split or len(count_by_split) == 1:
        return None
    value_count = count_by_split.total()
    names_about_all = 2 * value_count >= len(text.image_names)
    if names_about_all or 2 * _count_names_of_groups(text).total() >= value_count:
        return TextVerdict(Use.OTHER_NAMES, "assigns other images to splits")
    return None


def _count_names_of_groups(text: ListText) -> collections.Counter[str]:
    """Returns how often each word of a text occurs that stands for images, as a patient does."""
    counts = collections.Counter[str]()
    for word, count in collections.Counter(text.words).items():
        if text.image_names.count_of_group(word):
            counts[word] = count
    return counts


def _count_splits_as_values(text: ListText) -> collections.Counter[str]:
    """Returns how many values of keys in JSON or YAML are the name of each split."""
    if not text.has_ending(DOCUMENT_ENDINGS):
        return collections.Counter()
    splits = map(split_but_for_number, _VALUE.findall(text.beginning))
    return collections.Counter(split for split in splits if split)
