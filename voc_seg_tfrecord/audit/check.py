"""Finds everything that is wrong with a tree, in one reading that no file stops."""

import collections
from collections.abc import Callable, Iterable, Mapping
import contextlib
import dataclasses
import functools
import hashlib
import itertools
import re
from typing import Any
import unicodedata

import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.audit.counting import ClassCounts, missing_classes
from voc_seg_tfrecord.core import id_lists
from voc_seg_tfrecord.core.decisions import called_right
from voc_seg_tfrecord.core.errors import LayoutError, VocSegError
from voc_seg_tfrecord.core.example import ALL_PARTS, ExampleSpec
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.mask_rule import MaskRule, index_rule
from voc_seg_tfrecord.core.names import IMAGE, INSTANCES, MASK, VOID, background_index
from voc_seg_tfrecord.core.processes import ordered_map
from voc_seg_tfrecord.folder.plan import MEANING, SPLITS, FolderPlan, absent_images
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.folder.tree.pairs import Pair
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats import bands, images, index_masks, mask_samples, png_pixels
from voc_seg_tfrecord.formats.band_count import with_band_count
from voc_seg_tfrecord.formats.png_pixels import count_values
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.quality.evidence import Evidence, examine
from voc_seg_tfrecord.quality.finding import IGNORED, LEFT_OUT, STOPS, Finding, as_finding
from voc_seg_tfrecord.quality.regions import Box, RegionTable, find_regions
from voc_seg_tfrecord.writing.examples import make_example

_BOXES = 8  # around unknown pixels of a mask


@dataclasses.dataclass
class Report:
    """What was found in a tree.

    Attributes:
      findings: in the order in which they were found.
      plan: what a build would do, None if it could not be decided.
      class_names: the classes, in mask order.
      total: counts of the classes over all masks that can be used.
      by_split: the same for each split of a build; empty if the splits are not decided.
      examined: images that were read.
      tree: the tree, None if there is none that could be read.
    """

    findings: list[Finding] = dataclasses.field(default_factory=list)
    plan: FolderPlan | None = None
    class_names: tuple[str, ...] = ()
    total: ClassCounts = dataclasses.field(default_factory=ClassCounts)
    by_split: dict[str, ClassCounts] = dataclasses.field(default_factory=dict)
    examined: int = 0
    tree: VocTree | None = None

    @property
    def ok(self) -> bool:
        """Whether a build would go through."""
        return not any(finding.effect == STOPS for finding in self.findings)

    def ids_of(self, finding: Finding) -> tuple[str, ...]:
        """Returns the ids of images that a finding is about, as a dataset has them."""
        tree = self.tree
        if tree is None:
            return ()
        if finding.ids or self.tree_id(finding.where) in tree.images:
            return finding.ids or (finding.where,)
        if (image_id := self._id_by_file.get(finding.where)) is not None:
            return (image_id,)
        # Of a file that is not there.
        tops = (f"{place.folder}/" for place in tree.places("", ALL_PARTS).values())
        ids = (finding.where.removeprefix(top) for top in tops if finding.where.startswith(top))
        return tuple(tree.record_id(i) for i in ids if i in tree.images or i in tree.masks)[:1]

    def tree_id(self, record_id: str) -> str:
        """Returns the tree's id of an image by the id that a dataset has for it."""
        return self._tree_ids.get(record_id, record_id)

    @functools.cached_property
    def _tree_ids(self) -> dict[str, str]:
        tree = self.tree
        return {tree.record_id(image_id): image_id for image_id in tree.images} if tree else {}

    def mark_of(self, finding: Finding) -> str:
        """Returns what a decision about a finding is about: files, and the place in them."""
        return f"{self._sha256_of(self.ids_of(finding))} {finding.place}".strip()

    def _sha256_of(self, ids: Iterable[str]) -> str:
        digest, tree = hashlib.sha256(), self.tree
        if tree is None:
            return ""
        for image_id in map(self.tree_id, ids):
            files, shapes = tree.files_of(image_id), tree.labels.shapes_of(image_id)
            for part in ("image", "mask"):
                data = shapes.encode() if part == "mask" else b""
                if not data and part in files:
                    with contextlib.suppress(VocSegError):
                        data = File.read(files[part][0]).data
                digest.update(b"%d " % len(data) + data)
        return digest.hexdigest()[:32]

    def without_right(self, decisions: Iterable[Mapping[str, Any]]) -> tuple[int, int]:
        """Leaves out findings about labels that a person called right; see `called_right`.

        Returns:
          How many findings were left out; and how many decisions were about images that are not in
          the tree, or whose files were changed since.
        """
        right = called_right(decisions)
        valid = {name for name, sha256 in right.items() if self._sha256_of(name[1]) == sha256}
        before = len(self.findings)
        self.findings = [
            finding
            for finding in self.findings
            if not (finding.score and finding.effect == IGNORED)
            or (finding.kind, self.ids_of(finding), finding.place) not in valid
        ]
        return before - len(self.findings), len(right) - len(valid)

    @functools.cached_property
    def _id_by_file(self) -> dict[str, str]:
        """The id of each file; of a file of several images none."""
        assert self.tree is not None
        ids: dict[str, set[str]] = collections.defaultdict(set)
        for image_id in {**self.tree.images, **self.tree.masks}:
            for file in itertools.chain(*self.tree.files_of(image_id).values()):
                ids[str(file)].add(image_id)
        return {file: self.tree.record_id(min(of)) for file, of in ids.items() if len(of) == 1}


