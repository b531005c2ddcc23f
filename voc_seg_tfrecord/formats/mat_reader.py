"""A program that reads masks in MATLAB files with SciPy, one after the other, for `mat_files`.

It is run by its path, and imports nothing of this package, so that it starts fast. On standard
input it gets a `REQUEST`, which says what is wanted and how long a file is, and the file. It
answers with one of `READY`, `MASK` and `REFUSED`, 8 bytes of a length, and that many of content. It
ends when its input does.
"""

import contextlib
import io
import signal
import struct
import sys
from typing import BinaryIO, NamedTuple

import numpy as np

READY, MASK, REFUSED = b"+", b"=", b"!"
LENGTH = struct.Struct("<Q")
REQUEST = struct.Struct("<BQ")
SHAPE = struct.Struct("<QQ")


class Wanted(NamedTuple):
    """What a file must hold.

    Attributes:
      variables: names of which it has one.
      field: the field with the mask, if the variables are structures; empty if they are masks.
      dtype: what the mask's values must fit into.
    """

    variables: tuple[str, ...]
    field: str
    dtype: str


KINDS = {
    "SBD": Wanted(("GTcls", "GTinst"), "Segmentation", "<u1"),
    "Pascal Context": Wanted(("LabelMap",), "", "<u2"),
}
"""What files hold, by whose they are. A request says the place in this dictionary."""

SECONDS = 0.5
"""CPU time that a file may take; SBD's take a few thousandths of a second."""

MEMORY = 1 << 30
"""Address space of the process, of which Python, NumPy and SciPy take an eighth."""


def main() -> None:
    """Answers until there is no more input."""
    answers, requests = sys.stdout.buffer, sys.stdin.buffer
    _bound_memory()
    try:
        from scipy import io as scipy_io
    except ImportError as error:
        answer(answers, REFUSED, str(error).encode())
        return
    answer(answers, READY, b"")
    while request := requests.read(REQUEST.size):
        place, length = REQUEST.unpack(request)
        data = requests.read(length)
        _set_timer(SECONDS)
        kind, content = _read(scipy_io, data, list(KINDS.values())[place])
        _set_timer(0)
        answer(answers, kind, content)


def answer(stream: BinaryIO, kind: bytes, content: bytes) -> None:
    """Writes one answer."""
    stream.write(kind + LENGTH.pack(len(content)) + content)
    stream.flush()


def _read(scipy_io, data: bytes, wanted: Wanted) -> tuple[bytes, bytes]:
    try:
        content = scipy_io.loadmat(io.BytesIO(data), variable_names=wanted.variables)
        name = next((n for n in wanted.variables if n in content), wanted.variables[-1])
        mask = content[name][wanted.field][0, 0] if wanted.field else content[name]
        if not isinstance(mask, np.ndarray) or mask.ndim != 2 or mask.dtype.kind not in "uif":
            return REFUSED, f"a {wanted.field or name} of {_described(mask)}".encode()
        if not mask.size:
            return REFUSED, f"a {wanted.field or name} without pixels".encode()
        largest = np.iinfo(wanted.dtype).max
        if not ((mask >= 0) & (mask <= largest) & (mask == np.floor(mask))).all():
            return REFUSED, f"values from {mask.min()} to {mask.max()}".encode()
        return MASK, SHAPE.pack(*mask.shape) + mask.astype(wanted.dtype).tobytes()
    except MemoryError:
        return REFUSED, f"not readable: it asks for more than {MEMORY >> 20} MB".encode()
    except Exception as error:  # SciPy raises whatever the damage leads it to
        said = f"not readable: {type(error).__name__}: {error}".partition("\n")[0]
        return REFUSED, said[:300].encode("utf-8", "backslashreplace")


def _described(value: object) -> str:
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{list(value.shape)}"
    return type(value).__name__


def _bound_memory() -> None:
    """Makes a file that asks for gigabytes fail, on systems that can."""
    with contextlib.suppress(ImportError, OSError, ValueError):
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _set_timer(seconds: float) -> None:
    """Lets the system end this process after some CPU time, whatever library it is in."""
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_PROF, seconds)


if __name__ == "__main__":
    main()
