"""Plants wrong labels in a set, and measures how many a simulated network names among the first.

    python benchmarks/label_scores.py FOLDER [--class_names NAMES ...]

FOLDER and the options are those of `check`; the set is read at half size. Prints the range that
docs/background/detection.md quotes, for networks of three levels of noise. Nothing is written.
"""

import argparse
from collections.abc import Sequence

from label_errors import read
from measuring import markdown
import numpy as np
from PIL import Image

from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.evaluation import Confusion
from voc_seg_tfrecord.evaluation.predictions import label_quality

PLANTED, FIRST = 15, 20
SEEDS = (1, 2, 3, 11, 12)
NOISES = (0.5, 0.9, 1.6)
"""Standard deviations of the noise in the logits, where that of the right class is 4 higher."""
KINDS = ("swapped", "removed")
CONFUSED = 0.25  # chance that a part of a class is taken for the one that looks alike


def smooth(height: int, width: int, step: int, random: np.random.Generator) -> np.ndarray:
    """Returns noise of standard deviation 1 that changes over `step` pixels, float32 `[H, W]`."""
    coarse = random.normal(size=(height // step + 2, width // step + 2)).astype(np.float32)
    noise = np.asarray(Image.fromarray(coarse).resize((width, height), Image.Resampling.BICUBIC))
    return noise / noise.std()


def network(
    mask: np.ndarray, classes: int, noise: float, random: np.random.Generator
) -> np.ndarray:
    """Returns probabilities, float32 `[H, W, C]`: the true classes, smoothed, with noise."""
    height, width = mask.shape
    true = np.where(mask == VOID, 0, mask)
    for label in np.unique(true[true > 0]).tolist():
        if random.random() < CONFUSED:  # a part of it is taken for the next class
            part = (true == label) & (smooth(height, width, 40, random) > 1)
            true[part] = 1 + label % (classes - 1)
    logits = np.empty((height, width, classes), np.float32)
    for label in range(classes):
        exact = Image.fromarray(np.where(true == label, np.float32(4), np.float32(0)))
        small = exact.resize((max(1, width // 4), max(1, height // 4)), Image.Resampling.BOX)
        logits[..., label] = small.resize((width, height), Image.Resampling.BILINEAR)
        logits[..., label] += noise * smooth(height, width, 16, random)
    likely = np.exp(logits - logits.max(-1, keepdims=True))
    return likely / likely.sum(-1, keepdims=True)


def planted(mask: np.ndarray, kind: str, classes: int, random: np.random.Generator) -> np.ndarray:
    """Returns a mask of which one class was swapped for another, or removed."""
    labels = [label for label in np.unique(mask).tolist() if label not in (0, VOID)]
    label, others = random.choice(labels), [c for c in range(1, classes) if c not in labels]
    other = random.choice(others) if kind == "swapped" else 0
    return np.where(mask == label, np.uint8(other), mask)


def measure(masks: Sequence[np.ndarray], classes: int, noise: float, seed: int) -> list[float]:
    """Returns the network's mIoU, and how many planted errors of each kind are named first."""
    random = np.random.default_rng(seed)
    usable = [n for n, mask in enumerate(masks) if ((mask > 0) & (mask < VOID)).any()]
    chosen = set(random.choice(usable, PLANTED, replace=False).tolist())
    counted = Confusion([str(label) for label in range(classes)])
    scores: dict[str, list[float]] = {kind: [] for kind in KINDS}
    for number, mask in enumerate(masks):
        likely = network(mask, classes, noise, random)
        counted.update(mask, likely.argmax(-1).astype(np.uint8))
        for kind in KINDS:
            labels = planted(mask, kind, classes, random) if number in chosen else mask
            scores[kind].append(label_quality(labels, likely))
    named = (len(set(np.argsort(scores[kind])[:FIRST].tolist()) & chosen) for kind in KINDS)
    return [counted.result().miou, *named]


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_tree(parser)
    masks = [mask[::2, ::2] for _, mask in read(parser.parse_args())]
    classes = 1 + max(int(mask[mask < VOID].max()) for mask in masks)
    print(f"{len(masks)} masks, {PLANTED} planted errors, among the first {FIRST}:\n")
    lines = [["mIoU of the simulated network", *KINDS]]
    for noise in NOISES:
        columns = zip(*(measure(masks, classes, noise, seed) for seed in SEEDS), strict=True)
        lines.append([f"{min(column):.4g} to {max(column):.4g}" for column in columns])
    print(markdown(lines))
