"""Keeps the memory of arrays that come and go, where the C library would give it back each time.

A system hands out memory page by page, and clears each page when it is first written to. glibc
gives freed memory at the end of its heap back to the system if it is more than twice the largest
block that was mapped and freed before. A decoded image is such a block, so that, as chance will
have it, each one is given back: 100 to 250 pages for an image of VOC, a third of the time of
decoding it.
"""

import numpy as np

_LARGEST_KEPT_BYTES = 31 << 20
"""Bytes of a block from which glibc learns; of 32 MB and more it learns nothing."""


def keep_freed_memory() -> None:
    """Lets glibc keep up to 62 MB of freed memory for later arrays; other C libraries ignore it.

    Memory of a process that is forked later is kept, too.
    """
    # This block is mapped and freed. None of its pages is ever written to.
    np.empty(_LARGEST_KEPT_BYTES, np.uint8)
