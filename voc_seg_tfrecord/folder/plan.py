"""All that is decided about a user's folder, once, before any example is made of it.

`open_folder` takes the first steps: which files, which image is in which split, which mask it has,
which classes there are. `plan_folder` goes on: what the masks mean, and what is not used. Where a
step cannot choose, a build stops; `check` reads on with what there is.
"""

import collections
from collections.abc import Mapping, Sequence
import contextlib
import dataclasses
import functools
import itertools
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.core.class_files import ClassFile
from voc_seg_tfrecord.core.class_parsers import TABLE
from voc_seg_tfrecord.core.class_table import ClassTable, Rows, check_rows, rows_over
from voc_seg_tfrecord.core.config import VocSegConfig, changed_fields
from voc_seg_tfrecord.core.errors import ImageError, LayoutError, VocSegError, command
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import VOID, background_index
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
from voc_seg_tfrecord.folder.question import Problems
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.second_masks import check_no_second_masks
from voc_seg_tfrecord.folder.splits.by_ratio import POOL, divide_stratified
from voc_seg_tfrecord.folder.splits.divide import Splits, split_ids
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.splits.missing_masks import NAMES_OF_MASKS, MissingMasks
from voc_seg_tfrecord.folder.splits.official import official_note
from voc_seg_tfrecord.folder.stated_pairs import StatedPairs, pair_as_stated
from voc_seg_tfrecord.folder.tree.voc_tree import Items, VocTree
from voc_seg_tfrecord.formats import images
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
        of_meaning = self.decision.reasons if self.decision else ()
        of_files = self.tree.reasons
        return [*of_files, *self.division.reasons, *self.class_file_reasons, *of_meaning]

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
    config, splits, stated, problems = opened.config, opened.splits, opened.stated, opened.problems
    tree = opened.tree
    names = problems.try_step(_choose_class_file, tree, config, opened.class_file)
    file = names.file if names else None
    decision = None
    if rule is None and names:
        decision = problems.try_step(_choose_meaning, config, file, splits)
    undecided = {SPLITS} if splits.undecided else set[str]()
    if rule is None and decision is None:
        undecided.add(MEANING)
    if rule is None:
        rule = decision.rule if decision else ANY_VALUE
    notes = _notes(config, splits, names, decision)
    if POOL in splits.ids:
        splits = problems.try_step(_stratified, config, rule, splits) or splits
    read, ids_in_texts = _read(file, splits, stated)
    account = list_unused_files(
        tree,
        splits.used,
        read=read,
        ids_in_texts=ids_in_texts,
        instances=bool(config.instance_mask),
    )
    if "masks" not in (config.layout or {}):  # that says which files are meant
        problems.try_step(check_numbers, tree)
    if "mask_name" not in (config.layout or {}):
        files = [posixpath.join(folder, n) for (folder, _), of in account.items() for n in of]
        by_name = splits.used - stated.image_ids
        problems.try_step(check_no_second_masks, tree, by_name, files)
    return FolderPlan(
        config,
        tree,
        file,
        splits,
        decision,
        rule,
        notes,
        account,
        problems=tuple(problems.found),
        undecided=frozenset(undecided),
        class_file_reasons=names.reasons if names else (),
        fault=opened.fault,
    )


def _choose_splits(
    reader: FolderReader, config: VocSegConfig, problems: Problems
) -> tuple[Splits, StatedPairs]:
    """Returns the splits of a set in which each image has the mask that a text states for it."""
    tree = reader.find_tree(config)
    evidence = problems.try_step(reader.find_split_evidence, config) or SplitEvidence(tree)
    splits = problems.try_step(split_ids, evidence, config, problems)
    if splits is not None:
        splits, stated = _with_stated_pairs(splits, config, problems)
        whole = problems.try_step(_leave_out, reader, splits, config)
        if whole is not None:
            return whole, stated
    # All images stand in one split, whatever lists and groups say.
    every = Splits(evidence, {"train": [*tree.images]}, {"train": POOL}, undecided=True)
    every, stated = _with_stated_pairs(every, config, problems)
    skipping = dataclasses.replace(config, missing_mask="skip")
    labeled = problems.try_step(_leave_out, reader, every, skipping) if tree.images else None
    return labeled or Splits(every.evidence, undecided=True), stated


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
    stated = problems.try_step(_pair_as_stated, splits, config)
    if stated is None:
        return splits, StatedPairs(splits.evidence.tree)
    evidence = dataclasses.replace(splits.evidence, tree=stated.tree)
    notes = [*splits.notes, *stated.notes]
    return dataclasses.replace(splits, evidence=evidence, notes=notes), stated


