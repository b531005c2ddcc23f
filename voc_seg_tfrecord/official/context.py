"""The reader of `context59` and `context60`: Pascal Context, whose labels have to be at hand."""

from collections.abc import Collection

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import ListError, SourceError
from voc_seg_tfrecord.facts import official_splits
from voc_seg_tfrecord.facts.releases import Release
from voc_seg_tfrecord.official import archives, context_tree, devkit
from voc_seg_tfrecord.official.archives import Fetcher
from voc_seg_tfrecord.official.context_tree import ContextTree
from voc_seg_tfrecord.trees.layout import find_release


def open_trees(
    release: Release, config: VocSegConfig, fetcher: Fetcher
) -> dict[str, tuple[ContextTree, str]]:
    """Returns the tree and the list of each split; see `open.release_trees`."""
    tree = _tree(release, fetcher)
    context_tree.check_names(tree.labels)
    if config.strict:
        lists = [tree.read_ids(name) for name in release.splits.values()]
        check_lists(release.name, *lists, tree.list_path("train").parent)
    return {split: (tree, name) for split, name in config.split_lists.items()}


def check_lists(name: str, train: Collection[str], val: Collection[str], where: object) -> None:
    """Checks that two lists are published together, and share no id.

    Two versions of the split were published. No source gives a hash of either.

    Args:
      name: the release's name.
      train: ids.
      val: ids.
      where: the lists' folder, for the error.

    Raises:
      ListError: if the lists share ids, or have the counts of two versions.
    """
    both = set(train) & set(val)
    of_train, of_val = (
        official_splits.splits()[name, split].counts for split in ("train", "validation")
    )
    versions = list(zip(of_train, of_val, strict=True))
    if both or (len(train), len(val)) not in versions:
        said = " or ".join(f"{t} and {v}" for t, v in versions)
        raise ListError(
            where,
            found=f"train.txt with {len(train)} ids and val.txt with {len(val)}, "
            f"which share {len(both)}",
            expected=f"lists of {said} ids that share none",
            remedy="take both lists from one place, or build this folder as a part of Pascal "
            "Context under another name: "
            f'--config \'{{"name": "part", "release": "{name}", "strict": false}}\'',
        )


def _tree(release: Release, fetcher: Fetcher) -> ContextTree:
    """Returns VOC2010's tree with the labels. They are looked for first: no one serves them."""
    manual = fetcher.manual_dir
    root = find_release(manual, release.year) if manual is not None else None
    folders = [*([root, root.parent] if root else []), *([manual] if manual else [])]
    labels = context_tree.find_labels(folders)
    if labels is None:
        place = archives.place_of(fetcher)
        raise SourceError(
            "Pascal Context",
            found=f"no labels in {place}",
            expected=f"VOC{release.year}/{context_tree.PNGS} with mmsegmentation's PNGs, or the "
            f"original MATLAB files in the folder {' or '.join(context_tree.MATS)}",
            remedy=f"get the labels from {release.page}, and put them and VOC{release.year} "
            f"into {place}",
        )
    if root is None:
        (archive,) = release.archives
        root = devkit.open_archive(release, archive, fetcher).root
    return ContextTree(root, labels)