def by_kind(findings: Iterable[Finding]) -> dict[tuple[str, str], list[Finding]]:
    """Returns findings by kind and effect: what stops a build, then the most suspicious labels."""
    kinds: dict[tuple[str, str], list[Finding]] = collections.defaultdict(list)
    for finding in findings:
        kinds[finding.kind, finding.effect].append(finding)
    order = {key: (key[1] != STOPS, -max(f.score for f in of)) for key, of in kinds.items()}
    return {key: kinds[key] for key in sorted(kinds, key=lambda key: (order[key], key))}


# What tools append to an id when they copy or augment an image: Roboflow's hash, " copy".
_COPY_MARK = re.compile(r"(\.rf\.[0-9a-f]{32}|[ _-]copy\d*|[ _-]?\(\d+\))$")

MISSING_CLASS = "class missing in a split"
"""The kind of the finding that a split has no image of a class."""

_NAMED = 10_000  # ids of a split without an image that are named one by one

# What is wrong with an id's files, its mask's pixels by value, and what is compared of it.
_Read = tuple[list[Finding], np.ndarray | None, Evidence | None]


def check_plan(
    plan: FolderPlan,
    *,
    labels: bool = True,
    fits: bool = True,
    ask: Callable[[QuestionError], VocSegError] | None = None,
) -> Report:
    """Reads and decodes all of a folder. No file makes it stop early.

    Args:
      plan: what a build would do, or where it would stop.
      labels: whether to look for labels that may be wrong, too; none of them stops a build.
      fits: whether to look for masks that do not fit their images among them.
      ask: returns the question that a user is asked in place of one that a step raised.
    """
    config = plan.config
    if ask is not None:
        problems = [ask(p) if isinstance(p, QuestionError) else p for p in plan.problems]
        plan = dataclasses.replace(plan, problems=tuple(problems))
    report = Report(
        [*map(as_finding, plan.problems), *_notes(plan)],
        plan if not plan.undecided else None,
        tuple(config.built_class_names),
        tree=plan.tree,
    )
    pairs = _pairs(plan, report)
    blank = MEANING in plan.undecided  # then masks that say nothing stand for the real ones
    spec = config.example_spec(index_rule(1) if blank else plan.mask_rule)
    spec = with_band_count(spec, (pair for _, pair in pairs))
    spec = dataclasses.replace(spec, decoding="alike")  # a build only tries images
    read_one = functools.partial(_read_one, spec, blank=blank, labels=labels, fits=fits)
    evidence = _read_all(pairs, read_one, report)
    if report.plan and report.total.pixels.any():
        for sentence in missing_classes(report.class_names, report.by_split):
            report.findings.append(Finding(MISSING_CLASS, "", sentence, IGNORED))
    report.findings += [*_unused(plan), *_copies_by_id(plan)]
    background = background_index(report.class_names, config.built_background)
    report.findings += rules.find_all(evidence, report.class_names, background)
    return report


