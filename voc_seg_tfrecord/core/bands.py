"""Which bands of an image are kept, and as which type."""

import dataclasses
from typing import Literal

from voc_seg_tfrecord.core.errors import counted

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
      count: how many bands each image must have; 0 if that is not known.
    """

    numbers: tuple[int, ...]
    dtype: Dtype = "uint8"
    count: int = 0

    def __str__(self) -> str:
        return f"{counted(len(self.numbers), 'band')} of {self.dtype}"

    @property
    def is_png(self) -> bool:
        """Whether images are stored as PNGs; otherwise as compressed arrays."""
        return len(self.numbers) in PNG_BAND_COUNTS and self.dtype != "float32"
