"""All that is decided about a user's folder, once, before any example is made of it.

`open_folder` takes the first steps: which files, which image is in which split, which mask it has,
which classes there are. `plan_folder` goes on: what the masks mean, and what is not used. Where a
step cannot choose, a build stops; `check` reads on with what there is.
"""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.class_parsers import TABLE
from voc_seg_tfrecord.core.class_table import ClassTable, Rows, check_rows, rows_over
from voc_seg_tfrecord.core.config import VocSegConfig, changed_fields
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, command
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.account import Account, check_numbers, list_unused_files
from voc_seg_tfrecord.folder.class_names import NO_CLASS_NAMES, find_classes
from voc_seg_tfrecord.folder.classes.choose import (
    CONTRADICT,
    ClassFileChoice,
    choose_class_file_of_names,
    rows_of_table,
)
from voc_seg_tfrecord.folder.classes.names import note_spelling, note_void
from voc_seg_tfrecord.folder.meaning.advice import advise_table
from voc_seg_tfrecord.folder.meaning.choose import UNDECIDED, MaskMeaning
from voc_seg_tfrecord.folder.meaning.of_labels import choose_meaning_of_labels
from voc_seg_tfrecord.folder.notes import list_notes
from voc_seg_tfrecord.folder.question import Problems
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.second_masks import check_no_second_masks
from voc_seg_tfrecord.folder.splits.by_ratio import POOL, divide_stratified
from voc_seg_tfrecord.folder.splits.divide import Splits, split_ids
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.missing_masks import NAMES_OF_MASKS, MissingMasks
from voc_seg_tfrecord.folder.stated_pairs import StatedPairs, pair_as_stated
from voc_seg_tfrecord.folder.tree.voc_tree import Items, VocTree
from voc_seg_tfrecord.formats.band_count import count_bands

ANY_VALUE = index_rule(VOID)
"""The rule of masks of which it is not decided what they mean: any value is a class."""

_NO_NAMES = (NO_CLASS_NAMES, UNDECIDED, CONTRADICT)
"""The kinds of errors that leave a folder without class names, which `check` reads all the same."""

SPLITS, MEANING = "splits", "meaning"
"""What may be undecided in a plan."""


@dataclasses.dataclass(frozen=True)
class ClassOptions:
    """What the user said of classes and bands, to which the folder adds.

    Attributes:
      classes: the rows of the table of classes; those of the folder's table are added.
      background: the name of the class that is background.
      all_bands: whether all bands of the images are wanted.
    """

    classes: Any = ()
    background: str = ""
    all_bands: bool = False


