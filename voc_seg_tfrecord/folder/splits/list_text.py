"""One text that may be a list: what it names, and whether it makes splits.

A text that names images and splits in a form that is not read is unclear, and so is one whose ids
have lost their zeros. Unless something else divides the images, it stops the build.
"""

from collections.abc import Sequence
import dataclasses
import enum
import functools
import posixpath

from etils import epath

from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.split_names import (
    WORDS,
    is_called_as_split,
    list_splits_in,
    only_split_in,
)
from voc_seg_tfrecord.folder.files.folder_names import stem
from voc_seg_tfrecord.folder.splits.image_names import ImageNames
from voc_seg_tfrecord.folder.splits.split_lists import SplitList, as_split_list
from voc_seg_tfrecord.formats.list_files import (
    DOCUMENT_ENDINGS,
    OTHER_ENDINGS,
    YAML_ENDINGS,
    ListReader,
    words_of,
)
from voc_seg_tfrecord.formats.listed_images import ListedImages

_MIN_SHARE_OF_IMAGES = 0.1  # of the names in a text
_BEGINNING_BYTES = 1 << 20
_BEGINNINGS_OF_SPLITS = {word[:2] for word in WORDS} | {"vo", "da"}  # also of voctest, datatest


@dataclasses.dataclass(frozen=True)
class UnclearText:
    """A text that names images and splits, and is not understood.

    Attributes:
      file: the text, below the given folder.
      found: what is in it, in words.
      names_most: whether it names more than half of the images.
      has_wrong_names: whether its form is read, but its names are not quite those of images.
    """

    file: str
    found: str
    names_most: bool
    has_wrong_names: bool = False


class Use(enum.Enum):
    """What a text is good for."""

    SPLITS = "it makes splits"
    NO_SPLITS = "it makes no split"
    UNCLEAR = "it says splits, and is not understood"
    WRONG_NAMES = "it says splits, of names that are not quite those of images"


@dataclasses.dataclass(frozen=True)
class Verdict:
    """What a text is good for, and why.

    Attributes:
      use: what it is good for.
      reason: why it makes no split, in words that go on after the name of the text; or what is in
        it that is not understood. Empty if nobody has to know.
    """

    use: Use
    reason: str = ""


_MAKES_SPLITS = Verdict(Use.SPLITS)
_OF_NO_INTEREST = Verdict(Use.NO_SPLITS)


