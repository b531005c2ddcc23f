"""Shows everything that is wrong with a tree, before you build it.

Reads and decodes all files and does not stop at the first problem. Exits with 1 if a build
would stop. Labels that may be wrong are named too, the most suspicious first; they do not stop it.
"""

import argparse
import collections
from collections.abc import Collection, Iterable, Sequence
import dataclasses
import itertools
import pathlib
import posixpath
from typing import Any

from etils import epath

from voc_seg_tfrecord.audit import check
from voc_seg_tfrecord.build_from.tree import FolderPlanner, describe
from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import output_files, staging
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
from voc_seg_tfrecord.core.storage import is_bucket
from voc_seg_tfrecord.folder.class_table import write_table
from voc_seg_tfrecord.folder.plan import FolderPlan, OpenFolder
from voc_seg_tfrecord.folder.splits.evidence import SplitEvidence
from voc_seg_tfrecord.folder.tree.voc_tree import VocTree
from voc_seg_tfrecord.formats.archives import FolderNaming, is_archive, unpacked
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

_MAX_LISTED_FINDINGS = 3
"""How many findings of a kind are printed."""

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
        help="write the table of classes: a row for each value and color of the masks, ? where "
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


_FILE_OPTIONS = ("html", "csv", "write_classes", "ids", "copy_to")
_CHECK_OPTIONS = ("html", "csv", "decisions", "no_fit")
"""The options that change what is checked, or where that is written."""


def run(args: argparse.Namespace) -> int:
    _check_options(args)
    with unpacked(args.root) as root:
        if args.copy_to:
            return _copy(args, root)
        if args.write_classes:
            return _write_classes(args, root)
        return _check(args, root)


def _check_options(args: argparse.Namespace) -> None:
    """Checks that a call does one of three things: check, write the table of classes, or copy."""
    arguments.check_not_empty(args, *_FILE_OPTIONS)
    if bool(args.ids) != bool(args.copy_to):
        raise ConfigError(
            "--ids" if args.ids else "--copy_to",
            found="one of --ids and --copy_to",
            expected="both: which images to copy, and where to",
            remedy="give both, or leave both out",
        )
    if args.copy_to:
        _refuse_options(args, (*_CHECK_OPTIONS, "write_classes"), beside="--copy_to")
    elif args.write_classes:
        _refuse_options(args, _CHECK_OPTIONS, beside="--write_classes")


def _refuse_options(args: argparse.Namespace, names: Sequence[str], *, beside: str) -> None:
    given = [f"--{name}" for name in names if getattr(args, name)]
    if given:
        raise ConfigError(
            several(given),
            found=f"beside {beside}",
            expected="one of them in a call: nothing is checked when files are copied or written",
            remedy="run check twice",
        )


def _write_classes(args: argparse.Namespace, root: epath.Path) -> int:
    out = output_files.check_file(args.write_classes, "--write_classes")
    if out.exists():
        raise ConfigError(
            f"--write_classes {out}",
            found="a file that exists",
            expected="the name of a new file",
            remedy="choose another name, or delete the file",
        )
    opened = FolderPlanner(root, name="check", **arguments.tree_fields(args)).open(reads_on=True)
    table = write_table(opened)
    output_files.write_file(out, table.csv, "--write_classes")
    row_count = len(table.csv.splitlines()) - 1  # without the titles
    if args.json:
        counts = {"rows": row_count, "rows_without_class": table.rows_without_class}
        screen.write_json({"file": str(out), **counts})
        return 0
    sentence = f"wrote {out}: {counted(row_count, 'row')}"
    if table.rows_without_class:
        sentence += (
            f", {table.rows_without_class} of them without a class: fill in the column class"
        )
    print(sentence)
    words = command("voc-seg-tfrecord", "build", args.root, name="NAME", classes=out)
    print(f"build with it: {words}")
    return 0


