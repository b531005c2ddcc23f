"""Pillow alone."""

from collections.abc import Iterable
from functools import partial

import numpy as np
from PIL import Image

from peers import Source
from peers.loader import loader


class Pairs:
    """Opens images and masks as torchvision's VOCSegmentation does, and makes arrays of them."""

    def __init__(self, source: Source):
        self._files = source.files()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        if index >= len(self._files):
            raise IndexError(index)
        image, mask = self._files[index]
        return np.array(Image.open(image).convert("RGB")), np.array(Image.open(mask))


def in_torch(source: Source, workers: int) -> Iterable:
    """In PyTorch's loader."""
    return loader(Pairs(source), workers)


WAYS = {"Pillow": Pairs, "Pillow, DataLoader, 2 workers": partial(in_torch, workers=2)}
PACKAGES = dict(zip(WAYS, (("PIL",), ("PIL", "torch")), strict=True))
