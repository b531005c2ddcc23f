"""Finds regions that look like another class, given the regions of other images.

No trained network is needed:

1. `appearance` measures the features of each region.
2. Extremely randomized trees (scikit-learn) predict the class of each region from those of other
   images, by cross-validation in three folds. Images that belong together, by their names or as
   near-duplicates, are in one fold.
3. For each pair of classes two rates are compared: how often regions of the one are predicted as
   the other, and how often they would be if their label were wrong. Only where the second is many
   times the first does appearance tell the two classes apart, and regions are named. Where nothing
   tells classes apart, nothing is named.

References:
  Geurts, Ernst and Wehenkel, Extremely randomized trees, Machine Learning 63, 2006.
  Northcutt, Jiang and Chuang, Confident learning, JAIR 70, 2021, for the out-of-fold probabilities.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import itertools
from typing import Any

import numpy as np

from voc_seg_tfrecord.folder.splits.groups_by_ids import propose_by_ids
from voc_seg_tfrecord.quality.appearance import RegionAppearance

MIN_REGIONS_OF_CLASS = 30
"""Regions of a class that is compared, at least."""

_TREES = 40
_FOLDS = 3
_FEATURES_SHARE_PER_NODE = 0.3  # large, because few of the features may tell
_GOOD_LIFT = 20.0  # a wrong label is named this many times as often as any label
_SUFFICIENT_LIFT = 10.0  # if no threshold has the good lift
_DOUBT_REGIONS = 1.0  # are added to the named ones, because few regions prove little
_SHOWN_REGIONS = 3  # of each class, beside a mislabeled region


@dataclasses.dataclass(frozen=True)
class RegionNumber:
    """The number of an image in the arguments, and that of the region in it."""

    image: int
    region: int


@dataclasses.dataclass(frozen=True)
class MislabeledRegion:
    """A region that looks like another class.

    Attributes:
      number: which region it is.
      suggested: the class that it looks like.
      score: how sure this is, 0.575 to 0.95.
      like_suggested: three regions of the suggested class that look most like it.
      like_own: three regions of its own class that look most like that class.
    """

    number: RegionNumber
    suggested: int
    score: float
    like_suggested: tuple[RegionNumber, ...] = ()
    like_own: tuple[RegionNumber, ...] = ()


@dataclasses.dataclass(frozen=True)
class RegionComparison:
    """What the regions of a set say about each other.

    Attributes:
      mislabeled: regions that look like another class, the surest first.
      rare_classes: how many regions each class has that has fewer than `MIN_REGIONS_OF_CLASS`.
      confused: pairs of classes that appearance does not tell apart, the most alike first.
      is_one_group: whether all images belong together, so that there is nothing to compare.
    """

    mislabeled: tuple[MislabeledRegion, ...] = ()
    rare_classes: Mapping[int, int] = dataclasses.field(default_factory=dict)
    confused: tuple[tuple[int, int], ...] = ()
    is_one_group: bool = False


def compare_regions(
    regions: Sequence[Sequence[RegionAppearance]],
    ids: Sequence[str],
    near_duplicates: Iterable[Sequence[int]],
) -> RegionComparison:
    """Finds the regions that look like another class.

    Args:
      regions: those of each image, as `appearance.measure_regions` returns them.
      ids: the id of each image; ids may say that images belong together.
      near_duplicates: groups of numbers of images that show the same picture or a neighbor.
    """
    regions_of_class = _count_regions(regions)
    rare_classes = {c: n for c, n in regions_of_class.items() if n < MIN_REGIONS_OF_CLASS}
    classes = [c for c in regions_of_class if c not in rare_classes]
    if len(classes) < 2:
        return RegionComparison(rare_classes=rare_classes)

    numbers = [
        RegionNumber(image_number, region_number)
        for image_number, of_image in enumerate(regions)
        for region_number, region in enumerate(of_image)
        if region.label in classes
    ]
    compared = [regions[number.image][number.region] for number in numbers]
    image_of_region = np.array([number.image for number in numbers])
    group_of_region = _group_images(ids, near_duplicates)[image_of_region]
    if len(np.unique(group_of_region)) < 2:
        return RegionComparison(rare_classes=rare_classes, is_one_group=True)

    features = np.stack([region.features for region in compared])
    # A class is called by its column in the probabilities from here on.
    columns = np.searchsorted(classes, [region.label for region in compared])
    probabilities = _predict_out_of_fold(features, columns, group_of_region, len(classes))
    verdict = _judge_labels(probabilities, columns)
    rows_of_column = [_surest_first(probabilities, columns, c) for c in range(len(classes))]
    mislabeled = []
    for wrong in verdict.wrong_labels:
        own_image = image_of_region[wrong.row]
        like_suggested = _first_elsewhere(
            rows_of_column[wrong.suggested_column], image_of_region, own_image
        )
        like_own = _first_elsewhere(rows_of_column[columns[wrong.row]], image_of_region, own_image)
        mislabeled.append(
            MislabeledRegion(
                number=numbers[wrong.row],
                suggested=classes[wrong.suggested_column],
                score=wrong.score,
                like_suggested=tuple(numbers[row] for row in like_suggested),
                like_own=tuple(numbers[row] for row in like_own),
            )
        )
    mislabeled.sort(key=lambda region: (-region.score, region.number.image, region.number.region))
    confused = _sort_confused_pairs(probabilities, columns, verdict.distinct_pairs)
    return RegionComparison(
        mislabeled=tuple(mislabeled),
        rare_classes=rare_classes,
        confused=tuple((classes[first], classes[second]) for first, second in confused),
    )


def _count_regions(regions: Sequence[Sequence[RegionAppearance]]) -> dict[int, int]:
    """Returns how many regions each class has, by ascending class."""
    labels = [region.label for of_image in regions for region in of_image]
    classes, counts = np.unique(np.array(labels, np.int64), return_counts=True)
    return dict(zip(classes.tolist(), counts.tolist(), strict=True))


def _group_images(ids: Sequence[str], near_duplicates: Iterable[Sequence[int]]) -> np.ndarray:
    """Returns the group of each image, int64 `[N]`: by names where they say one, and by looks."""
    proposal = propose_by_ids(ids)
    group_of_id: Mapping[str, str] = proposal.groups if proposal else {}
    keys = []
    for number, image_id in enumerate(ids):
        # The digit keeps a group that is called by a number apart from an image without a group.
        if image_id in group_of_id:
            keys.append(f"0 {group_of_id[image_id]}")
        else:
            keys.append(f"1 {number}")
    group_of_image = np.unique(keys, return_inverse=True)[1]

    # Each group joins another one, or is its own: union-find.
    joined_group = list(range(len(ids)))

    def find_joined(number: int) -> int:
        group = int(group_of_image[number])
        while joined_group[group] != group:
            joined_group[group] = joined_group[joined_group[group]]
            group = joined_group[group]
        return group

    for first, *others in near_duplicates:
        for number in others:
            joined_group[find_joined(number)] = find_joined(first)
    return np.array([find_joined(number) for number in range(len(ids))], np.int64)


def _predict_out_of_fold(
    features: np.ndarray, columns: np.ndarray, groups: np.ndarray, classes: int
) -> np.ndarray:
    """Returns for each region the share of trees for each class, float32 `[N, classes]`.

    The trees have seen no region of its fold.

    Args:
      features: float32 `[N, F]`.
      columns: the class of each region, int64 `[N]`, from 0 to `classes` - 1.
      groups: the group of each region's image, int64 `[N]`.
      classes: how many there are.
    """
    from sklearn.ensemble import ExtraTreesClassifier

    probabilities = np.zeros((len(columns), classes), np.float32)
    fold_of_region = _assign_folds(groups)
    for fold in range(fold_of_region.max() + 1):
        is_in_fold = fold_of_region == fold
        model: Any = ExtraTreesClassifier(
            _TREES,
            min_samples_leaf=2,
            max_features=_FEATURES_SHARE_PER_NODE,
            class_weight="balanced",
            random_state=0,
            n_jobs=-1,
        )
        model.fit(features[~is_in_fold], columns[~is_in_fold])
        model.n_jobs = 1  # threads would add up the trees in any order
        rows = np.flatnonzero(is_in_fold)
        predicted = model.predict_proba(features[is_in_fold])
        probabilities[np.ix_(rows, model.classes_)] = predicted
    return probabilities


def _assign_folds(groups: np.ndarray) -> np.ndarray:
    """Returns the fold of each region, int64 `[N]`: the largest group joins the smallest fold."""
    _, group_of_region, sizes = np.unique(groups, return_inverse=True, return_counts=True)
    fold_of_group = np.zeros(len(sizes), int)
    regions_in_fold = np.zeros(min(_FOLDS, len(sizes)), int)
    for group in np.argsort(-sizes, kind="stable"):
        fold = regions_in_fold.argmin()
        fold_of_group[group] = fold
        regions_in_fold[fold] += sizes[group]
    return fold_of_group[group_of_region]


@dataclasses.dataclass(frozen=True)
class _WrongLabel:
    """A label that is named wrong.

    Attributes:
      row: of the region.
      suggested_column: of the class that it looks like.
      score: how sure this is, 0.575 to 0.95.
    """

    row: int
    suggested_column: int
    score: float


@dataclasses.dataclass(frozen=True)
class _Verdict:
    """Which labels are named wrong, and which pairs of columns appearance tells apart."""

    wrong_labels: Sequence[_WrongLabel]
    distinct_pairs: frozenset[tuple[int, int]]


def _judge_labels(probabilities: np.ndarray, columns: np.ndarray) -> _Verdict:
    """Names labels that the predictions contradict.

    Args:
      probabilities: of each region for each class, float32 `[N, classes]`.
      columns: the column of each region's own class, int64 `[N]`.
    """
    wrong_labels = []
    distinct_pairs = set()
    likeliest = probabilities.argmax(1)
    for given, other in itertools.permutations(range(probabilities.shape[1]), 2):
        rows = np.flatnonzero(columns == given)
        margins = _margins(probabilities, rows, given, other, likeliest)
        # The same of regions of the other class, as if they had been labeled wrong.
        rows_of_other = np.flatnonzero(columns == other)
        margins_if_wrong = _margins(probabilities, rows_of_other, given, other, likeliest)
        threshold = _choose_threshold(margins, margins_if_wrong)
        if threshold is None:
            continue
        distinct_pairs.add((min(given, other), max(given, other)))
        for index in np.flatnonzero(margins >= threshold).tolist():
            score = 0.2 + 0.75 * float(margins[index])
            wrong_labels.append(_WrongLabel(int(rows[index]), other, score))
    return _Verdict(wrong_labels, frozenset(distinct_pairs))


def _margins(
    probabilities: np.ndarray, rows: np.ndarray, given: int, other: int, likeliest: np.ndarray
) -> np.ndarray:
    """Returns by how much regions look more like another class than like a given one.

    Args:
      probabilities: of each region for each class, float32 `[N, classes]`.
      rows: those of the regions, int64 `[M]`.
      given: the column of the given class.
      other: the column of the other class.
      likeliest: the likeliest column of each region, int64 `[N]`.

    Returns:
      float32 `[M]`; -1 for a region whose likeliest class is not the other one.
    """
    margins = probabilities[rows, other] - probabilities[rows, given]
    margins[likeliest[rows] != other] = -1
    return np.asarray(margins)


def _choose_threshold(margins: np.ndarray, if_wrong: np.ndarray) -> float | None:
    """Returns the smallest margin above which a label is named wrong; None if none tells.

    The lift of a threshold is the share of wrong labels that it names, divided by the share of all
    labels that it names.

    Args:
      margins: by how much regions of a class look more like another one, float32 `[M]`.
      if_wrong: the same of regions of the other class, float32 `[K]`.
    """
    first_sufficient = None
    for threshold in np.arange(0.5, 0.96, 0.05):
        named = np.count_nonzero(margins >= threshold)
        named_if_wrong = np.count_nonzero(if_wrong >= threshold)
        lift = named_if_wrong / len(if_wrong) * len(margins) / (named + _DOUBT_REGIONS)
        if lift >= _GOOD_LIFT:
            return float(threshold)
        if lift >= _SUFFICIENT_LIFT and first_sufficient is None:
            first_sufficient = float(threshold)
    return first_sufficient


def _surest_first(probabilities: np.ndarray, columns: np.ndarray, column: int) -> np.ndarray:
    """Returns the rows of a class, those that look most like it first, int64 `[M]`."""
    rows = np.flatnonzero(columns == column)
    order = np.argsort(-probabilities[rows, column], kind="stable")
    return rows[order]


def _first_elsewhere(rows: np.ndarray, image_of_region: np.ndarray, own_image: int) -> list[int]:
    """Returns the first three of rows whose regions are in another image."""
    is_elsewhere = image_of_region[rows] != own_image
    return rows[is_elsewhere][:_SHOWN_REGIONS].tolist()


def _sort_confused_pairs(
    probabilities: np.ndarray, columns: np.ndarray, distinct_pairs: frozenset[tuple[int, int]]
) -> list[tuple[int, int]]:
    """Returns the pairs of columns that are not distinct, those most often confused first."""
    all_columns = range(probabilities.shape[1])
    mean_probabilities = np.stack(
        [probabilities[columns == column].mean(0) for column in all_columns]
    )
    pairs = []
    for first, second in itertools.combinations(all_columns, 2):
        if (first, second) not in distinct_pairs:
            confusion = mean_probabilities[first, second] + mean_probabilities[second, first]
            pairs.append((-confusion, (first, second)))
    return [pair for _, pair in sorted(pairs)]
