"""One id's files in a tree: where each lies, and what is wrong if it does not lie there.

`Labels` says where the masks come from: here files of pixels, in `drawn_labels` a tool's shapes.
"""

from collections.abc import Collection, Mapping, Sequence, Set
import dataclasses
import functools
import os
import posixpath
from typing import Any, Self
import unicodedata

from etils import epath

from voc_seg_tfrecord.core import storage
from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.errors import AnnotationError, ImageError, LayoutError, MaskError
from voc_seg_tfrecord.core.example import NeededFiles, RawExample, SurveyedMask
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.folder.tree.names import Names
from voc_seg_tfrecord.formats import bands
from voc_seg_tfrecord.formats.mask_survey import MaskContent, Survey, survey


@dataclasses.dataclass(frozen=True)
class Pair:
    """One id's files. Cheap to make, and to send to a worker as JSON.

    Attributes:
      id: the image id, the example's key.
      filename: the image's name below its folder.
      image: the image's path.
      mask: the mask's path, None where an image without one is background, or has none.
      instances: the instance mask's path, where asked for.
      annotation: the XML's path, where asked for.
      surveyed: what a survey has found in the mask file; see `index_masks.read_mask`.
      channels: how many files the image has; those behind the first end with `_0001` and so on in
        place of `_0000`.
    """

    id: str
    filename: str
    image: epath.PathLike
    mask: epath.PathLike | None = None
    instances: epath.PathLike | None = None
    annotation: epath.PathLike | None = None
    surveyed: SurveyedMask | None = None
    channels: int = 1

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
        )

    def _read_image(self) -> File:
        """Reads the image, of which each channel may be a file."""
        if self.channels == 1:
            return File.read(self.image, ImageError)
        paths = channel_paths(self.image, self.channels)
        return bands.stacked([File.read(path, ImageError) for path in paths])

    def size(self) -> int:
        """Returns how many bytes image and masks have together."""
        paths = (self.image, self.mask, self.instances)
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
    stem_without_number = stem[:-_CHANNEL_DIGITS]
    first = int(stem[-_CHANNEL_DIGITS:])
    return [f"{stem_without_number}{number:04}{ending}" for number in range(first, first + count)]


@dataclasses.dataclass(frozen=True)
class PartFiles:
    """The files of one part of examples, such as their masks.

    Attributes:
      folder: the folder.
      names: the names of the files below it, by id.
      needed: whether a file that is missing is an error.
    """

    folder: epath.Path
    names: Names
    needed: bool = True

    def twins(self, image_id: str) -> Sequence[str]:
        """Returns the names of an id's files if it has several, of which none can be preferred."""
        if not self.names.twins:
            return ()
        id_of_file = self.names.find_id(image_id)
        return self.names.twins.get(id_of_file, ()) if id_of_file else ()

    @functools.cached_property
    def _prefix(self) -> str:
        """What stands in front of each name: a path object per file takes more than reading it."""
        return posixpath.join(os.fspath(self.folder), "")

    def path(self, image_id: str) -> str | None:
        """Returns the path of an id's file, None if there is none."""
        name = self.names.get(image_id)
        return None if name is None else self._prefix + name


@dataclasses.dataclass(frozen=True)
class LabelSplit:
    """The images of a split that a file of labels has.

    Attributes:
      split: the split that the name of the file says, or that of a subset in it.
      file: the file, below the given folder.
      subset: the subset, as the file has it; empty if all of the file is one split.
      ids: the ids of the images.
    """

    split: str
    file: str
    subset: str
    ids: Sequence[str]

    @property
    def source(self) -> str:
        """The file, with the subset behind a colon if there is one."""
        return f"{self.file}:{self.subset}" if self.subset else self.file


