"""Writes the page of a folder before it is built: what `check` found, with thumbnails."""

from collections.abc import Sequence
import dataclasses
import textwrap

from etils import epath

from voc_seg_tfrecord.audit.check import Report, by_kind
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import share_advice
from voc_seg_tfrecord.core.names import background_index
from voc_seg_tfrecord.formats.archives import FolderNaming
from voc_seg_tfrecord.quality.finding import ALL_MASKS, NOTE, STOPS, Finding
from voc_seg_tfrecord.quality.kinds import MEANINGS
from voc_seg_tfrecord.report.cards import CardMaker
from voc_seg_tfrecord.report.class_table import SplitClasses, largest_share
from voc_seg_tfrecord.report.clean_text import clean
from voc_seg_tfrecord.report.folder_examples import FolderExamples
from voc_seg_tfrecord.report.overlay import ClassStyle, class_colors
from voc_seg_tfrecord.report.sections import (
    ERROR,
    INFORMATION,
    WARNING,
    KindSection,
    folders_to_filter,
)
from voc_seg_tfrecord.report.templating import fill_template, name_all_values
from voc_seg_tfrecord.report.thumbnails import SIDE_PX

_MAX_CARDS_WITH_LARGE_THUMBNAILS = 60
_SMALL_SIDE_PX = SIDE_PX * 3 // 4
_MAX_MESSAGES_OF_KIND = 50


def write_tree(
    report: Report,
    config: VocSegConfig | None,
    out: epath.Path,
    plan_text: str,
    naming: FolderNaming,
    rgb: Sequence[int] | None = None,
) -> None:
    """Writes the page of a checked folder into a file.

    Args:
      report: what was found.
      config: of a build; None if there is no folder that can be read.
      out: the file to write.
      plan_text: what a build would do.
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
    by_split = dict(report.by_split) or {"all": total}
    class_columns = [SplitClasses(split, counts) for split, counts in by_split.items()]
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
        plan=plan_text,
        splits=dict(report.plan.splits) if report.plan else {},
        names=name_all_values(names, "value"),
        used=used,
        background=background,
        class_columns=class_columns,
        max_share=largest_share(class_columns, background),
        pixels=int(total.pixels.sum()),
    )
    staging.write_output_file(out, page, "--html")


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
    severity = _severity_of_kind(kind, effect)
    if findings[0].is_about_labels and kind != ALL_MASKS:  # their cards say all
        more = max(0, len(findings) - len(cards))
        return KindSection(kind, severity, len(findings), MEANINGS[kind], cards, more=more)
    # The first line of a message says what is wrong, and the others what to do.
    messages = [naming.rename(finding.message) for finding in findings]
    distinct_advice = {message.partition("\n")[2] for message in messages}
    common_advice = ""
    if len(distinct_advice) == 1:
        messages = [message.partition("\n")[0] for message in messages]
        common_advice = textwrap.dedent(distinct_advice.pop()).strip()
    if common_advice:  # the section says it once
        cards = [dataclasses.replace(card, remedy="") for card in cards]
    return KindSection(
        kind,
        severity,
        len(messages),
        common_advice,
        cards,
        messages=share_advice(messages[:_MAX_MESSAGES_OF_KIND]),
        more=max(0, len(messages) - _MAX_MESSAGES_OF_KIND),
    )


def _severity_of_kind(kind: str, effect: str) -> str:
    if kind == NOTE:
        return INFORMATION
    return ERROR if effect == STOPS else WARNING
