"""What stands in the sections of the report page, as plain values for its template."""

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
from typing import Any

import numpy as np

from voc_seg_tfrecord.audit.leaks import Shared
from voc_seg_tfrecord.facts import lists
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.gather import SplitFacts
from voc_seg_tfrecord.stats.counts import ClassCounts, missing_classes


@dataclasses.dataclass(frozen=True)
class Finding:
    """Something that its owner should know; `grave` if results would be wrong."""

    title: str
    text: str
    grave: bool = False
    items: tuple[str, ...] = ()


_SHOWN = 10


def findings(
    facts: Mapping[str, SplitFacts], shared: Sequence[Shared], alike: int, alike_more: bool
) -> Iterator[Finding]:
    """Yields what was found, the gravest first."""
    for both in shared:
        if both.examples:
            yield _shared(both)
    problems = [(split, i, p) for split, f in facts.items() for _, i, p in f.problems]
    if problems:
        lines = [f"{split}, {image_id}: {problem}" for split, image_id, problem in problems]
        yield Finding(
            "Damaged records",
            f"{_count(len(problems), 'problem')} in the records. The page counts what can be read.",
            grave=True,
            items=_first(lines),
        )
    if alike:
        pairs = f"{'more than ' if alike_more else ''}{_count(alike, 'pair')}"
        yield Finding(
            "Images that look alike",
            f"{pairs} of images in two splits look alike, though their files differ. They may be "
            "copies that were scaled or encoded again, or frames of one film.",
        )
    by_split = {split: ClassCounts(f.present.sum(0).astype(np.int64)) for split, f in facts.items()}
    names = next((f.stats.class_names for f in facts.values()), ())
    for sentence in missing_classes(names, by_split):
        nowhere = sentence.startswith("no image")
        text = f"{'N' + sentence[1:] if nowhere else 'Split ' + sentence}."
        yield Finding("Absent classes", text)


def _shared(both: Shared) -> Finding:
    first, second = both.first.name, both.second.name
    pairs = [a if a == b else f"{a} = {b}" for a, b in both.images]
    return Finding(
        "Training data meets evaluation data" if both.is_leak else "Images in two splits",
        f"{first} and {second} share {_count(both.examples, 'example')}.",
        grave=both.is_leak,
        items=_first(pairs or [f"{i}, by its id" for i in both.ids]),
    )


def _first(lines: Sequence[str]) -> tuple[str, ...]:
    more = [f"and {len(lines) - _SHOWN:,} more"] if len(lines) > _SHOWN else []
    return (*lines[:_SHOWN], *more)


def split_rows(facts: Mapping[str, SplitFacts]) -> list[dict[str, Any]]:
    """Returns one row per split."""
    rows = []
    for split, f in facts.items():
        sizes = f.stats.sizes
        rows.append(
            {
                "split": split,
                "examples": len(f.stats.ids),
                "sources": f.sources,
                "classes": int((f.stats.images > 0).sum()),
                "objects": None if f.stats.objects is None else int(f.stats.objects.sum()),
                "void": f.stats.void_share if len(f.shares) else None,
                "pixels": int(f.stats.pixels.sum()) + f.stats.void,
                "low": sizes.min(0).tolist() if len(sizes) else None,
                "middle": np.median(sizes, 0).astype(int).tolist() if len(sizes) else None,
                "high": sizes.max(0).tolist() if len(sizes) else None,
                "common": f.stats.most_common_sizes(3) if len(sizes) else [],
                "ids_sha256": f.stats.ids_sha256,
                "list": lists.identify(f.stats.ids_sha256),
                "fingerprint": f.fingerprint,
            }
        )
    return rows


def class_rows(facts: Mapping[str, SplitFacts], names: Sequence[str]) -> list[dict[str, Any]]:
    """Returns one row per class, in mask order."""
    return [
        {
            "label": label,
            "name": clean(name),
            "splits": [
                {
                    "images": int(f.stats.images[label]),
                    "pixels": int(f.stats.pixels[label]),
                    "share": float(f.stats.share[label]),
                    "objects": None if f.stats.objects is None else int(f.stats.objects[label]),
                }
                for f in facts.values()
            ],
            "images": sum(int(f.stats.images[label]) for f in facts.values()),
        }
        for label, name in enumerate(names)
    ]


def object_rows(facts: Mapping[str, SplitFacts]) -> list[dict[str, Any]]:
    """Returns one row per class that has objects: how large they are."""
    objects = np.concatenate([np.zeros((0, 5), np.int64), *(f.objects for f in facts.values())])
    rows = []
    for label in np.unique(objects[:, 2]).tolist():
        pixels = objects[objects[:, 2] == label, 3]
        shares = pixels / np.maximum(1, objects[objects[:, 2] == label, 4])
        rows.append(
            {
                "label": label,
                "objects": len(pixels),
                "low": int(pixels.min()),
                "middle": int(np.median(pixels)),
                "high": int(pixels.max()),
                "share": float(np.median(shares)),
            }
        )
    return rows


def by_images(facts: Mapping[str, SplitFacts], names: Sequence[str]) -> list[int]:
    """Returns the classes, those in most images first."""
    images = sum((f.stats.images for f in facts.values()), np.zeros(len(names), np.int64))
    return sorted(range(len(names)), key=lambda label: (-images[label], label))


def _count(number: int, word: str) -> str:
    return f"{number:,} {word}{'' if number == 1 else 's'}"
