"""Which ids each split of a user's own folder has: by lists, by folders, by ratio or by class."""

from collections.abc import Collection, Iterable, Mapping, Sequence, Set
import dataclasses
import functools
import itertools
from typing import cast

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.config_checks import check_train_can_be_divided
from voc_seg_tfrecord.core.errors import ListError, VocSegError, counted
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.ratios import TRAIN, fold_ratios
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.words import parse_split_name
from voc_seg_tfrecord.folder.decide import Reason, decide
from voc_seg_tfrecord.folder.question import Problems
from voc_seg_tfrecord.folder.splits.by_ratio import (
    POOL,
    DividedImages,
    ShareOfImages,
    check_groups,
    divide_by_hash,
    divide_by_ratio,
    divide_stratified,
)
from voc_seg_tfrecord.folder.splits.candidates import (
    ALL_IMAGES,
    BY_FOLDERS,
    BY_LISTS,
    EXAMPLE_RATIOS,
    REST,
    SplitCandidate,
    SplitSource,
    all_in_train,
    divide_further,
    join_if_compatible,
)
from voc_seg_tfrecord.folder.splits.copied_images import check_repeated_labels
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.find_candidates import find_candidates
from voc_seg_tfrecord.folder.splits.given import candidate_as_given
from voc_seg_tfrecord.folder.splits.groups_by_ids import propose_wholes
from voc_seg_tfrecord.folder.splits.listed_folds import with_folds
from voc_seg_tfrecord.folder.splits.listed_groups import check_groups_are_named
from voc_seg_tfrecord.folder.splits.rules import (
    LISTS_IN_VOC_FOLDER,
    LISTS_OVER_FOLDERS,
    NOTE_THAT_ALL_ARE_TRAIN,
    RULES,
    RULES_OF_ALL_IN_TRAIN,
)
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.index_masks import read_mask

ONE_SPLIT = "train"
"""The split of all images while splits are not decided."""

_MAX_SHOWN_IDS = 3
_MAX_SHOWN_PAIRS_OF_LISTS = 6