def _check(args: argparse.Namespace, root: epath.Path) -> int:
    html = output_files.check_file(args.html, "--html") if args.html else None
    fixes = output_files.check_file(args.csv, "--csv") if args.csv else None
    decisions = arguments.read_decisions(args)
    config, report = check_folder(root, fits=not args.no_fit, **arguments.tree_fields(args))
    dropped = report.drop_findings_called_right(decisions)
    naming = FolderNaming(str(root), str(args.root))
    plan_text = ""
    if report.plan and config:
        plan_text = naming.rename(describe(report.plan, config))
    if html:
        from voc_seg_tfrecord.report import tree_page  # here, because most calls write no page

        tree_page.write_tree(report, config, html, plan_text, naming)
    if fixes:
        _write_csv(report, fixes, naming)
    summary = _summarize(report, dropped, naming)
    if args.json:
        screen.write_json(summary)
    else:
        _print_report(report, summary, plan_text, args.decisions)
    return 0 if report.ok else 1


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
        "reasons": [*plan.reasons] if plan else [],
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
    for (folder, kind), names in plan.unused.items():
        rows.append({"folder": folder, "kind": kind, "count": len(names), "files": list(names)})
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
    report: check.Report, summary: dict[str, Any], plan_text: str, decisions: Sequence[str]
) -> None:
    """Prints a report.

    Args:
      report: the report.
      summary: the same, as plain data.
      plan_text: what a build would do; empty if nobody knows.
      decisions: the files of decisions.
    """
    right = summary["called_right"]
    stale = summary["decisions_not_used"]
    if plan_text:
        print(plan_text)
        if summary["findings"] or right or stale:
            print()
    _print_findings(summary)
    if right:
        print(f"{right:6} x called right in {several(decisions)}, and so not named")
    if stale:
        print(f"{stale:6} x called right, but the files changed since, or are not in this tree")
    if report.total.pixels.any():
        print()
        screen.show_class_table(report.class_names, report.total, report.by_split)
    stops = len([finding for finding in report.findings if finding.effect == STOPS])
    verdict = f"stop: {counted(stops, 'problem')}" if stops else "go through"
    print(f"\n{report.examined} images read; a build would {verdict}")


def _print_findings(summary: dict[str, Any]) -> None:
    for kind in summary["findings"]:
        print(f"{kind['count']:6} x {kind['kind']} ({_EFFECTS[kind['effect']]})")
        for message in share_advice(kind["messages"][:_MAX_LISTED_FINDINGS]):
            print("           " + message.replace("\n", "\n           "))
        if kind["count"] > _MAX_LISTED_FINDINGS:
            unlisted = kind["count"] - _MAX_LISTED_FINDINGS
            print(f"           ... and {unlisted} more; --csv FILE lists all")


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
    output_files.write_file(out, screen.csv_text(_CSV_COLUMNS, rows), "--csv")


def _csv_row(finding: Finding, report: check.Report, naming: FolderNaming) -> tuple[object, ...]:
    """Returns the cells of `_CSV_COLUMNS` about a finding."""
    record_id = next(reversed(report.ids.record_ids(finding)), "")
    image_id = report.ids.tree_id(record_id)
    box = finding.box or ("", "", "", "")
    score = round(finding.score, 2) if finding.score else ""
    return (
        record_id,
        naming.shorten(_file_to_fix(finding, report, record_id, image_id)),
        finding.kind,
        *box,
        finding.split or _splits_of(image_id, report),
        _on_one_line(finding.remedy),
        score,
        _on_one_line(naming.shorten(finding.message)),
    )


def _file_to_fix(finding: Finding, report: check.Report, record_id: str, image_id: str) -> str:
    """Returns the mask or the image that a finding is about; else what the finding names."""
    tree = report.tree
    is_about_image = bool(finding.ids) or finding.where == record_id
    if not tree or image_id not in tree.images or not is_about_image:
        return finding.where
    files = tree.existing_paths_by_part(image_id)
    part = "mask" if finding.box and "mask" in files else "image"
    return str(files[part][0])


def _splits_of(image_id: str, report: check.Report) -> str:
    """Returns the splits that list an image, separated by commas."""
    if not report.plan:
        return ""
    splits = []
    for lists in (report.plan.splits, report.plan.left_out):
        splits += [split for split, ids in lists.items() if image_id in ids]
    return ", ".join(dict.fromkeys(splits))


def _on_one_line(text: str) -> str:
    return "; ".join(line.strip() for line in text.splitlines())


