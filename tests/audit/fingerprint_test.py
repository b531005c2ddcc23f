import hashlib
import struct

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.audit import fingerprint

# Of VOC2012's 2007_000032, by the algorithm in the header of checksums/splits.tsv.
DIGEST_2007_000032 = "a0b4cc2b7164f52051981b1eec0579e1f3e1419ee628e10824e6da9e6e2aea74"


def test_a_masks_digest_follows_the_pinned_algorithm():
    mask = np.array([[0, 1, 255], [2, 3, 4]], np.uint8)
    content = b"a\0" + struct.pack("<II", 2, 3) + bytes([0, 1, 255, 2, 3, 4])
    assert fingerprint.mask_digest("a", mask) == hashlib.sha256(content).digest()
    assert fingerprint.mask_digest("a", mask[:, ::-1][:, ::-1]) == hashlib.sha256(content).digest()


def test_the_digest_of_a_real_mask_is_the_published_one(real_data):
    path = real_data / "voc2012/VOCdevkit/VOC2012/SegmentationClass/2007_000032.png"
    digest = fingerprint.mask_digest("2007_000032", np.asarray(Image.open(path)))
    assert digest.hex() == DIGEST_2007_000032


def digests(**masks):
    return {i: fingerprint.Digests(b"\1" * 32, m * 32) for i, m in masks.items()}


def test_the_order_of_records_does_not_matter():
    one = fingerprint.of_split(digests(a=b"\1", b=b"\2"))
    assert one == fingerprint.of_split(digests(b=b"\2", a=b"\1"))
    assert one.masks == hashlib.sha256(b"\1" * 32 + b"\2" * 32).hexdigest()


@pytest.mark.parametrize("other", [digests(a=b"\2", b=b"\1"), digests(a=b"\1", c=b"\2")])
def test_swapped_masks_and_other_ids_change_it(other):
    assert fingerprint.of_split(other) != fingerprint.of_split(digests(a=b"\1", b=b"\2"))


def test_a_datasets_fingerprint_knows_its_splits():
    one, two = (fingerprint.of_split(digests(a=m)) for m in (b"\1", b"\2"))
    whole = fingerprint.of_dataset({"train": one, "test": two})
    assert whole == fingerprint.of_dataset({"test": two, "train": one})
    assert whole != fingerprint.of_dataset({"test": one, "train": two})
