"""All that is decided about a user's own tree before any example is made of it.

Where a build would stop, `check` reads on by a plan in which less is decided.
"""

from collections.abc import Iterable, Mapping, Sequence
import csv
import dataclasses
import io
import itertools
import posixpath

from etils import epath

from voc_seg_tfrecord.base.errors import (
    ConfigError,
    ImageError,
    LayoutError,
    MaskError,
    VocSegError,
)
from voc_seg_tfrecord.base.names import VOID, background_index
from voc_seg_tfrecord.base.wording import command
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.formats import images
from voc_seg_tfrecord.formats.class_files import ClassFile
from voc_seg_tfrecord.formats.class_parsers import TABLE
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks import meaning
from voc_seg_tfrecord.masks.meaning import Decision
from voc_seg_tfrecord.masks.readings import Reading
from voc_seg_tfrecord.masks.rows import HIGHEST, UNKNOWN, Key, color_key
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule
from voc_seg_tfrecord.masks.survey import Pixel, Survey, look
from voc_seg_tfrecord.own_data import classes, discovery, folder_names, groups
from voc_seg_tfrecord.own_data.account import Account, unused_files
from voc_seg_tfrecord.own_data.class_file import find_class_file
from voc_seg_tfrecord.own_data.missing_masks import (
    check_left_over,
    drop_splits_without_masks,
    pattern_note,
    suggest_mask_folders,
    without_masks,
)
from voc_seg_tfrecord.own_data.pixels import sizes_agree
from voc_seg_tfrecord.own_data.readings import few
from voc_seg_tfrecord.own_data.splits import POOL, divide_stratified, official_note, split_ids
from voc_seg_tfrecord.splitting.ratios import NO_GROUPS
from voc_seg_tfrecord.trees.polygon_tree import PolygonTree
from voc_seg_tfrecord.trees.tree import VocTree

ANY_VALUE = index_rule(VOID)
"""The rule of masks of which it is not decided what they mean: any value is a class."""


@dataclasses.dataclass(frozen=True)
class Plan:
    """All that is decided about a tree.

    Attributes:
      tree: the tree.
      class_file: the labelling tool's file of class names, where there is one.
      decision: what the masks mean, and why; None where that was not asked.
      rule: how each mask is read.
      splits: the ids of each split.
      sources: where each split comes from, in words.
      left_out: by split, the listed ids that are left out because they have no image
        or no mask.
      notes: what else a user should know.
      account: the files of the folder that are not used.
      said: by split, its source as the option `splits` says it; none of ratios.
      numbered: whether a file or an option gave the numbers of the classes; see `ClassFile`.
    """

    tree: VocTree
    class_file: ClassFile | None
    decision: Decision | None
    rule: MaskRule
    splits: dict[str, Sequence[str]]
    sources: dict[str, str]
    left_out: dict[str, list[str]]
    notes: tuple[str, ...]
    account: Account = dataclasses.field(default_factory=dict)
    said: Mapping[str, str] = dataclasses.field(default_factory=dict)
    numbered: bool = True


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