@dataclasses.dataclass(frozen=True)
class Splits:
    """What was decided about the splits.

    `split_ids` makes it; `missing_masks` and `folder.plan` replace fields of it in copies.

    Attributes:
      evidence: what it was decided from.
      sources: the splits, and where each comes from; or the shares that ratios or folds make.
      notes: what a user should know.
      files: the texts that make the splits, also those of splits without a mask.
      left_out: by split, the listed ids that are left out because they have no image or no mask.
      excluded: the ids that are in no split because the user excludes them.
      undecided: whether all images are in one split, because the plan went on after an error.
    """

    evidence: SplitEvidence
    sources: Sequence[SplitSource | ShareOfImages] = ()
    notes: Sequence[str] = ()
    files: Sequence[str] = ()
    left_out: Mapping[str, Sequence[str]] = dataclasses.field(default_factory=dict)
    excluded: Collection[str] = frozenset()
    undecided: bool = False

    @functools.cached_property
    def ids(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return {source.split: source.ids for source in self.sources}

    @functools.cached_property
    def used(self) -> Set[str]:
        """The ids of all splits."""
        return {*itertools.chain(*self.ids.values())}


def split_ids(evidence: SplitEvidence, config: VocSegConfig, problems: Problems) -> Splits:
    """Divides the ids of a set into splits.

    `problems` collects ids in two splits, and groups that ratios would divide.

    Raises:
      ConfigError: if the config names a list or a folder that does not exist.
      ListError: if a list is wrong, a split is empty, splits share ids, or candidates contradict.
    """
    tree = evidence.tree
    check_groups_are_named(config, list_names_group=evidence.list_names_group)
    repeated = evidence.repeated_images
    notes_on_repeated: Sequence[str] = ()
    if repeated:
        notes_on_repeated = problems.try_step(check_repeated_labels, tree, repeated, config) or ()
    if config.ratios:
        images = tree.images
        problems.try_step(check_groups, images, tree.image_file, config, tree.root, config.ratios)
        divided = divide_by_ratio(images, config, repeated)
        _check_not_empty(tree.root, divided.shares)
        return Splits(evidence, divided.shares, [*divided.notes, *notes_on_repeated])
    if config.splits is None:
        candidate = _choose_splits(evidence, user_gave_folds=config.folds is not None)
    else:
        options = cast(Mapping[str, str], config.splits)
        candidate = candidate_as_given(evidence, options)
    notes = [*candidate.notes]
    sources = []
    for source in candidate.sources:
        ids = [*dict.fromkeys(source.ids)]
        if len(ids) < len(source.ids):
            notes.append(
                f"{source.words} has {len(source.ids)} lines for {len(ids)} ids. An id that it "
                "repeats is in the split once."
            )
        sources.append(dataclasses.replace(source, ids=ids))
    _check_not_empty(tree.root, sources)
    if len(sources) > 1:
        notes += _note_on_divided_groups(sources)
    splits = Splits(evidence, sources, [*notes, *notes_on_repeated], candidate.files)
    if not config.overlap and len(sources) > 1:
        skips_missing_images = config.missing_image == "skip"
        problems.try_step(_check_disjoint, tree, sources, skips_missing_images)
    if config.folds is not None:
        where = f"{tree.root}, --folds {config.folds}"
        check_train_can_be_divided(splits.ids, config.folds, where)
        ids = [image_id for image_id in splits.ids[TRAIN] if image_id in tree.images]
        ratios = fold_ratios(config.folds)
        problems.try_step(check_groups, ids, tree.image_file, config, tree.root, ratios)
    return splits


def _choose_splits(evidence: SplitEvidence, *, user_gave_folds: bool = False) -> SplitCandidate:
    """Returns the candidate that no rule beats; see `rules`.

    Args:
      evidence: what is there.
      user_gave_folds: whether the user divides train into folds, whatever lists of folds say.

    Raises:
      QuestionError: if several candidates are left, with the options for each; or if lists of folds
        do not say which one validates.
      ListError: if a text that names images and splits is not understood; if the user gave the
        folder of the lists, and no text there says splits.
      LayoutError: if images lie in a folder of test and another split.
    """
    if evidence.says_nothing:
        return all_in_train(evidence.tree.images, [NOTE_THAT_ALL_ARE_TRAIN])
    if not evidence.user_gave_lists and not user_gave_folds:
        evidence = with_folds(evidence)
    notes = [*evidence.notes]
    candidates = find_candidates(evidence, notes)
    notes += [f"{text.file} is not read: it has {text.content}." for text in evidence.unclear]
    evidence = dataclasses.replace(evidence, candidates=candidates, notes=notes)
    rules = RULES if candidates else RULES_OF_ALL_IN_TRAIN
    possible = [*candidates, *divide_further(candidates)] or [all_in_train(evidence.tree.images)]
    decision = decide(possible, rules, evidence)
    lost = decision.lost
    if decision.taken is None:
        # Several are left. If they belong together, the joined one is taken. Otherwise a rule asks
        # about all of them, which it finds in the evidence, whichever of them it is called for.
        remaining = join_if_compatible(decision.left)
        evidence = dataclasses.replace(evidence, remaining_candidates=remaining)
        decision = decide(remaining[:1], rules, evidence)
    if decision.question is not None:
        raise decision.question
    assert decision.taken is not None
    all_notes = dict.fromkeys([*notes, *_notes_on_lost(lost), *decision.notes])
    return dataclasses.replace(decision.taken, notes=[*all_notes])


def _notes_on_lost(lost: Mapping[SplitCandidate, Reason[SplitCandidate]]) -> list[str]:
    """Returns notes on what lost and divides images that the winner does not have."""
    notes = []
    for candidate, reason in lost.items():
        if candidate.is_part_of(reason.winner):
            continue
        if reason.rule == LISTS_IN_VOC_FOLDER.name and candidate.kind == BY_LISTS:
            notes.append(
                f"The lists in their usual folder win over {', '.join(candidate.files)}, which "
                "agree with them."
            )
        lost_to_lists = reason.rule in (LISTS_IN_VOC_FOLDER.name, LISTS_OVER_FOLDERS.name)
        if lost_to_lists and candidate.kind == BY_FOLDERS:
            names = ", ".join(source.words.rstrip("/") for source in candidate.sources)
            notes.append(
                f"The lists make the splits, and the folders {names} hold other images. "
                f"{candidate.alternative.command} takes the folders."
            )
    return notes


def _check_not_empty(
    root: epath.Path, sources: Iterable[SplitSource] | Iterable[ShareOfImages]
) -> None:
    """Checks that each split of a set has an image.

    Raises:
      ListError: if a split has none.
    """
    for source in sources:
        if source.ids:
            continue
        if isinstance(source, ShareOfImages):
            remedy = (
                f"divide by classes with {command(split_by='stratified')}, which leaves no split "
                "empty; or change the ratios, the number of folds or the seed, or add images"
            )
        elif source.option == REST:
            remedy = "leave this split out, because the other splits have all labeled images"
        else:
            remedy = "leave this split out, or name a list or folder that has images"
        raise ListError(
            f"split {source.split!r} of {root}",
            found=f"no image ({source.words})",
            expected="at least one image",
            remedy=remedy,
        )


def _note_on_divided_groups(sources: Sequence[SplitSource]) -> list[str]:
    """Returns a note if lists or folders divide the images of a patient, a film or the like.

    Example: `patient_03_slice1` in train, and `patient_03_slice2` in validation.
    """
    split_by_id = {image_id: source.split for source in sources for image_id in source.ids}
    proposal = propose_wholes(split_by_id)
    if proposal is None:
        return []
    examples: list[str] = []
    for ids in proposal.members:
        first_by_split: dict[str, str] = {}
        for image_id in ids:
            first_by_split.setdefault(split_by_id[image_id], image_id)
        if len(first_by_split) > 1:
            examples.append(" and ".join(f"{i} in {split}" for split, i in first_by_split.items()))
    if not examples:
        return []
    groups = counted(len(proposal.members), "group")
    return [
        f"The splits divide {len(examples)} of {groups} of ids with one number, such as "
        f"{examples[0]}. If these images are almost the same, scores on the other splits are too "
        "high."
    ]


def _check_disjoint(
    tree: VocTree, sources: Sequence[SplitSource], skips_missing_images: bool
) -> None:
    """Checks that no id is in two splits.

    Raises:
      ListError: if some are, with the lists to leave out if that is an answer.
    """
    ids_by_split = {source.split: {*source.ids} for source in sources}
    if skips_missing_images:  # ids without an image are left out anyway
        for ids in ids_by_split.values():
            ids -= {image_id for image_id in ids if image_id not in tree.images}
    sentences = []
    for one, other in itertools.combinations(sources, 2):
        ids = ids_by_split[one.split]
        other_ids = ids_by_split[other.split]
        shared = ids & other_ids
        if shared:
            in_both = [image_id for image_id in one.ids if image_id in shared]
            sentences.append(
                f"{one.words} ({counted(len(ids), 'id')}) and {other.words} "
                f"({counted(len(other_ids), 'id')}) have {counted(len(in_both), 'id')} in common, "
                f"such as {', '.join(in_both[:_MAX_SHOWN_IDS])}"
            )
    if not sentences:
        return
    if len(sentences) > _MAX_SHOWN_PAIRS_OF_LISTS:
        more = len(sentences) - _MAX_SHOWN_PAIRS_OF_LISTS
        sentences = [*sentences[:_MAX_SHOWN_PAIRS_OF_LISTS], f"and {more} more pairs"]
    remedy = "remove these ids from one of the lists"
    disjoint = _splits_without_unions(ids_by_split)
    if disjoint:
        unions = [source.words for source in sources if source.split not in disjoint]
        options = {source.split: source.option for source in sources}
        choice = ",".join(f"{split}={options[split]}" for split in disjoint)
        remedy = f"leave out {' and '.join(unions)} with {command(splits=choice)}"
    raise ListError(
        f"the lists of {tree.root}",
        found="\n    ".join(sentences),
        expected="each id in one split",
        remedy=f'{remedy}, or allow ids in several splits with "overlap": true (--allow_overlap). '
        f"If these files are no lists of splits, give --splits {EXAMPLE_RATIOS}, which does not "
        "read them",
    )


def _splits_without_unions(ids_by_split: Mapping[str, set[str]]) -> Collection[str]:
    """Returns splits that share nothing and have all the ids; none if there are no such splits.

    A split is left out if it equals the union of smaller remaining ones, as trainval is that of
    train and val. If there is a train, it has to remain.
    """
    remaining = dict(ids_by_split)
    largest_first = sorted(ids_by_split, key=lambda split: (-len(ids_by_split[split]), split))
    for split in largest_first:
        ids = ids_by_split[split]
        smaller = [other for other in remaining.values() if other < ids]
        if set().union(*smaller) == ids:
            del remaining[split]
    distinct_count = len(set().union(*remaining.values()))
    if distinct_count < sum(map(len, remaining.values())):
        return ()
    trains = {split for split in ids_by_split if parse_split_name(split).split == "train"}
    if trains and trains.isdisjoint(remaining):
        return ()
    return remaining.keys()


def divide_pool(splits: Splits, config: VocSegConfig, rule: MaskRule, problems: Problems) -> Splits:
    """Divides the split that needs the masks for it: `POOL` by ratios, or train into folds.

    The other splits stay as they are. If the images cannot be divided and the plan reads on, they
    are in one split.

    Args:
      splits: the splits, one of which may be `POOL`: all images, not divided yet.
      config: says the ratios, or the number of folds.
      rule: how masks are read.
      problems: takes the error.
    """
    if POOL in splits.ids:
        pool = POOL
        ratios = config.ratios
    elif config.folds is not None and not config.ratios and not splits.undecided:
        pool = TRAIN
        ratios = fold_ratios(config.folds)
    else:
        return splits
    divided = problems.try_step(_divide_ids, splits, pool, ratios, config, rule)
    if divided is None:
        left_out = splits.left_out.get(pool, ())
        one_split = ShareOfImages(ONE_SPLIT, ALL_IMAGES, splits.ids[pool], left_out)
        splits = dataclasses.replace(splits, undecided=True)
        divided = DividedImages([one_split])
    sources: list[SplitSource | ShareOfImages] = []
    for source in splits.sources:
        if source.split == pool:
            sources += divided.shares
        else:
            sources.append(source)
    left_out_by_split = {share.split: share.left_out for share in divided.shares if share.left_out}
    for split, ids in splits.left_out.items():
        if split != pool:
            left_out_by_split[split] = ids
    return dataclasses.replace(
        splits,
        sources=sources,
        left_out=left_out_by_split,
        notes=[*splits.notes, *divided.notes],
    )


def _divide_ids(
    splits: Splits,
    pool: str,
    ratios: Mapping[str, float],
    config: VocSegConfig,
    rule: MaskRule,
) -> DividedImages:
    """Divides a pool by a hash, or so that each part has its share of every class.

    Args:
      splits: the splits.
      pool: the one that is divided.
      ratios: the share of each part.
      config: the user's options.
      rule: how masks are read.

    Raises:
      ConfigError: if there are fewer images, or groups, than parts.
      ListError: if a part gets no image by the hash.
    """
    ids = splits.ids[pool]
    left_out = splits.left_out.get(pool, ())
    tree = splits.evidence.tree
    linked_ids = splits.evidence.repeated_images
    if config.split_by != "stratified":
        divided = divide_by_hash(ids, config, ratios, linked_ids, left_out)
        _check_not_empty(tree.root, divided.shares)
        return divided
    labels = tree.labels
    spec = config.example_spec(rule)

    def read_classes(image_id: str) -> Collection[int]:
        """Returns the classes in a mask; none if it is wrong, which stops the build later."""
        if image_id not in labels.names:
            return () if spec.fill is None else (spec.fill,)
        try:
            surveyed = labels.surveyed_mask(image_id)
            return read_mask(labels.file(image_id), spec.rule, surveyed=surveyed).present()
        except VocSegError:
            return ()

    return divide_stratified(ids, config, ratios, linked_ids, left_out, read_classes)
