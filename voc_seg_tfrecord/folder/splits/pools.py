"""Divides images that wait until it is known which masks there are, and which classes these have.

All images wait if ratios are to be stratified; the images of train wait if folds are made of them.
"""

from collections.abc import Mapping, Sequence
import dataclasses

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.folds import TRAIN, fold_ratios
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.folder.question import Problems
from voc_seg_tfrecord.folder.splits.by_ratio import (
    POOL,
    DividedIds,
    divide_by_hash,
    divide_stratified,
)
from voc_seg_tfrecord.folder.splits.divide import Splits, empty_split_error

ONE_SPLIT = "train"
"""The split of all images while splits are not decided."""

SOURCE_OF_ONE_SPLIT = "all images"


@dataclasses.dataclass(frozen=True)
class _Pool:
    """Images that wait.

    Attributes:
      split: the key that they have in `Splits.ids` until they are divided.
      ratios: the share of each split, or fold, that they are divided into.
    """

    split: str
    ratios: Mapping[str, float]


def divide_pool(
    division: Splits, config: VocSegConfig, rule: MaskRule, problems: Problems
) -> Splits:
    """Divides the images that wait for it; the other splits stay as they are.

    If they cannot be divided and the plan reads on, they are in one split.

    Args:
      division: the splits, or the pool of all images.
      config: says the ratios, or the number of folds.
      rule: how masks are read.
      problems: takes the error.
    """
    pool = _find_pool(division, config)
    if pool is None:
        return division
    divided = problems.try_step(_divide_ids, division, pool, config, rule)
    if divided is not None:
        return _replace_split(division, pool.split, divided)
    one_split = DividedIds(
        ids={ONE_SPLIT: division.ids[pool.split]},
        sources={ONE_SPLIT: SOURCE_OF_ONE_SPLIT},
        left_out={ONE_SPLIT: division.left_out.get(pool.split, [])},
    )
    undivided = _replace_split(division, pool.split, one_split)
    return dataclasses.replace(undivided, undecided=True)


def _find_pool(division: Splits, config: VocSegConfig) -> _Pool | None:
    """Returns what waits: all images, or those of train for folds; None if nothing does."""
    if POOL in division.ids:
        return _Pool(POOL, config.ratios)
    ratios_made_folds = bool(config.ratios)
    if config.folds is None or ratios_made_folds or division.undecided:
        return None
    return _Pool(TRAIN, fold_ratios(config.folds))


def _divide_ids(division: Splits, pool: _Pool, config: VocSegConfig, rule: MaskRule) -> DividedIds:
    """Divides a pool by a hash, or so that each part has its share of every class.

    Raises:
      ConfigError: if there are fewer images, or groups, than parts.
      ListError: if a part gets no image by the hash.
    """
    ids = division.ids[pool.split]
    left_out = division.left_out.get(pool.split, [])
    tree = division.evidence.tree
    linked_ids = division.evidence.repeated_images
    if config.split_by == "stratified":
        return divide_stratified(tree.labels, config, rule, pool.ratios, ids, left_out, linked_ids)
    divided = divide_by_hash(ids, config, pool.ratios, linked_ids)
    for split, ids_of_split in divided.ids.items():
        if not ids_of_split:
            raise empty_split_error(tree.root, split, divided.sources[split])
    left_out_by_split = {}
    divided_left_out = divide_by_hash(left_out, config, pool.ratios, linked_ids)
    for split, ids_of_split in divided_left_out.ids.items():
        if ids_of_split:
            left_out_by_split[split] = [*ids_of_split]
    return dataclasses.replace(divided, left_out=left_out_by_split)


def _replace_split(division: Splits, split: str, divided: DividedIds) -> Splits:
    """Returns splits in which the parts of one stand in its place."""
    ids: dict[str, Sequence[str]] = {}
    sources: dict[str, str] = {}
    left_out: dict[str, list[str]] = {}
    for name in division.ids:
        if name == split:
            ids.update(divided.ids)
            sources.update(divided.sources)
            left_out.update(divided.left_out)
            continue
        ids[name] = division.ids[name]
        sources[name] = division.sources[name]
        if name in division.left_out:
            left_out[name] = division.left_out[name]
    options = {name: option for name, option in division.options.items() if name != split}
    return dataclasses.replace(
        division,
        ids=ids,
        sources=sources,
        left_out=left_out,
        options=options,
        notes=[*division.notes, *divided.notes],
    )
