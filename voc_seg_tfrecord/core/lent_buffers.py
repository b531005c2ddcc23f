"""Buffers that are written to, lent out, and written to again when nobody holds them any more.

A system hands out memory page by page, and clears each page when it is first written to. For a
batch of images this takes several times as long as copying them.
"""

from collections.abc import Sequence
import weakref

import numpy as np


class LentBuffers:
    """A few buffers of one size, each of which is free, reserved, or lent.

    A reserved buffer is being written to, maybe by another process. A lent one is held by somebody.
    It becomes free when the array that `lend` returned and all views of it are garbage.

    Any thread may call any method.

    Args:
      buffers: uint8 `[N]` each.
    """

    def __init__(self, buffers: Sequence[np.ndarray]) -> None:
        self._buffers = buffers
        # The one that became free last is taken first: its pages are there, and maybe cached.
        self._free = list(range(len(buffers)))
        self._reserved: set[int] = set()

    @property
    def byte_count(self) -> int:
        """Bytes of each buffer; 0 if there are none."""
        return self._buffers[0].size if self._buffers else 0

    def reserve(self) -> int | None:
        """Returns the number of a free buffer, which is now reserved; None if none is free."""
        try:
            number = self._free.pop()
        except IndexError:
            return None
        self._reserved.add(number)
        return number

    def lend(self, number: int) -> np.ndarray:
        """Returns a reserved buffer, uint8 `[N]`, which is now lent."""
        # A view of a view holds the array below both, and not the view between. NumPy does not look
        # for an array below a memoryview, so that all views of this array hold it.
        lent = np.frombuffer(self._buffers[number].data, np.uint8)
        self._reserved.remove(number)
        loan = weakref.finalize(lent, self._free.append, number)
        loan.atexit = False  # at its end the process needs no buffers
        return lent

    def free(self, number: int) -> None:
        """Makes a reserved buffer free that was not written to."""
        self._reserved.remove(number)
        self._free.append(number)

    def free_reserved(self) -> None:
        """Makes all reserved buffers free; nobody may be writing to them any more."""
        while self._reserved:
            self._free.append(self._reserved.pop())
