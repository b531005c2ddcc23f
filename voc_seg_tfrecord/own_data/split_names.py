"""Which splits the lists or folders of a tree make, by their names."""

from collections.abc import Sequence

from voc_seg_tfrecord.errors import LayoutError
from voc_seg_tfrecord.trees.ratios import split_of

# Lists that hold the ids of `train` too. TFDS reads trainval as split='train+validation'.
_UNIONS = ("trainval", "trainaug", "train_aug", "trainval_aug")


# How datasets of folders call them; lists of these names keep them.
_FOLDERS = {"training": "train", "testing": "test"}


def by_folder(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that folders make, as `by_split` does; `training` makes `train`."""
    called = {_FOLDERS.get(name.lower(), name): name for name in names}
    if len(called) < len(names):
        called = {name: name for name in names}
    return {split: called[name] for split, name in by_split(list(called), where).items()}


def by_split(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that lists or folders of these names make.

    `val` and `valid` become `validation`, and known names are taken in any case: a list
    `Train` is the split `train`.

    Args:
      names: names of lists or folders.
      where: where they lie, for errors.

    Returns:
      Name by split name.

    Raises:
      LayoutError: if two of them would be one split.
    """
    splits: dict[str, str] = {}
    for name in names:
        split = split_of(name)
        if split in splits:
            raise LayoutError(
                where,
                found=f"{splits[split]!r} and {name!r}, which would both be the split {split!r}",
                expected="one list or folder for each split",
                remedy=f"say which: --splits {split}={name},...",
            )
        splits[split] = name
    return splits


def standard_lists(names: Sequence[str], where: object) -> dict[str, str]:
    """Returns the splits that lists make by default, as `by_split` names them.

    If there is a list `train`, the known lists that hold its ids too (`trainval`, `trainaug`)
    make no split.

    Args:
      names: names of the lists in the tree.
      where: the folder of the lists, for errors.

    Returns:
      List name by split name.

    Raises:
      LayoutError: if two lists would be one split.
    """
    train = any(name.lower() == "train" for name in names)
    return by_split([n for n in names if not train or n.lower() not in _UNIONS], where)
