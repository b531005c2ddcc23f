"""Finds everything that is wrong with a tree, in one reading that no file stops."""

import collections
from collections.abc import Iterable
import dataclasses
import functools
import hashlib
import re
import unicodedata

import numpy as np
from tqdm import tqdm

from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.errors import (
    ConfigError,
    MaskError,
    SplitError,
    VocSegError,
)
from voc_seg_tfrecord.examples.make import ExampleSpec, make_example
from voc_seg_tfrecord.features import MASK
from voc_seg_tfrecord.formats import pillow
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.own_data.findings import IGNORED, LEFT_OUT, Finding, Report, finding_of
from voc_seg_tfrecord.own_data.plan import Plan, make_plan
from voc_seg_tfrecord.pool import ordered_map
from voc_seg_tfrecord.trees.pair import Pair
from voc_seg_tfrecord.trees.tree import VocTree

# What tools append to an id when they copy or augment an image: Roboflow's hash, " copy".
_COPY_MARK = re.compile(r"(\.rf\.[0-9a-f]{32}|[ _-]copy\d*|[ _-]?\(\d+\))$")


def check_tree(tree: VocTree, config: VocSegConfig) -> Report:
    """Reads and decodes all of a tree.

    Args:
      tree: the tree.
      config: what a build would be told.

    Returns:
      The report. No file makes it stop early.

    Raises:
      ConfigError: if the config itself is wrong, as a build would raise it.
    """
    report = Report(class_names=tuple(config.class_names))
    try:
        plan = make_plan(tree, config)
    except ConfigError:
        raise
    except VocSegError as error:
        report.findings.append(finding_of(error))
        plan = _plan_of_everything(tree, config, report)
        if plan is None:
            return report
    report.plan = plan
    report.findings += _notes(plan)
    pairs = _pairs(plan, config, report)
    spec = config.example_spec(plan.rule)
    digests = _read_all(pairs, spec, report)
    report.findings += _unused(plan)
    report.findings += _same_in_two_splits(plan, digests)
    return report


def _plan_of_everything(tree: VocTree, config: VocSegConfig, report: Report) -> Plan | None:
    """Returns a plan with all images in one split, to read on although the splits are wrong."""
    try:
        everything = dataclasses.replace(config, splits={"train": 1.0}, missing_mask="skip")
        return make_plan(tree, everything)
    except VocSegError as error:
        if not report.findings or report.findings[-1].message != str(error):
            report.findings.append(finding_of(error))
        return None


def _notes(plan: Plan) -> Iterable[Finding]:
    for note in plan.notes:
        yield Finding("note", str(plan.tree.root), note, IGNORED)
    for split, ids in plan.left_out.items():
        for image_id in ids:
            message = f"{image_id}: listed in split {split!r}, but it has no mask"
            yield Finding("no mask", image_id, message, LEFT_OUT)


def _pairs(plan: Plan, config: VocSegConfig, report: Report) -> list[tuple[str, Pair]]:
    """Returns split and pair of each id whose files all exist."""
    found = []
    for split, ids in plan.splits.items():
        for image_id in ids:
            try:
                (pair,) = plan.tree.pairs(split, [image_id], config.parts)
            except SplitError as error:
                report.findings += [finding_of(problem) for problem in error.problems]
            else:
                found.append((split, pair))
    return found


def _read_all(
    pairs: list[tuple[str, Pair]], spec: ExampleSpec, report: Report
) -> dict[bytes, list[tuple[str, str]]]:
    """Decodes everything; returns split and id by the hash of the image's bytes."""
    digests: dict[bytes, list[tuple[str, str]]] = collections.defaultdict(list)
    results = ordered_map(functools.partial(_read_one, spec), pairs)
    for (split, pair), (problems, histogram, digest) in tqdm(
        results, total=len(pairs), desc="Checking...", unit=" images", leave=False
    ):
        report.examined += 1
        report.findings += problems
        if digest:
            digests[digest].append((split, pair.id))
        if histogram is not None:
            report.pixels += histogram
            report.images += histogram > 0
    return digests


def _read_one(
    spec: ExampleSpec, item: tuple[str, Pair]
) -> tuple[list[Finding], np.ndarray | None, bytes]:
    _, pair = item
    digest = b""
    try:
        raw = pair.read()
        digest = hashlib.sha256(raw.image.data).digest()
        example = make_example(raw, spec)
        mask = pillow.decode(File(example[MASK], str(pair.mask)), MaskError).values()
    except VocSegError as error:
        return [finding_of(error)], None, digest
    # A check goes on, whatever a file does to a decoder.
    except Exception as error:
        message = f"{pair.image}: {type(error).__name__}: {error}"
        return [Finding("unreadable", str(pair.image), message)], None, digest
    return [], np.bincount(mask.ravel(), minlength=256), digest


def _unused(plan: Plan) -> Iterable[Finding]:
    groups = (*plan.splits.values(), *plan.left_out.values())
    listed = {image_id for ids in groups for image_id in ids}
    tree = plan.tree
    for kind, folder, names in (
        ("image in no split", tree.layout.images, tree.images),
        ("mask in no split", tree.layout.masks, tree.masks),
    ):
        for image_id in names.keys() - listed if listed else ():
            where = f"{folder}/{names[image_id]}"
            yield Finding(kind, where, f"{where} is in no split", IGNORED)


def _same_in_two_splits(
    plan: Plan, digests: dict[bytes, list[tuple[str, str]]]
) -> Iterable[Finding]:
    """Yields images that are in two splits by their bytes, or by their ids without copy marks."""
    for places in digests.values():
        if len({split for split, _ in places}) > 1:
            text = " and ".join(f"{image_id} ({split})" for split, image_id in places)
            yield Finding("same image in two splits", text, f"{text}: same bytes", IGNORED)
    by_base: dict[str, list[tuple[str, str]]] = collections.defaultdict(list)
    for split, ids in plan.splits.items():
        for image_id in ids:
            base = _COPY_MARK.sub("", unicodedata.normalize("NFC", image_id).casefold())
            by_base[base.rpartition("/")[2]].append((split, image_id))
    for places in by_base.values():
        if len({split for split, _ in places}) > 1 and len({i for _, i in places}) > 1:
            text = " and ".join(f"{image_id} ({split})" for split, image_id in places)
            yield Finding("near-duplicate ids in two splits", text, text, IGNORED)