def _notes(plan: FolderPlan) -> Iterable[Finding]:
    notes = list(plan.notes)
    undecided = plan.undecided if plan.splits else ()
    if SPLITS in undecided:
        notes.append("The splits are not decided, so all images were read, whatever the lists say.")
    if MEANING in undecided:
        notes.append(
            "It is not decided what the masks mean. So they were decoded and compared with the "
            "size of their images, but it was not checked whether their values are classes."
        )
    yield from (Finding("note", str(plan.tree.root), note, IGNORED) for note in notes)
    for split, ids in plan.left_out.items():
        for image_id in ids:
            lacks = "no mask" if image_id in plan.tree.images else "no image"
            what = f"listed in split {split!r}, but it has {lacks}"
            what = "this image has no mask" if SPLITS in plan.undecided else what
            remedy = f"add the {lacks.removeprefix('no ')}, or take the id out of the list"
            record_id = plan.tree.record_id(image_id)
            yield Finding(lacks, record_id, f"{record_id}: {what}", LEFT_OUT, remedy=remedy)


def _pairs(plan: FolderPlan, report: Report) -> list[tuple[str, Pair]]:
    """Returns split and pair of each id whose files all exist, of ids in two splits the first."""
    of_splits, images, seen = list[tuple[str, Pair]](), plan.tree.images, set[str]()
    for split, ids in plan.splits.items():
        advice, absent = absent_images(plan, split), 0
        for image_id in (i for i in ids if i not in seen):
            seen.add(image_id)
            absent += image_id not in images
            if image_id not in images and absent > _NAMED:
                continue
            try:
                of_splits.append((split, plan.items.find(image_id)))
            except LayoutError as error:
                finding = as_finding(error)
                if image_id not in images and not images.alike(image_id):
                    finding = dataclasses.replace(finding, message=f"{error}. {advice}")
                report.findings.append(finding)
        if absent > _NAMED:
            message = f"{absent - _NAMED} more ids of the split {split!r} without an image"
            report.findings.append(Finding("missing image", split, f"{message}. {advice}"))
    return of_splits


def _read_all(
    pairs: list[tuple[str, Pair]], read_one: Callable[[tuple[str, Pair]], _Read], report: Report
) -> list[Evidence]:
    """Decodes everything; returns what is compared."""
    evidence = []
    splits_of: dict[str, list[str]] = collections.defaultdict(list)
    for split, ids in report.plan.splits.items() if report.plan else ():
        report.by_split[split] = ClassCounts()
        for image_id in ids:
            splits_of[image_id].append(split)
    results = ordered_map(read_one, pairs, count=len(pairs))
    for (_, pair), (problems, histogram, seen) in tqdm(
        results, total=len(pairs), desc="Checking...", unit=" images", leave=False
    ):
        report.examined += 1
        report.findings += problems
        if seen is not None:
            evidence.append(seen)
        if histogram is not None:
            report.total.add(histogram)
            for split in splits_of[pair.id]:
                report.by_split[split].add(histogram)
    return evidence


