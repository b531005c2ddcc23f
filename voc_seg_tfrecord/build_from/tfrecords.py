"""From hand-written TFRecords to a built dataset."""

from collections.abc import Mapping, Sequence
import itertools
import posixpath
from typing import Any

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError, SplitError
from voc_seg_tfrecord.base.storage import PathLike
from voc_seg_tfrecord.build_from.run import build_source, check_name, share_out, spelled_out
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.examples.make import Source
from voc_seg_tfrecord.imports import items
from voc_seg_tfrecord.imports.items import make_items
from voc_seg_tfrecord.imports.scan import Scan, scan_records
from voc_seg_tfrecord.masks.rule import MaskRule, index_rule
from voc_seg_tfrecord.voc_seg_tfrecord_dataset_builder import Builder


def import_records(
    files: Sequence[PathLike],
    *,
    name: str,
    class_names: Sequence[str] = (),
    splits: Mapping[str, float] | None = None,
    keys: Mapping[str, str] | None = None,
    shape: Sequence[int] = (),
    repair: bool = False,
    seed: int = 0,
    data_dir: PathLike | None = None,
    **options: Any,
) -> Builder:
    """Builds a dataset from TFRecords that other code wrote.

    Args:
      files: files, folders or patterns; gzip-compressed ones too.
      name: the config's name: the dataset is `voc_seg_tfrecord/<name>`.
      class_names: in the order of the masks' values, or of the labels; `['voc']` for VOC's. A
        name such as `void` or `ignore` is no class, and its pixels are void (255).
        None for records with neither mask nor label.
      splits: ratios by which all records are assigned to splits. By default the names of the
        files give the split (`train`, `val`, `test`), or all records are in `train`.
      keys: which feature holds what, as in `RecordLayout`; detected for known layouts.
      shape: height and width, or height, width and channels, of all images, if no feature
        holds them.
      repair: whether to map luminances of VOC's palette back to classes, where each belongs
        to one class.
      seed: seed for assigning records to splits by ratio.
      data_dir: where to write; TFDS's default if not given.
      **options: see `build_source`.

    Returns:
      The builder of the dataset, built.

    Raises:
      VocSegError: if a file or record is damaged or of no known layout, naming it.
    """
    check_name(name)
    names = spelled_out(class_names)
    with staging.temporary_folder() as folder:
        scan = scan_records(files, folder, keys, shape)
        task = "images"
        if scan.layout.mask or scan.layout.label:
            task = "segmentation" if scan.layout.mask else "classification"
        if task != "images" and not names:
            raise ConfigError(
                "--class_names",
                found="no class names, though the records hold masks or labels",
                expected="the names of all classes, in the order of their indices",
                remedy="give them with --class_names (class_names)",
            )
        config = VocSegConfig(name=name, class_names=names, task=task, exif="ignore")
        rule = _rule(config, scan, repair)
        if scan.problems:
            total = len(scan.records) + len(scan.problems)
            raise SplitError("records", scan.problems, total)
        found = make_items(scan)
        if splits is not None:
            found = share_out(itertools.chain(*found.values()), splits, seed)
        source = Source(found, config.example_spec(rule))
        return build_source(source, config, data_dir=data_dir, **options)


def _rule(config: VocSegConfig, scan: Scan, repair: bool) -> MaskRule:
    where = ", ".join(sorted({posixpath.basename(record.file) for record in scan.records}))
    plain = index_rule(len(config.class_names))
    if not items.looks_like_luminances(scan.values) or scan.values <= set(plain.values):
        return plain
    if not repair:
        raise items.ruined_error(scan.values, where)
    repaired = items.repair_luminances(scan.values, where)
    # A class beyond the names is refused, with its luminance.
    return MaskRule({value: i for value, i in repaired.items() if i in plain.values})
