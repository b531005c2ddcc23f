"""Waits for a state, and not for a time."""

from collections.abc import Callable
import time


def wait_until(condition: Callable[[], object], seconds: float = 60) -> bool:
    """Waits until something holds; says whether it does, at the latest after some seconds."""
    end = time.monotonic() + seconds
    while not (found := condition()) and time.monotonic() < end:
        time.sleep(0.01)
    return bool(found)
