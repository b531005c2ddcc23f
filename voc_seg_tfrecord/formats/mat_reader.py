"""A program that reads masks of SBD with SciPy, one after the other, for `mat_files`.

It is run by its path, and imports nothing of this package, so that it starts fast. On standard
input it gets 8 bytes of a length and that many of a file. It answers with one of `READY`, `MASK`
and `REFUSED`, 8 bytes of a length, and that many of content. It ends when its input does.
"""

import contextlib
import io
import signal
import struct
import sys
from typing import BinaryIO

import numpy as np

READY, MASK, REFUSED = b"+", b"=", b"!"
LENGTH = struct.Struct("<Q")
SHAPE = struct.Struct("<QQ")

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
    while length := requests.read(LENGTH.size):
        data = requests.read(*LENGTH.unpack(length))
        _set_timer(SECONDS)
        kind, content = _read(scipy_io, data)
        _set_timer(0)
        answer(answers, kind, content)


def answer(stream: BinaryIO, kind: bytes, content: bytes) -> None:
    """Writes one answer."""
    stream.write(kind + LENGTH.pack(len(content)) + content)
    stream.flush()


def _read(scipy_io, data: bytes) -> tuple[bytes, bytes]:
    try:
        content = scipy_io.loadmat(io.BytesIO(data), variable_names=("GTcls", "GTinst"))
        name = "GTcls" if "GTcls" in content else "GTinst"
        mask = content[name]["Segmentation"][0, 0]
        if not isinstance(mask, np.ndarray) or mask.ndim != 2 or mask.dtype.kind not in "uif":
            return REFUSED, f"a Segmentation of {_described(mask)}".encode()
        if not mask.size:
            return REFUSED, b"a Segmentation without pixels"
        if not ((mask >= 0) & (mask <= 255) & (mask == np.floor(mask))).all():
            return REFUSED, f"values from {mask.min()} to {mask.max()}".encode()
        return MASK, SHAPE.pack(*mask.shape) + mask.astype(np.uint8).tobytes()
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
