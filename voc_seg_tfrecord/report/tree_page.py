"""Writes the page of a folder before it is built: what `check` found, with thumbnails."""

from collections.abc import Mapping, Sequence
import dataclasses
import textwrap

from etils import epath
import numpy as np

from voc_seg_tfrecord.audit.check import Report, by_kind
from voc_seg_tfrecord.core import output_files
from voc_seg_tfrecord.core.class_counts import ClassCounts
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import share_advice
from voc_seg_tfrecord.core.names import VOID, background_index
from voc_seg_tfrecord.formats.archives import FolderNaming
from voc_seg_tfrecord.quality.finding import ALL_MASKS, NOTE, STOPS, Finding
from voc_seg_tfrecord.report.cards import CardMaker
from voc_seg_tfrecord.report.charts import ClassAxis, draw_bars
from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.folder_examples import FolderExamples
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.severity import ERROR, INFORMATION, WARNING
from voc_seg_tfrecord.report.templating import fill_template, hex_color, name_all_values
from voc_seg_tfrecord.report.thumbnails import SIDE_PX, Card, folders_to_filter

_MAX_CARDS_WITH_LARGE_THUMBNAILS = 60
_SMALL_SIDE_PX = SIDE_PX * 3 // 4
_MAX_MESSAGES_OF_KIND = 50


@dataclasses.dataclass(frozen=True)
class KindSection:
    """What the page shows of one kind of findings.

    Attributes:
      kind: the kind.
      severity: one of `severity.SEVERITIES`.
      count: how many there are.
      about_labels: whether they are labels that may be wrong. Their cards say all.
      cards: examples to look at; of labels, one for each that is shown.
      messages: the first messages, without advice if they agree on it; none for labels.
      advice: what to do about each of them, if the messages agree on it; empty for labels.
      more: how many findings are not shown.
    """

    kind: str
    severity: str
    count: int
    about_labels: bool
    cards: Sequence[Card]
    messages: Sequence[str] = ()
    advice: str = ""
    more: int = 0

    @property
    def is_error(self) -> bool:
        """Whether the findings stop a build."""
        return self.severity == ERROR


def write_tree(
    report: Report,
    config: VocSegConfig | None,
    out: epath.Path,
    plan: str,
    naming: FolderNaming,
    rgb: Sequence[int] | None = None,
) -> None:
    """Writes the page of a checked folder into a file.

    Args:
      report: what was found.
      config: of a build; None if there is no folder that can be read.
      out: the file to write.
      plan: what a build would do, in words.
      naming: the folder or archive, as the user named it and as findings name it.
      rgb: see `FolderExamples.find_display`.

    Raises:
      ConfigError: if the file cannot be written, or `rgb` does nothing.
    """
    root = naming.given
    total = report.total
    background = None
    if config is not None:
        background = background_index(config.built_class_names, config.built_background)
    colors = class_colors(background)
    names = [clean(name) for name in report.class_names]
    used = _used_classes(report)
    foreground = [label for label in used if label != background]
    foreground.sort(key=lambda label: -total.images[label])
    axis = ClassAxis(names, [hex_color(color) for color in colors], foreground)
    by_split = dict(report.by_split) or {"all": total}
    style = ClassStyle(tuple(names), colors, background)
    examples = FolderExamples(report, config)
    display = examples.find_display(rgb)
    card_maker = CardMaker(report, examples, display, style, _thumbnail_side(report))
    kinds = [
        _make_section(card_maker, kind, effect, findings, naming)
        for (kind, effect), findings in by_kind(report.findings).items()
    ]
    warnings = sum(section.count for section in kinds if section.severity == WARNING)
    page = fill_template(
        "tree",
        colors,
        range(len(names)),
        title=root.rstrip("/").rpartition("/")[2] or root,
        root=root,
        ok=report.ok,
        bands=str(config.kept_bands) if config and config.kept_bands else "",
        examined=report.examined,
        work=f"check {root}",
        errors=sum(finding.effect == STOPS for finding in report.findings),
        warnings=warnings,
        kinds=kinds,
        folders=folders_to_filter(
            card.example.folder for section in kinds for card in section.cards
        ),
        cards_without_images=card_maker.cards_without_images,
        regions=card_maker.region_urls,
        views=any(card.example.pictures.image for section in kinds for card in section.cards),
        plan=plan,
        splits=dict(report.plan.splits) if report.plan else {},
        names=name_all_values(names, "value"),
        used=used,
        background=background,
        by_split=by_split,
        pixels=int(total.pixels.sum()),
        charts=_draw_charts(by_split, axis),
    )
    output_files.write_file(out, page, "--html")


