"""Shows what changed between two built datasets, or between a dataset and a folder.

Images are compared by their bytes, masks by the class of each pixel. A folder is read as a build of
the dataset would read it now. Exits with 1 if scores cannot be compared any more: a validation or
test split of A got or lost an image, or an image or mask in it changed. Also exits with 1 if a
class has another number: networks trained before then predict wrong classes.
"""

import argparse
from collections.abc import Callable, Mapping, Sequence
import dataclasses
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core.errors import ConfigError, counted, several
from voc_seg_tfrecord.core.shell import command
from voc_seg_tfrecord.formats.archives import FolderNaming, is_archive, unpacked
from voc_seg_tfrecord.reading.dataset import open_built
from voc_seg_tfrecord.reading.dataset_files import INFO
from voc_seg_tfrecord.reading.find import DATASET, versions_in

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.diff import Change, Diff, DiffSide, MaskChange, RenumberedClass

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
        "b",
        metavar="B",
        help="another built dataset; or a folder, .zip or .tar with the layout of A's source",
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
            naming = FolderNaming(str(folder), args.b)
    else:
        _check_is_no_folder_too(args)
        changes = diff.compare(before, after, progress=True)
        naming = FolderNaming("", "")
    if args.json:
        screen.write_json(_as_dict(changes, naming))
    else:
        _print(changes, naming)
    return 0 if changes.is_comparable else 1


def _check_is_no_folder_too(args: argparse.Namespace) -> None:
    """Checks that the name of the second dataset is not that of a source folder here, too.

    Raises:
      ConfigError: if it is, with the command for each.
    """
    folder = epath.Path(args.b)
    if "/" in args.b or not folder.is_dir() or (folder / INFO).exists() or versions_in(folder):
        return
    program = ("voc-seg-tfrecord", "diff", args.a)
    with_folder = command(*program, f"./{args.b}", data_dir=args.data_dir)
    with_dataset = command(*program, f"{DATASET}/{args.b}", data_dir=args.data_dir)
    raise ConfigError(
        args.b,
        found="the name of a dataset and of a folder",
        expected="one of them",
        remedy=f"for the folder, run {with_folder}; for the dataset, {with_dataset}",
    )


def _as_dict(diff: "Diff", naming: FolderNaming) -> dict[str, Any]:
    changes = [dataclasses.asdict(change) for change in diff.changes]
    for change in changes:
        change["unusable"] = naming.rename(change["unusable"])
    return {
        "before": _side_as_dict(diff.before),
        "after": _side_as_dict(diff.after),
        "changes": changes,
        "broken": diff.broken,
        "unnamed": list(diff.unnamed),
        "renumbered": [dataclasses.asdict(one) for one in diff.renumbered],
    }


def _side_as_dict(side: "DiffSide") -> dict[str, Any]:
    return {
        "name": side.name,
        "splits": side.counts,
        "ids_sha256": side.ids_sha256,
        "classes": list(side.classes),
    }


def _print(diff: "Diff", naming: FolderNaming) -> None:
    before = diff.before
    after = diff.after
    print(f"{before.name} -> {after.name}")
    if len(diff.unnamed) == 2:
        print("classes are compared by number: both sides have default names")
    elif diff.unnamed:
        print(
            f"classes are compared by number: {diff.unnamed[0]} has default names, and gets those "
            "of the other side here"
        )
    if not diff.changes and before.classes != after.classes:
        print("images and masks are the same; the class list changed")
    elif not diff.changes:
        print("nothing changed")
    if diff.renumbered:
        print(_describe_renumbered(diff.renumbered))
    for split, ids in diff.broken.items():
        print(
            f"{split}: {counted(len(ids), 'example')} new, moved, removed or changed "
            f"({several(ids)}); do not compare scores on {split} before and after"
        )
    _print_lost_and_new_classes(before.classes, after.classes)
    changes_by_kind: dict[str, list[Change]] = {}
    for name, kind in _KINDS.items():
        changes = [change for change in diff.changes if kind.includes(change)]
        if changes:
            changes_by_kind[name] = changes
    _print_splits(diff, changes_by_kind)
    for name, changes in changes_by_kind.items():
        print(f"{_KINDS[name].title}: {len(changes)}")
        lines = [naming.rename(_KINDS[name].describe(change)) for change in changes]
        screen.show_first(lines, _MAX_LISTED_CHANGES, rest="--json lists all")
    _print_digests_of_ids(before, after)


def _print_lost_and_new_classes(before: Sequence[str], after: Sequence[str]) -> None:
    lost_classes = [name for name in before if name not in after]
    new_classes = [name for name in after if name not in before]
    for title, names in {"before": lost_classes, "after": new_classes}.items():
        if names:
            print(f"classes only {title}: {several(names, _MAX_LISTED_NAMES)}")


