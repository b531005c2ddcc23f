"""The page of a tree before it is built: what `check` found, with the files that it is about."""

import collections
from collections.abc import Iterator
import dataclasses

from etils import epath
import numpy as np

from voc_seg_tfrecord.build_from.describe import describe
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import share_advice
from voc_seg_tfrecord.labels import VOID, background_index
from voc_seg_tfrecord.masks.class_counts import ClassCounts
from voc_seg_tfrecord.own_data.findings import STOPS, Finding, Report
from voc_seg_tfrecord.report import charts, page
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.offenders import Offenders
from voc_seg_tfrecord.report.thumbnails import Shown
from voc_seg_tfrecord.sheets.overlay import class_colors

_FIRST, _MESSAGES = 3, 50  # of a kind


@dataclasses.dataclass(frozen=True)
class _Kind:
    """All findings of one kind.

    Attributes:
      kind: the sort of finding.
      effect: what a build does about it.
      count: how many there are.
      messages: the first of them, with advice said once.
      others: more of them, likewise.
      more: how many are not shown.
      shown: images that they are about, and the splits that list them.
    """

    kind: str
    effect: str
    count: int
    messages: list[str]
    others: list[str]
    more: int
    shown: list[tuple[str, Shown]]


def write_tree(
    report: Report, config: VocSegConfig | None, out: epath.Path, *, root: str, found_at: str
) -> None:
    """Writes the page of a checked tree.

    Args:
      report: what `check_tree` found.
      config: what a build would be told; None if there is no tree to read.
      out: where to, as `page.check_out` returns it.
      root: the folder as the user named it, which may be an archive.
      found_at: where it lies unpacked; the page says `root` in its place.

    Raises:
      ConfigError: if the file cannot be written.
    """
    background = None
    if config is not None:
        background = background_index(config.built_class_names, config.built_background)
    colors = class_colors(background)
    used = [c for c, n in enumerate(report.class_names) if n != f"class {c}" or report.pixels[c]]
    names = [clean(name) for name in report.class_names]
    by_split = dict(report.by_split) or {"all": ClassCounts(report.images, report.pixels)}
    foreground = sorted((c for c in used if c != background), key=lambda c: -report.images[c])
    text = page.render(
        "tree",
        colors,
        range(len(names)),
        title=root.rstrip("/").rpartition("/")[2] or root,
        root=root,
        ok=report.ok,
        examined=report.examined,
        stops=sum(finding.effect == STOPS for finding in report.findings),
        kinds=list(_kinds(report, Offenders(report, config, colors), root, found_at)),
        plan=describe(report.plan, config).replace(found_at, root) if report.plan else "",
        splits=dict(report.plan.splits) if report.plan else {},
        names=[*names, *[f"value {n}" for n in range(len(names), VOID)], "void"],
        used=used,
        background=background,
        by_split=by_split,
        pixels=int(report.pixels.sum()),
        charts=_charts(by_split, names, foreground, colors),
    )
    page.save(text, out)


def _kinds(report: Report, offenders: Offenders, root: str, found_at: str) -> Iterator[_Kind]:
    kinds: dict[tuple[str, str], list[Finding]] = collections.defaultdict(list)
    for finding in report.findings:
        kinds[finding.kind, finding.effect].append(finding)
    for (kind, effect), found in sorted(kinds.items(), key=lambda k: (k[0][1] != STOPS, k[0])):
        messages = [finding.message.replace(found_at, root) for finding in found]
        first, others = messages[:_FIRST], messages[_FIRST:_MESSAGES]
        more = len(messages) - len(first) - len(others)
        yield _Kind(
            kind,
            effect,
            len(found),
            share_advice(first),
            share_advice(others),
            more,
            offenders.of(found),
        )


def _charts(
    by_split: dict[str, ClassCounts], names: list[str], labels: list[int], colors: np.ndarray
) -> dict[str, str]:
    labels = labels[: charts.CLASSES]
    if not labels or not any(counts.images.any() for counts in by_split.values()):
        return {}
    shown = [names[label] for label in labels], [page.hex_color(colors[label]) for label in labels]
    images = {split: c.images[labels].tolist() for split, c in by_split.items()}
    pixels = {
        split: (c.pixels[labels] / max(1, c.pixels[:VOID].sum())).tolist()
        for split, c in by_split.items()
    }
    return {
        "pixels": charts.bars("Pixels per class, as a share", pixels, *shown, "{:.2%}", "pixels"),
        "images": charts.bars("Images per class", images, *shown, "{:,}", "images"),
    }
