"""A dataset's fingerprint for a paper, and its comparison with the facts of a release.

A fingerprint has hashes of ids, image bytes and masks. It depends only on the examples. The number
of shards, the order of the records, the engine that wrote them and the compression of the masks do
not change it.

What a config is called says nothing: facts belong to a release and its splits. A split is compared
if its dataset was built as a complete release, or if it holds all ids of an official split and has
VOC's classes.
"""

from collections.abc import Iterable, Mapping
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
from voc_seg_tfrecord.core.releases import RELEASES, Split
from voc_seg_tfrecord.reading.dataset import class_map, class_names, config_of, has_only_images


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
        fields = ("ids", "images", "masks", "instances")
        hashes = (f"{n} {getattr(self, n)[:12]}" for n in fields if getattr(self, n))
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
        images=_joined(d.image for d in ordered),
        masks=_joined(d.mask for d in ordered),
        instances=_joined(d.instances for d in ordered),
    )


def of_dataset(splits: Mapping[str, Fingerprint]) -> str:
    """Returns one sha256 for a complete dataset.

    It hashes one line per split, in ascending order of the splits' names. A line holds name,
    examples, ids, images, masks and instances, separated by single blanks, and ends with LF.
    """
    lines = (
        f"{name} {' '.join(map(str, dataclasses.astuple(splits[name])))}\n"
        for name in sorted(splits)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _joined(digests: Iterable[bytes]) -> str:
    """Returns the hash of digests; empty if there are none, or all are empty."""
    joined = b"".join(digests)
    return hashlib.sha256(joined).hexdigest() if joined else ""


_MANY = 10
_MAPPED = "the pinned masks do not apply, because the classes were mapped at build (classes)"


@dataclasses.dataclass(frozen=True)
class Claim:
    """What a dataset says that it is.

    Attributes:
      release: name of the release; empty for own data.
      complete: whether it was built as all of the release, so that its lists are official.
      voc_classes: whether its classes are VOC's 21.
      mapped: whether its classes were mapped at build, so that its masks are no published ones.
      masks: whether it has masks.
      unpinned: what the split holds that has no public hash.
    """

    release: str
    complete: bool
    voc_classes: bool
    unpinned: tuple[str, ...] = ("images",)
    mapped: bool = False
    masks: bool = True


@dataclasses.dataclass(frozen=True)
class Comparison:
    """What comparing a split with the pinned facts found.

    Attributes:
      faults: what differs.
      checked: a sentence about what agrees, what differs and what was not checked; empty if
        nothing is pinned for data like this.
      published_as: which published list or masks a hash belongs to, by field of the fingerprint.
    """

    faults: tuple[str, ...]
    checked: str
    published_as: Mapping[str, str]


def claim_of(builder: tfds.core.DatasetBuilder) -> Claim:
    """Returns what a built dataset says that it is, in its metadata or by its config's name."""
    config = config_of(builder)
    name = builder.info.config_name or ""
    official = name in RELEASES
    release = config.get("release") or (name if official else "")
    there = {INSTANCES: "instance masks", OBJECTS: "objects", MASK_SOURCE: "sources of masks"}
    extra = (words for feature, words in there.items() if feature in builder.info.features)
    return Claim(
        release,
        complete=official or bool(release and config.get("strict", True)),
        voc_classes=class_names(builder) == VOC_CLASSES,
        unpinned=("images", *extra),
        mapped=bool(class_map(builder)),
        masks=not has_only_images(builder),
    )


def compare_with_pinned(
    claim: Claim, split: str, total: Fingerprint, digests: Mapping[str, Digests]
) -> Comparison:
    """Compares a split with the pinned facts."""
    row = releases.splits().get((claim.release, split)) if claim.complete else None
    if row is None:
        faults, checked = _compare_contained(claim, total, digests)
    else:
        if claim.mapped:  # the ids are the release's in any case
            row = dataclasses.replace(row, masks_sha256="")
        faults = _against(row, total, digests)
        checked = _sentence(row, claim, faults) + (f"; {_MAPPED}" if claim.mapped else "")
    names = {}
    if name := identify(total.ids):
        names["ids"] = f"the list {name}"
    pinned = releases.splits().values()
    if row := next((row for row in pinned if row.masks_sha256 == total.masks != ""), None):
        names["masks"] = f"{_title(row)}, as pinned"
    return Comparison(faults, checked, names)


def _compare_contained(
    claim: Claim, total: Fingerprint, digests: Mapping[str, Digests]
) -> tuple[tuple[str, ...], str]:
    """Compares a split with the official ones whose ids it holds; returns faults and a sentence."""
    contained = _splits_within(total, digests)
    if not contained:
        text = (
            f"a part of {releases.title(claim.release)}, or another list of it: "
            f"ids{' and masks' if claim.masks else ''} not compared, because only complete "
            "official splits have pinned facts"
        )
        return (), text if claim.release else ""
    if claim.mapped or not claim.voc_classes:
        text = f"holds the ids of {', '.join(map(_title, contained))}"
        others = " with other classes, so its masks were not compared"
        others = f"; {_MAPPED}" if claim.mapped else others
        return (), text + (others if claim.masks else ", and no masks")
    pairs = [(row, _masks_differ(row, digests)) for row in contained]
    faults = tuple(fault for _, of_pair in pairs for fault in of_pair)
    return faults, "; ".join(_sentence(row, claim, of_pair) for row, of_pair in pairs)


def _title(row: Split) -> str:
    return f"{releases.title(row.config)} {row.name}"


def _splits_within(total: Fingerprint, digests: Mapping[str, Digests]) -> list[Split]:
    """Returns the official splits all of whose ids are here, without those within another."""
    contained: dict[str, tuple[Split, set[str]]] = {}
    for row in releases.splits().values():
        if not row.ids_sha256 or row.ids_sha256 in contained:
            continue
        ids = set(digests) if row.ids_sha256 == total.ids else _official_ids(row)
        if ids and ids <= set(digests):
            contained[row.ids_sha256] = (row, ids)
    return [
        row
        for row, ids in contained.values()
        if not any(ids < other for _, other in contained.values())
    ]


def _official_ids(row: Split) -> set[str]:
    name = identify(row.ids_sha256)
    return set(list_ids(name)) if name else set()


def _against(row: Split, total: Fingerprint, digests: Mapping[str, Digests]) -> tuple[str, ...]:
    """Returns where a split that says it is an official one differs from it."""
    faults = []
    if total.examples not in row.counts:
        faults.append(f"{total.examples} examples, {_title(row)} has {row.describe_counts()}")
    if not row.ids_sha256 or total.ids == row.ids_sha256:
        return (*faults, *_masks_differ(row, digests))
    faults.append(f"ids: sha256 {total.ids}, pinned is {row.ids_sha256}")
    if official := _official_ids(row):
        name = identify(row.ids_sha256)
        faults += _listed("missing", official - set(digests), name)
        faults += _listed("extra", set(digests) - official, name)
    return tuple(faults)


def _masks_differ(row: Split, digests: Mapping[str, Digests]) -> tuple[str, ...]:
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


def _sentence(row: Split, claim: Claim, faults: tuple[str, ...]) -> str:
    if faults:
        return f"differs from the pinned facts of {_title(row)}"
    pinned = {"ids": row.ids_sha256, "masks": row.masks_sha256}
    agree = [name for name, value in pinned.items() if value] or ["number of ids"]
    rest = [name for name, value in pinned.items() if not value] + list(claim.unpinned)
    if claim.mapped or not claim.masks:
        rest.remove("masks")  # their reason is another one, or there are none
    verb = "agrees" if agree == ["number of ids"] else "agree"
    unchecked = " and ".join(filter(None, [", ".join(rest[:-1]), rest[-1]]))
    return (
        f"{' and '.join(agree)} {verb} with the pinned facts of {_title(row)}; "
        f"{unchecked} not checked (no public hash)"
    )


def _listed(what: str, ids: set[str], name: str) -> list[str]:
    return [f"{what}: {several(sorted(ids), _MANY)}, by the list {name}"] if ids else []
