"""Masks that are made when they are read: drawn from shapes, or merged from several files.

`drawn_labels` and `merged_labels` make them. Here is what both do with the masks that were made:
they are kept, counted, and listed by class.
"""

from abc import abstractmethod
import base64
import collections
from collections.abc import Collection
import csv
import dataclasses
import hashlib
import io
from typing import Any, Generic, Protocol, TypeVar, cast

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.example import RawExample, SurveyedMask
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.processes import ordered_map
from voc_seg_tfrecord.folder.mask_survey import MaskContent, Survey
from voc_seg_tfrecord.folder.tree.labels import Labels
from voc_seg_tfrecord.formats import mask_samples, png_encoder

Facts = TypeVar("Facts")
"""What is kept of each mask beside its content."""


@dataclasses.dataclass(frozen=True)
class MadeMask(Generic[Facts]):
    """A mask that was made for a survey.

    Attributes:
      png: the mask as a PNG in base64.
      content: what is in it.
      facts: what else was counted.
    """

    png: str
    content: MaskContent
    facts: Facts


class MaskMaker(Protocol):
    """An image of which the mask is made: a pair whose mask is no file."""

    @property
    def id(self) -> str:
        """The image id."""

    def read(self) -> RawExample:
        """Reads the image, and makes its mask."""

    def make_mask(self) -> tuple[np.ndarray, Any]:
        """Returns the mask, uint8 `[H, W]`, and what was counted while it was made."""


def encode_mask(mask: np.ndarray) -> bytes:
    """Returns a mask, uint8 `[H, W]`, as a PNG."""
    return png_encoder.encode(mask, runs=True)


def make_mask(maker: MaskMaker) -> MadeMask[Any] | None:
    """Returns the mask of an image.

    It is None if it cannot be made: whoever reads the pair says what is wrong.
    """
    try:
        mask, facts = maker.make_mask()
    except ConfigError:  # about what is not installed
        raise
    except VocSegError:
        return None
    data = encode_mask(mask)
    values = mask_samples.counts_by_value(mask)
    content = MaskContent("gray", values, sha256=hashlib.sha256(data).hexdigest())
    return MadeMask(base64.b64encode(data).decode(), content, facts)


@dataclasses.dataclass(frozen=True, eq=False, kw_only=True)
class MadeLabels(Labels, Generic[Facts]):
    """Labels whose masks are made. `names` has the file that an id's mask is made from.

    If it is made from several, `names` has the first of them.

    `class_file` is not None: the labels themselves have the classes.
    """

    made_by_id: dict[str, MadeMask[Facts] | None] = dataclasses.field(
        default_factory=dict, init=False
    )
    """The masks that were surveyed, by id; None if a mask cannot be made."""

    @abstractmethod
    def pair_of_mask(self, image_id: str) -> MaskMaker:
        """Returns a pair from which the mask of an id can be made."""

    def can_be_made(self, image_id: str) -> bool:
        """Says whether it makes sense to try the mask of an id."""
        return image_id in self.names

    def file(self, image_id: str) -> File:
        """Returns the index mask of an id that has one."""
        return cast(File, self.pair_of_mask(image_id).read().mask)

    def survey(self, ids: Collection[str], *, all_colors: bool = False) -> Survey:
        """Makes the masks of ids, and keeps them in `made_by_id`: a few kilobytes each.

        Returns:
          An empty survey, because no files store the pixels of these masks.
        """
        del all_colors  # there are none
        makers = []
        for image_id in ids:
            if image_id not in self.names or image_id in self.made_by_id:
                continue
            if self.can_be_made(image_id):
                makers.append(self.pair_of_mask(image_id))
            else:
                self.made_by_id[image_id] = None
        for maker, made in ordered_map(make_mask, makers, count=len(makers)):
            self.made_by_id[maker.id] = made
        return Survey()

    def surveyed_mask(self, image_id: str) -> SurveyedMask | None:
        """Returns the content of an id's mask if it was surveyed, for `index_masks.read_mask`."""
        made = self.made_by_id.get(image_id)
        return made.content.as_surveyed() if made else None

    def class_table_csv(self, ids: Collection[str]) -> str:
        """Returns the table of classes by name as CSV, with the pixels and masks of each."""
        self.survey(ids)
        pixels = collections.Counter[int]()
        masks = collections.Counter[int]()
        for image_id in ids:
            made = self.made_by_id.get(image_id)
            if made is not None:
                values = made.content.values
                pixels.update(values)
                masks.update([*values])
        out = io.StringIO()
        lines = csv.writer(out, lineterminator="\n")
        lines.writerow(["name", "class", "pixels", "masks"])
        assert self.class_file
        for entry in self.class_file.entries:
            if entry.value != VOID:
                lines.writerow([entry.name, entry.name, pixels[entry.value], masks[entry.value]])
        return out.getvalue()

    @property
    def made_masks(self) -> list[MadeMask[Facts]]:
        """The masks that were surveyed and can be made."""
        return [made for made in self.made_by_id.values() if made is not None]

    def pixels_by_class(self) -> collections.Counter[str]:
        """Returns how many pixels each class has in the masks that were made; void is one name."""
        assert self.class_file
        names = {entry.value: entry.name for entry in self.class_file.entries}
        pixels = collections.Counter[str]()
        for made in self.made_masks:
            for value, count in made.content.values.items():
                pixels[names[value]] += count
        return pixels
