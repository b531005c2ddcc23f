"""What a config is built from: the files of every split, and how they are read.

A release is opened by the reader that its row in `core/releases.py` names: a module of this room
with a function `open_trees`, which returns the list of each split.
"""

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import importlib
import itertools
import logging
from typing import Any, cast

from etils import epath

from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.config import CLASSES_OF_FOLDER, VocSegConfig
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    LayoutError,
    ListError,
    SplitError,
    several,
)
from voc_seg_tfrecord.core.example import Item, NeededFiles, Source
from voc_seg_tfrecord.core.layout import IMAGES, LAYOUT_OPTIONS, LISTS, MASKS
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.names import BLACK, VOC_CLASSES, VOC_NUMBERS, VOID
from voc_seg_tfrecord.core.releases import Release
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.absent_images import advise_on_absent_images
from voc_seg_tfrecord.folder.alternatives import check_alternatives
from voc_seg_tfrecord.folder.class_names import NO_CLASS_NAMES
from voc_seg_tfrecord.folder.classes.choose import MAX_LISTED_NAMES
from voc_seg_tfrecord.folder.classes.names import class_colors
from voc_seg_tfrecord.folder.plan import (
    ClassOptions,
    FolderPlan,
    OpenFolder,
    open_folder,
    plan_folder,
)
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.splits.excluded import add_way_out
from voc_seg_tfrecord.folder.tree.pairs import MISSING_IMAGE, NO_SUCH_FILE
from voc_seg_tfrecord.folder.tree.voc_tree import Pairs, VocTree
from voc_seg_tfrecord.formats.bands import with_band_count
from voc_seg_tfrecord.sources.devkit import ReleaseList
from voc_seg_tfrecord.sources.fetcher import Fetcher

ReleaseReader = Callable[[Release, VocSegConfig, Fetcher], Mapping[str, ReleaseList]]
"""Opens a release, and returns by split the list of its ids."""


def open_source(config: VocSegConfig, fetcher: Fetcher, rule: MaskRule | None = None) -> Source:
    """Finds the files of every split of a config, and checks its lists.

    The rule says what the masks of own data mean, if that is known.

    Returns:
      The source. No image or mask has been decoded for it, except masks of own data if what
      they mean had to be found out.

    Raises:
      SourceError: if a release is neither at hand nor can be downloaded.
      LayoutError: if there is no tree, or more than one, for own data.
      ListError: if the lists of a strict config are not the official ones.
      SplitError: if files are missing.
      ConfigError: if own data that are not VOC's would get VOC's names by default.
    """
    if config.official is not None:
        return _official_source(config, fetcher)
    folder = fetcher.manual_dir
    if config.packaged_tree:
        folder = releases.facts_folder(config.packaged_tree)
    if folder is None:
        raise LayoutError(
            f"config {config.name!r}",
            found="--manual_dir is missing or empty",
            expected=f"a folder with {IMAGES}, {MASKS} and {LISTS}",
            remedy="give the folder with --manual_dir",
        )
    planner = _ConfigPlanner(FolderReader(folder), config)
    is_own_data = not config.packaged_tree
    try:
        if is_own_data and rule is None and config.has_classes_by_default:
            _check_classes_are_of_voc(planner)
        plan = planner.plan(rule)
    except QuestionError as question:
        raise check_alternatives(question, planner.plan_alternative) from None
    return own_source(plan)


@dataclasses.dataclass(frozen=True)
class _ConfigPlanner:
    """Plans a folder with a config, and with the options of an alternative too."""

    reader: FolderReader
    config: VocSegConfig

    def plan(self, rule: MaskRule | None) -> FolderPlan:
        """Returns the plan; a rule says what masks mean, if that is known."""
        return plan_folder(self.reader, self.config, rule=rule)

    def open(self) -> OpenFolder:
        """Returns the folder, without its classes."""
        return open_folder(self.reader, self.config)

    def open_with_classes_of_folder(self) -> OpenFolder:
        """Returns the folder with the classes that it gives, as if `class_names` were left out."""
        options = ClassOptions(classes=self.config.classes, background=self.config.background)
        config = dataclasses.replace(
            self.config, class_names=CLASSES_OF_FOLDER, classes=(), background=""
        )
        return open_folder(self.reader, config, class_options=options)

    def plan_alternative(self, options: Mapping[str, Any]) -> FolderPlan:
        """Returns the plan with more options; see `alternatives.Planner`."""
        fields = dict(options)
        if "class_names" in fields:
            fields["default_names"] = False
        layout = dict(self.config.layout or {})
        for name in LAYOUT_OPTIONS:
            if name in fields:
                layout[name] = fields.pop(name)
        config = dataclasses.replace(self.config, layout=layout or None, **fields)
        return try_config(self.reader, config)


