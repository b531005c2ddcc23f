"""Plants misplaced masks in a set, and measures how many of them are named, and how many good ones.

    python benchmarks/label_errors.py FOLDER [--class_names NAMES ...] [--seed 0]

FOLDER and the options are those of `check`. Of each kind of mistake, every mask is planted
once: an eighth of the set at a time, so that seven eighths are right. Prints one row of the table
of docs/guides/label-errors.md. Nothing is written.
"""

import argparse
from collections.abc import Callable, Iterator, Sequence
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
"""The reduced image, uint8 `[h, w, 3]`, and the mask, uint8 `[H, W]`."""


def moved(mask: np.ndarray, right: int, down: int) -> np.ndarray:
    """Returns a mask shifted; what comes in has the value of its first pixel."""
    height, width = mask.shape
    found = np.full_like(mask, 0 if mask[0, 0] == VOID else mask[0, 0])
    found[max(0, down) : height + min(0, down), max(0, right) : width + min(0, right)] = mask[
        max(0, -down) : height + min(0, -down), max(0, -right) : width + min(0, -right)
    ]
    return found


def mistakes(masks: Sequence[np.ndarray], seed: int) -> Iterator[tuple[str, list[np.ndarray]]]:
    """Yields each kind of mistake, and all masks with it."""
    random = np.random.default_rng(seed)
    fixed: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        "mirrored": lambda mask: mask[:, ::-1],
        "flipped": lambda mask: mask[::-1],
        "rotated": lambda mask: mask[::-1, ::-1],
    }
    for name, change in fixed.items():
        yield name, [change(mask) for mask in masks]
    for by in SHIFTS:
        ways = random.choice([(by, 0), (-by, 0), (0, by), (0, -by)], len(masks)).tolist()
        yield f"{by} px", [moved(m, *way) for m, way in zip(masks, ways, strict=True)]
    order = range(len(masks))
    yield (
        "neighbour's",
        [
            next((masks[j] for j in (*order[i + 1 :], *order[:i]) if masks[j].shape == m.shape), m)
            for i, m in enumerate(masks)
        ],
    )


def measure(pairs: Sequence[Pair], seed: int) -> tuple[int, dict[str, float], float]:
    """Plants mistakes in a set and counts what is named.

    Returns:
      How many masks can be judged; the share of each kind of mistake that was named; and the share
      of good masks that was named, over all kinds.
    """
    good = [fit.measure(image, mask) for image, mask in pairs]
    order = np.random.default_rng(seed).permutation([n for n, one in enumerate(good) if one])
    recall, wrong, right = {}, 0, 0
    for kind, masks in mistakes([mask for _, mask in pairs], seed):
        bad = [fit.measure(image, mask) for (image, _), mask in zip(pairs, masks, strict=True)]
        named = 0
        for fold in range(FOLDS):
            planted = set(order[fold::FOLDS].tolist())
            fits = [bad[n] if n in planted else one for n, one in enumerate(good)]
            suspects = set(fit.judge(fits).suspects)
            named += len(suspects & planted)
            wrong += len(suspects - planted)
            right += len(order) - len(planted)
        recall[kind] = named / max(1, len(order))
    return len(order), recall, wrong / max(1, right)


def row(name: str, pairs: Sequence[Pair], seed: int) -> str:
    """Returns a row of the table."""
    judged, recall, wrong = measure(pairs, seed)
    cells = [name, str(judged), *(f"{100 * share:.0f}" for share in recall.values())]
    return f"| {' | '.join(cells)} | {100 * wrong:.1f} |"


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
                yield reduced(example[IMAGE], png_pixels.decode_values(File(example[MASK], "mask")))
            except VocSegError:
                continue


def reduced(image: bytes, mask: np.ndarray) -> Pair:
    """Returns an image as it is compared, and its mask."""
    height, width = fit.size_to_compare(*mask.shape)
    still = pillow.decode(File(image, "image"), ImageError, side=min(height, width))
    return still.resized(height, width).rgb(), mask


def main() -> None:
    """Prints the row of one folder."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    tree_arguments.add(parser)
    args = parser.parse_args()
    print(row(epath.Path(args.root).name, list(read(args)), args.seed))


if __name__ == "__main__":
    main()
