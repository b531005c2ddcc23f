"""One example: what its source gives, and what a dataset is to hold of it.

A `Source` has the items of each split and the `ExampleSpec` of what examples hold.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools
from typing import Any, Literal, Protocol, Self

from voc_seg_tfrecord.core.class_rows import Rows
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.core.tiling import Tiling


@dataclasses.dataclass(frozen=True)
class SurveyedMask:
    """What a survey has found in a mask file, so that a build does not count its pixels again.

    Attributes:
      kind: how it is stored: `palette`, `gray` or `rgb`.
      sha256: of the file's bytes, in hexadecimal; empty if its values were not counted, as those of
        RGB masks.
      counts: the number of pixels of each value, ascending; empty if they were not counted.
    """

    kind: str
    sha256: str = ""
    counts: Mapping[int, int] = dataclasses.field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """Returns plain data, for `from_json` on a worker."""
        return {"kind": self.kind, "sha256": self.sha256, "counts": list(self.counts.items())}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> Self:
        """Returns what `to_json` made plain data of."""
        return cls(data["kind"], data["sha256"], dict(data["counts"]))


Exif = Literal["auto", "apply", "ignore"]
Decoding = Literal["none", "readable", "alike"]
"""What is checked about bytes that are kept: nothing; that both decoders can decode them; or also
that they decode them alike. See `formats.images` and `formats.jpeg`."""


@dataclasses.dataclass(frozen=True)
class NeededFiles:
    """The files that an example needs beside its image.

    Attributes:
      masks: whether it needs a mask.
      instances: whether it needs an instance mask.
      annotations: whether it needs an XML annotation.
      background: whether an image may lack its masks; then it is background everywhere.
    """

    masks: bool = True
    instances: bool = False
    annotations: bool = False
    background: bool = False


IMAGE_AND_MASK = NeededFiles()
ALL_FILES = NeededFiles(instances=True, annotations=True)


@dataclasses.dataclass(frozen=True)
class RawExample:
    """One example's files, read but not decoded.

    Attributes:
      image: the image file.
      filename: the image's name below its folder.
      mask: the mask file; None if there is none. If the dataset has masks, this image gets one that
        is background everywhere.
      instances: the instance mask file; None if there is none.
      annotation: the XML file; None if there is none.
      mask_source: who drew the mask, for `2012_aug`: `voc` or `sbd`.
      label: class index of the image, for the task `classification`; otherwise None.
      surveyed: what a survey has found in the mask file; see `index_masks.read_mask`.
      ignored: the ignore mask, which makes the masks void where it is 0; None if there is none.
    """

    image: File
    filename: str
    mask: File | None
    instances: File | None = None
    annotation: File | None = None
    mask_source: str = "voc"
    label: int | None = None
    surveyed: SurveyedMask | None = None
    ignored: File | None = None


@dataclasses.dataclass(frozen=True)
class KeyedExample:
    """One example of a dataset.

    Attributes:
      key: its id, or the id of its tile.
      features: what the builder's features take, by name.
      mask_counts: how many pixels of its mask have each value that occurs; empty without a mask.
    """

    key: str
    features: Mapping[str, Any]
    mask_counts: Mapping[int, int] = dataclasses.field(default_factory=dict)


class Item(Protocol):
    """One example in its source: a tree, a file of records, or arrays in memory.

    An item in files also has `size()`, which returns about how many bytes it has, `to_json()`,
    which returns plain data for a worker, and the class method `from_json`, which makes the item
    again from the data.
    """

    @property
    def id(self) -> str:
        """The example's key, unique in its split."""
        ...

    @property
    def filename(self) -> str:
        """The image's name, which the record holds."""
        ...

    def read(self) -> RawExample:
        """Reads all its files."""
        ...


Dtype = Literal["uint8", "uint16", "float32"]
"""The types that a band may be stored as."""

RGB = "rgb"
"""The value of the option `bands` that takes RGB of 8 bits, whatever is lost."""

PNG_BAND_COUNTS = (1, 3, 4)
"""The numbers of bands that a PNG can hold."""


