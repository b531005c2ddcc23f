"""Chooses which class file a folder is read by, or asks."""

from collections.abc import Sequence
import dataclasses

from etils import epath

from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, several
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.folder.classes.candidates import (
    ClassFileCandidate,
    FoundClassFiles,
    as_candidates,
    find_class_files,
    list_candidates,
)
from voc_seg_tfrecord.folder.classes.folder_table import FolderTable
from voc_seg_tfrecord.folder.classes.numbering import list_numberings, numbering_of_given_names
from voc_seg_tfrecord.folder.classes.rules import (
    NAMES_IN_ORDER,
    RULES,
    ClassFileEvidence,
    find_difference,
)
from voc_seg_tfrecord.folder.decide import Decision, decide
from voc_seg_tfrecord.folder.question import Alternative, QuestionError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import ClassFile
from voc_seg_tfrecord.tools.registry import CLASS_FILES

CONTRADICT = "class files that contradict"
"""The kind of the question which of several class files is right."""

MAX_LISTED_NAMES = 24
"""How many class names a message lists."""


@dataclasses.dataclass(frozen=True)
class ClassFileChoice:
    """The class file of a folder.

    Attributes:
      numberings: the file in each way in which it may be numbered, the usual one first. It is one
        alone if the user gave the names, and none if there is no file.
      notes: what the user should look at.
      file_of_rows: the path below the tree of the file whose lines became rows of the config, which
        then has no numberings; empty if there is none.
    """

    numberings: tuple[ClassFile, ...] = ()
    notes: tuple[str, ...] = ()
    file_of_rows: str = ""

    @property
    def file(self) -> ClassFile | None:
        """The file, numbered in the usual way."""
        return self.numberings[0] if self.numberings else None

    @property
    def path_of_read_file(self) -> str:
        """The path of the file, also if its lines became rows; empty if no file is read."""
        return self.file.source if self.file else self.file_of_rows


def choose_class_file(
    tree: VocTree, config: VocSegConfig, table: FolderTable, background: str = ""
) -> ClassFileChoice:
    """Chooses the class file of a folder if the config has no class names.

    Args:
      tree: the folder.
      config: the user's options.
      table: the folder's table of classes.
      background: the name of the class that is background, if the user gave it.

    Raises:
      LayoutError: if a file cannot be read, or two contradict each other.
    """
    if tree.labels.class_file:
        return ClassFileChoice((tree.labels.class_file,))
    class_files = find_class_files(tree)
    notes = _notes_of_search(class_files, table, config)
    if not class_files.files:
        _check_misnamed(class_files.misnamed)
        return ClassFileChoice(notes=tuple(notes))
    candidates = list_candidates(class_files.files, background)
    return _choose(tree, config, candidates, (), notes)


def _notes_of_search(
    class_files: FoundClassFiles, table: FolderTable, config: VocSegConfig
) -> list[str]:
    """Returns the notes on class files, on misnamed ones, and on the table of classes."""
    return [*class_files.notes, *_note_misnamed(class_files.misnamed), *table.notes(config)]


def _check_misnamed(errors: Sequence[LayoutError]) -> None:
    """Raises the first error of a misnamed class file, but for names such as `dataset.json`.

    Most files of these names are something else.
    """
    ambiguous_names = tuple(kind.name for kind in CLASS_FILES if kind.needs_its_folder)
    for error in errors:
        if not error.where.endswith(ambiguous_names):
            raise error


def choose_class_file_for_names(
    tree: VocTree, config: VocSegConfig, table: FolderTable
) -> ClassFileChoice:
    """Chooses the class file of a folder if the config has the class names.

    Args:
      tree: the folder.
      config: the user's options, with the names.
      table: the folder's table of classes.

    Raises:
      ConfigError: if the names are not those of a file that gives values or colors.
      LayoutError: if a file cannot be read, or two contradict each other.
    """
    if tree.labels.class_file:
        _check_names_of_labels(tree.labels.class_file, config)
        return ClassFileChoice((tree.labels.class_file,))
    class_files = find_class_files(tree)
    notes = _notes_of_search(class_files, table, config)
    with_names = _find_files_with_names(class_files.files, config)
    for file in with_names.other_files:
        if not _is_above(file):
            notes.append(f"{file.source} has other class names than you gave; it is not used.")
    if not with_names.candidates:
        return ClassFileChoice(notes=tuple(notes))
    choice = _choose(tree, config, with_names.candidates, config.named_classes, notes)
    order = _note_order(choice.numberings[0], config)
    return dataclasses.replace(choice, notes=(*choice.notes, *order))


@dataclasses.dataclass(frozen=True)
class _FilesWithNames:
    """The class files that have the user's class names, and those that have others."""

    candidates: Sequence[ClassFileCandidate]
    other_files: Sequence[ClassFile]


def _find_files_with_names(files: Sequence[ClassFile], config: VocSegConfig) -> _FilesWithNames:
    """Finds the class files that have the user's class names.

    Raises:
      ConfigError: if a file of the set with values or colors has only some of the names, at other
        values.
    """
    numberings = []
    other_files = []
    for file in files:
        numbering = numbering_of_given_names(list_numberings(file, config.background), config)
        if numbering is not None:
            numberings.append(numbering)
        elif not _is_above(file) and _is_contradicted_by_names(file, config):
            raise _other_names_error(file, config)
        else:
            other_files.append(file)
    return _FilesWithNames(as_candidates(numberings), other_files)


