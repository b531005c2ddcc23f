"""Arrays in a Python loop: this package beside what others read with, for read.py."""

from collections.abc import Sequence
import contextlib
import json

import forms
from measuring import Way, looped
from peer_process import peers, start
from peers import Source
from rows import Row
import tensorflow as tf
import tensorflow_datasets as tfds
from trees import SPLIT

from voc_seg_tfrecord import pipeline

TASK, OURS = "read: arrays in a Python loop", "`pipeline.read(decoded=True)`"
NOT_ON_PYPI_ALONE = {
    "FFCV": "not measured: its only release on PyPI, 1.0.2, is source code, and building it ends "
    "with `RuntimeError: Could not find required package: opencv4`",
}
"""What nothing from PyPI alone can run."""


def ours(builder: tfds.core.DatasetBuilder) -> Way:
    """Reads as this package does, in this process."""
    features = ("image", "segmentation_mask")
    decoded = pipeline.read(builder, SPLIT, features=features, decoded=True)
    total = sum(split.num_examples for split in builder.info.splits.values())
    return Way(TASK, OURS, looped(decoded.prefetch(tf.data.AUTOTUNE)), total)


def others(
    stack: contextlib.ExitStack,
    source: Source,
    builder: tfds.core.DatasetBuilder,
    interpreters: Sequence[str],
) -> tuple[list[Way], list[Row]]:
    """Starts the processes of others, which end with the stack.

    Returns:
      Ways to be measured, and rows of those that cannot, which say why.
    """
    ways, started = [], []
    absent = [Row(TASK, name, note=note) for name, note in NOT_ON_PYPI_ALONE.items()]
    for peer in peers():
        python, why = peer.interpreter(interpreters)
        if python:
            started.append((peer, start(stack, peer, python, source)))
        else:
            absent.append(Row(TASK, peer.name, note=why))
    expected = forms.seen(builder)
    for peer, running in started:
        try:
            seen = running.seen()
        except RuntimeError as error:
            absent.append(Row(TASK, peer.name, note=f"not measured: {error}"))
            continue
        check_seen(peer.name, seen, expected)
        read = Way(
            TASK,
            peer.name,
            running.read,
            expected["count"],
            OURS,
            ours=peer.module == "this_package",
            warm=True,
        )
        ways.append(read)
    return ways, absent


def check_seen(name: str, seen: dict, expected: dict) -> None:
    """Raises if a way is fast because it reads something else, such as colours for classes."""
    wrong = [what for what in expected if seen[what] != expected[what]]
    if wrong:
        raise RuntimeError(
            f"{name} does not read the same {' and '.join(wrong)}: "
            f"{json.dumps(seen)}, expected {json.dumps(expected)}"
        )
