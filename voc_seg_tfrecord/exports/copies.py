"""A built dataset copied to another folder or bucket, so that no reader ever takes half of it.

On a disk the copy is made beside its place and renamed when it is complete. A bucket cannot rename:
there the file that makes a folder a dataset is written last. Every file is read back and
compared by its sha256, and the digests of all files are kept beside them. In the folder of a
copy, `sha256sum -c` takes that file.
"""

from collections.abc import Mapping, Sequence
import dataclasses
import functools

from etils import epath
from tqdm import tqdm

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError, RecordError
from voc_seg_tfrecord.base.storage import digest_of, is_bucket
from voc_seg_tfrecord.base.threads import ordered_map
from voc_seg_tfrecord.trees.listing import real_path

MANIFEST = "COPY_SHA256SUMS"
"""The file with the digests of all files of a copy, shards among them."""

_CHUNK = 1 << 22
_SHOWN = 3


@dataclasses.dataclass(frozen=True)
class Copied:
    """What was copied.

    Attributes:
      folder: the copy.
      files: how many files it has, without the one with the digests.
      bytes: their size.
      kept: how many of them were there already, from a copy that was broken off.
    """

    folder: str
    files: int
    bytes: int
    kept: int


def copy(
    source: epath.Path,
    target: epath.Path,
    *,
    last: str,
    needed: Sequence[str] = (),
    overwrite: bool = False,
    progress: bool = False,
) -> Copied:
    """Copies a version folder, and checks every file of the copy.

    A copy into a bucket that was broken off goes on where it was, if it is of the same dataset.

    Args:
      source: the version folder.
      target: where it is to lie, on a disk or in a bucket.
      last: the file that makes a folder a dataset.
      needed: names of files without which the dataset is not complete.
      overwrite: whether what is at `target` may be replaced.
      progress: whether to show a progress bar.

    Raises:
      ConfigError: if something else is at `target`, or it is the source.
      RecordError: if a file is missing, or a file of the copy or of a copied source is not what
        was written.
    """
    names = _names(source, needed)
    _check_places(source, target)
    there = {path.name for path in target.iterdir()} if target.exists() else set()
    foreign = sorted(there - {*names, MANIFEST})
    if not overwrite and (foreign or (there and not is_bucket(target))):
        found = "other files" if foreign else "a dataset"
        raise _occupied(target, found, foreign or sorted(there))
    expected = _read_manifest(source)
    if is_bucket(target):
        if overwrite:
            for name in [last, *foreign]:  # first of all it is no dataset any more
                (target / name).unlink(missing_ok=True)
        complete = last in there and not overwrite
        return _fill(source, target, names, last, expected, progress, compare=complete)
    with staging.staged_folder(target, replace=overwrite) as folder:
        folder.mkdir()
        made = _fill(source, folder, names, last, expected, progress)
    return dataclasses.replace(made, folder=str(target))


def _fill(
    source: epath.Path,
    folder: epath.Path,
    names: Sequence[str],
    last: str,
    expected: Mapping[str, str],
    progress: bool,
    *,
    compare: bool = False,
) -> Copied:
    """Copies the files, the last one after the digests. With `compare` none is written."""
    put = functools.partial(_put, source, folder, expected, compare)
    first = [name for name in names if name != last]
    copied: dict[str, tuple[str, int, bool]] = {}
    for name, result in tqdm(
        ordered_map(put, first, writes=True),
        total=len(first),
        desc="Copying...",
        unit=" files",
        leave=False,
        disable=not progress,
    ):
        copied[name] = result
    digest, _ = digest_of(source / last)
    digests = {name: result[0] for name, result in copied.items()} | {last: digest}
    lines = [f"{digest}  {name}\n" for name, digest in sorted(digests.items())]
    if compare:  # first, so that nothing is written beside another dataset
        copied[last] = put(last)
    (folder / MANIFEST).write_text("".join(lines))
    copied[last] = put(last)
    sizes = sum(size for _, size, _ in copied.values())
    kept = sum(kept for _, _, kept in copied.values())
    return Copied(str(folder), len(names), sizes, kept)


def _put(
    source: epath.Path, folder: epath.Path, expected: Mapping[str, str], compare: bool, name: str
) -> tuple[str, int, bool]:
    """Copies a file; returns its sha256, its size, and whether it was there already."""
    digest, size = digest_of(source / name)
    if expected.get(name, digest) != digest:
        raise _differs(source / name, digest, expected[name], "copy the dataset there again")
    path = folder / name
    if path.exists() and path.stat().length == size and digest_of(path)[0] == digest:
        return digest, size, True
    if compare:
        raise _occupied(folder, "another dataset, or one that was changed", [name])
    with (source / name).open("rb") as data, path.open("wb") as out:
        while chunk := data.read(_CHUNK):
            out.write(chunk)
    found, _ = digest_of(path)
    if found != digest:
        path.unlink()
        raise _differs(path, found, digest, "run the command again")
    return digest, size, False


def _names(source: epath.Path, needed: Sequence[str]) -> list[str]:
    """Returns the names of the files to copy."""
    names = sorted(p.name for p in source.iterdir() if p.name != MANIFEST and not p.is_dir())
    if lost := [name for name in needed if name not in names]:
        raise RecordError(
            source / lost[0],
            found=f"no such file, the first of {len(lost)}",
            expected="all files of the dataset",
            remedy="copy the dataset again, or build it again",
        )
    return names


def _read_manifest(source: epath.Path) -> dict[str, str]:
    path = source / MANIFEST
    lines = path.read_text().splitlines() if path.exists() else []
    return {name: digest for digest, _, name in (line.partition("  ") for line in lines)}


def _check_places(source: epath.Path, target: epath.Path) -> None:
    ours, theirs = real_path(source), real_path(target)
    if ours == theirs or f"{theirs}/".startswith(f"{ours}/"):
        raise ConfigError(
            target,
            found="the dataset itself, or a folder in it",
            expected="another place",
            remedy="name another folder or bucket",
        )


def _occupied(target: epath.Path, found: str, names: Sequence[str]) -> ConfigError:
    return ConfigError(
        target,
        found=f"{found}: {', '.join(names[:_SHOWN])}" + (", ..." if names[_SHOWN:] else ""),
        expected="a new or empty folder, or in a bucket a copy of this dataset",
        remedy="name another place, or replace what is there with --overwrite",
    )


def _differs(path: epath.Path, found: str, expected: str, remedy: str) -> RecordError:
    return RecordError(
        path,
        found=f"a file with the sha256 {found}",
        expected=f"the sha256 {expected}",
        remedy=remedy,
        kind="damaged copy",
    )
