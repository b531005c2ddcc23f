"""Finds everything that is wrong with a tree, in one reading that no file stops."""

import collections
from collections.abc import Callable, Iterable
import dataclasses
import functools
import itertools

import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.audit.finding_ids import FindingIds
from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.class_counts import ClassCounts, missing_classes
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError, counted, raise_if_out_of_memory
from voc_seg_tfrecord.core.example import ExampleSpec, RawExample
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import IMAGE, INSTANCES, MASK, VOID, background_index
from voc_seg_tfrecord.core.processes import ordered_map
from voc_seg_tfrecord.folder.absent_images import advise_on_absent_images
from voc_seg_tfrecord.folder.plan import FolderPlan, NoMeaning
from voc_seg_tfrecord.folder.splits.excluded import advise_exclude
from voc_seg_tfrecord.folder.tree.pairs import Pair
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import bands, images, index_masks, mask_samples, png_values
from voc_seg_tfrecord.formats.bands import with_band_count
from voc_seg_tfrecord.formats.value_counts import count_values
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.quality.evidence import Evidence, examine, is_fitted
from voc_seg_tfrecord.quality.finding import IGNORED, LEFT_OUT, STOPS, Finding, as_finding
from voc_seg_tfrecord.quality.regions import Box, RegionTable, find_regions
from voc_seg_tfrecord.reading.decisions import PageDecision, Suspect, collect_called_right
from voc_seg_tfrecord.writing.examples import make_example

MISSING_CLASS = "class without images"
"""The kind of the finding that a split, or the whole set, has no image of a class."""

_MAX_UNKNOWN_BOXES = 8
"""How many regions of unknown pixels of a mask are named."""

_MAX_NAMED_ABSENT_IDS = 10_000
"""How many ids of a split without an image are named one by one."""


@dataclasses.dataclass(frozen=True)
class DroppedFindings:
    """The effect of a person's decisions on a report.

    Attributes:
      count: how many findings were dropped.
      stale_decisions: how many decisions were about images that are not in the tree, or whose files
        were changed since.
    """

    count: int
    stale_decisions: int


