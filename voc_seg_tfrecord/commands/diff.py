"""Shows what changed between two built datasets, or between a dataset and a folder.

Images are compared by their bytes, masks by the class of each pixel. A folder is read as a build of
the dataset would read it now. Exits with 1 if a validation or test split of A lost an image, or if
an image or mask in it changed, so that scores on it cannot be compared any more.
"""

import argparse
from collections.abc import Callable
import dataclasses
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.errors import ConfigError, counted, several
from voc_seg_tfrecord.formats.archives import is_archive, unpacked
from voc_seg_tfrecord.reading.dataset import open_built

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.diff import Change, Diff

SUMMARY = "show what changed between two datasets, or a dataset and a folder"
EXAMPLE = "voc-seg-tfrecord diff cracks:1.0.0 cracks:1.1.0"

_SHOWN = 20  # changes of a kind
_CLASSES = 3  # of one mask


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "a", metavar="A", help="a built dataset, such as cracks:1.0.0, or the path of its folder"
    )
    parser.add_argument(
        "b", metavar="B", help="another one; or a folder, .zip or .tar in the layout of A's source"
    )
    arguments.add(parser, "data_dir", "json")


def run(args: argparse.Namespace) -> int:
    from voc_seg_tfrecord.audit import diff

    before = open_built(args.a, args.data_dir)
    try:
        after = open_built(args.b, args.data_dir)
    except ConfigError:
        if not is_archive(args.b) and not epath.Path(args.b).expanduser().is_dir():
            raise
        with unpacked(args.b) as folder:
            changes = diff.compare(before, folder, name=args.b, progress=True)
            replace = str(folder), args.b
    else:
        changes = diff.compare(before, after, progress=True)
        replace = "", ""
    if args.json:
        screen.write_json(_as_dict(changes, replace))
    else:
        _print(changes, replace)
    return int(bool(changes.broken))


def _as_dict(diff: "Diff", replace: tuple[str, str]) -> dict[str, Any]:
    changes = [dataclasses.asdict(change) for change in diff.changes]
    for change in changes:
        change["unusable"] = change["unusable"].replace(*replace)
    before, after = (
        {"name": name, "splits": counts, "ids_sha256": ids, "classes": list(classes)}
        for name, counts, ids, classes in zip(
            diff.names, diff.counts, diff.ids_sha256, diff.classes, strict=True
        )
    )
    return {"before": before, "after": after, "changes": changes, "broken": diff.broken}


def _print(diff: "Diff", replace: tuple[str, str]) -> None:
    print(f"{diff.names[0]} -> {diff.names[1]}")
    _print_classes(*diff.classes)
    kinds = {kind: list(filter(is_one, diff.changes)) for kind, (_, is_one) in _KINDS.items()}
    columns = ["split", "before", "after", *kinds]
    splits = dict.fromkeys((*diff.counts[0], *diff.counts[1]))
    rows = [
        [
            split,
            *(counts.get(split, 0) for counts in diff.counts),
            *(sum((c.before or c.after) == split for c in of) for of in kinds.values()),
        ]
        for split in splits
    ]
    screen.show_table(columns, rows)
    for split in splits:
        first, second = (digests.get(split, "none") for digests in diff.ids_sha256)
        says = f"{first} on both sides" if first == second else f"{first} -> {second}"
        print(f"ids of {split}: sha256 {says}")
    for kind, changes in kinds.items():
        if changes:
            print(f"{_KINDS[kind][0]}: {len(changes)}")
            for change in changes[:_SHOWN]:
                print(f"  {_line(kind, change)}".replace(*replace))
            if len(changes) > _SHOWN:
                print(f"  ... and {len(changes) - _SHOWN} more; --json lists all")
    if not diff.changes:
        print("nothing changed")
    for split, ids in diff.broken.items():
        print(
            f"{split}: {counted(len(ids), 'example')} lost or changed ({several(ids)}), so scores "
            f"on {split} before and after cannot be compared"
        )


_KINDS: dict[str, tuple[str, "Callable[[Change], object]"]] = {
    "added": ("added", lambda change: not change.before and not change.unusable),
    "removed": ("removed", lambda change: not change.after),
    "moved": ("moved to another split", lambda change: change.moved),
    "image": ("other bytes of the image", lambda change: change.image),
    "mask": ("other mask", lambda change: change.mask),
    "other": ("other in other features", lambda change: change.others),
    "unusable": ("cannot be used in a build", lambda change: change.unusable),
}
"""How each kind of change is called, and which changes are of it."""


def _print_classes(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    both = [name for name in before if name in after]
    for what, names in (
        ("only before", [name for name in before if name not in after]),
        ("only after", [name for name in after if name not in before]),
        ("with another number", [n for n in both if before.index(n) != after.index(n)]),
    ):
        if names:
            print(f"classes {what}: {several(names, 10)}")


def _line(kind: str, change: "Change") -> str:
    where = f"{change.id} ({change.before or change.after})"
    if kind == "moved":
        if change.id_after:
            return f"{where} -> {change.id_after} ({change.after})"
        return f"{change.id}: {change.before} -> {change.after}"
    if kind == "other":
        return f"{where}: {', '.join(change.others)}"
    if kind == "unusable":
        return f"{where}: {change.unusable}"
    if kind != "mask" or change.mask is None:
        return where
    classes = [f"{a} -> {b} {pixels:,}" for a, b, pixels in change.mask.classes]
    if change.mask.pixels is None:
        return f"{where}: {classes[0] if classes else 'another size, or only one side has it'}"
    return f"{where}: {counted(change.mask.pixels, 'pixel')}: {several(classes, _CLASSES)}"