def _used_classes(report: Report) -> list[int]:
    """Returns the classes that have a name of their own, or pixels."""
    return [
        label
        for label, name in enumerate(report.class_names)
        if name != f"class {label}" or report.total.pixels[label]
    ]


def _thumbnail_side(report: Report) -> int:
    """Returns the side of thumbnails, which is smaller on a page of many cards."""
    cards = sum(len(report.ids.record_ids(finding)) for finding in report.findings)
    return _SMALL_SIDE_PX if cards > _MAX_CARDS_WITH_LARGE_THUMBNAILS else SIDE_PX


def _make_section(
    card_maker: CardMaker,
    kind: str,
    effect: str,
    findings: Sequence[Finding],
    naming: FolderNaming,
) -> KindSection:
    """Makes the section of one kind; the most suspicious labels come first."""
    findings = sorted(findings, key=lambda finding: -finding.score)
    cards = card_maker.make_cards(findings)
    if findings[0].score > 0 and kind != ALL_MASKS:
        return _section_of_labels(kind, effect, findings, cards)
    messages = [naming.rename(finding.message) for finding in findings]
    return _section_of_messages(kind, effect, messages, cards)


def _section_of_labels(
    kind: str, effect: str, findings: Sequence[Finding], cards: Sequence[Card]
) -> KindSection:
    """Returns a section of labels that may be wrong; those without a card are not shown."""
    return KindSection(
        kind=kind,
        severity=_severity_of_kind(kind, effect),
        count=len(findings),
        about_labels=True,
        cards=cards,
        more=max(0, len(findings) - len(cards)),
    )


def _section_of_messages(
    kind: str, effect: str, messages: Sequence[str], cards: Sequence[Card]
) -> KindSection:
    """Returns a section of messages, with cards of the first images that they are about."""
    problems = [message.partition("\n")[0] for message in messages]
    texts_of_advice = {message.partition("\n")[2] for message in messages}
    has_one_advice = len(texts_of_advice) == 1
    shown = problems if has_one_advice else messages
    return KindSection(
        kind=kind,
        severity=_severity_of_kind(kind, effect),
        count=len(messages),
        about_labels=False,
        cards=cards,
        messages=share_advice(shown[:_MAX_MESSAGES_OF_KIND]),
        advice=textwrap.dedent(texts_of_advice.pop()).strip() if has_one_advice else "",
        more=max(0, len(messages) - _MAX_MESSAGES_OF_KIND),
    )


def _severity_of_kind(kind: str, effect: str) -> str:
    if kind == NOTE:
        return INFORMATION
    return ERROR if effect == STOPS else WARNING


def _draw_charts(by_split: Mapping[str, ClassCounts], axis: ClassAxis) -> dict[str, str]:
    """Draws pixels and images per class; nothing if no image has a class."""
    if not axis.labels or not any(counts.images.any() for counts in by_split.values()):
        return {}
    images = {split: counts.images for split, counts in by_split.items()}
    shares = {split: _shares_without_void(counts.pixels) for split, counts in by_split.items()}
    return {
        "pixels": draw_bars("Pixels per class, as a share", shares, axis, "{:.2%}"),
        "images": draw_bars("Images per class", images, axis, "{:,}"),
    }


def _shares_without_void(pixels: np.ndarray) -> np.ndarray:
    """Returns the share of each class in the pixels that are not void.

    Args:
      pixels: how many pixels have each mask value, int64 `[256]`.
    """
    return np.asarray(pixels / max(1, pixels[:VOID].sum()))
