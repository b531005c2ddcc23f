"""How well the borders of a mask lie on the edges of its image, there and elsewhere.

A mask that is mirrored, flipped, rotated or shifted fits its image worse than the same mask put
right. So no model and no other image is needed to find it:

1. Image and mask are reduced to 200 pixels. The gradient of the image, the largest of the three
   channels, is replaced by its rank among all gradients of the image, 0 to 1, squared; each pixel
   takes the largest value within 1 pixel.
2. The borders of the mask are where neighbouring values differ. Void closes first, from both sides,
   so that the line of void that VOC draws around objects becomes one border.
3. The fit is the mean of these ranks on the border. It is also measured with the mask mirrored,
   flipped and rotated, and, by Fourier transforms, shifted by up to a quarter of the image.

The values have no scale of their own: where objects have soft borders, or textures have strong
edges, all fits are low. `judge` therefore compares each mask with the rest of its set.
"""

from collections.abc import Sequence
import dataclasses
import functools

import numpy as np

from voc_seg_tfrecord.core.names import VOID

SIDE = 200
"""Longer side of the image that is compared, in pixels. Of 106 pairs of VOC2012, 240 finds as many
mistakes, takes half as long again and names two more good masks; 600 finds fewer."""

WAYS = ("mirrored", "flipped upside down", "rotated by 180 degrees", "shifted")

_SHORTEST = 24  # side that is compared
_BORDER = 40  # pixels that a border must have
_CLOSE = 3  # pixels by which void closes, from each side
_EDGE = 2  # pixels along an edge of the image in which a line along it does not count
_NEAR = 3  # pixels; a smaller shift is how people draw
_FAR = 0.25  # of a side, the largest shift
_INSIDE = 0.7  # of the border must stay in the image
_AROUND = 12  # pixels on each side of a peak that it is compared with

_FIRST, _LAST, _ALL = slice(None, -1), slice(1, None), slice(None)
_NEIGHBOURS = ((_FIRST, _ALL), (_LAST, _ALL)), ((_ALL, _FIRST), (_ALL, _LAST))  # down, and right

_GRID = 64  # fields of a side, on which masks are compared with other images
_WINDOW = 500  # images before and after, with which a mask is compared
_FEWEST = 8  # masks, of which a set is known
_LEAST_GAIN = (0.04, 0.14, 0.1)  # of a suspect: mirrored and so on, shifted, on another image
_SPREADS = 2.5  # standard deviations by which a suspect lies above the median of the set
_MOST = 0.7  # of the masks, if all are wrong in the same way
_CLEARLY = 0.05  # by which the way in which all are wrong fits better than the next
_ALIKE = 4  # pixels by which shifts of a set differ that are the same
_UNKNOWN = (
    "the borders of these masks do not lie on edges of their images more often than those of "
    "mirrored and shifted masks: they are soft, or many masks are wrong. So no mask was named"
)


@dataclasses.dataclass(frozen=True, eq=False)
class Fit:
    """How well a mask fits its image, and what tells whether it fits another one.

    Attributes:
      own: mean squared rank of the gradient on the mask's border, 0 to 1.
      gains: by how much this rises if the mask is put right, float `[4]`, one value for each of
        `WAYS`. That of a shift also counts by how much its peak is above its surroundings.
      shift: by how many pixels of the mask it would be shifted, right and down.
      size: of the mask, height and width.
      edges: the ranks on a grid, uint8 `[4096]`, 0 to 255.
      border: how many pixels of the border are in each field of the grid, uint8 `[4096]`.
    """

    own: float
    gains: tuple[float, ...]
    shift: tuple[int, int]
    size: tuple[int, int]
    edges: np.ndarray
    border: np.ndarray


def scaled(size: tuple[int, ...], side: int = SIDE) -> tuple[int, int]:
    """Returns a height and width, reduced so that the longer one is at most `side`."""
    height, width = size
    scale = min(1.0, side / max(size))
    return max(1, round(height * scale)), max(1, round(width * scale))


def _edges_of(rgb: np.ndarray) -> np.ndarray:
    """Returns the squared ranks of the gradients of an image, float32 `[h, w]`, 0 to 1."""
    largest = np.zeros(rgb.shape[:2], np.float32)
    # One channel at a time: larger arrays cost more, as the C library gives them back each time.
    for channel in range(3):
        values = rgb[..., channel].astype(np.float32)
        squared = np.zeros_like(values)
        np.square(values[:, 2:] - values[:, :-2], out=squared[:, 1:-1])
        squared[1:-1] += np.square(values[2:] - values[:-2])
        np.maximum(largest, squared, out=largest)
    steps = (2 * np.sqrt(largest)).astype(np.int64)
    counts = np.bincount(steps.ravel())
    ranks = ((counts.cumsum() - counts / 2) / steps.size).astype(np.float32)
    return _widened((ranks**2).take(steps))


