"""How libraries read the same images and masks in a Python loop, each in a process of its own.

read.py starts `python peers.py NAME TREE FOLDER` with an interpreter that has the peer's packages.
torch and TensorFlow bring two copies of LLVM, with which one process may crash, and no peer should
bear the threads of another. So libraries are imported where they are used, TensorFlow never.

A peer is a function from a `Source` to pairs, which are iterated over many times: an image, uint8
`[H, W, 3]` or `[3, H, W]`, and a mask of class indices.
"""

from collections.abc import Callable, Iterable, Iterator
import contextlib
import dataclasses
import io
import itertools
import json
import os
import pathlib
import struct
import subprocess
import sys
import tempfile
from typing import Any

from measuring import Figures, through
import numpy as np


@dataclasses.dataclass(frozen=True)
class Source:
    """The same images and masks in several forms; read.py writes them."""

    tree: pathlib.Path
    """The root of the VOC tree."""
    folder: pathlib.Path
    """Holds the dataset `tfrecord`, `array_record` that TFDS made of it, what `export` writes in
    `parquet`, and in `tars` the files' own bytes."""

    def files(self) -> list[tuple[str, str]]:
        """Returns paths of image and mask of each pair."""
        masks = sorted((self.tree / "SegmentationClass").iterdir())
        images = (self.tree / "JPEGImages" / f"{mask.stem}.jpg" for mask in masks)
        return list(zip(map(str, images), map(str, masks), strict=True))

    def dataset(self, file_format: str) -> str:
        """Returns the version folder of a built dataset."""
        return str(self.folder / file_format / "voc_seg_tfrecord/bench/1.0.0")


@dataclasses.dataclass(frozen=True)
class Pairs:
    """Pairs by number, as loaders take them."""

    count: int
    read: Callable[[int], tuple[Any, Any]]

    def __len__(self) -> int:
        return self.count

    def __getitem__(self, index: int) -> tuple[Any, Any]:
        if index >= self.count:
            raise IndexError(index)
        return self.read(index)


def pillow(source: Source) -> Pairs:
    """Pillow opens images and masks as torchvision's VOCSegmentation does."""
    from PIL import Image

    files = source.files()

    def read(number: int) -> tuple[np.ndarray, np.ndarray]:
        image, mask = files[number]
        return np.array(Image.open(image).convert("RGB")), np.array(Image.open(mask))

    return Pairs(len(files), read)


def voc_segmentation(source: Source) -> Iterable:
    """The class that comes with torchvision, in PyTorch's loader; its PIL images made arrays."""
    from torch.utils import data
    from torchvision.datasets import VOCSegmentation

    folder = str(source.tree.parent.parent)
    both = data.ConcatDataset([VOCSegmentation(folder, "2012", name) for name in ("train", "val")])
    pairs = Pairs(len(both), lambda number: tuple(map(np.array, both[number])))
    return data.DataLoader(pairs, batch_size=None, num_workers=2)


def torchvision_decoders(source: Source) -> Pairs:
    """`decode_image` for images. It would make colors of palette masks, so Pillow opens those."""
    from PIL import Image
    from torchvision.io import ImageReadMode, decode_image

    files = source.files()

    def read(number: int) -> tuple[Any, np.ndarray]:
        image, mask = files[number]
        return decode_image(image, ImageReadMode.RGB), np.array(Image.open(mask))

    return Pairs(len(files), read)


def hugging_face(source: Source) -> Pairs:
    """Hugging Face's datasets, on the exported Parquet files."""
    import datasets

    datasets.disable_progress_bars()
    cache = str(source.folder / "datasets")  # the library copies the files to one of its own
    loaded = datasets.load_dataset(str(source.folder / "parquet"), cache_dir=cache)
    both = datasets.concatenate_datasets(list(loaded.values()))
    rows = both.select_columns(["image", "segmentation_mask"])
    return Pairs(len(rows), lambda number: tuple(map(np.array, rows[number].values())))


def web_dataset(source: Source) -> Iterable:
    """WebDataset, on tar files. Its own `decode("pil")` would make colors of palette masks."""
    from PIL import Image
    import webdataset

    def decoded(files: tuple[bytes, bytes]) -> tuple[np.ndarray, np.ndarray]:
        image, mask = (Image.open(io.BytesIO(file)) for file in files)
        return np.array(image.convert("RGB")), np.array(mask)

    tars = sorted(map(str, (source.folder / "tars").iterdir()))
    return webdataset.WebDataset(tars, shardshuffle=False).to_tuple("jpg", "png").map(decoded)


