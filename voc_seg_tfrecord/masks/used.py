"""What the masks of a set use: palette entries, colours and values. `survey` collects it."""

import dataclasses

from voc_seg_tfrecord.formats.class_parsers import Color
from voc_seg_tfrecord.labels import voc_palette

VOC_NUMBERS = {tuple(color): number for number, color in enumerate(voc_palette().tolist())}
"""VOC's number of each colour of its palette, 0 to 255."""


@dataclasses.dataclass
class Seen:
    """How often something was seen.

    Attributes:
      masks: the number of masks.
      first: the path of the first of them.
      pixels: the number of pixels, where they are counted.
    """

    masks: int = 0
    first: str = ""
    pixels: int = 0

    def add(self, path: str, pixels: int = 0) -> None:
        """Notes one more mask."""
        self.first = self.first or path
        self.masks += 1
        self.pixels += pixels


@dataclasses.dataclass(frozen=True)
class Shared:
    """A used palette entry whose colour stands at a lower index of the same palette too.

    Attributes:
      lower: the lower index; one that is in use, if there is one.
      index: the index in use.
      color: the colour of both.
      both_used: whether the lower index is in use in the same mask.
    """

    lower: int
    index: int
    color: Color
    both_used: bool


@dataclasses.dataclass
class Survey:
    """What the masks of a set use.

    Attributes:
      pairs: index and colour of each palette entry in use. The colour is None where a value
        lies beyond the end of the palette.
      shared: used palette entries whose colour stands at a lower index as well.
      colors: colours in use in RGB masks, with the number of pixels.
      greys: values in use in greyscale masks.
      rgb: RGB masks.
      strange: RGB masks that have colours that are neither in VOC's palette nor void.
      binary_greys: greyscale masks that have no other values than 0 and 255, and have 255.
      binary_palettes: palette masks of that kind, if 255 does not have VOC's colour of void.
      void: masks in which 255 is void as far as one can see: 255 stands beside a class, or the
        palette has VOC's colour of void there.
      gaps: palette masks that leave out a value between 0 and their highest one below 255. A
        program that makes a palette from the colours in use leaves out none.
      voc: number of masks with VOC's own palette.
      examined: number of masks that were looked at.
      damaged: number of those that could not be read.
    """

    pairs: dict[tuple[int, Color | None], Seen] = dataclasses.field(default_factory=dict)
    shared: dict[Shared, Seen] = dataclasses.field(default_factory=dict)
    colors: dict[Color, Seen] = dataclasses.field(default_factory=dict)
    greys: set[int] = dataclasses.field(default_factory=set)
    rgb: Seen = dataclasses.field(default_factory=Seen)
    strange: Seen = dataclasses.field(default_factory=Seen)
    binary_greys: Seen = dataclasses.field(default_factory=Seen)
    binary_palettes: Seen = dataclasses.field(default_factory=Seen)
    void: Seen = dataclasses.field(default_factory=Seen)
    gaps: Seen = dataclasses.field(default_factory=Seen)
    voc: int = 0
    examined: int = 0
    damaged: int = 0

    @property
    def palette_colors(self) -> set[Color]:
        """The colours in use in palette masks."""
        return {color for _, color in self.pairs if color is not None}

    @property
    def valued(self) -> int:
        """The number of masks that have one number per pixel."""
        return self.examined - self.damaged - self.rgb.masks
