"""Writes a dataset shard by shard in TFDS's order, which is known before any file is read.

TFDS sorts the examples of a split by the hash of their key, and cuts them into shards by number.
Nothing has to be shuffled for that. Ids are sorted, and each *chunk* of their order is written by
one task. An *engine* runs the tasks: in this process, in several, or on other machines.

The number of shards that TFDS makes of so many bytes is estimated from the sizes of files. If the
estimate was right, the chunks are the shards. If not, shards are cut from the records of the
chunks, so that no example is made twice. Tiles, whose keys are known only when they are made, and
items in memory are cut from chunks too.

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
from voc_seg_tfrecord.core.example import Source
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
    plans = [
        _plan_split(
            split,
            items,
            templates[split],
            download_config,
            keys_are_ids=source.spec.tiling is None,
        )
        for split, items in source.splits.items()
    ]
    plans = _divide_for_workers(plans, engine.workers)
    writer = _chunk_writer(source, features, engine, takes_digests=takes_digests)
    folder = plans[0].template.data_dir / CHUNK_FOLDER
    folder.mkdir()
    written = _write_chunks(plans, folder, writer, engine)
    _cut_shards([split for split in written if not split.chunks_are_shards], engine)
    if folder.exists():  # an object store has no empty folder
        folder.rmtree()
    return written


def _chunk_writer(
    source: Source, features: tfds.features.FeaturesDict, engine: Engine, *, takes_digests: bool
) -> ChunkWriter:
    """Returns what writes the chunks of all splits."""
    ahead = 1 + USED_CORES // engine.workers
    if source.spec.decoding == "none":
        ahead = 1  # without decoding, threads would wait for Python's lock
    return ChunkWriter(source.spec, features, ahead, takes_digests)


def _write_chunks(
    plans: Sequence["_SplitPlan"], folder: epath.Path, writer: ChunkWriter, engine: Engine
) -> list["WrittenSplit"]:
    """Writes the chunks of all splits."""
    tasks = itertools.chain.from_iterable(plan.chunk_tasks(folder) for plan in plans)
    # The number of items in memory is not known before they are read.
    examples = sum(len(plan.order) for plan in plans if plan.order is not None)
    with (
        utils.tqdm(total=examples or None, desc="Generating examples...", **_PROGRESS_BAR) as bar,
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
    """Cuts the shards of splits whose chunks are not their shards, and removes the chunks."""
    tasks = itertools.chain.from_iterable(split.shard_tasks() for split in splits_to_cut)
    examples = sum(len(split.records) for split in splits_to_cut)
    bar_options = {"disable": not splits_to_cut, **_PROGRESS_BAR}
    with (
        utils.tqdm(total=examples, desc="Writing shards...", **bar_options) as bar,
        contextlib.closing(engine.run(ShardCutter(), tasks, bar.update)) as results,
    ):
        for _ in results:
            pass
    for split in splits_to_cut:
        split.remove_chunks()


def fastest_worker_count(source: Source) -> int:
    """Returns how many processes make the examples of a source in the shortest time."""
    examples = sum(len(items) for items in source.splits.values())
    return max(1, min(ALL_CORES, examples // MIN_EXAMPLES_PER_PROCESS))


@dataclasses.dataclass(frozen=True)
class _SplitPlan:
    """How a split is cut into chunks, before anything is read.

    Attributes:
      split: its name.
      items: its items.
      template: names its shards.
      shard_config: says how many shards TFDS makes.
      max_examples: how many records are kept at most; None for all.
      order: the number of each item in the list, int64 `[N]`, in the order of the chunks. None for
        items in memory, whose number is not known.
      order_is_final: whether that is TFDS's order. If not, the keys of records are hashed when they
        are made.
      chunk_count: how many chunks there are.
      chunks_have_shard_names: whether chunks are written under the names of shards. If TFDS turns
        out to make another number of shards, the shards are cut from them.
    """

    split: str
    items: Sequence[Any]
    template: naming.ShardedFileTemplate
    shard_config: shard_utils.ShardConfig
    max_examples: int | None
    order: np.ndarray | None
    order_is_final: bool
    chunk_count: int
    chunks_have_shard_names: bool

    def divide(self, chunk_count: int) -> "_SplitPlan":
        """Returns a plan with at least so many chunks; more of them are no shards."""
        if self.order is None:
            return self
        chunk_count = min(chunk_count, len(self.order))
        if chunk_count <= self.chunk_count:
            return self
        return dataclasses.replace(self, chunk_count=chunk_count, chunks_have_shard_names=False)

    def chunk_paths(self, folder: epath.Path) -> list[str]:
        """Returns the files of the chunks; those that are no shards are in the folder."""
        if self.order is None:
            return [os.fspath(folder / self.split)]
        if self.chunks_have_shard_names:
            return self.shard_paths(self.chunk_count)
        return [os.fspath(folder / f"{self.split}-{n:06}") for n in range(self.chunk_count)]

    def chunk_tasks(self, folder: epath.Path) -> Iterator[ChunkTask]:
        """Yields the task of each chunk."""
        paths = self.chunk_paths(folder)
        if isinstance(self.items, StreamedItems):
            yield ChunkTask(paths[0], itertools.count(), self.items.read(), self.split)
            return
        assert self.order is not None  # only a stream has none
        salt = "" if self.order_is_final else self.split
        ends = boundaries(self.split, len(self.order), self.chunk_count)
        for path, (start, end) in zip(paths, itertools.pairwise([0, *ends]), strict=True):
            numbers = self.order[start:end].tolist()
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
    keys_are_ids: bool,
) -> _SplitPlan:
    """Plans the chunks of a split: shards if their order is known, and else of a fixed size.

    Args:
      split: its name.
      items: its items.
      template: names its shards.
      download_config: TFDS's options.
      keys_are_ids: whether each item makes one example, whose key is the item's id.

    Raises:
      ConfigError: if there are fewer items than chunks.
    """
    if isinstance(items, StreamedItems):
        return _plan_stream(split, items, template, download_config)
    check_shard_count(split, len(items), shards=1)
    if keys_are_ids:
        plan = _plan_whole_images(split, items, template, download_config)
    else:
        plan = _plan_tiled_images(split, items, template, download_config)
    check_shard_count(split, len(plan.items), plan.chunk_count)
    return plan.divide(math.ceil(len(plan.items) / MAX_CHUNK_ITEMS))


def _plan_stream(
    split: str,
    items: StreamedItems,
    template: naming.ShardedFileTemplate,
    download_config: tfds.download.DownloadConfig,
) -> _SplitPlan:
    """Plans one chunk for items that can be read only once, in this process."""
    return _SplitPlan(
        split,
        items,
        template,
        download_config.get_shard_config(),
        download_config.max_examples_per_split,
        order=None,
        order_is_final=False,
        chunk_count=1,
        chunks_have_shard_names=False,
    )


def _plan_whole_images(
    split: str,
    items: Sequence[Any],
    template: naming.ShardedFileTemplate,
    download_config: tfds.download.DownloadConfig,
) -> _SplitPlan:
    """Plans the shards that TFDS is expected to make, as keys that are ids give the order."""
    shard_config = download_config.get_shard_config()
    max_examples = download_config.max_examples_per_split
    items = items[:max_examples]
    order = order_by_key(split, _ids_of(items))
    return _SplitPlan(
        split,
        items,
        template,
        shard_config,
        max_examples,
        order,
        order_is_final=True,
        chunk_count=_count_shards(items, order, shard_config),
        chunks_have_shard_names=True,
    )


def _plan_tiled_images(
    split: str,
    items: Sequence[Any],
    template: naming.ShardedFileTemplate,
    download_config: tfds.download.DownloadConfig,
) -> _SplitPlan:
    """Plans chunks in the order of the list, as the keys are known only when tiles are made."""
    order = np.arange(len(items))
    return _SplitPlan(
        split,
        items,
        template,
        download_config.get_shard_config(),
        download_config.max_examples_per_split,
        order,
        order_is_final=False,
        chunk_count=_count_chunks(items, order),
        chunks_have_shard_names=False,
    )


def _count_shards(
    items: Sequence[Any], order: np.ndarray, shard_config: shard_utils.ShardConfig
) -> int:
    """Returns how many shards TFDS is expected to make."""
    if shard_config.num_shards:
        return shard_config.num_shards
    return shard_config.get_number_shards(_expected_size(items, order), len(order))


def _count_chunks(items: Sequence[Any], order: np.ndarray) -> int:
    """Returns how many chunks of about `CHUNK_BYTES` a split has."""
    size = _expected_size(items, order)
    return min(len(order), math.ceil(size / CHUNK_BYTES)) or 1


def _divide_for_workers(plans: Sequence[_SplitPlan], workers: int) -> list[_SplitPlan]:
    """Returns plans with more chunks than shards if these are too few for all workers."""
    if sum(plan.chunk_count for plan in plans) >= workers:
        return list(plans)
    total = sum(len(plan.items) for plan in plans)
    return [plan.divide(math.ceil(workers * len(plan.items) / total)) for plan in plans]


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
        # By chunk. Arrays and strings take less memory than the lists of a result.
        self._lengths: dict[int, np.ndarray] = {}
        self._digests: dict[int, np.ndarray] = {}
        self._hashes: dict[int, bytes] = {}

    def add(self, chunk: int, result: TaskResult) -> None:
        """Adds the result of a chunk."""
        self.problems += result.problems
        self.class_counts += result.class_counts
        self._lengths[chunk] = np.array(result.lengths, np.int64)
        self._digests[chunk] = np.array(result.digests, np.uint64)
        self._hashes[chunk] = join_hashes(result.hashes)

    @property
    def is_complete(self) -> bool:
        """Whether the results of all chunks are there."""
        return len(self._lengths) == self.plan.chunk_count

    def lengths(self) -> list[np.ndarray]:
        """Returns the lengths of the records of each chunk, int64 `[M]` each."""
        return [self._lengths[chunk] for chunk in range(self.plan.chunk_count)]

    def digests(self) -> np.ndarray:
        """Returns the digests of all images, uint64 `[N]`, chunk after chunk."""
        return np.concatenate([self._digests[chunk] for chunk in range(self.plan.chunk_count)])

    def hashes(self) -> bytes:
        """Returns the hashes of all keys, joined, chunk after chunk."""
        return b"".join(self._hashes[chunk] for chunk in range(self.plan.chunk_count))


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
      chunks_are_shards: whether the chunks are the shards that TFDS makes.
    """

    plan: _SplitPlan
    chunk_paths: Sequence[str]
    records: np.ndarray
    shard_ends: Sequence[int]
    image_digests: np.ndarray
    class_counts: ClassCounts | None
    chunks_are_shards: bool

    @property
    def name(self) -> str:
        """The name of the split."""
        return self.plan.split

    def id_of(self, number: int) -> str:
        """Returns the id of the image with a number of the list."""
        return self.plan.id_of(number)

    def shard_tasks(self) -> Iterator[ShardTask]:
        """Yields the task of each shard that is cut from the chunks."""
        paths = self.plan.shard_paths(len(self.shard_ends))
        bounds = itertools.pairwise([0, *self.shard_ends])
        for path, (start, end) in zip(paths, bounds, strict=True):
            yield ShardTask(path, self.chunk_paths, self.records[start:end].tolist())

    def remove_chunks(self) -> None:
        """Removes the chunks, which may be named as shards of another number."""
        for path in self.chunk_paths:
            epath.Path(path).unlink()

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
        in_order = sorted(results.problems, key=lambda problem: problem[0])
        problems = [error for _, error in in_order]
        ids = []
        if isinstance(plan.items, Pairs):
            ids = [id_of_file(plan.items[number].filename) for number, _ in in_order]
        raise SplitError(plan.split, problems, len(plan.items), ids=ids)
    records = _locate_records(results.lengths())
    made_count = len(records)
    if not plan.order_is_final:
        records = records[: plan.max_examples]
        hashes = results.hashes()[: len(records) * HASH_BYTES]
        records = records[order_by_hash(hashes)]
    size = int(records[:, 2].sum())
    shard_count = plan.shard_config.get_number_shards(size, len(records))
    return WrittenSplit(
        plan,
        plan.chunk_paths(folder),
        records,
        shard_ends=boundaries(plan.split, len(records), shard_count),
        image_digests=_in_list_order(results.digests(), plan.order),
        class_counts=results.class_counts if len(records) == made_count else None,
        chunks_are_shards=plan.chunks_have_shard_names and shard_count == plan.chunk_count,
    )


