"""One id's files in a tree, which are read together, where the files of each part lie, and what may
be wrong with them.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
import os
import posixpath
from typing import Any, Self

from etils import epath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.errors import AnnotationError, ImageError, LayoutError, MaskError
from voc_seg_tfrecord.core.example import RawExample, SurveyedMask
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.spelling import as_nfc
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.formats import bands


@dataclasses.dataclass(frozen=True)
class Pair:
    """One id's files. Cheap to make, and to send to a worker as JSON.

    Attributes:
      id: the image id, the example's key.
      filename: the image's name below its folder.
      image: the image's path.
      mask: the file that the mask is read, drawn or merged from, of several the first. Errors call
        the mask by its path. None where an image without one is background, or has none.
      instances: the instance mask's path, where asked for.
      annotation: the XML's path, where asked for.
      surveyed: what a survey has found in the mask file; see `index_masks.read_mask`.
      channels: how many files the image has; those behind the first end with `_0001` and so on in
        place of `_0000`.
      ignored: the ignore mask's path, where the user named a folder of ignore masks.
    """

    id: str
    filename: str
    image: epath.PathLike
    mask: epath.PathLike | None = None
    instances: epath.PathLike | None = None
    annotation: epath.PathLike | None = None
    surveyed: SurveyedMask | None = None
    channels: int = 1
    ignored: epath.PathLike | None = None

    def read(self) -> RawExample:
        """Reads each file once.

        Raises:
          VocSegError: naming a file that cannot be read.
        """
        return RawExample(
            image=self._read_image(),
            filename=self.filename,
            mask=File.read(self.mask, MaskError) if self.mask else None,
            instances=File.read(self.instances, MaskError) if self.instances else None,
            annotation=File.read(self.annotation, AnnotationError) if self.annotation else None,
            surveyed=self.surveyed,
            ignored=self._read_ignored(),
        )

    def _read_ignored(self) -> File | None:
        """Reads the ignore mask, if there is one."""
        return File.read(self.ignored, MaskError) if self.ignored else None

    def _read_image(self) -> File:
        """Reads the image, of which each channel may be a file."""
        if self.channels == 1:
            return File.read(self.image, ImageError)
        paths = channel_paths(self.image, self.channels)
        return bands.stack_channels([File.read(path, ImageError) for path in paths])

    def size(self) -> int:
        """Returns how many bytes image and masks have together."""
        paths = (*channel_paths(self.image, self.channels), self.mask, self.instances, self.ignored)
        return sum(storage.size(path) for path in paths if path)

    def to_json(self) -> dict[str, Any]:
        """Returns the pair as plain data, for `from_json` on a worker."""
        fields = dict(vars(self))
        for name, value in fields.items():
            if isinstance(value, os.PathLike):
                fields[name] = os.fspath(value)
        if self.surveyed is not None:
            fields["surveyed"] = self.surveyed.to_json()
        return fields

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns the pair that `to_json` made plain data of."""
        surveyed = data["surveyed"] and SurveyedMask.from_json(data["surveyed"])
        return cls(**{**data, "surveyed": surveyed})


_CHANNEL_DIGITS = 4
"""Digits at the end of the name of an image's channel, as in `case_0000.png`."""


def channel_paths(image: epath.PathLike, count: int) -> list[epath.PathLike]:
    """Returns the paths of an image's channels by that of the first."""
    if count == 1:
        return [image]
    stem, ending = os.path.splitext(os.fspath(image))  # noqa: PTH122 - quick, and a bucket's too
    beginning = stem[:-_CHANNEL_DIGITS]
    first_number = int(stem[-_CHANNEL_DIGITS:])
    numbers = range(first_number, first_number + count)
    return [f"{beginning}{number:04}{ending}" for number in numbers]


@dataclasses.dataclass(frozen=True)
class WordsOfPart:
    """How errors name a part of examples.

    Attributes:
      noun: the part, such as `mask`; an `s` makes it several.
      article: its article.
      without: how to build without the part, for one that not all examples need.
    """

    noun: str
    article: str = "a"
    without: str = ""


