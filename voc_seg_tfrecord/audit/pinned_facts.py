"""Compares a built split with the pinned facts of VOC's releases.

Facts belong to a release and its splits; the config's name is not evidence. A split is compared if
its dataset was built as a complete release, or if it holds all ids of an official split and has
VOC's classes. The facts are in `checksums/splits.tsv`.
"""

from collections.abc import Mapping, Sequence
import dataclasses

import tensorflow_datasets as tfds

from voc_seg_tfrecord.audit.fingerprint import Digests, Fingerprint, of_split
from voc_seg_tfrecord.core import releases
from voc_seg_tfrecord.core.errors import several
from voc_seg_tfrecord.core.named_lists import identify, list_ids
from voc_seg_tfrecord.core.names import INSTANCES, MASK_SOURCE, OBJECTS, VOC_CLASSES
from voc_seg_tfrecord.core.releases import RELEASES, OfficialSplit
from voc_seg_tfrecord.reading.metadata import (
    class_map,
    class_names,
    config_of,
    has_only_images,
    release_of,
)


@dataclasses.dataclass(frozen=True)
class Claim:
    """Which release a dataset says that it is.

    Attributes:
      release: name of the release; empty for own data.
      complete: whether it was built as all of the release, so that its lists are official.
      voc_classes: whether its classes are VOC's 21.
      unpinned: the parts of a split that have no public hash.
      mapped: whether its classes were mapped at build, so that its masks are no published ones.
      masks: whether it has masks.
    """

    release: str
    complete: bool
    voc_classes: bool
    unpinned: tuple[str, ...] = ("images",)
    mapped: bool = False
    masks: bool = True

    @property
    def has_comparable_masks(self) -> bool:
        """Whether it has masks whose classes are those of its source."""
        return self.masks and not self.mapped


@dataclasses.dataclass(frozen=True)
class PinnedComparison:
    """The result of comparing a split with the pinned facts.

    Attributes:
      faults: what differs.
      checked: a sentence about what agrees, what differs and what was not checked; empty if
        nothing is pinned for data like this.
      published_as: the name of the published list or masks with the same hash, by field of the
        fingerprint.
    """

    faults: tuple[str, ...]
    checked: str
    published_as: Mapping[str, str] = dataclasses.field(default_factory=dict)


_UNPINNED_FEATURES = {
    INSTANCES: "instance masks",
    OBJECTS: "objects",
    MASK_SOURCE: "sources of masks",
}
"""The words of a sentence for each feature that has no public hash."""


def claim_of(builder: tfds.core.DatasetBuilder) -> Claim:
    """Returns which release a built dataset says that it is, in its metadata or by its config."""
    config = config_of(builder)
    name = builder.info.config_name or ""
    is_official = name in RELEASES
    release = release_of(builder) or (name if is_official else "")
    unpinned = ["images"]
    for feature, words in _UNPINNED_FEATURES.items():
        if feature in builder.info.features:
            unpinned.append(words)
    return Claim(
        release,
        complete=is_official or bool(release and config.get("strict", True)),
        voc_classes=class_names(builder) == VOC_CLASSES,
        unpinned=tuple(unpinned),
        mapped=bool(class_map(builder)),
        masks=not has_only_images(builder),
    )


def compare_with_pinned(
    claim: Claim, split: str, total: Fingerprint, digests: Mapping[str, Digests]
) -> PinnedComparison:
    """Compares a split with the pinned facts.

    Args:
      claim: which release its dataset says that it is.
      split: its name.
      total: its fingerprint.
      digests: the digests of its examples, by id.
    """
    row = releases.official_splits().get((claim.release, split)) if claim.complete else None
    if row is None:
        comparison = _compare_contained_splits(claim, total, digests)
    else:
        comparison = _compare_official_split(row, claim, total, digests)
    return dataclasses.replace(comparison, published_as=_find_published(total))


def _find_published(total: Fingerprint) -> dict[str, str]:
    """Returns which published list and masks a split has, by field of the fingerprint."""
    published = {}
    list_name = identify(total.ids)
    if list_name:
        published["ids"] = f"the list {list_name}"
    if total.masks:
        for row in releases.official_splits().values():
            if row.masks_sha256 == total.masks:
                published["masks"] = f"{_title(row)}, as pinned"
                break
    return published


_MAPPED = "the pinned masks do not apply, because the classes were mapped at build (classes)"


def _compare_official_split(
    row: OfficialSplit, claim: Claim, total: Fingerprint, digests: Mapping[str, Digests]
) -> PinnedComparison:
    """Compares a split of a complete release with the official one."""
    faults = _find_faults(row, claim, total, digests)
    checked = _describe(row, claim, faults)
    if claim.mapped:
        checked += f"; {_MAPPED}"
    return PinnedComparison(faults, checked)


