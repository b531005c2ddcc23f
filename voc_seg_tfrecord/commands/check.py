"""Shows everything that is wrong with a tree, before you build it.

Reads and decodes all files and does not stop at the first problem. Exits with 1 if a build
would stop. Labels that may be wrong are named too, the most suspicious first; they stop nothing.
"""

import argparse
import collections
import dataclasses
import os
from typing import Any

from etils import epath

from voc_seg_tfrecord.audit import check
from voc_seg_tfrecord.build_from.tree import FolderPlanner, describe
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import staging
from voc_seg_tfrecord.core.chosen_ids import chosen_ids
from voc_seg_tfrecord.core.errors import (
    ConfigError,
    ListError,
    command,
    counted,
    did_you_mean,
    several,
    share_advice,
)
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.id_lists import only_lines
from voc_seg_tfrecord.core.names import VOID
from voc_seg_tfrecord.folder.class_table import write_table
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.formats.archives import is_archive, unpacked
from voc_seg_tfrecord.quality.finding import (
    IGNORED,
    LEFT_OUT,
    STOPS,
    Finding,
    as_dict,
    suspicious_first,
)
from voc_seg_tfrecord.report.label_errors import check_folder
from voc_seg_tfrecord.tools.registry import CLASS_FILE_NAMES, NAME_FILE_PATTERNS

SUMMARY = "show everything that is wrong with a tree, before you build it"
EXAMPLE = "voc-seg-tfrecord check /data/cracks"
USUAL = ("root", "class_names", "splits", "html", "csv", "ids", "copy_to", "json")

_SHOWN = 3  # findings of a kind

_EFFECTS = {
    STOPS: "stops a build",
    LEFT_OUT: "left out of a build",
    IGNORED: "does not change a build",
}


def add_arguments(parser: argparse.ArgumentParser) -> None:
    arguments.add_tree(parser)
    arguments.add(parser, "json")
    parser.add_argument(
        "--html", metavar="FILE", help="also write a page with thumbnails of what was found"
    )
    parser.add_argument(
        "--csv", metavar="FIXES", help="also write a table with one row per problem: what to fix"
    )
    arguments.add(parser, "decisions", "no_fit")
    parser.add_argument(
        "--write_classes",
        metavar="FILE",
        help="write the table of classes: a row for each value and colour of the masks, ? where "
        "its class is not known; nothing else is checked then",
    )
    group = parser.add_argument_group("back into your tool")
    group.add_argument(
        "--ids",
        metavar="FILE",
        help="the images to copy: a text with one id per line, the CSV of check or evaluate, or "
        "decisions that a page saved, of which those called wrong; needs --copy_to",
    )
    group.add_argument(
        "--copy_to",
        metavar="FOLDER",
        help="check nothing, and copy the images of --ids into this new folder, with masks, lists "
        "and class file as they are, so that the tool that wrote them can read them",
    )


def run(args: argparse.Namespace) -> int:
    if bool(args.ids) != bool(args.copy_to):
        raise ConfigError(
            "--ids" if args.ids else "--copy_to",
            found="one of --ids and --copy_to",
            expected="both: which images to copy, and where to",
            remedy="give both, or leave both out",
        )
    checks = [f"--{name}" for name in ("html", "csv", "decisions") if getattr(args, name)]
    if checks and (args.ids or args.write_classes):
        raise ConfigError(
            several(checks),
            found="beside --copy_to" if args.ids else "beside --write_classes",
            expected="one of them in a call: nothing is checked when files are copied or written",
            remedy="run check twice",
        )
    with unpacked(args.root) as root:
        does = _copy if args.ids else _write_classes if args.write_classes else _run
        return does(args, root)


def _write_classes(args: argparse.Namespace, root: epath.Path) -> int:
    out = staging.check_file(args.write_classes, "--write_classes")
    if out.exists():
        raise ConfigError(
            f"--write_classes {out}",
            found="a file that exists",
            expected="the name of a new file",
            remedy="choose another name, or delete the file",
        )
    opened = FolderPlanner(root, name="check", **arguments.tree_fields(args)).open(reads_on=True)
    text, unknown = write_table(opened)
    staging.write_file(out, text, "--write_classes")
    rows = counted(text.count("\n") - 1, "row")
    fill = f", {unknown} of them without a class: fill in the column class" if unknown else ""
    print(f"wrote {out}: {rows}{fill}")
    words = command("voc-seg-tfrecord", "build", args.root, name="NAME", classes=out)
    print(f"build with it: {words}")
    return 0


