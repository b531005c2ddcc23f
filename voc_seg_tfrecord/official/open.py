"""Opens a release with the reader that its row in `facts/releases.py` names."""

import importlib

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.official.archives import Fetcher
from voc_seg_tfrecord.trees.tree import VocTree


def release_trees(config: VocSegConfig, fetcher: Fetcher) -> dict[str, tuple[VocTree, str]]:
    """Returns the tree and the name of the list of each split of a release.

    A reader is a module of this room that has a function `open_trees(release, config,
    fetcher)`, which returns the same as this one.

    Args:
      config: a config that has a release.
      fetcher: knows the manual folder, downloads and unpacks.

    Raises:
      SourceError: if the release is neither at hand nor can be downloaded.
      LayoutError: if its tree has no list.
    """
    release = config.official
    reader = importlib.import_module(f"voc_seg_tfrecord.official.{release.reader}")
    return reader.open_trees(release, config, fetcher)
