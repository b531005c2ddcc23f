"""The page of a tree before it is built: what `check` found, with thumbnails of the files."""

from collections.abc import Iterator, Sequence
import dataclasses
from typing import Any

from etils import epath
import numpy as np

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ImageError, MaskError, VocSegError, share_advice
from voc_seg_tfrecord.base.names import MASK, VOID, background_index
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.examples.make import make_example
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.masks import stored
from voc_seg_tfrecord.own_data.check import Report, by_kind, unknown_boxes
from voc_seg_tfrecord.pictures.overlay import class_colors
from voc_seg_tfrecord.quality.rules import STOPS, Box, Finding
from voc_seg_tfrecord.report import charts, page
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.thumbnails import (
    SIDE,
    Shown,
    box_crops,
    image_url,
    is_small,
    layer_url,
    mask_url,
    shares,
)
from voc_seg_tfrecord.stats.counts import ClassCounts
from voc_seg_tfrecord.trees.pair import Pair

OF_A_KIND = 6
"""Images that are shown of one kind of finding, at most."""

_BOXES = 8  # on one image


@dataclasses.dataclass(frozen=True)
class Offender:
    """One image that a finding is about.

    Attributes:
      splits: those that list it.
      shown: its thumbnails.
      boxes: around what is wrong, the largest first.
      crops: data URLs of the first of them with what is around it: in the image and in the mask.
      mask_size: height and width of the mask, if the image has another size.
      message: what may be wrong with its label, if the finding is about that.
    """

    splits: str
    shown: Shown
    boxes: Sequence[Box]
    crops: Sequence[str]
    mask_size: tuple[int, int] | None
    message: str


@dataclasses.dataclass(frozen=True)
class Offenders:
    """Shows the images and masks of a tree that findings are about.

    Attributes:
      report: what was found.
      config: the config of a build.
      colors: of the mask values, uint8 `[256, 3]`.
      background: index of the background class, None if there is none.
    """

    report: Report
    config: VocSegConfig | None
    colors: np.ndarray
    background: int | None

    def of(self, findings: list[Finding]) -> list[Offender]:
        """Returns the first images of these findings."""
        if self.report.tree is None:
            return []
        found: dict[str, Finding] = {}
        for finding in findings:
            for image_id in self.report.ids_of(finding):
                found.setdefault(image_id, finding)
        return [self._show(*item) for item in list(found.items())[:OF_A_KIND]]

    def _show(self, image_id: str, finding: Finding) -> Offender:
        tree, plan = self.report.tree, self.report.plan
        layout, image_name, mask_name = (
            tree.layout,
            *(n.get(image_id) for n in (tree.images, tree.masks)),
        )
        image = tree.root / layout.images / image_name if image_name else None
        mask = tree.root / layout.masks / mask_name if mask_name else None
        size, url = _image(image)
        by_class = self._mask(Pair(image_id, image_id, image, mask)) if image and mask else None
        values, colors = _stored(mask, self.colors) if by_class is None else (by_class, self.colors)
        lists = [split for split, ids in plan.splits.items() if image_id in ids] if plan else []
        shown = Shown(
            image_id,
            str(tree.images.get(image_id, "no image")),
            *size,
            url,
            _mask_url(values, colors),
            () if by_class is None else shares(by_class),
            {},
            "" if by_class is None else layer_url(by_class, self.colors, self.background),
        )
        found = [finding.box] if finding.box else []
        if by_class is None:  # all boxes of which the finding has the first
            found = self._unknown(mask)
        boxes = [box for box in found if is_small(box, size)]
        same = not values.size or values.shape[:2] == size
        crops = box_crops(_pixels(image), values, colors, boxes[0]) if boxes and same else ()
        mask_size = None if same or not url else values.shape[:2]
        message = finding.message if finding.score and finding.box else ""
        return Offender(", ".join(lists) or "in no split", shown, boxes, crops, mask_size, message)

    def _mask(self, pair: Pair) -> np.ndarray | None:
        """Returns the classes of a mask, uint8 `[H, W]`; None if a build could not read it."""
        if self.report.plan is None or self.config is None:
            return None
        spec = self.config.example_spec(self.report.plan.rule)
        spec = dataclasses.replace(spec, decoding="none", instances=False, objects=False)
        try:
            example = make_example(pair.read(), spec)
            return pillow.decode(File(example[MASK], pair.id), MaskError).values()
        except Exception:  # as in a check: whatever a file does to a decoder
            return None

    def _unknown(self, path: epath.Path | None) -> list[Box]:
        """Returns boxes around the regions of a mask whose values or colours are no class."""
        if path is None or self.report.plan is None or self.report.plan.rule is None:
            return []
        try:
            return unknown_boxes(File.read(path, MaskError), self.report.plan.rule)[:_BOXES]
        except VocSegError:
            return []


