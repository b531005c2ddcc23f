"""What a config is built from: the files of every split, and how they are read.

A release is opened by the reader that its row in `facts/releases.py` names: a module of this room
with a function `open_trees`, which returns the tree and the name of the list of each split.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import importlib
import itertools
from typing import Any, cast

from etils import epath

from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import LayoutError, SplitError
from voc_seg_tfrecord.core.example import Item, Source
from voc_seg_tfrecord.core.layout import IMAGES, LAYOUT_OPTIONS, LISTS, MASKS
from voc_seg_tfrecord.core.mask_rule import MaskRule
from voc_seg_tfrecord.core.releases import Release
from voc_seg_tfrecord.folder.alternatives import ANY_CLASSES, check_alternatives
from voc_seg_tfrecord.folder.classes.names import class_colors
from voc_seg_tfrecord.folder.plan import ANY_VALUE, FolderPlan, absent_images, plan_folder
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.folder.reader import FolderReader
from voc_seg_tfrecord.folder.tree.voc_tree import Pairs
from voc_seg_tfrecord.formats.band_count import with_band_count
from voc_seg_tfrecord.sources.devkit import Fetcher


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
    """
    if config.official is not None:
        return _official_source(config, fetcher)
    folder = fetcher.manual_dir
    if config.packaged_tree:
        folder = releases.facts_folder(config.packaged_tree)
    if folder is None:
        raise LayoutError(
            f"config {config.name!r}",
            found="no --manual_dir, or an empty one",
            expected=f"a folder with {IMAGES}, {MASKS} and {LISTS}",
            remedy="give the folder with --manual_dir",
        )
    planner = _ConfigPlanner(FolderReader(folder), config)
    try:
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

    def plan_alternative(
        self, options: Mapping[str, Any], *, any_classes: bool = False
    ) -> FolderPlan:
        """Returns the plan with more options; see `alternatives.Planner`."""
        fields = dict(options)
        if any_classes:
            fields |= ANY_CLASSES
        layout = dict(self.config.layout or {})
        for name in LAYOUT_OPTIONS:
            if name in fields:
                layout[name] = fields.pop(name)
        config = dataclasses.replace(self.config, layout=layout or None, **fields)
        plan = plan_folder(self.reader, config, rule=ANY_VALUE if any_classes else None)
        own_source(plan)  # raises if a file is missing
        return plan


def own_source(plan: FolderPlan) -> Source:
    """Returns the source that a plan describes.

    Raises:
      SplitError: if files are missing.
    """
    splits = {split: _own_pairs(plan, split) for split in plan.splits}
    items = itertools.chain.from_iterable(splits.values())
    return Source(
        splits,
        with_band_count(plan.config.example_spec(plan.mask_rule), items),
        colors=class_colors(plan.class_file, plan.config),
        rows=plan.decision.rows if plan.decision else (),
        numbered=plan.numbered,
    )


def _own_pairs(plan: FolderPlan, split: str) -> Pairs:
    try:
        return plan.items.of_split(split, plan.splits[split])
    except SplitError as error:
        remedy = absent_images(plan, split)
        if not remedy:
            raise
        raise SplitError(split, error.problems, error.examined, remedy) from None


def _official_source(config: VocSegConfig, fetcher: Fetcher) -> Source:
    splits: dict[str, Sequence[Item]] = {}
    folders: list[epath.Path] = []
    release = cast(Release, config.official)
    reader = importlib.import_module(f"voc_seg_tfrecord.sources.{release.reader}")
    for split, (tree, name) in reader.open_trees(release, config, fetcher).items():
        ids = tree.read_ids(name)
        if config.strict:
            releases.check_ids(config.release, split, ids, tree.list_path(name))
        splits[split] = tree.pairs(split, ids, config.parts)
        folders += tree.image_folders(ids)
    spec = config.example_spec(config.index_rule(release.values or None))
    if _are_verified(folders, fetcher):
        spec = dataclasses.replace(spec, decoding="none")
    return Source(splits, spec, fetcher.verified)


def _are_verified(folders: Sequence[epath.Path], fetcher: Fetcher) -> bool:
    """Says whether all folders of images come out of archives whose sha256 was verified.

    Folders outside of the manual folder do: every archive is verified before it is unpacked.
    """
    folder = fetcher.manual_dir
    if folder is None:
        return True
    return not any(path.is_relative_to(folder) for path in folders)
