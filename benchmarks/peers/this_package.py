"""The reader of this package without TensorFlow, as docs/guides/pytorch.md shows it.

It runs in the processes of the peers: workers of a loader are not to bear TensorFlow's threads.
"""

from collections.abc import Iterable
from functools import partial
from typing import Any

from peers import Source
from peers.loader import loader


class Pairs:
    """Images and masks by number."""

    def __init__(self, source: Source):
        import voc_seg_tfrecord

        self._source = voc_seg_tfrecord.data_source(
            str(source.tfrecord), "train+validation", features=["image", "segmentation_mask"]
        )

    def __len__(self) -> int:
        return len(self._source)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        example = self._source[index]
        return example["image"], example["segmentation_mask"]


class Decoded:
    """The decoders alone: nothing is read, and all files are in memory before the clock starts."""

    def __init__(self, source: Source):
        import voc_seg_tfrecord

        encoded = voc_seg_tfrecord.data_source(
            str(source.tfrecord),
            "train+validation",
            features=["image", "segmentation_mask"],
            decode=False,
        )
        self._files = [(example["image"], example["segmentation_mask"]) for example in encoded]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        import simplejpeg

        from voc_seg_tfrecord.formats import png_pixels
        from voc_seg_tfrecord.formats.file import File

        image, mask = self._files[index]
        return simplejpeg.decode_jpeg(image), png_pixels.decode_values(File(mask, "mask"))


def in_torch(source: Source, workers: int) -> Iterable:
    """In PyTorch's loader."""
    return loader(Pairs(source), workers)


def in_threads(source: Source) -> Iterable:
    """In two threads."""
    return _Threads(Pairs(source))


class _Threads:
    def __init__(self, pairs: Pairs):
        self._pairs = pairs

    def __iter__(self) -> Iterable:
        import concurrent.futures

        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            waiting = []
            for number in range(len(self._pairs)):
                waiting.append(pool.submit(self._pairs.__getitem__, number))
                if len(waiting) > 8:
                    yield waiting.pop(0).result()
            yield from (one.result() for one in waiting)


_NEEDS = ("tensorflow_datasets", "simplejpeg", "zlib_ng")
WAYS = {
    "limit: its decoders, from memory": Decoded,
    "`voc_seg_tfrecord.data_source`": Pairs,
    "`voc_seg_tfrecord.data_source`, 2 threads": in_threads,
    "`voc_seg_tfrecord.data_source`, DataLoader, 0 workers": partial(in_torch, workers=0),
    "`voc_seg_tfrecord.data_source`, DataLoader, 2 workers": partial(in_torch, workers=2),
}
PACKAGES = dict(zip(WAYS, (*(_NEEDS,) * 3, *((*_NEEDS, "torch"),) * 2), strict=True))
