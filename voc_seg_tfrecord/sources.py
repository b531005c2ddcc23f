"""Where a build's tree comes from: an unpacked one, an archive at hand, or a download."""

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.configs import SAMPLE, VocSegConfig
from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.examples.source import Source
from voc_seg_tfrecord.facts import official_splits, tables
from voc_seg_tfrecord.masks.rule import index_rule
from voc_seg_tfrecord.official.open import release_trees
from voc_seg_tfrecord.own_data.plan import Plan, make_plan, open_tree
from voc_seg_tfrecord.trees.layout import IMAGES, LISTS, MASKS

MANUAL_DOWNLOAD_INSTRUCTIONS = f"""\
--manual_dir may be one of:
  * an unpacked devkit: the folder that holds VOCdevkit, VOCdevkit itself, or VOC2012;
  * a folder with the release's own archive, such as VOCtrainval_11-May-2012.tar;
  * for own data, a folder with {IMAGES}, {MASKS} and {LISTS}.
With none of them, releases whose archive is registered are downloaded."""


def open_source(config: VocSegConfig, dl_manager: tfds.download.DownloadManager) -> Source:
    """Finds the files of every split of a config, and checks its lists.

    Args:
      config: the config to build.
      dl_manager: TFDS's, which knows the manual folder and downloads.

    Returns:
      The source. No image or mask has been decoded for it but those of own data, if what
      its masks mean had to be found out.

    Raises:
      SourceError: if a release is neither at hand nor can be downloaded.
      LayoutError: if there is no tree, or more than one, for own data.
      ListError: if the lists of a strict config are not the official ones.
      SplitError: if files are missing.
    """
    manual = manual_dir(dl_manager)
    if config.name == SAMPLE:
        manual = tables.folder("dummy_data")
    elif not config.release and manual is None:
        raise LayoutError(
            f"config {config.name!r}",
            found="no --manual_dir, or an empty one",
            expected=f"a folder with {IMAGES}, {MASKS} and {LISTS}",
            remedy="give the folder with --manual_dir",
        )
    if not config.release:
        return own_source(make_plan(open_tree(manual, config), config), config)
    trees = release_trees(config, manual, dl_manager)
    rule = index_rule(len(config.class_names), official=True)
    splits = {}
    for split, (tree, name) in trees.items():
        ids = tree.read_ids(name)
        if config.strict:
            official_splits.check_ids(config.release, split, ids, tree.list_path(name))
        splits[split] = tree.pairs(
            split, ids, instances=config.instance_mask, annotations=config.objects
        )
    return Source(splits, config.example_spec(rule))


def own_source(decided: Plan, config: VocSegConfig) -> Source:
    """Returns the source that a plan describes.

    Raises:
      SplitError: if files are missing.
    """
    splits = {
        split: decided.tree.pairs(
            split,
            ids,
            instances=config.instance_mask,
            annotations=config.objects,
            background=config.missing_mask == "background",
        )
        for split, ids in decided.splits.items()
    }
    return Source(splits, config.example_spec(decided.rule))


def manual_dir(dl_manager: tfds.download.DownloadManager) -> epath.Path | None:
    """Returns the manual folder, None where it is missing or empty."""
    try:
        return epath.Path(dl_manager.manual_dir)
    except AssertionError:  # what TFDS raises for both
        return None