def _copy(args: argparse.Namespace, root: epath.Path) -> int:
    """Copies the files of chosen images, in the layout that they have.

    Lists have only the lines of these images. All else is copied byte for byte.
    """
    opened = FolderPlanner(root, name="check", **arguments.tree_fields(args)).open(reads_on=True)
    folder = epath.Path(args.copy_to).expanduser()
    _check_new_folder(folder, root, args)
    ids = _read_chosen_ids(epath.Path(args.ids).expanduser(), opened.division.evidence)
    files = _find_files_to_copy(opened, root, ids)
    with staging.staged_folder(folder) as incomplete:
        for file in files.unchanged:
            staging.write_below(incomplete, {_name_below(root, file): file.read_bytes()})
        for file, lines in files.lines_by_list.items():
            staging.write_below(incomplete, {_name_below(root, file): lines})
        if opened.stated.texts:  # without them the copies would be paired by name
            pairs = _pairs_csv(opened.tree, ids)
            staging.write_below(incomplete, {"pairs.csv": pairs.encode()})
    counts = files.count_by_part()
    if args.json:
        screen.write_json({"folder": str(folder), "ids": ids, "files": counts})
        return 0
    listed = ", ".join(counted(count, part) for part, count in counts.items())
    print(f"{folder}: {listed}")
    _print_way_back(args, root, folder, opened.tree, ids, files)
    return 0


@dataclasses.dataclass(frozen=True)
class _FilesToCopy:
    """The files of chosen images.

    Attributes:
      by_part: the files of each part of an image, such as `mask`.
      class_files: the files that name classes.
      lines_by_list: the lines about the chosen images in each list that names some of them.
    """

    by_part: dict[str, list[epath.Path]]
    class_files: list[epath.Path]
    lines_by_list: dict[epath.Path, bytes]

    @property
    def of_images(self) -> list[epath.Path]:
        """All files of images, each once."""
        return list(dict.fromkeys(itertools.chain(*self.by_part.values())))

    @property
    def unchanged(self) -> list[epath.Path]:
        """All files that are copied as they are, each once."""
        return list(dict.fromkeys([*self.of_images, *self.class_files]))

    def count_by_part(self) -> dict[str, int]:
        """Returns how many files of each part there are, by its name for people."""
        files_by_name = {}
        for part, files in self.by_part.items():
            is_in_mask_files = part == "instances" and files == self.by_part.get("mask")
            if not is_in_mask_files:
                files_by_name[part.replace("instances", "instance mask")] = files
        files_by_name["class file"] = self.class_files
        files_by_name["list"] = list(self.lines_by_list)
        return {name: len(files) for name, files in files_by_name.items() if files}


def _find_files_to_copy(opened: OpenFolder, root: epath.Path, ids: list[str]) -> _FilesToCopy:
    by_part: dict[str, dict[epath.Path, None]] = {}
    for image_id in ids:
        for part, files in opened.tree.existing_paths_by_part(image_id).items():
            by_part.setdefault(part, {}).update(dict.fromkeys(files))
    of_images = set(itertools.chain(*by_part.values()))
    lists = _plain_lists(opened, root, of_images)
    lines_by_list = {}
    for file in lists:
        data = File.read(file, ListError).data
        lines = only_lines(data, file, opened.division.evidence.image_names, {*ids})
        if lines:
            lines_by_list[file] = lines
    return _FilesToCopy(
        by_part={part: list(files) for part, files in by_part.items()},
        class_files=_find_class_files(opened.tree, root, of_images, lists),
        lines_by_list=lines_by_list,
    )


def _plain_lists(
    opened: OpenFolder, root: epath.Path, of_images: Collection[epath.Path]
) -> list[epath.Path]:
    """Returns the texts that list the ids of one split, and that are no files of images."""
    lists: dict[epath.Path, None] = {}
    for split_list in opened.division.evidence.lists:
        file = root / split_list.file
        is_plain_list = split_list.split and not split_list.key
        if is_plain_list and file not in of_images:
            lists[file] = None
    return list(lists)