@dataclasses.dataclass(frozen=True)
class Bands:
    """Which bands of images are kept, in which order, and as which type.

    Attributes:
      numbers: the bands' numbers, from 0.
      dtype: the type that their values are stored as.
      count: how many bands each image must have; None for any number.
    """

    numbers: tuple[int, ...]
    dtype: Dtype = "uint8"
    count: int | None = None

    def __str__(self) -> str:
        return f"{counted(len(self.numbers), 'band')} of {self.dtype}"

    @property
    def is_png(self) -> bool:
        """Whether images are stored as PNGs; otherwise as compressed arrays."""
        return len(self.numbers) in PNG_BAND_COUNTS and self.dtype != "float32"


Resizing = Literal["nearest"]
"""How masks of another size are scaled to their images: each pixel takes the nearest value."""

Task = Literal["segmentation", "classification", "images"]
"""Whether an example is an image with a mask, with one label, or an image alone."""


@dataclasses.dataclass(frozen=True)
class ExampleSpec:
    """What an example is to hold. Frozen and picklable, so that workers can have it.

    Attributes:
      class_names: all classes, in mask order.
      rule: what the values and colors of masks mean.
      official: whether files must be of the kinds that a release holds: plain JPEGs, palette
        or 8-bit grayscale masks.
      instances: whether `instance_mask` is a feature.
      objects: whether `objects` is a feature.
      exif: what an EXIF orientation means; see `images.open_image`.
      task: whether an example has a mask, one label, or neither.
      mask_source: whether `mask_source` is a feature.
      background: name of the background class; empty if none is known.
      decoding: what is tried with the bytes of images; see `images.open_image`.
      tiling: how images are cut into tiles; None if they are not.
      bands: which bands images keep, and as what; None if they become RGB of 8 bits.
      user_wants_rgb: whether the user wants RGB of 8 bits, whatever bands or bits are lost.
      can_keep_bands: whether an error about lost bands or bits may advise the option `bands`, which
        TFRecords of other programs do not have.
      resizing: how masks of another size are scaled to their images; None if they are refused.
      table: the class of the dataset that each class of the source became; None without masks. The
        rule and `class_names` have those of the dataset, and XML annotations name the source's.
    """

    class_names: tuple[str, ...]
    rule: MaskRule
    official: bool = False
    instances: bool = False
    objects: bool = False
    exif: Exif = "ignore"
    task: Task = "segmentation"
    mask_source: bool = False
    background: str = ""
    decoding: Decoding = "readable"
    tiling: Tiling | None = None
    table: ClassTable | None = None
    bands: Bands | None = None
    user_wants_rgb: bool = False
    can_keep_bands: bool = True
    resizing: Resizing | None = None

    @functools.cached_property
    def background_index(self) -> int | None:
        """Index of the class that means background; None if there is none."""
        return background_index(self.class_names, self.background)

    @property
    def fill(self) -> int | None:
        """The value of a mask that is missing: that of background; None if none is known."""
        return self.table.fill if self.table else self.background_index


@dataclasses.dataclass(frozen=True)
class Source:
    """Where a dataset comes from: the items of each split, and what to make of them.

    Attributes:
      splits: items by split name.
      spec: what examples are to hold and how masks are read.
      archives: `filename` and `sha256` of each archive it was unpacked from, if verified.
      colors: the color of each class index, and of 255, if a class file gives them.
      rows: the class of each value and color of its masks; empty if that was not found out.
      index_by_value: the class index, or 255, of each value that mask files store; empty if none
        is known, as of masks that are drawn from polygons.
      numbered: whether an option gave the classes their numbers, so that these may change.
    """

    splits: Mapping[str, Sequence[Item]]
    spec: ExampleSpec
    archives: Sequence[Mapping[str, str]] = ()
    colors: Mapping[int, tuple[int, int, int]] = dataclasses.field(default_factory=dict)
    rows: Rows = ()
    index_by_value: Mapping[int, int] = dataclasses.field(default_factory=dict)
    numbered: bool = True
