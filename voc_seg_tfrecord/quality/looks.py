"""Names regions that look like another class, by the regions of other images; no network is needed.

1. `describe` measures each region of a mask: colours and their spread, edges and their directions,
   size, shape, place, and the contrast to what lies around it; not which classes these are, as that
   tells a class apart where looks do not.
2. Extremely randomised trees (scikit-learn) predict the class of each region from those of other
   images, in three folds. Images that belong together, by names or looks, are in one fold.
3. For each pair of classes it is counted how often regions of the one are taken for the other, and
   how often they would be if their label were wrong. Only where the second is many times the first
   does a look tell the two apart, and a region is named. Where nothing tells, nothing is named.

References:
  Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.
  Northcutt, Jiang and Chuang, Confident learning, JAIR 70, 2021, for the out-of-fold probabilities.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import dataclasses
import functools
from typing import Any, NamedTuple

import numpy as np

from voc_seg_tfrecord.core import requirements
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.splits.group_proposals import propose_groups

SIDE = 288  # longer side of the mask in which regions are measured, in pixels
LEAST = 64  # pixels of a region that is compared, in the full mask
FEWEST = 30  # regions of a class that is compared

_MOST = 400  # regions of one image, the largest first
_RING = 5  # pixels around a region that are its surroundings
_PIXELS = 256  # of a region that are looked at
_BINS = 8  # directions of edges
_TOUCH = np.ones((3, 3), int)  # pixels of a part may touch at corners
_TREES, _FOLDS = 40, 3
_TRIED = 0.3  # of the features at each node, as few of them may tell
_LIFT, _ENOUGH = 20.0, 10.0  # times as often that a wrong label is named as one of all; if need be
_DOUBT = 1.0  # regions that are added to those that are named, as few prove little


class Described(NamedTuple):
    """A region of a mask and how it looks.

    The box is left, top, width and height in the full mask; features are float32 `[F]`.
    """

    label: int
    box: tuple[int, int, int, int]
    features: np.ndarray


@dataclasses.dataclass(frozen=True)
class Suspect:
    """A region that looks like another class.

    Attributes:
      image, region: the number of its image, and its own in it.
      suggested: the class that regions of its look have.
      score: 0.2 to 0.95.
      like: image and region of three that look most like the suggested class, and have it.
      own: the same of the class that it has.
    """

    image: int
    region: int
    suggested: int
    score: float
    like: tuple[tuple[int, int], ...] = ()
    own: tuple[tuple[int, int], ...] = ()


@dataclasses.dataclass(frozen=True)
class Compared:
    """What the regions of a set say.

    The surest suspects come first; `few` are classes with fewer than `FEWEST` regions, and how many
    they have; `confused` are pairs of classes that looks do not tell apart, the most alike first.
    If all images belong `together`, there is nothing to compare.
    """

    suspects: tuple[Suspect, ...] = ()
    few: tuple[tuple[int, int], ...] = ()
    confused: tuple[tuple[int, int], ...] = ()
    together: bool = False


@functools.cache
def is_there() -> bool:
    """Says whether scikit-learn is installed, with which regions are compared."""
    return requirements.is_installed("sklearn")


def describe(
    rgb: np.ndarray, mask: np.ndarray, full: tuple[int, int], objects: np.ndarray | None = None
) -> tuple[Described, ...]:
    """Measures the regions of a mask: its objects, and connected parts of classes without any.

    Args:
      rgb: the image, uint8 `[H, W, 3]` of any size.
      mask: the mask, reduced to at most `SIDE`, uint8 `[h, w]`; 255 is void.
      full: height and width of the full mask.
      objects: the instance mask, reduced alike, uint8 `[h, w]`; 0 and 255 are no object.

    Returns:
      Each region of at least `LEAST` pixels of the full mask, at most 400, the largest first.
    """
    height, width = mask.shape
    least = LEAST * mask.size / (full[0] * full[1])
    found = [region for region in _regions(mask, objects) if region.pixels >= least]
    found.sort(key=lambda region: (-region.pixels, region.label, region.top, region.left))
    y, x = full[0] / height, full[1] / width
    described = []
    for region in found[:_MOST]:
        tall, wide = region.inside.shape
        place = round(region.left * x), round(region.top * y)
        box = (*place, max(1, round(wide * x)), max(1, round(tall * y)))
        described.append(Described(region.label, box, _features(rgb, mask, region)))
    return tuple(described)


class _Region(NamedTuple):
    """Pixels, class, first row and column, and which pixels of its box belong to a region."""

    pixels: int
    label: int
    top: int
    left: int
    inside: np.ndarray


def _regions(mask: np.ndarray, objects: np.ndarray | None) -> Iterator[_Region]:
    for label in np.flatnonzero(np.bincount(mask.ravel(), minlength=256)[:VOID]).tolist():
        of_label = mask == label
        if objects is not None:
            of_objects = of_label & (objects != 0) & (objects != VOID)
            of_label &= ~of_objects
            for number in np.unique(objects[of_objects]).tolist():
                yield from _parts(of_objects & (objects == number), label, together=True)
        yield from _parts(of_label, label)


def _parts(pixels: np.ndarray, label: int, *, together: bool = False) -> Iterator[_Region]:
    """Yields the connected parts of some pixels, also those that touch at corners; or them all."""
    from scipy import ndimage

    rows, columns = np.flatnonzero(pixels.any(1)), np.flatnonzero(pixels.any(0))
    if not len(rows):
        return
    top, left = int(rows[0]), int(columns[0])
    pixels = pixels[top : rows[-1] + 1, left : columns[-1] + 1]
    parts, count = (pixels, 1) if together else ndimage.label(pixels, _TOUCH)
    if count == 1:
        yield _Region(int(np.count_nonzero(pixels)), label, top, left, pixels)
        return
    sizes = np.bincount(parts.ravel()).tolist()
    for number, (down, right) in enumerate(ndimage.find_objects(parts), 1):
        inside = parts[down, right] == number
        yield _Region(sizes[number], label, top + down.start, left + right.start, inside)


def _features(rgb: np.ndarray, mask: np.ndarray, region: _Region) -> np.ndarray:
    """Returns how a region looks, where it lies, and what is around it, float32 `[F]`."""
    height, width = mask.shape
    box_height, box_width = region.inside.shape
    bottom, right = region.top + box_height, region.left + box_width
    top, left = max(0, region.top - _RING), max(0, region.left - _RING)
    ring = mask[top : bottom + _RING, left : right + _RING] != VOID
    ring[region.top - top : bottom - top, region.left - left : right - left] &= ~region.inside
    rows, columns = _some(region.inside, region.top, region.left)
    around = _some(ring, top, left)
    tall, wide = rgb.shape[:2]
    y, x = _in_image(rows, height, tall), _in_image(columns, width, wide)
    # One look into the image for the pixels, their four neighbours, and what is around them.
    places = [
        y * wide + x,
        y * wide + np.minimum(x + 1, wide - 1),
        y * wide + np.maximum(x - 1, 0),
        np.minimum(y + 1, tall - 1) * wide + x,
        np.maximum(y - 1, 0) * wide + x,
        _in_image(around[0], height, tall) * wide + _in_image(around[1], width, wide),
    ]
    found = rgb.reshape(-1, 3).take(np.concatenate(places), 0)
    own, others = found[: len(y)], found[5 * len(y) :]
    grey = found[len(y) : 5 * len(y)].reshape(4, -1, 3) @ np.full(3, 1 / 765, np.float32)
    over, down = grey[0] - grey[1], grey[2] - grey[3]
    strength = np.hypot(over, down)
    turns = (np.arctan2(down, over) % np.pi * (_BINS / np.pi)).astype(np.int64) % _BINS
    directions = np.bincount(turns, strength, _BINS)
    border = np.count_nonzero(region.inside[1:] != region.inside[:-1])
    border += np.count_nonzero(region.inside[:, 1:] != region.inside[:, :-1])
    mean, spread = _moments(own)
    mean_around, spread_around = _moments(others if len(others) else own)
    ordered = np.sort(own, axis=0)
    edge, edges = _moments(255 * strength[:, np.newaxis])
    place = (
        mean[0] - mean[1],
        mean[2] - (mean[0] + mean[1]) / 2,
        np.log(region.pixels / mask.size),
        np.log(box_width / box_height),
        box_width / width,
        box_height / height,
        region.pixels / (box_width * box_height),
        border / np.sqrt(region.pixels),
        columns.sum() / (len(columns) * width),
        rows.sum() / (len(rows) * height),
        region.top / height,
        bottom / height,
        float(region.top == 0) + float(bottom == height),
        float(region.left == 0) + float(right == width),
    )
    features = (
        mean,
        spread,
        ordered[[len(ordered) // 10, len(ordered) // 2, len(ordered) * 9 // 10]].ravel() / 255,
        edge,
        edges,
        directions / max(float(directions.sum()), 1e-6),
        mean_around - mean,
        spread_around,
        place,
    )
    return np.concatenate(features, dtype=np.float32)


def _in_image(places: np.ndarray, reduced: int, full: int) -> np.ndarray:
    """Returns rows or columns of the image for those of the reduced mask."""
    return (2 * places + 1) * full // (2 * reduced)


def _moments(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns mean and standard deviation of each channel, 0 to 1, of values up to 255."""
    scaled = values * np.float32(1 / 255)
    mean = np.add.reduce(scaled) / len(scaled)
    squares = np.add.reduce(scaled * scaled) / len(scaled)
    return mean, np.sqrt(np.maximum(squares - mean * mean, 0))


