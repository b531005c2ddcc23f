"""What TFDS shows while it builds: one progress bar at a time, and no lines in the answer.

TFDS nests a bar for the examples of a split in one for the splits, names the unfinished folder in a
third, and prints where it writes before and after. A command says that itself.
"""

from collections.abc import Iterator
import contextlib
import io
import re
import types
from typing import Any

from tensorflow_datasets.core.utils import tqdm_utils

# The bar around the others, and those of downloads: `official.transfer` has one of its own.
_HIDDEN = re.compile("Generating splits|Dl Completed|Dl Size|Extraction completed")
_SHUFFLING = re.compile(r"Shuffling .*-(\w+)\.\w+(?:-\S*)?\.\.\.")


@contextlib.contextmanager
def one_bar() -> Iterator[None]:
    """Lets TFDS show one bar at a time, and print nothing."""
    from tqdm import auto  # it brings asyncio, which most commands do without

    class Bar(auto.tqdm):
        def __init__(self, *args: Any, desc: str = "", **options: Any):
            if _HIDDEN.match(desc):
                options["disable"] = True
            name = _SHUFFLING.sub(r"Writing \1", desc).replace("Generating", "Reading")
            super().__init__(*args, desc=name.rstrip("."), **{**options, "leave": False})

    before = tqdm_utils.tqdm_lib
    tqdm_utils.tqdm_lib = types.SimpleNamespace(tqdm=Bar)
    try:
        with contextlib.redirect_stdout(io.StringIO()):
            yield
    finally:
        tqdm_utils.tqdm_lib = before
