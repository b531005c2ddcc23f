"""The page of a tree before it is built: what `check` found, with thumbnails of the files."""

from collections.abc import Iterator, Sequence
import contextlib
import dataclasses
import threading
from typing import Any

from etils import epath
import numpy as np

from voc_seg_tfrecord.audit.check import Report, by_kind, unknown_boxes
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ImageError, MaskError, VocSegError, share_advice
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.names import MASK, VOID, background_index
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.formats import images, mask_samples, pillow
from voc_seg_tfrecord.quality.finding import ALL_MASKS, STOPS, Correction, Finding
from voc_seg_tfrecord.quality.regions import Box
from voc_seg_tfrecord.report import charts, thumbnails
from voc_seg_tfrecord.report.charts import clean
from voc_seg_tfrecord.report.overlay import Look, class_colors, shares
from voc_seg_tfrecord.report.thumbnails import SIDE, Card, Shown
from voc_seg_tfrecord.writing.examples import make_example

MOST = 500
"""Cards of a page, at most. What is beyond them is counted."""

BUDGET = 5_200_000
"""Letters of all thumbnails together. Cards beyond it have none, and the page says so."""

_MANY = 60  # cards, from which thumbnails are smaller
_OF_A_GROUP = 4  # cards of one finding
_REGION = 120  # pixels of an image that is shown beside a region