def _compare_contained_splits(
    claim: Claim, total: Fingerprint, digests: Mapping[str, Digests]
) -> PinnedComparison:
    """Compares a split with the official ones whose ids it holds."""
    contained = _splits_within(total, digests)
    if not contained:
        return PinnedComparison((), _describe_part(claim) if claim.release else "")
    holds = f"holds the ids of {', '.join(map(_title, contained))}"
    if not claim.masks:
        return PinnedComparison((), f"{holds}, and no masks")
    if claim.mapped:
        return PinnedComparison((), f"{holds}; {_MAPPED}")
    if not claim.voc_classes:
        reason = "with other classes, so its masks were not compared"
        return PinnedComparison((), f"{holds} {reason}")
    faults: list[str] = []
    sentences = []
    for row in contained:
        faults_of_row = _compare_masks(row, digests)
        faults += faults_of_row
        sentences.append(_describe(row, claim, faults_of_row))
    return PinnedComparison(tuple(faults), "; ".join(sentences))


def _describe_part(claim: Claim) -> str:
    """Returns the sentence about a split of a release that holds no complete official split."""
    compared = "ids and masks" if claim.masks else "ids"
    return (
        f"a part of {releases.title(claim.release)}, or another list of it: {compared} not "
        "compared, because only complete official splits have published facts"
    )


def _title(row: OfficialSplit) -> str:
    return f"{releases.title(row.config)} {row.name}"


def _splits_within(total: Fingerprint, digests: Mapping[str, Digests]) -> list[OfficialSplit]:
    """Returns the official splits all of whose ids are here, without those within another."""
    ids_here = set(digests)
    row_by_sha256: dict[str, OfficialSplit] = {}
    ids_by_sha256: dict[str, set[str]] = {}
    for row in releases.official_splits().values():
        sha256 = row.ids_sha256
        if not sha256 or sha256 in row_by_sha256:
            continue
        ids_of_row = ids_here if sha256 == total.ids else _official_ids(row)
        if ids_of_row and ids_of_row <= ids_here:
            row_by_sha256[sha256] = row
            ids_by_sha256[sha256] = ids_of_row
    largest = []
    for sha256, row in row_by_sha256.items():
        is_within_another = any(ids_by_sha256[sha256] < ids for ids in ids_by_sha256.values())
        if not is_within_another:
            largest.append(row)
    return largest


def _official_ids(row: OfficialSplit) -> set[str]:
    """Returns the ids of an official split; none if its list does not come with the package."""
    name = identify(row.ids_sha256)
    return set(list_ids(name)) if name else set()


def _find_faults(
    row: OfficialSplit, claim: Claim, total: Fingerprint, digests: Mapping[str, Digests]
) -> tuple[str, ...]:
    """Returns where a split of a complete release differs from the official one.

    Masks are compared only if the ids agree, and if the release's masks were built as they are.
    """
    faults = []
    if total.examples not in row.counts:
        faults.append(f"{total.examples} examples, {_title(row)} has {row.describe_counts()}")
    if row.ids_sha256 and row.ids_sha256 != total.ids:
        return (*faults, *_compare_ids(row, total, digests))
    if claim.has_comparable_masks:
        faults += _compare_masks(row, digests)
    return tuple(faults)


_MAX_LISTED_IDS = 10


def _compare_ids(
    row: OfficialSplit, total: Fingerprint, digests: Mapping[str, Digests]
) -> list[str]:
    """Returns the faults of a split whose ids are not the pinned ones."""
    faults = [f"ids: sha256 {total.ids}, pinned is {row.ids_sha256}"]
    official_ids = _official_ids(row)
    if not official_ids:
        return faults
    list_name = identify(row.ids_sha256)
    missing = sorted(official_ids - set(digests))
    extra = sorted(set(digests) - official_ids)
    if missing:
        faults.append(f"missing: {several(missing, _MAX_LISTED_IDS)}, by the list {list_name}")
    if extra:
        faults.append(f"extra: {several(extra, _MAX_LISTED_IDS)}, by the list {list_name}")
    return faults


def _compare_masks(row: OfficialSplit, digests: Mapping[str, Digests]) -> tuple[str, ...]:
    """Returns a fault if the masks of an official split's ids are not the pinned ones."""
    if not row.masks_sha256:
        return ()
    ids = _official_ids(row) or set(digests)
    digest = of_split({i: digests[i] for i in ids if i in digests}).masks
    if digest == row.masks_sha256:
        return ()
    return (
        f"masks: sha256 {digest}, published for {_title(row)} is {row.masks_sha256}; "
        "--source finds the records that differ",
    )


def _describe(row: OfficialSplit, claim: Claim, faults: Sequence[str]) -> str:
    """Returns a sentence about what agrees with an official split and what was not checked."""
    if faults:
        return f"differs from the published facts of {_title(row)}"
    pinned_hashes = {"ids": row.ids_sha256}
    if claim.has_comparable_masks:
        pinned_hashes["masks"] = row.masks_sha256
    agreeing = [name for name, sha256 in pinned_hashes.items() if sha256]
    unchecked = [name for name, sha256 in pinned_hashes.items() if not sha256]
    unchecked += claim.unpinned
    agreement = f"{' and '.join(agreeing)} agree" if agreeing else "number of ids agrees"
    return (
        f"{agreement} with the published facts of {_title(row)}; "
        f"{_join_words(unchecked)} not checked (no public hash)"
    )


def _join_words(words: Sequence[str]) -> str:
    """Returns words as in `ids, masks and images`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
