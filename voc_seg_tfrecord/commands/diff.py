"""Shows what changed between two built datasets, or between a dataset and a folder.

Images are compared by their bytes, masks by the class of each pixel. A folder is read as a build of
the dataset would read it now. Exits with 1 if a validation or test split of A lost an image, or if
an image or mask in it changed, so that scores on it cannot be compared any more.
"""

import argparse
from collections.abc import Callable, Sequence
import dataclasses
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.errors import ConfigError, counted, several
from voc_seg_tfrecord.formats.archives import is_archive, unpacked
from voc_seg_tfrecord.reading.dataset import open_built

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.diff import Change, Diff, DiffSide, MaskChange

SUMMARY = "show what changed between two datasets, or a dataset and a folder"
EXAMPLE = "voc-seg-tfrecord diff cracks:1.0.0 cracks:1.1.0"

_MAX_LISTED_CHANGES = 20
"""How many changes of a kind are printed."""

_MAX_LISTED_CLASSES = 3
"""How many changed classes of one mask are printed."""

_MAX_LISTED_NAMES = 10
"""How many classes without a counterpart are printed."""


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
            naming = _FolderNaming(str(folder), args.b)
    else:
        changes = diff.compare(before, after, progress=True)
        naming = _FolderNaming("", "")
    if args.json:
        screen.write_json(_as_dict(changes, naming))
    else:
        _print(changes, naming)
    return 1 if changes.broken else 0


@dataclasses.dataclass(frozen=True)
class _FolderNaming:
    """Names a folder in texts as the user did, even if it was unpacked elsewhere.

    Attributes:
      path: where the folder lies; empty if there is none.
      given: what the user called it.
    """

    path: str
    given: str

    def rename(self, text: str) -> str:
        """Returns a text with the user's name of the folder."""
        return text.replace(self.path, self.given) if self.path else text


def _as_dict(diff: "Diff", naming: _FolderNaming) -> dict[str, Any]:
    changes = [dataclasses.asdict(change) for change in diff.changes]
    for change in changes:
        change["unusable"] = naming.rename(change["unusable"])
    return {
        "before": _side_as_dict(diff.before),
        "after": _side_as_dict(diff.after),
        "changes": changes,
        "broken": diff.broken,
    }


def _side_as_dict(side: "DiffSide") -> dict[str, Any]:
    return {
        "name": side.name,
        "splits": side.counts,
        "ids_sha256": side.ids_sha256,
        "classes": list(side.classes),
    }


def _print(diff: "Diff", naming: _FolderNaming) -> None:
    print(f"{diff.before.name} -> {diff.after.name}")
    _print_classes(diff.before.classes, diff.after.classes)
    changes_by_kind = {
        kind: [change for change in diff.changes if has_kind(change)]
        for kind, (_, has_kind) in _KINDS.items()
    }
    splits = list(dict.fromkeys([*diff.before.counts, *diff.after.counts]))
    rows = []
    for split in splits:
        row = [split, diff.before.counts.get(split, 0), diff.after.counts.get(split, 0)]
        for changes in changes_by_kind.values():
            row.append(len([c for c in changes if (c.before or c.after) == split]))
        rows.append(row)
    screen.show_table(["split", "before", "after", *changes_by_kind], rows)
    for split in splits:
        before = diff.before.ids_sha256.get(split, "none")
        after = diff.after.ids_sha256.get(split, "none")
        digests = f"{before} on both sides" if before == after else f"{before} -> {after}"
        print(f"ids of {split}: sha256 {digests}")
    for kind, changes in changes_by_kind.items():
        _print_changes(kind, changes, naming)
    if not diff.changes:
        print("nothing changed")
    for split, ids in diff.broken.items():
        print(
            f"{split}: {counted(len(ids), 'example')} lost or changed ({several(ids)}), so scores "
            f"on {split} before and after cannot be compared"
        )


def _print_changes(kind: str, changes: "Sequence[Change]", naming: _FolderNaming) -> None:
    if not changes:
        return
    title, _ = _KINDS[kind]
    print(f"{title}: {len(changes)}")
    for change in changes[:_MAX_LISTED_CHANGES]:
        print(naming.rename(f"  {_line(kind, change)}"))
    unlisted = len(changes) - _MAX_LISTED_CHANGES
    if unlisted > 0:
        print(f"  ... and {unlisted} more; --json lists all")


_KINDS: dict[str, tuple[str, "Callable[[Change], object]"]] = {
    "added": ("added", lambda change: not change.before and not change.unusable),
    "removed": ("removed", lambda change: not change.after),
    "moved": ("moved to another split", lambda change: change.moved),
    "image": ("other bytes of the image", lambda change: change.image),
    "mask": ("other mask", lambda change: change.mask),
    "other": ("other in other features", lambda change: change.others),
    "unusable": ("cannot be used in a build", lambda change: change.unusable),
}
"""The title of each kind of change, and the function that says whether a change has this kind."""


def _print_classes(before: tuple[str, ...], after: tuple[str, ...]) -> None:
    moved = []
    for index, name in enumerate(before):
        if name in after and after.index(name) != index:
            moved.append(name)
    names_by_title = {
        "only before": [name for name in before if name not in after],
        "only after": [name for name in after if name not in before],
        "with another number": moved,
    }
    for title, names in names_by_title.items():
        if names:
            print(f"classes {title}: {several(names, _MAX_LISTED_NAMES)}")


def _line(kind: str, change: "Change") -> str:
    where = f"{change.id} ({change.before or change.after})"
    if kind == "moved" and change.id_after:
        return f"{where} -> {change.id_after} ({change.after})"
    if kind == "moved":
        return f"{change.id}: {change.before} -> {change.after}"
    if kind == "other":
        return f"{where}: {', '.join(change.others)}"
    if kind == "unusable":
        return f"{where}: {change.unusable}"
    if kind == "mask" and change.mask is not None:
        return f"{where}: {_describe_mask(change.mask)}"
    return where


def _describe_mask(mask: "MaskChange") -> str:
    """Returns how a mask changed: pixels, and the classes that they had and have."""
    classes = [f"{old} -> {new} {pixels:,}" for old, new, pixels in mask.classes]
    if mask.pixels is not None:
        return f"{counted(mask.pixels, 'pixel')}: {several(classes, _MAX_LISTED_CLASSES)}"
    return classes[0] if classes else "another size, or only one side has it"
