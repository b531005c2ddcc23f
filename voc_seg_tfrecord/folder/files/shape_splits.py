"""Reads the splits that a labeling tool's files of many images state, by their names or subsets."""

from collections.abc import Mapping, Sequence
import posixpath

from voc_seg_tfrecord.core.split_names import (
    UNIONS,
    as_split_name,
    list_splits_in,
    only_split_in,
    parse_split_name,
    split_but_for_number,
)
from voc_seg_tfrecord.folder.files.folder_names import split_of
from voc_seg_tfrecord.folder.files.paths import stem
from voc_seg_tfrecord.folder.files.shape_matches import ShapeSource
from voc_seg_tfrecord.folder.tree.labels import LabelSplit


def splits_of_sources(
    paths_by_source: Mapping[ShapeSource, Sequence[str]], id_by_path: Mapping[str, str]
) -> list[LabelSplit]:
    """Returns the splits that the names of files state, or those of subsets in files.

    Images without one are left to the step that chooses splits.

    Args:
      paths_by_source: the images of each file, and of each subset in one.
      id_by_path: the id of each image.
    """
    splits: list[LabelSplit] = []
    for source, paths in paths_by_source.items():
        split_name = _split_of_source(source)
        if split_name:
            ids = [id_by_path[path] for path in paths]
            splits.append(LabelSplit(split_name, source.file, source.subset, ids))
    if len(paths_by_source) == 1:
        return _keep_held_out_splits(splits)
    return _drop_unions(splits)


def _keep_held_out_splits(splits: Sequence[LabelSplit]) -> list[LabelSplit]:
    """Keeps validation and test of the only source of a folder.

    One source divides nothing, so its images are to be divided: `train.json` alone states no split.
    But images that are called validation or test must not become train.
    """
    held_out = ("validation", "test")
    return [split for split in splits if split_but_for_number(split.split) in held_out]


def _drop_unions(splits: Sequence[LabelSplit]) -> list[LabelSplit]:
    """Drops splits such as `trainval` if a source of train or validation alone is beside them."""
    has_train_or_validation = any(split.split in ("train", "validation") for split in splits)
    if not has_train_or_validation:
        return list(splits)
    return [split for split in splits if split.split not in UNIONS]


def _split_of_source(source: ShapeSource) -> str:
    """Returns the split that the name of a subset, a file or its folder states; or nothing.

    The first of these that applies:

    1. A subset is a split, whatever its name: `Train` is train, and `north` is `north`.
    2. The file's name is a split: `instances_val2017.json`.
    3. The file's name has two splits, as `train_test.json`: which image is in which is unknown.
    4. A folder above has the name of a split, the nearest first: `val/labels.json`.

    Other than for files of records (`file_splits`), a name with two splits is no error.
    """
    if source.subset:
        return only_split_in(source.subset) or as_split_name(source.subset)
    folder, name = posixpath.split(source.file)
    split = parse_split_name(stem(name)).split
    if split:
        return split
    if list_splits_in(stem(name)):
        return ""
    for part in reversed(folder.split("/")):
        split_of_folder = only_split_in(part) or split_of(part)
        if split_of_folder:
            return split_of_folder
    return ""