def reduced(mask: np.ndarray, height: int, width: int) -> np.ndarray:
    """Returns pixels of a mask, evenly spread, uint8 `[height, width]`."""
    rows = ((np.arange(height) + 0.5) * mask.shape[0] / height).astype(int)
    columns = ((np.arange(width) + 0.5) * mask.shape[1] / width).astype(int)
    return mask.take(rows, 0).take(columns, 1)


def _border_of(mask: np.ndarray) -> np.ndarray:
    """Returns where neighbouring values of a reduced mask differ, bool `[h, w]`."""
    values = _closed(mask)
    known = values != VOID
    border = np.zeros(values.shape, bool)
    for axis, (left, right) in enumerate(_NEIGHBOURS):
        differ = (values[left] != values[right]) & known[left] & known[right]
        # Tools leave a line of background along the edges of an image, which is no border.
        across = np.moveaxis(differ, axis, 0)
        across[:_EDGE] = across[-_EDGE:] = False
        border[left] |= differ
        border[right] |= differ
    return border


def measure(rgb: np.ndarray, mask: np.ndarray) -> Fit | None:
    """Compares the border of a mask with the edges of its image.

    Args:
      rgb: the image, reduced to the size of the mask as `scaled`, uint8 `[h, w, 3]`.
      mask: class indices, uint8 `[H, W]`; 255 is void.

    Returns:
      The fit; None if the image or the border is too small to tell.
    """
    height, width = rgb.shape[:2]
    if min(height, width) < _SHORTEST:
        return None
    border = _border_of(reduced(mask, height, width))
    places = np.flatnonzero(border)
    if len(places) < _BORDER:
        return None
    edges = _edges_of(rgb)
    mirrored = places + (width - 1 - 2 * (places % width))
    ways = (places, mirrored, border.size - 1 - mirrored, border.size - 1 - places)
    in_place, *fixed = (float(edges.take(moved).mean()) for moved in ways)
    gain, (right, down) = _best_shift(edges, border)
    return Fit(
        in_place,
        (*(other - in_place for other in fixed), gain),
        (round(right * mask.shape[1] / width), round(down * mask.shape[0] / height)),
        mask.shape,
        *_on_grid(edges, places),
    )


def _best_shift(edges: np.ndarray, border: np.ndarray) -> tuple[float, tuple[int, int]]:
    """Returns by how much a shift of the border fits better, and the shift, right and down."""
    height, width = border.shape
    far = int(_FAR * height), int(_FAR * width)
    size = _fast(height + far[0]), _fast(width + far[1])
    rows, columns = (np.arange(-most, most + 1) for most in far)
    product, other = _transform(edges, size), _transform(border, size)
    product *= np.conj(other, out=other)
    half = np.fft.ifft(product, out=product).take(columns, 1)
    ranks = np.fft.irfft(half, size[0], axis=0).take(rows, 0) * (size[0] * size[1]) ** 2
    count = _inside(border, rows, columns)
    inside = count >= _INSIDE * np.count_nonzero(border)
    fits = np.where(inside, ranks / np.maximum(count, 1), 0)
    fits[~inside] = fits[inside].mean()
    # A mask in its place is a peak, so its surroundings count as well.
    peaks = 2 * fits - _mean_around(fits)
    in_place = peaks[far]
    peaks[~inside] = -1
    peaks[far[0] - _NEAR : far[0] + _NEAR + 1, far[1] - _NEAR : far[1] + _NEAR + 1] = -1
    best = np.unravel_index(int(peaks.argmax()), peaks.shape)
    return float(peaks[best] - in_place), (int(best[1]) - far[1], int(best[0]) - far[0])


