"""Finds the masks of a set that do not fit their images, by comparing them with the rest of it.

How well a mask fits (see `fit`) depends on the set: soft borders fit badly, and so do masks of
textured images. So a mask is a misfit only if it gains far more than most of its set by being put
right: mirrored and so on, shifted, or laid on another image.
"""

from collections.abc import Sequence
import dataclasses
import enum
import functools

import numpy as np

from voc_seg_tfrecord.quality.fit import TRANSFORMS, Fit, Shift

INCONCLUSIVE = (
    "the borders of the masks follow the edges of the images no better than mirrored and shifted "
    "masks do: the objects have soft borders, or many masks are wrong. So no single mask is named"
)
"""The note on a set that does not tell which of its masks are wrong."""

OF_ANOTHER_IMAGE = "that of another image"

_MIN_KNOWN_MASKS = 8  # of a set that is judged
_MIN_TRANSFORM_GAIN = 0.04  # of a misfit, in units of `Fit.in_place`
_MIN_SHIFT_GAIN = 0.14
_MIN_OTHER_IMAGE_GAIN = 0.1
_MIN_GAIN_DEVIATIONS = 2.5  # standard deviations of a misfit above the median of the set
_MAX_SHARE_OF_OUTLIERS = 0.25  # of a set, by whose other masks the usual gains are known
_UPPER_QUANTILE = 0.65
_UPPER_QUANTILE_DEVIATIONS = 0.385  # standard deviations above the median, if normal
_MIN_SHARE_OF_WHOLE_SET = 0.7  # of the masks, if all are wrong in the same way
_MIN_LEAD_OF_TRANSFORM = 0.05  # over the next best, if all masks are wrong in the same way
_MAX_SHIFT_DIFFERENCE_PX = 4  # of shifts that count as the same
_MIN_EXCHANGED_MASKS = 3  # of a set, so that chance is no reason
_MIN_SHARE_OF_DIFFERENT_IMAGES = 0.85  # of the images that exchanged masks fit
_MAX_IMAGES_AWAY = 500  # before and after its own image, a mask is laid on others


class _Cause(enum.IntEnum):
    """Why a mask may not fit its image; the columns of arrays `[N, 3]` of gains."""

    TRANSFORM = 0
    SHIFT = 1
    OTHER_IMAGE = 2


@dataclasses.dataclass(frozen=True)
class Misfit:
    """A mask that does not fit its image.

    Attributes:
      number: the number of the mask in its set.
      score: how likely the mask is wrong, 0.5 to 1.
      description: what is wrong: one of `fit.TRANSFORMS`, a shift in words, or `OF_ANOTHER_IMAGE`.
      is_shifted: whether the description is that of a shift.
      other_image: the number of the image that the mask fits; None if the mask belongs to
        its own image.
    """

    number: int
    score: float
    description: str
    is_shifted: bool = False
    other_image: int | None = None


@dataclasses.dataclass(frozen=True)
class Judgment:
    """Which masks of a set do not fit.

    Attributes:
      misfits: the masks, in the order of the set.
      notes: what is true of the set as a whole.
      is_conclusive: whether the set tells which of its masks are wrong.
    """

    misfits: tuple[Misfit, ...] = ()
    notes: tuple[str, ...] = ()
    is_conclusive: bool = True


@dataclasses.dataclass(frozen=True, eq=False)
class _OtherImages:
    """How masks fit other images.

    Attributes:
      gains: by how much each mask fits another image better than its own, float64 `[N]`; -1 if
        there is none of its size.
      images: the number of that image, int64 `[N]`.
      gains_before: by how much each mask fits the image before its own better, float64 `[N]`.
      gains_after: the same of the image after.
    """

    gains: np.ndarray
    images: np.ndarray
    gains_before: np.ndarray
    gains_after: np.ndarray


