"""Finds images that two datasets, splits or id lists share: by id, bytes and appearance.

Images of VOC2007 are found in VOC2012 under their new ids. Exits with 1 if a training split and an
evaluation split share images: by id, by bytes, or by the same picture, confirmed by pixels.
"""

import argparse
import dataclasses
from typing import TYPE_CHECKING, Any

from etils import epath

from voc_seg_tfrecord.commands import arguments, screen
from voc_seg_tfrecord.core import releases, staging
from voc_seg_tfrecord.core.errors import ConfigError, counted, did_you_mean, several
from voc_seg_tfrecord.core.named_lists import named_lists
from voc_seg_tfrecord.core.requirements import all_versions
from voc_seg_tfrecord.folder import picture_signs
from voc_seg_tfrecord.folder.picture_signs import ORIENTATIONS
from voc_seg_tfrecord.quality import near_duplicates
from voc_seg_tfrecord.quality.near_duplicates import SAME_PICTURE, SAME_PICTURE_OR_NEIGHBOR
from voc_seg_tfrecord.reading.dataset import open_splits

if TYPE_CHECKING:
    from voc_seg_tfrecord.audit.leaks import Overlap, PartPair, Side, SimilarPair

SUMMARY = "find the images that two datasets, splits or named lists share"
EXAMPLE = "voc-seg-tfrecord leaks trainaug voc2012_val"

_MAX_LISTED = 5
"""How many ids or images of a kind are printed."""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "a",
        metavar="A",
        help="DATASET, DATASET@SPLIT, a .txt file of ids, or a published list, such as trainaug",
    )
    parser.add_argument("b", metavar="B", help="the second dataset, split or list, named like A")
    arguments.add(parser, "data_dir")
    parser.add_argument(
        "--parts",
        action="store_true",
        help="also find images that share a part: crops, overlapping tiles, mirrored parts; needs "
        "OpenCV",
    )
    parser.add_argument(
        "--html",
        metavar="FILE",
        help="also write a page with both images of each pair, on which you decide which images "
        "of A to remove",
    )
    arguments.add(parser, "decisions")
    arguments.add(parser, "json")
    lists = ", ".join(named_lists())
    parser.add_argument_group("published lists", f"{lists}; see the guide to benchmark splits")


def run(args: argparse.Namespace) -> int:
    arguments.check_page(args, "decisions")
    html = arguments.output_file(args, "html")
    decisions = arguments.read_decisions(args)
    # SBD's lists do not come with the package, so what was published about them is quoted.
    needs_images = bool(args.parts or args.html)
    published = None if needs_images else _published_leak(args.a, args.b)
    compared = _find_overlaps(args) if published is None else []
    is_leak = published is not None or any(overlap.is_leak for overlap in compared)
    if html is not None:
        from voc_seg_tfrecord.report import leak_page  # here, because most calls write no page

        page = leak_page.render(args.a, args.b, compared, has_parts=args.parts, decisions=decisions)
        staging.write_output_file(html, page, "--html")
    if args.json:
        document = {
            "leak": is_leak,
            "parameters": _list_parameters(parts=args.parts),
            "compared": [overlap_as_dict(overlap) for overlap in compared],
            "published": published and dataclasses.asdict(published),
        }
        screen.write_json(document)
        return int(is_leak)
    if published is not None:
        print(
            f"{published.first} and {published.second}: {counted(published.ids, 'id')} in common, "
            "as published"
        )
        print(f"  source: {published.source}")
        print("  to count them yourself, give SBD's dataset/train.txt in place of its name")
    for overlap in compared:
        show_overlap(overlap)
    if is_leak:
        print("LEAK: a training split and an evaluation split share images")
    if html is not None:
        print(f"page in {html}")
    return int(is_leak)


