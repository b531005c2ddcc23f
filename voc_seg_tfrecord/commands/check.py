"""Shows everything that is wrong with a tree, before you build it.

Reads and decodes all files and does not stop at the first problem. Exits with 1 if a build
would stop. Labels that may be wrong are named too, the most suspicious first; they stop nothing.
"""

import argparse
import dataclasses

from etils import epath

from voc_seg_tfrecord.base import staging
from voc_seg_tfrecord.base.errors import ConfigError, ListError, did_you_mean, share_advice
from voc_seg_tfrecord.base.wording import command, counted, several
from voc_seg_tfrecord.build_from.tree import describe
from voc_seg_tfrecord.commands import arguments, screen, tree_arguments
from voc_seg_tfrecord.commands.screen import write_json
from voc_seg_tfrecord.formats.class_files import NAMES
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.id_lists import chosen_ids, only_lines
from voc_seg_tfrecord.own_data import check, class_table
from voc_seg_tfrecord.own_data.unpacked import is_archive, unpacked
from voc_seg_tfrecord.quality import rules
from voc_seg_tfrecord.quality.rules import Finding
from voc_seg_tfrecord.report.label_errors import check_folder, open_tree

SUMMARY = "show everything that is wrong with a tree, before you build it"
EXAMPLE = "voc-seg-tfrecord check /data/cracks"
USUAL = ("root", "class_names", "splits", "html", "csv", "ids", "copy_to", "json")

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
    """Checks and prints the report."""
    if bool(args.ids) != bool(args.copy_to):
        raise ConfigError(
            "--ids" if args.ids else "--copy_to",
            found="one of --ids and --copy_to",
            expected="both: which images to copy, and where to",
            remedy="give both, or leave both out",
        )
    with unpacked(args.root) as root:
        return _copy(args, root) if args.ids else _run(args, root)


def _write_classes(args: argparse.Namespace, root: epath.Path) -> int:
    """Writes the table of classes, and says how to build with it."""
    out = staging.check_file(args.write_classes, "--write_classes")
    if out.exists():
        raise ConfigError(
            f"--write_classes {out}",
            found="a file that exists",
            expected="the name of a new file",
            remedy="choose another name, or delete the file",
        )
    tree, config, fault = open_tree(root, **tree_arguments.fields(args))
    text, unknown = class_table.write(tree, config, named=fault is None)
    staging.write_file(out, text, "--write_classes")
    rows = counted(text.count("\n") - 1, "row")
    fill = f", {unknown} of them without a class: fill in the column class" if unknown else ""
    print(f"wrote {out}: {rows}{fill}")
    words = command("voc-seg-tfrecord", "build", args.root, name="NAME", classes=out)
    print(f"build with it: {words}")
    return 0


def _run(args: argparse.Namespace, root: epath.Path) -> int:
    if args.write_classes:
        return _write_classes(args, root)
    html = staging.check_file(args.html, "--html") if args.html else None
    fixes = staging.check_file(args.csv, "--csv") if args.csv else None
    decisions = arguments.read_decisions(args)
    config, report = check_folder(root, fits=not args.no_fit, **tree_arguments.fields(args))
    right = report.without_right(decisions)
    if html:
        from voc_seg_tfrecord.report import tree_page  # of the page only

        plan = describe(report.plan, config) if report.plan and config else ""
        tree_page.write_tree(report, config, html, plan, root=str(args.root), found_at=str(root))
    if fixes:
        _write_csv(report, fixes, root)
    _say_root(report, str(root), str(args.root))
    summary = check.summary(report)
    summary["root"] = summary["root"].replace(str(root), str(args.root))
    if args.json:
        write_json(summary | {"called_right": right})
        return 0 if report.ok else 1
    if report.plan:
        print(describe(report.plan, config).replace(str(root), str(args.root)), end="\n\n")
    _print_findings(summary)
    if right:
        print(f"{right:6} x called right in {several(args.decisions)}, and so not named")
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


_COLUMNS = ("id", "file", "kind", "x", "y", "width", "height", "split", "what to do", "score")
_COLUMNS += ("found",)