def find_misfits(fits: Sequence[Fit | None]) -> Judgment:
    """Compares the masks of a set by how well they fit.

    If most masks gain in the same way, a note says what may be wrong with all of them. If most gain
    without a common cause, the set does not tell which masks are wrong.

    Args:
      fits: the fit of each mask in the order of the images; None where it is not known.
    """
    known = _KnownMasks(
        numbers=[number for number, fit in enumerate(fits) if fit is not None],
        fits=[fit for fit in fits if fit is not None],
    )
    if len(known.fits) < _MIN_KNOWN_MASKS:
        return Judgment()
    note = _describe_common_fault(known)
    if note:
        return Judgment(notes=(note,))
    best_gains = known.best_gains()
    is_exchanged = _find_exchanged(known.on_other_images)
    are_many_exchanged = is_exchanged.sum() > _MAX_SHARE_OF_OUTLIERS * len(is_exchanged)
    usual_gains = best_gains[~is_exchanged] if are_many_exchanged else best_gains
    limits = _limits_of_usual_gains(usual_gains)
    if np.isinf(limits[_Cause.TRANSFORM]):  # masks fit no better than mirrored ones
        return Judgment(notes=(INCONCLUSIVE,), is_conclusive=False)
    excess = best_gains / limits
    misfits = []
    for row in np.flatnonzero(excess.max(1) > 1).tolist():
        if are_many_exchanged and is_exchanged[row]:
            cause = _Cause.OTHER_IMAGE
        else:
            cause = _likeliest_cause(best_gains[row], excess[row])
        score = float(1 - 0.5 / excess[row].max())
        misfits.append(_as_misfit(known, row, cause, score))
    return Judgment(tuple(misfits))


@dataclasses.dataclass(frozen=True, eq=False)
class _KnownMasks:
    """The masks of a set whose fit is known. A row of its arrays is one of them.

    Attributes:
      numbers: the number of each mask in its set.
      fits: the fit of each mask.
    """

    numbers: Sequence[int]
    fits: Sequence[Fit]

    @functools.cached_property
    def transform_gains(self) -> np.ndarray:
        """By how much each mask fits better after each of `fit.TRANSFORMS`, float64 `[N, 3]`."""
        return np.array([fit.transform_gains for fit in self.fits])

    @functools.cached_property
    def shift_gains(self) -> np.ndarray:
        """By how much each mask fits better after its best shift, float64 `[N]`."""
        return np.array([fit.shift_gain for fit in self.fits])

    @functools.cached_property
    def on_other_images(self) -> _OtherImages:
        """How each mask fits the images near its own."""
        return _lay_on_other_images(self.fits)

    def best_gains(self) -> np.ndarray:
        """Returns by how much each mask can gain by each cause, float64 `[N, 3]`."""
        gains = np.zeros((len(self.fits), len(_Cause)))
        gains[:, _Cause.TRANSFORM] = self.transform_gains.max(1)
        gains[:, _Cause.SHIFT] = self.shift_gains
        gains[:, _Cause.OTHER_IMAGE] = self.on_other_images.gains
        return gains


def _describe_common_fault(known: _KnownMasks) -> str:
    """Describes what may be wrong with all masks of a set; empty if nothing is."""
    return (
        _describe_common_transform(known.transform_gains)
        or _describe_common_shift(known.fits, known.shift_gains)
        or _describe_out_of_step(known.on_other_images)
    )


def _as_misfit(known: _KnownMasks, row: int, cause: _Cause, score: float) -> Misfit:
    """Returns the mask of a row as a misfit, with what is wrong in words."""
    number = known.numbers[row]
    if cause is _Cause.OTHER_IMAGE:
        other_image = known.numbers[known.on_other_images.images[row]]
        return Misfit(number, score, OF_ANOTHER_IMAGE, other_image=other_image)
    if cause is _Cause.TRANSFORM:
        transform = TRANSFORMS[int(known.transform_gains[row].argmax())]
        return Misfit(number, score, transform)
    shift = describe_shift(known.fits[row].shift)
    return Misfit(number, score, shift, is_shifted=True)


