"""Makes the cards of the page of a checked folder: one for each example to decide about."""

from collections.abc import Sequence
import contextlib
import dataclasses
import functools

from etils import epath
import numpy as np

from voc_seg_tfrecord.audit.check import Report, unknown_boxes
from voc_seg_tfrecord.core.errors import MaskError, VocSegError
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.threads import ordered_map
from voc_seg_tfrecord.quality.finding import STOPS, Correction, Finding
from voc_seg_tfrecord.quality.regions import Box
from voc_seg_tfrecord.report.band_display import BandDisplay
from voc_seg_tfrecord.report.folder_examples import FolderExamples
from voc_seg_tfrecord.report.lenient_decoding import (
    DecodedImage,
    decode_image,
    decode_stored_mask,
)
from voc_seg_tfrecord.report.overlay import ClassStyle, measure_shares
from voc_seg_tfrecord.report.sections import MAX_CHARACTERS, Card, ComparedThumbnail
from voc_seg_tfrecord.report.thumbnails import (
    SIDE_PX,
    ExampleThumbnails,
    crop_box,
    image_url,
    is_small,
    layer_url,
    make_pictures,
    reduce_mask,
)

MAX_CARDS = 500
"""Cards of a page, at most. The page says how many more there are."""

_MAX_CARDS_OF_FINDING = 4
_COMPARED_REGION_SIDE_PX = 120  # of an image that is shown in place of a large region


@dataclasses.dataclass(frozen=True)
class _CardItem:
    """An image, and a finding about it."""

    image_id: str
    finding: Finding


@dataclasses.dataclass(frozen=True)
class _CorrectionPicture:
    """What would put a mask right, and the data URL of the other image or mask that it needs."""

    correction: Correction | None = None
    other: str = ""


@dataclasses.dataclass(frozen=True)
class _Files:
    """Where image and mask of an id lie; None if there is none."""

    image: epath.Path | None = None
    mask: epath.Path | None = None


@dataclasses.dataclass(frozen=True, eq=False)
class _ShownMask:
    """A mask as a card shows it.

    Attributes:
      values: class indices or what is stored, uint8 `[H, W]`, or colors, uint8 `[H, W, 3]`; None if
        it cannot be decoded.
      style: how the values are drawn.
      found_boxes: around what is wrong.
      has_classes: whether the values are class indices.
    """

    values: np.ndarray | None
    style: ClassStyle
    found_boxes: Sequence[Box]
    has_classes: bool

    @property
    def size(self) -> tuple[int, ...]:
        """Height and width; 0 if it cannot be decoded."""
        return (0, 0) if self.values is None else self.values.shape[:2]

    @property
    def boxes(self) -> list[Box]:
        """The boxes that are small enough to be drawn."""
        return [box for box in self.found_boxes if is_small(box, self.size)]

    @property
    def shares(self) -> dict[int, float]:
        """The share of the pixels that each class has; empty if the classes are not known."""
        if self.values is None or not self.has_classes:
            return {}
        return measure_shares(self.values)