def _list_parameters(*, parts: bool) -> dict[str, Any]:
    """Returns what a comparison depends on beside the images, so that others can repeat it."""
    parameters: dict[str, Any] = {"parts": parts, **picture_signs.CONSTANTS}
    parameters |= near_duplicates.CONSTANTS
    parameters["versions"] = all_versions()
    if parts:
        from voc_seg_tfrecord.quality import keypoints, shared_parts

        parameters |= {**keypoints.CONSTANTS, **shared_parts.CONSTANTS}
        parameters["versions"]["opencv"] = keypoints.opencv_version()
    return parameters


def _find_overlaps(args: argparse.Namespace) -> "list[Overlap]":
    """Compares the sides of A with those of B, training data first; with `--parts`, parts too."""
    from voc_seg_tfrecord.audit import leak_parts, leaks

    firsts = leaks.training_first(_sides(args.a, args))
    seconds = leaks.training_first(_sides(args.b, args))
    compared = leaks.compare(firsts, seconds)
    if not compared:
        raise ConfigError(
            f"{args.a} {args.b}",
            found="the same split twice",
            expected="two datasets, splits or lists",
        )
    if args.parts:
        return [leak_parts.add_shared_parts(overlap, progress=True) for overlap in compared]
    return compared


@dataclasses.dataclass(frozen=True)
class _PublishedLeak:
    """How many ids two lists share, where the package has only one of the lists.

    Attributes:
      first: the name of one list.
      second: the name of the other.
      ids: how many ids are in both.
      source: where this was published.
    """

    first: str
    second: str
    ids: int
    source: str


def _published_leak(first: str, second: str) -> _PublishedLeak | None:
    """Returns the row of `facts/leaks.tsv` about two lists; None if there is none."""
    for row in releases.read_table(releases.FACTS / "leaks.tsv"):
        if {first, second} == {row["first"], row["second"]}:
            return _PublishedLeak(row["first"], row["second"], int(row["ids"]), row["source"])
    return None


def _sides(name: str, args: argparse.Namespace) -> "list[Side]":
    """Returns what a name stands for: a list, or the splits of a dataset."""
    from voc_seg_tfrecord.audit import leaks

    path = epath.Path(name).expanduser()
    is_file = path.suffix == ".txt" and path.exists()
    if is_file or name in named_lists():
        for option in ("html", "parts"):
            if getattr(args, option):
                raise _list_of_ids_error(name, option)
        return [leaks.read_list_file(path) if is_file else leaks.read_named_list(name)]
    try:
        builder, splits = open_splits(name, args.data_dir)
    except ConfigError as error:
        raise ConfigError(
            error.where,
            found=error.found + did_you_mean(name, named_lists()),
            expected=f"{error.expected}, a .txt file, or one of the lists that leaks --help names",
            remedy=error.remedy,
        ) from None
    return leaks.read_splits(
        builder, splits or builder.info.splits, progress=True, parts=args.parts
    )


def _list_of_ids_error(name: str, option: str) -> ConfigError:
    """Returns the error about a list where images are compared: only its ids are known."""
    return ConfigError(
        f"--{option}",
        found=f"a list of ids: {name}",
        expected="built datasets, because this option compares images",
        remedy="name the built dataset, or leave the option out",
    )


def overlap_as_dict(overlap: "Overlap") -> dict[str, Any]:
    """Returns what two sides share as plain data, which can be written as JSON."""
    return {
        "first": _side_as_dict(overlap.first),
        "second": _side_as_dict(overlap.second),
        "leak": overlap.is_leak,
        "examples": overlap.example_count,
        "ids": list(overlap.shared_ids),
        "images": [list(pair) for pair in overlap.same_file_pairs],
        "unlike": list(overlap.differing_ids),
        "pictures": [dataclasses.asdict(pair) for pair in overlap.similar_pairs],
        "parts": [_part_as_dict(pair) for pair in overlap.part_pairs],
        "unlisted_parts": overlap.unlisted_part_pairs,
    }


def _part_as_dict(pair: "PartPair") -> dict[str, Any]:
    fields = dataclasses.asdict(pair)
    del fields["similarity"]  # numbers about keypoints, for the page
    return fields