def _likeliest_cause(best_gains: np.ndarray, excess: np.ndarray) -> _Cause:
    """Returns why a mask is a misfit.

    A shift often explains a part of what a transform explains better. So a shift has to gain twice
    as much as a transform that is a cause too.

    Args:
      best_gains: of the mask by cause, float64 `[3]`.
      excess: the same as multiples of the limits of usual gains, float64 `[3]`; above 1 for a
        possible cause.
    """
    is_far_better_shifted = best_gains[_Cause.SHIFT] >= 2 * best_gains[_Cause.TRANSFORM]
    is_shifted = excess[_Cause.SHIFT] > 1 and is_far_better_shifted
    is_transformed = excess[_Cause.TRANSFORM] > 1 and not is_shifted
    cause_on_own_image = _Cause.TRANSFORM if is_transformed else _Cause.SHIFT
    if excess[_Cause.OTHER_IMAGE] > excess[cause_on_own_image]:
        return _Cause.OTHER_IMAGE
    return cause_on_own_image


def _find_exchanged(others: _OtherImages) -> np.ndarray:
    """Returns which masks are those of other images, if each fits another one; bool `[N]`.

    Half of a set may have its masks exchanged, or all of it, and then no mask differs from most of
    the set. Where masks tell nothing, many of them fit the same few images of strong edges.
    """
    is_better = others.gains > _MIN_OTHER_IMAGE_GAIN
    count = int(is_better.sum())
    different_images = len(np.unique(others.images[is_better]))
    fit_one_to_one = different_images >= _MIN_SHARE_OF_DIFFERENT_IMAGES * count
    if count < _MIN_EXCHANGED_MASKS or not fit_one_to_one:
        return np.zeros(len(is_better), bool)
    return is_better


def _limits_of_usual_gains(best_gains: np.ndarray) -> np.ndarray:
    """Returns the gains above which masks of a set are misfits by cause, float64 `[3]`.

    The spread is taken from quantiles above the median, which hold also if a quarter of the masks
    is wrong. A limit is infinite if most masks gain: then the gain tells nothing.

    Args:
      best_gains: of each mask by cause, float64 `[N, 3]`; if there are none, the limits are the
        least ones.
    """
    least = np.array((_MIN_TRANSFORM_GAIN, _MIN_SHIFT_GAIN, _MIN_OTHER_IMAGE_GAIN))
    if not len(best_gains):
        return least
    median, upper = np.quantile(best_gains, (0.5, _UPPER_QUANTILE), axis=0)
    spread = _MIN_GAIN_DEVIATIONS * (upper - median) / _UPPER_QUANTILE_DEVIATIONS
    limits = np.maximum(least, median + spread)
    least_uninformative = np.array((0, _MIN_SHIFT_GAIN, _MIN_OTHER_IMAGE_GAIN))
    limits[median > least_uninformative] = np.inf
    return limits


def _lay_on_other_images(fits: Sequence[Fit]) -> _OtherImages:
    """Measures how masks fit the images of their size that are near in the set."""
    count = len(fits)
    best_gains = np.full(count, -1.0)
    best_images = np.zeros(count, np.int64)
    gains_before = np.full(count, -1.0)
    gains_after = np.full(count, -1.0)
    for start in range(0, count, _MAX_IMAGES_AWAY):
        masks = np.arange(start, min(start + _MAX_IMAGES_AWAY, count))
        first_image = max(0, start - _MAX_IMAGES_AWAY)
        images = np.arange(first_image, min(start + 2 * _MAX_IMAGES_AWAY, count))
        gains = _gains_on_images(fits, masks, images)
        best_gains[masks] = gains.max(1)
        best_images[masks] = images[gains.argmax(1)]
        has_before = masks > 0
        before = masks[has_before] - 1 - first_image
        gains_before[masks[has_before]] = gains[has_before, before]
        has_after = masks < count - 1
        after = masks[has_after] + 1 - first_image
        gains_after[masks[has_after]] = gains[has_after, after]
    return _OtherImages(best_gains, best_images, gains_before, gains_after)


