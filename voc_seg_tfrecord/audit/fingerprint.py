"""A dataset's fingerprint: hashes of its ids, image bytes and masks, for a paper's appendix.

It depends on the examples alone: number of shards, file format, order of the records and the
engine that wrote them leave it as it is, and so does the compression of the masks.
"""

from collections.abc import Iterable, Mapping
import dataclasses
import hashlib
import struct

import numpy as np

from voc_seg_tfrecord.formats.id_lists import id_list_sha256


@dataclasses.dataclass(frozen=True)
class Digests:
    """Of one example.

    Attributes:
      image: sha256 of id, a zero byte and the image file's bytes.
      mask: sha256 of id, a zero byte, height and width as uint32 little-endian, and the
        mask's pixels as uint8 row by row.
      instances: likewise, empty where there is no instance mask.
    """

    image: bytes
    mask: bytes
    instances: bytes = b""


@dataclasses.dataclass(frozen=True)
class Fingerprint:
    """Of one split, or of several together.

    Attributes:
      examples: how many there are.
      ids: sha256 of the sorted ids, one a line, LF after each.
      images: sha256 of the images' 32-byte digests in ascending order of id.
      masks: likewise of the masks.
      instances: likewise of the instance masks, empty where there are none.
    """

    examples: int
    ids: str
    images: str
    masks: str
    instances: str


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
        instances=_joined(d.instances for d in ordered) if any(_instances(ordered)) else "",
    )


def of_dataset(splits: Mapping[str, Fingerprint]) -> str:
    """Returns the one sha256 that stands for a whole dataset.

    It is that of a line a split, in ascending order of its name: name, examples, ids, images,
    masks, instances, with a blank between each, LF after each line.
    """
    lines = (
        f"{name} {' '.join(map(str, dataclasses.astuple(splits[name])))}\n"
        for name in sorted(splits)
    )
    return hashlib.sha256("".join(lines).encode()).hexdigest()


def _joined(digests: Iterable[bytes]) -> str:
    return hashlib.sha256(b"".join(digests)).hexdigest()


def _instances(digests: Iterable[Digests]) -> Iterable[bytes]:
    return (digest.instances for digest in digests)