def _write_csv(report: check.Report, out: epath.Path, root: epath.Path) -> None:
    """Writes what to fix: what stops a build, then the most suspicious labels."""
    found = [finding for of_kind in check.by_kind(report.findings).values() for finding in of_kind]
    rows = [_row(finding, report, str(root)) for finding in found if finding.kind != "note"]
    staging.write_file(out, screen.csv_text(_COLUMNS, rows), "--csv")


def _row(finding: Finding, report: check.Report, root: str) -> tuple[object, ...]:
    tree, plan = report.tree, report.plan
    file, split = finding.where.removeprefix(f"{root}/"), finding.split
    image_id = next(reversed(report.ids_of(finding)), "")
    if tree and image_id in tree.images and (finding.ids or finding.where == image_id):
        folder, names = tree.layout.images, tree.images
        if finding.box and image_id in tree.masks:
            folder, names = tree.layout.masks, tree.masks
        file = str(tree.root / folder / names[image_id]).removeprefix(f"{root}/")
    if plan and not split:
        lists = (*plan.splits.items(), *plan.left_out.items())
        split = ", ".join(dict.fromkeys(s for s, ids in lists if image_id in ids))
    box, score = finding.box or [""] * 4, round(finding.score, 2) if finding.score else ""
    texts = (finding.remedy, finding.message.replace(f"{root}/", ""))
    remedy, message = ("; ".join(map(str.strip, text.splitlines())) for text in texts)
    return image_id, file, finding.kind, *box, split, remedy, score, message


def _copy(args: argparse.Namespace, root: epath.Path) -> int:
    """Copies the files of chosen images, in the layout that they have.

    Lists have only the lines of these images. All else is copied byte for byte.
    """
    tree, *_ = open_tree(root, **tree_arguments.fields(args))
    path, folder = epath.Path(args.ids).expanduser(), epath.Path(args.copy_to).expanduser()
    _check_place(folder, root, args)
    ids = _chosen(path, tree)
    layout = tree.layout
    parts = {
        "images": (layout.images, tree.images),
        "masks": (layout.masks, tree.masks),
        "instance masks": (layout.instances, tree.instances),
        "annotations": (layout.annotations, tree.annotations),
    }
    files: dict[str, list[epath.Path]] = {}
    for what, (place, names) in parts.items():
        present = [names.written(image_id) for image_id in ids if image_id in names]
        found = [name for i in present for name in names.twins.get(i, (names[i],))]
        files[what] = [tree.root / place / name for name in found]
    copied = dict.fromkeys(file for found in files.values() for file in found)
    above = {parent for file in copied for parent in file.parents if parent.is_relative_to(root)}
    files["class files"] = [f for p in sorted(above) for n in NAMES if (f := p / n).is_file()]
    lists = {name: tree.list_path(name) for name in tree.list_names()}
    files["class files"] = [f for f in files["class files"] if f not in lists.values()]
    with staging.staged_folder(folder) as made:
        for file in dict.fromkeys((*copied, *files["class files"])):
            place = made / file.relative_to(root)
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(file.read_bytes())
        for file in lists.values():
            data = only_lines(File.read(file, ListError).data, file, tree.ids_by_name, {*ids})
            if data:
                place = made / file.relative_to(root)
                place.parent.mkdir(parents=True, exist_ok=True)
                place.write_bytes(data)
    counts = {what: len(found) for what, found in files.items() if found}
    masks = (tree.root / layout.masks).relative_to(root)
    back = command("cp", "-r", f"{folder / masks}/.", f"{epath.Path(args.root) / masks}/")
    if args.json:
        write_json({"folder": str(folder), "ids": ids, "files": counts})
        return 0
    print(f"{folder}: " + ", ".join(f"{count} {what}" for what, count in counts.items()))
    if masks.parts and not is_archive(args.root):  # else it would replace lists too
        print(f"when the masks come back, copy them over the source:\n  {back}")
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


def _chosen(path: epath.Path, tree) -> list[str]:
    """Returns the ids that a file chooses, each as the tree writes it."""
    ids = chosen_ids(File.read(path, ListError).data, path, tree.ids_by_name)
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