def _is_above(file: ClassFile) -> bool:
    """Says whether a file lies above the set, where it may be that of other data."""
    return file.source.startswith("../")


def _choose(
    tree: VocTree,
    config: VocSegConfig,
    candidates: Sequence[ClassFileCandidate],
    given_names: tuple[str, ...],
    notes: Sequence[str],
) -> ClassFileChoice:
    """Applies the rules, and asks if several files are left.

    One file may be left in several numberings, between which the masks decide later.
    """
    evidence = ClassFileEvidence(given_names, candidates)
    decision = decide(candidates, RULES, evidence)
    undecided = [decision.taken] if decision.taken else list(decision.alternatives)
    if len({candidate.source for candidate in undecided}) > 1:
        raise _ask_which_file(tree.given, undecided, config)
    numberings_of_file = tuple(candidate.file for candidate in undecided)
    notes = [*notes, *_note_names_in_order(decision)]
    return ClassFileChoice(numberings_of_file, tuple(notes))


def _note_names_in_order(decision: Decision[ClassFileCandidate]) -> list[str]:
    """Says which of several files has the names that the user gave, in their order."""
    for reason in decision.lost.values():
        if reason.rule == NAMES_IN_ORDER.name:
            return [f"{reason.winner.source} is the class file with the names you gave."]
    return []


def _note_misnamed(errors: Sequence[LayoutError]) -> list[str]:
    notes = []
    for error in errors:
        name = epath.Path(error.where).name
        notes.append(f"{name} is not used as a class file: {error.found}.")
    return notes


def _note_order(file: ClassFile, config: VocSegConfig) -> list[str]:
    """Says what the order of the user's names means, if it is not that of the file."""
    names = list(file.class_names)
    given = list(config.named_classes)
    if background_index(given, config.background) == 0:  # background in front is expected
        names = [name for name in names if name != given[0]]
        names.insert(0, given[0])
    if names == given or set(names) != set(given):
        return []
    return [
        f"{file.source} says which value or color each name has. The order of your class names is "
        "that of the dataset."
    ]


def _check_names_of_labels(file: ClassFile, config: VocSegConfig) -> None:
    """Checks that the user's names are those that the labels themselves have.

    A version keeps the numbers of classes that no shape has any more, if their names number the
    classes. A second background is refused, because what has no shape is the first one.
    """
    names = set(file.class_names)
    given = set(config.named_classes)
    if names == given:
        return
    added = given - names
    names_are_kept = names.issubset(given)
    has_second_background = background_index([*added]) is not None
    if file.is_sorted and names_are_kept and not has_second_background:
        return
    raise _other_names_error(file, config)


def _is_contradicted_by_names(file: ClassFile, config: VocSegConfig) -> bool:
    """Says whether a file with values or colors has some of the user's names at other values."""
    if file.has_names_alone:
        return False
    value_by_name = {name: value for value, name in enumerate(config.class_names)}
    for entry in file.entries:
        value = value_by_name.get(entry.name)
        if value is not None and value != entry.value:
            return True
    return False


def _other_names_error(file: ClassFile, config: VocSegConfig) -> ConfigError:
    given = config.named_classes
    return ConfigError(
        "option class_names",
        found=f"{len(given)} names: {several(given, MAX_LISTED_NAMES)}",
        expected=f"the {len(file.class_names)} names in {file.source}: "
        f"{several(file.class_names, MAX_LISTED_NAMES)}",
        remedy="give these names, in the order that you want, and say what they become with "
        "--classes OLD=NEW",
    )


def _ask_which_file(
    where: epath.Path, candidates: Sequence[ClassFileCandidate], config: VocSegConfig
) -> LayoutError:
    """Returns the question which of several class files is right, with a line for each file."""
    files_by_source: dict[str, ClassFile] = {}
    for candidate in candidates:
        files_by_source.setdefault(candidate.source, candidate.file)
    files = list(files_by_source.values())
    alternatives = [_make_alternative(file, files, config) for file in files]
    differences = [find_difference(files[0], other) for other in files[1:]]
    first_difference = next(difference for difference in differences if difference)
    return QuestionError(
        where,
        alternatives,
        task=f"name the classes by class files, because {first_difference}",
        expected="one class file, or files that agree",
        kind=CONTRADICT,
    )


def _make_alternative(
    file: ClassFile, files: Sequence[ClassFile], config: VocSegConfig
) -> Alternative:
    """Returns the alternative that one of several class files is, by an option or by hand."""
    words = f"{file.source}: {', '.join(file.class_names[:MAX_LISTED_NAMES])}"
    by_hand = Alternative(words, {}, "rename or delete the other files")
    if any("," in name for name in file.class_names):  # the option's separator
        return by_hand
    named = dataclasses.replace(config, class_names=file.class_names)
    try:
        candidates = _find_files_with_names(files, named).candidates
    except ConfigError:
        return by_hand
    evidence = ClassFileEvidence(named.named_classes, candidates)
    taken = decide(candidates, RULES, evidence).taken
    if taken is None or find_difference(taken.file, file):
        return by_hand
    return Alternative(words, {"class_names": list(file.class_names)})
