"""Writes a dataset shard by shard in TFDS's order, which is known before any file is read.

TFDS sorts the examples of a split by the hash of their key, and cuts them into shards by number.
Nothing has to be shuffled for that. Ids are sorted, and each *chunk* of their order is written by
one task. An *engine* runs the tasks: in this process, in several, or on other machines.

The number of shards that TFDS makes of so many bytes is estimated from the sizes of files. If the
estimate was right, the chunks become the shards by their names alone. If not, shards are cut from
the records of the chunks, so that no example is made twice. Tiles, whose keys are known only when
they are made, and items in memory are cut from chunks too.

A split passes through three states: `_SplitPlan`, before anything is read; `_SplitResults`, while
its chunks are written; and `WrittenSplit`, when the position of each record is known.
"""

import collections
from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import itertools
import math
import os
from typing import Any

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import hashing, naming, splits, utils
from tensorflow_datasets.core.utils import shard_utils

from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.errors import ConfigError, SplitError, VocSegError, counted
from voc_seg_tfrecord.core.example import ExampleSpec, Source
from voc_seg_tfrecord.core.id_lists import id_of_file
from voc_seg_tfrecord.core.threads import ALL_CORES, USED_CORES, ordered_map
from voc_seg_tfrecord.folder.tree.voc_tree import Pairs
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.writing.engines import Engine
from voc_seg_tfrecord.writing.tasks import (
    ChunkTask,
    ChunkWriter,
    ShardCutter,
    ShardTask,
    StreamedItems,
    TaskResult,
)

CHUNK_BYTES = 64 << 20
"""Size of a chunk that is not a shard, about."""

MAX_CHUNK_ITEMS = 50_000

MIN_EXAMPLES_PER_PROCESS = 3000
"""Fewer examples than this take less time than the start of a process."""

CHUNK_FOLDER = "chunks"
"""The folder of chunks, below that of the dataset, while it is built."""

_MAX_MEASURED_ITEMS = 2000
"""Items of a split whose files are measured for the estimate of its size."""

_PROGRESS_BAR = {"unit": " examples", "leave": False, "mininterval": 1.0}


def write(
    source: Source,
    templates: Mapping[str, naming.ShardedFileTemplate],
    features: tfds.features.FeaturesDict,
    download_config: tfds.download.DownloadConfig,
    engine: Engine,
    *,
    takes_digests: bool,
) -> list["WrittenSplit"]:
    """Writes the shards of all splits of a source that `stream_items` returned.

    Chunks are in a folder beside the shards meanwhile.

    Args:
      source: the items of each split, and what examples hold.
      templates: names the files of each split.
      features: the dataset's features.
      download_config: TFDS's options: the number of shards, and the most examples of a split.
      engine: runs the tasks.
      takes_digests: whether the digests of images are wanted.

    Returns:
      What was written, split by split.

    Raises:
      SplitError: for the first split that has problems, with all of them.
      ConfigError: if a split has fewer examples than shards.
    """
    is_tiled = source.spec.tiling is not None
    plans = []
    for split, items in source.splits.items():
        template = templates[split]
        plans.append(_plan_split(split, items, template, download_config, is_tiled=is_tiled))
    plans = _divide_for_workers(plans, engine.workers)
    writer = ChunkWriter(source.spec, features, _items_ahead(source.spec, engine), takes_digests)
    folder = plans[0].template.data_dir / CHUNK_FOLDER
    folder.mkdir()
    written = _write_chunks(plans, folder, writer, engine)
    for written_split in written:
        if written_split.chunks_are_shards:
            written_split.name_chunks_as_shards()
    _cut_shards([one for one in written if not one.chunks_are_shards], engine)
    if folder.exists():  # an object store has no empty folder
        folder.rmtree()
    return written


