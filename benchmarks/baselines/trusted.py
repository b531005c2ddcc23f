"""(a) This package, with images that are known to be readable: `--trust_images`."""

import pathlib

from baselines import ours


def build(root: pathlib.Path, out: pathlib.Path, workers: int = 1) -> None:
    """Builds the tree at `root` below `out`, with so many processes."""
    ours.build(root, out, workers, trust_images=True)