@dataclasses.dataclass(frozen=True, eq=False)
class Labels:
    """The masks of a tree, as files of pixels.

    `drawn_labels.DrawnLabels` has them as a tool's shapes, and answers the same.

    Attributes:
      folder: where the files lie.
      names: the names of the files below it, by id.
      pair_type: what reads the files of an id.
      sheets: files of labels that are no masks. There are none among files of pixels.
      splits: the splits that files of labels say, of several files or of subsets in one; likewise.
      class_file: the classes, if the labels say them themselves; likewise.
      tool: what wrote the shapes that are drawn; empty for files of pixels.
    """

    folder: epath.Path
    names: Names
    pair_type: type[Pair] = Pair
    sheets: Set[str] = frozenset()
    splits: Sequence[LabelSplit] = ()
    class_file: ClassFile | None = None
    tool: str = ""
    _content_by_id: dict[str, MaskContent] = dataclasses.field(default_factory=dict, init=False)
    """What `survey` has found in masks so far. No mask is looked at twice."""

    @property
    def objects(self) -> PartFiles | None:
        """Where object masks come from, if the labels have them; otherwise files of their own."""
        return None

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Looks at the masks of ids, and keeps what is in them; see `mask_survey.survey`."""
        masks = PartFiles(self.folder, self.names)
        return survey(ids, masks.path, self._content_by_id, all_colors=all_colors)

    def surveyed_mask(self, image_id: str) -> SurveyedMask | None:
        """Returns what `survey` has found in an id's mask, for `index_masks.read_mask`.

        It is None if the mask was not looked at.
        """
        content = self._content_by_id.get(image_id)
        return content.as_surveyed() if content else None

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one."""
        return File.read(self.folder / self.names[image_id], MaskError)

    def complete_pair(self, pair: Pair, parts: NeededFiles) -> Pair:
        """Returns a pair that reads its mask as these labels have it.

        Args:
          pair: the paths of an id's files.
          parts: what is needed of them.
        """
        del parts  # for labels of which a pair has to say more
        fields = {**vars(pair), "surveyed": self.surveyed_mask(pair.id)}
        return self.pair_type(**fields)

    def shapes_of(self, image_id: str) -> str:
        """Returns what an id's mask is drawn from; empty of a mask that is a file."""
        del image_id
        return ""

    def notes(self) -> list[str]:
        """Returns what a user should know of masks that were drawn."""
        return []

    def table(self, ids: Collection[str]) -> str:
        """Returns the table of classes as CSV, if the labels say them themselves; else nothing."""
        del ids
        return ""


@dataclasses.dataclass(frozen=True)
class WordsOfPart:
    """How errors name a part of examples.

    Attributes:
      noun: the part, such as `mask`.
      noun_with_article: the same with its article.
      plural: the same for several.
      without: how to build without the part, for one that not all examples need.
    """

    noun: str
    noun_with_article: str
    plural: str
    without: str = ""


WORDS_BY_PART = {
    "image": WordsOfPart("image", "an image", "images"),
    "mask": WordsOfPart("mask", "a mask", "masks"),
    "instances": WordsOfPart(
        "instance mask",
        "an instance mask",
        "instance masks",
        'leave instance masks out: no --instance_masks, or "instance_mask": false in the config',
    ),
    "annotation": WordsOfPart(
        "XML file",
        "an XML file",
        "XML files",
        'leave boxes out: no --objects, or "objects": false in the config',
    ),
}
"""The words of each part, by its name in `Pair`."""


def missing_file_error(part: str, files: PartFiles, image_id: str) -> LayoutError:
    """Returns the error that a part of an id, such as `mask`, has no file in a tree."""
    words = WORDS_BY_PART[part]
    similar_id = files.names.find_similar_id(image_id)
    if similar_id:
        found = f"no such file, but {_difference(image_id, similar_id)}"
        remedy = "write the ids exactly as the files are named, or rename the files"
    else:
        found = "no such file"
        remedy = "put the file there, or remove the id from the list"
        if words.without:
            remedy = f"{remedy}, or {words.without}"
    return LayoutError(
        files.folder / image_id,
        found=found,
        expected=f"{words.noun_with_article} for each id",
        remedy=remedy,
        kind=f"missing {words.noun}",
    )


def several_files_error(part: str, files: PartFiles, image_id: str) -> LayoutError:
    """Returns the error that a part of an id has more than one file."""
    names = files.twins(image_id)
    return LayoutError(
        files.folder / names[0],
        found=f"{len(names)} files for one id: {' and '.join(names)}",
        expected=f"{WORDS_BY_PART[part].noun_with_article} for each id, and no second one",
        remedy="keep one of the files in the folder, and rename the others or take them out",
        kind="several files for one id",
    )


def _difference(image_id: str, similar_id: str) -> str:
    """Says in words how two ids differ that look alike."""
    if unicodedata.normalize("NFC", image_id) != unicodedata.normalize("NFC", similar_id):
        return f"{similar_id!r} is there, which differs in upper and lower case"
    return (
        "one whose name looks the same is there. The id has the Unicode form "
        f"{_unicode_form(image_id)}, and the name of the file has {_unicode_form(similar_id)}"
    )


def _unicode_form(text: str) -> str:
    for form in ("NFC", "NFD"):
        if unicodedata.is_normalized(form, text):
            return form
    return "mixed"
