import io

import numpy as np
from PIL import Image
import pytest

from voc_seg_tfrecord.errors import VocSegError
from voc_seg_tfrecord.formats import images, kinds
from voc_seg_tfrecord.formats.file import File
from voc_seg_tfrecord.formats.kinds import Kind
from voc_seg_tfrecord.masks import stored


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


@pytest.mark.parametrize(
    "change", [(b"\r\n", b"\n"), (b"\n", b"\r\n"), (b"\r\n", b"\r"), (b"\n", b"")]
)
def test_a_png_whose_line_ends_were_changed_says_so_and_that_jpegs_are_damaged_too(change):
    buffer = io.BytesIO()
    Image.new("L", (3, 2)).save(buffer, "PNG")
    damaged = File(buffer.getvalue().replace(*change), "a.png")
    assert kinds.kind_of(damaged.data) is Kind.PNG_AS_TEXT
    for read in (images.read_image, stored.read_samples):
        with pytest.raises(VocSegError, match=r"copied as if it were text.*the JPEGs are damaged"):
            read(damaged)