def _on_grid(edges: np.ndarray, places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the mean of the ranks, and the pixels of the border, in each field of the grid."""
    fields, pixels = _fields(*edges.shape)
    ranks = np.bincount(fields, edges.ravel(), _GRID**2) / np.maximum(pixels, 1)
    counts = np.bincount(fields[places], minlength=_GRID**2)
    return (255 * ranks).astype(np.uint8), np.minimum(counts, 255).astype(np.uint8)


@functools.lru_cache(64)
def _fields(height: int, width: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns the field of each pixel, and how many pixels each field has."""
    rows, columns = np.arange(height) * _GRID // height, np.arange(width) * _GRID // width
    fields = (rows[:, None] * _GRID + columns).ravel()
    return fields, np.bincount(fields, minlength=_GRID**2)


def _transform(values: np.ndarray, size: tuple[int, int]) -> np.ndarray:
    """Returns the Fourier transform of float32 values, padded and divided by their number."""
    # With its default norm, NumPy 2.4 transforms float32 forward in float64, which is slower.
    half = np.fft.rfft(values.astype(np.float32), size[0], axis=0, norm="forward")
    return np.fft.fft(half, size[1], norm="forward")


def _inside(border: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Returns how many pixels of the border are in the image after each shift."""
    counts = border
    for shifts in (rows, columns):
        sums = _sums(counts, np.int32)
        last = len(counts) - np.maximum(0, shifts)
        counts = (sums.take(last, 0) - sums.take(np.maximum(0, -shifts), 0)).T
    return counts


def _mean_around(values: np.ndarray) -> np.ndarray:
    """Returns the mean of the values up to `_AROUND` rows and columns away."""
    side = 2 * _AROUND + 1
    for _ in range(2):
        around = np.arange(-_AROUND, len(values) + _AROUND).clip(0, len(values) - 1)
        sums = _sums(values.take(around, 0), np.float64)
        values = (sums[side:] - sums[:-side]).T
    return values / side**2


def _sums(values: np.ndarray, dtype: type) -> np.ndarray:
    """Returns the sums of the first 0, 1 and so on rows, `[H + 1, W]`."""
    sums: np.ndarray = np.zeros((len(values) + 1, values.shape[1]), dtype)
    np.cumsum(values, 0, out=sums[1:])
    return sums


@functools.cache
def _fast(number: int) -> int:
    """Returns the next number without prime factors above 5, of which transforms are fast."""
    while pow(30, number, number):  # it divides no power of 2 * 3 * 5
        number += 1
    return number


def _widened(values: np.ndarray) -> np.ndarray:
    """Returns the largest value of each pixel and its eight neighbours."""
    for left, right in _NEIGHBOURS:
        wide = values.copy()
        np.maximum(wide[left], values[right], out=wide[left])
        np.maximum(wide[right], values[left], out=wide[right])
        values = wide
    return values


def _closed(mask: np.ndarray) -> np.ndarray:
    """Returns a mask whose void has taken the values around it, by a few pixels."""
    padded, width = np.pad(mask, 1, constant_values=VOID), mask.shape[1] + 2
    values = padded.ravel()
    rows, columns = np.nonzero(mask == VOID)
    void = (rows + 1) * width + columns + 1
    for _ in range(_CLOSE):
        taken = values[void]
        for step in (width, -width, 1, -1):
            taken = np.where(taken == VOID, values[void + step], taken)
        values[void] = taken
        void = void[taken == VOID]
    return padded[1:-1, 1:-1]


@dataclasses.dataclass(frozen=True)
class Judged:
    """Which masks of a set do not fit, beside the rest of the set.

    Attributes:
      suspects: by the number of the mask, how likely it is wrong, 0.5 to 1; what is wrong with it;
        and the number of the image that it fits, or None.
      notes: what is true of the set as a whole.
      tells: whether the set tells which of its masks are wrong.
    """

    suspects: dict[int, tuple[float, str, int | None]]
    notes: tuple[str, ...] = ()
    tells: bool = True


def judge(fits: Sequence[Fit | None]) -> Judged:
    """Compares the masks of a set, in the order of their images, by how well they fit.

    A mask is a suspect if it gains far more than most of the set by being put right: mirrored and
    so on, shifted, or laid on another image. The median of the gains, and how far two thirds of the
    set lie around it, say what is far, also where a quarter of the masks is wrong. If most masks
    gain, the set does not tell which masks are wrong.
    """
    numbers = [number for number, fit in enumerate(fits) if fit is not None]
    known = [fit for fit in fits if fit is not None]
    if len(known) < _FEWEST:
        return Judged({})
    gains = np.array([fit.gains for fit in known])
    elsewhere, others, next_ones = _fit_elsewhere(known)
    if note := _whole_set(known, gains) or _out_of_step(next_ones):
        return Judged({}, (note,))
    three = np.stack([gains[:, :-1].max(1), gains[:, -1], elsewhere], 1)
    median, high = np.quantile(three, (0.5, 0.65), axis=0)
    limits = np.maximum(_LEAST_GAIN, median + _SPREADS * (high - median) / 0.385)
    limits[median > np.array((0, *_LEAST_GAIN[1:]))] = np.inf
    if np.isinf(limits[0]):  # masks fit no better than mirrored ones
        return Judged({}, (_UNKNOWN,), tells=False)
    excess = three / limits
    suspects: dict[int, tuple[float, str, int | None]] = {}
    for row in np.flatnonzero(excess.max(1) > 1).tolist():
        fit, image = known[row], None
        # A shift, or another image, often explains a part of what a mirrored mask explains better.
        kind = 0 if excess[row, 0] > 1 and 2 * three[row, 0] > three[row, 1] else 1
        if excess[row, 2] > excess[row, kind]:
            remedy, image = "that of another image", numbers[others[row]]
        else:
            remedy = _shifted(fit.shift) if kind else WAYS[int(np.argmax(fit.gains[:-1]))]
        suspects[numbers[row]] = (float(1 - 0.5 / excess[row].max()), remedy, image)
    return Judged(suspects)


def _fit_elsewhere(fits: Sequence[Fit]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Compares masks with other images of their size.

    Returns:
      By how much each mask fits another image better than its own, float `[N]`; the number of that
      image; and by how much it fits the image before and the image after, float `[N, 2]`.
    """
    count = len(fits)
    gains, others = np.full(count, -1.0), np.zeros(count, np.int64)
    next_ones = np.full((count, 2), -1.0)
    sizes = np.array([fit.size for fit in fits])
    for start in range(0, count, _WINDOW):
        rows = np.arange(start, min(start + _WINDOW, count))
        near = np.arange(max(0, start - _WINDOW), min(start + 2 * _WINDOW, count))
        gain = np.full((len(rows), len(near)), -1, np.float32)
        for size in np.unique(sizes[rows], axis=0):
            ours = np.flatnonzero((sizes[rows] == size).all(1))
            theirs = np.flatnonzero((sizes[near] == size).all(1))
            images = np.stack([fits[near[0] + n].edges for n in theirs.tolist()], 1)
            other = np.stack([_ranks_on(fits[start + row].border, images) for row in ours.tolist()])
            in_place = other[np.arange(len(ours)), np.searchsorted(near[theirs], rows[ours])]
            gain[np.ix_(ours, theirs)] = other - in_place[:, None]
        gain[np.arange(len(rows)), rows - near[0]] = -1
        gains[rows], others[rows] = gain.max(1), near[gain.argmax(1)]
        for side, step in enumerate((-1, 1)):
            known = (rows + step >= 0) & (rows + step < count)
            next_ones[rows[known], side] = gain[known, rows[known] + step - near[0]]
    return gains, others, next_ones


def _ranks_on(border: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Returns the mean rank that a border, uint8 `[4096]`, would have on images, float32 `[N]`.

    A border is in few fields. Matrices of all fields take several times as long, and many times
    where another program has a core, as the threads of their product wait for each other.
    """
    fields = np.flatnonzero(border)
    pixels = border[fields].astype(np.float32)
    return np.asarray(pixels @ images[fields].astype(np.float32) / (255 * pixels.sum()))


def _out_of_step(next_ones: np.ndarray) -> str:
    """Says whether most masks are those of the image before or after; empty if they are not."""
    for gains, which in zip(next_ones.T, ("before", "after"), strict=True):
        better = np.count_nonzero(gains > _LEAST_GAIN[0])
        if better > _MOST * len(gains):
            return (
                f"{better} of {len(gains)} masks fit the image {which} theirs better: all masks "
                "may be one image out of step"
            )
    return ""


def _whole_set(fits: Sequence[Fit], gains: np.ndarray) -> str:
    """Returns what is wrong with all masks of a set alike; empty if nothing is."""
    *_, second, best = np.argsort(np.median(gains[:, :-1], 0))
    better, how = gains[:, best] > _LEAST_GAIN[0], WAYS[best]
    clearly = np.median(gains[:, best] - gains[:, second]) > _CLEARLY
    if better.mean() <= _MOST or not clearly:
        shifts = np.array([fit.shift for fit in fits])
        middle = np.median(shifts, 0)
        better = (np.abs(shifts - middle).max(1) <= _ALIKE) & (gains[:, -1] > _LEAST_GAIN[1])
        if better.mean() <= _MOST:
            return ""
        right, down = middle.round().astype(int).tolist()
        how = _shifted((right, down))
    return (
        f"{np.count_nonzero(better)} of {len(fits)} masks fit their images better if they are not "
        f"{how}: all masks may be {how}"
    )


def _shifted(correction: tuple[int, int]) -> str:
    """Returns in words how a mask was shifted that fits after this correction, right and down."""
    right, down = correction
    parts = [
        f"{abs(number)} px {words[number > 0]}"
        for number, words in ((right, ("to the right", "to the left")), (down, ("down", "up")))
        if number
    ]
    return f"shifted by {' and '.join(parts)}"
