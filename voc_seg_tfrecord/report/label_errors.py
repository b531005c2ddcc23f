"""Labels that may be wrong, in Python: of a built dataset, or of a folder before it is built."""

import functools
from typing import Any

from etils import epath
import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit import check
from voc_seg_tfrecord.build_from.tree import FolderPlanner
from voc_seg_tfrecord.core.config import VocSegConfig
from voc_seg_tfrecord.core.errors import ConfigError, VocSegError
from voc_seg_tfrecord.core.names import IMAGE, INSTANCES, MASK
from voc_seg_tfrecord.core.storage import PathLike
from voc_seg_tfrecord.folder.question import QuestionError
from voc_seg_tfrecord.formats.archives import is_archive, unpacked
from voc_seg_tfrecord.quality import appearance, rules
from voc_seg_tfrecord.quality.evidence import Evidence, examine
from voc_seg_tfrecord.quality.finding import Finding, as_finding, suspicious_first
from voc_seg_tfrecord.reading import dataset, records
from voc_seg_tfrecord.reading.records import Record


def find_label_errors(
    data: tfds.core.DatasetBuilder | PathLike,
    *,
    data_dir: PathLike | None = None,
    fits: bool = True,
    progress: bool = False,
    **options: Any,
) -> list[Finding]:
    """Names labels that may be wrong, the most suspicious first. It needs no model.

    Args:
      data: the builder of a built dataset, or its name, such as `voc_seg_tfrecord/2012`; or the
        folder, `.zip` or `.tar` that a labelling tool exported.
      data_dir: the folder of datasets, for a name.
      fits: whether to look for masks that do not fit their images, and for regions that look like
        another class (with scikit-learn), which takes most of the time.
      progress: whether to show a progress bar for each split of a built dataset.
      **options: of an exported folder, such as `class_names`; see `builder_from_tree`.

    Returns:
      One `Finding` per problem: `kind`, `message`, `ids`, `split`, `box` (left, top, width and
      height in pixels), `score` (0 to 1, the most suspicious is 1) and `remedy`; and `suggested`,
      the class that a region looks like.

    Raises:
      ConfigError: if there is neither such a dataset nor such a folder, or the options are wrong.
      RecordError: if a shard of a built dataset cannot be read.
    """
    if isinstance(data, tfds.core.DatasetBuilder):
        return _of_built(data, fits, progress)
    try:
        builder = dataset.open_built(str(data), data_dir)
    except ConfigError:
        if not is_archive(data) and not epath.Path(data).expanduser().is_dir():
            raise
    else:
        return _of_built(builder, fits, progress)
    with unpacked(data) as folder:
        _, report = check_folder(folder, fits=fits, **options)
    return suspicious_first(report.findings)


def check_folder(
    folder: epath.Path, *, fits: bool = True, **options: Any
) -> tuple[VocSegConfig | None, check.Report]:
    """Checks an exported folder, also one without class names; see `find_label_errors`.

    Returns:
      What a build would be told, None if there is no tree to read; and what was found.

    Raises:
      ConfigError: if the options are wrong.
    """
    planner = FolderPlanner(folder, name="check", **options)
    try:
        plan = planner.plan(reads_on=True)
        report = check.check_plan(plan, fits=fits, ask=planner.check_question)
    except ConfigError:  # a wrong call: nothing about the tree
        raise
    except QuestionError as question:
        return None, check.Report([as_finding(planner.check_question(question))])
    except VocSegError as error:  # without a tree to read this is the only finding
        return None, check.Report([as_finding(error)])
    if plan.fault is None:
        return plan.config, report
    # They are no real names.
    without = [f for f in report.findings if f.kind != check.MISSING_CLASS]
    report.findings = [as_finding(plan.fault), *without]
    return plan.config, report


def _of_built(builder: tfds.core.DatasetBuilder, fits: bool, progress: bool) -> list[Finding]:
    evidence = _evidence(builder, progress, measure_fit=fits)
    names, background = dataset.class_names(builder), dataset.background(builder)
    return suspicious_first(rules.find_all(evidence, names, background))


def find_strangers(builder: tfds.core.DatasetBuilder) -> tuple[list[Finding], str]:
    """Returns regions of a built dataset that look like another class, the surest first; and why
    there is none, or where none is looked for.
    """
    if not appearance.is_available():
        return [], rules.NEEDS_SCIKIT_LEARN
    try:
        evidence = _evidence(builder, False, measure_fit=True, only_appearances=True)
    except VocSegError as error:  # an image that cannot be decoded may have a score all the same
        return [], f"Regions could not be compared. {error}"
    found = rules.find_mislabeled_regions(evidence, dataset.class_names(builder))
    return suspicious_first(found.findings), found.note.message if found.note else ""


def _evidence(builder: tfds.core.DatasetBuilder, progress: bool, **measured: Any) -> list[Evidence]:
    dataset.check_features(builder, (IMAGE, MASK))
    examined = functools.partial(_examined, measured)
    readings = records.scan_splits(builder, [*builder.info.splits], examined, progress=progress)
    return [of_record for _, of_record in readings]


def _examined(measured: dict[str, Any], split: str, record: Record) -> Evidence:
    objects = record.pixels(INSTANCES) if INSTANCES in record.features else None
    image, mask = record.file(IMAGE), record.pixels(MASK)
    return examine(image, mask, image_id=record.id, split=split, objects=objects, **measured)