def _read_one(
    spec: ExampleSpec, item: tuple[str, Pair], *, blank: bool, labels: bool, fits: bool
) -> _Read:
    """Reads an id's files; with `blank`, another mask of the same size stands in for its mask."""
    split, pair = item
    raw = None
    try:
        raw = pair.read()
        with images.large_in_turn(raw.image, raw.mask):
            if blank and raw.mask is not None:
                size = mask_samples.read_samples(raw.mask).values.shape[:2]
                nothing = File(index_masks.filled(size, 0).png, raw.mask.where)
                raw = dataclasses.replace(raw, mask=nothing, counted=None)
            example = make_example(raw, spec)
            same = example[IMAGE] is raw.image.data
            image = raw.image if same else bands.as_file(example[IMAGE], str(pair.image))
            mask = png_pixels.decode_values(File(example[MASK], str(pair.mask)))
            histogram, seen = None if blank else count_values(mask), None
            if labels:
                objects = None if blank else example.get(INSTANCES)
                seen = examine(
                    image,
                    None if blank or raw.mask is None else mask,
                    image_id=id_lists.image_id(pair.filename),
                    split=split,
                    measure_fit=fits,
                    objects=png_pixels.decode_values(File(objects, INSTANCES)) if objects else None,
                    decoded=images.decode_once(image),
                )
    except VocSegError as error:
        finding = as_finding(error)
        if (
            raw
            and raw.mask
            and error.kind in (index_masks.UNKNOWN_COLOR, index_masks.UNKNOWN_VALUE)
        ):
            largest = next(iter(unknown_boxes(raw.mask, spec.rule)), None)
            finding = dataclasses.replace(finding, box=largest)
        return [finding], None, None
    # A check goes on, whatever a file does to a decoder.
    except Exception as error:
        message = f"{pair.image}: {type(error).__name__}: {error}"
        return [Finding("unreadable", str(pair.image), message)], None, None
    return [] if spec.bands is not None else [*_doubts(raw.image)], histogram, seen


def _doubts(image: File) -> Iterable[Finding]:
    where = str(image.where)
    if doubt := images.doubt(image):
        message = f"{where}: {doubt}: cameras add such bytes, and damage does: look at it"
        yield Finding("image that may be damaged", where, message, IGNORED)


def unknown_boxes(mask: File, rule: MaskRule) -> list[Box]:
    """Returns boxes around the largest unknown regions of a mask; none if it cannot be read."""
    with images.large_in_turn(mask):
        try:
            unknown = index_masks.unknown_pixels(mask_samples.read_samples(mask), rule)
        except Exception:  # whatever a file does to a decoder
            return []
        known = np.where(unknown, np.uint8(0), np.uint8(VOID))
        regions = _largest(find_regions(known, _largest)).as_regions()
    return [region.box for region in regions]


def _largest(regions: RegionTable) -> RegionTable:
    return regions.take(np.argsort(-regions.pixels, kind="stable")[:_BOXES])


def _unused(plan: FolderPlan) -> Iterable[Finding]:
    in_lists = {*itertools.chain(*plan.splits.values(), *plan.left_out.values())}
    tree = plan.tree
    images, masks = (tree.layout.images, tree.images), (tree.layout.masks, tree.masks)
    for kind, folder, names in (("image in no split", *images), ("mask in no split", *masks)):
        used = {names.written(image_id) for image_id in in_lists}
        for image_id in sorted(names.keys() - used) if in_lists else ():
            where = str(tree.root / folder / names[image_id])
            remedy = "list it in a split, or remove it"
            yield Finding(kind, where, f"{where} is in no split", IGNORED, remedy=remedy)


def _copies_by_id(plan: FolderPlan) -> Iterable[Finding]:
    """Yields images of two splits that have the same id, but for the marks of copies."""
    by_base: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for split, ids in plan.splits.items():
        for image_id in ids:
            base = _COPY_MARK.sub("", unicodedata.normalize("NFC", image_id).casefold())
            by_base[base.rpartition("/")[2]].append((split, image_id))
    for places in by_base.values():
        splits = {split for split, _ in places}
        # A name that several folders of one split have is no name of a photo: frames have numbers.
        folders = {(split, image_id.rpartition("/")[0]) for split, image_id in places}
        if 1 < len(splits) == len(folders) and len({i for _, i in places}) > 1:
            shown = [(split, plan.tree.record_id(image_id)) for split, image_id in places]
            text = " and ".join(f"{record_id} ({split})" for split, record_id in shown)
            ids = tuple(record_id for _, record_id in shown)
            remedy = "look whether they show the same; if so, keep them in one split"
            kind = "near-duplicate ids in two splits"
            yield Finding(kind, text, text, IGNORED, ids, remedy=remedy)