def _run(args: argparse.Namespace, root: epath.Path) -> int:
    html = staging.check_file(args.html, "--html") if args.html else None
    fixes = staging.check_file(args.csv, "--csv") if args.csv else None
    decisions = arguments.read_decisions(args)
    config, report = check_folder(root, fits=not args.no_fit, **arguments.tree_fields(args))
    right, stale = report.without_right(decisions)
    if html:
        from voc_seg_tfrecord.report import tree_page  # of the page only

        plan = describe(report.plan, config) if report.plan and config else ""
        tree_page.write_tree(report, config, html, plan, root=str(args.root), found_at=str(root))
    if fixes:
        _write_csv(report, fixes, root)
    _say_root(report, str(root), str(args.root))
    summary = _summary(report)
    summary["root"] = summary["root"].replace(str(root), str(args.root))
    if args.json:
        screen.write_json(summary | {"called_right": right, "decisions_not_used": stale})
        return 0 if report.ok else 1
    if report.plan and config:
        print(describe(report.plan, config).replace(str(root), str(args.root)))
        if summary["findings"] or right or stale:
            print()
    _print_findings(summary)
    if right:
        print(f"{right:6} x called right in {several(args.decisions)}, and so not named")
    if stale:
        print(f"{stale:6} x called right, but the files changed since, or are not in this tree")
    if report.total.pixels.any():
        print()
        screen.show_class_table(report.class_names, report.total, report.by_split)
    stops = sum(finding.effect == STOPS for finding in report.findings)
    verdict = f"stop: {counted(stops, 'problem')}" if stops else "go through"
    print(f"\n{report.examined} images read; a build would {verdict}")
    return 0 if report.ok else 1


def _summary(report: check.Report) -> dict[str, Any]:
    """Returns a report as plain data, which can be written as JSON."""
    plan = report.plan
    return {
        "ok": report.ok,
        "root": str(plan.tree.root) if plan else "",
        "examined": report.examined,
        "splits": {split: len(ids) for split, ids in plan.splits.items()} if plan else {},
        "reasons": [*plan.reasons] if plan else [],
        "not_used": [
            {"folder": folder, "kind": kind, "count": len(names), "files": list(names)}
            for (folder, kind), names in (plan.unused if plan else {}).items()
        ],
        "findings": [
            {
                "kind": kind,
                "effect": effect,
                "count": len(of_kind),
                "messages": [finding.message for finding in of_kind],
                "where": [finding.where for finding in of_kind],
            }
            for (kind, effect), of_kind in check.by_kind(report.findings).items()
        ],
        "label_errors": [as_dict(f) for f in suspicious_first(report.findings)],
        "classes": [
            {
                "index": index,
                "name": name,
                "pixels": int(report.total.pixels[index]),
                "images": int(report.total.images[index]),
                "splits": {
                    split: {"images": int(c.images[index]), "pixels": int(c.pixels[index])}
                    for split, c in report.by_split.items()
                },
            }
            for index, name in [*enumerate(report.class_names), (VOID, "void")]
        ],
    }


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


def _print_findings(summary: dict[str, Any]) -> None:
    for kind in summary["findings"]:
        print(f"{kind['count']:6} x {kind['kind']} ({_EFFECTS[kind['effect']]})")
        for message in share_advice(kind["messages"][:_SHOWN]):
            print("           " + message.replace("\n", "\n           "))
        if kind["count"] > _SHOWN:
            print(f"           ... and {kind['count'] - _SHOWN} more; --csv FILE lists all")


_COLUMNS = (
    *("id", "file", "kind", "x", "y", "width", "height", "split"),
    *("what to do", "score", "found"),
)


def _write_csv(report: check.Report, out: epath.Path, root: epath.Path) -> None:
    """Writes what to fix: what stops a build, then the most suspicious labels."""
    findings = [
        finding for of_kind in check.by_kind(report.findings).values() for finding in of_kind
    ]
    rows = [_row(finding, report, str(root)) for finding in findings if finding.kind != "note"]
    staging.write_file(out, screen.csv_text(_COLUMNS, rows), "--csv")


def _row(finding: Finding, report: check.Report, root: str) -> tuple[object, ...]:
    tree, plan = report.tree, report.plan
    file, split = finding.where.removeprefix(f"{root}/"), finding.split
    record_id = next(reversed(report.ids_of(finding)), "")
    image_id = report.tree_id(record_id)
    if tree and image_id in tree.images and (finding.ids or finding.where == record_id):
        of_id = tree.files_of(image_id)
        part = "mask" if finding.box and "mask" in of_id else "image"
        file = str(of_id[part][0]).removeprefix(f"{root}/")
    if plan and not split:
        lists = (*plan.splits.items(), *plan.left_out.items())
        split = ", ".join(dict.fromkeys(s for s, ids in lists if image_id in ids))
    box, score = finding.box or [""] * 4, round(finding.score, 2) if finding.score else ""
    texts = (finding.remedy, finding.message.replace(f"{root}/", ""))
    remedy, message = ("; ".join(map(str.strip, text.splitlines())) for text in texts)
    return record_id, file, finding.kind, *box, split, remedy, score, message


