"""Computes TFDS's order of the examples of a split, and where its shards end.

TFDS sorts examples by the hash of their key, which has 128 bits, and cuts them by number.
"""

from collections.abc import Iterable, Sequence

import numpy as np
from tensorflow_datasets.core import hashing
from tensorflow_datasets.core.utils import shard_utils

from voc_seg_tfrecord.core.errors import ConfigError, counted

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
