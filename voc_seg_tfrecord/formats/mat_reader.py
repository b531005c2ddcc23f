"""A program that reads masks in MATLAB files with SciPy, one after the other, for `mat_files`.

It is run by its path and imports nothing of this package, so that it starts fast. It first says
whether SciPy can be used. Then it gets a pickled `(whose, data)` for each file on standard input,
and answers each with a mask, or with a `str` that says why there is none. It ends when its input
does.
"""

import contextlib
import io
import pickle
import signal
import sys
from typing import Any, NamedTuple

import numpy as np


class Structure(NamedTuple):
    """What a file must hold.

    Attributes:
      variables: names of which it has one.
      field: the field with the mask, if the variables are structures; empty if they are masks.
      dtype: what the mask's values must fit into.
    """

    variables: tuple[str, ...]
    field: str
    dtype: str


STRUCTURES = {
    "SBD": Structure(("GTcls", "GTinst"), "Segmentation", "u1"),
    "Pascal Context": Structure(("LabelMap",), "", "u2"),
}
"""What files hold, by the dataset that they belong to."""

CPU_SECONDS = 0.5
"""CPU time that a file may take; SBD's take a few thousandths of a second."""

MEMORY = 1 << 30
"""Address space of the process, of which Python, NumPy and SciPy take an eighth."""


def main() -> None:
    """Answers until there is no more input."""
    with contextlib.suppress(ImportError, OSError, ValueError):  # not every system has limits
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        from scipy import io as scipy_io
    except ImportError as error:
        _answer(str(error))
        return
    _answer("")
    with contextlib.suppress(EOFError):
        while True:
            whose, data = pickle.load(sys.stdin.buffer)
            _limit_cpu(CPU_SECONDS)
            mask = _read(scipy_io, data, STRUCTURES[whose])
            _limit_cpu(0)
            _answer(mask)


def _answer(content: np.ndarray | str) -> None:
    pickle.dump(content, sys.stdout.buffer)
    sys.stdout.buffer.flush()


def _limit_cpu(seconds: float) -> None:
    """Lets the system end this process after some CPU time, whatever library it is in."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


def _read(scipy_io: Any, data: bytes, structure: Structure) -> np.ndarray | str:
    names, field, dtype = structure
    try:
        content = scipy_io.loadmat(io.BytesIO(data), variable_names=names)
        name = next((n for n in names if n in content), names[-1])
        mask = content[name][field][0, 0] if field else content[name]
        if not isinstance(mask, np.ndarray):
            return f"a {field or name} of {type(mask).__name__}"
        if mask.ndim != 2 or mask.dtype.kind not in "uif":
            return f"a {field or name} of {mask.dtype}{list(mask.shape)}"
        if not mask.size:
            return f"a {field or name} without pixels"
        if not ((mask >= 0) & (mask <= np.iinfo(dtype).max) & (mask == np.floor(mask))).all():
            return f"values from {mask.min()} to {mask.max()}"
        return mask.astype(dtype)
    except MemoryError:
        return f"not readable: it needs more than {MEMORY >> 20} MB"
    except Exception as error:  # SciPy raises whatever the damage leads it to
        message = f"not readable: {type(error).__name__}: {error}".partition("\n")[0]
        return message[:300].encode("utf-8", "backslashreplace").decode()


if __name__ == "__main__":
    main()
