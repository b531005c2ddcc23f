"""Hugging Face's datasets, on the exported Parquet files."""

from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np

from peers import Source
from peers.loader import loader


def rows(source: Source) -> Any:
    """Returns both splits as one table. The library copies it to an Arrow file of its own."""
    import datasets

    datasets.disable_progress_bars()
    # The exported mask is an index image, and image and mask are columns that it decodes.
    loaded = datasets.load_dataset(str(source.parquet), cache_dir=str(source.scratch))
    return datasets.concatenate_datasets(list(loaded.values()))


class Pairs:
    """Rows as arrays."""

    def __init__(self, source: Source):
        self._rows = rows(source).select_columns(["image", "segmentation_mask"])

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        if index >= len(self._rows):
            raise IndexError(index)
        row = self._rows[index]
        return np.array(row["image"]), np.array(row["segmentation_mask"])


def in_torch(source: Source, workers: int) -> Iterable:
    """In PyTorch's loader."""
    return loader(Pairs(source), workers)


WAYS = {
    "`datasets`, exported Parquet": Pairs,
    "`datasets`, exported Parquet, DataLoader, 2 workers": partial(in_torch, workers=2),
}
PACKAGES = dict(zip(WAYS, (("datasets",), ("datasets", "torch")), strict=True))
