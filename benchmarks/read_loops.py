"""Loops over a tree's files in Python, as other libraries read VOC; for read.py.

    python benchmarks/read_loops.py ROOT NAME

This runs one of them and prints the seconds per example. Each runs in a process of its own, for
two reasons. torch and TensorFlow bring two copies of LLVM, with which one process crashes. And
none of them should bear the threads of another.
"""

from collections.abc import Callable, Iterable, Iterator, Sized
import concurrent.futures
import importlib.util
import pathlib
import subprocess
import sys
import tempfile
import time

import numpy as np
from PIL import Image


class PillowPairs:
    """Opens images and masks as torchvision's VOCSegmentation does, and makes arrays of them."""

    def __init__(self, root: pathlib.Path):
        ids = sorted(path.stem for path in (root / "SegmentationClass").iterdir())
        self._files = [
            (root / "JPEGImages" / f"{i}.jpg", root / "SegmentationClass" / f"{i}.png") for i in ids
        ]

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        image, mask = self._files[index]
        return np.array(Image.open(image).convert("RGB")), np.array(Image.open(mask))


class TorchvisionPairs:
    """torchvision's own class over both lists, its PIL images made arrays."""

    def __init__(self, root: pathlib.Path):
        from torchvision.datasets import VOCSegmentation

        self._halves = [
            VOCSegmentation(str(root.parent.parent), "2012", image_set)
            for image_set in ("train", "val")
        ]

    def __len__(self) -> int:
        return sum(map(len, self._halves))

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        train, val = self._halves
        image, mask = train[index] if index < len(train) else val[index - len(train)]
        return np.array(image), np.array(mask)


def pillow(root: pathlib.Path) -> tuple[Sized, Iterable]:
    """One thread, one process."""
    pairs = PillowPairs(root)
    return pairs, (pairs[index] for index in range(len(pairs)))


def pillow_processes(root: pathlib.Path) -> tuple[Sized, Iterable]:
    """Two worker processes that send arrays back."""
    pairs = PillowPairs(root)

    def results() -> Iterator[tuple[np.ndarray, np.ndarray]]:
        with concurrent.futures.ProcessPoolExecutor(2) as pool:
            yield from pool.map(pairs.__getitem__, range(len(pairs)), chunksize=16)

    return pairs, results()


def pillow_torch(root: pathlib.Path) -> tuple[Sized, Iterable]:
    """PyTorch's loader, whose two workers send tensors through shared memory."""
    return _loader(PillowPairs(root), 2)


def torchvision_0(root: pathlib.Path) -> tuple[Sized, Iterable]:
    """Torchvision in the loader's own process."""
    return _loader(TorchvisionPairs(root), 0)


def torchvision_2(root: pathlib.Path) -> tuple[Sized, Iterable]:
    """Torchvision in two workers."""
    return _loader(TorchvisionPairs(root), 2)


def keras_cv(root: pathlib.Path) -> tuple[Sized, Iterable]:
    """KerasCV's loader. It reads `Annotations` too, and decodes instance masks in any case."""
    import xml.etree.ElementTree  # noqa: F401 - KerasCV 0.9 uses it and forgets to import it

    from keras_cv.datasets.pascal_voc import segmentation

    folder = pathlib.Path(tempfile.mkdtemp())
    copy = folder / "VOCdevkit" / "VOC2012"
    (copy / "Annotations").mkdir(parents=True)
    for name in ("JPEGImages", "SegmentationClass", "SegmentationObject", "ImageSets"):
        (copy / name).symlink_to((root / name).resolve())
    for image in (root / "JPEGImages").iterdir():
        (copy / "Annotations" / f"{image.stem}.xml").write_text(_ANNOTATION)
    dataset = segmentation.load("train", str(folder))
    return dataset, dataset.as_numpy_iterator()


LOOPS: dict[str, tuple[Callable, tuple[str, ...]]] = {
    "Pillow": (pillow, ()),
    "Pillow, 2 processes": (pillow_processes, ()),
    "Pillow, torch DataLoader, 2 workers": (pillow_torch, ("torch",)),
    "torchvision VOCSegmentation, 0 workers": (torchvision_0, ("torch", "torchvision")),
    "torchvision VOCSegmentation, 2 workers": (torchvision_2, ("torch", "torchvision")),
    "KerasCV pascal_voc, train": (keras_cv, ("keras_cv",)),
}
"""Every loop, and the packages it needs."""


def names() -> list[str]:
    """Returns the loops whose packages are installed."""
    return [
        name
        for name, (_, packages) in LOOPS.items()
        if all(importlib.util.find_spec(package) for package in packages)
    ]


def seconds_an_example(root: pathlib.Path, name: str) -> float:
    """Runs a loop in another process."""
    command = [sys.executable, __file__, str(root), name]
    result = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return float(result.stdout.split()[-1])


def _loader(dataset: Sized, workers: int) -> tuple[Sized, Iterable]:
    from torch.utils import data

    return dataset, data.DataLoader(dataset, batch_size=None, num_workers=workers)


_ANNOTATION = """<annotation><size><width>500</width><height>375</height></size><object>
<name>cat</name><pose>Left</pose><truncated>0</truncated><difficult>0</difficult><bndbox>
<xmin>1</xmin><ymin>1</ymin><xmax>9</xmax><ymax>9</ymax></bndbox></object></annotation>"""


if __name__ == "__main__":
    loop, _ = LOOPS[sys.argv[2]]
    dataset, examples = loop(pathlib.Path(sys.argv[1]))
    start = time.perf_counter()  # imports, lists and XML files are not counted
    for _ in examples:
        pass
    print((time.perf_counter() - start) / len(dataset))
