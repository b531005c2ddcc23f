"""The certificate of `leaks`: what was compared, how, what was found, and how much would be found.

It says that no image of one side was found in the other, changed in one of the ways of its
self-test, and how many of the user's own images are found after each change. It does not say that
there is no contamination; see `NOT_CLAIMED`.
"""

import collections
from collections.abc import Mapping, Sequence
import dataclasses
import hashlib
import json
from typing import Any

from voc_seg_tfrecord.audit.leak_index import make_index
from voc_seg_tfrecord.audit.leak_self_test import run_self_test
from voc_seg_tfrecord.audit.leaks import Overlap, PartPair, Side
from voc_seg_tfrecord.core.errors import ListError, counted
from voc_seg_tfrecord.core.file import File
from voc_seg_tfrecord.core.package_versions import all_versions
from voc_seg_tfrecord.formats import picture_signs
from voc_seg_tfrecord.quality import keypoints, near_duplicates, shared_parts

FORMAT = "voc_seg_tfrecord leak certificate 1"

SAME_BYTES = "same bytes"
"""The level of a pair of images that are one file."""

SHARED_PART = "shared part"
"""The level of a pair of images that share a part, such as a crop."""

_PARTS_NOT_SOUGHT = "crops, parts, mosaics and heavy augmentation: they are not looked for"
_PARTS_NOT_CLAIMED = (
    "quarters and smaller parts, mosaics and heavy augmentation: many of them are not found"
)

NOT_CLAIMED = (
    "that there is no contamination: only that none of these changes was found, with this recall",
    "charts and documents: different ones of one form may be called neighbors",
    "a copy where only a neighbor is said: frames and slices cannot be told from copies, even if "
    "pixels confirm them",
    "anything against somebody who hides copies on purpose",
    "privacy: signs are a coarse likeness of an image, and hashes tell who has a file",
)
"""What no certificate claims, for people."""

_MAX_RECALL_DIFFERENCE = 0.01
"""Recall may differ by this on another machine, whose decoders may round otherwise."""

_MAX_SHOWN_DIFFERENCES = 5


def make_certificate(
    firsts: Sequence[Side],
    seconds: Sequence[Side],
    overlaps: Sequence[Overlap],
    *,
    parts: bool = False,
) -> dict[str, Any]:
    """Returns the certificate of a comparison as plain data.

    Args:
      firsts: the sides of the first dataset or index.
      seconds: those of the second one.
      overlaps: what `leaks.compare` found between them.
      parts: whether `leak_parts` has added the pairs of images that share a part.
    """
    pairs = [pair for overlap in overlaps for pair in _list_pairs(overlap)]
    self_test = run_self_test(_distinct_sides([*firsts, *seconds]), parts=parts)
    return {
        "format": FORMAT,
        "result": _describe_result(pairs),
        "not_claimed": [*NOT_CLAIMED, _PARTS_NOT_CLAIMED if parts else _PARTS_NOT_SOUGHT],
        "parts": parts,
        "constants": _list_constants(parts),
        "versions": _list_versions(parts),
        "first": _describe_sides(firsts),
        "second": _describe_sides(seconds),
        "pairs": pairs,
        "unlisted_parts": sum(overlap.unlisted_part_pairs for overlap in overlaps),
        "self_test": dataclasses.asdict(self_test),
    }


def seeks_parts(certificate: Mapping[str, Any]) -> bool:
    """Says whether shared parts were sought for a certificate; in older ones they were not."""
    return bool(certificate.get("parts", False))


def _list_constants(parts: bool) -> dict[str, float]:
    constants: dict[str, float] = {**picture_signs.CONSTANTS, **near_duplicates.CONSTANTS}
    if parts:
        constants |= {**keypoints.CONSTANTS, **shared_parts.CONSTANTS}
    return constants


def _list_versions(parts: bool) -> dict[str, str]:
    versions = all_versions()
    if parts:
        versions["opencv"] = keypoints.opencv_version()
    return versions


def _distinct_sides(sides: Sequence[Side]) -> list[Side]:
    """Returns the sides without those that come a second time."""
    side_by_identity = {side.identity: side for side in sides}
    return list(side_by_identity.values())


def as_json(certificate: Mapping[str, Any]) -> str:
    """Returns a certificate as the text of its file."""
    return json.dumps(certificate, indent=1) + "\n"


def read_certificate(file: File) -> dict[str, Any]:
    """Reads the file of a certificate.

    Raises:
      ListError: if it is none.
    """
    try:
        certificate = json.loads(file.data)
        if certificate["format"] != FORMAT:
            raise ValueError(f"the format {certificate['format']!r}")
        compare_certificates(certificate, certificate)  # raises if a part is missing
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise ListError(
            file.where,
            found=f"it cannot be read as a certificate: {type(error).__name__}: "
            f"{' '.join(str(error).split())[:200]}",
            expected=f"a file that leaks --certificate wrote, in the format {FORMAT!r}",
            remedy="name the file of a certificate",
        ) from None
    return dict(certificate)


