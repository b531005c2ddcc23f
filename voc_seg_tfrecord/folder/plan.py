"""Decides all about a user's folder, once, before any example is made of it.

`open_folder` takes the first steps: which files, which image is in which split, which mask it has,
which classes there are. `plan_opened` goes on: what the masks mean, and what is not used.
`plan_folder` does both. Where a step cannot choose, a build stops; `check` reads on with what there
is.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import enum
import functools
import posixpath
from typing import Any

from voc_seg_tfrecord.core.class_rows import Rows, add_found_rows, check_rows
from voc_seg_tfrecord.core.config import VocSegConfig, changed_fields
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.class_names import FoundClasses, find_classes
from voc_seg_tfrecord.folder.classes.candidates import (
    FolderTable,
    GivenClasses,
    list_folders_of_class_files,
    read_folder_table,
)
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice, choose_class_file
from voc_seg_tfrecord.folder.classes.names import note_spelling, note_void
from voc_seg_tfrecord.folder.companions import DataInUse
from voc_seg_tfrecord.folder.decide import list_questions
from voc_seg_tfrecord.folder.leftover_rules import LEFTOVER_RULES, Leftovers
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning
from voc_seg_tfrecord.folder.meaning.label_meaning import choose_meaning_of_labels
from voc_seg_tfrecord.folder.meaning.proposals import advise_more_names, advise_table
from voc_seg_tfrecord.folder.notes import list_notes
from voc_seg_tfrecord.folder.question import Problems, QuestionError
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.splits.candidates import all_in_train
from voc_seg_tfrecord.folder.splits.divide import Splits, divide_pool, split_ids
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.excluded import leave_out_excluded
from voc_seg_tfrecord.folder.splits.missing_masks import leave_out_unmasked
from voc_seg_tfrecord.folder.stated_pairs import StatedPairs, pair_as_stated
from voc_seg_tfrecord.folder.tree.voc_tree import Items, VocTree
from voc_seg_tfrecord.folder.unused_files import UnusedFiles, list_first_notes, list_unused_files
from voc_seg_tfrecord.formats.bands import count_bands
from voc_seg_tfrecord.tools.class_file import ClassFile
from voc_seg_tfrecord.tools.class_texts import TABLE

NAMES_OF_VALUES = tuple(f"class {value}" for value in range(VOID))
"""A name for each value of a mask, while nobody has said what the classes are."""

ANY_VALUE = index_rule(VOID)
"""The rule of masks whose meaning is not decided: any value is a class."""


class NoMeaning(enum.Enum):
    """Why a plan does not say what the masks mean."""

    GIVEN_RULE = "the caller gave the rule of the masks"
    UNDECIDED = "the step could not choose, so any value is a class"


@dataclasses.dataclass(frozen=True)
class ClassOptions:
    """What the user said of classes and bands, to which the folder adds.

    Attributes:
      classes: the rows of the table of classes; those of the folder's table are added.
      background: the name of the class that is background.
      default_names: the default names of an earlier build, whose values count as used.
      all_bands: whether all bands of the images are wanted.
    """

    classes: Any = ()
    background: str = ""
    default_names: Sequence[str] = ()
    all_bands: bool = False


@dataclasses.dataclass(frozen=True)
class FolderPlan:
    """All that is decided about a folder. Nothing is derived from the folder again.

    Attributes:
      config: what a build is told, complete: `tfds build` with it gives the same bytes.
      tree: the images and labels, each image with the mask that its name or a text gives it.
      class_file: the labeling tool's file of class names, where there is one.
      chosen_splits: the splits. If they are undecided, all images are in one, whatever lists say.
      meaning: what the masks mean, and why, if that was decided here.
      mask_rule: how each mask is read.
      notes: what else a user should know.
      unused: the files of the folder that are not used.
      problems: what stops a build, in the order of the steps; none if the plan did not read on.
      are_classes_numbered: whether the user gave the numbers of the classes by an option. The
        caller who knows the user's options sets it.
      fault: why there are no class names, if the plan reads on with names that stand for values.
      replaced_masks: the paths of masks whose images have other masks, because texts state them.
    """

    config: VocSegConfig
    tree: VocTree
    class_file: ClassFile | None
    chosen_splits: Splits
    meaning: MaskMeaning | NoMeaning
    mask_rule: MaskRule
    notes: tuple[str, ...]
    unused: UnusedFiles
    problems: tuple[VocSegError, ...] = ()
    are_classes_numbered: bool = True
    fault: VocSegError | None = None
    replaced_masks: Collection[str] = ()

    @functools.cached_property
    def items(self) -> Items:
        """The files of each id that has all that examples need, made when they are asked for."""
        return self.tree.items(self.config.needed_files)

    @property
    def splits(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return self.chosen_splits.ids

    @property
    def sources(self) -> Mapping[str, str]:
        """Where each split comes from, in words."""
        return {source.split: source.words for source in self.chosen_splits.sources}

    @property
    def index_by_value(self) -> Mapping[int, int]:
        """The class index, or 255, of each value of the masks.

        Empty if masks are drawn, or if it was not decided here.
        """
        if isinstance(self.meaning, NoMeaning) or self.tree.labels.origin:
            return {}
        return self.meaning.index_by_value

    @property
    def rows(self) -> Rows:
        """The meaning of the masks as a table of classes; empty if it was not decided here."""
        return () if isinstance(self.meaning, NoMeaning) else self.meaning.rows

    @property
    def is_decided(self) -> bool:
        """Whether splits and meaning are decided."""
        return self.meaning is not NoMeaning.UNDECIDED and not self.chosen_splits.undecided

    @property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """By split, the listed ids that are left out as they have no image or no mask."""
        return self.chosen_splits.left_out

    @property
    def options(self) -> Mapping[str, object]:
        """The fields of the config that differ from their defaults: they give the same again."""
        return changed_fields(self.config)


@dataclasses.dataclass(frozen=True, kw_only=True)
class OpenFolder:
    """A folder of which files, splits, pairs and classes are known.

    Where the classes of the config come from:

    | the config | `table` | `class_file` | `fault` |
    | --- | --- | --- | --- |
    | was complete | None | None | None |
    | has the user's classes | as read | None | None |
    | has the classes of the folder | as read | that of the names, or an empty choice | None |
    | has names that stand for values | as read | an empty choice | why there are no classes |

    An empty choice says that the names are those of no class file.

    Attributes:
      config: what a build is told, complete.
      chosen_splits: the splits; their evidence has the tree, with the pairs that texts state.
      stated: these pairs.
      problems: what stops a build.
      table: the folder's table of classes; None if it was not read yet.
      class_file: the class file; None if it was not looked for yet.
      fault: see `FolderPlan`.
    """

    config: VocSegConfig
    chosen_splits: Splits
    stated: StatedPairs
    problems: Problems
    table: FolderTable | None = None
    class_file: ClassFileChoice | None = None
    fault: VocSegError | None = None

    @property
    def tree(self) -> VocTree:
        """The images and labels."""
        return self.chosen_splits.evidence.tree

    @property
    def has_names_of_values(self) -> bool:
        """Whether the names of the config stand for values, because no classes were found."""
        return self.fault is not None

    def read_table(self) -> FolderTable:
        """Returns the folder's table of classes, which is read if it was not before."""
        return self.table or read_folder_table(self.tree)


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
    tree = reader.find_tree(config)
    evidence = problems.try_step(reader.find_split_evidence, config) or SplitEvidence(tree)
    stated = StatedPairs(tree)
    labeled = None
    # Splits come first: a text that makes one counts for its images. Then each image gets the mask
    # that a text states for it.
    chosen_splits = problems.try_step(_divide, evidence, config, problems)
    if chosen_splits is not None:
        stated = problems.try_step(_pair_as_stated, chosen_splits, config) or stated
        labeled = problems.try_step(_leave_out_unmasked, chosen_splits, stated, config)
    if labeled is None and tree.images:
        # The plan reads on after an error: all images are in one split, whatever lists say.
        chosen_splits = Splits(evidence, all_in_train([*tree.images]).sources, undecided=True)
        skipping = dataclasses.replace(config, missing_mask="skip")
        stated = problems.try_step(_pair_as_stated, chosen_splits, config) or StatedPairs(tree)
        labeled = problems.try_step(_leave_out_unmasked, chosen_splits, stated, skipping)
    if labeled is None:
        # Not even that is possible, so there are no splits.
        evidence = dataclasses.replace(evidence, tree=stated.tree)
        labeled = Splits(evidence, undecided=True)
    opened = OpenFolder(config=config, chosen_splits=labeled, stated=stated, problems=problems)
    if class_options is None:
        return opened
    return _with_bands_and_classes(opened, class_options)


