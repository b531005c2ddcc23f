"""A dataset written shard by shard in TFDS's order, which is known before any file is read.

TFDS sorts the examples of a split by the hash of their key, and cuts them into shards by number.
Nothing has to be shuffled for that. Ids are sorted, and each *piece* of their order is made by one
call of `Pieces`. An *engine* says where: in this process, in several, or on other machines.

How many shards TFDS makes of so many bytes is estimated from the sizes of files. If the estimate
was right, the pieces are the shards. If not, `Shards` cuts the shards from the records of the
pieces, so that no example is made twice. Tiles, whose keys are known when they are made, and what
is in memory are cut from pieces too.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import itertools
import math
import os
from typing import Any, NamedTuple

from etils import epath
import numpy as np
import tensorflow_datasets as tfds
from tensorflow_datasets.core import hashing, naming, splits, utils
from tensorflow_datasets.core.utils import shard_utils

from voc_seg_tfrecord.core.errors import ConfigError, SplitError, VocSegError
from voc_seg_tfrecord.core.example import Item, Source
from voc_seg_tfrecord.core.threads import ALL_CORES, CORES, ordered_map
from voc_seg_tfrecord.formats import frames
from voc_seg_tfrecord.writing.copies import Digests
from voc_seg_tfrecord.writing.pieces import Engine, Made, Piece, Pieces, Shard, Shards

PIECE_BYTES, PIECE_ITEMS = 64 << 20, 50_000
"""How much makes a piece that is not a shard, and how many items a piece has at most."""

WORTH = 3000
"""Examples that are worth the start of a process."""

_BAR = {"unit": " examples", "leave": False, "mininterval": 1.0}
_SIZED = 2000  # items of a split whose files are measured


def write(
    source: Source,
    templates: Mapping[str, naming.ShardedFileTemplate],
    features: tfds.features.FeaturesDict,
    download_config: tfds.download.DownloadConfig,
    engine: Engine,
    digests: Digests | None,
) -> list[tfds.core.SplitInfo]:
    """Writes the shards of all splits of a source, which `drawn` returned.

    Pieces are in a folder beside the files meanwhile. Digests of images are taken by `digests`, if
    they are wanted.

    Returns:
      What TFDS notes of each split.

    Raises:
      SplitError: for the first split that has problems, with all of them.
    """
    items = next(iter(source.splits.values()))
    item_type = None if isinstance(items, Drawn) else type(items[0])
    # What is not decoded keeps Python's lock.
    ahead = 1 if source.spec.decoding == "none" else max(1, CORES // engine.workers)
    make = Pieces(item_type, source.spec, features, ahead, digests is not None)
    keys_known = source.spec.tiling is None
    plans = [
        _Plan(split, items, templates[split], download_config, keys_known=keys_known)
        for split, items in source.splits.items()
    ]
    _use_all(engine.workers, plans)
    folder = templates[plans[0].split].data_dir / "pieces"
    folder.mkdir()
    counts = [len(plan.numbers) for plan in plans]
    tasks = itertools.chain.from_iterable(plan.pieces(folder) for plan in plans)
    with (
        utils.tqdm(total=sum(counts) or None, desc="Generating examples...", **_BAR) as bar,
        contextlib.closing(engine.run(make, tasks, bar.update)) as results,
    ):
        _gather(plans, results)
    if digests:
        for plan in plans:
            digests.add(plan.split, plan.digests(), plan.id_of)
    left = [plan for plan in plans if not plan.is_done]
    total = sum(plan.count for plan in left)
    cuts = itertools.chain.from_iterable(plan.shards() for plan in left)
    with (
        utils.tqdm(total=total, desc="Writing shards...", disable=not left, **_BAR) as bar,
        contextlib.closing(engine.run(Shards(), cuts, bar.update)) as results,
    ):
        for _ in results:
            pass
    for plan in left:
        plan.remove_pieces()
    if folder.exists():  # in an object store, an empty folder does not
        folder.rmtree()
    return [plan.info() for plan in plans]


class _Named(NamedTuple):
    """What is kept of an item in memory."""

    id: str
    filename: str


class Drawn(Sequence[Any]):
    """Items in memory, to be iterated over once; then it holds what was kept of each."""

    def __init__(self, items: Iterable[Item]):
        self._items, self._kept = items, list[_Named]()

    def __iter__(self) -> Iterator[Item]:
        for item in self._items:
            self._kept.append(_Named(item.id, item.filename))
            yield item

    def __len__(self) -> int:
        return len(self._kept)

    def __getitem__(self, number: Any) -> Any:
        return self._kept[number]


def drawn(source: Source) -> Source:
    """Returns a source whose items are `Drawn`, unless they lie in files that any process reads."""
    splits = {
        split: items
        if isinstance(items, Sequence) and hasattr(items[0], "from_json")
        else Drawn(items)
        for split, items in source.splits.items()
    }
    return dataclasses.replace(source, splits=splits)


def fastest(source: Source) -> int:
    """Returns how many processes make the examples of a source in the shortest time."""
    count = sum(map(len, source.splits.values()))
    return max(1, min(ALL_CORES, count // WORTH))


def _use_all(workers: int, plans: Sequence["_Plan"]) -> None:
    """Makes more pieces than shards where these are too few for all workers."""
    if sum(plan.count_of_pieces for plan in plans) < workers:
        total = sum(len(plan.numbers) for plan in plans)
        for plan in plans:
            plan.divide(math.ceil(workers * len(plan.numbers) / total))


def _gather(plans: Sequence["_Plan"], results: Iterable[tuple[int, Made]]) -> None:
    """Takes what comes of pieces, up to the end of the first split that has problems."""
    places = [(plan, n) for plan in plans for n in range(plan.count_of_pieces)]
    waiting = list(plans)
    for number, made in results:
        plan, own_number = places[number]
        plan.take(own_number, made)
        while waiting and waiting[0].is_made:
            waiting.pop(0).check()
    if waiting:
        raise RuntimeError(f"not all pieces of {[plan.split for plan in waiting]} were made")


class _Plan:
    """Of what pieces a split is made, and which shards they become.

    Attributes:
      numbers: the numbers of its items, in the order in which they are made.
    """

    def __init__(
        self,
        split: str,
        items: Sequence[Item],
        template: naming.ShardedFileTemplate,
        download_config: tfds.download.DownloadConfig,
        *,
        keys_known: bool,
    ):
        self.split = split
        self._items = items
        self._template = template
        self._most = download_config.max_examples_per_split
        self._config = download_config.get_shard_config()
        self._keys_known = keys_known and not isinstance(items, Drawn)
        if self._keys_known:
            self._items = items = items[: self._most]
            keys = getattr(items, "ids", None) or [item.id for item in items]
            hasher = hashing.Hasher(split)
            self.numbers = _in_order(map(hasher.hash_key, keys))
        else:
            self.numbers = np.arange(len(items))
        self._choose_pieces()
        self._made: dict[int, np.ndarray] = {}  # by piece, lengths of its records
        self._hashes: dict[int, list[int]] = {}
        self._digests: dict[int, np.ndarray] = {}
        self._problems: list[tuple[int, VocSegError]] = []

    def _choose_pieces(self) -> None:
        """Lets pieces be shards where their order is known, and their number as good as known."""
        self._are_shards = self._keys_known
        if isinstance(self._items, Drawn):
            self.count_of_pieces = 1
            return
        if self._are_shards and self._config.num_shards:
            count = self._config.num_shards
        else:
            size = _expected_size(self._items, self.numbers)
            count = min(len(self.numbers), math.ceil(size / PIECE_BYTES)) or 1
            if self._are_shards:
                count = self._config.get_number_shards(size, len(self.numbers))
        self.count_of_pieces = count
        _boundaries(self.split, len(self.numbers), count)  # it refuses too many
        self.divide(math.ceil(len(self.numbers) / PIECE_ITEMS))

    def divide(self, count: int) -> None:
        """Lets there be so many pieces at least, which are no shards then."""
        count = min(count, len(self.numbers))
        if count > self.count_of_pieces:
            self.count_of_pieces, self._are_shards = count, False

    def pieces(self, folder: epath.Path) -> Iterator[Piece]:
        """Yields the pieces."""
        if isinstance(self._items, Drawn):
            self._paths = [os.fspath(folder / self.split)]
            yield Piece(self._paths[0], itertools.count(), self._items, self.split)
            return
        bounds = _boundaries(self.split, len(self.numbers), self.count_of_pieces)
        self._paths = [os.fspath(folder / f"{self.split}-{n:06}") for n in range(len(bounds))]
        if self._are_shards:
            self._paths = self._shard_paths(len(bounds))
        for path, (start, end) in zip(self._paths, itertools.pairwise([0, *bounds]), strict=True):
            numbers = self.numbers[start:end].tolist()
            items = [self._items[number] for number in numbers]
            salt = "" if self._keys_known else self.split
            yield Piece(path, numbers, items, salt)

    def take(self, number: int, made: Made) -> None:
        """Takes what came of a piece."""
        if isinstance(self._items, Drawn):
            self.numbers = np.arange(len(self._items))
        self._made[number] = np.array(made.lengths, np.int64)
        self._hashes[number] = made.hashes
        self._digests[number] = np.array(made.digests, np.uint64)
        self._problems += made.problems

    def digests(self) -> np.ndarray:
        """Returns those of all images in the order of the list, uint64 `[N]`."""
        found = np.empty(len(self.numbers), np.uint64)
        found[self.numbers] = np.concatenate([self._digests[n] for n in sorted(self._digests)])
        return found

    def id_of(self, number: int) -> str:
        """Returns the id of a number of the list."""
        return str(self._items[number].id)

    @property
    def is_made(self) -> bool:
        """Whether all pieces are made."""
        return bool(len(self._made) == self.count_of_pieces)

    def check(self) -> None:
        """Raises the problems of the split, in the order of its items."""
        if self._problems:
            errors = [error for _, error in sorted(self._problems, key=lambda problem: problem[0])]
            raise SplitError(self.split, errors, len(self._items))
        self._place()

    def _place(self) -> None:
        """Finds the place of each record, and how many shards there are."""
        lengths = [self._made[number] for number in range(self.count_of_pieces)]
        starts = [np.cumsum(own + frames.HEAD + frames.TAIL) - own - frames.TAIL for own in lengths]
        pieces = np.repeat(np.arange(self.count_of_pieces), [len(own) for own in lengths])
        records = np.stack([pieces, np.concatenate(starts), np.concatenate(lengths)], axis=1)
        if not self._keys_known:
            hashes = itertools.chain.from_iterable(map(self._hashes.pop, range(len(lengths))))
            records = records[: self._most]
            records = records[_in_order(itertools.islice(hashes, self._most))]
        self._records = records
        self.size, self.count = int(records[:, 2].sum()), len(records)
        number = self._config.get_number_shards(self.size, self.count)
        self.bounds = _boundaries(self.split, self.count, number)
        self.is_done = self._are_shards and number == self.count_of_pieces

    def shards(self) -> Iterator[Shard]:
        """Yields the shards that have to be cut."""
        paths = self._shard_paths(len(self.bounds))
        for path, (start, end) in zip(paths, itertools.pairwise([0, *self.bounds]), strict=True):
            records = self._records[start:end].tolist()
            yield Shard(path, self._paths, records)

    def _shard_paths(self, count: int) -> list[str]:
        return [os.fspath(path) for path in self._template.sharded_filepaths(count)]

    def remove_pieces(self) -> None:
        """Removes the files that are no shards, though they may be called so."""
        for path in self._paths:
            epath.Path(path).unlink()

    def info(self) -> tfds.core.SplitInfo:
        """Returns what TFDS notes of the split."""
        lengths = np.diff([0, *self.bounds]).tolist()
        return splits.SplitInfo(self.split, lengths, self.size, self._template)


def _boundaries(split: str, examples: int, shards: int) -> Sequence[int]:
    """Returns where the shards or pieces of a split end."""
    if examples < shards:
        raise ConfigError(
            f"num_shards {shards}" if examples else f"split {split}",
            found=f"a split of {examples} examples: {split}",
            expected="at least one example for each shard of every split",
            remedy=f"give at most {examples} shards (--num_shards)"
            if examples
            else "leave the split out",
        )
    return shard_utils.get_shard_boundaries(examples, shards)


def _in_order(hashes: Iterable[int]) -> np.ndarray:
    """Returns the numbers of keys in TFDS's order. No two are one key: see `trees.listing`."""
    data = bytearray()
    for value in hashes:
        data += value.to_bytes(16, "big")
    pairs = np.frombuffer(data, ">u8").reshape(-1, 2)
    return np.lexsort((pairs[:, 1], pairs[:, 0]))


def _expected_size(items: Sequence[Item], numbers: np.ndarray) -> int:
    """Estimates the bytes of all records of a split, which are mostly those of its files.

    The numbers of the items are in an order that has nothing to do with sizes, if possible.
    """
    sample = [items[number] for number in numbers[:: math.ceil(len(numbers) / _SIZED)]]
    sizes = [size for _, size in ordered_map(_size, sample)]
    return round(sum(sizes) / len(sample) * len(numbers))


def _size(item: Any) -> int:
    try:
        return int(item.size())
    except OSError:  # whoever reads it says so
        return 0
