"""Computes a dataset's fingerprint for a paper.

A fingerprint has hashes of ids, image bytes and masks. It depends only on the examples. The number
of shards, the order of the records, the engine that wrote them and the compression of the masks do
not change it. `pinned_facts` compares it with VOC's releases.
"""

from collections.abc import Iterable, Mapping
import dataclasses
import hashlib
import struct

import numpy as np

from voc_seg_tfrecord.core import display
from voc_seg_tfrecord.core.errors import counted
from voc_seg_tfrecord.core.id_lists import id_list_sha256

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
