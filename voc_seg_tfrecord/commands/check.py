"""Lists the problems of a folder before you build it.

Reads and decodes all files and does not stop at the first problem. Exits with 1 if a build would
stop. Also lists labels that may be wrong, the most suspicious first; they do not stop a build.
"""

import argparse
from collections.abc import Iterable, Sequence
import dataclasses
import json
from typing import Any

from etils import epath

from voc_seg_tfrecord.audit import check
from voc_seg_tfrecord.build_from.plan_text import describe
from voc_seg_tfrecord.build_from.tree import FolderPlanner
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.commands.copy_chosen import copy_chosen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.errors import ConfigError, counted, several
from voc_seg_tfrecord.core.layout import LAYOUT_OPTIONS
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.folder.class_table import write_table
from voc_seg_tfrecord.folder.plan import NAMES_OF_VALUES, FolderPlan
from voc_seg_tfrecord.formats.archives import FolderNaming, unpacked
from voc_seg_tfrecord.quality.finding import (
    IGNORED,
    LEFT_OUT,
    NOTE,
    STOPS,
    Finding,
    as_dict,
    suspicious_first,
)
from voc_seg_tfrecord.report.label_errors import check_folder

SUMMARY = "list the problems of a folder before you build it"
EXAMPLE = "voc-seg-tfrecord check /data/cracks"
USUAL = ("root", "class_names", "splits", "html", "csv", "ids", "copy_to", "json")

_MAX_LISTED_FINDINGS = 3
"""How many findings of a kind are printed."""