def _side_as_dict(side: "Side") -> dict[str, Any]:
    return {
        "name": side.name,
        "source": side.source,
        "role": side.role,
        "images": len(side.sha256_by_id),
        "fingerprint": side.fingerprint,
    }


def show_overlap(overlap: "Overlap") -> None:
    """Prints what two sides share: how much of each kind, and the first of each."""
    print(f"{_titles(overlap)}:")
    has_pairs = bool(overlap.same_file_pairs or overlap.similar_pairs or overlap.part_pairs)
    if not overlap.shared_ids and not has_pairs:
        has_files = [any(side.sha256_by_id.values()) for side in (overlap.first, overlap.second)]
        if all(has_files):
            print("  no shared image found by id, bytes or appearance")
        else:
            print("  no id in common; only ids were compared")
        return
    same_files = [a if a == b else f"{a} = {b}" for a, b in overlap.same_file_pairs]
    differing_ids = overlap.differing_ids
    items_by_title = {
        f"{counted(len(overlap.shared_ids), 'id')} in common": overlap.shared_ids,
        f"{counted(len(same_files), 'image')} in common, byte for byte": same_files,
        f"{len(differing_ids)} of these ids with other bytes": differing_ids,
    }
    for title, items in items_by_title.items():
        if items:
            print(f"  {title}: {several(items, _MAX_LISTED)}")
    lines_by_title = {
        "of the same picture, in other bytes; counted if confirmed by pixels": _lines_of_level(
            overlap, SAME_PICTURE
        ),
        "of the same picture or neighbors, such as frames of a film; not counted": _lines_of_level(
            overlap, SAME_PICTURE_OR_NEIGHBOR
        ),
        "with a shared part": [_describe_part(pair) for pair in overlap.part_pairs],
    }
    for title, lines in lines_by_title.items():
        if lines:
            print(f"  {counted(len(lines), 'pair')} {title}:")
            screen.show_first(lines, _MAX_LISTED, rest="--json lists all", indent="    ")
    if overlap.unlisted_part_pairs:
        count = counted(overlap.unlisted_part_pairs, "more pair")
        print(f"    beside the best 3 of each image, at least {count} of parts")
    verdict = "  <- LEAK" if overlap.is_leak else ""
    count = f"{overlap.example_count} of {len(overlap.second.sha256_by_id)}"
    print(f"  images of the second that are also in the first: {count}{verdict}")


def _lines_of_level(overlap: "Overlap", level: str) -> list[str]:
    """Returns a line about each similar pair of a level."""
    return [_describe_pair(pair) for pair in overlap.similar_pairs if pair.level == level]


_VERDICTS = {None: "", True: "confirmed by pixels", False: "pixels differ"}


def _describe_pair(pair: "SimilarPair | PartPair", evidence: str = "") -> str:
    """Returns both ids, what was done if it is more than to encode or scale, and the evidence."""
    parts = [f"{pair.first_id} ~ {pair.second_id}"]
    if pair.transformation != ORIENTATIONS[0].name:
        parts.append(pair.transformation)
    parts.append(evidence)
    parts.append(_VERDICTS[pair.is_confirmed])
    return ", ".join(part for part in parts if part)


def _describe_part(pair: "PartPair") -> str:
    if pair.is_confirmed:
        return _describe_pair(pair)
    return _describe_pair(pair, f"{pair.agreements} keypoints agree")


def _titles(overlap: "Overlap") -> str:
    """Returns the names of both sides; with their folders if they have one name."""
    first, second = overlap.first, overlap.second
    first_title = f"{first.name} ({len(first.sha256_by_id)})"
    second_title = f"{second.name} ({len(second.sha256_by_id)})"
    if first.name == second.name:
        first_title += f" in {first.source}"
        second_title += f" in {second.source}"
    return f"{first_title} and {second_title}"
