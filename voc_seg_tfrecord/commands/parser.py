"""The parser of the command line: it says which command, option or value may be meant."""

import argparse
from collections.abc import Sequence
from typing import Any, NoReturn

from voc_seg_tfrecord.commands.screen import literal
from voc_seg_tfrecord.wording.near_names import did_you_mean


class Parser(argparse.ArgumentParser):
    """Parses the arguments of the command line, or of one command."""

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> tuple[Any, list[str]]:
        """Parses arguments, and refuses unknown ones with the usage of their own command."""
        found, unknown = super().parse_known_args(args, namespace)
        if unknown:
            self.error(f"unrecognized arguments: {' '.join(unknown)}{self._meant(unknown)}")
        return found, unknown

    def error(self, message: str) -> NoReturn:
        """Prints usage and message, and exits with 2."""
        super().error(literal(message))

    def _meant(self, unknown: Sequence[str]) -> str:
        words = [word.partition("=")[0] for word in unknown if word.startswith("-")]
        return did_you_mean(words[0], self._option_string_actions) if words else ""

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        try:
            super()._check_value(action, value)
        except argparse.ArgumentError as error:
            error.message += did_you_mean(str(value), map(str, action.choices or ()))
            raise
