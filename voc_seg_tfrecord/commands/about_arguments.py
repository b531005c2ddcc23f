"""The arguments of `build` for what a dataset says of itself."""

import argparse
from typing import Any

_MEANINGS = {
    "description": "what the data is",
    "citation": "how it is to be cited, in BibTeX",
    "homepage": "address of its page",
    "license": "its licence: the name or the text",
}


def add(parser: argparse.ArgumentParser) -> None:
    """Adds the arguments to a command."""
    group = parser.add_argument_group("what the dataset says of itself")
    for field, meaning in _MEANINGS.items():
        group.add_argument(f"--{field}", metavar="TEXT", help=f"{meaning}; default: none")


def fields(args: argparse.Namespace) -> dict[str, Any]:
    """Returns what the user said, as fields of a config."""
    said = {field: getattr(args, field) for field in _MEANINGS}
    return {field: value for field, value in said.items() if value is not None}