def _copy(args: argparse.Namespace, root: epath.Path) -> int:
    """Copies the files of chosen images, in the layout that they have.

    Lists have only the lines of these images. All else is copied byte for byte.
    """
    opened = FolderPlanner(root, name="check", **arguments.tree_fields(args)).open(reads_on=True)
    tree, evidence, pair_texts = opened.tree, opened.splits.evidence, opened.stated.texts
    path, folder = epath.Path(args.ids).expanduser(), epath.Path(args.copy_to).expanduser()
    _check_place(folder, root, args)
    ids = _chosen(path, evidence)
    files: dict[str, dict[epath.Path, None]] = {}
    for image_id in ids:
        for part, of_part in tree.files_of(image_id).items():
            files.setdefault(part, {}).update(dict.fromkeys(of_part))
    copied = dict.fromkeys(file for of_part in files.values() for file in of_part)
    plain = (root / of.file for of in evidence.lists if of.split and not of.key)
    lists = [file for file in dict.fromkeys(plain) if file not in copied]
    above = {place for file in copied for place in file.parents if place.is_relative_to(root)}
    kinds = [*CLASS_FILE_NAMES, *(NAME_FILE_PATTERNS if tree.labels.tool else ())]
    named = (file for place in sorted(above) for kind in kinds for file in place.glob(kind))
    files["class file"] = dict.fromkeys(f for f in named if f.is_file() and f not in lists)
    with staging.staged_folder(folder) as made:
        for file in {**copied, **files["class file"]}:
            staging.write_below(made, {str(file.relative_to(root)): file.read_bytes()})
        for file in lists:
            data = only_lines(File.read(file, ListError).data, file, evidence.image_names, {*ids})
            if data:
                staging.write_below(made, {str(file.relative_to(root)): data})
        if pair_texts:  # without them the copies would be paired by name
            rows = [(tree.image_path(i), tree.mask_path(i)) for i in ids if i in tree.masks]
            table = screen.csv_text(("image", "mask"), rows)
            staging.write_below(made, {"pairs.csv": table.encode()})
    if files.get("instances") == files.get("mask"):  # polygons have both in one file
        files.pop("instances", None)
    counts = {
        part.replace("instances", "instance mask"): len(of_part)
        for part, of_part in files.items()
        if of_part
    }
    if args.json:
        screen.write_json({"folder": str(folder), "ids": ids, "files": counts})
        return 0
    print(f"{folder}: " + ", ".join(counted(count, part) for part, count in counts.items()))
    masks = os.path.commonpath([file.parent for file in files.get("mask", copied)])
    of_file = collections.Counter(tree.masks.values())
    alone = all(of_file[tree.masks[i]] == 1 for i in ids if i in tree.masks)
    inside = any(file.is_relative_to(masks) for file in lists)
    # Else a list of few ids, or a file with the shapes of few images, would replace that of all.
    if alone and not inside and not is_archive(args.root):
        below = epath.Path(masks).relative_to(root)
        places = f"{folder / below}/.", f"{epath.Path(args.root) / below}/"
        print("when the masks come back, copy them over the source:")
        print(f"  {command('cp', '-r', *places)}")
    return 0


def _check_place(folder: epath.Path, root: epath.Path, args: argparse.Namespace) -> None:
    inside = folder.resolve().is_relative_to(root.resolve())
    if inside or (folder.exists() and not (folder.is_dir() and not any(folder.iterdir()))):
        raise ConfigError(
            f"--copy_to {args.copy_to}",
            found=f"a place in {args.root}" if inside else "something that exists already",
            expected=f"a new or empty folder outside of {args.root}",
            remedy="name another one",
        )
    staging.check_folder(folder.parent, "--copy_to")


def _chosen(path: epath.Path, evidence: SplitEvidence) -> list[str]:
    """Returns the ids that a file chooses, each as the tree writes it."""
    tree = evidence.tree
    ids = chosen_ids(File.read(path, ListError).data, path, evidence.image_names)
    unknown = [i for i in ids if i not in tree.images and i not in tree.masks]
    if unknown:
        raise ListError(
            path,
            found=f"{counted(len(unknown), 'id')} that the tree does not have: {several(unknown)}"
            + did_you_mean(unknown[0], tree.images),
            expected=f"ids of images in {tree.root / tree.layout.images}",
            remedy="correct them, or take them out of the file",
        )
    return list(dict.fromkeys(ids))
