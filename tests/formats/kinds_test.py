import io

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.formats import kinds
from voc_seg_tfrecord.formats.kinds import Kind


@pytest.mark.parametrize("kind", sorted(kinds.IMAGES, key=lambda kind: kind.name))
def test_an_image_that_pillow_writes_is_of_its_kind(kind):
    buffer = io.BytesIO()
    Image.new("RGB", (3, 2)).save(buffer, kind.name)
    assert kinds.kind_of(buffer.getvalue()) is kind
    assert kinds.kind_of(buffer.getvalue()[:24]) is kind


def test_an_array_that_numpy_saves_is_of_its_kind():
    buffer = io.BytesIO()
    np.save(buffer, np.zeros((2, 2)))
    assert kinds.kind_of(buffer.getvalue()) is Kind.NUMPY


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file of 0 bytes"),
        (b"<!DOCTYPE html>", "an HTML or XML page"),
        (b"version https://git-lfs.github.com/spec/v1", "a git-lfs pointer"),
        (b"RIFF\0\0\0\0WAVEfmt ", "a file of an unknown kind that starts with b'RIFF"),
    ],
)
def test_what_is_no_image_is_described(data, words):
    assert kinds.kind_of(data) not in kinds.IMAGES
    assert kinds.describe(data).startswith(words)
