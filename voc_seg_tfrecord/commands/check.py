"""Shows everything that is wrong with a tree, before you build it.

Reads and decodes all files and does not stop at the first problem. Exits with 1 if a build
would stop. Labels that may be wrong are named too, the most suspicious first; they stop nothing.
"""

import argparse
import dataclasses

from etils import epath

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import share_advice
from voc_seg_tfrecord.base.wording import counted
from voc_seg_tfrecord.build_from.tree import describe
from voc_seg_tfrecord.commands import arguments, screen, tree_arguments
from voc_seg_tfrecord.commands.screen import write_json
from voc_seg_tfrecord.own_data import check
from voc_seg_tfrecord.own_data.unpacked import unpacked
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.quality.rules import Finding
from voc_seg_tfrecord.report.label_errors import check_folder

SUMMARY = "show everything that is wrong with a tree, before you build it"
EXAMPLE = "voc-seg-tfrecord check /data/cracks"
USUAL = ("root", "class_names", "splits", "html", "json")

_SHOWN = 3  # findings of a kind

_EFFECTS = {
    rules.STOPS: "stops a build",
    rules.LEFT_OUT: "left out of a build",
    rules.IGNORED: "does not change a build",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    tree_arguments.add(parser)
    arguments.add(parser, "json")
    parser.add_argument(
        "--html", metavar="FILE", help="also write a page with thumbnails of what was found"
    )
    parser.add_argument(
        "--csv", metavar="FIXES", help="also write a table with one row per problem: what to fix"
    )
    arguments.add(parser, "no_fit")


def run(args: argparse.Namespace) -> int:
    """Checks and prints the report."""
    with unpacked(args.root) as root:
        return _run(args, root)


def _run(args: argparse.Namespace, root: epath.Path) -> int:
    html = staging.check_file(args.html, "--html") if args.html else None
    fixes = staging.check_file(args.csv, "--csv") if args.csv else None
    config, report = check_folder(root, fits=not args.no_fit, **tree_arguments.fields(args))
    if html:
        from voc_seg_tfrecord.report import tree_page  # of the page only

        tree_page.write_tree(report, config, html, root=str(args.root), found_at=str(root))
    if fixes:
        _write_csv(report, fixes, root)
    _say_root(report, str(root), str(args.root))
    summary = check.summary(report)
    summary["root"] = summary["root"].replace(str(root), str(args.root))
    if args.json:
        write_json(summary)
        return 0 if report.ok else 1
    if report.plan:
        print(describe(report.plan, config).replace(str(root), str(args.root)), end="\n\n")
    _print_findings(summary)
    if report.total.pixels.any():
        print()
        screen.show_class_table(report.class_names, report.total, report.by_split)
    stops = sum(finding.effect == rules.STOPS for finding in report.findings)
    verdict = f"stop: {counted(stops, 'problem')}" if stops else "go through"
    print(f"\n{report.examined} images read; a build would {verdict}")
    return 0 if report.ok else 1


def _say_root(report: check.Report, found_at: str, root: str) -> None:
    """Names files as the user named their folder, which may be an unpacked archive."""
    report.findings = [
        dataclasses.replace(
            finding,
            where=finding.where.replace(found_at, root),
            message=finding.message.replace(found_at, root),
        )
        for finding in report.findings
    ]


def _print_findings(summary: dict) -> None:
    for kind in summary["findings"]:
        print(f"{kind['count']:6} x {kind['kind']} ({_EFFECTS[kind['effect']]})")
        for message in share_advice(kind["messages"][:_SHOWN]):
            print("           " + message.replace("\n", "\n           "))
        if kind["count"] > _SHOWN:
            print(f"           ... and {kind['count'] - _SHOWN} more; --csv FILE lists all")


_COLUMNS = ("file", "kind", "x", "y", "width", "height", "split", "what to do", "score", "found")


def _write_csv(report: check.Report, out: epath.Path, root: epath.Path) -> None:
    """Writes what to fix: what stops a build, then the most suspicious labels."""
    found = [finding for of_kind in check.by_kind(report.findings).values() for finding in of_kind]
    rows = [_row(finding, report, str(root)) for finding in found if finding.kind != "note"]
    staging.write_file(out, screen.csv_text(_COLUMNS, rows), "--csv")


def _row(finding: Finding, report: check.Report, root: str) -> tuple[object, ...]:
    tree, plan = report.tree, report.plan
    file, split = finding.where.removeprefix(f"{root}/"), finding.split
    image_id = finding.ids[-1] if finding.ids else file.rpartition("/")[2].rpartition(".")[0]
    if tree and (finding.ids or file in tree.images):
        image_id = finding.ids[-1] if finding.ids else file
        folder, names = tree.layout.images, tree.images
        if finding.box and image_id in tree.masks:
            folder, names = tree.layout.masks, tree.masks
        file = str(tree.root / folder / names[image_id]).removeprefix(f"{root}/")
    if plan and not split:
        lists = (*plan.splits.items(), *plan.left_out.items())
        split = ", ".join(dict.fromkeys(s for s, ids in lists if image_id in ids))
    found = finding.message.replace(f"{root}/", "")
    score = round(finding.score, 2) if finding.score else ""
    return file, finding.kind, *(finding.box or [""] * 4), split, finding.remedy, score, found