def _check_classes_are_of_voc(planner: _ConfigPlanner) -> None:
    """Checks that a folder whose config has no `class_names` holds VOC's classes.

    The names of its class file have to be VOC's, in VOC's order; those of shapes, in any. Without
    class file, all colors of its masks have to be those of VOC's palette, and the log says so.
    The features of a TFDS builder are made of its config before a folder is read, so a build cannot
    take other names from there.

    Raises:
      ConfigError: if it holds others, with a config that names them.
    """
    config = planner.config
    try:
        opened = planner.open_with_classes_of_folder()
    except LayoutError as error:
        if error.kind != NO_CLASS_NAMES:
            raise
        refusal = _no_classes_error(config, error)
    else:
        if not opened.config.default_names:
            if not _has_voc_names(opened):
                raise _other_names_error(config, opened.config)
            return
        refusal = _default_names_error(config, opened.config)
    if not _has_voc_colors(planner.open().tree):
        raise refusal
    logging.getLogger(__name__).warning(
        "Config %r has no class_names. The colors of the masks are those of VOC's palette, so "
        "the classes get VOC's names: 1 is aeroplane. If these are other classes, stop the "
        "build and give class_names.",
        config.name,
    )


def _has_voc_names(opened: OpenFolder) -> bool:
    """Says whether the classes that a folder names are VOC's: in VOC's order, or drawn as shapes.

    Shapes have names without an order.
    """
    names = opened.config.built_class_names
    if opened.tree.labels.origin:  # the masks are drawn from shapes
        return {*names} <= {*VOC_CLASSES}
    return tuple(names) == VOC_CLASSES[: len(names)]


def _has_voc_colors(tree: VocTree) -> bool:
    """Says whether the masks have colors, and all of them but 0 and black are VOC's."""
    survey = tree.labels.survey(tree.labels.names, all_colors=True)
    has_color = False
    for pixel in survey.pixels:
        if pixel.value == 0 or pixel.color == BLACK:
            continue
        if pixel.color is None:
            return False
        number = VOC_NUMBERS.get(pixel.color)
        is_class_or_void = number == VOID or number in range(len(VOC_CLASSES))
        if not is_class_or_void or pixel.value not in (None, number):
            return False
        has_color = True
    return has_color


_COLORS_NOT_VOC = "class_names, as the masks do not have the colors of VOC's palette"
"""What is expected of a config if nothing says what the masks of its folder show."""


def _no_classes_error(config: VocSegConfig, error: LayoutError) -> ConfigError:
    """Returns the error that neither a config nor its folder has classes.

    Args:
      config: the config.
      error: why the folder has none.
    """
    return ConfigError(
        f"config {config.name!r}",
        found=f"no class_names, and {error.found}",
        expected=_COLORS_NOT_VOC,
        remedy="give class_names or classes in the config. To see the choices, run "
        f"{command('voc-seg-tfrecord', 'check', 'FOLDER')}",
    )


def _default_names_error(config: VocSegConfig, config_of_folder: VocSegConfig) -> ConfigError:
    """Returns the error that a folder has classes, and that neither it nor a config names them.

    Args:
      config: the config.
      config_of_folder: the config with the classes of the folder and their default names.
    """
    names = several(config_of_folder.built_class_names, MAX_LISTED_NAMES)
    return ConfigError(
        f"config {config.name!r}",
        found=f"no class_names, and nobody named the classes of the folder: {names}",
        expected=_COLORS_NOT_VOC,
        remedy=f"to build without names, give {command(config=config_of_folder.to_json())}; to "
        "name the classes, replace the names in it, and leave default_names out",
    )


def _other_names_error(config: VocSegConfig, config_of_folder: VocSegConfig) -> ConfigError:
    """Returns the error that a config names no classes, and its folder others than VOC's.

    Args:
      config: the config.
      config_of_folder: the config with the classes of the folder.
    """
    names = several(config_of_folder.built_class_names, MAX_LISTED_NAMES)
    return ConfigError(
        f"config {config.name!r}",
        found=f"no class_names, and the classes of the folder are not VOC's: {names}",
        expected="the class_names of the folder",
        remedy=f"give {command(config=config_of_folder.to_json())}",
    )


def try_config(
    reader: FolderReader, config: VocSegConfig, class_options: ClassOptions | None = None
) -> FolderPlan:
    """Plans a folder with the config of an alternative.

    Args:
      reader: reads the folder.
      config: the config with the alternative's options.
      class_options: see `plan_folder`.

    Raises:
      VocSegError: if the alternative does not work, as far as this shows before images are read.
    """
    plan = plan_folder(reader, config, class_options=class_options)
    find_pairs(plan)  # raises if a file is missing
    return plan


def own_source(plan: FolderPlan) -> Source:
    """Returns the source that a plan describes.

    Raises:
      SplitError: if files are missing.
    """
    splits = find_pairs(plan)
    items = itertools.chain.from_iterable(splits.values())
    return Source(
        splits,
        with_band_count(plan.config.example_spec(plan.mask_rule), items),
        colors=class_colors(plan.class_file, plan.config),
        rows=plan.rows,
        index_by_value=plan.index_by_value,
        numbered=plan.are_classes_numbered,
    )