def _find_class_files(
    tree: VocTree,
    root: epath.Path,
    of_images: Iterable[epath.Path],
    lists: Collection[epath.Path],
) -> list[epath.Path]:
    """Returns the files that name classes, in the folders of images and above."""
    patterns = [*CLASS_FILE_NAMES]
    if tree.labels.tool:
        patterns += NAME_FILE_PATTERNS
    class_files: dict[epath.Path, None] = {}
    for folder in sorted(_folders_above(of_images, root)):
        for file in itertools.chain.from_iterable(map(folder.glob, patterns)):
            if file.is_file() and file not in lists:
                class_files[file] = None
    return list(class_files)


def _folders_above(files: Iterable[epath.Path], root: epath.Path) -> set[epath.Path]:
    """Returns the folders that hold files, and those above them up to the root."""
    folders: set[epath.Path] = set()
    for file in files:
        folders.update(folder for folder in file.parents if folder.is_relative_to(root))
    return folders


def _name_below(root: epath.Path, file: epath.Path) -> str:
    return str(file.relative_to(root))


def _pairs_csv(tree: VocTree, ids: list[str]) -> str:
    rows = []
    for image_id in ids:
        if image_id in tree.masks:
            rows.append((tree.paths.image(image_id), tree.paths.mask(image_id)))
    return screen.csv_text(("image", "mask"), rows)


def _print_way_back(
    args: argparse.Namespace,
    root: epath.Path,
    folder: epath.Path,
    tree: VocTree,
    ids: list[str],
    files: _FilesToCopy,
) -> None:
    """Prints how to copy corrected masks over the source, if that replaces nothing else."""
    if is_archive(args.root) or is_bucket(args.root) or is_bucket(folder):
        return
    mask_files = files.by_part.get("mask", files.of_images)
    masks_folder = _common_folder(_name_below(root, file) for file in mask_files)
    mask_uses = collections.Counter(tree.masks.values())
    is_shared = any(
        mask_uses[tree.masks[image_id]] > 1 for image_id in ids if image_id in tree.masks
    )
    has_list_inside = any(file.is_relative_to(root / masks_folder) for file in files.lines_by_list)
    # A file with the shapes of few images, or a list of few ids, would replace that of all.
    if is_shared or has_list_inside:
        return
    source = f"{folder / masks_folder}/."
    target = f"{epath.Path(args.root) / masks_folder}/"
    print("when the masks come back, copy them over the source:")
    print(f"  {command('cp', '-r', source, target)}")


def _common_folder(names: Iterable[str]) -> str:
    """Returns the folder that all files lie in, as seen from the root; `.` is the root."""
    folders = [str(pathlib.PurePath(name).parent) for name in names]
    return posixpath.commonpath(folders) or "."


def _check_new_folder(folder: epath.Path, root: epath.Path, args: argparse.Namespace) -> None:
    """Checks that a folder can be written and holds nothing yet."""
    found = ""
    if folder.resolve().is_relative_to(root.resolve()):
        found = f"a folder in {args.root}"
    elif folder.exists() and not _is_empty_folder(folder):
        found = "something that exists already"
    if found:
        raise ConfigError(
            f"--copy_to {args.copy_to}",
            found=found,
            expected=f"a new or empty folder outside of {args.root}",
            remedy="name another one",
        )
    output_files.check_folder(folder.parent, "--copy_to")


def _is_empty_folder(path: epath.Path) -> bool:
    return path.is_dir() and not any(path.iterdir())


def _read_chosen_ids(path: epath.Path, evidence: SplitEvidence) -> list[str]:
    """Returns the ids that a file chooses, each as the tree writes it."""
    tree = evidence.tree
    ids = chosen_ids(File.read(path, ListError).data, path, evidence.image_names)
    unknown = [
        image_id for image_id in ids if image_id not in tree.images and image_id not in tree.masks
    ]
    if unknown:
        raise ListError(
            path,
            found=f"{counted(len(unknown), 'id')} that the tree does not have: {several(unknown)}"
            + did_you_mean(unknown[0], tree.images),
            expected=f"ids of images in {tree.root / tree.layout.images}",
            remedy="correct them, or take them out of the file",
        )
    return list(dict.fromkeys(ids))