@dataclasses.dataclass
class Report:
    """What was found in a tree.

    Attributes:
      findings: in the order in which they were found.
      plan: what a build would do, None if it could not be decided.
      class_names: the classes, in mask order.
      total: counts of the classes over all masks that can be used. An image of two splits counts
        once, though a build has an example of it in each.
      by_split: the counts of each split of a build; empty if the splits are not decided.
      examined: images that were read.
      counted: those of them whose masks are in the counts.
      tree: the tree, None if there is none that could be read.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    plan: FolderPlan | None = None
    class_names: tuple[str, ...] = ()
    total: ClassCounts = dataclasses.field(default_factory=ClassCounts)
    by_split: dict[str, ClassCounts] = dataclasses.field(default_factory=dict)
    examined: int = 0
    counted: int = 0
    tree: VocTree | None = None

    @property
    def ok(self) -> bool:
        """Whether a build would go through."""
        return not any(finding.effect == STOPS for finding in self.findings)

    @functools.cached_property
    def ids(self) -> FindingIds:
        """Tells which images a finding is about."""
        return FindingIds(self.tree)

    def advise_exclude(self) -> str:
        """Returns how to leave out the images whose files stop a build; empty if nothing helps."""
        if self.plan is None:
            return ""
        ids: list[str] = []
        others = 0
        for finding in self.findings:
            if finding.effect == STOPS:
                ids_of_finding = self.ids.record_ids(finding)
                ids += ids_of_finding
                if not ids_of_finding:
                    others += 1
        advice = advise_exclude(ids, self.examined, self.plan.config.exclude)
        if advice and others:
            return f"{advice}; this does not solve {counted(others, 'other problem')}"
        return advice

    def drop_findings_called_right(self, decisions: Iterable[PageDecision]) -> DroppedFindings:
        """Drops the findings about labels that a person called right."""
        sha256_by_suspect = collect_called_right(decisions)
        current_suspects: set[Suspect] = set()
        for suspect, sha256 in sha256_by_suspect.items():
            if self.ids.sha256_of(suspect.ids) == sha256:
                current_suspects.add(suspect)
        count_before = len(self.findings)
        self.findings = [
            finding
            for finding in self.findings
            if self._suspect_of(finding) not in current_suspects
        ]
        return DroppedFindings(
            count=count_before - len(self.findings),
            stale_decisions=len(sha256_by_suspect) - len(current_suspects),
        )

    def _suspect_of(self, finding: Finding) -> Suspect | None:
        """Returns the suspect that a finding is about; None if it is not about labels."""
        if not finding.is_about_labels:
            return None
        return Suspect(finding.kind, self.ids.record_ids(finding), finding.position)


def by_kind(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    """Returns findings by kind and effect: what stops a build, then the most suspicious labels."""
    kinds: dict[tuple[str, str], list[Finding]] = collections.defaultdict(list)
    for finding in findings:
        kinds[finding.kind, finding.effect].append(finding)
    return dict(sorted(kinds.items(), key=_rank_of_kind))


def _rank_of_kind(item: tuple[tuple[str, str], list[Finding]]) -> tuple[bool, float, str, str]:
    """Returns by what kinds of findings are sorted; the first is the most urgent one."""
    (kind, effect), findings = item
    highest_score = max(finding.score for finding in findings)
    return effect != STOPS, -highest_score, kind, effect


@dataclasses.dataclass(frozen=True)
class _ReadResult:
    """What reading one id's files gave.

    Attributes:
      findings: what is wrong with them.
      pixel_counts: the mask's pixels by value; None if it cannot be used.
      evidence: what is compared with the other images; None if nothing is.
    """

    findings: list[Finding]
    pixel_counts: np.ndarray | None = None
    evidence: Evidence | None = None


@dataclasses.dataclass(frozen=True)
class _ReadOptions:
    """How the files of each id are read. It is sent to the processes that read.

    Attributes:
      spec: the example that a build would make.
      is_blank: whether an empty mask of the same size stands for each mask.
      labels: whether to look for labels that may be wrong.
      fits: whether to look for masks that do not fit their images among them.
      images: how many images are read in all.
    """

    spec: ExampleSpec
    is_blank: bool
    labels: bool
    fits: bool
    images: int


def check_plan(
    plan: FolderPlan,
    *,
    labels: bool = True,
    fits: bool = True,
) -> Report:
    """Reads and decodes all of a folder. No file makes it stop early.

    Args:
      plan: what a build would do, or where it would stop.
      labels: whether to look for labels that may be wrong, too; none of them stops a build.
      fits: whether to look for masks that do not fit their images among them.
    """
    config = plan.config
    report = Report(
        [*map(as_finding, plan.problems), *_notes(plan), *_left_out(plan)],
        plan if plan.is_decided else None,
        tuple(config.built_class_names),
        tree=plan.tree,
    )
    pairs, absent = _find_pairs(plan)
    report.findings += absent
    # If nobody knows what the masks mean, an empty mask of the same size stands for each.
    is_blank = plan.meaning is NoMeaning.UNDECIDED
    spec = config.example_spec(index_rule(1) if is_blank else plan.mask_rule)
    spec = with_band_count(spec, (pair for _, pair in pairs))
    # A build only tries to decode images; here both decoders have to agree.
    spec = dataclasses.replace(spec, decoding="alike")
    options = _ReadOptions(spec, is_blank, labels, fits, images=len(pairs))
    read_one = functools.partial(_read_one, options)
    evidence = _read_all(pairs, read_one, report)
    if report.plan and report.total.pixels.any():
        for missing in missing_classes(report.class_names, report.by_split):
            report.findings.append(Finding(MISSING_CLASS, "", str(missing), IGNORED))
    report.findings += _unused(plan)
    background = background_index(report.class_names, config.built_background)
    report.findings += rules.find_all(evidence, report.class_names, background)
    return report


def _notes(plan: FolderPlan) -> Iterable[Finding]:
    """Yields what the plan notes, and what could not be checked because it is undecided."""
    notes = list(plan.notes)
    if plan.splits:  # else no image is read, and nothing is said of how
        if plan.chosen_splits.undecided:
            notes.append(
                "The splits are not decided, so all images were read, whatever the lists say."
            )
        if plan.meaning is NoMeaning.UNDECIDED:
            notes.append(
                "It is not decided what the masks mean. So they were decoded and compared with the "
                "size of their images, but it was not checked whether their values are classes."
            )
    for note in notes:
        yield Finding("note", str(plan.tree.root), note, IGNORED)


def _left_out(plan: FolderPlan) -> Iterable[Finding]:
    """Yields ids that a build leaves out, because their image or their mask is missing."""
    for split, ids in plan.left_out.items():
        for image_id in ids:
            record_id = plan.tree.record_id(image_id)
            if image_id in plan.tree.images:
                kind = "no mask"
                problem = "this image has no mask"
                remedy = "add the mask"
            else:
                kind = "no image"
                problem = f"listed in split {split!r}, but it has no image"
                remedy = "add the image, or take the id out of the list"
            yield Finding(kind, record_id, f"{record_id}: {problem}", LEFT_OUT, remedy=remedy)


def _find_pairs(plan: FolderPlan) -> tuple[list[tuple[str, Pair]], list[Finding]]:
    """Returns split and pair of each id whose files all exist, and what is absent.

    An id of two splits is read once, in the first.
    """
    pairs: list[tuple[str, Pair]] = []
    findings: list[Finding] = []
    seen: set[str] = set()
    for split, ids in plan.splits.items():
        new_ids = [image_id for image_id in dict.fromkeys(ids) if image_id not in seen]
        seen.update(new_ids)
        advice = advise_on_absent_images(plan, split)
        absent_ids = [image_id for image_id in new_ids if image_id not in plan.tree.images]
        unnamed_ids = set(absent_ids[_MAX_NAMED_ABSENT_IDS:])
        for image_id in new_ids:
            if image_id in unnamed_ids:
                continue
            try:
                pairs.append((split, plan.items.find(image_id)))
            except LayoutError as error:
                findings.append(_finding_of_absent_file(plan, split, image_id, error, advice))
        if unnamed_ids:
            message = f"{len(unnamed_ids)} more ids of the split {split!r} without an image"
            findings.append(Finding("missing image", split, f"{message}: {advice}"))
    return pairs, findings


def _finding_of_absent_file(
    plan: FolderPlan, split: str, image_id: str, error: LayoutError, advice: str
) -> Finding:
    """Returns the finding about an id without a file, with advice if it has no image at all."""
    images = plan.tree.images
    if image_id in images or images.find_similar_id(image_id):
        return as_finding(error)
    ids = counted(len(plan.splits[split]), "id")
    return as_finding(
        error.changed(expected=f"an image for each of the {ids} of {split}", remedy=advice)
    )


def _read_all(
    pairs: list[tuple[str, Pair]],
    read_one: Callable[[tuple[str, Pair]], _ReadResult],
    report: Report,
) -> list[Evidence]:
    """Decodes everything into a report, and returns what is compared."""
    splits_of: dict[str, list[str]] = collections.defaultdict(list)
    if report.plan is not None:
        for split, ids in report.plan.splits.items():
            report.by_split[split] = ClassCounts()
            for image_id in ids:
                splits_of[image_id].append(split)
    evidence = []
    results = ordered_map(read_one, pairs, count=len(pairs))
    for (_, pair), result in tqdm(
        results, total=len(pairs), desc="Checking...", unit=" images", leave=False
    ):
        report.examined += 1
        report.findings += result.findings
        if result.evidence is not None:
            evidence.append(result.evidence)
        if result.pixel_counts is not None:
            report.counted += 1
            report.total.add(result.pixel_counts)
            for split in splits_of[pair.id]:
                report.by_split[split].add(result.pixel_counts)
    return evidence


def _read_one(options: _ReadOptions, item: tuple[str, Pair]) -> _ReadResult:
    """Reads an id's files. A check goes on, whatever a file does to a decoder."""
    split, pair = item
    raw = None
    try:
        raw = pair.read()
        with images.large_in_turn(raw.image, raw.mask):
            if options.is_blank:
                raw = _with_empty_mask(raw)
            return _examine(raw, pair, split, options)
    except VocSegError as error:
        return _ReadResult([_finding_with_box(error, raw, options.spec.rule)])
    except Exception as error:
        raise_if_out_of_memory(error, pair.image)
        message = f"{pair.image}: {type(error).__name__}: {error}"
        return _ReadResult([Finding("unreadable", str(pair.image), message)])


