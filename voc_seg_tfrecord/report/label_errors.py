"""Finds labels that may be wrong in a built dataset, or in a folder before it is built."""

from collections.abc import Callable
import dataclasses
import functools
from typing import Any, TypeVar

from etils import epath
import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import check
from voc_seg_tfrecord.build_from.tree import FolderPlanner
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.names import IMAGE, INSTANCES, MASK
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.folder.plan import FolderPlan
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.formats.archives import is_archive, unpacked
from voc_seg_tfrecord.quality import appearance, rules
from voc_seg_tfrecord.quality.evidence import (
    Evidence,
    examine,
    examine_appearances,
    is_fitted,
)
from voc_seg_tfrecord.quality.finding import Finding, as_finding, suspicious_first
from voc_seg_tfrecord.quality.rules import RegionFindings
from voc_seg_tfrecord.reading import dataset, metadata, records
from voc_seg_tfrecord.reading.records import Record

Examined = TypeVar("Examined")


def find_label_errors(
    data: dataset.BuiltDataset,
    *,
    data_dir: PathLike | None = None,
    fits: bool = True,
    progress: bool = False,
    **options: Any,
) -> list[Finding]:
    """Finds labels that may be wrong, the most suspicious first. It needs no model.

    Args:
      data: a built dataset: its builder or its name, such as `voc_seg_tfrecord/2012`; or the
        folder, `.zip` or `.tar` that a labeling tool exported.
      data_dir: the folder of all datasets, in which a name is looked up; by default TFDS's.
      fits: whether to look for masks that do not fit their images and, with scikit-learn, for
        regions that look like another class (True). This takes most of the time.
      progress: whether to show a progress bar on standard error (False).
      **options: options for an exported folder, such as `class_names`; see `builder_from_tree`. A
        built dataset has none.

    Returns:
      One `Finding` per problem.

    Raises:
      ConfigError: if neither a dataset nor a folder of this name exists, or an option is wrong.
      RecordError: if a shard of a built dataset cannot be read.
    """
    builder = _open_if_built(data, data_dir)
    if builder is None:
        with unpacked(data) as folder:
            _, report = check_folder(folder, fits=fits, **options)
        return suspicious_first(report.findings)
    if options:
        raise ConfigError(
            f"find_label_errors: {', '.join(options)}",
            found=f"the built dataset {builder.info.full_name}",
            expected="an exported folder, whose classes and files these options describe",
            remedy="leave them out, or name the folder that the dataset was built from",
        )
    return _find_in_built(builder, fits, progress)


def _open_if_built(
    data: dataset.BuiltDataset, data_dir: PathLike | None
) -> tfds.core.DatasetBuilder | None:
    """Returns the builder of a built dataset; None if `data` is an exported folder or archive.

    Raises:
      ConfigError: if it is neither.
    """
    try:
        return dataset.as_builder(data, data_dir)
    except ConfigError:
        if is_archive(data) or epath.Path(data).expanduser().is_dir():
            return None
        raise


def check_folder(
    folder: epath.Path, *, fits: bool = True, **options: Any
) -> tuple[VocSegConfig | None, check.Report]:
    """Checks an exported folder, also one without class names; see `find_label_errors`.

    Args:
      folder: the folder.
      fits: see `find_label_errors`.
      **options: see `find_label_errors`.

    Returns:
      The config of a build, None if there is no tree to read; and what was found.

    Raises:
      ConfigError: if the options are wrong.
    """
    planner = FolderPlanner(folder, name="check", **options)
    try:
        plan = planner.plan(reads_on=True)
        plan = _join_questions(plan, planner)
        report = check.check_plan(plan, fits=fits)
    except ConfigError:  # a wrong call: nothing about the tree
        raise
    except QuestionError as question:
        return None, check.Report([as_finding(planner.check_question(question))])
    except VocSegError as error:  # without a tree to read this is the only finding
        return None, check.Report([as_finding(error)])
    if plan.fault is not None:
        # The plan has made up the names of classes. That no image has one says nothing.
        report.findings = [f for f in report.findings if f.kind != check.MISSING_CLASS]
    return plan.config, report