def _describe_result(pairs: Sequence[Mapping[str, Any]]) -> str:
    if not pairs:
        return "none found of the changes in the self-test, with its recall"
    count_by_level = collections.Counter(pair["level"] for pair in pairs)
    levels = (
        SAME_BYTES,
        near_duplicates.SAME_PICTURE,
        near_duplicates.SAME_PICTURE_OR_NEIGHBOR,
        SHARED_PART,
    )
    counts = [f"{count_by_level[level]} {level}" for level in levels if count_by_level[level]]
    return f"pairs found: {', '.join(counts)}"


def _describe_sides(sides: Sequence[Side]) -> dict[str, Any]:
    """Returns what is said of one dataset or index: its splits, and the hash of its index."""
    return {
        "index_sha256": hashlib.sha256(make_index(sides)).hexdigest(),
        "splits": [_describe_side(side) for side in sides],
    }


def _describe_side(side: Side) -> dict[str, Any]:
    return {
        "name": side.name,
        "role": side.role,
        "images": len(side.sha256_by_id),
        "compared": len(side.signs_by_id),
        "left_out": dict(sorted(collections.Counter(side.left_out_by_id.values()).items())),
        "files_sha256": _hash_of_files(side),
    }


def _hash_of_files(side: Side) -> str:
    """Returns the sha256 of the sha256 of all files, sorted, one per line."""
    hashes = sorted(side.sha256_by_id.values())
    text = "".join(f"{sha256}\n" for sha256 in hashes)
    return hashlib.sha256(text.encode()).hexdigest()


def _list_pairs(overlap: Overlap) -> list[dict[str, Any]]:
    """Returns the pairs of two sides, those of one file first."""
    sides = {"first": overlap.first.name, "second": overlap.second.name}
    pairs = []
    for first_id, second_id in overlap.same_file_pairs:
        pairs.append(
            {
                **sides,
                "first_id": first_id,
                "second_id": second_id,
                "level": SAME_BYTES,
                "transformation": picture_signs.ORIENTATIONS[0].name,
                "different_bits": 0,
                "is_confirmed": None,  # the same bytes need no comparison of pixels
            }
        )
    for pair in overlap.similar_pairs:
        pairs.append({**sides, **dataclasses.asdict(pair)})
    for part in overlap.part_pairs:
        pairs.append({**sides, **_describe_part(part)})
    return pairs


def _describe_part(pair: PartPair) -> dict[str, Any]:
    """Returns what is said of a pair of images that share a part."""
    return {
        "first_id": pair.first_id,
        "second_id": pair.second_id,
        "level": SHARED_PART,
        "transformation": pair.transformation,
        "agreements": pair.agreements,
        "is_confirmed": pair.is_confirmed,
    }


@dataclasses.dataclass(frozen=True)
class Repetition:
    """How a certificate that was made again differs from the one that was stated.

    Attributes:
      contradictions: what is not as stated; empty if the certificate was repeated.
      notes: what differs and contradicts nothing, such as versions.
    """

    contradictions: Sequence[str]
    notes: Sequence[str]