def _with_empty_mask(raw: RawExample) -> RawExample:
    """Returns an example whose mask, if it has one, is all 0 and of the same size."""
    if raw.mask is None:
        return raw
    size = mask_samples.read_samples(raw.mask).values.shape[:2]
    empty_mask = File(index_masks.filled(size, 0).png, raw.mask.where)
    return dataclasses.replace(raw, mask=empty_mask, surveyed=None)


def _examine(raw: RawExample, pair: Pair, split: str, options: _ReadOptions) -> _ReadResult:
    """Makes the example as a build would, and measures image and mask."""
    example = make_example(raw, options.spec)
    image = raw.image
    if example[IMAGE] is not raw.image.data:  # it is stored anew, or as bands
        image = bands.as_file(example[IMAGE], str(pair.image))
    findings = [] if options.spec.bands is not None else [*_doubts(raw.image)]
    mask = png_values.decode_values(File(example[MASK], str(pair.mask)))
    pixel_counts = None if options.is_blank else count_values(mask)
    if not options.labels:
        return _ReadResult(findings, pixel_counts)
    compared_mask = None if options.is_blank or raw.mask is None else mask
    objects = None
    if not options.is_blank and example.get(INSTANCES):
        objects = png_values.decode_values(File(example[INSTANCES], INSTANCES))
    image_id = id_lists.id_of_file(pair.filename)
    evidence = examine(
        image,
        compared_mask,
        image_id=image_id,
        split=split,
        measure_fit=options.fits and is_fitted(image_id, options.images),
        objects=objects,
        decoded=images.decode_once(image),
    )
    return _ReadResult(findings, pixel_counts, evidence)