def find_pairs(plan: FolderPlan) -> dict[str, Pairs]:
    """Finds the files of all ids of each split; no file is opened.

    Raises:
      SplitError: if files are missing.
    """
    return {split: _find_pairs_of_split(plan, split) for split in plan.splits}


def _find_pairs_of_split(plan: FolderPlan, split: str) -> Pairs:
    """Finds the files of all ids of a split; no file is opened.

    Raises:
      SplitError: if files are missing, with advice if they are images.
    """
    try:
        return plan.items.of_split(split, plan.splits[split])
    except SplitError as error:
        remedy = advise_on_absent_images(plan, split)
        problems = []
        for problem in error.problems:
            is_absent_image = problem.kind == MISSING_IMAGE and problem.found == NO_SUCH_FILE
            if remedy and is_absent_image:  # the remedy of the split is about these
                problems.append(problem.changed(remedy=""))
            else:
                problems.append(problem)
        with_remedy = SplitError(split, problems, error.examined, remedy, error.ids)
        raise add_way_out(with_remedy, plan.config.exclude) from None


def _official_source(config: VocSegConfig, fetcher: Fetcher) -> Source:
    """Finds the files of a release, and checks its lists."""
    splits: dict[str, Sequence[Item]] = {}
    image_folders: list[epath.Path] = []
    release = cast(Release, config.official)
    open_trees = _reader_of(release)
    lists = open_trees(release, config, fetcher)
    _check_lists_exist(list(lists.values()), config.needed_files)
    for split, split_list in lists.items():
        tree = split_list.tree
        ids = tree.read_ids(split_list.name)
        if config.strict:
            _check_ids(config, split, split_list, ids, fetcher.manual_dir)
        splits[split] = tree.pairs(split, ids, config.needed_files)
        image_folders += tree.image_folders(ids)
    spec = config.example_spec(config.index_rule(release.values or None))
    if _are_verified(image_folders, fetcher):
        spec = dataclasses.replace(spec, decoding="none")
    return Source(splits, spec, fetcher.verified)


def _check_ids(
    config: VocSegConfig,
    split: str,
    split_list: ReleaseList,
    ids: Sequence[str],
    manual_dir: epath.Path | None,
) -> None:
    """Checks that a list is the official one. If not, folders that its tree lacks are named too.

    The advice is a config of another name that does without these.

    Raises:
      ListError: if it is not.
    """
    tree = split_list.tree
    try:
        releases.check_ids(config.release, split, ids, tree.list_path(split_list.name))
    except ListError as error:
        missing = tree.find_missing(config.needed_files)
        found = error.found
        if missing.names:
            found += f". Also missing: {', '.join(missing.names)}"
        fields = _fields_of_missing_parts(tree, config.needed_files)
        part = releases.advise_part(config.release, manual_dir, fields)
        own = command("voc-seg-tfrecord", "build", tree.root, name="NAME")
        remedy = f"{error.remedy}; or {part}; or, if it is your own data, {own}"
        raise error.changed(found=found, remedy=remedy) from None


def _fields_of_missing_parts(tree: VocTree, parts: NeededFiles) -> dict[str, Any]:
    """Returns the fields of a config that does without the parts of examples that are missing."""
    only_images = dataclasses.replace(parts, masks=False, instances=False, annotations=False)
    missing_anyway = tree.find_missing(only_images).names
    fields: dict[str, Any] = {}
    if parts.instances:
        with_instances = dataclasses.replace(only_images, instances=True)
        if tree.find_missing(with_instances).names != missing_anyway:
            fields["instance_mask"] = False
    if parts.annotations:
        with_annotations = dataclasses.replace(only_images, annotations=True)
        if tree.find_missing(with_annotations).names != missing_anyway:
            fields["objects"] = False
    return fields


def _check_lists_exist(lists: Sequence[ReleaseList], parts: NeededFiles) -> None:
    """Checks that the lists are there. If one is not, all else that its tree lacks is named too.

    Raises:
      LayoutError: if several lists or folders of a tree are missing. `read_ids` raises if it is one
        list alone.
    """
    for split_list in lists:
        tree = split_list.tree
        if not tree.list_path(split_list.name).exists():
            names = [other.name for other in lists if other.tree is tree]
            tree.check_complete(parts, names)


def _reader_of(release: Release) -> ReleaseReader:
    """Returns the function that opens a release. Its module is imported for this release alone."""
    module = importlib.import_module(f"voc_seg_tfrecord.sources.{release.reader}")
    reader: ReleaseReader = module.open_trees
    return reader


def _are_verified(folders: Sequence[epath.Path], fetcher: Fetcher) -> bool:
    """Says whether all folders of images come out of archives whose sha256 was verified.

    Folders outside the manual folder count as verified: every archive is verified before it is
    unpacked.
    """
    folder = fetcher.manual_dir
    if folder is None:
        return True
    return not any(path.is_relative_to(folder) for path in folders)