WORDS_BY_PART = {
    "image": WordsOfPart("image", "an"),
    "mask": WordsOfPart("mask"),
    "instances": WordsOfPart(
        "instance mask",
        "an",
        'leave instance masks out: no --instance_masks, or "instance_mask": false in the config',
    ),
    "ignored": WordsOfPart("ignore mask", "an", "leave all ignore masks out: no --ignore_masks"),
    "annotation": WordsOfPart(
        "XML file", "an", 'leave boxes out: no --objects, or "objects": false in the config'
    ),
}
"""The words of each part, by its name in `Pair`."""

MISSING_IMAGE = "missing image"
"""The kind of an error that an id has no image; other parts have theirs likewise."""

NO_SUCH_FILE = "no such file"
"""What is found where the file of an id should be, if no file has a similar name."""


@dataclasses.dataclass(frozen=True)
class PartFiles:
    """The files of one part of examples, such as their masks.

    Attributes:
      root: the folder below which the paths of the files are.
      names: the paths of the files below it, by id.
      folder_below_root: the folder in which they lie, and in which one that is missing should lie;
        empty for the root.
      needed: whether a file that is missing is an error.
    """

    root: epath.Path
    names: Names
    folder_below_root: str = ""
    needed: bool = True

    @property
    def folder(self) -> epath.Path:
        """The folder of the files."""
        return self.root / self.folder_below_root

    def name_below_folder(self, image_id: str) -> str:
        """Returns the name of an id's file below the folder."""
        return self.names[image_id].removeprefix(posixpath.join(self.folder_below_root, ""))

    def ambiguous_names(self, image_id: str) -> Sequence[str]:
        """Returns the paths of all files of an id that has several; none if it has one."""
        if not self.names.names_by_ambiguous_id:
            return ()
        id_of_file = self.names.find_id(image_id)
        if id_of_file is None:
            return ()
        return self.names.names_by_ambiguous_id.get(id_of_file, ())

    def path(self, image_id: str) -> str | None:
        """Returns the full path of an id's file; None if there is none."""
        name = self.names.get(image_id)
        return None if name is None else self._root_with_slash + name

    @functools.cached_property
    def _root_with_slash(self) -> str:
        """The root as text: making a path object for each file takes longer than reading it."""
        return posixpath.join(os.fspath(self.root), "")

    def find_fault(self, part: str, image_id: str) -> LayoutError | None:
        """Returns the error that an id has no file of a needed part, or several files of any.

        Args:
          part: the part, such as `mask`.
          image_id: the id.
        """
        words = WORDS_BY_PART[part]
        expected = f"{words.article} {words.noun} for each id"
        if image_id not in self.names:
            if not self.needed:
                return None
            similar_id = self.names.find_similar_id(image_id)
            if similar_id:
                found = f"no such file, but {_difference(image_id, similar_id)}"
                remedy = "write the ids exactly as the files are named, or rename the files"
            else:
                found = NO_SUCH_FILE
                remedy = "put the file there, or remove the id from the list"
                if words.without:
                    remedy += f", or {words.without}"
            kind = f"missing {words.noun}"
            return LayoutError(
                self.folder / image_id, found=found, expected=expected, remedy=remedy, kind=kind
            )
        paths = self.ambiguous_names(image_id)
        if not paths:
            return None
        return LayoutError(
            self.root / paths[0],
            found=f"{len(paths)} files for one id: {' and '.join(paths)}",
            expected=f"{expected}, and no second one",
            remedy="keep one of the files, and rename or remove the others",
            kind="several files for one id",
        )


def _difference(image_id: str, similar_id: str) -> str:
    """Describes how two ids differ that look alike."""
    if as_nfc(image_id) != as_nfc(similar_id):
        return f"{similar_id!r} is there, which differs in upper and lower case"
    return "one whose name looks the same is there, in another Unicode form"
