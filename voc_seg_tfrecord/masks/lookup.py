"""Values and colours of masks, counted and mapped to classes in bounded memory.

A mask of 100 megapixels has 100 MB of classes. Its rows are worked on some at a time, because
numbers of 8 bytes for all pixels and channels would take 25 times that.
"""

from collections.abc import Iterator, Mapping

import numpy as np

from voc_seg_tfrecord.formats import png_pixels

_PIXELS = 1 << 20  # worked on at a time
_COLORS = 1 << 24


def counts_by_value(values: np.ndarray) -> dict[int, int]:
    """Returns how many of the integers `[H, W]` have each value that occurs, ascending."""
    if values.dtype == np.uint8:
        return png_pixels.occurring(png_pixels.count_values(values))
    found: dict[int, int] = {}
    for rows in _pieces(values):
        for value, count in zip(*np.unique(values[rows], return_counts=True), strict=True):
            found[int(value)] = found.get(int(value), 0) + int(count)
    return dict(sorted(found.items()))


def map_values(values: np.ndarray, classes: Mapping[int, int]) -> np.ndarray:
    """Returns the class of each value, uint8 `[H, W]`; all values must have one."""
    keys = np.array(sorted(classes))
    mapped = np.array([classes[value] for value in keys.tolist()], np.uint8)
    if values.dtype == np.uint8:
        table = np.zeros(256, np.uint8)
        within = (keys >= 0) & (keys < 256)
        table[keys[within]] = mapped[within]
        return table[values]
    found = np.empty(values.shape, np.uint8)
    for rows in _pieces(values):
        found[rows] = mapped[np.searchsorted(keys, values[rows])]
    return found


def counts_by_color(colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns which of the colours uint8 `[H, W, 3]` occur, and on how many pixels.

    Returns:
      The colours as 24-bit numbers, ascending, and one count for each.
    """
    counts = np.zeros(_COLORS, np.uint32)
    for rows in _pieces(colors):
        _add(counts, _packed(colors[rows]))
    return _occurring(counts)


def map_colors(
    colors: np.ndarray, keys: np.ndarray, classes: np.ndarray
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray]]:
    """Maps colours to classes.

    Args:
      colors: uint8 `[H, W, 3]`.
      keys: the known colours as 24-bit numbers.
      classes: the class of each, uint8.

    Returns:
      The classes, uint8 `[H, W]`; and the colours that are not known, as `counts_by_color` returns
      them.
    """
    table = np.zeros(_COLORS, np.uint16)  # memory is taken only where it is used
    table[keys] = classes.astype(np.uint16) + 1
    unknown = None
    mapped = np.empty(colors.shape[:2], np.uint8)
    for rows in _pieces(colors):
        packed = _packed(colors[rows])
        found = table[packed]
        mapped[rows] = found - 1
        if not found.all():
            unknown = np.zeros(_COLORS, np.uint32) if unknown is None else unknown
            _add(unknown, packed[found == 0])
    return mapped, (keys[:0], keys[:0]) if unknown is None else _occurring(unknown)


def _pieces(array: np.ndarray) -> Iterator[slice]:
    step = max(1, _PIXELS // max(1, array.shape[1]))
    for start in range(0, len(array), step):
        yield slice(start, start + step)


def _packed(colors: np.ndarray) -> np.ndarray:
    red, green, blue = (colors[..., channel].astype(np.uint32) for channel in range(3))
    return red << 16 | green << 8 | blue


def _add(counts: np.ndarray, packed: np.ndarray) -> None:
    occurring, times = np.unique(packed, return_counts=True)
    counts[occurring] += times.astype(np.uint32)


def _occurring(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    packed = np.flatnonzero(counts)
    return packed, counts[packed]
