"""Plants wrong labels in a set, and measures how many a simulated network names among the first.

    python benchmarks/label_scores.py FOLDER [--class_names NAMES ...]

FOLDER and the options are those of `check`; the set is read at half size. Prints the table of
docs/guides/evaluation.md. Nothing is written.
"""

import argparse
from collections.abc import Iterator, Sequence

from label_errors import read
import numpy as np
from PIL import Image
from rows import markdown

from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.commands import tree_arguments
from voc_seg_tfrecord.evaluation import Confusion
from voc_seg_tfrecord.evaluation.predictions import label_quality

PLANTED, FIRST = 15, 20
SEEDS = (1, 2, 3, 11, 12)
NOISES = (0.5, 0.9, 1.6)
"""Standard deviations of the noise in the logits, where that of the right class is 4 higher."""

_CONFUSED = 0.25  # chance that a part of a class is taken for the one that looks alike
_LOGIT = 4.0


def smooth(height: int, width: int, step: int, random: np.random.Generator) -> np.ndarray:
    """Returns noise of standard deviation 1 that changes over `step` pixels, float32 `[H, W]`."""
    coarse = random.normal(size=(height // step + 2, width // step + 2)).astype(np.float32)
    found = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    return found / found.std()


def network(
    mask: np.ndarray, classes: int, noise: float, random: np.random.Generator
) -> np.ndarray:
    """Returns probabilities, float32 `[H, W, C]`: the true classes, smoothed, with noise.

    Args:
      mask: the right classes, uint8 `[H, W]`.
      classes: how many there are.
      noise: see `NOISES`.
      random: the source of the noise.
    """
    height, width = mask.shape
    true = np.where(mask == VOID, 0, mask)
    for label in np.unique(true[true > 0]).tolist():
        if random.random() < _CONFUSED:  # a part of it is taken for the next class
            part = (true == label) & (smooth(height, width, 40, random) > 1)
            true[part] = 1 + label % (classes - 1)
    logits = np.empty((height, width, classes), np.float32)
    for label in range(classes):
        one = Image.fromarray(np.where(true == label, np.float32(_LOGIT), np.float32(0)))
        small = one.resize((max(1, width // 4), max(1, height // 4)), Image.Resampling.BOX)
        logits[..., label] = small.resize((width, height), Image.Resampling.BILINEAR)
        logits[..., label] += noise * smooth(height, width, 16, random)
    likely = np.exp(logits - logits.max(-1, keepdims=True))
    return likely / likely.sum(-1, keepdims=True)


def planted(mask: np.ndarray, kind: str, classes: int, random: np.random.Generator) -> np.ndarray:
    """Returns a mask of which one class was swapped for another, or removed."""
    labels = [label for label in np.unique(mask).tolist() if label not in (0, VOID)]
    label, other = random.choice(labels), 0
    if kind == "swapped":
        other = random.choice([c for c in range(1, classes) if c not in labels])
    return np.where(mask == label, np.uint8(other), mask)


def found(
    masks: Sequence[np.ndarray], classes: int, noise: float, seed: int
) -> tuple[float, dict[str, int]]:
    """Returns the network's mIoU, and how many planted errors of each kind are named first."""
    random = np.random.default_rng(seed)
    usable = [n for n, mask in enumerate(masks) if ((mask > 0) & (mask < VOID)).any()]
    chosen = set(random.choice(usable, PLANTED, replace=False).tolist())
    counted = Confusion([str(label) for label in range(classes)])
    scores: dict[str, list[float]] = {"swapped": [], "removed": []}
    for number, mask in enumerate(masks):
        likely = network(mask, classes, noise, random)
        counted.update(mask, likely.argmax(-1).astype(np.uint8))
        right = label_quality(mask, likely)
        for kind, of_kind in scores.items():
            wrong = number in chosen and planted(mask, kind, classes, random)
            of_kind.append(right if wrong is False else label_quality(wrong, likely))
    named = {kind: set(np.argsort(s)[:FIRST].tolist()) & chosen for kind, s in scores.items()}
    return counted.result().miou, {kind: len(numbers) for kind, numbers in named.items()}


def table(masks: Sequence[np.ndarray], classes: int) -> Iterator[list[str]]:
    """Yields the lines of the table."""
    yield [
        "mIoU of the simulated network",
        "a class swapped for another",
        "a class removed, now background",
    ]
    for noise in NOISES:
        mious, named = zip(*(found(masks, classes, noise, seed) for seed in SEEDS), strict=True)
        low, high = (f"{100 * value:.0f}" for value in (min(mious), max(mious)))
        yield [
            low if low == high else f"{low} to {high}",
            *(", ".join(str(one[kind]) for one in named) for kind in named[0]),
        ]


def main() -> None:
    """Prints the table of one folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    tree_arguments.add(parser)
    args = parser.parse_args()
    masks = [mask[::2, ::2] for _, mask in read(args)]
    classes = 1 + max(int(mask[mask < VOID].max()) for mask in masks)
    print(f"{len(masks)} masks, {PLANTED} planted errors, among the first {FIRST}")
    print(markdown(list(table(masks, classes))))


if __name__ == "__main__":
    main()