def fastest_worker_count(source: Source) -> int:
    """Returns how many processes make the examples of a source in the shortest time."""
    examples = sum(len(items) for items in source.splits.values())
    return max(1, min(ALL_CORES, examples // MIN_EXAMPLES_PER_PROCESS))


def _items_ahead(spec: ExampleSpec, engine: Engine) -> int:
    """Returns how many items may be in the making in each process."""
    if spec.decoding == "none":
        return 1  # without decoding, threads would wait for Python's lock
    return 1 + USED_CORES // engine.workers


def _write_chunks(
    plans: Sequence["_SplitPlan"], folder: epath.Path, writer: ChunkWriter, engine: Engine
) -> list["WrittenSplit"]:
    """Writes the chunks of all splits into a folder."""
    tasks = itertools.chain.from_iterable(plan.chunk_tasks(folder) for plan in plans)
    # A stream has no items before it is read, so the number of all may be unknown.
    items = sum(len(plan.items) for plan in plans)
    with (
        utils.tqdm(total=items or None, desc="Generating examples...", **_PROGRESS_BAR) as bar,
        contextlib.closing(engine.run(writer, tasks, bar.update)) as results,
    ):
        return _collect_splits(plans, folder, results)


def _collect_splits(
    plans: Sequence["_SplitPlan"], folder: epath.Path, results: Iterable[tuple[int, TaskResult]]
) -> list["WrittenSplit"]:
    """Collects the results of chunks, which come in any order.

    Splits are checked in their order. The first one with problems ends the build.
    """
    waiting = collections.deque(_SplitResults(plan) for plan in plans)
    # Tasks are numbered through all splits.
    owners = [(split, chunk) for split in waiting for chunk in range(split.plan.chunk_count)]
    written: list[WrittenSplit] = []
    for number, result in results:
        split, chunk = owners[number]
        split.add(chunk, result)
        while waiting and waiting[0].is_complete:
            written.append(_finish_split(waiting.popleft(), folder))
    if waiting:
        missing = [split.plan.split for split in waiting]
        raise RuntimeError(f"not all chunks of {missing} were made")
    return written


def _cut_shards(splits_to_cut: Sequence["WrittenSplit"], engine: Engine) -> None:
    """Cuts the shards of splits whose chunks are not their shards."""
    tasks = itertools.chain.from_iterable(split.shard_tasks() for split in splits_to_cut)
    examples = sum(len(split.records) for split in splits_to_cut)
    bar_options = {"disable": not splits_to_cut, **_PROGRESS_BAR}
    with (
        utils.tqdm(total=examples, desc="Writing shards...", **bar_options) as bar,
        contextlib.closing(engine.run(ShardCutter(), tasks, bar.update)) as results,
    ):
        for _ in results:
            pass


@dataclasses.dataclass(frozen=True)
class _SplitPlan:
    """How a split is cut into chunks, before anything is read.

    Attributes:
      split: its name.
      items: its items.
      template: names its shards.
      shard_config: says how many shards TFDS makes.
      max_examples: how many records are kept at most; None for all.
      chunk_count: how many chunks there are.
      order: TFDS's order of the records, if each item makes one whose key is its id: the number of
        each item in the list, int64 `[N]`. Otherwise None: chunks are in the order of the list, and
        keys are hashed when their records are made.
    """

    split: str
    items: Sequence[Any]
    template: naming.ShardedFileTemplate
    shard_config: shard_utils.ShardConfig
    max_examples: int | None
    chunk_count: int
    order: np.ndarray | None

    def divide(self, chunk_count: int) -> "_SplitPlan":
        """Returns a plan with at least so many chunks, if there are as many items."""
        if isinstance(self.items, StreamedItems):  # they are read once, in this process
            return self
        chunk_count = min(chunk_count, len(self.items))
        return dataclasses.replace(self, chunk_count=max(chunk_count, self.chunk_count))

    def chunk_paths(self, folder: epath.Path) -> list[str]:
        """Returns the files of the chunks in a folder."""
        return [os.fspath(folder / f"{self.split}-{n:06}") for n in range(self.chunk_count)]

    def chunk_tasks(self, folder: epath.Path) -> Iterator[ChunkTask]:
        """Yields the task of each chunk, which is written into a folder."""
        salt = self.split if self.order is None else ""
        paths = self.chunk_paths(folder)
        if isinstance(self.items, StreamedItems):
            yield ChunkTask(paths[0], itertools.count(), self.items.read(), salt)
            return
        order = np.arange(len(self.items)) if self.order is None else self.order
        ends = _boundaries(self.split, len(order), self.chunk_count)
        for path, (start, end) in zip(paths, itertools.pairwise([0, *ends]), strict=True):
            numbers = order[start:end].tolist()
            items = [self.items[number] for number in numbers]
            yield ChunkTask(path, numbers, items, salt)

    def shard_paths(self, count: int) -> list[str]:
        """Returns the files of so many shards."""
        return [os.fspath(path) for path in self.template.sharded_filepaths(count)]

    def id_of(self, number: int) -> str:
        """Returns the id of the item with a number of the list."""
        return str(self.items[number].id)


def _plan_split(
    split: str,
    items: Sequence[Any],
    template: naming.ShardedFileTemplate,
    download_config: tfds.download.DownloadConfig,
    *,
    is_tiled: bool,
) -> _SplitPlan:
    """Plans the chunks of a split.

    Args:
      split: its name.
      items: its items.
      template: names its shards.
      download_config: TFDS's options.
      is_tiled: whether an item makes one example per tile, whose key is not the item's id.

    Raises:
      ConfigError: if there is no item, or there are fewer items than shards.
    """
    shard_config = download_config.get_shard_config()
    max_examples = download_config.max_examples_per_split
    order = None
    if isinstance(items, StreamedItems):
        chunk_count = 1
    elif is_tiled:
        _check_shard_count(split, len(items), shards=1)
        chunk_count = _count_chunks(items)
    else:
        items = items[:max_examples]
        _check_shard_count(split, len(items), shards=1)
        order = _order_by_key(split, _ids_of(items))
        chunk_count = _count_shards(items, order, shard_config)
        _check_shard_count(split, len(items), chunk_count)
    plan = _SplitPlan(split, items, template, shard_config, max_examples, chunk_count, order)
    return plan.divide(math.ceil(len(items) / MAX_CHUNK_ITEMS))


def _count_shards(
    items: Sequence[Any], order: np.ndarray, shard_config: shard_utils.ShardConfig
) -> int:
    """Returns how many shards TFDS is expected to make."""
    if shard_config.num_shards:
        return shard_config.num_shards
    return shard_config.get_number_shards(_expected_size(items, order), len(order))


def _count_chunks(items: Sequence[Any]) -> int:
    """Returns how many chunks of about `CHUNK_BYTES` a split has."""
    size = _expected_size(items, range(len(items)))
    return min(len(items), math.ceil(size / CHUNK_BYTES)) or 1


def _expected_size(items: Sequence[Any], order: Sequence[int] | np.ndarray) -> int:
    """Estimates the bytes of all records of a split with items: they are mostly those of its files.

    A sample of files is measured.

    Args:
      items: the items.
      order: their numbers, if possible in an order that is independent of their sizes.
    """
    step = math.ceil(len(order) / _MAX_MEASURED_ITEMS)
    sample = [items[number] for number in order[::step]]
    sizes = [size for _, size in ordered_map(_size_of, sample)]
    return round(sum(sizes) / len(sample) * len(order))


def _size_of(item: Any) -> int:
    try:
        return int(item.size())
    except OSError:  # reading it raises, and says which file it is
        return 0


def _ids_of(items: Sequence[Any]) -> Sequence[str]:
    """Returns the ids of items; a sequence of files has them without making its items."""
    return getattr(items, "ids", None) or [item.id for item in items]


def _divide_for_workers(plans: Sequence[_SplitPlan], workers: int) -> list[_SplitPlan]:
    """Returns plans with more chunks than shards if these are too few for all workers."""
    if sum(plan.chunk_count for plan in plans) >= workers:
        return list(plans)
    total = sum(len(plan.items) for plan in plans)
    return [plan.divide(math.ceil(workers * len(plan.items) / total)) for plan in plans]


@dataclasses.dataclass(frozen=True)
class _WrittenChunk:
    """What is known of a written chunk, in arrays, which take less memory than lists.

    Attributes:
      lengths: bytes of each record, int64 `[M]`.
      hashes: of the key of each record, see `_as_halves`; empty if they are not needed.
      digests: of the image of each item, uint64 `[K]`; empty if none were taken.
    """

    lengths: np.ndarray
    hashes: np.ndarray
    digests: np.ndarray


class _SplitResults:
    """The results of the chunks of a split, which come in any order.

    Attributes:
      plan: how the split is cut into chunks.
      problems: numbers of items that cannot be used, and what is wrong with them.
      class_counts: images and pixels of each class in all records.
    """

    def __init__(self, plan: _SplitPlan):
        self.plan = plan
        self.problems: list[tuple[int, VocSegError]] = []
        self.class_counts = ClassCounts()
        self._chunk_by_number: dict[int, _WrittenChunk] = {}

    def add(self, number: int, result: TaskResult) -> None:
        """Adds the result of the chunk of a number."""
        self.problems += result.problems
        self.class_counts += result.class_counts
        self._chunk_by_number[number] = _WrittenChunk(
            np.array(result.lengths, np.int64),
            _as_halves(result.hashes),
            np.array(result.digests, np.uint64),
        )

    @property
    def is_complete(self) -> bool:
        """Whether the results of all chunks are there."""
        return len(self._chunk_by_number) == self.plan.chunk_count

    def chunks(self) -> list[_WrittenChunk]:
        """Returns the chunks in their order."""
        return [self._chunk_by_number[number] for number in range(self.plan.chunk_count)]


@dataclasses.dataclass(frozen=True)
class WrittenSplit:
    """A split whose chunks are written, so that the position of each record is known.

    Attributes:
      plan: how it was cut into chunks.
      chunk_paths: the files of the chunks.
      records: chunk, offset there and length in bytes of each record, int64 `[N, 3]`, in TFDS's
        order.
      shard_ends: where each shard ends in that order.
      image_digests: of each image, uint64, in the order of the list; empty if none were taken.
      class_counts: images and pixels of each class; None if not all records that were made are
        kept.
    """

    plan: _SplitPlan
    chunk_paths: Sequence[str]
    records: np.ndarray
    shard_ends: Sequence[int]
    image_digests: np.ndarray
    class_counts: ClassCounts | None

    @property
    def name(self) -> str:
        """The name of the split."""
        return self.plan.split

    @property
    def chunks_are_shards(self) -> bool:
        """Whether the chunks have the bytes of the shards that TFDS makes."""
        return self.plan.order is not None and len(self.shard_ends) == len(self.chunk_paths)

    def id_of(self, number: int) -> str:
        """Returns the id of the image with a number of the list."""
        return self.plan.id_of(number)

    def name_chunks_as_shards(self) -> None:
        """Gives the chunks the names of shards, which they are."""
        paths = self.plan.shard_paths(len(self.chunk_paths))
        for chunk_path, shard_path in zip(self.chunk_paths, paths, strict=True):
            epath.Path(chunk_path).rename(shard_path)

    def shard_tasks(self) -> Iterator[ShardTask]:
        """Yields the task of each shard that is cut from the chunks."""
        paths = self.plan.shard_paths(len(self.shard_ends))
        bounds = itertools.pairwise([0, *self.shard_ends])
        for path, (start, end) in zip(paths, bounds, strict=True):
            yield ShardTask(path, self.chunk_paths, self.records[start:end].tolist())

    def info(self) -> tfds.core.SplitInfo:
        """Returns what TFDS notes of the split."""
        shard_lengths = np.diff([0, *self.shard_ends]).tolist()
        size = int(self.records[:, 2].sum())
        return splits.SplitInfo(self.name, shard_lengths, size, self.plan.template)


def _finish_split(results: _SplitResults, folder: epath.Path) -> WrittenSplit:
    """Finds the position of each record of a split, and its shards.

    Raises:
      SplitError: if items cannot be used, with their problems in the order of the list.
      ConfigError: if there are fewer records than shards.
    """
    plan = results.plan
    if results.problems:
        raise _split_error(plan, results.problems)
    chunks = results.chunks()
    records = _locate_records([chunk.lengths for chunk in chunks])
    image_digests = np.concatenate([chunk.digests for chunk in chunks])
    made_count = len(records)
    if plan.order is None:
        hashes = np.concatenate([chunk.hashes for chunk in chunks])
        order = _order_by_hash(hashes[: plan.max_examples])
        records = records[order]
    elif len(image_digests):
        digests_in_order = image_digests
        image_digests = np.empty_like(digests_in_order)
        image_digests[plan.order] = digests_in_order
    size = int(records[:, 2].sum())
    shard_count = plan.shard_config.get_number_shards(size, len(records))
    return WrittenSplit(
        plan,
        plan.chunk_paths(folder),
        records,
        _boundaries(plan.split, len(records), shard_count),
        image_digests,
        class_counts=results.class_counts if len(records) == made_count else None,
    )


def _split_error(plan: _SplitPlan, problems: Sequence[tuple[int, VocSegError]]) -> SplitError:
    """Returns the error about the items that cannot be used, in the order of the list."""
    in_order = sorted(problems, key=lambda problem: problem[0])
    errors = [error for _, error in in_order]
    ids = []
    if isinstance(plan.items, Pairs):
        ids = [id_of_file(plan.items[number].filename) for number, _ in in_order]
    return SplitError(plan.split, errors, len(plan.items), ids=ids)


def _locate_records(lengths: Sequence[np.ndarray]) -> np.ndarray:
    """Returns chunk, offset and length of each record, int64 `[N, 3]`.

    Args:
      lengths: of the records of each chunk, int64 `[M]` each.
    """
    located = []
    for chunk, record_lengths in enumerate(lengths):
        # A record is framed by a head and a tail; its data begin after the head.
        frame_ends = np.cumsum(frames.HEAD + record_lengths + frames.TAIL)
        offsets = frame_ends - frames.TAIL - record_lengths
        chunk_numbers = np.full_like(offsets, chunk)
        located.append(np.stack([chunk_numbers, offsets, record_lengths], axis=1))
    return np.concatenate(located)


def _order_by_key(split: str, keys: Iterable[str]) -> np.ndarray:
    """Returns the numbers of keys in TFDS's order, int64 `[N]`."""
    hasher = hashing.Hasher(split)
    return _order_by_hash(_as_halves(hasher.hash_key(key) for key in keys))


def _as_halves(hashes: Iterable[int]) -> np.ndarray:
    """Returns the high and the low half of TFDS's hashes of 128 bits, uint64 `[N, 2]`."""
    joined = bytearray()
    for value in hashes:
        joined += value.to_bytes(16, "big")
    return np.frombuffer(joined, ">u8").reshape(-1, 2)


def _order_by_hash(hashes: np.ndarray) -> np.ndarray:
    """Returns the numbers of hashes in ascending order, int64 `[N]`.

    All keys differ: see `folder.tree.listing`.

    Args:
      hashes: see `_as_halves`.
    """
    high = hashes[:, 0]
    low = hashes[:, 1]
    return np.lexsort((low, high))


def _check_shard_count(split: str, examples: int, shards: int) -> None:
    """Checks that each shard or chunk of a split has an example.

    Raises:
      ConfigError: if there are fewer examples than shards, or none.
    """
    if not examples:
        raise ConfigError(
            f"split {split}",
            found="no example",
            expected="at least one example in every split",
            remedy="leave the split out",
        )
    if examples < shards:
        raise ConfigError(
            f"num_shards {shards}",
            found=f"{counted(examples, 'example')} in the split {split}",
            expected="at least one example for each shard of every split",
            remedy=f"give at most {counted(examples, 'shard')} (--num_shards)",
        )


def _boundaries(split: str, examples: int, shards: int) -> Sequence[int]:
    """Returns where the shards or chunks of a split end, as TFDS cuts them.

    Raises:
      ConfigError: see `_check_shard_count`.
    """
    _check_shard_count(split, examples, shards)
    return shard_utils.get_shard_boundaries(examples, shards)