def _image(path: epath.Path | None) -> tuple[tuple[int, int], str]:
    """Returns height, width and data URL of an image; nothing of one that shows nothing."""
    if path is None:
        return (0, 0), ""
    try:
        file = File.read(path, ImageError)
        still = pillow.decode(file, ImageError, side=SIDE, damaged=True)
        return still.full_size, image_url(still.rgb())
    except VocSegError:
        return (0, 0), ""


def _stored(path: epath.Path | None, colors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns a mask as it is in its file, and its colours, its own if it has any.

    The mask is uint8 `[H, W]`, or `[H, W, 3]` if it holds colours; `[0, 0]` if it cannot be read.
    """
    if path is not None:
        try:
            file = File.read(path, MaskError)
            if path.suffix == ".npy":
                return stored.read_samples(file).values.astype(np.uint8), colors
            still = pillow.decode(file, MaskError, damaged=True)
            if still.values().ndim != 2:
                return still.rgb(), colors
            own = still.palette()
            if own is not None:
                colors = np.zeros((256, 3), np.uint8)
                colors[: len(own)] = own
            return still.values().astype(np.uint8), colors
        except Exception:  # as above
            pass
    return np.zeros((0, 0), np.uint8), colors


def _mask_url(values: np.ndarray, colors: np.ndarray) -> str:
    if not values.size:
        return ""
    return mask_url(values, colors) if values.ndim == 2 else image_url(values)


def _pixels(path: epath.Path | None) -> np.ndarray | None:
    """Returns an image, uint8 `[H, W, 3]`; None if it cannot be decoded."""
    try:
        return pillow.decode(File.read(path, ImageError), ImageError, damaged=True).rgb()
    except VocSegError:
        return None


_FIRST, _MESSAGES = 3, 50  # of a kind


def write_tree(
    report: Report,
    config: VocSegConfig | None,
    out: epath.Path,
    plan: str,
    *,
    root: str,
    found_at: str,
) -> None:
    """Writes the page of a checked tree.

    Args:
      report: what `check_tree` found.
      config: the config of a build; None if there is no tree to read.
      out: where to, as `staging.check_file` returns it.
      plan: what a build would do, in words.
      root: the folder as the user named it, which may be an archive.
      found_at: where it lies unpacked; the page says `root` in its place.

    Raises:
      ConfigError: if the file cannot be written.
    """
    background = None
    if config is not None:
        background = background_index(config.built_class_names, config.built_background)
    colors = class_colors(background)
    total = report.total
    used = [c for c, n in enumerate(report.class_names) if n != f"class {c}" or total.pixels[c]]
    names = [clean(name) for name in report.class_names]
    by_split = dict(report.by_split) or {"all": total}
    foreground = sorted((c for c in used if c != background), key=lambda c: -total.images[c])
    kinds = list(_kinds(report, Offenders(report, config, colors, background), root, found_at))
    text = page.render(
        "tree",
        colors,
        range(len(names)),
        title=root.rstrip("/").rpartition("/")[2] or root,
        root=root,
        ok=report.ok,
        examined=report.examined,
        stops=sum(finding.effect == STOPS for finding in report.findings),
        kinds=kinds,
        views=any(kind["shown"] for kind in kinds),
        plan=plan.replace(found_at, root),
        splits=dict(report.plan.splits) if report.plan else {},
        names=[*names, *[f"value {n}" for n in range(len(names), VOID)], "void"],
        used=used,
        background=background,
        by_split=by_split,
        pixels=int(total.pixels.sum()),
        charts=_charts(by_split, names, foreground, colors),
    )
    staging.write_file(out, text, "--html")


def _kinds(
    report: Report, offenders: Offenders, root: str, found_at: str
) -> Iterator[dict[str, Any]]:
    """Yields what the page shows of each kind of findings, those that stop a build first."""
    for (kind, effect), found in by_kind(report.findings).items():
        messages = [finding.message.replace(found_at, root) for finding in found]
        first, others = messages[:_FIRST], messages[_FIRST:_MESSAGES]
        yield {
            "kind": kind,
            "effect": effect,
            "count": len(found),
            "messages": share_advice(first),
            "others": share_advice(others),
            "more": len(messages) - len(first) - len(others),
            "shown": offenders.of(found),
        }


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
