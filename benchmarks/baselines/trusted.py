"""(a) This package, with images that are known to be readable: `--trust_images`."""

import pathlib

from baselines import ours


def build(root: pathlib.Path, out: pathlib.Path) -> None:
    """Builds the tree at `root` below `out`."""
    ours.build(root, out, trust_images=True)
