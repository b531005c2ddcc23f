"""Chooses which class file a folder is read by, or asks.

The class files of a folder, each in the ways in which it may be numbered, are the candidates. By
`RULES` one loses to another.
"""

from collections.abc import Sequence
import dataclasses

from etils import epath

from voc_seg_tfrecord.core.class_entries import is_void
from voc_seg_tfrecord.core.errors import ConfigError, LayoutError, counted, several
from voc_seg_tfrecord.core.names import background_index, describe_color
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.classes.candidates import (
    FolderTable,
    GivenClasses,
    find_class_files,
    list_numberings,
    numbering_of_given_names,
)
from voc_seg_tfrecord.folder.decide import Rule, decide
from voc_seg_tfrecord.folder.question import Alternative, Answer, ManualStep, QuestionError
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.tools.class_file import ClassFile, ClassFilesOfFolder
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
      source: the path of the file below the tree, also if its lines became rows of the config, so
        that numberings do not matter; empty if no file is read.
      rejected_source: the path of a file that has other names than the user gave, if none is read;
        empty if there is none.
    """

    numberings: tuple[ClassFile, ...] = ()
    notes: tuple[str, ...] = ()
    source: str = ""
    rejected_source: str = ""

    @property
    def file(self) -> ClassFile | None:
        """The file, numbered in the usual way."""
        return self.numberings[0] if self.numberings else None


def choose_class_file(tree: VocTree, given: GivenClasses, table: FolderTable) -> ClassFileChoice:
    """Chooses the class file of a folder.

    One file may be left in several numberings, between which the masks decide later.

    Args:
      tree: the folder.
      given: what the user said of classes. A file needs to have the names, if there are any.
      table: the folder's table of classes.

    Raises:
      ConfigError: if the names are not those of a file that gives values or colors.
      LayoutError: if a file cannot be read, or two contradict each other.
    """
    if tree.labels.class_file:
        if given.names:
            _check_names_of_labels(tree.labels.class_file, given)
        file = tree.labels.class_file
        return ClassFileChoice((file,), source=file.source)
    found = find_class_files(tree)
    misnamed = _note_misnamed(tree.root, found.misnamed)
    notes = [*found.notes, *misnamed, *table.notes(given)]
    if given.names:
        candidates = _list_files_with_names(found.files, given)
        notes += _note_other_names(found.files, candidates)
    else:
        candidates = _list_all_candidates(found, given.background)
    if not candidates:
        rejected = (
            [file.source for file in found.files if not _is_above(file)] if given.names else []
        )
        return ClassFileChoice(notes=tuple(notes), rejected_source="".join(rejected[:1]))
    evidence = ClassFileEvidence(given.names_without_void, candidates)
    decision = decide(candidates, RULES, evidence)
    left = decision.left
    if len({file.source for file in left}) > 1:
        raise _ask_which_file(tree.given, left, given)
    winners = [one.winner for one in decision.lost.values() if one.rule == NAMES_IN_ORDER]
    for winner in winners[:1]:
        notes.append(f"{winner.source} is the class file with the names you gave.")
    if given.names:
        notes += _note_order(left[0], given)
    return ClassFileChoice(tuple(left), tuple(notes), left[0].source)


def _list_all_candidates(found: ClassFilesOfFolder, background: str) -> list[ClassFile]:
    """Returns the class files of a folder in each way in which they may be numbered.

    Raises:
      LayoutError: if there is none, about the first misnamed class file. Most files of names such
        as `dataset.json` are something else, and do not count.
    """
    ambiguous_names = tuple(kind.name for kind in CLASS_FILES if kind.needs_its_folder)
    for error in found.misnamed:
        if not found.files and not error.where.endswith(ambiguous_names):
            raise error
    candidates: list[ClassFile] = []
    for file in found.files:
        candidates += list_numberings(file, background)
    return candidates


def _note_other_names(files: Sequence[ClassFile], candidates: Sequence[ClassFile]) -> list[str]:
    """Names the class files of the set that are no candidates."""
    used_sources = {file.source for file in candidates}
    notes: list[str] = []
    for file in files:
        if not _is_above(file) and file.source not in used_sources:
            notes.append(f"{file.source} has other class names than you gave; it is not used.")
    return notes


def _note_misnamed(root: epath.Path, errors: Sequence[LayoutError]) -> list[str]:
    notes: list[str] = []
    for error in errors:
        name = error.where.removeprefix(f"{root}/")
        notes.append(f"{name} is not used as a class file: {error.found}.")
    return notes


def _list_files_with_names(files: Sequence[ClassFile], given: GivenClasses) -> list[ClassFile]:
    """Returns the class files that have the user's class names, each in the numbering with these.

    Raises:
      ConfigError: if a file of the set with values or colors has only some of the names, at other
        values.
    """
    value_by_name = {name: value for value, name in enumerate(given.names)}
    files_with_names = []
    for file in files:
        numbering = numbering_of_given_names(list_numberings(file, given.background), given)
        if numbering is not None:
            files_with_names.append(numbering)
            continue
        if _is_above(file) or file.has_names_alone:
            continue
        if any(value_by_name.get(entry.name, entry.value) != entry.value for entry in file.entries):
            raise _other_names_error(file, given)
    return files_with_names


def _is_above(file: ClassFile) -> bool:
    """Says whether a file lies above the set, where it may be that of other data."""
    return file.source.startswith("../")


def _note_order(file: ClassFile, given: GivenClasses) -> list[str]:
    """Says what the order of the user's names means, if it is not that of the file."""
    names = list(file.class_names)
    given_names = list(given.names_without_void)
    if background_index(given_names, given.background) == 0:  # background in front is expected
        names = [name for name in names if name != given_names[0]]
        names.insert(0, given_names[0])
    if names == given_names or {*names} != {*given_names}:
        return []
    return [
        f"{file.source} says which value or color each name has. The order of your class names is "
        "that of the dataset."
    ]