def grain_threads(source: Source) -> Iterable:
    """`tfds.data_source` of the dataset converted to array_record, in Grain with two threads."""
    import grain
    import tensorflow_datasets as tfds

    builder = tfds.builder_from_directory(source.dataset("array_record"))
    parts = [builder.as_data_source(name) for name in ("train", "validation")]
    both = grain.MapDataset.concatenate([grain.MapDataset.source(part) for part in parts])
    # Grain's default is to read 500 examples ahead with 16 threads, for slow disks. Here that
    # many would be read before the first is there and the clock starts.
    options = grain.ReadOptions(num_threads=2, prefetch_buffer_size=8)
    return both.map(_arrays).to_iter_dataset(options)


class Dali:
    """NVIDIA DALI's decoders on the processor, on this package's TFRecord files.

    DALI makes colors of VOC's own palette masks. The masks of the records are gray.
    """

    BATCH, THREADS = 16, 2

    def __init__(self, source: Source):
        from nvidia.dali import fn, pipeline_def, types
        import nvidia.dali.tfrecord as features

        files = sorted(pathlib.Path(source.dataset("tfrecord")).glob("*.tfrecord-*"))
        indices = [source.folder / f"{path.name}.idx" for path in files]
        self._count = sum(map(self._write_index, files, indices))
        names = ("image", "segmentation_mask")

        @pipeline_def(batch_size=self.BATCH, num_threads=self.THREADS, device_id=None)
        def decoded():
            read = fn.readers.tfrecord(
                path=[*map(str, files)],
                index_path=[*map(str, indices)],
                features={n: features.FixedLenFeature((), features.string, "") for n in names},
            )
            image, mask = (read[name] for name in names)
            return (
                fn.decoders.image(image, device="cpu", output_type=types.RGB),
                fn.decoders.image(mask, device="cpu", output_type=types.GRAY),
            )

        self._pipeline = decoded

    def _write_index(self, path: pathlib.Path, index: pathlib.Path) -> int:
        """Writes where each record of a TFRecord file starts; returns how many there are."""
        lines, start, data = [], 0, path.read_bytes()
        while start < len(data):
            size = struct.unpack_from("<Q", data, start)[0] + 16
            lines.append(f"{start} {size}\n")
            start += size
        index.write_text("".join(lines))
        return len(lines)

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        pipeline = self._pipeline()  # a new one has not read ahead
        pipeline.build()
        for start in range(0, self._count, self.BATCH):  # its reader never ends
            images, masks = pipeline.run()
            for place in range(min(self.BATCH, self._count - start)):
                yield np.asarray(images[place]), np.asarray(masks[place])[..., 0]


def this_package(source: Source) -> Pairs:
    """`data_source`, without TensorFlow, as docs/guides/pytorch.md shows it."""
    import voc_seg_tfrecord

    rows = voc_seg_tfrecord.data_source(
        source.dataset("tfrecord"), "train+validation", features=["image", "segmentation_mask"]
    )
    return Pairs(len(rows), lambda number: _arrays(rows[number]))