@dataclasses.dataclass(frozen=True)
class ListText:
    """A text that was read.

    Attributes:
      path: the text, below the given folder.
      file: its bytes, and how errors name it.
      rank: how usual its place is for lists.
      reader: the reader of lists.
      image_names: the ids of the images by their names.
      listed: the places in it that name images.
      error: why it could not be read, if it could not.
    """

    path: str
    file: File
    rank: int
    reader: ListReader
    image_names: ImageNames
    listed: Sequence[ListedImages] = ()
    error: ListError | None = None

    def read(self, given: epath.Path) -> "ListText":
        """Returns the text with what it names; a path out of the given folder names no image.

        A text with an ending that is not read names nothing.
        """
        if self._has_ending(OTHER_ENDINGS):
            return self
        place = posixpath.dirname(self.path)
        find_below = functools.partial(self.image_names.find_below, place=place)
        listed = []
        try:
            for entry in self.reader.read(self.file, find_below):
                ids = entry.ids
                if entry.found < len(ids):
                    ids = self.image_names.keep_inside(ids, self.file.where, given)
                listed.append(dataclasses.replace(entry, ids=ids))
        except ListError as error:
            return dataclasses.replace(self, error=error)
        return dataclasses.replace(self, listed=listed)

    def as_lists(self) -> list[SplitList]:
        """Returns its lists; of a text that cannot be read, an empty one with the error."""
        listed = self.listed or [ListedImages("", (), 0)]
        return [
            dataclasses.replace(as_split_list(self.path, entry, self.rank), error=self.error)
            for entry in listed
        ]

    def as_lists_without_splits(self) -> list[SplitList]:
        """Returns its lists that name images, each as one that makes no split."""
        return [
            SplitList(self.path, entry.key, entry.ids, entry.found, self.rank)
            for entry in self.listed
            if entry.found
        ]

    def with_form_checked(self) -> "ListText":
        """Returns a text that is a list by its name, with an error if it names images wrongly.

        It does if it names them in no form that is read, by numbers without their zeros, or by the
        beginning that the names of several have in common.
        """
        if self.error is not None:
            return self
        wrong_names = self._words_on_lost_zeros() or self._words_on_beginnings()
        if wrong_names:
            error = ListError(
                self.file.where,
                found=wrong_names,
                expected="the names of images, as their files have them",
                remedy="write the name of an image on each line",
            )
        elif self._found == 0 and self.reader.names_image(self._beginning):
            error = ListError(
                self.file.where,
                found="names of images in a form that is not read",
                expected="one image on each line",
                remedy="write an id, a file's name or a path on each line",
            )
        else:
            return self
        return dataclasses.replace(self, listed=(), error=error)

    def judge(self) -> Verdict:
        """Says whether a text makes splits that is no list by its name and place alone."""
        if self.error is not None:
            return self._judge_wrong_text(self.error)
        if self._has_ending(YAML_ENDINGS) and self._names_images_twice():
            # YOLO's data.yaml may have one folder for train and val, which divides nothing.
            return Verdict(Use.NO_SPLITS, "names the same images for several splits")
        if self._is_called_as_split or any(entry.says_split for entry in self.listed):
            wrong_names = self._words_on_lost_zeros() or self._words_on_beginnings()
            if wrong_names:
                return Verdict(Use.WRONG_NAMES, wrong_names)
        if not self._has_enough_images():
            reason = self._reason_of_other_images()
            if reason:
                return Verdict(Use.NO_SPLITS, reason)
        elif self._says_split():
            return _MAKES_SPLITS
        for entry in self.listed:
            if entry.unclear:
                return Verdict(Use.UNCLEAR, f"names of images, and {entry.unclear}")
        return self._judge_unknown_form()

    def as_unclear(self, verdict: Verdict) -> UnclearText:
        """Returns the text as one that is not understood."""
        words = {*words_of(self._beginning)}
        names = {self.image_names[word] for word in words if word in self.image_names}
        has_wrong_names = verdict.use is Use.WRONG_NAMES
        return UnclearText(
            self.path,
            verdict.reason,
            names_most=2 * len(names) > len(self.image_names),
            has_wrong_names=has_wrong_names,
        )

    def _judge_wrong_text(self, error: ListError) -> Verdict:
        """Says what a text is good for that cannot be read."""
        lines = [line for line in self._beginning.splitlines() if line.strip()]
        lines_with_images = sum(1 for line in lines if self.reader.names_image(line))
        if not lines_with_images:
            if self._is_called_as_split:
                return Verdict(Use.NO_SPLITS, f"is called as a split, but has {error.found}")
            return _OF_NO_INTEREST
        says_split = self._says_split()
        if self._has_ending(DOCUMENT_ENDINGS) and (says_split or self._words_for_splits):
            return Verdict(Use.UNCLEAR, error.found)
        has_few_wrong_lines = 2 * lines_with_images > len(lines)
        if says_split and has_few_wrong_lines:
            return _MAKES_SPLITS  # a list with one wrong line, which stops the build
        return Verdict(Use.NO_SPLITS, f"names images, but has {error.found}")

    def _reason_of_other_images(self) -> str:
        """Says why a text that names few images makes no split; empty if it is no list at all."""
        if any(entry.says_split and not entry.found for entry in self.listed):
            return "says splits, but of other images"
        ids = self._ids
        is_list = self._found > 0 or not self.reader.names_image(self._beginning)
        if not self._is_called_as_split or not ids or not is_list:
            return ""
        first = next(image_id for image_id in ids if image_id not in self.image_names)
        count = f"only {self._found}" if self._found else "none"
        return f"is called as a split, but {count} of its {len(ids)} names was found, not {first!r}"

    def _judge_unknown_form(self) -> Verdict:
        """Says what a text is good for that names no images for splits in a form that is read."""
        mixed_name = self._find_mixed_name()
        if mixed_name and self._found:
            return Verdict(
                Use.UNCLEAR, f"names of images, of which {mixed_name} does not say which are test"
            )
        says_splits = len(self._words_for_splits) > 1
        if self._found:
            may_be_lost = says_splits or self._has_ending(OTHER_ENDINGS)
        else:
            may_be_lost = self.reader.names_image(self._beginning, or_number=says_splits)
        if not may_be_lost:
            return _OF_NO_INTEREST  # a list of all images, a table of ages
        if says_splits:
            words = ", ".join(self._words_for_splits)
            return Verdict(
                Use.UNCLEAR,
                f"names of images and of splits ({words}) in a form that is not read",
            )
        if self._is_called_as_split:
            return Verdict(
                Use.UNCLEAR, "a name of a split, and names of images in a form that is not read"
            )
        return Verdict(Use.NO_SPLITS, "names images in a way that is not understood")

    def _words_on_lost_zeros(self) -> str:
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

    def _words_on_beginnings(self) -> str:
        """Says which names begin those of several images, if all that are no image do; else empty.

        Such are the names of patients: `P01` of `P01-S1` and `P01-S2`.
        """
        if not self._missing_names or self._found:
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
        return [name for name in self._ids if name not in self.image_names]

    def _has_ending(self, endings: tuple[str, ...]) -> bool:
        return self.path.lower().endswith(endings)

    def _names_images_twice(self) -> bool:
        return len({*self._ids}) < len(self._ids)

    def _says_split(self) -> bool:
        """Says whether a name, a column or a key of the text is that of a split."""
        return any(split_list.split for split_list in self.as_lists())

    def _has_enough_images(self) -> bool:
        """Says whether it is a list of these images: they are a tenth of its names, or most."""
        is_tenth = self._found > _MIN_SHARE_OF_IMAGES * len(self._ids)
        return is_tenth or 2 * self._found > len(self.image_names)

    @functools.cached_property
    def _is_called_as_split(self) -> bool:
        return is_called_as_split(stem(self.path))

    @functools.cached_property
    def _ids(self) -> Sequence[str]:
        """All names in it; the id of an image in place of each of its names."""
        return [image_id for entry in self.listed for image_id in entry.ids]

    @functools.cached_property
    def _found(self) -> int:
        """How many of the names are those of images."""
        return sum(entry.found for entry in self.listed)

    @functools.cached_property
    def _words_for_splits(self) -> Sequence[str]:
        """The first word for each split that stands alone between signs or blanks."""
        word_by_split: dict[str, str] = {}
        for word in words_of(self._beginning):
            if word[:2].lower() not in _BEGINNINGS_OF_SPLITS:
                continue
            split = only_split_in(word)
            if split:
                word_by_split.setdefault(split, word)
        return [*word_by_split.values()]

    def _find_mixed_name(self) -> str:
        """Returns a name of the text, or a key in it, that says test and another split; or nothing.

        Nobody knows which of its images are which.
        """
        keys = [key for entry in self.listed if entry.found for key in entry.key.split("/")]
        for name in (stem(self.path), *keys):
            splits = list_splits_in(name)
            if len(splits) > 1 and "test" in splits:
                return name
        return ""

    @functools.cached_property
    def _beginning(self) -> str:
        data = self.file.data[:_BEGINNING_BYTES]
        return data.replace(b"\0", b"").decode("utf-8", "replace")
