"""Checks the arguments of the calls that read for training: seeds, numbers and ranks."""

import numpy as np

from voc_seg_tfrecord.core.errors import ConfigError


def check_seed(seed: int) -> None:
    """Raises a ConfigError if a seed is not in 0 to 2**31 - 1."""
    is_whole = isinstance(seed, int | np.integer) and not isinstance(seed, bool)
    if not is_whole or not 0 <= seed < 1 << 31:
        raise ConfigError("seed", found=repr(seed), expected="0 to 2147483647")


def check_count(name: str, count: int) -> None:
    """Raises a ConfigError if a number is not a whole one of 1 or more."""
    if isinstance(count, bool) or not isinstance(count, int | np.integer) or count < 1:
        raise ConfigError(name, found=repr(count), expected="a whole number of 1 or more")


def check_flag(name: str, flag: bool) -> None:
    """Raises a ConfigError if a flag is a text such as `False`, which would count as true."""
    if not isinstance(flag, bool | np.bool_):
        raise ConfigError(name, found=repr(flag), expected="True or False")


def check_shard(shard: tuple[int, int]) -> None:
    """Raises a ConfigError if a rank is not below the number of ranks."""
    rank, ranks = shard
    if not 0 <= rank < ranks:
        raise ConfigError(
            "shard",
            found=f"rank {rank} of {ranks}",
            expected="a rank of 0 or more that is below the number of ranks",
        )
