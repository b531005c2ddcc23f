"""The band around objects, in which papers measure how well boundaries are found."""

import numpy as np

from voc_seg_tfrecord.labels import VOID


def band(mask: np.ndarray, width: int) -> np.ndarray:
    """Returns which pixels lie close to void, which VOC draws along the borders of objects.

    Args:
      mask: class indices, uint8 `[H, W]`; 255 is void.
      width: how many pixels away a pixel may be, along rows and columns at once: the band
        is what a square of 2 * width + 1 pixels covers when it moves along void.

    Returns:
      bool `[H, W]`, void itself included.

    References:
      Kohli et al., Robust Higher Order Potentials for Enforcing Label Consistency, IJCV
      2009, section 5.2 ("trimap"); Chen et al., DeepLab, arXiv:1606.00915, section 4.1.3.
    """
    near = mask == VOID
    for axis in (0, 1):
        near = _spread(near, width, axis)
    return near


def _spread(near: np.ndarray, width: int, axis: int) -> np.ndarray:
    """Returns where any of the `width` neighbours to either side along an axis is set."""
    length = near.shape[axis]
    counts = np.cumsum(near, axis=axis, dtype=np.int32)
    places = np.arange(length)
    after = np.take(counts, np.minimum(places + width, length - 1), axis=axis)
    before = np.take(counts, np.maximum(places - width - 1, 0), axis=axis)
    first = places <= width  # nothing lies before the window
    before = np.where(first[:, None] if axis == 0 else first[None, :], 0, before)
    return after > before