def compare_certificates(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> Repetition:
    """Compares a certificate with one that was made of the same data again.

    Files, pairs and their levels have to be the same. Other versions of decoders may change a few
    signs, which changes the hash of an index; then pairs may differ in bits and in whether pixels
    confirm them, and recall by 1 %. Likewise, parts may differ in how many keypoints agree, and in
    how far they are said to be turned.
    """
    contradictions = [
        *_compare_values("constants", stated["constants"], repeated["constants"]),
        *_compare_facts(stated, repeated),
        *_compare_pairs(stated, repeated),
        *_compare_recall(stated, repeated),
    ]
    notes = [
        *_compare_values("version of", stated["versions"], repeated["versions"]),
        *_compare_index_hashes(stated, repeated),
        *_compare_scores(stated, repeated),
        *_compare_confirmations(stated, repeated),
    ]
    return Repetition(contradictions, notes)


def _compare_values(
    title: str, stated: Mapping[str, Any], repeated: Mapping[str, Any]
) -> list[str]:
    """Returns a line for each name whose value is not as stated."""
    lines = []
    for name in sorted({*stated, *repeated}):
        if stated.get(name) != repeated.get(name):
            lines.append(f"{title} {name}: {repeated.get(name)}, stated {stated.get(name)}")
    return lines


def _facts_of(certificate: Mapping[str, Any]) -> dict[str, Any]:
    """Returns what is said of each split, by a name for people.

    Both sides may have splits of one name, in two folders.
    """
    facts = {}
    for side in ("first", "second"):
        for split in certificate[side]["splits"]:
            for name in ("images", "compared", "left_out", "files_sha256"):
                facts[f"{name} of the {side} side's {split['name']}"] = split[name]
    return facts


def _compare_facts(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    return _compare_values("files:", _facts_of(stated), _facts_of(repeated))


_PART_KEY = ("first", "second", "first_id", "second_id", "level")
"""What makes two pairs of images that share a part the same in two certificates."""

_PAIR_KEY = (*_PART_KEY, "transformation")
"""What makes two other pairs the same; there are only eight transformations of them."""


def _key_of(pair: Mapping[str, Any]) -> tuple[str, ...]:
    names = _PART_KEY if pair["level"] == SHARED_PART else _PAIR_KEY
    return tuple(str(pair[name]) for name in names)


def _score_of(pair: Mapping[str, Any]) -> tuple[object, ...]:
    """Returns how like the images of a pair are; of a part, also how it is turned."""
    if pair["level"] == SHARED_PART:
        return int(pair["agreements"]), str(pair["transformation"])
    return (int(pair["different_bits"]),)


def _compare_pairs(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    stated_pairs = dict.fromkeys(_key_of(pair) for pair in stated["pairs"])
    repeated_pairs = dict.fromkeys(_key_of(pair) for pair in repeated["pairs"])
    missing = [pair for pair in stated_pairs if pair not in repeated_pairs]
    added = [pair for pair in repeated_pairs if pair not in stated_pairs]
    lines = []
    for title, pairs in (("stated and not found", missing), ("found and not stated", added)):
        for pair in pairs[:_MAX_SHOWN_DIFFERENCES]:
            lines.append(f"pair {title}: {', '.join(pair)}")
        if len(pairs) > _MAX_SHOWN_DIFFERENCES:
            lines.append(f"pairs {title}: {len(pairs) - _MAX_SHOWN_DIFFERENCES} more")
    return lines


def _recall_by_change(certificate: Mapping[str, Any]) -> dict[str, float]:
    return {
        str(change["change"]): int(change["found"]) / max(1, int(change["copies"]))
        for change in certificate["self_test"]["changes"]
    }


def _compare_recall(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    stated_recall = _recall_by_change(stated)
    repeated_recall = _recall_by_change(repeated)
    if not stated_recall or not repeated_recall:
        return []  # one of them was made without images at hand
    lines = []
    for change in sorted({*stated_recall, *repeated_recall}):
        now = repeated_recall.get(change)
        before = stated_recall.get(change)
        if now is None or before is None or abs(now - before) > _MAX_RECALL_DIFFERENCE:
            lines.append(f"recall of {change}: {now}, stated {before}")
    return lines


def _compare_index_hashes(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    lines = []
    for side in ("first", "second"):
        if stated[side]["index_sha256"] != repeated[side]["index_sha256"]:
            lines.append(
                f"index of the {side} side: another sha256, so decoders gave a few other signs, "
                "or the dataset has another name"
            )
    return lines


def _compare_scores(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    stated_scores = {_key_of(pair): _score_of(pair) for pair in stated["pairs"]}
    changed_pictures = 0
    changed_parts = 0
    for pair in repeated["pairs"]:
        score = _score_of(pair)
        if stated_scores.get(_key_of(pair), score) == score:
            continue
        if pair["level"] == SHARED_PART:
            changed_parts += 1
        else:
            changed_pictures += 1
    lines = []
    if changed_pictures:
        lines.append(f"{counted(changed_pictures, 'pair')} with another number of differing signs")
    if changed_parts:
        lines.append(f"{counted(changed_parts, 'part')} with other keypoints that agree")
    return lines


def _compare_confirmations(stated: Mapping[str, Any], repeated: Mapping[str, Any]) -> list[str]:
    """Returns a line if pixels confirm other pairs, or were compared in only one of both."""
    stated_pairs = {_key_of(pair): pair.get("is_confirmed") for pair in stated["pairs"]}
    changed = 0
    for pair in repeated["pairs"]:
        is_confirmed = pair.get("is_confirmed")
        if stated_pairs.get(_key_of(pair), is_confirmed) != is_confirmed:
            changed += 1
    if not changed:
        return []
    return [
        f"is_confirmed: another value for {counted(changed, 'pair')}, because decoders differ or "
        "images are not at hand"
    ]


def describe_self_test(self_test: Mapping[str, Any]) -> list[str]:
    """Returns lines that say what the self-test of a certificate found."""
    if not self_test["changes"]:
        return ["no self-test: no side has images at hand"]
    lines = [f"self-test: {counted(self_test['images'], 'image')}, changed and searched for:"]
    for change in self_test["changes"]:
        share = change["found"] / change["copies"]
        lines.append(f"  {change['change']:24} {share:7.1%} found, {change['others']} others")
    return lines
