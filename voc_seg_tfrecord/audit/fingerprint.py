"""A dataset's fingerprint: hashes of its ids, image bytes and masks, for a paper's appendix.

It depends only on the examples. The number of shards, the file format, the order of the records,
the engine that wrote them and the compression of the masks do not change it.
"""

from collections.abc import Iterable, Mapping
import dataclasses
import hashlib
import struct

import numpy as np

from voc_seg_tfrecord.formats.id_lists import id_list_sha256
from voc_seg_tfrecord.wording import brief


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
        return brief.line(self, brief.counted(self.examples, "example"), *hashes)

    def _repr_html_(self) -> str:
        fields = ("examples", "ids", "images", "masks", "instances")
        rows = ((name, getattr(self, name) or "-") for name in fields)
        return brief.table("fingerprint of a split", ("", "sha256"), rows)


def image_digest(image_id: str, data: bytes) -> bytes:
    """Returns the digest of an image file's bytes; see `Digests`."""
    return hashlib.sha256(image_id.encode() + b"\0" + data).digest()


def mask_digest(image_id: str, mask: np.ndarray) -> bytes:
    """Returns the digest of a mask, uint8 `[H, W]`; see `Digests`."""
    digest = hashlib.sha256(image_id.encode() + b"\0" + struct.pack("<II", *mask.shape))
    digest.update(np.ascontiguousarray(mask))
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
