"""Tab completion by argcomplete: commands, options, choices, and names of datasets that are built.

The shell starts the command for it, so nothing is opened but folders.
"""

import argparse
from collections.abc import Sequence
import json
from typing import Any

from etils import epath

from voc_seg_tfrecord.audit import lookup
from voc_seg_tfrecord.facts import named_lists


def complete(parser: argparse.ArgumentParser) -> None:
    """Prints what may follow the words on the command line, and ends the process."""
    import argcomplete

    argcomplete.autocomplete(parser, always_complete_options=False)


def datasets(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Returns the names of datasets that are built, and paths once a `/` is written."""
    if prefix.startswith(("/", ".", "~")):
        return _paths(prefix)
    folders = lookup.data_dirs(getattr(parsed_args, "data_dir", None))
    name, at, _ = prefix.rpartition("@")
    if at:
        return [f"{name}@{split}" for split in _splits(name, folders)]
    names = sorted({name for folder in folders for name in lookup.config_names(folder)})
    if prefix.startswith(f"{lookup.DATASET}/"):
        return [f"{lookup.DATASET}/{name}" for name in names]
    return names


def _splits(name: str, folders: Sequence[epath.Path]) -> list[str]:
    """Returns the splits of a dataset, read from the file that says them and nothing else."""
    config = name.removeprefix(f"{lookup.DATASET}/").partition(":")[0]
    for folder in folders:
        for info in sorted((folder / lookup.DATASET / config).glob(f"*/{lookup.INFO}")):
            try:
                return [split["name"] for split in json.loads(info.read_text())["splits"]]
            except (OSError, ValueError, KeyError, TypeError):  # damaged: `list` says so
                continue
    return []


def sides(prefix: str, parsed_args: argparse.Namespace, **_: Any) -> list[str]:
    """Returns names of datasets, and of the lists that come with the package."""
    return [*datasets(prefix, parsed_args), *named_lists.named()]


def _paths(prefix: str) -> list[str]:
    from argcomplete import completers

    return list(completers.FilesCompleter()(prefix))