def _gains_on_images(fits: Sequence[Fit], masks: np.ndarray, images: np.ndarray) -> np.ndarray:
    """Returns by how much masks fit images better than their own, float32 `[masks, images]`.

    It is -1 for images of another size, and for the own image. The numbers of the images ascend
    one by one.
    """
    gains = np.full((len(masks), len(images)), -1, np.float32)
    mask_sizes = np.array([fits[number].size for number in masks.tolist()])
    image_sizes = np.array([fits[number].size for number in images.tolist()])
    for size in np.unique(mask_sizes, axis=0):
        rows = np.flatnonzero((mask_sizes == size).all(1))
        columns = np.flatnonzero((image_sizes == size).all(1))
        edges = np.stack([fits[number].edges for number in images[columns].tolist()], axis=1)
        fit_on_images = np.stack(
            [_mean_edges(fits[number].border, edges) for number in masks[rows].tolist()]
        )
        column_of_own_image = np.searchsorted(images[columns], masks[rows])
        in_place = fit_on_images[np.arange(len(rows)), column_of_own_image]
        gains[np.ix_(rows, columns)] = fit_on_images - in_place[:, np.newaxis]
    gains[np.arange(len(masks)), masks - images[0]] = -1
    return gains


def _mean_edges(border: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """Returns the mean of the edges that a border would have on images, float32 `[N]`.

    A border is in few cells of the grid. Matrices of all cells take several times as long, and many
    times where another program has a core, as the threads of their product wait for each other.

    Args:
      border: uint8 `[4096]`; see `Fit.border`.
      edges: uint8 `[4096, N]`; see `Fit.edges`.
    """
    cells = np.flatnonzero(border)
    pixels = border[cells].astype(np.float32)
    sums = pixels @ edges[cells].astype(np.float32)
    return np.asarray(sums / (255 * pixels.sum()))


def _describe_common_transform(transform_gains: np.ndarray) -> str:
    """Describes the transform that all masks of a set may have; empty if there is none.

    Args:
      transform_gains: by `fit.TRANSFORMS`, float64 `[N, 3]`.
    """
    order = np.argsort(np.median(transform_gains, 0))
    best = order[-1]
    second = order[-2]
    is_better = transform_gains[:, best] > _MIN_TRANSFORM_GAIN
    lead = np.median(transform_gains[:, best] - transform_gains[:, second])
    if is_better.mean() <= _MIN_SHARE_OF_WHOLE_SET or lead <= _MIN_LEAD_OF_TRANSFORM:
        return ""
    return _describe_whole_set(is_better, TRANSFORMS[best])


def _describe_common_shift(fits: Sequence[Fit], shift_gains: np.ndarray) -> str:
    """Describes the shift that all masks of a set may have; empty if there is none."""
    shifts = np.array([(fit.shift.right, fit.shift.down) for fit in fits])
    median = np.median(shifts, 0)
    is_usual = np.abs(shifts - median).max(1) <= _MAX_SHIFT_DIFFERENCE_PX
    is_better = is_usual & (shift_gains > _MIN_SHIFT_GAIN)
    if is_better.mean() <= _MIN_SHARE_OF_WHOLE_SET:
        return ""
    right, down = median.round().astype(int).tolist()
    if right == down == 0:  # shifts to both sides, which have nothing in common
        return ""
    return _describe_whole_set(is_better, describe_shift(Shift(right, down)))


def _describe_whole_set(is_better: np.ndarray, fault: str) -> str:
    return (
        f"{np.count_nonzero(is_better)} of {len(is_better)} masks fit their images better if they "
        f"are not {fault}: all masks may be {fault}"
    )


def _describe_out_of_step(others: _OtherImages) -> str:
    """Says whether most masks are those of the image before or after; empty if they are not."""
    for gains, neighbor in ((others.gains_before, "before"), (others.gains_after, "after")):
        better = np.count_nonzero(gains > _MIN_TRANSFORM_GAIN)
        if better > _MIN_SHARE_OF_WHOLE_SET * len(gains):
            return (
                f"{better} of {len(gains)} masks fit the image {neighbor} theirs better: all masks "
                "may be one image out of step"
            )
    return ""


def describe_shift(correction: Shift) -> str:
    """Returns in words where a mask lies that fits after this correction."""
    parts = []
    if correction.right:
        direction = "far left" if correction.right > 0 else "far right"
        parts.append(f"{abs(correction.right)} px too {direction}")
    if correction.down:
        direction = "high" if correction.down > 0 else "low"
        parts.append(f"{abs(correction.down)} px too {direction}")
    return " and ".join(parts)
