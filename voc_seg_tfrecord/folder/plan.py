"""Decides all about a user's folder, once, before any example is made of it.

`open_folder` takes the first steps: which files, which image is in which split, which mask it has,
which classes there are. `plan_opened` goes on: what the masks mean, and what is not used.
`plan_folder` does both. Where a step cannot choose, a build stops; `check` reads on with what there
is.
"""

from collections.abc import Collection, Mapping, Sequence
import dataclasses
import functools
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.class_rows import Rows, add_found_rows, check_rows
from voc_seg_tfrecord.core.class_table import ClassTable
from voc_seg_tfrecord.core.config import VocSegConfig, changed_fields
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.account import (
    Account,
    list_first_notes,
    list_unused_files,
)
from voc_seg_tfrecord.folder.class_names import FoundClasses, find_classes
from voc_seg_tfrecord.folder.classes.candidates import (
    FolderTable,
    list_folders_of_class_files,
    read_folder_table,
)
from voc_seg_tfrecord.folder.classes.choose import ClassFileChoice, choose_class_file
from voc_seg_tfrecord.folder.classes.names import note_spelling, note_void
from voc_seg_tfrecord.folder.companions import DataInUse
from voc_seg_tfrecord.folder.left_out_splits import check_no_split_left_out
from voc_seg_tfrecord.folder.meaning.choose import MaskMeaning
from voc_seg_tfrecord.folder.meaning.label_meaning import choose_meaning_of_labels
from voc_seg_tfrecord.folder.meaning.proposals import advise_table
from voc_seg_tfrecord.folder.notes import list_notes
from voc_seg_tfrecord.folder.paired_splits import choose_splits
from voc_seg_tfrecord.folder.question import Problems, QuestionError
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.second_masks import check_no_second_masks
from voc_seg_tfrecord.folder.shifted_numbers import check_no_shifted_numbers
from voc_seg_tfrecord.folder.splits.divide import Splits, divide_pool
from voc_seg_tfrecord.folder.stated_pairs import StatedPairs
from voc_seg_tfrecord.folder.tree.voc_tree import Items, VocTree
from voc_seg_tfrecord.formats.band_count import count_bands
from voc_seg_tfrecord.tools.class_file import ClassFile
from voc_seg_tfrecord.tools.class_texts import TABLE

NAMES_OF_VALUES = tuple(f"class {value}" for value in range(VOID))
"""A name for each value of a mask, while nobody has said what the classes are."""

ANY_VALUE = index_rule(VOID)
"""The rule of masks whose meaning is not decided: any value is a class."""

