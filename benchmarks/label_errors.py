"""Plants misplaced masks in a set, and measures how many of them are named, and how many good ones.

    python benchmarks/label_errors.py FOLDER [--class_names NAMES ...] [--seed 0]

FOLDER and the options are those of `check`. Of each kind of mistake, every mask is planted
once: an eighth of the set at a time, so that seven eighths are right. Prints one row of the table
of docs/guides/label-errors.md. Nothing is written.
"""

import argparse
from collections.abc import Iterator, Sequence
import dataclasses

from etils import epath
import numpy as np

from voc_seg_tfrecord.base.errors import ImageError, VocSegError
from voc_seg_tfrecord.base.names import IMAGE, MASK, VOID
from voc_seg_tfrecord.build_from.tree import find_config_of
from voc_seg_tfrecord.commands import tree_arguments
from voc_seg_tfrecord.examples.make import make_example
from voc_seg_tfrecord.formats import pillow, png_pixels
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.own_data.plan import make_plan
from voc_seg_tfrecord.quality import fit

FOLDS = 8
SHIFTS = (10, 20, 30, 60)

Pair = tuple[np.ndarray, np.ndarray]
"""The image as it is compared, uint8 `[h, w, 3]`, and the mask, uint8 `[H, W]`."""


def read(args: argparse.Namespace) -> Iterator[Pair]:
    """Yields the pairs of a folder that a build could read."""
    tree, config = find_config_of(epath.Path(args.root), name="own", **tree_arguments.fields(args))
    plan = make_plan(tree, config)
    spec = dataclasses.replace(config.example_spec(plan.rule), decoding="none")
    for split, ids in plan.splits.items():
        for image_id in ids:
            try:
                (pair,) = tree.pairs(split, [image_id], config.parts)
                example = make_example(pair.read(), spec)
                mask = png_pixels.decode_values(File(example[MASK], "mask"))
                size = fit.size_to_compare(*mask.shape)
                image = pillow.decode(File(example[IMAGE], "image"), ImageError, side=min(size))
                yield image.resized(*size).rgb(), mask
            except VocSegError:
                continue


def moved(mask: np.ndarray, right: int, down: int) -> np.ndarray:
    """Returns a mask shifted; what comes in has the value of its first pixel."""
    height, width = mask.shape
    shifted = np.full_like(mask, 0 if mask[0, 0] == VOID else mask[0, 0])
    shifted[max(0, down) : height + min(0, down), max(0, right) : width + min(0, right)] = mask[
        max(0, -down) : height + min(0, -down), max(0, -right) : width + min(0, -right)
    ]
    return shifted


def mistakes(masks: Sequence[np.ndarray], seed: int) -> Iterator[list[np.ndarray]]:
    """Yields all masks with each kind of mistake, in the order of the table's columns."""
    yield [mask[:, ::-1] for mask in masks]  # mirrored
    yield [mask[::-1] for mask in masks]  # flipped
    yield [mask[::-1, ::-1] for mask in masks]  # rotated
    random = np.random.default_rng(seed)
    for by in SHIFTS:
        shifts = random.choice([(by, 0), (-by, 0), (0, by), (0, -by)], len(masks)).tolist()
        yield [moved(mask, *shift) for mask, shift in zip(masks, shifts, strict=True)]
    neighbours = []
    for number, mask in enumerate(masks):
        others = (*masks[number + 1 :], *masks[:number])
        neighbours.append(next((other for other in others if other.shape == mask.shape), mask))
    yield neighbours


def row(name: str, pairs: Sequence[Pair], seed: int) -> str:
    """Returns a row of the table: percentages of planted masks that are named, and of good ones."""
    good = [fit.measure(image, mask) for image, mask in pairs]
    judged = [number for number, measured in enumerate(good) if measured]
    order = np.random.default_rng(seed).permutation(judged)
    cells, wrong, right = [name, str(len(order))], 0, 0
    for masks in mistakes([mask for _, mask in pairs], seed):
        bad = [fit.measure(image, mask) for (image, _), mask in zip(pairs, masks, strict=True)]
        named = 0
        for fold in range(FOLDS):
            planted = set(order[fold::FOLDS].tolist())
            fits = [bad[n] if n in planted else good[n] for n in range(len(pairs))]
            suspects = set(fit.judge(fits).suspects)
            named += len(suspects & planted)
            wrong += len(suspects - planted)
            right += len(order) - len(planted)
        cells.append(f"{100 * named / max(1, len(order)):.0f}")
    return f"| {' | '.join(cells)} | {100 * wrong / max(1, right):.1f} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    tree_arguments.add(parser)
    args = parser.parse_args()
    print(row(epath.Path(args.root).name, list(read(args)), args.seed))
