"""Asks the user where a step cannot choose, and keeps what stops a build."""

from collections.abc import Callable, Sequence
import dataclasses
from typing import Generic, NamedTuple, TypeVar

from etils import epath

from voc_seg_tfrecord.base.errors import ConfigError, VocSegError, counted

_SHOWN = 8  # rivals that a message lists
_Error = TypeVar("_Error", bound=VocSegError)
_Taken = TypeVar("_Taken")


@dataclasses.dataclass(frozen=True)
class Choice(Generic[_Taken]):
    """What a step takes, and what a user should know of it.

    A step that cannot choose raises the question between its rivals; `Problems` keeps it.
    """

    taken: _Taken
    notes: Sequence[str] = ()


class Rival(NamedTuple):
    """A reading between which and others the user has to choose: what it reads; what says it."""

    found: str
    options: str  # quoted for the shell


def question(
    error: type[_Error],
    where: epath.PathLike,
    rivals: Sequence[Rival],
    *,
    to: str,
    expected: str,
    kind: str,
) -> _Error:
    """Returns the error that asks which of several ways `to` do something is meant: a line each."""
    lines = [f"{rival.found}: {rival.options}" for rival in rivals[:_SHOWN]]
    lines += [f"and {len(rivals) - _SHOWN} more"] if len(rivals) > _SHOWN else []
    by_option = any(rival.options.startswith("--") for rival in rivals)
    return error(
        where,
        found="\n    ".join([f"{counted(len(rivals), 'way')} to {to}:", *lines]),
        expected=expected,
        remedy="choose by the options in a line" if by_option else "do what a line says",
        kind=kind,
    )


class Problems:
    """What stops a build, in the order in which the steps find it.

    Args:
      reads_on: whether the next step goes on with less; otherwise the first problem is raised.

    Attributes:
      found: the errors, each once.
    """

    def __init__(self, *, reads_on: bool = False):
        self._reads_on = reads_on
        self.found: list[VocSegError] = []

    def of(self, step: Callable[..., _Taken], *args: object) -> _Taken | None:
        """Returns what a step takes; None if it cannot, and the others go on.

        Raises:
          ConfigError: if the config is wrong before anything else is.
          VocSegError: if a step cannot go on, and no other shall.
        """
        try:
            return step(*args)
        except VocSegError as error:
            if not self._reads_on or (isinstance(error, ConfigError) and not self.found):
                raise
            if str(error) not in map(str, self.found):
                self.found.append(error)
            return None
