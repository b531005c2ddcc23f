"""One text that may be a list: the images and splits that it names, and names not quite right."""

from collections.abc import Sequence
import dataclasses
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import NamesOfImages, parse_ids
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import has_only_split_words, says_split_ambiguously
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.list_files import read_lists
from voc_seg_tfrecord.folder.splits.list_tables import ListedImages, Vocabulary
from voc_seg_tfrecord.folder.splits.listed_groups import (
    IdsByGroup,
    NamedGroup,
    propose_rule,
    replace_groups,
    with_names_of_groups,
)
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList, as_split_list
from voc_seg_tfrecord.formats.texts import OTHER_ENDINGS, words_of

_MIN_SHARE_OF_IMAGES = 0.1  # of the names in a text
_BEGINNING_BYTES = 1 << 20
_NOTHING_LISTED = ListedImages("", (), 0)
_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.\d*)?(e[-+]?\d+)?%?", re.IGNORECASE)
"""A score or a count. `000099` and `2007_000099` are ids."""


@dataclasses.dataclass(frozen=True)
class ListText:
    """A text that was read.

    These say whether it is a list, and of what:

    | property | looks at | true of |
    | --- | --- | --- |
    | `is_called_as_split` | the name of the file | `val_list.txt`; not `crack_train.txt` |
    | `split_in_its_name` | its name and its folders | `crack_train.txt`, `train/images.txt` |
    | `has_list_with_split` | both, and its columns and keys | `{"train": ["a"]}` in `a.json` |
    | `has_enough_images` | all names in it | a list of these images, not of others |
    | `names_images_in_unread_form` | its words, if nothing was read | `a and b are blurred` |

    Attributes:
      path: the text, below the given folder.
      file: its bytes, and how errors name it.
      rank: how usual its folder is for lists.
      vocabulary: what its words mean.
      image_names: the ids of the images by their names.
      ids_by_group: the images of each group that it may name in place of images.
      lists: the parts of it that name images, with the splits that they make.
      error: why it could not be read, if it could not.
      names_group: whether it names a group in place of images.
    """

    path: str
    file: File
    rank: ListRank
    vocabulary: Vocabulary
    image_names: ImageNames
    ids_by_group: IdsByGroup = dataclasses.field(default_factory=dict)
    lists: Sequence[SplitList] = ()
    error: ListError | None = None
    names_group: bool = False

    def with_lists(self, given: epath.Path) -> "ListText":
        """Reads which images the text names, and returns it with its lists, or the error.

        A path out of the given folder names no image. A text with an ending that is not read names
        nothing.
        """
        if self.has_ending(OTHER_ENDINGS):
            return self
        folder = posixpath.dirname(self.path)
        find_below = functools.partial(self.image_names.find_below, start=folder)
        lists = []
        try:
            for listed in read_lists(self.file, self.vocabulary, find_below):
                ids = listed.ids
                if listed.image_count < len(ids):
                    ids = self.image_names.keep_inside(ids, self.file.where, given)
                split_list = as_split_list(self.path, listed, self.rank)
                may_be_scores = not listed.key and self._may_be_scores
                lists.append(dataclasses.replace(split_list, ids=ids, may_be_scores=may_be_scores))
        except ListError as error:
            return dataclasses.replace(self, error=error)
        return dataclasses.replace(self, lists=lists).with_groups()

    def with_groups(self) -> "ListText":
        """Returns the text with the ids of their images in place of the names of groups."""
        if not any(isinstance(name, NamedGroup) for name in self.ids):
            return self
        lists: list[SplitList] = []
        for entry in self.lists:
            ids = replace_groups(entry.ids, self.ids_by_group)
            image_count = sum(1 for name in ids if name in self.image_names)
            lists.append(dataclasses.replace(entry, ids=ids, image_count=image_count))
        return dataclasses.replace(self, lists=lists, names_group=True)

    def with_error_on_names(self) -> "ListText":
        """Returns a text that is a list by its name, with an error if it names images wrongly.

        Wrong are:

        - numbers without their zeros: 7 in place of 0007
        - the beginning that the names of several images share: `P01` of `P01-S1` and `P01-S2`
        - names in a form that is not read
        """
        if self.error is not None:
            return self
        if self.wrong_names:
            error = self.wrong_names_error()
        elif self.names_images_in_unread_form:
            error = ListError(
                self.file.where,
                found="image names in an unknown form",
                expected="one image per line",
                remedy="write an id, a file name or a path on each line",
            )
        else:
            return self
        return dataclasses.replace(self, lists=(), error=error)

    def as_lists(self) -> Sequence[SplitList]:
        """Returns its lists; an empty one, with the error if there is one, if it names nothing."""
        if self.lists and self.error is None:
            return self.lists
        empty = as_split_list(self.path, _NOTHING_LISTED, self.rank)
        return [dataclasses.replace(empty, may_be_scores=self._may_be_scores, error=self.error)]

    @functools.cached_property
    def _may_be_scores(self) -> bool:
        """Whether it may be a table of scores: it is called `eval`, and has numbers beside names.

        Example: the line `a.jpg,0.83`. A number alone in its line may be the id of an image.
        """
        if not says_split_ambiguously(stem(self.path)):
            return False
        for line in self.beginning.splitlines():
            words = [*words_of(line)]
            numbers = [word for word in words if _NUMBER.fullmatch(word)]
            if len(words) > 1 and any(number not in self.image_names for number in numbers):
                return True
        return False

    def has_ending(self, endings: tuple[str, ...]) -> bool:
        """Says whether the text has one of some endings."""
        return self.path.lower().endswith(endings)

    @functools.cached_property
    def ids(self) -> Sequence[str]:
        """All names in it; the id of an image in place of each of its names."""
        return [image_id for entry in self.lists for image_id in entry.ids]

    @functools.cached_property
    def missing_names(self) -> Sequence[str]:
        """The names in it that are those of no image."""
        return [name for name in self.ids if name not in self.image_names]

    @functools.cached_property
    def image_count(self) -> int:
        """How many of the names are those of images."""
        return sum(entry.image_count for entry in self.lists)

    @property
    def names_images_in_unread_form(self) -> bool:
        """Whether no part of it is a list, and some of its words are names of images."""
        return self.image_count == 0 and self.vocabulary.names_image(self.beginning)

    @property
    def has_enough_images(self) -> bool:
        """Whether it is a list of these images, and not of those of another set.

        A tenth of its names are images of the set, or it names most images of the set.
        """
        tenth_are_images = self.image_count > _MIN_SHARE_OF_IMAGES * len(self.ids)
        names_most_images = 2 * self.image_count > len(self.image_names)
        return tenth_are_images or names_most_images

    @functools.cached_property
    def is_called_as_split(self) -> bool:
        """Whether the name of the text has a word for a split, and only known words."""
        return has_only_split_words(stem(self.path))

    @property
    def split_in_its_name(self) -> str:
        """The split that the name of the text and its folders say, whatever the text holds."""
        return as_split_list(self.path, _NOTHING_LISTED, self.rank).split

    @property
    def has_list_with_split(self) -> bool:
        """Whether a name, a column or a key makes a split of a part of it."""
        return any(entry.split for entry in self.lists)

    @functools.cached_property
    def beginning(self) -> str:
        """Its first bytes as text."""
        data = self.file.data[:_BEGINNING_BYTES]
        return data.replace(b"\0", b"").decode("utf-8", "replace")

    @functools.cached_property
    def words(self) -> Sequence[str]:
        """What stands between separators in its first bytes, and what stands between blanks."""
        return [*words_of(self.beginning)]

    @functools.cached_property
    def wrong_names(self) -> str:
        """Which of its names are not quite those of images, in words; empty if none are.

        - Most names that are no image have lost their zeros: a spreadsheet makes 7 of 0007.
        - No name is an image, and each begins the names of images, as `P01` of a patient begins
          those of `P01-S1` and `P01-S2`.
        """
        missing_names = self.missing_names
        id_by_number = self.image_names.id_by_number
        without_zeros = [name for name in missing_names if name in id_by_number]
        if without_zeros and 2 * len(without_zeros) >= len(missing_names):
            name = without_zeros[0]
            return (
                f"{name}, which may be the image {id_by_number[name]}: spreadsheets take the zeros "
                "before a number"
            )
        if not missing_names or self.image_count:
            return ""
        counts = []
        for name in missing_names:
            counts.append(self.image_names.count_of_group(name))
            if counts[-1] == 0:
                return ""
        if max(counts) == 1:
            return ""
        return (
            f"{missing_names[0]}, which is no image: the names of {counts[0]} images begin with "
            "it, as those of a patient or a scene do"
        )

    def wrong_names_error(self) -> ListError:
        """Returns the error on wrong names, with a rule by which they are those of groups.

        They are not if one of them is an image, or if the user gave groups already.
        """
        remedy = "write the name of an image on each line"
        rule = ""
        if not self.image_count and not self.ids_by_group:
            rule = propose_rule(self.missing_names, [*self.image_names])
        if rule:
            remedy += (
                f"; or, if each name stands for all of its images, say {command(group_by=rule)}"
            )
        return ListError(
            self.file.where,
            found=self.wrong_names,
            expected="the names of images, as their files have them",
            remedy=remedy,
        )


def read_given_list(
    file: File, path: str, image_names: ImageNames, ids_by_group: IdsByGroup
) -> SplitList:
    """Returns a list that the user gave, whatever its name and ending are: a name on each line.

    Raises:
      ListError: if it is no text, is empty, or has a name that leaves the tree; if its names are
        not quite those of images.
    """
    rank = ListRank.SEGMENTATION
    vocabulary = Vocabulary(with_names_of_groups(image_names, ids_by_group))
    ids = parse_ids(file.data, file.where, NamesOfImages(vocabulary.image_names), may_repeat=True)
    split_list = SplitList(path, "", ids, vocabulary.count_images(ids), rank)
    unread_text = ListText(path, file, rank, vocabulary, image_names, ids_by_group, [split_list])
    text = unread_text.with_groups()
    if text.wrong_names:
        raise text.wrong_names_error()
    return text.lists[0]
