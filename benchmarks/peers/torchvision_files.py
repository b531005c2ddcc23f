"""torchvision: its VOCSegmentation, and its `decode_image`."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
from PIL import Image

from peers import Source
from peers.loader import loader


class Segmentation:
    """torchvision's own class over both lists, its PIL images made arrays."""

    def __init__(self, source: Source):
        from torchvision.datasets import VOCSegmentation

        self._halves = [
            VOCSegmentation(str(source.tree.parent.parent), "2012", image_set)
            for image_set in ("train", "val")
        ]

    def __len__(self) -> int:
        return sum(map(len, self._halves))

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        train, val = self._halves
        image, mask = train[index] if index < len(train) else val[index - len(train)]
        return np.array(image), np.array(mask)


class Decoded:
    """`decode_image` for images. It would make colours of palette masks, so Pillow opens those."""

    def __init__(self, source: Source):
        from torchvision import io  # here, so that no worker has to import it

        self._decode, self._rgb = io.decode_image, io.ImageReadMode.RGB
        self._files = source.files()

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[Any, np.ndarray]:
        image, mask = self._files[index]
        return self._decode(image, self._rgb), np.array(Image.open(mask))


def segmentation(source: Source, workers: int) -> Iterable:
    """VOCSegmentation in PyTorch's loader."""
    return loader(Segmentation(source), workers)


def decoded(source: Source, workers: int) -> Iterable:
    """`decode_image` in PyTorch's loader."""
    return loader(Decoded(source), workers)


WAYS = {
    "torchvision VOCSegmentation, 2 workers": partial(segmentation, workers=2),
    "torchvision `decode_image`": partial(decoded, workers=0),
    "torchvision `decode_image`, 2 workers": partial(decoded, workers=2),
}
PACKAGES = dict.fromkeys(WAYS, ("torch", "torchvision", "PIL"))