def _check_names_of_labels(file: ClassFile, given: GivenClasses) -> None:
    """Checks that the user's names are those that the labels themselves have.

    A version keeps the numbers of classes that no shape has any more, if their names number the
    classes. A second background is refused, because what has no shape is the first one.
    """
    names = set(file.class_names)
    given_names = set(given.names_without_void)
    if names == given_names:
        return
    if file.is_sorted and names <= given_names:
        further_names = [*(given_names - names)]
        if background_index(further_names) is None:
            return
    raise _other_names_error(file, given)


def _other_names_error(file: ClassFile, given: GivenClasses) -> ConfigError:
    names = given.names_without_void
    new_names = [name for name in file.class_names if name not in names]
    if {*names} < {*file.class_names}:  # the names of an earlier build, and there is a new class
        kept_numbers = command(class_names=",".join([*names, *new_names]))
        new_numbers = command(class_names=",".join(file.class_names))
        remedy = (
            f"to keep the numbers of your names, with new classes after them, give {kept_numbers}; "
            f"to take the order of {file.source}, give {new_numbers}"
        )
    else:
        remedy = (
            "leave --class_names out; or give these names, in the order that you want, and say "
            "what they become with --classes OLD=NEW"
        )
    return ConfigError(
        "option class_names",
        found=f"{len(names)} names: {several(names, MAX_LISTED_NAMES)}",
        expected=f"the {len(file.class_names)} names in {file.source}: "
        f"{several(file.class_names, MAX_LISTED_NAMES)}",
        remedy=remedy,
    )


def _ask_which_file(
    where: epath.Path, candidates: Sequence[ClassFile], given: GivenClasses
) -> LayoutError:
    """Returns the question which of several class files is right, with a line for each file."""
    files_by_source: dict[str, ClassFile] = {}
    for file in candidates:
        files_by_source.setdefault(file.source, file)
    files = list(files_by_source.values())
    differences = [find_difference(files[0], other) for other in files[1:]]
    first_difference = next(difference for difference in differences if difference)
    count = counted(len(files), "class file")
    return QuestionError(
        where,
        [_make_alternative(file, files, given) for file in files],
        facts=[f"found {count} that contradict each other: {first_difference}"],
        task="name the classes",
        expected="one class file, or files that agree",
        kind=CONTRADICT,
    )


def _make_alternative(file: ClassFile, files: Sequence[ClassFile], given: GivenClasses) -> Answer:
    """Returns the alternative that one of several class files is, by an option or by hand."""
    words = f"{file.source}: {', '.join(file.class_names[:MAX_LISTED_NAMES])}"
    by_hand = ManualStep(words, "rename or delete the other files")
    if any("," in name for name in file.class_names):  # the option's separator
        return by_hand
    with_names = dataclasses.replace(given, names=file.class_names)
    try:
        candidates = _list_files_with_names(files, with_names)
    except ConfigError:
        return by_hand
    evidence = ClassFileEvidence(with_names.names_without_void, candidates)
    taken = decide(candidates, RULES, evidence).taken
    if taken is None or find_difference(taken, file):
        return by_hand
    return Alternative(words, {"class_names": list(file.class_names)})