SPLITS = "splits"
MEANING = "meaning"
"""What may be undecided in a plan."""


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
      division: the splits.
      meaning: what the masks mean, and why; None if the caller gave the rule, or none is decided.
      mask_rule: how each mask is read.
      notes: what else a user should know.
      unused: the files of the folder that are not used.
      problems: what stops a build, in the order of the steps; none if the plan did not read on.
      undecided: `SPLITS`, if all images are in one split whatever lists say; and `MEANING`, if
        it is not decided what the masks mean, so that any value is a class.
      are_classes_numbered: whether the user gave the numbers of the classes by an option. The
        caller who knows the user's options sets it.
      fault: why there are no class names, if the plan reads on with names that stand for values.
      replaced_masks: the paths of masks whose images have other masks, because texts state them.
    """

    config: VocSegConfig
    tree: VocTree
    class_file: ClassFile | None
    division: Splits
    meaning: MaskMeaning | None
    mask_rule: MaskRule
    notes: tuple[str, ...]
    unused: Account
    problems: tuple[VocSegError, ...] = ()
    undecided: frozenset[str] = frozenset()
    are_classes_numbered: bool = True
    fault: VocSegError | None = None
    replaced_masks: Collection[str] = ()

    @property
    def root(self) -> epath.Path:
        """The folder that the user gave."""
        return self.tree.given

    @functools.cached_property
    def items(self) -> Items:
        """The files of each id that has all that examples need, made when they are asked for."""
        return self.tree.items(self.config.needed_files)

    @property
    def splits(self) -> Mapping[str, Sequence[str]]:
        """The ids of each split."""
        return self.division.ids

    @property
    def sources(self) -> Mapping[str, str]:
        """Where each split comes from, in words."""
        return {source.split: source.words for source in self.division.sources}

    @property
    def classes(self) -> ClassTable:
        """What each class of the masks becomes."""
        return self.config.table

    @property
    def index_by_value(self) -> Mapping[int, int]:
        """The class index, or 255, of each value of the masks; empty if masks are drawn."""
        if self.meaning is None or self.tree.labels.origin:
            return {}
        return self.meaning.index_by_value

    @property
    def left_out(self) -> Mapping[str, Sequence[str]]:
        """By split, the listed ids that are left out as they have no image or no mask."""
        return self.division.left_out

    @property
    def options(self) -> Mapping[str, object]:
        """The fields of the config that differ from their defaults: they give the same again."""
        return changed_fields(self.config)


@dataclasses.dataclass(frozen=True)
class _SourceOfClasses:
    """Where the classes of a config come from.

    | the config | the table | the class file | the fault |
    | --- | --- | --- | --- |
    | was complete | None: nobody looked for it | None | None |
    | has the user's classes | as read | None: it is looked for by the names | None |
    | has the classes of the folder | as read | that of the names, or an empty choice | None |
    | has names that stand for values | as read | an empty choice | why there are no classes |

    Attributes:
      table: the folder's table of classes.
      class_file: the class file.
      fault: see `FolderPlan`.
    """

    table: FolderTable | None = None
    class_file: ClassFileChoice | None = None
    fault: VocSegError | None = None


@dataclasses.dataclass(frozen=True, kw_only=True)
class OpenFolder:
    """A folder of which files, splits, pairs and classes are known.

    Attributes:
      config: what a build is told, complete.
      division: the splits; their evidence has the tree.
      stated: the pairs that texts state.
      problems: what stops a build.
      source_of_classes: where the classes of the config come from.
    """

    config: VocSegConfig
    division: Splits
    stated: StatedPairs
    problems: Problems
    source_of_classes: _SourceOfClasses = _SourceOfClasses()

    @property
    def tree(self) -> VocTree:
        """The images and labels."""
        return self.division.evidence.tree

    @property
    def has_names_of_values(self) -> bool:
        """Whether the names of the config stand for values, because no classes were found."""
        return self.source_of_classes.fault is not None

    def read_table(self) -> FolderTable:
        """Returns the folder's table of classes, which is read if it was not before."""
        return self.source_of_classes.table or read_folder_table(self.tree)


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
    paired = choose_splits(reader, config, problems)
    opened = OpenFolder(
        config=config, division=paired.division, stated=paired.stated, problems=problems
    )
    if class_options is None:
        return opened
    return _with_bands_and_classes(opened, class_options)


