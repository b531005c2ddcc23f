"""Decides the splits of a folder, in which each image has the mask that a text states for it.

Splits come first: a text that makes one counts for its images. Then each image gets its mask, and
images without one are left out, or the build stops.
"""

import dataclasses

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.folder.question import Problems
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.splits.candidates import all_in_train
from voc_seg_tfrecord.folder.splits.divide import Splits, split_ids
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.excluded import leave_out_excluded
from voc_seg_tfrecord.folder.splits.missing_masks import leave_out_unmasked
from voc_seg_tfrecord.folder.stated_pairs import StatedPairs, pair_as_stated


@dataclasses.dataclass(frozen=True)
class PairedSplits:
    """The splits of a set in which each image has the mask that a text states for it.

    Attributes:
      division: the splits; the tree of their evidence has the stated pairs.
      stated: these pairs.
    """

    division: Splits
    stated: StatedPairs


def choose_splits(reader: FolderReader, config: VocSegConfig, problems: Problems) -> PairedSplits:
    """Returns the splits of a set.

    If they cannot be decided and the plan reads on, all images are in one split, whatever lists
    and groups say.
    """
    tree = reader.find_tree(config)
    evidence = problems.try_step(reader.find_split_evidence, config) or SplitEvidence(tree)
    division = problems.try_step(_split_ids, evidence, config, problems)
    if division is not None:
        paired = _with_stated_pairs(division, config, problems)
        labeled = problems.try_step(leave_out_unmasked, paired.division, config)
        if labeled is not None:
            return dataclasses.replace(paired, division=labeled)
    return _put_all_in_one_split(evidence, config, problems)


def _split_ids(evidence: SplitEvidence, config: VocSegConfig, problems: Problems) -> Splits:
    """Returns the splits without the images that the user excludes."""
    return leave_out_excluded(split_ids(evidence, config, problems), config.exclude)


def _put_all_in_one_split(
    evidence: SplitEvidence, config: VocSegConfig, problems: Problems
) -> PairedSplits:
    """Returns all images that have a mask in one split; no split if there are none.

    Stated pairs depend on the splits, because texts that make splits count before others. So they
    are found for this split, too, if they were found for others.
    """
    ids = [*evidence.tree.images]
    one_split = Splits(evidence, all_in_train(ids).sources, undecided=True)
    paired = _with_stated_pairs(one_split, config, problems)
    if ids:
        skipping = dataclasses.replace(config, missing_mask="skip")
        labeled = problems.try_step(leave_out_unmasked, paired.division, skipping)
        if labeled is not None:
            return dataclasses.replace(paired, division=labeled)
    no_split = Splits(paired.division.evidence, undecided=True)
    return dataclasses.replace(paired, division=no_split)


def _with_stated_pairs(division: Splits, config: VocSegConfig, problems: Problems) -> PairedSplits:
    """Returns splits whose images have the masks that texts state for them."""
    stated = problems.try_step(_pair_as_stated, division, config)
    if stated is None:
        return PairedSplits(division, StatedPairs(division.evidence.tree))
    evidence = dataclasses.replace(division.evidence, tree=stated.tree)
    notes = [*division.notes, *stated.notes]
    return PairedSplits(dataclasses.replace(division, evidence=evidence, notes=notes), stated)


def _pair_as_stated(division: Splits, config: VocSegConfig) -> StatedPairs:
    """Finds the pairs that texts state."""
    options_of_layout = config.layout or {}
    return pair_as_stated(
        division.evidence.tree,
        division.evidence.image_names,
        used=division.used,
        texts_of_splits=division.files,
        masks_are_given="masks" in options_of_layout or "mask_name" in options_of_layout,
    )
