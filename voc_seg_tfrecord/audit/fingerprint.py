"""Computes a dataset's fingerprint for a paper, and compares it with the facts of a release.

A fingerprint has hashes of ids, image bytes and masks. It depends only on the examples. The number
of shards, the order of the records, the engine that wrote them and the compression of the masks do
not change it.

Facts belong to a release and its splits; the config's name is not evidence. A split is compared if
its dataset was built as a complete release, or if it holds all ids of an official split and has
VOC's classes.
"""

from collections.abc import Iterable, Mapping, Sequence
import dataclasses
import hashlib
import struct

import numpy as np
import tensorflow_datasets as tfds

from voc_seg_tfrecord.core import display, releases
from voc_seg_tfrecord.core.errors import counted, several
from voc_seg_tfrecord.core.id_lists import id_list_sha256
from voc_seg_tfrecord.core.named_lists import identify, list_ids
from voc_seg_tfrecord.core.names import INSTANCES, MASK_SOURCE, OBJECTS, VOC_CLASSES
from voc_seg_tfrecord.core.releases import RELEASES, OfficialSplit
from voc_seg_tfrecord.reading.dataset import class_map, class_names, config_of, has_only_images

_SHOWN_HASH_DIGITS = 12


@dataclasses.dataclass(frozen=True)
class Digests:
    """The digests of one example.

    Attributes:
      image: sha256 of id, a zero byte and the image file's bytes.
      mask: sha256 of id, a zero byte, height and width as uint32 little-endian, and the
        mask's pixels as uint8 row by row; empty where there is none.
      instances: the same for the instance mask; empty where there is none.
    """

    image: bytes
    mask: bytes
    instances: bytes = b""


@dataclasses.dataclass(frozen=True)
class Fingerprint:
    """The fingerprint of one split.

    Attributes:
      examples: how many there are.
      ids: sha256 of the sorted ids, one per line, LF after each.
      images: sha256 of the images' 32-byte digests in ascending order of id.
      masks: the same for the masks; empty where there are none.
      instances: the same for the instance masks; empty where there are none.
    """

    examples: int
    ids: str
    images: str
    masks: str
    instances: str

    def __repr__(self) -> str:
        hashes = []
        for name in ("ids", "images", "masks", "instances"):
            value = getattr(self, name)
            if value:
                hashes.append(f"{name} {value[:_SHOWN_HASH_DIGITS]}")
        return display.brief_line(self, counted(self.examples, "example"), *hashes)


def image_digest(image_id: str, data: bytes) -> bytes:
    """Returns the digest of an image file's bytes; see `Digests`."""
    digest = hashlib.sha256(image_id.encode() + b"\0")
    digest.update(data)
    return digest.digest()


def mask_digest(image_id: str, mask: np.ndarray) -> bytes:
    """Returns the digest of a mask, uint8 `[H, W]`; see `Digests`."""
    digest = hashlib.sha256(image_id.encode() + b"\0" + struct.pack("<II", *mask.shape))
    digest.update(np.ascontiguousarray(mask).data)
    return digest.digest()


def of_split(digests: Mapping[str, Digests]) -> Fingerprint:
    """Returns the fingerprint of examples, given their digests by id."""
    ordered = [digests[image_id] for image_id in sorted(digests)]
    return Fingerprint(
        examples=len(ordered),
        ids=id_list_sha256(digests),
        images=_hash_joined(example.image for example in ordered),
        masks=_hash_joined(example.mask for example in ordered),
        instances=_hash_joined(example.instances for example in ordered),
    )


def of_dataset(splits: Mapping[str, Fingerprint]) -> str:
    """Returns one sha256 for a complete dataset.

    It hashes one line per split, in ascending order of the splits' names. A line holds name,
    examples, ids, images, masks and instances, separated by single blanks, and ends with LF.
    """
    digest = hashlib.sha256()
    for name in sorted(splits):
        fields = map(str, dataclasses.astuple(splits[name]))
        digest.update(f"{name} {' '.join(fields)}\n".encode())
    return digest.hexdigest()


def _hash_joined(digests: Iterable[bytes]) -> str:
    """Returns the hash of digests; empty if there are none, or all are empty."""
    joined = b"".join(digests)
    return hashlib.sha256(joined).hexdigest() if joined else ""


_MAX_LISTED_IDS = 10
_MAPPED = "the pinned masks do not apply, because the classes were mapped at build (classes)"


@dataclasses.dataclass(frozen=True)
class Claim:
    """Which release a dataset says that it is.

    Attributes:
      release: name of the release; empty for own data.
      complete: whether it was built as all of the release, so that its lists are official.
      voc_classes: whether its classes are VOC's 21.
      mapped: whether its classes were mapped at build, so that its masks are no published ones.
      masks: whether it has masks.
      unpinned: the parts of a split that have no public hash.
    """

    release: str
    complete: bool
    voc_classes: bool
    unpinned: tuple[str, ...] = ("images",)
    mapped: bool = False
    masks: bool = True


@dataclasses.dataclass(frozen=True)
class PinnedComparison:
    """The result of comparing a split with the pinned facts.

    Attributes:
      faults: what differs.
      checked: a sentence about what agrees, what differs and what was not checked; empty if
        nothing is pinned for data like this.
      published_as: which published list or masks a hash belongs to, by field of the fingerprint.
    """

    faults: tuple[str, ...]
    checked: str
    published_as: Mapping[str, str] = dataclasses.field(default_factory=dict)


