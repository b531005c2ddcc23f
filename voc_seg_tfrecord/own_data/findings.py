"""The findings of a check, and their summary as plain data."""

import collections
import dataclasses
from typing import Any

import numpy as np

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.masks.class_counts import ClassCounts
from voc_seg_tfrecord.own_data.plan import Plan
from voc_seg_tfrecord.trees.tree import VocTree

STOPS, LEFT_OUT, IGNORED = "stops", "left out", "ignored"
"""What a build does about a finding."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One fact about a tree that its owner should know.

    Attributes:
      kind: the sort of finding.
      where: the file, list or ids.
      message: what was found, in full.
      effect: what a build does about it: `stops`, `left out` or `ignored`.
      ids: the images that it is about, if `where` is none of them.
    """

    kind: str
    where: str
    message: str
    effect: str = STOPS
    ids: tuple[str, ...] = ()


@dataclasses.dataclass
class Report:
    """What was found in a tree.

    Attributes:
      findings: in the order in which they were found.
      plan: what a build would do, None if it could not be decided.
      class_names: the classes, in mask order.
      pixels: int64 `[256]`, pixels of each class index over all masks that can be used.
      images: int64 `[256]`, masks that have the class.
      by_split: the same for each split of a build; empty if the splits are not decided.
      examined: images that were read.
      tree: the tree, None if there is none that could be read.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    plan: Plan | None = None
    class_names: tuple[str, ...] = ()
    pixels: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))
    images: np.ndarray = dataclasses.field(default_factory=lambda: np.zeros(256, np.int64))
    by_split: dict[str, ClassCounts] = dataclasses.field(default_factory=dict)
    examined: int = 0
    tree: VocTree | None = None

    @property
    def ok(self) -> bool:
        """Whether a build would go through."""
        return not any(finding.effect == STOPS for finding in self.findings)


def finding_of(error: VocSegError) -> Finding:
    """Returns an error as a finding."""
    return Finding(error.kind, error.where, str(error))


def summary(report: Report) -> dict[str, Any]:
    """Returns a report as plain data, which can be written as JSON."""
    kinds: dict[tuple[str, str], list[Finding]] = collections.defaultdict(list)
    for finding in report.findings:
        kinds[finding.kind, finding.effect].append(finding)
    plan = report.plan
    return {
        "ok": report.ok,
        "root": str(plan.tree.root) if plan else "",
        "examined": report.examined,
        "splits": {split: len(ids) for split, ids in plan.splits.items()} if plan else {},
        "findings": [
            {
                "kind": kind,
                "effect": effect,
                "count": len(found),
                "messages": [finding.message for finding in found],
                "where": [finding.where for finding in found],
            }
            for (kind, effect), found in sorted(kinds.items(), key=lambda k: (k[0][1] != STOPS, k))
        ],
        "classes": [
            {
                "index": index,
                "name": name,
                "pixels": int(report.pixels[index]),
                "images": int(report.images[index]),
                "splits": {
                    split: {"images": int(c.images[index]), "pixels": int(c.pixels[index])}
                    for split, c in report.by_split.items()
                },
            }
            for index, name in [*enumerate(report.class_names), (255, "void")]
        ],
    }