def _divide(evidence: SplitEvidence, config: VocSegConfig, problems: Problems) -> Splits:
    """Returns the splits without the images that the user excludes."""
    return leave_out_excluded(split_ids(evidence, config, problems), config.exclude)


def _pair_as_stated(chosen_splits: Splits, config: VocSegConfig) -> StatedPairs:
    """Finds the pairs that texts state. Those that make splits count before others."""
    options_of_layout = config.layout or {}
    return pair_as_stated(
        chosen_splits.evidence.tree,
        chosen_splits.evidence.image_names,
        used=chosen_splits.used,
        texts_of_splits=chosen_splits.files,
        masks_are_given="masks" in options_of_layout or "mask_name" in options_of_layout,
    )


def _leave_out_unmasked(chosen_splits: Splits, stated: StatedPairs, config: VocSegConfig) -> Splits:
    """Returns splits with the stated pairs, without images that lack a mask and may be left out."""
    evidence = dataclasses.replace(chosen_splits.evidence, tree=stated.tree)
    notes = [*chosen_splits.notes, *stated.notes]
    paired = dataclasses.replace(chosen_splits, evidence=evidence, notes=notes)
    return leave_out_unmasked(paired, config)


def _with_bands_and_classes(opened: OpenFolder, options: ClassOptions) -> OpenFolder:
    """Returns a folder whose config has the bands and classes that the folder itself gives.

    The config is made and checked once, of all that is found. If the user gave no classes, there
    are none, and the plan reads on, names stand for the values of masks.
    """
    config = opened.config
    fields: dict[str, Any] = {}
    if options.all_bands:
        fields["bands"] = tuple(_all_bands(opened.tree))
    rows_of_user = check_rows(options.classes)
    table = read_folder_table(opened.tree)
    rows = add_found_rows(rows_of_user, table.rows)  # the user's rows win
    if config.has_classes:
        if rows != config.classes:
            fields["classes"] = rows
        if fields:
            config = config.with_findings(**fields)
        return dataclasses.replace(opened, config=config, table=table)
    try:
        classes = find_classes(
            opened.chosen_splits.evidence,
            config,
            table,
            rows,
            options.background,
            options.default_names,
        )
    except QuestionError as question:
        if not opened.problems.reads_on:
            raise
        classes = FoundClasses({"class_names": NAMES_OF_VALUES}, fault=question)
    return dataclasses.replace(
        opened,
        config=config.with_findings(**{**fields, **classes.fields}),
        table=table,
        class_file=classes.choice,
        fault=classes.fault,
    )


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
    class_file = problems.try_step(_choose_class_file, opened)
    meaning = NoMeaning.GIVEN_RULE if rule else _choose_meaning(opened, class_file)
    mask_rule = rule or ANY_VALUE
    decided = None
    if isinstance(meaning, MaskMeaning):
        decided = meaning
        mask_rule = meaning.rule
        if class_file is not None and class_file.file is None:
            mask_rule = advise_more_names(mask_rule, config)
    # Before dividing: that surveys more masks if it is by classes, and notes do not count these.
    notes = list_notes(config, opened.chosen_splits, class_file, decided)
    chosen_splits = divide_pool(opened.chosen_splits, config, mask_rule, problems)
    data = DataInUse(
        opened.tree,
        chosen_splits.used,
        replaced_masks=opened.stated.replaced_masks,
        instances=bool(config.instance_mask),
    )
    texts = _list_read_texts(class_file, chosen_splits, opened.stated)
    unused = list_unused_files(opened.tree, data, texts)
    notes = (*list_first_notes(opened.tree, unused), *notes)
    leftovers = Leftovers(unused, opened.stated, config.layout or {})
    for question in list_questions(chosen_splits, LEFTOVER_RULES, leftovers):
        problems.add(question)
    return FolderPlan(
        config=config,
        tree=opened.tree,
        class_file=class_file.file if class_file else None,
        chosen_splits=chosen_splits,
        meaning=meaning,
        mask_rule=mask_rule,
        notes=notes,
        unused=unused,
        problems=tuple(problems.found),
        replaced_masks=opened.stated.replaced_masks,
        fault=opened.fault,
    )


