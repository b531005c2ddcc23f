"""Plants mistakes in the masks of a set, and measures how many are named, and how many good ones.

    python benchmarks/label_errors.py FOLDER [--class_names NAMES ...] [--seed 0] [--swap]

FOLDER and the options are those of `check`. Of each kind of misplaced mask, every mask is planted
once: an eighth of the set at a time, so that seven eighths are right. With `--swap` 3 % of the
regions get another class instead, at random, with three seeds. Prints one row of a table of
docs/background/detection.md. Nothing is written.
"""

import argparse
from collections.abc import Iterator, Sequence
import dataclasses

from etils import epath
import numpy as np
from scipy import ndimage

from voc_seg_tfrecord.build_from.tree import plan_to_build
from voc_seg_tfrecord.commands import arguments
from voc_seg_tfrecord.core.errors import ImageError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import IMAGE, MASK, VOID
from voc_seg_tfrecord.formats import pillow, png_values, stills
from voc_seg_tfrecord.quality import appearance, fit
from voc_seg_tfrecord.quality.evidence import measure_appearances
from voc_seg_tfrecord.quality.misfits import find_misfits
from voc_seg_tfrecord.quality.mislabeled_regions import compare_regions
from voc_seg_tfrecord.quality.regions import find_regions
from voc_seg_tfrecord.writing.examples import make_example

FOLDS = 8
SHIFTS = (10, 20, 30, 60)

SWAPPED = 0.03
"""Of the regions, which get another class."""

Pair = tuple[np.ndarray, np.ndarray]
"""The image as it is compared, uint8 `[h, w, 3]`, and the mask, uint8 `[H, W]`."""


def read(args: argparse.Namespace) -> Iterator[tuple[str, stills.Still, np.ndarray]]:
    """Yields id, image and mask of the pairs of a folder that a build could read."""
    plan = plan_to_build(epath.Path(args.root), name="own", **arguments.tree_fields(args))
    config = plan.config
    spec = dataclasses.replace(config.example_spec(plan.mask_rule), decoding="none")
    for split, ids in plan.splits.items():
        for image_id in ids:
            try:
                (pair,) = plan.tree.pairs(split, [image_id], config.needed_files)
                example = make_example(pair.read(), spec)
                mask = png_values.decode_values(File(example[MASK], "mask"))
                yield image_id, pillow.decode(File(example[IMAGE], "image"), ImageError), mask
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
    neighbors = []
    for number, mask in enumerate(masks):
        others = (*masks[number + 1 :], *masks[:number])
        neighbors.append(next((other for other in others if other.shape == mask.shape), mask))
    yield neighbors


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
            suspects = {misfit.number for misfit in find_misfits(fits).misfits}
            named += len(suspects & planted)
            wrong += len(suspects - planted)
            right += len(order) - len(planted)
        cells.append(f"{100 * named / max(1, len(order)):.0f}")
    return f"| {' | '.join(cells)} | {100 * wrong / max(1, right):.1f} |"


def swapped(mask: np.ndarray, place: int, label: int) -> np.ndarray:
    """Returns a mask in which the region that has a pixel is of another class."""
    parts, _ = ndimage.label(mask == mask.flat[place], np.ones((3, 3)))
    return np.where(parts == parts.flat[place], np.uint8(label), mask)


def row_of_swaps(name: str, args: argparse.Namespace) -> str:
    """Returns a row of the table of wrong classes, in percent.

    A region that melts into a neighbor of its new class is none any more, and does not count.
    """
    ids, stills, masks = zip(*read(args), strict=True)
    clean = [measure_appearances(*pair) for pair in zip(stills, masks, strict=True)]
    regions = [  # image, class, box and first pixel
        (n, row[0], row[2:6], row[6])
        for n, mask in enumerate(masks)
        for row in find_regions(mask, lambda table: table).rows.tolist()
        if row[1] >= appearance.MIN_REGION_PIXELS
    ]
    classes = sorted({label for _, label, _, _ in regions})
    found = []
    for seed in range(3):
        random = np.random.default_rng(seed)
        chosen = random.choice(len(regions), round(SWAPPED * len(regions)), replace=False)
        planted, changed = set(), dict(enumerate(masks))
        for n, label, box, place in (regions[i] for i in chosen):
            other = int(random.choice([c for c in classes if c != label]))
            changed[n] = swapped(changed[n], place, other)
            planted.add((n, other, *box))
        described = list(clean)
        for n in {place[0] for place in planted}:
            described[n] = measure_appearances(stills[n], changed[n])
        wrong = {
            (n, number)
            for n, other, *box in planted
            for number, region in enumerate(described[n])
            if region.label == other
            and np.abs(np.subtract(box, region.box)).max() <= 0.05 * max(masks[n].shape)
        }
        suspects = compare_regions(described, ids, []).mislabeled
        hits = [(s.number.image, s.number.region) in wrong for s in suspects]
        alarms = np.cumsum(~np.array(hits, bool))
        of_clean = len(regions) - len(wrong)
        found.append(
            [
                sum(hits[: np.searchsorted(alarms, share * of_clean, "right")]) / len(wrong)
                for share in (0.003, 0.01)
            ]
            + [np.mean(hits[: len(wrong) // 2] or [0]), sum(~np.array(hits, bool)) / of_clean]
        )
    unaltered = len(compare_regions(clean, ids, []).mislabeled) / len(regions)
    cells = [f"{100 * share:.1f}" for share in (*np.mean(found, 0), unaltered)]
    return f"| {name} | {len(ids)} | {len(regions)} | {len(classes)} | {' | '.join(cells)} |"


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    arguments.add_tree(parser)
    parser.add_argument("--swap", action="store_true", help="plant wrong classes")
    args = parser.parse_args()
    name = epath.Path(args.root).name
    if args.swap:
        print(row_of_swaps(name, args))
    else:
        sizes = ((still, mask, fit.reduced_size(mask.shape)) for _, still, mask in read(args))
        pairs = [(still.resized(*size).rgb(), mask) for still, mask, size in sizes]
        print(row(name, pairs, args.seed))