@dataclasses.dataclass
class Cards:
    """Makes the cards of a page about what was found, until its budget is spent.

    Attributes:
      report, config, look: what was found, by the config of a build, and how classes are drawn.
      side: pixels of the longer side of a thumbnail.
      made: how many there are.
      weight: letters of their thumbnails, with those of the first card for which there was no room.
      bare: how many have no thumbnails, because the budget was spent.
      regions: data URLs of regions that several cards show beside their own, by image and box.
    """

    report: Report
    config: VocSegConfig | None
    look: Look
    side: int = SIDE
    made: int = 0
    weight: int = 0
    bare: int = 0
    regions: dict[tuple[str, Box], str] = dataclasses.field(default_factory=dict)

    def of(self, findings: list[Finding]) -> list[Card]:
        """Returns the cards of findings of one kind, as far as there is room for them."""
        # Of images with findings that stop a build one is enough; a label has one per finding.
        items = {
            (i, f.ids, f.suggested and f.box): (i, f)
            for f in reversed(findings)
            for i in self._shown_of(f)
        }
        chosen = list(reversed(items.values()))[: MOST - self.made]
        self.made += len(chosen)
        cards: list[Card] = []
        drawn = chosen if self.weight <= BUDGET else []
        for _, finding in drawn:  # before threads do, as these would number them in any order
            self._regions_beside(finding)
        for _, card in ordered_map(lambda item: self._card(*item), drawn):
            self.weight += card.weight
            if self.weight > BUDGET:
                break
            cards.append(card)
        bare = chosen[len(cards) :]
        self.bare += len(bare)
        return [*cards, *(self._made(f, Shown(i, i, 0, 0)) for i, f in bare)]

    def _shown_of(self, finding: Finding) -> Sequence[str]:
        ids = self.report.ids_of(finding)
        return ids[-1:] if finding.box and finding.score else ids[:_OF_A_GROUP]

    def _made(self, finding: Finding, shown: Shown, **drawn: Any) -> Card:
        plan, ids = self.report.plan, self.report.ids_of(finding)
        image_id = self.report.tree_id(shown.id)
        lists = [split for split, of in plan.splits.items() if image_id in of] if plan else []
        return Card(
            finding.kind,
            ids,
            self.report.mark_of(finding),
            ", ".join(lists) or "in no split",
            finding.detail or finding.message.partition("\n")[0],
            shown,
            remedy=finding.remedy if finding.effect == STOPS else "",
            **drawn,
        )

    def _card(self, image_id: str, finding: Finding) -> Card:
        tree = self.report.tree
        image, mask = self._paths(image_id)
        by_class = self._mask(image_id) if image and mask else None
        if by_class is None:
            values, look = _stored(mask, self.look)
            boxes = self._unknown(mask)  # all boxes of which the finding has the first
        else:
            values, look = by_class, self.look
            boxes = [finding.box] if finding.box else []
        size = (0, 0) if values is None else values.shape[:2]
        boxes = [box for box in boxes if thumbnails.is_small(box, size)]
        pixels, image_size = _pixels(image, side=None if boxes else self.side)
        photo, drawn, layer = thumbnails.pictures(pixels, values, look, self.side)
        same = values is None or size == image_size
        shown = Shown(
            image_id,
            str(tree.images.get(self.report.tree_id(image_id), "no image")) if tree else "",
            *image_size,
            () if by_class is None else shares(by_class),
            photo,
            drawn,
            "" if by_class is None else layer,
        )
        return self._made(
            finding,
            shown,
            boxes=boxes,
            crops=thumbnails.box_crops(pixels, values, look.palette, boxes[0]) if boxes else (),
            mask_size=None if same or pixels is None else size,
            regions=self._regions_beside(finding),
            **self._fix(finding.fix, by_class),
        )

    def _regions_beside(self, finding: Finding) -> list[tuple[str, int]]:
        """Returns class and number, among `regions`, of what a finding is to be compared with."""
        for _, image_id, box in finding.beside:
            if (image_id, box) not in self.regions:
                pixels, _ = _pixels(self._paths(image_id)[0], side=None)
                crops = thumbnails.box_crops(pixels, pixels, self.look.palette, box)
                whole = "" if pixels is None else thumbnails.image_url(pixels, _REGION)
                self.regions[image_id, box] = crops[0] if crops else whole
                self.weight += len(self.regions[image_id, box])
        numbers = {place: number for number, place in enumerate(self.regions)}
        return [(name, numbers[image_id, box]) for name, image_id, box in finding.beside]

    def _fix(self, fix: Correction | None, mask: np.ndarray | None) -> dict[str, Any]:
        """Returns `fix` and `other` of a card; neither if it cannot be drawn."""
        if fix is None or mask is None:
            return {}
        if not fix.image:
            return {"fix": fix}
        image, other = self._paths(fix.image)
        url = ""
        if fix.way == "another image":
            pixels, _ = _pixels(image, side=self.side)
            url = "" if pixels is None else thumbnails.image_url(pixels, self.side)
        elif image and other:
            values = self._mask(fix.image)
            if values is not None and values.shape == mask.shape:
                url = thumbnails.layer_url(thumbnails.small_mask(values, self.side), self.look)
        return {"fix": fix, "other": url} if url else {}

    def _paths(self, image_id: str) -> tuple[epath.Path | None, epath.Path | None]:
        """Returns where image and mask of an id lie; only files of the tree are ever read."""
        tree, tree_id = self.report.tree, self.report.tree_id(image_id)
        files = tree.files_of(tree_id) if tree else {}
        image, mask = (files[part][0] if part in files else None for part in ("image", "mask"))
        return image, mask

    def _mask(self, image_id: str) -> np.ndarray | None:
        """Returns the classes of a mask, uint8 `[H, W]`; None if a build could not read it."""
        tree = self.report.tree
        if self.report.plan is None or self.config is None or tree is None:
            return None
        spec = self.config.example_spec(self.report.plan.mask_rule)
        spec = dataclasses.replace(spec, decoding="none", instances=False, objects=False)
        try:
            example = make_example(tree.items()[self.report.tree_id(image_id)].read(), spec)
            return pillow.decode(File(example[MASK], image_id), MaskError).values()
        except Exception:  # as in a check: whatever a file does to a decoder
            return None

    def _unknown(self, path: epath.Path | None) -> list[Box]:
        """Returns boxes around the regions of a mask whose values or colours are no class."""
        if path is not None and self.report.plan and self.report.plan.mask_rule:
            with contextlib.suppress(VocSegError):
                return unknown_boxes(File.read(path, MaskError), self.report.plan.mask_rule)
        return []


def _stored(path: epath.Path | None, look: Look) -> tuple[np.ndarray | None, Look]:
    """Returns a mask as it is in its file, and how it is drawn: in its own colours if it has any.

    The mask is uint8 `[H, W]`, or `[H, W, 3]` if it holds colours; None if it cannot be read.
    """
    if path is None:
        return None, look
    try:
        file = File.read(path, MaskError)
        if path.suffix == ".npy":
            return mask_samples.read_samples(file).values.astype(np.uint8), look
        still = _decode(file, MaskError)
        if still.values().ndim != 2:
            return still.rgb(), look
        own = still.palette()
        if own is not None:
            black = np.zeros((256 - len(own), 3), np.uint8)
            look = dataclasses.replace(look, palette=np.concatenate([own, black]))
        return still.values().astype(np.uint8), look
    except Exception:  # as above
        return None, look