def _print_splits(diff: "Diff", changes_by_kind: "Mapping[str, Sequence[Change]]") -> None:
    """Prints the examples of each split, and how many have each kind of change."""
    before = diff.before
    after = diff.after
    splits = list(dict.fromkeys([*before.counts, *after.counts]))
    rows = []
    for split in splits:
        row: list[object] = [split, before.counts.get(split, 0), after.counts.get(split, 0)]
        for changes in changes_by_kind.values():
            row.append(len([c for c in changes if (c.before or c.after) == split]))
        rows.append(row)
    screen.show_table(["split", "before", "after", *changes_by_kind], rows)


def _print_digests_of_ids(before: "DiffSide", after: "DiffSide") -> None:
    """Prints which splits have the same ids, with the sha256 that identifies them."""
    for split, digest in before.ids_sha256.items():
        if digest == after.ids_sha256.get(split):
            print(f"ids of {split}: the same on both sides, sha256 {digest}")


def _describe_renumbered(renumbered: "Sequence[RenumberedClass]") -> str:
    """Returns which classes have other numbers, and what to do."""
    numbers = [f"{one.name} was {one.before} and is {one.after}" for one in renumbered]
    are_swapped = len(renumbered) == 2 and renumbered[0].before == renumbered[1].after
    if are_swapped:
        first, second = renumbered
        numbers = [f"{first.name} and {second.name} swapped numbers"]
    return (
        f"class numbers: {several(numbers, _MAX_LISTED_NAMES)}; networks trained before predict "
        "wrong classes\n"
        "  what to do: keep the old order of classes, or retrain"
    )


# Changes of examples.


@dataclasses.dataclass(frozen=True)
class _ChangeKind:
    """A kind of change. A change may have several kinds.

    Attributes:
      title: the words above the changes of this kind.
      includes: whether a change has this kind.
      describe: returns the line about a change.
    """

    title: str
    includes: "Callable[[Change], object]"
    describe: "Callable[[Change], str]"


def _name_example(change: "Change") -> str:
    return f"{change.id} ({change.before or change.after})"


def _describe_rename(change: "Change") -> str:
    return f"{_name_example(change)} -> {change.id_after}"


def _describe_move(change: "Change") -> str:
    if change.id_after:
        return f"{_name_example(change)} -> {change.id_after} ({change.after})"
    return f"{change.id}: {change.before} -> {change.after}"


def _describe_mask_of(change: "Change") -> str:
    assert change.mask is not None
    return f"{_name_example(change)}: {_describe_mask(change.mask)}"


def _describe_mask(mask: "MaskChange") -> str:
    """Returns how a mask changed: pixels, and the classes that they had and have."""
    classes = [f"{old} -> {new} {pixels:,}" for old, new, pixels in mask.classes]
    if mask.pixels is not None and len(mask.classes) == 1:
        (old, new, _), *_ = mask.classes
        return f"{counted(mask.pixels, 'pixel')}: {old} -> {new}"
    if mask.pixels is not None:
        return f"{counted(mask.pixels, 'pixel')}: {several(classes, _MAX_LISTED_CLASSES)}"
    return classes[0] if classes else "another size, or only one side has it"


def _describe_other_features(change: "Change") -> str:
    return f"{_name_example(change)}: {', '.join(change.others)}"


def _describe_unusable(change: "Change") -> str:
    return f"{_name_example(change)}: {change.unusable}"


_KINDS = {
    "added": _ChangeKind(
        title="added",
        includes=lambda change: not change.before and not change.unusable,
        describe=_name_example,
    ),
    "removed": _ChangeKind(
        title="removed",
        includes=lambda change: not change.after,
        describe=_name_example,
    ),
    "renamed": _ChangeKind(
        title="renamed, with the same image",
        includes=lambda change: change.id_after and not change.moved,
        describe=_describe_rename,
    ),
    "moved out": _ChangeKind(
        title="moved to another split",
        includes=lambda change: change.moved,
        describe=_describe_move,
    ),
    "image changed": _ChangeKind(
        title="image file changed",
        includes=lambda change: change.image,
        describe=_name_example,
    ),
    "mask changed": _ChangeKind(
        title="mask changed",
        includes=lambda change: change.mask is not None,
        describe=_describe_mask_of,
    ),
    "other changed": _ChangeKind(
        title="other features changed",
        includes=lambda change: change.others,
        describe=_describe_other_features,
    ),
    "unusable": _ChangeKind(
        title="cannot be used in a build",
        includes=lambda change: change.unusable,
        describe=_describe_unusable,
    ),
}
"""The kinds of changes, by the titles of their columns."""