@dataclasses.dataclass
class CardMaker:
    """Makes cards until the budget of the page is spent.

    Attributes:
      report: what was found in the folder.
      examples: those that a build would make.
      display: how images of more than 8-bit RGB are shown; None if each is shown by itself.
      style: how classes are drawn.
      side: the longer side of a thumbnail, at most.
      cards_without_images: how many have none, because the budget was spent.
      region_urls: data URLs of regions that several cards show beside their own.
    """

    report: Report
    examples: FolderExamples
    display: BandDisplay | None
    style: ClassStyle
    side: int = SIDE_PX
    cards_without_images: int = dataclasses.field(default=0, init=False)
    region_urls: list[str] = dataclasses.field(default_factory=list, init=False)
    _cards: int = dataclasses.field(default=0, init=False)
    _characters: int = dataclasses.field(default=0, init=False)
    _region_numbers: dict[tuple[str, Box], int] = dataclasses.field(
        default_factory=dict, init=False
    )

    def make_cards(self, findings: Sequence[Finding]) -> list[Card]:
        """Returns the cards of findings of one kind, as far as there is room for them."""
        items = self._choose_items(findings)[: MAX_CARDS - self._cards]
        self._cards += len(items)
        cards = self._draw_within_budget(items)
        remaining_items = items[len(cards) :]
        self.cards_without_images += len(remaining_items)
        return [*cards, *map(self._make_card_without_images, remaining_items)]

    def _draw_within_budget(self, items: Sequence[_CardItem]) -> list[Card]:
        """Returns the cards of the first items: as many as the page still has characters for."""
        if self._characters > MAX_CHARACTERS:
            return []
        for item in items:  # before threads do, as these would number them in any order
            self._draw_compared_regions(item.finding)
        cards: list[Card] = []
        for _, card in ordered_map(self._draw_card, items):
            self._characters += card.characters
            if self._characters > MAX_CHARACTERS:
                break
            cards.append(card)
        return cards

    def _choose_items(self, findings: Sequence[Finding]) -> list[_CardItem]:
        """Returns one item for each image and each label that may be wrong.

        An image may have several findings that stop a build, of which the first one is enough. But
        each region of an image is decided about by itself.
        """
        items: dict[object, _CardItem] = {}
        for finding in findings:
            region = finding.box if finding.suggested else None
            for image_id in self._images_to_show(finding):
                items.setdefault((image_id, finding.ids, region), _CardItem(image_id, finding))
        return list(items.values())

    def _images_to_show(self, finding: Finding) -> Sequence[str]:
        """Returns the later one of copies whose masks differ; else the first ids of a finding."""
        ids = self.report.ids.record_ids(finding)
        if finding.box and finding.score:
            return ids[-1:]
        return ids[:_MAX_CARDS_OF_FINDING]

    def _make_card_without_images(self, item: _CardItem) -> Card:
        finding = item.finding
        return Card(
            kind=finding.kind,
            ids=self.report.ids.record_ids(finding),
            sha256=self.report.ids.mark_of(finding),
            splits=self._splits_of(item.image_id),
            detail=finding.detail or finding.message.partition("\n")[0],
            example=ExampleThumbnails(item.image_id, item.image_id, 0, 0),
            is_error=finding.effect == STOPS,
            remedy=finding.remedy if finding.effect == STOPS else "",
        )

    def _splits_of(self, image_id: str) -> str:
        tree_id = self.report.ids.tree_id(image_id)
        splits = [split for split, ids in self._ids_by_split.items() if tree_id in ids]
        return ", ".join(splits) or "in no split"

    @functools.cached_property
    def _ids_by_split(self) -> dict[str, frozenset[str]]:
        plan = self.report.plan
        if plan is None:
            return {}
        return {split: frozenset(ids) for split, ids in plan.splits.items()}

    def _draw_card(self, item: _CardItem) -> Card:
        """Decodes an image and its mask, and makes their card."""
        finding = item.finding
        files = self._find_files(item.image_id)
        mask = self._decode_mask(item, files)
        image = self._decode_image(item.image_id, side=None if mask.boxes else self.side)
        pictures = make_pictures(image.pixels, mask.values, mask.style, self.side)
        if not mask.has_classes:
            pictures = dataclasses.replace(pictures, layer="")
        height, width = image.size
        has_both = image.pixels is not None and mask.values is not None
        crops = None
        if mask.boxes:
            crops = crop_box(image.pixels, mask.values, mask.style.palette, mask.boxes[0])
        drawn_correction = self._draw_correction(finding.fix, mask)
        return dataclasses.replace(
            self._make_card_without_images(item),
            example=ExampleThumbnails(
                id=item.image_id,
                filename=self._filename_of(item.image_id),
                height=height,
                width=width,
                shares=mask.shares,
                pictures=pictures,
            ),
            boxes=mask.boxes,
            crops=crops,
            mask_size=mask.size if has_both and mask.size != image.size else None,
            fix=drawn_correction.correction,
            other=drawn_correction.other,
            regions=self._compared_regions(finding),
        )

    def _decode_mask(self, item: _CardItem, files: _Files) -> _ShownMask:
        """Returns the classes of a mask; if they are not known, the mask as it is in its file."""
        classes = self._decode_classes(item.image_id) if files.image and files.mask else None
        if classes is not None:
            boxes = [item.finding.box] if item.finding.box else []
            return _ShownMask(classes, self.style, boxes, has_classes=True)
        # The finding has only the first of these boxes.
        boxes = self._find_unknown_boxes(files.mask)
        stored = decode_stored_mask(files.mask)
        if stored is None:
            return _ShownMask(None, self.style, boxes, has_classes=False)
        style = self.style
        if stored.palette is not None:
            style = dataclasses.replace(style, palette=stored.palette)
        return _ShownMask(stored.values, style, boxes, has_classes=False)

    def _filename_of(self, image_id: str) -> str:
        tree = self.report.tree
        if tree is None:
            return ""
        tree_id = self.report.ids.tree_id(image_id)
        return tree.filename_of(tree_id) if tree_id in tree.images else "no image"

    def _draw_compared_regions(self, finding: Finding) -> None:
        """Draws the regions that a finding is to be compared with, each once on the page."""
        for region in finding.beside:
            key = (region.image_id, region.box)
            if key in self._region_numbers:
                continue
            pixels = self._decode_image(region.image_id, side=None).pixels
            crops = crop_box(pixels, pixels, self.style.palette, region.box)
            if crops is not None:
                url = crops.image
            else:
                url = "" if pixels is None else image_url(pixels, _COMPARED_REGION_SIDE_PX)
            self._region_numbers[key] = len(self.region_urls)
            self.region_urls.append(url)
            self._characters += len(url)

    def _compared_regions(self, finding: Finding) -> list[ComparedThumbnail]:
        return [
            ComparedThumbnail(region.class_name, self._region_numbers[region.image_id, region.box])
            for region in finding.beside
        ]

    def _draw_correction(
        self, correction: Correction | None, mask: _ShownMask
    ) -> _CorrectionPicture:
        """Draws the other image or mask that a correction needs, if it can be drawn."""
        if correction is None or not mask.has_classes:
            return _CorrectionPicture()
        if not correction.image:
            return _CorrectionPicture(correction)
        files = self._find_files(correction.image)
        url = ""
        if correction.way == "another image":
            pixels = self._decode_image(correction.image, side=self.side).pixels
            url = "" if pixels is None else image_url(pixels, self.side)
        elif files.image and files.mask:
            other = self._decode_classes(correction.image)
            if other is not None and other.shape == mask.size:
                url = layer_url(reduce_mask(other, self.side), self.style)
        return _CorrectionPicture(correction, url) if url else _CorrectionPicture()

    def _find_files(self, image_id: str) -> _Files:
        """Returns where image and mask of an id lie; only files of the folder are ever read."""
        tree = self.report.tree
        if tree is None:
            return _Files()
        files = tree.existing_paths_by_part(self.report.ids.tree_id(image_id))
        first = {part: paths[0] for part, paths in files.items()}
        return _Files(first.get("image"), first.get("mask"))

    def _decode_image(self, image_id: str, *, side: int | None) -> DecodedImage:
        """Decodes an image; all images of more than 8-bit RGB are shown alike.

        Args:
          image_id: the image.
          side: see `decode_image`.
        """
        if self.display is not None:
            pixels = self.examples.show_bands(self.report.ids.tree_id(image_id), self.display)
            if pixels is not None:
                return DecodedImage(pixels, pixels.shape[:2])
        return decode_image(self._find_files(image_id).image, side=side)

    def _decode_classes(self, image_id: str) -> np.ndarray | None:
        """Returns the classes of a mask, uint8 `[H, W]`; None if a build could not read it."""
        return self.examples.read_classes(self.report.ids.tree_id(image_id))

    def _find_unknown_boxes(self, path: epath.Path | None) -> list[Box]:
        """Returns boxes around the regions of a mask whose values or colors are no class."""
        plan = self.report.plan
        if path is None or plan is None or plan.mask_rule is None:
            return []
        with contextlib.suppress(VocSegError):
            return unknown_boxes(File.read(path, MaskError), plan.mask_rule)
        return []