_ONE = threading.Lock()


def _decode(file: File, error: type[VocSegError], side: int | None = None) -> pillow.Still:
    """Decodes a file, one that is truncated as far as it goes, which one thread at a time may."""
    try:
        return images.decode(file, side=side)
    except VocSegError:
        with _ONE:
            return pillow.decode(file, error, damaged=True)


def _pixels(
    path: epath.Path | None, *, side: int | None
) -> tuple[np.ndarray | None, tuple[int, int]]:
    """Returns an image, uint8 `[H, W, 3]`, and its size; None and 0 of one that shows nothing.

    With `side` the image may be smaller than its file says, but not than this.
    """
    if path is None:
        return None, (0, 0)
    with contextlib.suppress(VocSegError):
        file = File.read(path, ImageError)
        if side is None:
            with contextlib.suppress(VocSegError):
                pixels = images.pixels(file)
                return pixels, pixels.shape[:2]
        still = _decode(file, ImageError, side)
        return still.rgb(), still.full_size
    return None, (0, 0)


_MESSAGES = 50  # of a kind


def write_tree(
    report: Report,
    config: VocSegConfig | None,
    out: epath.Path,
    plan: str,
    *,
    root: str,
    found_at: str,
) -> None:
    """Writes the page of a checked tree into a file.

    The config is that of a build, None if there is no tree to read; `plan` says in words what a
    build would do. The page names the folder as the user did (`root`, which may be an archive), and
    not where it lies unpacked (`found_at`).

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
    cards = Cards(report, config, Look(tuple(names), colors, background))
    if sum(len(report.ids_of(finding)) for finding in report.findings) > _MANY:
        cards.side = SIDE * 3 // 4
    kinds = list(_kinds(report, cards, root, found_at))
    text = thumbnails.render(
        "tree",
        colors,
        range(len(names)),
        title=root.rstrip("/").rpartition("/")[2] or root,
        root=root,
        ok=report.ok,
        bands=str(config.kept_bands) if config and config.kept_bands else "",
        examined=report.examined,
        work=f"check {root}",
        counts={
            "error": sum(finding.effect == STOPS for finding in report.findings),
            "warning": sum(kind["count"] for kind in kinds if kind["word"] == "Warning"),
        },
        kinds=kinds,
        bare=cards.bare,
        regions=list(cards.regions.values()),
        views=any(card.shown.image for kind in kinds for card in kind["cards"]),
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


def _kinds(report: Report, cards: Cards, root: str, found_at: str) -> Iterator[dict[str, Any]]:
    """Yields what the page shows of each kind of findings, those that stop a build first."""
    for (kind, effect), findings in by_kind(report.findings).items():
        findings = sorted(findings, key=lambda finding: -finding.score)
        messages = [finding.message.replace(found_at, root) for finding in findings]
        made = cards.of(findings)
        about_labels = findings[0].score > 0 and kind != ALL_MASKS
        advice = {message.partition("\n")[2] for message in messages}
        yield {
            "kind": kind,
            "word": "Note" if kind == "note" else "Error" if effect == STOPS else "Warning",
            "grave": effect == STOPS,
            "count": len(findings),
            "about_labels": about_labels,
            "advice": advice.pop().strip() if len(advice) == 1 else "",
            "messages": [] if about_labels else share_advice(messages[:_MESSAGES]),
            "cards": made,
            "more": max(0, len(findings) - (len(made) if about_labels else _MESSAGES)),
        }


def _charts(
    by_split: dict[str, Any], names: list[str], labels: list[int], colors: np.ndarray
) -> dict[str, str]:
    if not labels or not any(counts.images.any() for counts in by_split.values()):
        return {}
    shown = names, [thumbnails.hex_color(color) for color in colors], labels
    images = {split: c.images for split, c in by_split.items()}
    pixels = {split: c.pixels / max(1, c.pixels[:VOID].sum()) for split, c in by_split.items()}
    return {
        "pixels": charts.bars("Pixels per class, as a share", pixels, *shown, "{:.2%}"),
        "images": charts.bars("Images per class", images, *shown, "{:,}"),
    }