_EFFECTS = {
    STOPS: "stops a build",
    LEFT_OUT: "left out of a build",
    IGNORED: "warning",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_tree(parser)
    arguments.add(parser, "json")
    parser.add_argument(
        "--html", metavar="FILE", help="also write a page with thumbnails of all findings"
    )
    parser.add_argument(
        "--csv", metavar="FILE", help="also write a table of what to fix, with one row per finding"
    )
    arguments.add(parser, "decisions", "no_fit", "rgb")
    parser.add_argument(
        "--write_config",
        metavar="FILE",
        help="also write the options of this check, and the class names, into this JSON file, for "
        "--config; the dataset is named after the file",
    )
    parser.add_argument(
        "--write_classes",
        metavar="FILE",
        help="only write the class table, and check nothing: a row for each value and color of "
        "the masks, with ? where the class is unknown",
    )
    group = parser.add_argument_group("back into your tool")
    group.add_argument(
        "--ids",
        metavar="FILE",
        help="the images to copy: a text file with one id per line, a CSV file of check or "
        "evaluate, or the decisions file that a page saved (only ids marked as wrong); "
        "'FILE[:20]' takes the first 20; needs --copy_to",
    )
    group.add_argument(
        "--copy_to",
        metavar="FOLDER",
        help="only copy the images of --ids, with masks, lists and class file, into this new "
        "folder, for the tool that wrote them; check nothing",
    )


_FILE_OPTIONS = ("html", "csv", "write_config", "write_classes", "ids", "copy_to")

_OPTIONS_THAT_FIND_FILES = (
    *LAYOUT_OPTIONS,
    "threshold",
    "ignore_masks",
    "resize_masks",
    "exclude",
)
"""Options that a build needs to read the same masks as a table of classes was written for."""

_CHECK_OPTIONS = ("html", "csv", "write_config", "decisions", "no_fit", "rgb")
"""The options that change what is checked, or where that is written."""


def run(args: argparse.Namespace) -> int:
    _check_options(args)
    with unpacked(args.root) as root:
        if args.copy_to:
            return copy_chosen(args, root)
        if args.write_classes:
            return _write_classes(args, root)
        return _check(args, root)


def _check_options(args: argparse.Namespace) -> None:
    """Checks that a call does one thing: check, copy, or write the table of classes."""
    arguments.check_not_empty(args, *_FILE_OPTIONS)
    if bool(args.ids) != bool(args.copy_to):
        raise ConfigError(
            "--ids" if args.ids else "--copy_to",
            found="given alone",
            expected="--ids and --copy_to together: which images to copy, and where",
            remedy="give both, or leave both out",
        )
    if args.copy_to:
        _refuse_options(args, (*_CHECK_OPTIONS, "write_classes"), beside="--copy_to")
    elif args.write_classes:
        _refuse_options(args, _CHECK_OPTIONS, beside="--write_classes")
    else:
        arguments.check_page(args, "rgb")


def _refuse_options(args: argparse.Namespace, names: Sequence[str], *, beside: str) -> None:
    given = [f"--{name}" for name in names if getattr(args, name)]
    if given:
        raise ConfigError(
            several(given),
            found=f"given with {beside}",
            expected=f"only one of these options, because {beside} checks nothing",
            remedy="run check once for each option",
        )


def _write_classes(args: argparse.Namespace, root: epath.Path) -> int:
    out = staging.check_output_file(args.write_classes, "--write_classes")
    if out.exists():
        raise ConfigError(
            f"--write_classes {out}",
            found="a file that exists",
            expected="the name of a new file",
            remedy="choose another name, or delete the file",
        )
    opened = FolderPlanner(root, name="check", **arguments.tree_fields(args)).open(reads_on=True)
    table = write_table(opened)
    staging.write_output_file(out, table.csv, "--write_classes")
    row_count = len(table.csv.splitlines()) - 1  # without the titles
    if args.json:
        counts = {"rows": row_count, "rows_without_class": table.rows_without_class}
        screen.write_json({"file": str(out), **counts})
        return 0
    sentence = f"wrote {out}: {counted(row_count, 'row')}"
    if table.rows_without_class:
        rows = counted(table.rows_without_class, "row")
        sentence += f". Replace the ? in {rows} by the name of a class, or by void"
    print(sentence)
    files = {name: getattr(args, name) for name in _OPTIONS_THAT_FIND_FILES}
    words = command("voc-seg-tfrecord", "build", args.root, name="NAME", **files, classes=out)
    print(f"build with it: {words}")
    return 0


def _check(args: argparse.Namespace, root: epath.Path) -> int:
    html = arguments.output_file(args, "html")
    fixes = arguments.output_file(args, "csv")
    config_file = arguments.output_file(args, "write_config", [".json"])
    rgb = arguments.parse_rgb(args.rgb)
    decisions = arguments.read_decisions(args)
    config, report = check_folder(root, fits=not args.no_fit, **arguments.tree_fields(args))
    dropped = report.drop_findings_called_right(decisions)
    naming = FolderNaming(str(root), str(args.root))
    plan_text = ""
    if report.plan:
        plan_text = naming.rename(describe(report.plan, has_findings=True))
    if html:
        from voc_seg_tfrecord.report import tree_page  # here, because most calls write no page

        tree_page.write_tree(report, config, html, plan_text, naming, rgb)
    if fixes:
        _write_csv(report, fixes, naming)
    if config_file:
        _write_config(report.plan, config_file)
    summary = _summarize(report, dropped, naming)
    if args.json:
        screen.write_json(summary)
    else:
        _print_report(report, summary, plan_text, args)
    return 0 if report.ok else 1


def _write_config(plan: FolderPlan | None, file: epath.Path) -> None:
    """Writes the config of a build, named as the file.

    Raises:
      ConfigError: if a question is open, so that the config is not complete.
    """
    if plan is None or plan.fault is not None:
        raise ConfigError(
            f"--write_config {file}",
            found="a folder about which a build asks",
            expected="a folder whose files, splits and classes are decided",
            remedy="answer the question of `check` with the options of a line, and write the "
            "config with them",
        )
    fields = {**json.loads(plan.config.to_json()), "name": file.stem}
    staging.write_output_file(file, json.dumps(fields, indent=1) + "\n", "--write_config")


def _summarize(
    report: check.Report, dropped: check.DroppedFindings, naming: FolderNaming
) -> dict[str, Any]:
    """Returns a report as plain data, which can be written as JSON."""
    plan = report.plan
    findings = [_rename_folder(finding, naming) for finding in report.findings]
    return {
        "ok": report.ok,
        "root": naming.rename(str(plan.tree.root)) if plan else "",
        "examined": report.examined,
        "splits": {split: len(ids) for split, ids in plan.splits.items()} if plan else {},
        "not_used": _unused_files(plan) if plan else [],
        "findings": _findings_by_kind(findings),
        "label_errors": [as_dict(finding) for finding in suspicious_first(findings)],
        "classes": _class_counts(report),
        "called_right": dropped.count,
        "decisions_not_used": dropped.stale_decisions,
    }


def _rename_folder(finding: Finding, naming: FolderNaming) -> Finding:
    """Returns a finding that names its folder as the user did."""
    where = naming.rename(finding.where)
    return dataclasses.replace(finding, where=where, message=naming.rename(finding.message))


def _unused_files(plan: FolderPlan) -> list[dict[str, Any]]:
    rows = []
    for group, names in plan.unused.items():
        row = {
            "folder": group.folder,
            "kind": group.kind.name,
            "count": len(names),
            "files": list(names),
        }
        rows.append(row)
    return rows


def _findings_by_kind(findings: Iterable[Finding]) -> list[dict[str, Any]]:
    rows = []
    for (kind, effect), findings_of_kind in check.by_kind(findings).items():
        rows.append(
            {
                "kind": kind,
                "effect": effect,
                "count": len(findings_of_kind),
                "messages": [finding.message for finding in findings_of_kind],
                "where": [finding.where for finding in findings_of_kind],
            }
        )
    return rows


def _class_counts(report: check.Report) -> list[dict[str, Any]]:
    rows = []
    for index, name in [*enumerate(report.class_names), (VOID, "void")]:
        by_split = {}
        for split, counts in report.by_split.items():
            images = int(counts.images[index])
            by_split[split] = {"images": images, "pixels": int(counts.pixels[index])}
        rows.append(
            {
                "index": index,
                "name": name,
                "pixels": int(report.total.pixels[index]),
                "images": int(report.total.images[index]),
                "splits": by_split,
            }
        )
    return rows


def _print_report(
    report: check.Report, summary: dict[str, Any], plan_text: str, args: argparse.Namespace
) -> None:
    """Prints a report.

    Args:
      report: the report.
      summary: the same, as plain data.
      plan_text: what a build would do; empty if nobody knows.
      args: the arguments, which name files that were read and written.
    """
    right = summary["called_right"]
    stale = summary["decisions_not_used"]
    findings = _without_notes_of_plan(summary["findings"], plan_text)
    if plan_text:
        print(plan_text)
        if findings or right or stale:
            print()
    _print_findings(findings, csv_file=args.csv)
    if right:
        print(f"called right in {several(args.decisions)}, and so not named: {right}")
    if stale:
        print(f"called right, but the files changed since, or are not in this folder: {stale}")
    # Without names, the question about them has the pixels of each value or color.
    if report.total.pixels.any() and report.class_names != NAMES_OF_VALUES:
        print()
        if report.counted < report.examined:
            images = counted(report.examined, "image")
            print(f"classes of the {report.counted:,} of {images} that can be used:")
        screen.show_class_table(report.class_names, report.total, report.by_split)
    print()
    advice = report.advise_exclude()
    if advice:
        print(advice)
    files = [getattr(args, name) for name in ("html", "csv", "write_config")]
    if any(files):
        print(f"wrote {', '.join(file for file in files if file)}")
    print(f"{counted(report.examined, 'image')} read; {_verdict(report)}")


def _verdict(report: check.Report) -> str:
    """Returns whether a build would go through, and how many problems and warnings there are."""
    problems = 0
    warnings = 0
    for finding in report.findings:
        if finding.effect == STOPS:
            problems += 1
        elif finding.kind != NOTE:
            warnings += 1
    parts = ["ready to build"]
    if problems:
        parts = ["not ready to build: " + counted(problems, "problem")]
    if warnings:
        parts.append(counted(warnings, "warning"))
    return ", ".join(parts)


def _without_notes_of_plan(kinds: Sequence[dict[str, Any]], plan_text: str) -> list[dict[str, Any]]:
    """Returns the findings without the notes that stand in the plan, which is printed above."""
    others = []
    for kind in kinds:
        messages = kind["messages"]
        if kind["kind"] == NOTE:
            messages = [message for message in messages if message not in plan_text]
        if messages:
            others.append({**kind, "messages": messages, "count": len(messages)})
    return others


def _print_findings(findings: Sequence[dict[str, Any]], *, csv_file: str | None) -> None:
    """Prints the first findings of each kind, and which file lists all of them."""
    rest = f"{csv_file} lists all" if csv_file else "--csv FILE lists all"
    for kind in findings:
        title = kind["kind"]
        if title != NOTE:
            title = f"{_EFFECTS[kind['effect']]}: {title}"
        print(f"{title} ({kind['count']:,})")
        screen.show_first(kind["messages"], _MAX_LISTED_FINDINGS, rest=rest)


_CSV_COLUMNS = (
    "id",
    "file",
    "kind",
    "x",
    "y",
    "width",
    "height",
    "split",
    "what to do",
    "score",
    "found",
)


def _write_csv(report: check.Report, out: epath.Path, naming: FolderNaming) -> None:
    """Writes what to fix: what stops a build, then the most suspicious labels."""
    rows = []
    for findings in check.by_kind(report.findings).values():
        for finding in findings:
            if finding.kind != "note":
                rows.append(_csv_row(finding, report, naming))
    staging.write_output_file(out, screen.csv_text(_CSV_COLUMNS, rows), "--csv")


def _csv_row(finding: Finding, report: check.Report, naming: FolderNaming) -> tuple[object, ...]:
    """Returns the cells of `_CSV_COLUMNS` about a finding."""
    record_id = next(reversed(report.ids.record_ids(finding)), "")
    image_id = report.ids.tree_id(record_id)
    box = finding.box or ("", "", "", "")
    score = round(finding.score, 2) if finding.score else ""
    file = _file_to_fix(finding, report, record_id, image_id)
    # The file and the remedy have columns of their own.
    found = finding.message.removesuffix(f"\n  what to do: {finding.remedy}")
    if file == finding.where:
        found = found.removeprefix(f"{file}: ")
    return (
        record_id,
        naming.shorten(file),
        finding.kind,
        *box,
        finding.split or _splits_of(image_id, report),
        _on_one_line(finding.remedy),
        score,
        _on_one_line(naming.shorten(found)),
    )


def _file_to_fix(finding: Finding, report: check.Report, record_id: str, image_id: str) -> str:
    """Returns the mask or the image that a finding is about; else what the finding names."""
    tree = report.tree
    is_about_image = bool(finding.ids) or finding.where == record_id
    if tree is None or not is_about_image:
        return finding.where
    if image_id not in tree.images:
        return finding.where
    paths_by_part = tree.existing_paths_by_part(image_id)
    paths = paths_by_part["image"]
    if finding.box is not None:
        paths = paths_by_part.get("mask", paths)
    return str(paths[0])


def _splits_of(image_id: str, report: check.Report) -> str:
    """Returns the splits that list an image, separated by commas."""
    if report.plan is None:
        return ""
    splits = []
    for ids_by_split in (report.plan.splits, report.plan.left_out):
        for split, ids in ids_by_split.items():
            if image_id in ids:
                splits.append(split)
    return ", ".join(dict.fromkeys(splits))


def _on_one_line(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines())