# The rules by which a candidate loses.


@dataclasses.dataclass(frozen=True)
class ClassFileEvidence:
    """What rules look at beside two candidates.

    Attributes:
      given_names: the class names that the user gave, in order; none if they are looked for.
      candidates: all candidates, in the order in which files are searched.
    """

    given_names: tuple[str, ...]
    candidates: Sequence[ClassFile]


def names_are_in_another_order(
    candidate: ClassFile, other: ClassFile, evidence: ClassFileEvidence
) -> bool:
    """If two class files contradict each other, one that equals your `--class_names` wins.

    Example: `class_names.txt` has background, a, b, `_classes.csv` has background, b, a, and you
    say `--class_names background,b,a`.
    """
    if not find_difference(candidate, other):
        return False
    has_order = candidate.class_names == evidence.given_names
    other_has_order = other.class_names == evidence.given_names
    return other_has_order and not has_order


def contradicts_another_file(
    candidate: ClassFile, other: ClassFile, evidence: ClassFileEvidence
) -> bool:
    """If a file has two possible numberings, one that other files contradict loses.

    Example: `classes.txt` has a and b, and `class_names.txt` has background, a and b. So `a` is
    value 1 in `classes.txt`, too.
    """
    if candidate.source != other.source or not _is_contradicted(candidate, evidence):
        return False
    return not _is_contradicted(other, evidence)


def _is_contradicted(candidate: ClassFile, evidence: ClassFileEvidence) -> bool:
    """Says whether none of the numberings of another file agrees with a candidate."""
    agreeing_files: set[str] = set()
    for other in evidence.candidates:
        if not find_difference(candidate, other):
            agreeing_files.add(other.source)
    return any(other.source not in agreeing_files for other in evidence.candidates)


def says_less(candidate: ClassFile, other: ClassFile, evidence: ClassFileEvidence) -> bool:
    """A class file loses to one that agrees and also has colors or names the background.

    Example: `classes.txt` has the names, and `labelmap.txt` the same names with colors.
    """
    del evidence
    if candidate.source == other.source or find_difference(candidate, other):
        return False
    if other.has_colors != candidate.has_colors:
        return other.has_colors
    return bool(other.background) and not candidate.background


def says_the_same(candidate: ClassFile, other: ClassFile, evidence: ClassFileEvidence) -> bool:
    """If two class files have the same classes, the first one that is found is used.

    Example: `classes.txt` and `labels.txt` have the same names in the same order.
    """
    if candidate.source == other.source or find_difference(candidate, other):
        return False
    return evidence.candidates.index(candidate) > evidence.candidates.index(other)


NAMES_IN_ORDER = "names are in another order"

RULES: tuple[Rule[ClassFile, ClassFileEvidence], ...] = (
    Rule(NAMES_IN_ORDER, loses=names_are_in_another_order),
    Rule("contradicts another file", loses=contradicts_another_file),
    Rule("says less", loses=says_less),
    Rule("says the same", loses=says_the_same),
)
"""Why a candidate loses, the most certain rule first."""


def find_difference(file: ClassFile, other: ClassFile) -> str:
    """Says in what two class files contradict each other; empty if they agree.

    They agree if one only says more, such as colors. Entries that mean void do not count.
    """
    entries = {entry.name: entry for entry in file.entries if not is_void(entry)}
    other_entries = {entry.name: entry for entry in other.entries if not is_void(entry)}
    for name in entries:
        if name not in other_entries:
            return f"{name!r} is in {file.source} and not in {other.source}"
    for name in other_entries:
        if name not in entries:
            return f"{name!r} is in {other.source} and not in {file.source}"
    for name, entry in entries.items():
        value, other_value = entry.value, other_entries[name].value
        if value != other_value:
            return (
                f"{name!r} has the value {value} in {file.source} and {other_value} in "
                f"{other.source}"
            )
        color, other_color = entry.color, other_entries[name].color
        if color and other_color and color != other_color:
            return (
                f"{name!r} has the color {describe_color(color)} in {file.source} and "
                f"{describe_color(other_color)} in {other.source}"
            )
    return ""