def _arrays(example: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    return example["image"], example["segmentation_mask"]


PEERS: dict[str, Callable[[Source], Iterable]] = {
    "`voc_seg_tfrecord.data_source`": this_package,
    "Pillow": pillow,
    "torchvision VOCSegmentation, 2 workers": voc_segmentation,
    "torchvision `decode_image`": torchvision_decoders,
    "`datasets`, exported Parquet": hugging_face,
    "WebDataset": web_dataset,
    "`tfds.data_source`, Grain, 2 threads": grain_threads,
    "DALI, 2 threads, these records": Dali,
}
"""Each as it was fastest of those tried, but VOCSegmentation, which people give to a loader."""


BATCH, SIZE, WORKERS = 16, 512, 2
"""Of the batches for PyTorch: examples, height and width, and processes."""


@dataclasses.dataclass(frozen=True)
class Epochs:
    """Batches by a function that gives them once; it may be iterated over again."""

    batches: Callable[[], Iterable[tuple[Any, Any]]]

    def __iter__(self) -> Iterator[tuple[Any, Any]]:
        return iter(self.batches())


def loader_with_workers(source: Source) -> Iterable:
    """`voc_seg_tfrecord.torch.loader` with two processes."""
    return _loader(source, workers=WORKERS)


def loader_with_threads(source: Source) -> Iterable:
    """`voc_seg_tfrecord.torch.loader` with threads."""
    return _loader(source, workers=0)


def _loader(source: Source, workers: int) -> Iterable:
    import torch  # noqa: F401 - first, so that it is named if it is not installed

    import voc_seg_tfrecord
    from voc_seg_tfrecord.torch import loader

    rows = voc_seg_tfrecord.data_source(source.dataset("tfrecord"), "train+validation")
    batches = loader(
        rows,
        size=SIZE,
        batch_size=BATCH,
        scales=(1, 1),
        flip=False,
        drop_last=False,
        channels="last",
        workers=workers,
    )
    return Epochs(lambda: ((batch.images, batch.masks) for batch in batches))


class Placed:
    """Pairs of files, decoded and put at a random place of a larger image, for PyTorch's loader."""

    def __init__(self, files: list[tuple[str, str]], decode: Callable[[str], np.ndarray]):
        self._files = files
        self._decode = decode

    def __len__(self) -> int:
        return len(self._files)

    def __getitem__(self, index: int) -> tuple[np.ndarray, np.ndarray]:
        from PIL import Image

        image_path, mask_path = self._files[index]
        return _place(self._decode(image_path), np.array(Image.open(mask_path)), _rng_of_worker())


def _rng_of_worker() -> np.random.Generator:
    """Returns a random generator, by the numbers of PyTorch, which differ by worker and epoch."""
    import torch

    return np.random.default_rng(torch.randint(1 << 31, (2,)).tolist())


def _place(
    image: np.ndarray, mask: np.ndarray, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Puts an image and its mask at a random place of a larger one."""
    height, width = mask.shape
    top, left = rng.integers(0, [SIZE - height, SIZE - width], endpoint=True)
    placed = np.zeros((SIZE, SIZE, 3), np.uint8), np.full((SIZE, SIZE), 255, np.uint8)
    for canvas, part in zip(placed, (image, mask), strict=True):
        canvas[top : top + height, left : left + width] = part
    return placed


def _place_files(image: bytes, mask: bytes) -> tuple[np.ndarray, np.ndarray]:
    """Decodes the bytes of two files by Pillow, and places them."""
    from PIL import Image

    pixels = np.array(Image.open(io.BytesIO(image)).convert("RGB"))
    return _place(pixels, np.array(Image.open(io.BytesIO(mask))), _rng_of_worker())


def _stack(examples: list[tuple[np.ndarray, np.ndarray]]) -> tuple[Any, Any]:
    """Returns a batch of tensors."""
    import torch

    images, masks = zip(*examples, strict=True)
    return torch.from_numpy(np.stack(images)), torch.from_numpy(np.stack(masks))


def _decode_by_torchvision(path: str) -> np.ndarray:
    from torchvision.io import ImageReadMode, decode_image

    return decode_image(path, ImageReadMode.RGB).permute(1, 2, 0).numpy()


def _decode_by_pillow(path: str) -> np.ndarray:
    from PIL import Image

    return np.array(Image.open(path).convert("RGB"))


def files_by_torchvision(source: Source) -> Iterable:
    """The files, by torchvision's `decode_image`; Pillow opens palette masks."""
    return _files_in_loader(Placed(source.files(), _decode_by_torchvision))


def files_by_pillow(source: Source) -> Iterable:
    """The files, by Pillow, as most code has it."""
    return _files_in_loader(Placed(source.files(), _decode_by_pillow))


def _files_in_loader(dataset: Placed) -> Iterable:
    from torch.utils import data

    return data.DataLoader(
        dataset, BATCH, shuffle=True, num_workers=WORKERS, persistent_workers=True
    )


def web_dataset_batches(source: Source) -> Iterable:
    """WebDataset on tar files; its buffer holds all that a worker has, for a random order."""
    import webdataset

    tars = sorted(map(str, (source.folder / "tars").iterdir()))
    count = len(source.files())
    dataset = (
        webdataset.WebDataset(tars, shardshuffle=10, workersplitter=webdataset.split_by_worker)
        .to_tuple("jpg", "png")
        .shuffle(count, initial=count)
        .map(lambda files: _place_files(*files))
        .batched(BATCH, collation_fn=_stack)
    )
    return webdataset.WebLoader(
        dataset, batch_size=None, num_workers=WORKERS, persistent_workers=True
    )


def _read_pair(paths: tuple[str, str]) -> dict[str, bytes]:
    image, mask = paths
    return {"image": pathlib.Path(image).read_bytes(), "mask": pathlib.Path(mask).read_bytes()}


def _place_row(row: dict[str, bytes]) -> tuple[np.ndarray, np.ndarray]:
    return _place_files(row["image"], row["mask"])


def litdata_batches(source: Source) -> Iterable:
    """LitData, on chunks that it makes of the files."""
    import litdata

    folder = source.folder / "litdata"
    if not folder.exists():
        with contextlib.redirect_stdout(sys.stderr):
            litdata.optimize(
                fn=_read_pair,
                inputs=source.files(),
                output_dir=str(folder),
                chunk_bytes="64MB",
                num_workers=1,
            )

    return litdata.StreamingDataLoader(
        litdata.StreamingDataset(str(folder), shuffle=True, transform=_place_row),
        batch_size=BATCH,
        num_workers=WORKERS,
        collate_fn=_stack,
        persistent_workers=True,
    )


def grain_batches(source: Source) -> Iterable:
    """Grain with two threads, on ArrayRecord, with this package's decoder of JPEGs."""
    import grain
    import simplejpeg
    import tensorflow_datasets as tfds

    builder = tfds.builder_from_directory(source.dataset("array_record"))
    skip = {name: tfds.decode.SkipDecoding() for name in ("image", "segmentation_mask")}
    parts = [builder.as_data_source(name, decoders=skip) for name in ("train", "validation")]
    both = grain.MapDataset.concatenate([grain.MapDataset.source(part) for part in parts])

    def placed(example: dict[str, Any], rng: np.random.Generator) -> tuple[Any, Any]:
        from PIL import Image

        mask = np.array(Image.open(io.BytesIO(example["segmentation_mask"])))
        return _place(simplejpeg.decode_jpeg(example["image"]), mask, rng)

    def epoch(number: int) -> Iterable:
        shuffled = both.seed(number).shuffle().random_map(placed).batch(BATCH)
        return shuffled.to_iter_dataset(grain.ReadOptions(num_threads=2, prefetch_buffer_size=4))

    numbers = itertools.count()
    return Epochs(lambda: epoch(next(numbers)))


TORCH_LOADERS: dict[str, Callable[[Source], Iterable]] = {
    "`torch.loader`, 2 workers": loader_with_workers,
    "`torch.loader`, threads": loader_with_threads,
}
"""This package's batches for PyTorch. The interpreter needs this package and PyTorch."""

TORCH_PEERS: dict[str, Callable[[Source], Iterable]] = {
    "PyTorch's loader, files, torchvision `decode_image`, 2 workers": files_by_torchvision,
    "PyTorch's loader, files, Pillow, 2 workers": files_by_pillow,
    "LitData, Pillow, 2 workers": litdata_batches,
    "WebDataset, Pillow, 2 workers": web_dataset_batches,
    "Grain, ArrayRecord, simplejpeg, 2 threads": grain_batches,
}
"""The same batches of images as they are, at a random place of 512 x 512."""

EVERY_PEER = PEERS | TORCH_LOADERS | TORCH_PEERS


def seen(pairs: Iterable[tuple[Any, Any]]) -> dict[str, Any]:
    """Returns how many pairs there are, and the pixels of their images and of each class.

    Args:
      pairs: images and masks, or batches of them.
    """
    count, pixels, values = 0, 0, np.zeros(256, np.int64)
    for image, mask in pairs:
        array = np.asarray(image)
        is_batch = array.ndim == 4
        count += len(array) if is_batch else 1
        pixels += array.size
        values += np.bincount(np.asarray(mask, np.uint8).ravel(), minlength=256)
    return {"count": count, "pixels": pixels, "values": values.tolist()}


def check_seen(name: str, found: dict, expected: dict) -> None:
    """Raises if a way is fast because it reads something else, such as colors for classes."""
    wrong = [what for what in expected if found[what] != expected[what]]
    if wrong:
        what = " and ".join(wrong)
        raise RuntimeError(f"{name} does not read the same {what}: {found}, expected {expected}")


class Running:
    """The process of a peer, which ends with the stack. It goes through all pairs when asked."""

    def __init__(self, stack: contextlib.ExitStack, python: str, name: str, source: Source):
        command = [python, __file__, name, str(source.tree), str(source.folder)]
        # Others' processes are not to find this checkout's folder or a path meant for this one.
        environment = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        errors = tempfile.TemporaryFile("w+")  # noqa: SIM115 - the stack closes it
        self._errors = stack.enter_context(errors)
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": errors}
        process = subprocess.Popen(command, **pipes, text=True, env=environment)
        self._process = stack.enter_context(process)

    def seen(self) -> dict[str, Any] | str:
        """Waits until it is ready; returns what `seen` found there, or why it has failed."""
        if line := self._process.stdout.readline():
            return json.loads(line)
        status = self._process.wait()
        self._errors.seek(0)
        return (self._errors.read().strip() or f"exit status {status}").splitlines()[-1]

    def run(self) -> Figures:
        """Lets it go through the pairs again."""
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return json.loads(self._process.stdout.readline())


def main(name: str, tree: str, folder: str) -> None:
    """Says what a peer has seen, and then, for each line that it is sent, how long it took."""
    pairs = EVERY_PEER[name](Source(pathlib.Path(tree), pathlib.Path(folder)))
    print(json.dumps(seen(pairs)), flush=True)
    for _ in sys.stdin:
        print(json.dumps(through(pairs)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
