"""Whole numbers divided by shares."""

from collections.abc import Sequence
from fractions import Fraction


def apportion(count: int, shares: Sequence[Fraction]) -> list[int]:
    """Divides a whole number by shares: by the largest remainder, and first one for each.

    Args:
      count: what is divided.
      shares: above 0; they sum to about 1.

    Returns:
      One number per share, together `count`. No number is 0 if there are enough; if there are
      not, the largest shares get one each.
    """
    total = sum(shares)
    by_size = sorted(range(len(shares)), key=lambda n: (-shares[n], n))
    if count <= len(shares):
        return [int(n in by_size[:count]) for n in range(len(shares))]
    exact = [count * share / total for share in shares]
    parts = [int(part) for part in exact]
    rest = sorted(range(len(shares)), key=lambda n: (parts[n] - exact[n], n))
    for n in rest[: count - sum(parts)]:
        parts[n] += 1
    for n in range(len(parts)):
        if not parts[n]:
            parts[max(by_size, key=lambda m: parts[m])] -= 1
            parts[n] = 1
    return parts