def _pair_as_stated(splits: Splits, config: VocSegConfig) -> StatedPairs:
    listed: dict[str, set[str]] = collections.defaultdict(set)
    for of_text in splits.evidence.lists:
        listed[of_text.file].update(of_text.ids)
    return pair_as_stated(
        splits.evidence.tree,
        splits.evidence.image_names,
        used=splits.used,
        texts_of_splits=splits.files,
        listed=listed,
        masks_are_given=not {"masks", "mask_name"}.isdisjoint(config.layout or {}),
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
    tree, used = splits.evidence.tree, splits.used
    advice = advise_table(tree.given, tree.layout, config, named=file is None)
    ids = [i for i in tree.images if i in used and i in tree.masks]
    return choose_meaning_of_labels(tree.labels, ids, config, file, advice)


def _stratified(config: VocSegConfig, rule: MaskRule, pool: Splits) -> Splits:
    labels, out = pool.evidence.tree.labels, pool.left_out.get(POOL, [])
    ids, sources, left_out = divide_stratified(labels, config, rule, pool.ids[POOL], out)
    return dataclasses.replace(pool, ids=ids, sources=sources, left_out=left_out)


def _notes(
    config: VocSegConfig,
    splits: Splits,
    names: ClassFileChoice | None,
    decision: MaskMeaning | None,
) -> tuple[str, ...]:
    """Returns what a user should know, in the order of the steps."""
    tree, by_color = splits.evidence.tree, decision is not None and decision.by == "color"
    links = tree.listing.links if tree.listing else {}
    file = names.file if names else None
    notes = [
        *tree.notes,
        *splits.notes,
        *(names.notes if names else ()),
        # Where its colours give the classes, it does not matter how a class file is numbered.
        file.numbered if file and not (by_color and file.colored) else "",
        *(decision.notes if decision else ()),
        *tree.labels.notes(),
        _deep_image_note(splits) if config.bands is None else "",
        *(f"The link {link} leads to {to}, so it is left out." for link, to in links.items()),
        _background_note(config),
        official_note(splits.evidence),
    ]
    return tuple(filter(None, notes))


def _read(
    file: ClassFile | None, splits: Splits, stated: StatedPairs
) -> tuple[list[str], Mapping[str, int]]:
    """Returns the lists and class files that are read; and how many images other texts name."""
    tree, folders = splits.evidence.tree, splits.evidence.split_folders.first_folders
    texts = [*splits.files, *stated.texts]
    read = [TABLE, *(posixpath.relpath(path, tree.place or ".") for path in texts)]
    if file:
        name = posixpath.basename(file.source)
        read += [file.source, *(posixpath.join(folder, name) for folder in folders)]
    return read, splits.images_in_other_texts()


def _background_note(config: VocSegConfig) -> str:
    """Says which class is background if it is not class 0."""
    names = config.built_class_names
    index = background_index(names, config.built_background)
    if not index or config.classes:
        return ""
    pair = f"{names[index]}={names[index]}"
    return (
        f"Class {index} is background, and class 0 is {names[0]}. With {command(classes=pair)} "
        "background becomes class 0, and the masks follow."
    )


def _deep_image_note(splits: Splits) -> str:
    """Names an image of 16 bits, which loses its low byte; only the first few are looked at."""
    tree, ids = splits.evidence.tree, itertools.chain(*splits.ids.values())
    names = ((i, tree.images[i]) for i in ids if i in tree.images)
    deep = (item for item in names if item[1].lower().endswith((".png", ".tif", ".tiff")))
    for image_id, name in itertools.islice(deep, 8):
        with contextlib.suppress(VocSegError):  # the build says so
            if lost := images.lost_bits(File.read(tree.image_file(image_id), ImageError)):
                return f"{name} has {lost}. {command(bands='all', dtype='uint16')} keeps all bits."
    return ""


def absent_images(decided: FolderPlan, split: str) -> str:
    """Counts the ids of a split that have no image, and says what can be done about all of them.

    Empty if there are none.
    """
    tree, ids = decided.tree, decided.splits[split]
    lacking = sum(1 for i in ids if i not in tree.images and not tree.images.alike(i))
    if not lacking:
        return ""
    counted = f"{lacking} of {len(ids)} ids have no image in {tree.layout.images}"
    if lacking < len(ids):
        return f"{counted}. --missing_image skip leaves them out"
    others = [
        f"{name}={source}"
        for name, source in decided.division.options.items()
        if all(image_id in tree.images for image_id in decided.splits[name])
    ]
    return (
        f"{counted}. So the list is one of other images, or --images names their folder. Without "
        f"the list: {command(splits=','.join(others) or 'train=0.8,validation=0.2')}"
    )