def _some(pixels: np.ndarray, top: int, left: int) -> tuple[np.ndarray, np.ndarray]:
    """Returns rows and columns of some pixels of a window, at most `_PIXELS`, evenly spread."""
    step = int(np.sqrt(np.count_nonzero(pixels) / (4 * _PIXELS))) or 1
    thinned = pixels[::step, ::step]
    if not thinned.any():  # a line that lies between
        step, thinned = 1, pixels
    places = np.flatnonzero(thinned)
    y, x = np.divmod(places[:: -(-len(places) // _PIXELS) or 1], thinned.shape[1])
    return y * step + top, x * step + left


def compare(
    regions: Sequence[Sequence[Described]], ids: Sequence[str], alike: Iterable[Sequence[int]]
) -> Compared:
    """Finds the regions that look like another class, of those that `describe` returns by image.

    The names of the images may say that some belong together, as those do that look `alike`.
    """
    places = [(image, n) for image, of in enumerate(regions) for n in range(len(of))]
    labels = np.array([regions[image][n].label for image, n in places], np.int64)
    classes, counts = np.unique(labels, return_counts=True)
    kept = classes[counts >= FEWEST]
    few = tuple((int(c), int(n)) for c, n in zip(classes, counts, strict=True) if n < FEWEST)
    if len(kept) < 2:
        return Compared(few=few)
    inside = np.flatnonzero(np.isin(labels, kept))
    groups = _groups(ids, alike)[[places[n][0] for n in inside]]
    if len(np.unique(groups)) < 2:
        return Compared(few=few, together=True)
    places, labels = [places[n] for n in inside], np.searchsorted(kept, labels[inside])
    features = np.stack([regions[image][n].features for image, n in places])
    share = _predict(features, labels, groups, len(kept))
    rows, told = _named(share, labels)
    suspects, images = [], np.array([image for image, _ in places])
    for number, suggested, score in rows:
        like, own = (
            tuple(places[n] for n in _surest(share[:, of], (images != images[number]) & mine))
            for of, mine in ((of, labels == of) for of in (suggested, labels[number]))
        )
        suspects.append(Suspect(*places[number], int(kept[suggested]), score, like, own))
    suspects.sort(key=lambda s: (-s.score, s.image, s.region))
    taken = np.stack([share[labels == of].mean(0) for of in range(len(kept))])
    pairs = {(a, b) for b in range(len(kept)) for a in range(b)} - told
    confused = sorted(pairs, key=lambda pair: (-taken[pair] - taken[pair[::-1]], pair))
    return Compared(tuple(suspects), few, tuple((int(kept[a]), int(kept[b])) for a, b in confused))


def _groups(ids: Sequence[str], alike: Iterable[Sequence[int]]) -> np.ndarray:
    """Returns the group of each image, int64 `[N]`: by names where they say one, and by looks."""
    proposal = propose_groups(ids)
    names: Mapping[str, str] = proposal.groups if proposal else {}
    keys = [f"0 {names[i]}" if i in names else f"1 {n}" for n, i in enumerate(ids)]
    of = np.unique(keys, return_inverse=True)[1]
    for first, *others in alike:
        for number in others:
            of[of == of[number]] = of[first]
    return of


def _predict(
    features: np.ndarray, labels: np.ndarray, groups: np.ndarray, classes: int
) -> np.ndarray:
    """Returns for each region the share of trees for each class, float32 `[N, classes]`."""
    from sklearn.ensemble import ExtraTreesClassifier

    share = np.zeros((len(labels), classes), np.float32)
    for fold in _folds(groups):
        model: Any = ExtraTreesClassifier(
            _TREES,
            min_samples_leaf=2,
            max_features=_TRIED,
            class_weight="balanced",
            random_state=0,
            n_jobs=-1,
        )
        model.fit(features[~fold], labels[~fold])
        model.n_jobs = 1  # threads would add up the trees in any order
        share[np.ix_(np.flatnonzero(fold), model.classes_)] = model.predict_proba(features[fold])
    return share


def _folds(groups: np.ndarray) -> Iterator[np.ndarray]:
    """Yields which regions are in each fold: groups, the largest first, fill the smallest fold."""
    _, of, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    fold_of, filled = np.zeros(len(sizes), int), np.zeros(min(_FOLDS, len(sizes)), int)
    for group in np.argsort(-sizes, kind="stable"):
        fold_of[group] = filled.argmin()
        filled[fold_of[group]] += sizes[group]
    yield from (fold_of[of] == fold for fold in range(len(filled)))


def _named(
    share: np.ndarray, labels: np.ndarray
) -> tuple[list[tuple[int, int, float]], set[tuple[int, int]]]:
    """Returns which regions are named, with class and score; and pairs that looks tell apart."""
    rows, told = list[tuple[int, int, float]](), set[tuple[int, int]]()
    others = share.copy()
    others[np.arange(len(labels)), labels] = -1
    best = others.argmax(1)
    for of in range(share.shape[1]):
        mine = np.flatnonzero(labels == of)
        for other in range(share.shape[1]):
            if other == of:
                continue
            margins = share[mine, other] - share[mine, of]
            margins[best[mine] != other] = -1
            theirs = share[labels == other]
            wrong = theirs[:, other] - theirs[:, of]  # if they were called as this class is
            wrong[theirs.argmax(1) != other] = -1
            least = _threshold(np.sort(margins), np.sort(wrong))
            if least is None:
                continue
            told.add((min(of, other), max(of, other)))
            for place in np.flatnonzero(margins >= least):
                rows.append((int(mine[place]), other, 0.2 + 0.75 * float(margins[place])))
    return rows, told


def _threshold(margins: np.ndarray, wrong: np.ndarray) -> float | None:
    """Returns the least margin by which a wrong label is told; None if none is."""
    enough = None
    for least in np.arange(0.5, 0.96, 0.05):
        named = len(margins) - np.searchsorted(margins, least)
        found = (len(wrong) - np.searchsorted(wrong, least)) / len(wrong)
        lift = found * len(margins) / (named + _DOUBT)
        if lift >= _LIFT:
            return float(least)
        if lift >= _ENOUGH and enough is None:
            enough = float(least)
    return enough


def _surest(share: np.ndarray, mine: np.ndarray) -> list[int]:
    """Returns three of some regions, those with the largest share first."""
    numbers = np.flatnonzero(mine)
    return numbers[np.argsort(-share[numbers], kind="stable")[:3]].tolist()