_UNPINNED_FEATURES = {
    INSTANCES: "instance masks",
    OBJECTS: "objects",
    MASK_SOURCE: "sources of masks",
}


def claim_of(builder: tfds.core.DatasetBuilder) -> Claim:
    """Returns which release a built dataset says that it is, in its metadata or by its config."""
    config = config_of(builder)
    name = builder.info.config_name or ""
    is_official = name in RELEASES
    release = config.get("release") or (name if is_official else "")
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
    row = releases.splits().get((claim.release, split)) if claim.complete else None
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
        for row in releases.splits().values():
            if row.masks_sha256 == total.masks:
                published["masks"] = f"{_title(row)}, as pinned"
                break
    return published


def _compare_official_split(
    row: OfficialSplit, claim: Claim, total: Fingerprint, digests: Mapping[str, Digests]
) -> PinnedComparison:
    """Compares a split of a complete release with the official one."""
    if claim.mapped:  # the ids are the release's in any case
        row = dataclasses.replace(row, masks_sha256="")
    faults = _find_faults(row, total, digests)
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
    if not claim.masks and (claim.mapped or not claim.voc_classes):
        return PinnedComparison((), f"{holds}, and no masks")
    if claim.mapped:
        return PinnedComparison((), f"{holds}; {_MAPPED}")
    if not claim.voc_classes:
        others = "with other classes, so its masks were not compared"
        return PinnedComparison((), f"{holds} {others}")
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
        "compared, because only complete official splits have pinned facts"
    )


def _title(row: OfficialSplit) -> str:
    return f"{releases.title(row.config)} {row.name}"


def _splits_within(total: Fingerprint, digests: Mapping[str, Digests]) -> list[OfficialSplit]:
    """Returns the official splits all of whose ids are here, without those within another."""
    ids_here = set(digests)
    rows: dict[str, OfficialSplit] = {}
    ids: dict[str, set[str]] = {}
    for row in releases.splits().values():
        sha256 = row.ids_sha256
        if not sha256 or sha256 in rows:
            continue
        ids_of_row = ids_here if sha256 == total.ids else _official_ids(row)
        if ids_of_row and ids_of_row <= ids_here:
            rows[sha256] = row
            ids[sha256] = ids_of_row
    largest = []
    for sha256, row in rows.items():
        if not any(ids[sha256] < others for others in ids.values()):
            largest.append(row)
    return largest


def _official_ids(row: OfficialSplit) -> set[str]:
    """Returns the ids of an official split; none if its list does not come with the package."""
    name = identify(row.ids_sha256)
    return set(list_ids(name)) if name else set()


def _find_faults(
    row: OfficialSplit, total: Fingerprint, digests: Mapping[str, Digests]
) -> tuple[str, ...]:
    """Returns where a split of a complete release differs from the official one."""
    faults = []
    if total.examples not in row.counts:
        faults.append(f"{total.examples} examples, {_title(row)} has {row.describe_counts()}")
    if not row.ids_sha256 or total.ids == row.ids_sha256:
        return (*faults, *_compare_masks(row, digests))
    faults.append(f"ids: sha256 {total.ids}, pinned is {row.ids_sha256}")
    official = _official_ids(row)
    if official:
        name = identify(row.ids_sha256)
        missing = official - set(digests)
        extra = set(digests) - official
        if missing:
            faults.append(f"missing: {_list_ids(missing)}, by the list {name}")
        if extra:
            faults.append(f"extra: {_list_ids(extra)}, by the list {name}")
    return tuple(faults)


def _list_ids(ids: set[str]) -> str:
    return several(sorted(ids), _MAX_LISTED_IDS)


def _compare_masks(row: OfficialSplit, digests: Mapping[str, Digests]) -> tuple[str, ...]:
    """Returns a fault if the masks of an official split's ids are not the pinned ones."""
    if not row.masks_sha256:
        return ()
    ids = _official_ids(row) or set(digests)
    digest = of_split({i: digests[i] for i in ids if i in digests}).masks
    if digest == row.masks_sha256:
        return ()
    return (
        f"masks: sha256 {digest}, pinned for {_title(row)} is {row.masks_sha256}; "
        "--source finds the records that differ",
    )


def _describe(row: OfficialSplit, claim: Claim, faults: tuple[str, ...]) -> str:
    """Returns a sentence about what agrees with an official split and what was not checked."""
    if faults:
        return f"differs from the pinned facts of {_title(row)}"
    agree = []
    unchecked = []
    for name, pinned in (("ids", row.ids_sha256), ("masks", row.masks_sha256)):
        if pinned:
            agree.append(name)
        elif name == "masks" and (claim.mapped or not claim.masks):
            continue  # the sentence gives another reason, or there are none
        else:
            unchecked.append(name)
    unchecked += claim.unpinned
    agreement = f"{' and '.join(agree)} agree" if agree else "number of ids agrees"
    return (
        f"{agreement} with the pinned facts of {_title(row)}; "
        f"{_join_words(unchecked)} not checked (no public hash)"
    )


def _join_words(words: Sequence[str]) -> str:
    """Returns words as in `ids, masks and images`."""
    *others, last = words
    return f"{', '.join(others)} and {last}" if others else last
