"""One text that may be a list: the images and splits that it names."""

from collections.abc import Sequence
import dataclasses
import functools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import parse_ids
from voc_seg_tfrecord.core.split_names import (
    SPLIT_BY_WORD,
    is_called_as_split,
    is_mixed_name,
    needs_train,
    split_but_for_number,
)
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.list_names import as_split_list
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList
from voc_seg_tfrecord.formats.list_files import (
    OTHER_ENDINGS,
    ListReader,
    words_of,
)
from voc_seg_tfrecord.formats.listed_images import ListedImages, Vocabulary

_MIN_SHARE_OF_IMAGES = 0.1  # of the names in a text
_BEGINNING_BYTES = 1 << 20
# Only words that begin so are parsed, because most words of a text name images. `vo` and `da` begin
# voctest and datatest.
_FIRST_LETTERS_OF_SPLITS = {word[:2] for word in SPLIT_BY_WORD} | {"vo", "da"}
_SIGNS_BEFORE_A_WORD = "\ufeff \t\"'[({#-"


@dataclasses.dataclass(frozen=True)
class ListText:
    """A text that was read.

    Attributes:
      path: the text, below the given folder.
      file: its bytes, and how errors name it.
      rank: how usual its folder is for lists.
      reader: the reader of lists.
      image_names: the ids of the images by their names.
      listed: the parts of it that name images.
      error: why it could not be read, if it could not.
    """

    path: str
    file: File
    rank: ListRank
    reader: ListReader
    image_names: ImageNames
    listed: Sequence[ListedImages] = ()
    error: ListError | None = None

    def read(self, given: epath.Path) -> "ListText":
        """Returns the text with what it names; a path out of the given folder names no image.

        A text with an ending that is not read names nothing.
        """
        if self.has_ending(OTHER_ENDINGS):
            return self
        folder = posixpath.dirname(self.path)
        find_below = functools.partial(self.image_names.find_below, start=folder)
        listed = []
        try:
            for entry in self.reader.read(self.file, find_below):
                ids = entry.ids
                if entry.image_count < len(ids):
                    ids = self.image_names.keep_inside(ids, self.file.where, given)
                listed.append(dataclasses.replace(entry, ids=ids))
        except ListError as error:
            return dataclasses.replace(self, error=error)
        return dataclasses.replace(self, listed=listed)

    def as_lists(self) -> list[SplitList]:
        """Returns its lists; of a text that cannot be read, an empty one with the error."""
        if self.error is not None or not self.listed:
            return [dataclasses.replace(self._as_list(_NOTHING_LISTED), error=self.error)]
        return [self._as_list(entry) for entry in self.listed]

    def as_lists_without_splits(self) -> list[SplitList]:
        """Returns its lists that name images, each as one that makes no split."""
        return [
            SplitList(self.path, entry.key, entry.ids, entry.image_count, self.rank)
            for entry in self.listed
            if entry.image_count
        ]

    def with_form_checked(self) -> "ListText":
        """Returns a text that is a list by its name, with an error if it names images wrongly.

        It does if it names them in no form that is read, by numbers without their zeros, or by the
        beginning that the names of several have in common.
        """
        if self.error is not None:
            return self
        wrong_names = self.describe_wrong_names()
        if wrong_names:
            error = self.error_on_names(wrong_names)
        elif self.names_images_in_unread_form:
            error = ListError(
                self.file.where,
                found="names of images in a form that is not read",
                expected="one image on each line",
                remedy="write an id, a file's name or a path on each line",
            )
        else:
            return self
        return dataclasses.replace(self, listed=(), error=error)

    def error_on_names(self, wrong_names: str) -> ListError:
        """Returns the error on names that are not quite those of images."""
        return ListError(
            self.file.where,
            found=wrong_names,
            expected="the names of images, as their files have them",
            remedy="write the name of an image on each line",
        )

    def describe_wrong_names(self) -> str:
        """Says which names are not quite those of images; empty if none are."""
        return self._describe_lost_zeros() or self._describe_beginnings()

    def _describe_lost_zeros(self) -> str:
        """Says which name has lost its zeros, if most names that are no image have; else empty.

        A spreadsheet makes 7 of 0007.
        """
        lost = [name for name in self._missing_names if name in self.image_names.id_by_number]
        if not lost or 2 * len(lost) < len(self._missing_names):
            return ""
        image_id = self.image_names.id_by_number[lost[0]]
        return (
            f"{lost[0]}, which may be the image {image_id}: spreadsheets take the zeros before a "
            "number"
        )

    def _describe_beginnings(self) -> str:
        """Says which names begin those of several images, if all that are no image do; else empty.

        Such are the names of patients: `P01` of `P01-S1` and `P01-S2`.
        """
        if not self._missing_names or self.image_count:
            return ""
        counts = []
        for name in self._missing_names:
            count = self.image_names.count_beginning_with(name)
            if count == 0:
                return ""
            counts.append(count)
        if max(counts) == 1:
            return ""
        return (
            f"{self._missing_names[0]}, which is no image: the names of {counts[0]} images begin "
            "with it, as those of a patient or a scene do"
        )

    @functools.cached_property
    def _missing_names(self) -> Sequence[str]:
        """The names in it that are those of no image."""
        return [name for name in self.ids if name not in self.image_names]

    def has_ending(self, endings: tuple[str, ...]) -> bool:
        """Says whether the text has one of some endings."""
        return self.path.lower().endswith(endings)

    @functools.cached_property
    def ids(self) -> Sequence[str]:
        """All names in it; the id of an image in place of each of its names."""
        return [image_id for entry in self.listed for image_id in entry.ids]

    @functools.cached_property
    def image_count(self) -> int:
        """How many of the names are those of images."""
        return sum(entry.image_count for entry in self.listed)

    @property
    def names_images_in_unread_form(self) -> bool:
        """Whether no part of it is a list, and some of its words are names of images."""
        return self.image_count == 0 and self.reader.names_image(self.beginning)

    @property
    def has_enough_images(self) -> bool:
        """Whether it is a list of these images: they are a tenth of its names, or most."""
        is_tenth = self.image_count > _MIN_SHARE_OF_IMAGES * len(self.ids)
        return is_tenth or 2 * self.image_count > len(self.image_names)

    @functools.cached_property
    def is_called_as_split(self) -> bool:
        """Whether the name of the text has a word for a split, and only known words."""
        return is_called_as_split(stem(self.path))

    @property
    def has_split_in_its_name(self) -> bool:
        """Whether the name of the text and its folders say a split, whatever the text holds."""
        return self._as_list(_NOTHING_LISTED).split != ""

    @property
    def has_list_with_split(self) -> bool:
        """Whether a name, a column or a key makes a split of a part of it."""
        return any(self._as_list(entry).split for entry in self.listed)

    def _as_list(self, entry: ListedImages) -> SplitList:
        split_list = as_split_list(self.path, entry, self.rank)
        if entry.key or not self._may_be_scores:
            return split_list
        return dataclasses.replace(split_list, may_be_scores=True)

    @functools.cached_property
    def _may_be_scores(self) -> bool:
        """Whether it may be a table of scores: it is called `eval`, and has numbers.

        The names of images may be numbers too.
        """
        if not needs_train(stem(self.path)):
            return False
        words = words_of(self.beginning)
        return any(_is_number(word) and word not in self.image_names for word in words)

    @functools.cached_property
    def split_words(self) -> Sequence[str]:
        """The first word for each split that stands alone between signs or blanks.

        A word of test and another split, such as `train_test`, counts too. A name of an image does
        not.
        """
        word_by_split: dict[str, str] = {}
        for word in words_of(self.beginning):
            if word[:2].lower() not in _FIRST_LETTERS_OF_SPLITS:
                continue
            split = word if is_mixed_name(word) else split_but_for_number(word)
            if split and split not in word_by_split and word not in self.image_names:
                word_by_split[split] = word
        return [*word_by_split.values()]

    @property
    def says_other_split_than_train(self) -> bool:
        """Whether words in it divide the images: for several splits, or one for validation or test.

        One alone has to begin a line, as the title of a column does: in a sentence it may mean
        something else. A label may be valid, too.
        """
        words = self.split_words
        if len(words) != 1:
            return len(words) > 1
        (word,) = words
        if word.lower() == "valid" or split_but_for_number(word) in ("train", "trainval"):
            return False
        lines = self.beginning.splitlines()
        return any(line.lstrip(_SIGNS_BEFORE_A_WORD).startswith(word) for line in lines)

    @property
    def mixed_key(self) -> str:
        """A key that says test and another split, of images that no split of the text has."""
        ids_in_splits = set[str]()
        for entry in self.listed:
            if self._as_list(entry).split:
                ids_in_splits.update(entry.ids)
        for entry in self.listed:
            mixed_names = [key for key in entry.key.split("/") if is_mixed_name(key)]
            is_divided = ids_in_splits.issuperset(entry.ids)
            if mixed_names and entry.image_count and not is_divided and not entry.says_split:
                return mixed_names[0]
        return ""

    @functools.cached_property
    def beginning(self) -> str:
        """Its first bytes as text."""
        data = self.file.data[:_BEGINNING_BYTES]
        return data.replace(b"\0", b"").decode("utf-8", "replace")


_NOTHING_LISTED = ListedImages("", (), 0)


def read_given_list(file: File, path: str, image_names: ImageNames) -> SplitList:
    """Returns a list that the user gave, whatever its name and ending are: a name on each line.

    Raises:
      ListError: if it is no text, is empty, or has a name that leaves the tree; if its names are
        not quite those of images.
    """
    vocabulary = Vocabulary(image_names)
    ids = parse_ids(file.data, file.where, image_names, plain=False, repeats=True)
    text = ListText(
        path,
        file,
        ListRank.SEGMENTATION,
        ListReader(vocabulary),
        image_names,
        listed=[vocabulary.listed("", ids)],
    )
    wrong_names = text.describe_wrong_names()
    if wrong_names:
        raise text.error_on_names(wrong_names)
    return SplitList(path, "", ids, text.image_count, ListRank.SEGMENTATION)


def _is_number(word: str) -> bool:
    try:
        float(word.rstrip("%"))
    except ValueError:
        return False
    return word.lower() not in ("nan", "inf", "infinity")
