"""Finds the version folder that a name of a built dataset stands for.

1. A path of a version folder stands for the dataset in it, and that of a config's folder for its
   latest version.
2. `voc_seg_tfrecord/cv3` and `voc_seg_tfrecord/cv3:1.0.0` are names as TFDS writes them.
3. `cv3` and `cv3:1.0.0` are short for these.

A name that stands for two datasets is refused, and both are named. A folder without a
`dataset_info.json` is no dataset, whatever its name is.
"""

from collections.abc import Iterable, Iterator
import os
import re

from etils import epath
from tensorflow_datasets.core import naming, read_only_builder
from tensorflow_datasets.core.utils import error_utils, file_utils

from voc_seg_tfrecord.core.errors import ConfigError, did_you_mean
from voc_seg_tfrecord.core.releases import RELEASES
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.core.storage import PathLike, real_path
from voc_seg_tfrecord.reading.dataset_files import INFO

DATASET = "voc_seg_tfrecord"
"""The name of this package's dataset, before the config's."""

VERSION = re.compile(r"\d+\.\d+\.\d+")
"""The name of a version folder."""

_SHORT_NAME = re.compile(r"[\w-][\w.-]*(?::[\d*]+\.[\d*]+\.[\d*]+)?")


def find_dataset(name: str, data_dir: PathLike | None = None) -> epath.Path:
    """Returns the version folder of a built dataset by a name or a path, as the module says.

    Raises:
      ConfigError: if there is no such dataset, or if the name stands for two.
    """
    name = os.fspath(name)
    folders: dict[str, epath.Path] = {}
    for folder in _find_candidates(name, data_dir):
        folders.setdefault(real_path(folder), folder)
    if len(folders) > 1:
        raise ConfigError(
            name,
            found=f"a name of {len(folders)} datasets: {' and '.join(folders)}",
            expected="a name that stands for one dataset",
            remedy=f"write {DATASET}/{name}, or the path of a version folder with a / in it, "
            f"such as ./{name}",
        )
    if not folders:
        raise _not_found_error(name, data_dir)
    return next(iter(folders.values()))


def split_name(name: str) -> tuple[str, list[str]]:
    """Divides `DATASET@SPLIT` into the dataset's name and its splits; `+` joins several.

    A folder may have an `@` in its name, but no split has a `/`.
    """
    dataset, at, splits = os.fspath(name).rpartition("@")
    if not at or "/" in splits or os.sep in splits:
        return os.fspath(name), []
    return dataset, splits.split("+")


def data_dirs(data_dir: PathLike | None = None) -> list[epath.Path]:
    """Returns the folders in which datasets are looked for: the one given, or TFDS's."""
    return [epath.Path(folder).expanduser() for folder in file_utils.list_data_dirs(data_dir)]


def config_names(folder: epath.Path) -> list[str]:
    """Returns the names of the configs that have a folder in a `data_dir`, sorted."""
    try:
        names = [path.name for path in (folder / DATASET).iterdir() if path.is_dir()]
    except (OSError, ValueError):  # not there, no folder, no rights: nothing to be named
        return []
    return sorted(name for name in names if not name.startswith((".", "incomplete.")))


def _find_candidates(name: str, data_dir: PathLike | None) -> Iterator[epath.Path]:
    """Yields the version folders that a name may stand for, by the three rules of the module."""
    if name:
        path = epath.Path(name).expanduser()
        if (path / INFO).exists():
            yield path
        else:
            yield from versions_in(path)[-1:]
    if _has_folder(name, data_dir):
        yield from _find_by_tfds(name, data_dir)
    if _SHORT_NAME.fullmatch(name):
        yield from _find_by_tfds(f"{DATASET}/{name}", data_dir)


def versions_in(folder: epath.Path) -> list[epath.Path]:
    """Returns the versions of a config that are built in its folder, the latest at the end."""
    paths = folder.iterdir() if folder.is_dir() else ()
    return [path for path in by_version(paths) if (path / INFO).exists()]


def by_version(paths: Iterable[epath.Path]) -> list[epath.Path]:
    """Returns those of some folders that have the name of a version, the latest at the end."""
    folders = [path for path in paths if VERSION.fullmatch(path.name)]
    return sorted(folders, key=lambda path: [int(part) for part in path.name.split(".")])


def _has_folder(name: str, data_dir: PathLike | None) -> bool:
    """Whether a dataset has a folder. To ask TFDS costs the import of all its datasets."""
    dataset = naming.camelcase_to_snakecase(re.split("[/:]", name)[0])
    if not dataset:
        return False
    return any((folder / dataset).exists() for folder in data_dirs(data_dir))


def _find_by_tfds(name: str, data_dir: PathLike | None) -> Iterator[epath.Path]:
    """Yields the folder of a dataset by its name as TFDS writes it, if there is one."""
    try:
        # TFDS's public function opens it too, and says of a damaged one that there is none.
        with error_utils.reraise_with_context(ValueError):  # it wants to add to errors
            folder = read_only_builder._find_builder_dir(name, data_dir=data_dir)
    except ValueError:  # no name that TFDS takes
        return
    if folder:
        yield folder


def _not_found_error(name: str, data_dir: PathLike | None) -> ConfigError:
    searched = " or ".join(map(str, data_dirs(data_dir)))
    if _is_folder(name):
        found = f"a folder, but not that of a built dataset, nor the name of one in {searched}"
    else:
        hint = _hint(name, data_dir)
        found = f"no such dataset in {searched}, and no version folder at this path{hint}"
    return ConfigError(
        name,
        found=found,
        expected=f"a built dataset such as {DATASET}/2012",
        remedy=f"{_advise(name)}, or name your datasets' folder with --data_dir; "
        "`voc-seg-tfrecord list` shows what is built",
    )


def _advise(name: str) -> str:
    """Returns what to do about a name of which there is no dataset."""
    dataset, splits = split_name(name)
    if splits:
        return f"leave @{'+'.join(splits)} out: {dataset}"
    config = name.removeprefix(f"{DATASET}/")
    if config in RELEASES:
        return f"build it with `{command('voc-seg-tfrecord', 'build', release=config)}`"
    if _is_folder(name):
        build = command("voc-seg-tfrecord", "build", epath.Path(name), name="NAME")
        return f"if it holds images and masks, build it first with `{build}`"
    return "build it with `voc-seg-tfrecord build`"


def _is_folder(name: str) -> bool:
    return bool(name) and epath.Path(name).expanduser().is_dir()


def _hint(name: str, data_dir: PathLike | None) -> str:
    """Returns what may be meant by a name that is not found; empty if nobody knows."""
    if "@" in name:
        return "; this command reads all splits, or names a split by an option of its own"
    config = name.rstrip("/").rpartition("/")[2].partition(":")[0]
    built = set()
    for folder in data_dirs(data_dir):
        for config_name in config_names(folder):
            if versions_in(folder / DATASET / config_name):
                built.add(config_name)
    if config in built:
        return f"; {DATASET}/{config} is there, perhaps in another version"
    return did_you_mean(config, sorted(built))