def make_plan(tree: VocTree, config: VocSegConfig, *, rule: MaskRule | None = None) -> Plan:
    """Decides how a tree is read.

    Args:
      tree: the tree.
      config: the config.
      rule: what the masks mean; by default it is decided.

    Raises:
      VocSegError: if splits, class names or masks contradict, or do not tell enough.
    """
    layout = config.layout or {}
    files, notes = find_class_file(tree, config) if config.class_names else ([], [])
    class_file = files[0] if files else None
    classes.check_void(class_file, config)
    notes += classes.void_notes(class_file, config)
    division = split_ids(tree, config)
    splits, sources = division.ids, division.sources
    mask_notes = suggest_mask_folders(tree, itertools.chain(*splits.values()))
    splits, left_out = without_masks(tree, config, splits)
    mask_notes += drop_splits_without_masks(splits, sources)
    decision = None
    if rule is None:
        of_splits = {*itertools.chain(*splits.values())}
        with_masks = [i for i in tree.images if i in of_splits and i in tree.masks]
        decision = classes.decide(tree, config, files, with_masks)
        rule = decision.rule
    by_color = decision is not None and decision.by == "color"
    notes = [
        *notes,
        *division.notes,
        *mask_notes,
        *tree.notes,
        # Where its colours give the classes, it does not matter how a class file is numbered.
        class_file.numbered if class_file and not (by_color and class_file.colored) else "",
        *(decision.notes if decision else ()),
        *(tree.drawing_notes() if isinstance(tree, PolygonTree) else [pattern_note(tree, layout)]),
        _deep_image_note(tree, itertools.chain(*splits.values())),
        *_loop_notes(tree),
        _background_note(config),
        official_note(division.facts),
    ]
    if config.split_by == "stratified":
        splits, sources, left_out = divide_stratified(
            tree, config, rule, splits[POOL], left_out.get(POOL, [])
        )
    shown = tuple(filter(None, notes))
    read = [TABLE, *(posixpath.relpath(file, tree.place or ".") for file in division.files)]
    if class_file:
        name = posixpath.basename(class_file.source)
        in_splits = (posixpath.join(folder, name) for folder in folder_names.find(tree))
        read += [class_file.source, *in_splits]
    used = set(itertools.chain(*splits.values()))
    left = division.left()
    account = unused_files(tree, used, read, left, instances=bool(config.instance_mask))
    if "masks" not in layout:  # that says which files are meant
        lacking = {*itertools.chain(*left_out.values())} if division.files else None
        check_left_over(tree, account, used, lacking)
    return Plan(
        tree, class_file, decision, rule, splits, sources, left_out, shown, account, division.said
    )


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


def _deep_image_note(tree: VocTree, ids: Iterable[str]) -> str:
    """Names an image of 16 bits, which loses its low byte; only the first few are looked at."""
    names = (tree.images[i] for i in ids if i in tree.images)
    deep = (name for name in names if str(name).lower().endswith((".png", ".tif", ".tiff")))
    for name in itertools.islice(deep, _LOOKED_AT):
        path = tree.root / tree.layout.images / name
        try:
            lost = images.lost_bits(File.read(path, ImageError))
        except VocSegError:  # the build says so
            continue
        if lost:
            return (
                f"{name} has {lost}. If the low byte matters, scale the images to 8 bits yourself."
            )
    return ""


_LOOKED_AT = 8


