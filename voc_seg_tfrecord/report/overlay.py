"""The colours of classes, and a mask laid over its image."""

from collections.abc import Sequence

import numpy as np

from voc_seg_tfrecord.labels import voc_palette


def class_colors(
    background: int | None, colors: Sequence[Sequence[int]] | np.ndarray | None = None
) -> np.ndarray:
    """Returns the colours to draw the 256 mask values in, uint8 `[256, 3]`.

    Args:
      background: index of the background class, None if there is none.
      colors: the dataset's own, as `audit.dataset.palette` gives them; VOC's by default.

    Returns:
      The given colours. If these are VOC's, background is black, whichever index it has.
    """
    palette = voc_palette().copy()
    own = np.array(palette if colors is None else colors, np.uint8)
    if (own != palette).any():
        return own
    if background:
        palette[[0, background]] = palette[[background, 0]]
    return palette


def overlay(
    image: np.ndarray, mask: np.ndarray, palette: np.ndarray, background: int | None
) -> np.ndarray:
    """Lays the colours of a mask half transparently over its image, but not that of background.

    Args:
      image: uint8 `[H, W, 3]`.
      mask: uint8 `[H, W]`, class indices and 255 for void.
      palette: uint8 `[256, 3]`.
      background: index of the background class, None if there is none.

    Returns:
      uint8 `[H, W, 3]`.
    """
    return np.where(mask[..., None] == background, image, image // 2 + palette[mask] // 2)