def _join_questions(plan: FolderPlan, planner: FolderPlanner) -> FolderPlan:
    """Returns a plan whose problems begin with the question that a build asks, if there is one.

    It has the answers to all other questions, so that these are no problems of their own.
    """
    questions = [problem for problem in plan.problems if isinstance(problem, QuestionError)]
    if isinstance(plan.fault, QuestionError):
        questions.append(plan.fault)
    if not questions:
        return plan
    first_question = questions[0]
    try:
        planner.plan()
    except QuestionError as question:
        first_question = question
    except VocSegError:
        pass  # among the problems, too
    joined = planner.check_question(first_question)
    problems = {str(joined): joined}  # a line may end with a problem that the plan has too
    for problem in plan.problems:
        if problem not in questions:
            problems.setdefault(str(problem), problem)
    return dataclasses.replace(plan, problems=tuple(problems.values()))


def _find_in_built(builder: tfds.core.DatasetBuilder, fits: bool, progress: bool) -> list[Finding]:
    """Finds labels of a built dataset that may be wrong."""
    images = _count_images(builder)
    examine_record = functools.partial(_examine_record, fits=fits, images=images)
    evidence = _examine_records(builder, examine_record, progress=progress)
    names = metadata.class_names(builder)
    findings = rules.find_all(evidence, names, metadata.background(builder))
    return suspicious_first(findings)


def find_mislabeled_regions(builder: tfds.core.DatasetBuilder) -> RegionFindings:
    """Finds regions of a built dataset that look like another class, the surest first.

    The note says why none was found, which classes were not compared, or that only a sample of a
    large dataset was searched.
    """
    if not appearance.is_available():
        note = rules.note_on_regions(rules.NEEDS_SCIKIT_LEARN)
        return RegionFindings([], note, are_compared=False)
    images = _count_images(builder)
    examine_record = functools.partial(_examine_appearances, images=images)
    try:
        examined = _examine_records(builder, examine_record, progress=False)
    except VocSegError as error:  # an image that cannot be decoded may have a score all the same
        note = rules.note_on_regions(f"Regions could not be compared. {error}")
        return RegionFindings([], note, are_compared=False)
    evidence = [example for example in examined if example is not None]
    regions = rules.find_mislabeled_regions(evidence, metadata.class_names(builder))
    note_on_classes = regions.note
    if len(evidence) < images:
        text = f"A sample of {len(evidence):,} of {images:,} images was searched."
        if note_on_classes is not None:
            text = f"{text} {note_on_classes.message}"
        note_on_classes = rules.note_on_regions(text)
    return RegionFindings(
        suspicious_first(regions.findings), note_on_classes, are_compared=regions.are_compared
    )


def _examine_records(
    builder: tfds.core.DatasetBuilder,
    examine_record: Callable[[str, Record], Examined],
    *,
    progress: bool,
) -> list[Examined]:
    """Measures the records of all splits by a function that takes a split and a record."""
    metadata.check_features(builder, (IMAGE, MASK))
    splits = list(builder.info.splits)
    scanned = records.scan_splits(builder, splits, examine_record, progress=progress)
    return [examined for _, examined in scanned]


def _count_images(builder: tfds.core.DatasetBuilder) -> int:
    """Returns how many images all splits have."""
    return sum(records.count(builder, split) for split in builder.info.splits)


def _examine_record(split: str, record: Record, *, fits: bool, images: int) -> Evidence:
    return examine(
        record.file(IMAGE),
        record.pixels(MASK),
        image_id=record.id,
        split=split,
        measure_fit=fits and is_fitted(record.id, images),
        objects=_objects_of(record),
    )


def _examine_appearances(split: str, record: Record, *, images: int) -> Evidence | None:
    """Measures what the regions of a record look like; None if it is not in the sample."""
    if not is_fitted(record.id, images):
        return None
    return examine_appearances(
        record.file(IMAGE),
        record.pixels(MASK),
        image_id=record.id,
        split=split,
        objects=_objects_of(record),
    )


def _objects_of(record: Record) -> np.ndarray | None:
    """Returns the instance mask of a record, uint8 `[H, W]`; None if it has none."""
    return record.pixels(INSTANCES) if INSTANCES in record.features else None
