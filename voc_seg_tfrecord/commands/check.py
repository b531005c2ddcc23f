"""Shows everything that is wrong with a tree, before you build it.

Reads and decodes all files and does not stop at the first problem. Exits with 1 if a build
would stop.
"""

import argparse

from etils import epath

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError, VocSegError, share_advice
from voc_seg_tfrecord.base.names import VOID
from voc_seg_tfrecord.build_from.tree import NO_CLASS_NAMES, describe, find_config_of
from voc_seg_tfrecord.commands import arguments, screen, tree_arguments
from voc_seg_tfrecord.commands.screen import write_json
from voc_seg_tfrecord.configs import VocSegConfig
from voc_seg_tfrecord.own_data import check
from voc_seg_tfrecord.own_data.check import MISSING_CLASS, check_tree
from voc_seg_tfrecord.own_data.unpacked import unpacked
from voc_seg_tfrecord.stats.counts import ClassCounts

SUMMARY = "show everything that is wrong with a tree, before you build it"
EXAMPLE = "voc-seg-tfrecord check /data/cracks"
USUAL = ("root", "class_names", "splits", "html", "json")

_SHOWN = 3  # findings of a kind

_EFFECTS = {
    check.STOPS: "stops a build",
    check.LEFT_OUT: "left out of a build",
    check.IGNORED: "does not change a build",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Adds this command's arguments."""
    tree_arguments.add(parser)
    arguments.add_json(parser)
    parser.add_argument(
        "--html", metavar="FILE", help="also write a page with thumbnails of what was found"
    )


def run(args: argparse.Namespace) -> int:
    """Checks and prints the report."""
    with unpacked(args.root) as root:
        return _run(args, root)


def _run(args: argparse.Namespace, root: epath.Path) -> int:
    html = staging.check_file(args.html, "--html") if args.html else None
    config, report = _check(args, root)
    if html:
        from voc_seg_tfrecord.report import tree_page  # of the page only

        tree_page.write_tree(report, config, html, root=str(args.root), found_at=str(root))
    summary = check.summary(report)
    if args.json:
        write_json(summary)
        return 0 if report.ok else 1
    if report.plan:
        print(describe(report.plan, config).replace(str(root), str(args.root)), end="\n\n")
    _print_findings(summary)
    if report.pixels.any():
        _print_classes(report)
    print(f"\n{report.examined} images read; " + _verdict(report))
    return 0 if report.ok else 1


def _check(args: argparse.Namespace, root: epath.Path) -> tuple[VocSegConfig | None, check.Report]:
    said = tree_arguments.fields(args)
    try:
        tree, config = find_config_of(root, name="check", **said)
        return config, check_tree(tree, config)
    except ConfigError:  # a wrong call: nothing about the tree
        raise
    except VocSegError as error:
        fault = error
    if fault.kind != NO_CLASS_NAMES:  # without a tree to read this is the only finding
        return None, check.Report([check.finding_of(fault)])
    # Without names any value may be a class; everything else can be checked.
    said["class_names"] = [f"class {value}" for value in range(VOID)]
    said |= {"background": "", "background_first": False, "missing_mask": "skip"}
    said["map_classes"] = ""
    tree, config = find_config_of(root, name="check", **said)
    report = check_tree(tree, config)
    without = [f for f in report.findings if f.kind != MISSING_CLASS]  # they are no real names
    report.findings = [check.finding_of(fault), *without]
    return config, report


def _print_findings(summary: dict) -> None:
    for kind in summary["findings"]:
        print(f"{kind['count']:6} x {kind['kind']} ({_EFFECTS[kind['effect']]})")
        for message in share_advice(kind["messages"][:_SHOWN]):
            print("           " + message.replace("\n", "\n           "))
        if kind["count"] > _SHOWN:
            print(f"           ... and {kind['count'] - _SHOWN} more; --json shows all")


def _print_classes(report: check.Report) -> None:
    total = ClassCounts(report.images, report.pixels)
    print()
    screen.show_class_table(report.class_names, total, report.by_split)


def _verdict(report: check.Report) -> str:
    stops = sum(finding.effect == check.STOPS for finding in report.findings)
    return f"a build would stop: {stops} problems" if stops else "a build would go through"
