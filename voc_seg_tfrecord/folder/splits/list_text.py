"""One text that may be a list: the images and splits that it names."""

from collections.abc import Sequence
import dataclasses
import functools
import posixpath
import re

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.split_names import has_only_split_words, says_split_ambiguously
from voc_seg_tfrecord.folder.by_name import ImageNames
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.splits.list_names import as_split_list
from voc_seg_tfrecord.folder.splits.listed_groups import IdsByGroup
from voc_seg_tfrecord.folder.splits.split_lists import ListRank, SplitList
from voc_seg_tfrecord.formats.list_files import ListReader
from voc_seg_tfrecord.formats.list_tables import ListedImages
from voc_seg_tfrecord.formats.texts import OTHER_ENDINGS, words_of

_MIN_SHARE_OF_IMAGES = 0.1  # of the names in a text
_BEGINNING_BYTES = 1 << 20


@dataclasses.dataclass(frozen=True)
class ListText:
    """A text that was read.

    These say whether it is a list, and of what:

    | property | looks at | true of |
    | --- | --- | --- |
    | `is_called_as_split` | the name of the file | `val_list.txt`; not `crack_train.txt` |
    | `has_split_in_its_name` | its name and its folders | `crack_train.txt`, `train/images.txt` |
    | `has_list_with_split` | both, and its columns and keys | `{"train": ["a"]}` in `a.json` |
    | `has_enough_images` | all names in it | a list of these images, not of others |
    | `names_images_in_unread_form` | its words, if nothing was read | `a and b are blurred` |

    Attributes:
      path: the text, below the given folder.
      file: its bytes, and how errors name it.
      rank: how usual its folder is for lists.
      reader: the reader of lists.
      image_names: the ids of the images by their names.
      ids_by_group: the images of each group that it may name in place of images.
      listed: the parts of it that name images.
      error: why it could not be read, if it could not.
      names_group: whether it names a group in place of images.
    """

    path: str
    file: File
    rank: ListRank
    reader: ListReader
    image_names: ImageNames
    ids_by_group: IdsByGroup = dataclasses.field(default_factory=dict)
    listed: Sequence[ListedImages] = ()
    error: ListError | None = None
    names_group: bool = False

    def with_listed_images(self, given: epath.Path) -> "ListText":
        """Reads which images the text names, and returns it with them in `listed`, or the error.

        A path out of the given folder names no image. A text with an ending that is not read names
        nothing.
        """
        if self.has_ending(OTHER_ENDINGS):
            return self
        folder = posixpath.dirname(self.path)
        find_below = functools.partial(self.image_names.find_below, start=folder)
        listed = []
        try:
            for entry in self.reader.read(self.file, find_below):
                ids = entry.ids
                names_missing_images = entry.image_count < len(ids)
                if names_missing_images:
                    ids = self.image_names.keep_inside(ids, self.file.where, given)
                listed.append(dataclasses.replace(entry, ids=ids))
        except ListError as error:
            return dataclasses.replace(self, error=error)
        return dataclasses.replace(self, listed=listed).with_groups()

    def with_groups(self) -> "ListText":
        """Returns the text with the ids of their images in place of the names of groups."""
        listed: list[ListedImages] = []
        for entry in self.listed:
            ids: list[str] = []
            for name in entry.ids:
                ids += self._images_of(name)
            image_count = self.reader.vocabulary.count_images(ids)
            listed.append(dataclasses.replace(entry, ids=ids, image_count=image_count))
        names_group = any(name in self.ids_by_group for name in self.missing_names)
        if not names_group:
            return self
        return dataclasses.replace(self, listed=listed, names_group=True)

    def _images_of(self, name: str) -> Sequence[str]:
        """Returns the images of a group; the name itself if it is that of an image, or of none."""
        if name in self.image_names:
            return [name]
        return self.ids_by_group.get(name, [name])

    def as_lists(self) -> list[SplitList]:
        """Returns its lists; an empty one, with the error if there is one, if it names nothing."""
        if self.error is not None or not self.listed:
            return [dataclasses.replace(self.as_list(_NOTHING_LISTED), error=self.error)]
        return [self.as_list(entry) for entry in self.listed]

    def as_lists_without_splits(self) -> list[SplitList]:
        """Returns its lists that name images, each as one that makes no split."""
        return [
            SplitList(self.path, entry.key, entry.ids, entry.image_count, self.rank)
            for entry in self.listed
            if entry.image_count
        ]

    @functools.cached_property
    def missing_names(self) -> Sequence[str]:
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
    def has_split_in_its_name(self) -> bool:
        """Whether the name of the text and its folders say a split, whatever the text holds."""
        return self.as_list(_NOTHING_LISTED).split != ""

    @property
    def has_list_with_split(self) -> bool:
        """Whether a name, a column or a key makes a split of a part of it."""
        return any(self.as_list(entry).split for entry in self.listed)

    def as_list(self, entry: ListedImages) -> SplitList:
        """Returns one part of it as a list."""
        split_list = as_split_list(self.path, entry, self.rank)
        if entry.key or not self._may_be_scores:
            return split_list
        return dataclasses.replace(split_list, may_be_scores=True)

    @functools.cached_property
    def _may_be_scores(self) -> bool:
        """Whether it may be a table of scores: it is called `eval`, and has numbers beside names.

        Example: the line `a.jpg,0.83`. A number alone in its line may be the id of an image.
        """
        if not says_split_ambiguously(stem(self.path)):
            return False
        for line in self.beginning.splitlines():
            words = list(words_of(line))
            numbers = [word for word in words if _NUMBER.fullmatch(word)]
            has_score = any(number not in self.image_names for number in numbers)
            if has_score and len(words) > 1:
                return True
        return False

    @functools.cached_property
    def beginning(self) -> str:
        """Its first bytes as text."""
        data = self.file.data[:_BEGINNING_BYTES]
        return data.replace(b"\0", b"").decode("utf-8", "replace")


_NOTHING_LISTED = ListedImages("", (), 0)
_NUMBER = re.compile(r"[-+]?(0|[1-9]\d*)(\.\d*)?(e[-+]?\d+)?%?", re.IGNORECASE)
"""A score or a count. `000099` and `2007_000099` are ids."""