def _locate_records(lengths: Sequence[np.ndarray]) -> np.ndarray:
    """Returns chunk, offset and length of each record, int64 `[N, 3]`.

    Args:
      lengths: of the records of each chunk, int64 `[M]` each.
    """
    chunks = np.repeat(np.arange(len(lengths)), [len(chunk_lengths) for chunk_lengths in lengths])
    offsets = []
    for chunk_lengths in lengths:
        # A record is framed by a head and a tail; its data begin after the head.
        frame_ends = np.cumsum(frames.HEAD + chunk_lengths + frames.TAIL)
        offsets.append(frame_ends - frames.TAIL - chunk_lengths)
    return np.stack([chunks, np.concatenate(offsets), np.concatenate(lengths)], axis=1)


def _in_list_order(digests: np.ndarray, order: np.ndarray | None) -> np.ndarray:
    """Returns digests in the order of the split's list; they come in the order of the chunks."""
    if order is None or not len(digests):
        return digests
    sorted_digests = np.empty_like(digests)
    sorted_digests[order] = digests
    return sorted_digests


def _ids_of(items: Sequence[Any]) -> Sequence[str]:
    """Returns the ids of items; a sequence of files has them without making its items."""
    return getattr(items, "ids", None) or [item.id for item in items]


def _expected_size(items: Sequence[Any], order: np.ndarray) -> int:
    """Estimates the bytes of all records of a split with items: they are mostly those of its files.

    A sample of files is measured. If possible it is taken from an order of the items that is
    independent of their sizes.
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


HASH_BYTES = 16


def order_by_key(split: str, keys: Iterable[str]) -> np.ndarray:
    """Returns the numbers of keys in TFDS's order, int64 `[N]`."""
    hasher = hashing.Hasher(split)
    return order_by_hash(join_hashes(hasher.hash_key(key) for key in keys))


def join_hashes(hashes: Iterable[int]) -> bytes:
    """Returns TFDS's hashes of keys, 128 bits each, big-endian."""
    joined = bytearray()
    for value in hashes:
        joined += value.to_bytes(HASH_BYTES, "big")
    return bytes(joined)


def order_by_hash(hashes: bytes) -> np.ndarray:
    """Returns the numbers of joined hashes in ascending order, int64 `[N]`.

    All keys differ: see `folder.tree.listing`.
    """
    halves = np.frombuffer(hashes, ">u8").reshape(-1, 2)
    high = halves[:, 0]
    low = halves[:, 1]
    return np.lexsort((low, high))


def check_shard_count(split: str, examples: int, shards: int) -> None:
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


def boundaries(split: str, examples: int, shards: int) -> Sequence[int]:
    """Returns where the shards or chunks of a split end, as TFDS cuts them.

    Raises:
      ConfigError: see `check_shard_count`.
    """
    check_shard_count(split, examples, shards)
    return shard_utils.get_shard_boundaries(examples, shards)
