"""`tfds.data_source` on this package's records, as docs/guides/pytorch.md shows it."""

from collections.abc import Iterable
from functools import partial
from typing import Any

from peers import Source
from peers.loader import loader


class Pairs:
    """Examples as TFDS decodes them."""

    def __init__(self, source: Source):
        import tensorflow_datasets as tfds

        builder = tfds.builder_from_directory(source.array_record)
        self._parts = [builder.as_data_source(split) for split in ("train", "validation")]

    def __len__(self) -> int:
        return sum(map(len, self._parts))

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        train, validation = self._parts
        if index >= len(self):
            raise IndexError(index)
        first = index < len(train)
        example = train[index] if first else validation[index - len(train)]
        return example["image"], example["segmentation_mask"]


def in_torch(source: Source, workers: int) -> Iterable:
    """In PyTorch's loader."""
    return loader(Pairs(source), workers)


def in_grain(source: Source, workers: int) -> Iterable:
    """In Grain, with two threads, or with worker processes of one thread."""
    import grain

    # Grain's default is to read 500 examples ahead with 16 threads, for slow disks. Here that
    # many would be read before the first is there and the clock starts.
    options = grain.ReadOptions(num_threads=1 if workers else 2, prefetch_buffer_size=8)
    dataset = grain.MapDataset.source(Pairs(source)).to_iter_dataset(options)
    return dataset.mp_prefetch(grain.MultiprocessingOptions(workers)) if workers else dataset


_RECORDS = ("tensorflow_datasets", "array_record")
WAYS = {
    "`tfds.data_source`, array_record": Pairs,
    "`tfds.data_source`, DataLoader, 2 workers": partial(in_torch, workers=2),
    "`tfds.data_source`, Grain, 2 threads": partial(in_grain, workers=0),
    "`tfds.data_source`, Grain, 2 workers": partial(in_grain, workers=2),
}
PACKAGES = dict(
    zip(
        WAYS,
        (_RECORDS, (*_RECORDS, "torch"), (*_RECORDS, "grain"), (*_RECORDS, "grain")),
        strict=True,
    )
)
