"""Damage done to bytes, and odd values, for all kinds of inputs."""

from collections.abc import Sequence
import random


def odd_value(
    rng: random.Random, texts: Sequence[str], numbers: Sequence[object], depth: int = 2
) -> object:
    """Returns a text, a number, or a list or an object of such."""
    kind = rng.randrange(4 if depth else 2)
    if kind < 2:
        return rng.choice((texts, numbers)[kind])
    values = [odd_value(rng, texts, numbers, depth - 1) for _ in range(rng.randrange(4))]
    return values if kind == 2 else {rng.choice(texts): value for value in values}


def damaged(rng: random.Random, data: bytes, start: int = 0) -> bytes:
    """Returns bytes with one to three random changes from `start` on."""
    for _ in range(rng.choice((1, 1, 2, 3))):
        if data[start:]:
            data = data[:start] + rng.choice(_WAYS)(rng, data[start:])
    return data


def _flip(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data))
    return data[:place] + bytes([data[place] ^ (1 << rng.randrange(8))]) + data[place + 1 :]


def _byte(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data))
    value = rng.choice((0, 1, 0x7F, 0x80, 0xFF, 10, 13, 34, 46, 47, rng.randrange(256)))
    return data[:place] + bytes([value]) + data[place + 1 :]


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data))]


def _remove(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start + rng.randrange(1, 20) :]


def _insert(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.randbytes(rng.randrange(1, 12)) + data[place:]


def _repeat(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    return data[:start] + data[start : start + rng.randrange(1, 40)] + data[start:]


def _zero(rng: random.Random, data: bytes) -> bytes:
    start = rng.randrange(len(data))
    length = len(data[start : start + rng.choice((1, 4, 20, 512, 4096))])
    return data[:start] + bytes(length) + data[start + length :]


_WAYS = (_flip, _byte, _cut, _remove, _insert, _repeat, _zero)