def _choose_meaning(
    opened: OpenFolder, class_file: ClassFileChoice | None
) -> MaskMeaning | NoMeaning:
    """Returns what the masks of the images in splits mean; `UNDECIDED` if it cannot be decided.

    Args:
      opened: the folder.
      class_file: the class file; None if it could not be decided.
    """
    if class_file is None:
        return NoMeaning.UNDECIDED
    config, tree, file = opened.config, opened.tree, class_file.file
    advice = advise_table(tree.given, tree.layout, config, named=file is None)
    if class_file.rejected_source:
        advice = f"leave --class_names out, as {class_file.rejected_source} has names; or {advice}"
    used_ids = opened.chosen_splits.used
    ids = [i for i in tree.images if i in used_ids and i in tree.masks]
    labels = tree.labels
    if not opened.has_names_of_values:
        step = choose_meaning_of_labels
        meaning = opened.problems.try_step(step, labels, ids, config, file, advice)
        return meaning or NoMeaning.UNDECIDED
    try:
        return choose_meaning_of_labels(labels, ids, config, file, advice)
    except VocSegError:  # that the masks have no class names is a problem of its own
        return NoMeaning.UNDECIDED


def _choose_class_file(opened: OpenFolder) -> ClassFileChoice:
    """Returns the class file, which is looked for unless its names were just taken from it."""
    config = opened.config
    if opened.class_file is not None:
        choice = opened.class_file
    elif config.class_names:
        given = GivenClasses(config.class_names, config.table.rows, config.background)
        choice = choose_class_file(opened.tree, given, opened.read_table())
    else:
        choice = ClassFileChoice()
    notes = (*choice.notes, *note_void(choice.file, config), *note_spelling(config))
    return dataclasses.replace(choice, notes=notes)


def _list_read_texts(
    class_file: ClassFileChoice | None, chosen_splits: Splits, stated: StatedPairs
) -> list[str]:
    """Returns the names below the tree of the lists and class files that are read."""
    tree = chosen_splits.evidence.tree
    names = [TABLE]
    for path in (*chosen_splits.files, *stated.texts, *tree.labels.texts_of_classes):
        names.append(posixpath.relpath(path, tree.root_below_given or "."))
    if tree.labels.class_file is not None:
        names.append(tree.labels.class_file.source)
    if class_file is not None and class_file.source:
        # The folders of splits and of parts may have a copy each.
        names.append(class_file.source)
        name = posixpath.basename(class_file.source)
        folders = list_folders_of_class_files(tree)
        names += [posixpath.join(folder, name) for folder in folders]
    return names