def _loop_notes(tree: VocTree) -> list[str]:
    links = tree.listing.links if tree.listing else {}
    return [f"The link {link} leads to {to}, so it is left out." for link, to in links.items()]


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
    others = ",".join(f"{n}={source}" for n, source in decided.said.items() if n != split)
    return (
        f"{counted}. So the list is one of other images, or --images names their folder. Without "
        f"the list: {command(splits=others or 'train=0.8,validation=0.2')}"
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
    while True:
        try:
            plan = make_plan(tree, attempt, rule=None if meaning else ANY_VALUE)
            return Fallback(plan, tuple(problems.values()), splits, meaning)
        except VocSegError as error:
            if isinstance(error, ConfigError) and not problems:
                raise
            problems.setdefault(str(error), error)
            if error.kind == groups.KIND:
                attempt = dataclasses.replace(attempt, group_by=NO_GROUPS)
            elif isinstance(error, MaskError) and meaning:
                meaning = False
            elif not attempt.overlap:
                attempt = dataclasses.replace(attempt, overlap=True)
            elif splits:
                attempt = dataclasses.replace(attempt, splits=_EVERYTHING, missing_mask="skip")
                splits = False
            else:
                return Fallback(None, tuple(problems.values()), splits, meaning)


def write_table(tree: VocTree, config: VocSegConfig, *, named: bool = True) -> tuple[str, int]:
    """Writes a row for each value and colour that the masks of a tree use.

    Args:
      tree: the tree.
      config: says the names and the splits.
      named: whether these are names; otherwise a class file may be numbered in two ways, or there
        is none.

    Returns:
      The table as CSV, and how many of its rows lack a class.

    Raises:
      LayoutError: if a mask has another size than its image, or the masks use too much for a table.
      MaskError: if no mask can be read, about the first.
    """
    ids = _ids(tree, config)
    if isinstance(tree, PolygonTree):
        return tree.class_table(ids), 0
    for pair in (tree.pair(i) for i in few(ids) if i in tree.images and i in tree.masks):
        image, mask = epath.Path(pair.image), epath.Path(str(pair.mask))
        if not sizes_agree(image, mask):
            raise LayoutError(
                mask,
                found=f"another size than that of {image}",
                expected="masks of the size of their images, without which no class helps",
                remedy="export the masks again, or name the folder of their images with --images",
            )
    survey = tree.survey(ids, all_colors=True)
    if ids and not survey.pixels:
        look(tree.mask_file(ids[0]))  # raises
    if max(len(survey.values), len(survey.colors)) > HIGHEST:
        raise LayoutError(
            tree.root,
            found=f"{len(survey.values)} values and {len(survey.colors)} colours in "
            f"{survey.examined} masks",
            expected=f"at most {HIGHEST} of each; more are of masks that were smoothed",
            remedy="export the masks again, without smoothing",
        )
    taken: Reading | None = None
    ways: list[Reading] = []
    files = find_class_file(tree, config, named=named)[0] if config.class_names else []
    if named or files:
        taken, ways = meaning.weigh(survey, classes.namings(config, files))
    return _text(survey, taken, ways)


def _ids(tree: VocTree, config: VocSegConfig) -> list[str]:
    """Returns the ids whose masks a build would read, or all if that is not decided."""
    with_masks = [i for i in tree.images if i in tree.masks] or [*tree.masks]
    try:
        splits = make_plan(tree, config, rule=ANY_VALUE).splits
    except VocSegError:
        return with_masks
    of_splits = {*itertools.chain(*splits.values())}
    return [image_id for image_id in with_masks if image_id in of_splits] or with_masks


def _text(survey: Survey, taken: Reading | None, ways: Sequence[Reading]) -> tuple[str, int]:
    """Returns the table; where the user is asked, each reading has a column for people."""
    rows: dict[Key, dict[str, object]] = {}
    by_color = _by_color(survey, taken)
    ways = [taken] if taken else list({meaning.how(reading): reading for reading in ways}.values())
    for pixel in sorted(survey.pixels, key=lambda p: _order(_key(p, by_color))):
        seen, key = survey.pixels[pixel], _key(pixel, by_color)
        names = {meaning.how(reading): reading.name_of(pixel) or UNKNOWN for reading in ways}
        row = rows.setdefault(key, {"pixels": 0, "masks": 0})
        name = names.popitem()[1] if taken else _agreed(survey, pixel, names)
        row |= {
            "value" if isinstance(key, int) else "color": key,
            "class": name if row.get("class", name) == name else UNKNOWN,
            "pixels": int(str(row["pixels"])) + seen.pixels,
            "masks": max(int(str(row["masks"])), seen.masks),
            **names,
        }
        if pixel.kind == "palette" and pixel.color and isinstance(key, int):
            row["palette"] = color_key(pixel.color)
    columns = dict.fromkeys(itertools.chain(*rows.values()))
    head = [*_HEAD, *(column for column in columns if column not in _HEAD)]
    out = io.StringIO()
    lines = csv.DictWriter(out, head, restval="", lineterminator="\n")
    lines.writeheader()
    lines.writerows(rows.values())
    return out.getvalue(), sum(row["class"] == UNKNOWN for row in rows.values())


_HEAD = ("value", "color", "class", "pixels", "masks")


def _agreed(survey: Survey, pixel: Pixel, names: dict[str, str]) -> str:
    """Returns the class of a pixel that all of several readings give it, else `?`."""
    asked = pixel.value == VOID and survey.binary.masks > survey.void.masks
    alone = len(names) == 1 and pixel.kind == "palette"  # and its palette contradicts it
    return names.popitem()[1] if len({*names.values()}) == 1 and not (asked or alone) else UNKNOWN


def _by_color(survey: Survey, taken: Reading | None) -> bool:
    """Says whether rows of masks with values and colours have colours as their keys."""
    if taken is not None:
        return taken.by == "color"
    pairs = {(p.value, p.color) for p in survey.pixels if p.kind == "palette"}
    return len({value for value, _ in pairs}) < len(pairs)


def _order(key: Key) -> tuple[bool, Key]:
    return isinstance(key, str), key


def _key(pixel: Pixel, by_color: bool) -> Key:
    if pixel.color is not None and (pixel.value is None or (by_color and pixel.kind != "grey")):
        return color_key(pixel.color)
    return pixel.value if pixel.value is not None else UNKNOWN
