"""One example of a contact sheet, reduced to what the sheet shows of it."""

from collections.abc import Mapping, Sequence
import dataclasses

import numpy as np
from PIL import Image

from voc_seg_tfrecord.formats.pillow import thinned
from voc_seg_tfrecord.report.overlay import measure_shares, resize_mask

PANEL_SIDE_PX = 300
"""Longer side of an image on the sheet."""

MIN_PANEL_SIDE_PX = 24
"""Shorter side of an image on the sheet, at least; a longer image is stretched."""


@dataclasses.dataclass(frozen=True, eq=False)
class SheetExample:
    """One example at the size that it has on the sheet.

    Attributes:
      id: the image id.
      size: height and width of the full image.
      image: the image in the size of the sheet, uint8 `[h, w, 3]`.
      mask: the mask in that size, uint8 `[h, w]`; None if there is none.
      shares: the share of the pixels that each value of the full mask has, the largest first.
      label: the class of the whole image, if the dataset has one in place of a mask.
    """

    id: str
    size: tuple[int, int]
    image: np.ndarray
    mask: np.ndarray | None = None
    shares: Mapping[int, float] = dataclasses.field(default_factory=dict)
    label: int | None = None

    @property
    def is_stretched(self) -> bool:
        """Whether the shorter side is shown longer than it is."""
        return max(self.size) * MIN_PANEL_SIDE_PX > min(self.size) * PANEL_SIDE_PX


@dataclasses.dataclass(frozen=True)
class ExampleGroup:
    """Examples that stand together on a sheet.

    Attributes:
      label: the class under whose name they stand; None if the sheet is not divided by class.
      examples: at least one.
    """

    label: int | None
    examples: Sequence[SheetExample]


def make_sheet_example(
    image_id: str, image: np.ndarray, mask: np.ndarray | None = None, label: int | None = None
) -> SheetExample:
    """Reduces an example to the size of the sheet.

    Args:
      image_id: the image id.
      image: the full image, uint8 `[H, W, 3]`.
      mask: the full mask, class indices and 255 for void, uint8 `[H, W]`; None if there is none.
      label: the class of the whole image, if the dataset has one in place of a mask.
    """
    height, width = image.shape[:2]
    rows = _panel_side(height, max(height, width))
    columns = _panel_side(width, max(height, width))
    # Enlarged, each pixel stays a square, as it does in the mask.
    is_enlarged = max(height, width) < PANEL_SIDE_PX
    resampling = Image.Resampling.NEAREST if is_enlarged else Image.Resampling.LANCZOS
    pixels = Image.fromarray(thinned(image, PANEL_SIDE_PX)).resize((columns, rows), resampling)
    return SheetExample(
        id=image_id,
        size=(height, width),
        image=np.asarray(pixels),
        mask=None if mask is None else resize_mask(mask, rows, columns),
        shares={} if mask is None else measure_shares(mask),
        label=label,
    )


def _panel_side(side: int, longer_side: int) -> int:
    """Returns a side of an image in the size of the sheet, in pixels."""
    return max(MIN_PANEL_SIDE_PX, round(side * PANEL_SIDE_PX / longer_side))
