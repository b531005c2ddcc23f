"""Which split the records of a file belong to, by the names of the file and of its folder."""

from collections.abc import Iterable, Sequence
import posixpath

from voc_seg_tfrecord.core.errors import ConfigError, several
from voc_seg_tfrecord.core.split_names import list_splits_in
from voc_seg_tfrecord.sources.records.scan import RecordItem


def divide_by_file(items: Iterable[RecordItem]) -> dict[str, list[RecordItem]]:
    """Returns records by the splits that the names of their files say; see `splits_of_files`."""
    items = list(items)
    files = {item.record.file for item in items}
    split_by_file = splits_of_files(sorted(files))
    items_by_split: dict[str, list[RecordItem]] = {}
    for item in items:
        items_by_split.setdefault(split_by_file[item.record.file], []).append(item)
    return items_by_split


def splits_of_files(files: Sequence[str]) -> dict[str, str]:
    """Returns the split of each file; `train` if no name of a file or folder says a split.

    The name of a file counts, or else that of its folder if the files lie in several:
    `test-00000.tfrecord` holds the test split, and so does `test/data.tfrecord` beside
    `train/data.tfrecord`.

    Raises:
      ConfigError: if a name says two splits, or one file has a split and another has none.
    """
    are_in_several_folders = len({posixpath.dirname(file) for file in files}) > 1
    splits = {}
    for file in files:
        names = [posixpath.basename(file)]
        if are_in_several_folders:
            names.append(posixpath.basename(posixpath.dirname(file)))
        splits[file] = _split_of(file, names)
    unknown = [file for file, split in splits.items() if not split]
    if len(unknown) == len(files):
        return dict.fromkeys(files, "train")
    if unknown:
        known = sorted({split for split in splits.values() if split})
        raise ConfigError(
            several(unknown),
            found=f"no split in the name, although other files are named after {', '.join(known)}",
            expected="a name with a word such as train, val or test in each file or its folder",
            remedy="rename it, such as train-00000.tfrecord, or import it by itself",
        )
    return splits


def _split_of(file: str, names: Sequence[str]) -> str:
    """Returns the split of a file by the first name that says one; empty if none does.

    Other than for annotation files (`polygon_sets`), a name with two splits is an error.

    Raises:
      ConfigError: if that name says several.
    """
    for name in names:
        found = list_splits_in(name)
        if len(found) > 1:
            raise ConfigError(
                file,
                found=f"a name with several splits in it: {', '.join(sorted(found))}",
                expected="a name with one split in it",
                remedy="rename it, such as train-00000.tfrecord, or divide the records of all "
                "files with --splits train=0.8,validation=0.2",
            )
        if found:
            return found[0]
    return ""
