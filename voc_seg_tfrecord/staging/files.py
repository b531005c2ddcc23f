"""A file that appears under its name only when it is complete."""

from collections.abc import Iterator
import contextlib
import os

from etils import epath

from voc_seg_tfrecord.staging.signals import Held
from voc_seg_tfrecord.storage import is_bucket


@contextlib.contextmanager
def staged(file: epath.PathLike) -> Iterator[epath.Path]:
    """Lets a file be written beside its place, and moves it there when it is complete.

    Args:
      file: its place, in a folder that exists. A file that is there stays until then.

    Yields:
      The path to write it at. If the block raises, also by Ctrl-C or SIGTERM, it is removed.
      In an object store it is the place itself.
    """
    file = epath.Path(file)
    if is_bucket(file):  # where a file never appears before it is complete
        yield file
        return
    made = file.parent / f"incomplete.{os.getpid()}.{file.name}"
    with Held() as held:
        try:
            held.let_through()
            yield made
            held.waiting = True
            made.replace(file)
        finally:
            held.waiting = True
            made.unlink(missing_ok=True)