def _with_bands_and_classes(opened: OpenFolder, options: ClassOptions) -> OpenFolder:
    """Returns a folder whose config has the bands and classes that the folder itself gives.

    The config is made and checked once, of all that is found.
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
        source = _SourceOfClasses(table)
        return dataclasses.replace(opened, config=config, source_of_classes=source)
    classes = _find_classes(opened, table, rows, options)
    fields |= classes.fields
    return dataclasses.replace(
        opened,
        config=config.with_findings(**fields),
        source_of_classes=_SourceOfClasses(table, classes.choice, classes.fault),
    )


def _find_classes(
    opened: OpenFolder, table: FolderTable, rows: Rows, options: ClassOptions
) -> FoundClasses:
    """Finds the classes of a folder whose user gave none.

    If there are none and the plan reads on, names stand for the values of masks.

    Args:
      opened: the folder.
      table: the folder's table of classes.
      rows: its rows and those of the user.
      options: what the user said of classes.
    """
    try:
        return find_classes(
            opened.division.evidence,
            opened.config,
            table,
            rows,
            options.background,
            options.default_names,
        )
    except QuestionError as question:
        if not opened.problems.reads_on:
            raise
        return FoundClasses({"class_names": NAMES_OF_VALUES}, fault=question)


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
    reading = _decide_mask_rule(opened, class_file, rule)
    # Before dividing: that surveys more masks if it is by classes, and notes do not count these.
    notes = list_notes(config, opened.division, class_file, reading.meaning)
    division = divide_pool(opened.division, config, reading.rule, problems)
    undecided = set[str]()
    if division.undecided:
        undecided.add(SPLITS)
    if reading.is_undecided:
        undecided.add(MEANING)
    data = DataInUse(
        opened.tree,
        division.used,
        replaced_masks=opened.stated.replaced_masks,
        instances=bool(config.instance_mask),
    )
    texts = _list_read_texts(class_file, division, opened.stated)
    unused = list_unused_files(opened.tree, data, texts)
    notes = (*list_first_notes(opened.tree, unused), *notes)
    _check_unused_files(opened, division, unused)
    return FolderPlan(
        config=config,
        tree=opened.tree,
        class_file=class_file.file if class_file else None,
        division=division,
        meaning=reading.meaning,
        mask_rule=reading.rule,
        notes=notes,
        unused=unused,
        problems=tuple(problems.found),
        undecided=frozenset(undecided),
        replaced_masks=opened.stated.replaced_masks,
        fault=opened.source_of_classes.fault,
    )


@dataclasses.dataclass(frozen=True)
class _MaskReading:
    """How the masks of a folder are read.

    Attributes:
      rule: the rule.
      meaning: the decision that gave the rule; None if the caller gave it, or none was made.
      is_undecided: whether it is not decided what the masks mean.
    """

    rule: MaskRule
    meaning: MaskMeaning | None = None
    is_undecided: bool = False


def _decide_mask_rule(
    opened: OpenFolder, class_file: ClassFileChoice | None, given_rule: MaskRule | None
) -> _MaskReading:
    """Decides how masks are read, unless the caller gives the rule.

    Args:
      opened: the folder.
      class_file: the class file; None if it could not be decided.
      given_rule: the caller's rule.
    """
    if given_rule is not None:
        return _MaskReading(given_rule)
    if class_file is None:
        meaning = None
    elif opened.has_names_of_values:
        meaning = _choose_meaning_of_values(opened.config, opened.division)
    else:
        meaning = opened.problems.try_step(
            _choose_meaning, opened.config, class_file.file, opened.division
        )
    if meaning is None:
        return _MaskReading(ANY_VALUE, is_undecided=True)
    return _MaskReading(meaning.rule, meaning)


def _check_unused_files(opened: OpenFolder, division: Splits, unused: Account) -> None:
    """Checks that nothing is left out that belongs to the images, unless the user said so."""
    problems = opened.problems
    options_of_layout = opened.config.layout or {}
    if "masks" not in options_of_layout:
        problems.try_step(check_no_shifted_numbers, opened.tree)
        if "images" not in options_of_layout:
            problems.try_step(check_no_split_left_out, opened.tree, division.used, unused)
    names_classes = bool(opened.tree.layout.options_of_classes)
    if "mask_name" not in options_of_layout or names_classes:
        paths = []
        for group, names in unused.items():
            paths += [posixpath.join(group.folder, name) for name in names]
        paired_by_name = division.used - opened.stated.image_ids
        problems.try_step(check_no_second_masks, opened.tree, paired_by_name, paths)


def _choose_class_file(opened: OpenFolder) -> ClassFileChoice:
    """Returns the class file, which is looked for unless its names were just taken from it."""
    config = opened.config
    if opened.source_of_classes.class_file is not None:
        choice = opened.source_of_classes.class_file
    elif config.class_names:
        choice = choose_class_file(opened.tree, config, opened.read_table(), named=True)
    else:
        choice = ClassFileChoice()
    notes = (*choice.notes, *note_void(choice.file, config), *note_spelling(config))
    return dataclasses.replace(choice, notes=notes)


def _choose_meaning(config: VocSegConfig, file: ClassFile | None, division: Splits) -> MaskMeaning:
    """Returns what the masks of the images in splits mean."""
    tree = division.evidence.tree
    advice = advise_table(tree.given, tree.layout, config, named=file is None)
    used_ids = division.used
    ids = [i for i in tree.images if i in used_ids and i in tree.masks]
    return choose_meaning_of_labels(tree.labels, ids, config, file, advice)


def _choose_meaning_of_values(config: VocSegConfig, division: Splits) -> MaskMeaning | None:
    """Returns what masks mean by names that stand for values; None if they are not read by value.

    That the masks have no class names is a problem of its own.
    """
    try:
        return _choose_meaning(config, None, division)
    except VocSegError:
        return None


def _list_read_texts(
    class_file: ClassFileChoice | None, division: Splits, stated: StatedPairs
) -> list[str]:
    """Returns the names below the tree of the lists and class files that are read."""
    tree = division.evidence.tree
    names = [TABLE]
    for path in (*division.files, *stated.texts):
        names.append(posixpath.relpath(path, tree.root_below_given or "."))
    if tree.labels.class_file is not None:
        names.append(tree.labels.class_file.source)
    if class_file is not None and class_file.path_of_read_file:
        # The folders of splits and of parts may have a copy each.
        names.append(class_file.path_of_read_file)
        name = posixpath.basename(class_file.path_of_read_file)
        folders = list_folders_of_class_files(tree)
        names += [posixpath.join(folder, name) for folder in folders]
    return names
