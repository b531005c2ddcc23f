"""All that is decided about a user's own tree before any example is made of it.

Where a build would stop, `check` reads on by a plan in which less is decided.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import itertools
import posixpath
import shlex

from etils import epath

from voc_seg_tfrecord.base.errors import (
    ConfigError,
    LayoutError,
    MaskError,
    VocSegError,
    did_you_mean,
)
from voc_seg_tfrecord.base.names import VOID, VOID_COLOR, background_index
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats.class_files import (
    VOID_NAMES,
    ClassFile,
    is_void,
    is_void_name,
)
from voc_seg_tfrecord.masks.decide import decide
from voc_seg_tfrecord.masks.question import Question, void_colors
from voc_seg_tfrecord.masks.rule import AS_SAID, Decision, MaskRule, make_rule
from voc_seg_tfrecord.masks.survey import Survey
from voc_seg_tfrecord.own_data import discovery
from voc_seg_tfrecord.own_data.account import Account, unused_files
from voc_seg_tfrecord.own_data.class_file import find_class_file
from voc_seg_tfrecord.own_data.missing_masks import (
    drop_splits_without_masks,
    pattern_note,
    suggest_mask_folders,
    without_masks,
)
from voc_seg_tfrecord.own_data.splits import POOL, divide_stratified, official_note, split_ids
from voc_seg_tfrecord.trees.polygon_tree import PolygonTree
from voc_seg_tfrecord.trees.tree import VocTree

_SHOWN = 12

# Names that mean void if the class has void's value or colour.
_UNLABELED = ("neutral", "unlabeled", "unlabelled")


@dataclasses.dataclass(frozen=True)
class Plan:
    """All that is decided about a tree.

    Attributes:
      tree: the tree.
      class_file: the labelling tool's file of class names, where there is one.
      decision: whether values or colours give the class, and why.
      rule: how each mask is read.
      splits: the ids of each split.
      sources: where each split comes from, in words.
      left_out: by split, the listed ids that are left out because they have no image
        or no mask.
      notes: what else a user should know.
      account: the files of the folder that are not used.
    """

    tree: VocTree
    class_file: ClassFile | None
    decision: Decision
    rule: MaskRule
    splits: dict[str, Sequence[str]]
    sources: dict[str, str]
    left_out: dict[str, list[str]]
    notes: tuple[str, ...]
    account: Account = dataclasses.field(default_factory=dict)


def open_tree(folder: epath.PathLike, config: VocSegConfig) -> VocTree:
    """Finds the tree at or below a folder, with the config's folder names if it has any.

    Raises:
      ConfigError: if the folder, or one that the config names, does not exist.
      LayoutError: if there is no tree, or more than one.
    """
    folder = epath.Path(folder)
    if not folder.is_dir():
        raise ConfigError(
            folder,
            found="no such folder",
            expected="the folder that your labelling tool exported",
            remedy="check the path",
        )
    tree = discovery.find_tree(folder, config.layout or {})
    if isinstance(tree, PolygonTree):
        tree.exif = config.exif
    return tree


def make_plan(tree: VocTree, config: VocSegConfig) -> Plan:
    """Decides how a tree is read.

    Raises:
      VocSegError: if splits, class names or masks contradict, or do not tell enough.
    """
    said = config.layout or {}
    class_file, class_notes = find_class_file(tree, config)
    _check_void_of_classes(class_file, config)
    class_notes += _void_notes(class_file, config)
    splits, sources, split_notes = split_ids(tree, config)
    mask_notes = suggest_mask_folders(tree, itertools.chain(*splits.values()))
    splits, left_out = without_masks(tree, config, splits)
    mask_notes += drop_splits_without_masks(splits, sources)
    decision = _decide(tree, config, class_file, splits)
    by_color = decision.by == "color"
    if not by_color:
        _check_no_void_color(class_file, config)
    rule = make_rule(
        config.class_names, class_file, decision, values=config.values, void=config.void
    )
    notes = [
        *class_notes,
        *split_notes,
        *mask_notes,
        *tree.notes,
        # Where its colours give the classes, it does not matter how a class file is numbered.
        class_file.numbered if class_file and not (by_color and class_file.colored) else "",
        *decision.notes,
        *(tree.drawing_notes() if isinstance(tree, PolygonTree) else [pattern_note(tree, said)]),
        *_loop_notes(tree),
        _background_note(config),
        official_note(tree),
    ]
    if config.split_by == "stratified":
        splits, sources, left_out = divide_stratified(
            tree, config, rule, splits[POOL], left_out.get(POOL, [])
        )
    shown = tuple(filter(None, notes))
    read = [posixpath.join(tree.layout.lists, name) for name in sources.values()]
    read += [class_file.source] if class_file else []
    listed = set(itertools.chain(*splits.values()))
    account = unused_files(tree, listed, read, instances=bool(config.instance_mask))
    return Plan(tree, class_file, decision, rule, splits, sources, left_out, shown, account)


def _check_void_of_classes(class_file: ClassFile | None, config: VocSegConfig) -> None:
    """Checks that no class has the value or VOC's colour of void, unless void was said.

    Such a class would become void, and its name may mean either. Supervisely calls void neutral.
    One that has both is void.
    """
    if class_file is None or tuple(config.void) != VocSegConfig.void:
        return
    names = [word for word in config.void if isinstance(word, str)]
    listed = [*class_file.entries, *itertools.chain(*class_file.folders.values())]
    void = [entry.name for entry in class_file.entries if is_void_name(entry.name, names)]
    for entry in listed:
        by_value, by_color = entry.value == VOID, entry.color == VOID_COLOR
        # One of both alone may be a class that happens to have it.
        if by_value == by_color or is_void_name(entry.name, (*_UNLABELED, *names)):
            continue
        if by_value and config.values is not None:  # they say what 255 is
            continue
        found = f"the value {VOID}, which is void,"
        if by_color:
            found = "VOC's void colour 224,224,192"
        as_class, as_void = (
            shlex.quote(" ".join(f'"{w}"' if " " in w else w for w in words))
            for words in (void or ["void"], [str(VOID), *void, entry.name])
        )
        raise LayoutError(
            class_file.source,
            found=f"{found} for the class {entry.name!r}",
            expected="a class with a value and a colour of its own, or void",
            remedy=f"say --void {as_class} if it is a class, or --void {as_void} if its pixels "
            "are void",
        )


def _check_no_void_color(class_file: ClassFile | None, config: VocSegConfig) -> None:
    """Checks that the user called no colour void, because masks that are read by value have none.

    Colours of a class file name its classes, however masks are read.
    """
    named = {VOID_COLOR, *(entry.color for entry in (class_file.entries if class_file else ()))}
    for color in void_colors(config.void) - named:
        shown = ",".join(map(str, color))
        raise ConfigError(
            "option void",
            found=f"the colour {shown}, although the masks are read by value",
            expected="values, or names of classes",
            remedy="say the value that is void, or --masks_by color if colours are the classes",
        )


def _void_notes(class_file: ClassFile | None, config: VocSegConfig) -> list[str]:
    """Returns a note about the classes that the user's word made void.

    Raises:
      ConfigError: if a name that is to be void is nowhere.
    """
    listed = class_file.entries if class_file else ()
    values = [value for value in config.void if isinstance(value, int) and 0 <= value < VOID]
    if values and class_file and class_file.folders:
        raise ConfigError(
            "option void",
            found=f"the value {values[0]}, but {class_file.source} has other numbers in each split",
            expected="names of classes, which mean the same in each split",
            remedy="say the name that is void",
        )
    names = [*dict.fromkeys([*config.class_names, *(entry.name for entry in listed)])]
    for word in config.void:
        if isinstance(word, str) and not is_void_name(word, (*VOID_NAMES, *names)):
            if word.casefold() in config.map_classes.casefold():
                continue  # the new class of a rule
            raise ConfigError(
                "option void",
                found=f"{word[:200]!r}{did_you_mean(word, names)}",
                expected=f"a name among {', '.join(names[:_SHOWN])}",
                remedy="correct the name, or leave it out of void",
            )
    void = [entry.name for entry in listed if is_void(entry, config.void)]
    said = [name for name in void if not is_void_name(name, (*VOID_NAMES, *_UNLABELED))]
    return [
        f"{name} means void. So it is no class of the dataset, its pixels are {VOID}, and the "
        "classes after it move up."
        for name in dict.fromkeys([*config.void_names, *said])
    ]


def _background_note(config: VocSegConfig) -> str:
    """Says which class is background if it is not class 0, unless the user chose the order."""
    names = config.named_classes
    background = background_index(names, config.background)
    if not background or config.map_classes:
        return ""
    return (
        f"Class {background} is background, and class 0 is {names[0]}. With "
        "--background_first background becomes class 0, and the masks follow."
    )


def _loop_notes(tree: VocTree) -> list[str]:
    links = tree.listing.links if tree.listing else {}
    return [f"The link {link} leads to {to}, so it is left out." for link, to in links.items()]


def _decide(
    tree: VocTree,
    config: VocSegConfig,
    class_file: ClassFile | None,
    splits: Mapping[str, Sequence[str]],
) -> Decision:
    """Decides what the masks mean, from those of the splits: others are not built."""
    if config.values is not None:
        return dataclasses.replace(AS_SAID, reason="values as you said")
    question = Question(Survey(), config.class_names, class_file, config.void)
    if config.masks_by == "index" and not question.two_classes:
        return AS_SAID
    of_splits = set(itertools.chain(*splits.values()))
    listed = [i for i in tree.images if i in of_splits and i in tree.masks]
    found = tree.survey(listed, all_colors=question.needs_colors, void=void_colors(config.void))
    return decide(dataclasses.replace(question, found=found), config.masks_by)


def absent_images(decided: Plan, split: str) -> str:
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
    lists = decided.sources.items()
    others = ",".join(
        f"{name}={file.removesuffix('.txt')}" for name, file in lists if name != split
    )
    return (
        f"{counted}. So the list is one of other images, or --images names their folder. Without "
        f"the list: --splits {others or 'train=0.8,validation=0.2'}"
    )


_EVERYTHING = {"train": 1.0}


@dataclasses.dataclass(frozen=True)
class Fallback:
    """A plan to read by, and what stops a build from having it.

    Attributes:
      plan: the plan, None if nothing can be read.
      problems: the errors that a build would stop at.
      splits: whether the plan's splits are those of a build; otherwise it has all images in one.
      meaning: whether it is decided what the masks mean; otherwise their rule says nothing.
    """

    plan: Plan | None
    problems: tuple[VocSegError, ...] = ()
    splits: bool = True
    meaning: bool = True


def plan_to_read(tree: VocTree, config: VocSegConfig) -> Fallback:
    """Decides what a build would decide, and goes on with less where that fails.

    Ids in several splits are allowed next, and then the lists are not asked at all.

    Raises:
      ConfigError: if the config itself is wrong, as a build would raise it.
    """
    problems: dict[str, VocSegError] = {}
    attempt, splits, meaning = config, True, True
    tree, repeated = tree.forgiving()
    while True:
        try:
            plan = make_plan(tree, attempt)
            problems |= {str(error): error for error in repeated.values()}
            return Fallback(plan, tuple(problems.values()), splits, meaning)
        except VocSegError as error:
            if isinstance(error, ConfigError) and not problems:
                raise
            problems.setdefault(str(error), error)
            if isinstance(error, MaskError) and meaning:
                attempt, meaning = dataclasses.replace(attempt, masks_by="index"), False
            elif not attempt.overlap:
                attempt = dataclasses.replace(attempt, overlap=True)
            elif splits:
                attempt = dataclasses.replace(attempt, splits=_EVERYTHING, missing_mask="skip")
                splits = False
            else:
                return Fallback(None, tuple(problems.values()), splits, meaning)