def _finding_with_box(error: VocSegError, raw: RawExample | None, rule: MaskRule) -> Finding:
    """Returns the finding about an error, with a box around the largest unknown region."""
    finding = as_finding(error)
    is_unknown = error.kind in (index_masks.UNKNOWN_COLOR, index_masks.UNKNOWN_VALUE)
    if raw is None or raw.mask is None or not is_unknown:
        return finding
    boxes = unknown_boxes(raw.mask, rule)
    return dataclasses.replace(finding, box=boxes[0] if boxes else None)


def _doubts(image: File) -> Iterable[Finding]:
    """Yields a finding if an image may be damaged, although it can be decoded."""
    where = str(image.where)
    doubt = images.describe_doubt(image)
    if doubt:
        message = f"{where}: {doubt}: cameras add such bytes, and damage does: look at it"
        yield Finding("image that may be damaged", where, message, IGNORED)


def unknown_boxes(mask: File, rule: MaskRule) -> list[Box]:
    """Returns boxes around the largest unknown regions of a mask; none if it cannot be read."""
    with images.large_in_turn(mask):
        try:
            unknown = index_masks.unknown_pixels(mask_samples.read_samples(mask), rule)
        except Exception:  # whatever a file does to a decoder
            return []
        # Void has no regions, so all other pixels become void.
        unknown_as_class = np.where(unknown, np.uint8(0), np.uint8(VOID))
        # `find_regions` calls `_largest` only where a mask has very many regions.
        regions = _largest(find_regions(unknown_as_class, _largest)).as_regions()
    return [region.box for region in regions]


def _largest(regions: RegionTable) -> RegionTable:
    return regions.take(np.argsort(-regions.pixels, kind="stable")[:_MAX_UNKNOWN_BOXES])


def _unused(plan: FolderPlan) -> Iterable[Finding]:
    """Yields images that no split has, if splits list any id; and masks without an image."""
    listed_ids = {*itertools.chain(*plan.splits.values(), *plan.left_out.values())}
    if not listed_ids:
        return
    listed_ids.update(plan.chosen_splits.excluded)
    tree = plan.tree
    used_ids = {tree.images.find_id(image_id) for image_id in listed_ids}
    for image_id in sorted(tree.images.keys() - used_ids):
        where = str(tree.given / tree.images[image_id])
        if image_id in tree.masks:
            message = f"{where} and its mask are in no split"
        else:
            message = f"{where} is in no split, and has no mask"
        remedy = "list it in a split, or remove it"
        yield Finding("image in no split", where, message, IGNORED, remedy=remedy)
    used_ids = {tree.masks.find_id(image_id) for image_id in listed_ids}
    for image_id in sorted(tree.masks.keys() - used_ids):
        if image_id not in tree.images:
            where = str(tree.given / tree.masks[image_id])
            message = f"{where} belongs to no image"
            remedy = "add the image, or remove the mask"
            yield Finding("mask without an image", where, message, IGNORED, remedy=remedy)
