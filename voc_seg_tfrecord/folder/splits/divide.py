"""Which ids each split of a user's own folder has: by lists, by folders, by ratio or by class."""

import collections
from collections.abc import Collection, Mapping, Sequence
import dataclasses
import itertools
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_checks import check_train_can_be_divided
from voc_seg_tfrecord.core.errors import ListError
from voc_seg_tfrecord.core.folds import TRAIN, fold_ratios
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.split_names import parse_split_name
from voc_seg_tfrecord.folder.question import Problems
from voc_seg_tfrecord.folder.splits.by_ratio import check_groups, divide_by_ratio
from voc_seg_tfrecord.folder.splits.candidates import EXAMPLE_RATIOS, REST, SplitSource
from voc_seg_tfrecord.folder.splits.choose import ChosenSplits, choose_splits
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.given import candidate_as_given
from voc_seg_tfrecord.folder.splits.listed_groups import check_groups_are_named
from voc_seg_tfrecord.folder.splits.repeated_images import check_repeated_labels

_MAX_SHOWN_IDS = 3
_MAX_SHOWN_PAIRS_OF_LISTS = 6


@dataclasses.dataclass(frozen=True)
class Splits:
    """What was decided about the splits.

    `split_ids` makes it; `missing_masks` and `folder.plan` replace fields of it in copies.

    Attributes:
      evidence: what it was decided from.
      ids: the ids of each split.
      sources: where each split comes from, in words.
      notes: what a user should know.
      options: where each split comes from, as the option `splits` gives it.
      files: the texts that make the splits.
      left_out: by split, the listed ids that are left out because they have no image or no mask.
      excluded: the ids that are in no split because the user excludes them.
      undecided: whether all images are in one split, because the plan went on after an error.
    """

    evidence: SplitEvidence
    ids: dict[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    sources: dict[str, str] = dataclasses.field(default_factory=dict)
    notes: list[str] = dataclasses.field(default_factory=list)
    options: Mapping[str, str] = dataclasses.field(default_factory=dict)
    files: Sequence[str] = ()
    left_out: dict[str, list[str]] = dataclasses.field(default_factory=dict)
    excluded: Collection[str] = frozenset()
    undecided: bool = False

    @property
    def used(self) -> set[str]:
        """The ids of all splits."""
        return {*itertools.chain(*self.ids.values())}

    def images_in_other_texts(self) -> dict[str, int]:
        """Returns how many images each text names that makes no split, by its path."""
        image_names = self.evidence.image_names
        ids_by_file: dict[str, set[str]] = collections.defaultdict(set)
        for split_list in self.evidence.lists:
            makes_split = split_list.file in self.files
            if split_list.image_count and not makes_split:
                ids = [image_id for image_id in split_list.ids if image_id in image_names]
                ids_by_file[split_list.file].update(ids)
        return {file: len(ids) for file, ids in ids_by_file.items()}


def split_ids(evidence: SplitEvidence, config: VocSegConfig, problems: Problems) -> Splits:
    """Divides the ids of a set into splits.

    Ids in two splits, and groups that ratios would tear, are problems with which others go on.

    Raises:
      ConfigError: if the config names a list or a folder that does not exist.
      ListError: if a list is wrong, a split is empty, splits share ids, or candidates contradict.
    """
    tree = evidence.tree
    check_groups_are_named(config, list_names_group=evidence.list_names_group)
    repeated = evidence.repeated_images
    notes_on_repeated = problems.try_step(check_repeated_labels, tree, repeated, config) or []
    if config.ratios:
        images = tree.images
        problems.try_step(check_groups, images, tree.image_file, config, tree.root, config.ratios)
        divided = divide_by_ratio(images, config, repeated)
        splits = Splits(evidence, divided.ids, divided.sources, [*divided.notes])
    elif config.splits is None:
        user_gave_lists = "lists" in (config.layout or {})
        chosen = choose_splits(
            evidence,
            user_gave_lists=user_gave_lists,
            user_gave_folds=config.folds is not None,
        )
        splits = _splits_of(evidence, chosen)
    else:
        options = cast(Mapping[str, str], config.splits)
        candidate = candidate_as_given(evidence, options)
        splits = _splits_of(evidence, ChosenSplits(candidate))
    splits.notes.extend(notes_on_repeated)
    for split, ids in splits.ids.items():
        if not ids:
            option = splits.options.get(split)
            raise empty_split_error(tree.root, split, splits.sources[split], option)
    if not config.overlap:
        skips_missing_images = config.missing_image == "skip"
        problems.try_step(_check_disjoint, splits, skips_missing_images)
    if config.folds is not None and not config.ratios:
        _check_folds(splits, config.folds, config, problems)
    return splits


def _check_folds(splits: Splits, folds: int, config: VocSegConfig, problems: Problems) -> None:
    """Checks that train can be divided into folds, which is done once the masks are known.

    Raises:
      ConfigError: if there is no train, or a validation beside it.
    """
    tree = splits.evidence.tree
    check_train_can_be_divided(splits.ids, folds, f"{tree.root}, --folds {folds}")
    ids = [image_id for image_id in splits.ids[TRAIN] if image_id in tree.images]
    problems.try_step(check_groups, ids, tree.image_file, config, tree.root, fold_ratios(folds))


def empty_split_error(
    root: epath.Path, split: str, source: str, option: str | None = None
) -> ListError:
    """Returns the error that a split has no image.

    Args:
      root: the set.
      split: the name of the split.
      source: where it comes from, in words.
      option: the same as the option `splits` gives it; None for ratios and folds.
    """
    if option is None:
        remedy = (
            f"divide by classes with {command(split_by='stratified')}, which leaves no split "
            "empty; or change the ratios, the number of folds or the seed, or add images"
        )
    elif option == REST:
        remedy = "leave this split out, because the other splits have all labeled images"
    else:
        remedy = "leave this split out, or name a list or folder that has images"
    return ListError(
        f"split {split!r} of {root}",
        found=f"no image ({source})",
        expected="at least one image",
        remedy=remedy,
    )


def _splits_of(evidence: SplitEvidence, chosen: ChosenSplits) -> Splits:
    """Returns the splits of a candidate, each id once, and notes on what is odd in its lists."""
    candidate = chosen.candidate
    notes = [*chosen.notes]
    distinct_ids = dict[str, Sequence[str]]()
    for source in candidate.sources:
        ids = [*dict.fromkeys(source.ids)]
        if len(ids) < len(source.ids):
            notes.append(_note_on_repeats(source, len(ids)))
        distinct_ids[source.split] = ids
    return Splits(
        evidence,
        ids=distinct_ids,
        sources={source.split: source.words for source in candidate.sources},
        notes=notes,
        options={source.split: source.option for source in candidate.sources},
        files=candidate.files,
    )


def _note_on_repeats(source: SplitSource, distinct: int) -> str:
    return (
        f"{source.words} has {len(source.ids)} lines for {distinct} ids. An id that it repeats is "
        "in the split once."
    )


def _check_disjoint(splits: Splits, skips_missing_images: bool) -> None:
    """Checks that no id is in two splits.

    Raises:
      ListError: if some are, with the lists to leave out if that is an answer.
    """
    images = splits.evidence.tree.images
    ids_by_split = {}
    for split, ids in splits.ids.items():
        if skips_missing_images:  # ids without an image are left out anyway
            ids_by_split[split] = {image_id for image_id in ids if image_id in images}
        else:
            ids_by_split[split] = {*ids}
    sentences = []
    for one, other in itertools.combinations(ids_by_split, 2):
        shared = ids_by_split[one] & ids_by_split[other]
        if shared:
            in_order = [image_id for image_id in splits.ids[one] if image_id in shared]
            first = ", ".join(in_order[:_MAX_SHOWN_IDS])
            counts = f"{len(ids_by_split[one])} and {len(ids_by_split[other])}"
            sentences.append(
                f"{splits.sources[one]} and {splits.sources[other]} have {len(shared)} of {counts} "
                f"ids in both, such as {first}"
            )
    if not sentences:
        return
    if len(sentences) > _MAX_SHOWN_PAIRS_OF_LISTS:
        more = len(sentences) - _MAX_SHOWN_PAIRS_OF_LISTS
        sentences = [*sentences[:_MAX_SHOWN_PAIRS_OF_LISTS], f"and {more} more pairs"]
    raise ListError(
        f"the lists of {splits.evidence.tree.root}",
        found="\n    ".join(sentences),
        expected="each id in one split",
        remedy=_advice_on_shared_ids(splits, ids_by_split),
    )


def _advice_on_shared_ids(splits: Splits, ids_by_split: Mapping[str, set[str]]) -> str:
    allow = (
        'allow ids in several splits with "overlap": true (--allow_overlap). If these files are no '
        f"lists of splits, give --splits {EXAMPLE_RATIOS}, which does not read them"
    )
    disjoint = _splits_without_unions(ids_by_split)
    if disjoint is None:
        return f"remove these ids from one of the lists, or {allow}"
    unions = [splits.sources[split] for split in ids_by_split if split not in disjoint]
    choice = ",".join(f"{split}={splits.options[split]}" for split in disjoint)
    return f"leave out {' and '.join(unions)} with {command(splits=choice)}, or {allow}"


def _splits_without_unions(ids_by_split: Mapping[str, set[str]]) -> Collection[str] | None:
    """Returns splits that share nothing and have all the ids; None if no choice of them has.

    A split is left out if it equals the union of smaller remaining ones, as trainval is that of
    train and val.
    """
    remaining = dict(ids_by_split)
    largest_first = sorted(ids_by_split, key=lambda split: (-len(ids_by_split[split]), split))
    for split in largest_first:
        ids = ids_by_split[split]
        smaller = [other for other in remaining.values() if other < ids]
        if set().union(*smaller) == ids:
            del remaining[split]
    all_ids = set().union(*remaining.values())
    remaining_overlap = len(all_ids) < sum(len(ids) for ids in remaining.values())
    if remaining_overlap:
        return None
    loses_train = _has_train(ids_by_split) and not _has_train(remaining)
    return None if loses_train else remaining


def _has_train(names: Collection[str]) -> bool:
    return any(parse_split_name(name).split == "train" for name in names)