@dataclasses.dataclass(frozen=True)
class FolderPlan:
    """All that is decided about a folder. Nothing is derived from the folder again.

    Attributes:
      config: what a build is told, complete: `tfds build` with it gives the same bytes.
      tree: the images and labels, each image with the mask that its name or a text gives it.
      class_file: the labeling tool's file of class names, where there is one.
      division: the splits.
      decision: what the masks mean, and why; None where that was not asked.
      mask_rule: how each mask is read.
      notes: what else a user should know.
      unused: the files of the folder that are not used.
      problems: what stops a build, in the order of the steps; none if the plan did not read on.
      undecided: `SPLITS`, if all images are in one split whatever lists say; and `MEANING`, if
        it is not decided what the masks mean, so that any value is a class.
      numbered: whether a file or an option gave the numbers of the classes; see `ClassFile`.
      class_file_reasons: why other class files, and other ways to number one, were not taken.
      fault: why there are no class names, if the plan reads on with names that stand for values.
    """

    config: VocSegConfig
    tree: VocTree
    class_file: ClassFile | None
    division: Splits
    decision: MaskMeaning | None
    mask_rule: MaskRule
    notes: tuple[str, ...]
    unused: Account
    problems: tuple[VocSegError, ...] = ()
    undecided: frozenset[str] = frozenset()
    numbered: bool = True
    class_file_reasons: tuple[str, ...] = ()
    fault: VocSegError | None = None

    @property
    def root(self) -> epath.Path:
        """The folder that the user gave."""
        return self.tree.given

    @functools.cached_property
    def items(self) -> Items:
        """The files of each id that has all that examples need, made when they are asked for."""
        return self.tree.items(self.config.parts)

    @property
    def splits(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return self.division.ids

    @property
    def sources(self) -> Mapping[str, str]:
        """Where each split comes from, in words."""
        return self.division.sources

    @property
    def classes(self) -> ClassTable:
        """What each class of the masks becomes."""
        return self.config.table

    @property
    def reasons(self) -> Sequence[str]:
        """Why each candidate that was not taken lost, in words."""
        reasons = [*self.tree.reasons, *self.division.reasons, *self.class_file_reasons]
        if self.decision is not None:
            reasons += self.decision.reasons
        return reasons

    @property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """By split, the listed ids that are left out as they have no image or no mask."""
        return self.division.left_out

    @property
    def options(self) -> Mapping[str, object]:
        """The fields of the config that differ from their defaults: they give the same again."""
        return changed_fields(self.config)


@dataclasses.dataclass(frozen=True)
class OpenFolder:
    """A folder of which files, splits, pairs and classes are known.

    Attributes:
      config: what a build is told, complete.
      splits: the splits; their evidence has the tree.
      stated: the pairs that texts state.
      class_file: the class file, if it is known already; otherwise it is looked for.
      fault: see `FolderPlan`.
      problems: what stops a build.
    """

    config: VocSegConfig
    splits: Splits
    stated: StatedPairs
    class_file: ClassFileChoice | None
    fault: VocSegError | None
    problems: Problems

    @property
    def tree(self) -> VocTree:
        """The images and labels."""
        return self.splits.evidence.tree


def plan_folder(
    reader: FolderReader,
    config: VocSegConfig,
    *,
    class_options: ClassOptions | None = None,
    rule: MaskRule | None = None,
    reads_on: bool = False,
) -> FolderPlan:
    """Decides all about a folder.

    Args:
      reader: reads the folder.
      config: what the user said.
      class_options: what the user said of classes and bands, to which the folder adds; None if the
        config is complete.
      rule: what the masks mean; by default it is decided.
      reads_on: whether a step that cannot choose leaves its problem in the plan, and the next ones
        go on with what there is: all images in one split, any value a class.

    Raises:
      VocSegError: if the config is wrong, or a step cannot choose and the plan does not read on.
    """
    opened = open_folder(reader, config, class_options=class_options, reads_on=reads_on)
    return plan_opened(opened, rule=rule)


def open_folder(
    reader: FolderReader,
    config: VocSegConfig,
    *,
    class_options: ClassOptions | None = None,
    reads_on: bool = False,
) -> OpenFolder:
    """Finds the files of a folder, its splits, pairs and classes; see `plan_folder`."""
    problems = Problems(reads_on=reads_on)
    splits, stated = _choose_splits(reader, config, problems)
    opened = OpenFolder(config, splits, stated, None, None, problems)
    if class_options is None:
        return opened
    tree = opened.tree
    fields: dict[str, Any] = {}
    if class_options.all_bands:
        fields["bands"] = tuple(_all_bands(tree))
    rows = rows_over(check_rows(class_options.classes), rows_of_table(tree))
    if not config.has_classes:
        return _with_classes_of_folder(opened, rows, class_options.background, fields)
    if rows != config.classes:
        fields["classes"] = rows
    if fields:
        config = config.with_classes(**fields)
    return dataclasses.replace(opened, config=config)


def _with_classes_of_folder(
    opened: OpenFolder, rows: Rows, background: str, fields: Mapping[str, Any]
) -> OpenFolder:
    """Returns a folder with the classes that it says itself.

    If it says none and the plan reads on, names stand for the values of masks.

    Args:
      opened: the folder.
      rows: the rows of the table of classes, of the user and the folder.
      background: the name of the class that is background, if the user said so.
      fields: other fields of the config that the folder says.
    """
    config = opened.config
    try:
        found = find_classes(opened.splits.evidence, config, rows, background)
    except VocSegError as error:
        if not opened.problems.reads_on or error.kind not in _NO_NAMES:
            raise
        names = [f"class {value}" for value in range(VOID)]
        config = config.with_classes(**fields, class_names=names)
        return dataclasses.replace(opened, config=config, class_file=ClassFileChoice(), fault=error)
    config = config.with_classes(**fields, **found.fields)
    return dataclasses.replace(opened, config=config, class_file=found.choice)


def _all_bands(tree: VocTree) -> list[int]:
    """Returns the numbers of the bands of the first image of a tree that can be read."""
    count = count_bands(tree.items().values())
    if count:
        return [*range(count)]
    raise LayoutError(
        tree.root,
        found="no image with a mask, so the number of bands is not known",
        expected="images with masks",
        remedy="name the bands with --bands 0,1,2",
    )


def plan_opened(opened: OpenFolder, *, rule: MaskRule | None = None) -> FolderPlan:
    """Decides what the masks of a folder mean, and what of it is not used; see `plan_folder`."""
    config = opened.config
    problems = opened.problems
    splits = opened.splits
    choice = problems.try_step(_choose_class_file, opened.tree, config, opened.class_file)
    meaning = None
    if rule is None and choice is not None and opened.fault is None:
        meaning = problems.try_step(_choose_meaning, config, choice.file, splits)
    elif rule is None and choice is not None:
        meaning = _choose_meaning_of_values(config, splits)
    undecided = set[str]()
    if splits.undecided:
        undecided.add(SPLITS)
    if rule is None and meaning is None:
        undecided.add(MEANING)
    mask_rule = rule
    if mask_rule is None:
        mask_rule = meaning.rule if meaning else ANY_VALUE
    notes = list_notes(config, splits, choice, meaning)
    if POOL in splits.ids:
        splits = problems.try_step(_divide_stratified, config, mask_rule, splits) or splits
    class_file = choice.file if choice else None
    unused = list_unused_files(
        opened.tree,
        splits.used,
        read=_list_read_texts(class_file, splits, opened.stated),
        ids_in_texts=splits.images_in_other_texts(),
        instances=bool(config.instance_mask),
    )
    _check_unused_files(opened, splits, unused)
    return FolderPlan(
        config=config,
        tree=opened.tree,
        class_file=class_file,
        division=splits,
        decision=meaning,
        mask_rule=mask_rule,
        notes=notes,
        unused=unused,
        problems=tuple(problems.found),
        undecided=frozenset(undecided),
        class_file_reasons=choice.reasons if choice else (),
        fault=opened.fault,
    )


def _check_unused_files(opened: OpenFolder, splits: Splits, unused: Account) -> None:
    """Checks that nothing is left out that belongs to the images, unless the user said so."""
    problems = opened.problems
    options_of_layout = opened.config.layout or {}
    if "masks" not in options_of_layout:
        problems.try_step(check_numbers, opened.tree)
    if "mask_name" not in options_of_layout:
        paths = []
        for (folder, _), names in unused.items():
            paths += [posixpath.join(folder, name) for name in names]
        paired_by_name = splits.used - opened.stated.image_ids
        problems.try_step(check_no_second_masks, opened.tree, paired_by_name, paths)


def _choose_splits(
    reader: FolderReader, config: VocSegConfig, problems: Problems
) -> tuple[Splits, StatedPairs]:
    """Returns the splits of a set in which each image has the mask that a text states for it.

    If they cannot be decided and the plan reads on, all images are in one split, whatever lists
    and groups say.
    """
    tree = reader.find_tree(config)
    evidence = problems.try_step(reader.find_split_evidence, config) or SplitEvidence(tree)
    splits = problems.try_step(split_ids, evidence, config, problems)
    if splits is not None:
        splits, stated = _with_stated_pairs(splits, config, problems)
        labeled_splits = problems.try_step(_leave_out, reader, splits, config)
        if labeled_splits is not None:
            return labeled_splits, stated
    one_split = Splits(evidence, {"train": [*tree.images]}, {"train": POOL}, undecided=True)
    one_split, stated = _with_stated_pairs(one_split, config, problems)
    if tree.images:
        skipping = dataclasses.replace(config, missing_mask="skip")
        labeled_splits = problems.try_step(_leave_out, reader, one_split, skipping)
        if labeled_splits is not None:
            return labeled_splits, stated
    return Splits(one_split.evidence, undecided=True), stated


def _leave_out(reader: FolderReader, splits: Splits, config: VocSegConfig) -> Splits:
    """Returns splits without the images that lack a mask, if the config leaves them out."""
    try:
        return MissingMasks(splits.evidence.tree, config).leave_out(splits)
    except LayoutError as error:
        if error.kind != NAMES_OF_MASKS:
            raise
        raise reader.ask_which_masks(config) or error from None


def _with_stated_pairs(
    splits: Splits, config: VocSegConfig, problems: Problems
) -> tuple[Splits, StatedPairs]:
    """Returns splits whose images have the masks that texts state for them; and these pairs."""
    stated = problems.try_step(_pair_as_stated, splits, config)
    if stated is None:
        return splits, StatedPairs(splits.evidence.tree)
    evidence = dataclasses.replace(splits.evidence, tree=stated.tree)
    notes = [*splits.notes, *stated.notes]
    return dataclasses.replace(splits, evidence=evidence, notes=notes), stated


def _pair_as_stated(splits: Splits, config: VocSegConfig) -> StatedPairs:
    ids_by_text: dict[str, set[str]] = collections.defaultdict(set)
    for split_list in splits.evidence.lists:
        ids_by_text[split_list.file].update(split_list.ids)
    options_of_layout = config.layout or {}
    return pair_as_stated(
        splits.evidence.tree,
        splits.evidence.image_names,
        used=splits.used,
        texts_of_splits=splits.files,
        listed=ids_by_text,
        masks_are_given="masks" in options_of_layout or "mask_name" in options_of_layout,
    )


def _choose_class_file(
    tree: VocTree, config: VocSegConfig, choice: ClassFileChoice | None
) -> ClassFileChoice:
    """Returns the class file, which is looked for unless its names were just taken from it."""
    if choice is None:
        choice = ClassFileChoice()
        if config.class_names:
            choice = choose_class_file_of_names(tree, config)
    notes = (*choice.notes, *note_void(choice.file, config), *note_spelling(config))
    return dataclasses.replace(choice, notes=notes)


def _choose_meaning(config: VocSegConfig, file: ClassFile | None, splits: Splits) -> MaskMeaning:
    """Returns what the masks of the images in splits mean."""
    tree = splits.evidence.tree
    advice = advise_table(tree.given, tree.layout, config, named=file is None)
    used_ids = splits.used
    ids = [i for i in tree.images if i in used_ids and i in tree.masks]
    return choose_meaning_of_labels(tree.labels, ids, config, file, advice)


def _choose_meaning_of_values(config: VocSegConfig, splits: Splits) -> MaskMeaning | None:
    """Returns what masks mean by names that stand for values; None if they are not read by value.

    That the masks have no class names is a problem of its own.
    """
    try:
        return _choose_meaning(config, None, splits)
    except VocSegError:
        return None


def _divide_stratified(config: VocSegConfig, rule: MaskRule, pool: Splits) -> Splits:
    """Divides the pool of all images, so that each split has its share of every class."""
    labels = pool.evidence.tree.labels
    left_out_of_pool = pool.left_out.get(POOL, [])
    ids, sources, left_out = divide_stratified(
        labels, config, rule, pool.ids[POOL], left_out_of_pool
    )
    return dataclasses.replace(pool, ids=ids, sources=sources, left_out=left_out)


def _list_read_texts(
    class_file: ClassFile | None, splits: Splits, stated: StatedPairs
) -> list[str]:
    """Returns the names below the tree of the lists and class files that are read."""
    tree = splits.evidence.tree
    names = [TABLE]
    for path in (*splits.files, *stated.texts):
        names.append(posixpath.relpath(path, tree.place or "."))
    if class_file is not None:
        # The folders of splits may have a copy each.
        name = posixpath.basename(class_file.source)
        folders_of_splits = splits.evidence.split_folders.first_folders
        names.append(class_file.source)
        names += [posixpath.join(folder, name) for folder in folders_of_splits]
    return names


def absent_images(plan: FolderPlan, split: str) -> str:
    """Counts the ids of a split that have no image, and says what can be done about all of them.

    Empty if there are none.
    """
    images = plan.tree.images
    ids = plan.splits[split]
    absent_count = sum(1 for i in ids if i not in images and not images.alike(i))
    if not absent_count:
        return ""
    found = f"{absent_count} of {len(ids)} ids have no image in {plan.tree.layout.images}"
    if absent_count < len(ids):
        return f"{found}. --missing_image skip leaves them out"
    complete_splits = [
        f"{name}={source}"
        for name, source in plan.division.options.items()
        if all(image_id in images for image_id in plan.splits[name])
    ]
    splits = ",".join(complete_splits) or "train=0.8,validation=0.2"
    return (
        f"{found}. So the list is one of other images, or --images names their folder. Without the "
        f"list: {command(splits=splits)}"
    )
